"""Fixes: what a finding's recipe makes of the source, as edits; and putting them into files."""

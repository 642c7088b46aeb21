"""Runs, as records: where they start, what they come to, what values are in one call, and which calls do nothing that matters.

`effects/` follows runs and fills these in; rules read them.
"""

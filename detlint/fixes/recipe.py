"""What a recipe needs to know, and how it says that it can't be followed."""

from __future__ import annotations


class NoFix(Exception):
    """Why a finding can't be fixed where it stands."""

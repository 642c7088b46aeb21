"""The command line. Each command is a few lines over the modules that do the work."""

from detlint.cli import certify, check, pages, runs, setup  # noqa: F401  each enters its commands
from detlint.cli.shell import Ended, main

__all__ = ["Ended", "main"]

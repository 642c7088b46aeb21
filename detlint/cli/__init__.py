"""The command line. Each command is a few lines over the modules that do the work."""

from detlint.cli import check, pages, runs, setup  # noqa: F401  each enters its commands
from detlint.cli.check import Checked
from detlint.cli.shell import main

__all__ = ["Checked", "main"]

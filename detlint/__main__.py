"""`python -m detlint`."""

from detlint.cli import main

main(prog_name="detlint")

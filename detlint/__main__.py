"""The command `detlint`, and `python -m detlint`."""

import gc
import os


def run() -> None:
    """Run the command line.

    A check ends the process without taking apart, object by object, what it has made: everything is written and closed, and nothing
    of the checked code has run. Other commands end as programs do.
    """
    gc.disable()  # what is imported stays
    from detlint.cli import Checked, main

    gc.enable()
    try:
        main(prog_name="detlint")
    except Checked as end:
        os._exit(end.code)


if __name__ == "__main__":
    run()

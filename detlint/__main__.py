"""The command `detlint`, and `python -m detlint`."""

import os
import sys

# Only what Python has loaded by itself is imported above: until it is told, it looks in the current folder first.

FAULT = 3
"""The exit code where the fault is detlint's own."""


def run() -> None:
    """Run the command line.

    A check ends the process without taking apart, object by object, what it has made: everything is written and closed, and nothing
    of the checked code has run. So does an interrupt, by which threads are still at work. Other commands end as programs do.
    """
    try:
        _open_streams()
        from detlint import interrupts

        interrupts.prepare()
        _run()
    except KeyboardInterrupt:
        os._exit(130)


def _run() -> None:
    import gc

    gc.disable()  # what is imported stays
    from detlint.cli import Ended, main

    gc.enable()
    try:
        main(prog_name="detlint")
    except Ended as end:
        os._exit(end.code)
    except Exception:
        import traceback

        traceback.print_exc()
        print("error: this is a fault of detlint's (please report it)", file=sys.stderr)
        sys.exit(
            3
        )  # 1 would say that there are findings or that runs differ, 2 that something is wrong with what was given


def _leave_folder() -> None:
    """Import nothing from the current folder, where `python -m` looks first: what is checked isn't run. In a checkout of detlint's, it
    is looked at last."""
    try:
        folder = os.getcwd()
    except FileNotFoundError:  # it is gone, and nothing is imported from it
        return
    isolated = sys.flags.isolated or getattr(sys.flags, "safe_path", False)
    if isolated or not sys.path or sys.path[0] not in ("", folder):
        return
    del sys.path[0]
    if os.path.dirname(os.path.dirname(os.path.abspath(__file__))) == folder:
        sys.path.append(folder)


def _open_streams() -> None:
    """Have standard output and standard error lead somewhere, and take any text.

    A file that is opened would get the number of a stream that is closed, and what is written there.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  it stays open
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


if __name__ == "__main__":
    _leave_folder()
    run()

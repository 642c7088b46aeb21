"""Programs in processes of their own whose imports have been made once: a framework takes seconds to import, a fork none.

A server runs a preamble in `__main__`, then forks for each program, which runs in that namespace as if it stood below the
preamble, and ends as every Python process does. Nothing may have been computed before the fork: frameworks start their
threads with the first operator.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

Done = subprocess.CompletedProcess[str]


class Server:
    """A process that has run a preamble.

    Args:
        preamble: what all programs begin with.
        environment: the variables that it is started with; a program gets the same, and its own besides.
    """

    def __init__(self, preamble: str, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        atexit.register(self._process.kill)
        self._say(preamble)
        assert self._heard() == "ready", preamble

    def run(
        self, code: str, *arguments: str, cwd: Path | None = None, stdin: str | None = None, **environment: str
    ) -> Done:
        """Run a program below the preamble.

        Args:
            arguments: what follows the program's name in `sys.argv`.
            stdin: what it may read; None: nothing.
        """
        with tempfile.TemporaryDirectory() as folder:
            into, out, err = (Path(folder, name) for name in ("in", "out", "err"))
            into.write_text(stdin or "")
            self._say([code, ["-c", *arguments], str(cwd or Path.cwd()), environment, *map(str, (into, out, err))])
            status: int = self._heard()
            return Done(arguments, os.waitstatus_to_exitcode(status), out.read_text(), err.read_text())

    def _say(self, what: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()

    def _heard(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline() or '"the server ended"')


@cache
def server(preamble: str, **environment: str) -> Server:
    """The server for a preamble, which the whole test run shares; with the variables of this process, and some more."""
    return Server(preamble, {**os.environ, **environment})


def _serve() -> None:
    """Run the preamble, then fork for what is asked for, until nobody asks any more."""
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    main = sys.modules["__main__"].__dict__
    exec(compile(json.loads(requests.readline()), "<preamble>", "exec"), main)
    print(json.dumps("ready"), file=answers, flush=True)
    while request := requests.readline():
        if (child := os.fork()) == 0:
            _run(main, *json.loads(request))
        print(os.waitpid(child, 0)[1], file=answers, flush=True)


def _run(
    main: dict[str, Any], code: str, argv: list[str], cwd: str, variables: dict[str, str], *files: str
) -> NoReturn:
    for number, file in enumerate(files):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT if number else os.O_RDONLY), number)
    sys.argv[:], sys.path[0] = argv, ""  # as `python -c` has it
    os.chdir(cwd)
    os.environ.update(variables)
    _end(lambda: exec(compile(code, "<program>", "exec"), main))


def _end(program: Callable[[], object]) -> NoReturn:
    """Run a program to its end, and end as Python does, but for taking apart, object by object, what the preamble has made."""
    status = 0
    try:
        program()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if not isinstance(end.code, int | None):
            print(end.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    _serve()

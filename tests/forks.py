"""Programs in processes of their own whose imports have been made once: a framework takes seconds to import, a fork none.

A server runs a preamble in `__main__`, then forks for each program, which ends as every Python process does. Nothing may have
been computed before the fork: frameworks start their threads with the first operator. All forks of a server have its hash seed and
its random states (but Python's own), unless a function `begin` of the preamble's, which each program begins with, makes new ones.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import json
import multiprocessing
import os
import runpy
import select
import shutil
import signal
import site
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from forked import MOST_FILES, ask

Done = subprocess.CompletedProcess[str]
LAUNCHER = """\
#!{executable} -IS
import sys
sys.path.insert(0, {folder!r})
from forked import run
run({server!r}, sys.argv[0], sys.argv[1:])
"""


class Server:
    """A process that has run a preamble.

    Args:
        preamble: what all programs begin with.
        environment: the variables that it is started with; a program of `run` gets the same, and its own besides.

    Attributes:
        python: a command that takes what Python takes, and that `subprocess` and `multiprocessing` can use in its place; what it
            runs is a fork, in which the environment's `sitecustomize` has been imported. To the program, it is `sys.executable`.
    """

    def __init__(self, preamble: str, environment: Mapping[str, str]) -> None:
        folder = Path(tempfile.mkdtemp(prefix="forks-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        self._environment = dict(environment)
        self._socket = str(folder / "socket")
        self.python = str(folder / "python")
        here = str(Path(__file__).parent)
        launcher = LAUNCHER.format(executable=sys.executable, folder=here, server=self._socket)
        Path(self.python).write_text(launcher)
        os.chmod(self.python, 0o700)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(self._socket)
            listening.listen()
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(listening.fileno()), preamble],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=[listening.fileno()],
            )
        atexit.register(self._process.kill)

    def run(
        self, code: str, *arguments: str, cwd: Path | None = None, stdin: str | None = None, **environment: str
    ) -> Done:
        """Run a program below the preamble, in whose namespace it is.

        Args:
            arguments: what follows the program's name in `sys.argv`.
            stdin: what it may read; None: nothing.
        """
        with tempfile.TemporaryFile("w+") as into, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            into.write(stdin or "")
            into.seek(0)
            files = {number: file.fileno() for number, file in enumerate((into, out, err))}
            variables = {**self._environment, **environment}
            status = ask(self._socket, "", ["-c", code, *arguments], str(cwd or Path.cwd()), variables, files)
            for file in (out, err):
                file.seek(0)
            return Done(arguments, os.waitstatus_to_exitcode(status), out.read().decode(), err.read().decode())


@cache
def server(preamble: str, **environment: str) -> Server:
    """The server for a preamble, which the whole test run shares; with the variables of this process, and some more."""
    return Server(preamble, {**os.environ, **environment})


def _serve(listening: socket.socket, preamble: str) -> None:
    """Run the preamble, then fork for what is asked for, until the test run ends."""
    main = sys.modules["__main__"].__dict__
    exec(compile(preamble, "<preamble>", "exec"), main)
    gc.freeze()  # a fork that looks for garbage there would copy all of it
    while select.select([listening.fileno(), 0], [], [])[0] == [listening.fileno()]:
        asked, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            _keep(main, asked)
        asked.close()
        while _reaped():
            pass


def _reaped() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


def _keep(main: dict[str, Any], asked: socket.socket) -> NoReturn:
    """Fork a program, and tell how it ends; end it where nobody waits for it any more."""
    _, files, _, _ = socket.recv_fds(asked, 1, MOST_FILES)
    request = json.loads(asked.makefile().readline())
    if (program := os.fork()) == 0:
        asked.close()
        _run(main, files, *request)
    for file in files:
        os.close(file)

    def watch() -> None:
        asked.recv(1)
        with suppress(ProcessLookupError):
            os.kill(program, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
    asked.sendall(b"%d\n" % os.waitpid(program, 0)[1])
    os._exit(0)


def _run(
    main: dict[str, Any],
    files: list[int],
    executable: str,
    arguments: list[str],
    cwd: str,
    variables: dict[str, str],
    numbers: list[int],
    parent: int,
) -> NoReturn:
    """Be what Python is when it has started, and then the program."""
    moved = [fcntl.fcntl(file, fcntl.F_DUPFD, MOST_FILES) for file in files]
    for file, number in zip(moved, numbers, strict=True):
        os.dup2(file, number)
    for file in {*files, *moved} - {*numbers}:
        os.close(file)
    # Whether one can seek in a stream is found out as it is opened.
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    os.chdir(cwd)
    before = _paths()
    os.environ.clear()
    os.environ.update(variables)
    sys.path[:] = [*_paths(), *(path for path in sys.path[1:] if path not in before)]
    if executable:
        process, real = os.getpid(), os.getppid
        os.getppid = lambda: parent if os.getpid() == process else real()
        sys.executable, sys.orig_argv[:] = executable, [executable, *arguments]
        multiprocessing.set_executable(executable)
    while arguments[0][0] == "-" and arguments[0] not in ("-c", "-m"):
        del arguments[: 2 if arguments[0] in ("-W", "-X") else 1]
    _end(lambda: _start(main, bool(executable), *arguments))


def _paths() -> list[str]:
    return [os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]


def _start(main: dict[str, Any], customized: bool, first: str, *others: str) -> None:
    main.get("begin", int)()
    if customized:
        sys.modules.pop("sitecustomize", None)
        site.execsitecustomize()
    if first == "-c":
        sys.argv[:], sys.path[:0] = ["-c", *others[1:]], [""]
        exec(compile(others[0], "<program>", "exec"), main)
    elif first == "-m":
        sys.argv[:], sys.path[:0] = [first, *others[1:]], [os.getcwd()]
        runpy.run_module(others[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv[:], sys.path[:0] = [first, *others], [os.path.dirname(os.path.realpath(first))]
        module = sys.modules["__main__"] = ModuleType("__main__")
        module.__file__ = os.path.abspath(first)
        exec(compile(Path(first).read_bytes(), module.__file__, "exec"), module.__dict__)


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
    for stream in (sys.stdout, sys.stderr):
        if not stream.closed:
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2])

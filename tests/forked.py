"""What asks a server of `forks.py` to run a program, and waits for its end: in place of Python, so it imports little."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping, Sequence

MOST_FILES = 250


def ask(
    server: str,
    executable: str,
    arguments: Sequence[str],
    cwd: str,
    variables: Mapping[str, str],
    files: dict[int, int],
) -> int:
    """Have a program run; how it ended, as `os.waitpid` says it.

    Args:
        server: the server's socket.
        executable: what the program takes for Python; empty: what the server does.
        arguments: as for `python`.
        files: what the program has open, by the number that it knows it by.
    """
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(server)
        socket.send_fds(asking, [b"."], [*files.values()])
        request = [executable, [*arguments], cwd, {**variables}, [*files], os.getppid()]
        asking.sendall(json.dumps(request).encode() + b"\n")
        status = asking.makefile().readline()
        assert status, "the server has ended"
        return int(status)


def run(server: str, executable: str, arguments: Sequence[str]) -> None:
    """Be a program, with all that this process has."""
    files = {number: number for number in range(MOST_FILES) if _inherited(number)}
    status = ask(server, executable, arguments, os.getcwd(), os.environ, files)
    if os.WIFSIGNALED(status):
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.WEXITSTATUS(status))


def _inherited(number: int) -> bool:
    try:
        return os.get_inheritable(number)
    except OSError:
        return False

"""git, called so that it runs nothing which a repository's configuration names.

Whoever made a repository may have written its configuration: commands that watch its files, convert them, compare them, show them,
or fetch what is missing. Each call here leaves all of them out.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_OFF: Final = (
    # An older git takes the value of `fsmonitor` for a command, and for none where it is empty.
    "core.fsmonitor=",
    f"core.hooksPath={os.devnull}",
    "core.quotePath=false",
    # A folder that merely looks like a repository, which any commit may bring along, is none.
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
)
_ENVIRONMENT: Final = {
    "LC_ALL": "C",
    "GIT_ALLOW_PROTOCOL": "",  # nothing is fetched, however it would be: by ssh, by a helper, from a folder
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",  # the index isn't written, which would run a hook
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}
_NO_COMMANDS: Final = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
"""Options of `git diff`: nothing of the repository's compares or converts, and a submodule's own git isn't asked."""
_TRUSTED: Final = (b"system", b"global", b"command")
"""Configuration that is the user's own, not the repository's."""


class Failed(Exception):
    """Why git gave no answer, in its own words."""


def run(folder: Path, *arguments: str, given: bytes | None = None, timeout: float | None = None) -> bytes:
    """What a command of git's prints. It must not look at the content of files: `diff` does that.

    Args:
        folder: in the repository.
        given: its standard input; nothing by default.
        timeout: in seconds.

    Raises:
        FileNotFoundError: git isn't installed.
        Failed: it says so, or takes too long.
    """
    command = [_executable(), *(part for option in _OFF for part in ("-c", option)), *arguments]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            input=given if given is not None else b"",
            capture_output=True,
            timeout=timeout,
            check=False,
            env={**os.environ, **_ENVIRONMENT},
        )
    except (subprocess.TimeoutExpired, ValueError) as error:  # a text with a NUL is no argument
        raise Failed(str(error)) from None
    if done.returncode:
        raise Failed(done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: "))
    return done.stdout


def diff(folder: Path, *arguments: str, timeout: float | None = None) -> bytes:
    """What `git diff` prints, with the files as they are if no filter of the repository's converted them.

    Raises:
        FileNotFoundError: git isn't installed.
        Failed: it says so, or takes too long.
    """
    filters = [part for name in _filters(folder) for part in _off(name)]
    return run(folder, *filters, "diff", *_NO_COMMANDS, "--no-color", *arguments, timeout=timeout)


def _filters(folder: Path) -> Iterator[str]:
    """The filters that a repository's configuration defines, or changes. Those of the user's own (Git LFS, say) stay."""
    try:
        listed = run(folder, "config", "--list", "--show-scope", "--name-only", "-z").split(b"\0")
    except Failed as error:
        raise Failed(f"git 2.26 or later is needed: {error}") from None
    names = {key for scope, key in zip(listed[::2], listed[1::2], strict=False) if scope not in _TRUSTED}
    yield from sorted({os.fsdecode(key).rpartition(".")[0] for key in names if key.startswith(b"filter.")})


def _off(name: str) -> Iterator[str]:
    """Options that turn a filter off.

    Raises:
        Failed: no option can name it.
    """
    if "=" in name or "\n" in name:
        raise Failed(f"the repository's configuration has a filter that can't be turned off: {name!r}")
    for key, value in (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")):
        yield from ("-c", f"{name}.{key}={value}")


def _executable() -> str:
    """git, from a folder of PATH that is named in full: one that is meant from where git is started may be the repository's own.

    Raises:
        FileNotFoundError: there is none.
    """
    name = "git.exe" if os.name == "nt" else "git"
    files = (os.path.join(folder, name) for folder in os.get_exec_path() if os.path.isabs(folder))
    found = next((file for file in files if os.path.isfile(file) and os.access(file, os.X_OK)), None)
    if found is None:
        raise FileNotFoundError(name)
    return found

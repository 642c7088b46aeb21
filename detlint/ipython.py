"""IPython's additions to Python (magics, shell lines, help), put as Python of the same lines.

What a magic runs as Python (`%time train()`) keeps its columns too, so that positions in it are right. Everything else
becomes `pass`, or a call of unknown result where it is assigned. What IPython accepts is described at
https://ipython.readthedocs.io/en/stable/interactive/python-ipython-diff.html and in its `inputtransformer2` module.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator
from typing import Final

from detlint.sources.parse import module_of

PYTHON_BODIES: Final = frozenset({
    "capture", "debug", "ipytest", "lprun", "memit", "memray_flamegraph", "mprun", "prun", "pyinstrument", "scalene",
    "snakeviz", "time", "timeit", "wandb",
})  # fmt: skip
"""Cell magics whose body is Python that runs in the notebook's own process. A cell of any other isn't Python."""
RUNS: Final = {
    "lprun": "fmDTu", "memit": "rti", "mprun": "fT", "pyinstrument": "", "prun": "lsTD", "snakeviz": "f", "time": "",
    "timeit": "nrp",
}  # fmt: skip
"""Line magics that run the rest of their line as Python -> those of their options that take a value."""
AUTOMAGICS: Final = frozenset({
    "alias", "autoreload", "cat", "cd", "conda", "config", "cp", "env", "less", "ll", "load", "load_ext", "ls", "mamba",
    "man", "matplotlib", "micromamba", "mkdir", "more", "mv", "pip", "popd", "prun", "pushd", "pwd", "pylab",
    "reload_ext", "rm", "rmdir", "run", "set_env", "time", "timeit", "unload_ext", "uv", "who", "whos", "xmode",
})  # fmt: skip
"""Magics that IPython also takes without their `%`, where the line is no Python."""
UNKNOWN: Final = "get_ipython()"
"""Something that can be assigned and of which nothing is known."""

_HEAD = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*")
"""What may stand before a cell magic: empty lines, and comments (`#@title`)."""
_CANDIDATE = re.compile(r"^[ \t]*[%!?,;/]|=[ \t]*[%!]|\?[ \t]*(?:#.*)?$", re.M)
_ESCAPES = frozenset("%!?,;/")
_MAGIC = re.compile(r"%{0,2}(?P<name>[\w.]+)[ \t]*")
_AUTOMAGIC = re.compile(rf"(?:{'|'.join(sorted(AUTOMAGICS))})[ \t]+(?![=,:])")
_COMMAND = re.compile(r"(?:\\\n|[^\n])*")
"""To the end of the line, or of the last line that it is continued on."""
_PIECE = re.compile(
    r"(?P<comment>\#[^\n]*)|(?P<text>'''|\"\"\"|'|\")|(?P<opens>[(\[{])|(?P<closes>[)\]}])|(?P<joins>\\\n)|(?P<ends>\n)"
    r"|(?P<assigns>(?<![=!<>:+\-*/%&|^@~])=(?!=))"
)
_TEXTS = {
    "'''": re.compile(r"(?:\\.|[^\\])*?'''", re.S),
    '"""': re.compile(r'(?:\\.|[^\\])*?"""', re.S),
    "'": re.compile(r"(?:\\.|[^'\\\n])*'", re.S),
    '"': re.compile(r'(?:\\.|[^"\\\n])*"', re.S),
}
_ASSIGNED = re.compile(r"(?:[ \t]|\\\n)*(?=[%!])")
_OPTION = re.compile(r"--?[\w-]+(?:=\S*)?[ \t]*")
_VALUE = re.compile(r"\S+[ \t]*")
_SHELLS = frozenset({"%%bash", "%%sh", "%%zsh"})
_FILLED_IN = re.compile(r"(?<!\$)\{(\w+)\}")
"""What IPython puts into a command."""
_VARIABLE = re.compile(r"(?P<name>\w+)(?:[ \t]*=[ \t]*|[ \t]+)(?P<value>.*\S)")


def as_python(cell: str) -> str:
    """A cell as Python: the same lines, with what is IPython's in them replaced.

    A cell whose magic takes it for something else (`%%bash`) comes back empty, with as many lines.
    """
    head = found.end() if (found := _HEAD.match(cell)) else 0
    if cell.startswith("%%", head):
        end = cell.find("\n", head)
        end = len(cell) if end < 0 else end
        magic = _MAGIC.match(cell, head)
        if not cell[head:end].rstrip().endswith("?"):
            if magic is None or magic["name"] not in PYTHON_BODIES:
                return _only_lines(cell)
            return cell[:head] + _run(cell[head:end], "") + as_python_lines(cell[end:])
    return as_python_lines(cell)


def as_python_lines(text: str, automagic: bool = False) -> str:
    """Lines of a cell as Python.

    Args:
        automagic: whether magics may stand without their `%`. That can only be so where the text is no Python.
    """
    if not automagic and (_CANDIDATE.search(text) is None or _parses(text)):
        return text
    parts, at = [], 0
    while at < len(text):
        line, at = _logical_line(text, at, automagic, _statement, _value)
        parts.append(line)
    return "".join(parts)


def shell_of(cell: str) -> str:
    """What a cell gives a shell: commands behind `!`, scripts that `%run` starts, variables that `%env` sets, cells of `%%bash`. What
    Python puts into a command (`{name}`) is a variable."""
    head = found.end() if (found := _HEAD.match(cell)) else 0
    first, _, body = cell[head:].partition("\n")
    magic, *told = first.split() or [""]
    if magic in _SHELLS or (magic == "%%script" and f"%%{' '.join(told[:1])}" in _SHELLS):
        return body
    text, commands, at = (body if magic.startswith("%%") else cell), list[str](), 0
    if magic.startswith("%%") and magic[2:] not in PYTHON_BODIES:
        return ""

    def noted(command: str) -> str:
        commands.append(command)
        return ""

    while at < len(text):
        _, at = _logical_line(text, at, False, noted, noted)
    return "\n".join(filter(None, map(_given_to_shell, commands)))


def _given_to_shell(command: str) -> str:
    """A command of IPython's, as a shell has it; "" for any other."""
    if command.startswith("!"):
        return _FILLED_IN.sub(r"${\1}", command.lstrip("!").strip())
    magic, _, rest = command.strip().partition(" ")
    if magic in ("%env", "%set_env") and (variable := _VARIABLE.match(rest)):
        return f"export {variable['name']}={shlex.quote(variable['value'])}"
    starts = {"%run": "python ", "%cd": "cd ", "%sx": "", "%system": ""}
    return starts[magic] + rest if magic in starts else ""


def _logical_line(
    text: str, start: int, automagic: bool, statement: Callable[[str], str], value: Callable[[str], str]
) -> tuple[str, int]:
    """The logical line that begins somewhere, as Python, and where the next one begins.

    Args:
        statement: makes Python of a command that stands for itself.
        value: makes Python of one whose result is assigned.
    """
    first = start
    while first < len(text) and text[first] in " \t":
        first += 1
    if text[first : first + 1] in _ESCAPES or (automagic and _AUTOMAGIC.match(text, first)):
        return _command(text, start, first, statement)
    assigned, last, end = False, "", len(text)
    for kind, code, at in _pieces(text, first):
        last = code[-1:] or last
        if kind == "ends":
            end = at
            break
        if kind == "assigns" and not assigned:
            assigned = True
            if found := _ASSIGNED.match(text, at):
                return _command(text, start, found.end(), value)
        last = last if kind == "comment" else kind
    if last == "?":
        return _same_lines(text[start:first] + "pass", text[start:end]), end
    return text[start:end], end


def _pieces(text: str, at: int) -> Iterator[tuple[str, str, int]]:
    """What ends or may end a logical line, outside of texts and brackets: its kind, the code before it, where it ends."""
    depth = 0
    while piece := _PIECE.search(text, at):
        code, kind, at = text[at : piece.start()].rstrip(), str(piece.lastgroup), piece.end()
        if kind == "text":
            found = _TEXTS[piece[0]].match(text, at)
            at = found.end() if found is not None else _line_end(text, at)
        depth = max(0, depth + {"opens": 1, "closes": -1}.get(kind, 0))
        if depth == 0:
            yield kind, code, at
    yield "ends", text[at:].rstrip() if depth == 0 else "", len(text)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _command(text: str, start: int, first: int, put: Callable[[str], str]) -> tuple[str, int]:
    """A line that ends in a command of IPython's, as Python, and where the next one begins."""
    found = _COMMAND.match(text, first)
    assert found is not None
    end = found.end() + 1
    return _same_lines(text[start:first] + put(found[0]), text[start:end]), end


def _same_lines(replaced: str, original: str) -> str:
    """Some text with as many line ends as what it stands for."""
    missing = original.count("\n") - replaced.count("\n")
    return replaced + "\n" * missing


def _only_lines(text: str) -> str:
    return "\n" * text.count("\n")


def _statement(command: str) -> str:
    """A command that stands for itself, as a statement."""
    magic = _MAGIC.match(command) if command[0] not in "!?,;/" and not command.rstrip().endswith("?") else None
    if magic is None or command.startswith("%%"):
        return "pass"
    name, rest = magic["name"], command[magic.end() :]
    if name in RUNS:
        return _run(command, "pass")
    if name in ("env", "set_env") and (variable := _VARIABLE.match(rest)):
        return f"__import__('os').environ[{variable['name']!r}] = {variable['value']!r}"
    return _star_import(rest) if name == "run" else "pass"


def _value(command: str) -> str:
    """A command whose result is assigned, as an expression."""
    magic = _MAGIC.match(command)
    if command[0] == "%" and magic is not None and magic["name"] in RUNS:
        at = _code(command)
        if command[at:].strip() and _parses(f"({command[at:]}\n)"):
            return " " * at + command[at:]
    return UNKNOWN


def _run(command: str, otherwise: str) -> str:
    """What a magic runs, in its own columns: `0;` and blanks stand for the magic and its options."""
    magic = _MAGIC.match(command)
    if magic is None or magic["name"] not in RUNS:
        return otherwise
    at = _code(command)
    python = "0;" + " " * (at - 2) + command[at:]
    return python if command[at:].strip() and _parses(python) else otherwise


def _code(command: str) -> int:
    """Where the code begins that a magic runs, after its options."""
    magic = _MAGIC.match(command)
    assert magic is not None
    at, valued = magic.end(), RUNS[magic["name"]]
    while found := _OPTION.match(command, at):
        at = found.end()
        option = found[0].strip()
        if len(option) == 2 and option[1] in valued and (value := _VALUE.match(command, at)):
            at = value.end()
    return at


def _star_import(arguments: str) -> str:
    """`%run folder/file.py` runs a file in the notebook's names: much as a star import of it does. What else it runs may be a notebook."""
    words = (word.strip("\"'") for word in arguments.split())
    said = next((word for word in words if word == "-m" or not word.startswith("-")), "")
    said = next(words, "").replace(".", "/") if said == "-m" else said
    path = os.path.normpath(said).replace("\\", "/").removesuffix(".py") if said else ""
    parts = path.split("/")
    if all(part.isidentifier() for part in parts):
        return f"from {'.'.join(parts)} import *"
    return f"{UNKNOWN}.run_line_magic('run', {arguments!r})"


def _parses(text: str) -> bool:
    try:
        module_of(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True

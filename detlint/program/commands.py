"""The commands by which a text has Python scripts started: `CUDA_VISIBLE_DEVICES=0 python -u train.py --device_target GPU &`."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

_STARTS: Final = re.compile(r"python|run\b|accelerate|deepspeed|\$")
"""What a word has that may start a script which is named behind it: also `torchrun`, `msrun`, `mpirun` and `$PYTHON`."""
_LINE: Final = re.compile(r"^.*(?:\.py\b|\s-m\s).*$", re.M)
_CONTINUED: Final = re.compile(r"\\[ \t]*\r?\n")
_FENCED: Final = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n(.*?)^[ \t]*\1", re.M | re.S)
_ASSIGNED: Final = re.compile(r"(?<![\w$-])(\w+)=(\"[^\"\n]*\"|'[^'\n]*'|[^\s;&|]*)")
_COMMENT: Final = re.compile(r"^[ \t]*#.*$", re.M)
_TAKEN_OUT: Final = re.compile(r"^[ \t]*#[ \t]*--?[A-Za-z].*(?:\n|$)", re.M)
"""An option of a command that is made a comment."""
_ONLY_ASSIGNS: Final = re.compile(rf"^[ \t]*(?:local[ \t]+)?{_ASSIGNED.pattern}[ \t]*(?:#.*)?$", re.M)
"""A line that gives a variable something and starts nothing."""
_EXPORTS: Final = re.compile(r"^[ \t]*(?:export|declare|typeset)\b[^=\n]*$|\bset[ \t]+-\w*a|\ballexport\b", re.M)
"""What gives processes variables that the script has set before."""
_BINDING: Final = re.compile(r"\b(?:for|read|getopts)\b[^\n;]*")
"""What gives variables values that aren't written out."""
_LEAD: Final = re.compile(r"^\s*(?:[#>]\s*)*(?:\$\s)?")
"""What may stand before a command: a prompt, or what makes it a comment."""
_PLACEHOLDER: Final = re.compile(r"\[[^\[\]]*\]|<[\w /|-]+>")
_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_DRAWN: Final = re.compile("[\u2500-\u257f]")
"""What draws a tree of files."""
_SEPARATORS: Final = frozenset({";", "&", "&&", "|", "||", ";;"})
_PUNCTUATION: Final = frozenset("();<>|&")


LONGEST: Final = 4_000
"""How many characters a line has that is read; those of an archive inside a script have more."""


class Command(NamedTuple):
    """A command that starts a script."""

    script: str
    """The path of the script as it is written, with `/`."""
    options: Mapping[str, str | None]
    """What its options are given, "" for a flag alone; None where that isn't written out: a variable, a placeholder."""

    def end(self) -> str:
        """What it says for sure of where its script stands: `../$DIR/src/train.py` is some `src/train.py`; "" for nothing."""
        parts = re.split(r"[/\\]", self.script)
        unsure = [i for i, part in enumerate(parts) if part in ("", ".", "..") or set(part) & set("$[]{}*~")]
        return os.sep.join(parts[unsure[-1] + 1 :] if unsure else parts)


@lru_cache(maxsize=512)
def told(text: str) -> str:
    """What a shell script tells those that it starts: its text with what variables stand for, without the names that lines only give to
    these (`clip=$1`), and without options that are made comments (`# --clip \\`)."""
    script = Script(_TAKEN_OUT.sub("", text))
    lines = script.text if _EXPORTS.search(text) else _ONLY_ASSIGNS.sub(r"\2", script.text)
    return _VARIABLE.sub(lambda found: script.variables.get(found[1] or found[2], found[0]), lines)


def commands(text: str) -> Iterator[Command | None]:
    """The commands of a shell script; None for one that can't be read."""
    for line in Script(text).lines():
        yield from line.commands


class Line(NamedTuple):
    """A line of a shell script."""

    text: str
    commands: Sequence[Command | None] = ()
    """Those that start a script; None for one that can't be read."""


class Script:
    """A shell script: its lines, each with those that continue it, and what it says of its variables."""

    def __init__(self, text: str) -> None:
        self.text = _CONTINUED.sub(" ", text)
        self._known: dict[str, str] | None = None

    def lines(self) -> Iterator[Line]:
        """The lines that may start a script."""
        for text in _LINE.findall(self.text):
            words = _words(text) if len(text) <= LONGEST else None
            unread = words is None and not text.lstrip().startswith("#")
            found = [_command(part, self.variables) for part in _parts(words or ())]
            yield Line(text, [None] * unread + [command for command in found if command is not None])

    def others(self) -> str:
        """The lines that surely start none."""
        return _LINE.sub("", self.text)

    @property
    def variables(self) -> Mapping[str, str]:
        """The variables that are given one literal, whether by way of others."""
        if self._known is None:
            self._known = _variables(_COMMENT.sub("", self.text))
        return self._known

    def value(self, word: str) -> str | None:
        """The text that a word stands for; None where that isn't written out."""
        return _value(word, self.variables)


def fenced(text: str) -> list[str]:
    """The blocks of code of a Markdown text."""
    return [found[2] for found in _FENCED.finditer(text)]


def _variables(text: str) -> dict[str, str]:
    """The variables that a script gives a value once, a literal."""
    found = _ASSIGNED.findall(text)
    times = Counter(name for name, _ in found)
    bound = set(re.findall(r"\w+", " ".join(_BINDING.findall(text))))
    once = {name: value.strip("\"'") for name, value in found if times[name] == 1 and name not in bound}
    values: dict[str, str] = {}
    for name, value in once.items():  # in their order: `DEVICES=1`, `RANK_SIZE=$DEVICES`
        known = _value(value, values)
        if known and "*" not in known:
            values[name] = known
    return values


def _words(line: str) -> list[str] | None:
    """The words of a line, and what separates them; None where it can't be read."""
    lexer = shlex.shlex(_PLACEHOLDER.sub("[]", _LEAD.sub("", line)), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        return [*lexer]
    except ValueError:  # a quote that isn't closed, as in prose
        return None


def _parts(words: Sequence[str]) -> Iterator[list[str]]:
    part: list[str] = []
    for word in words:
        if word in _SEPARATORS:
            yield part
            part = []
        else:
            part.append(word)
    yield part


def _command(words: Sequence[str], variables: Mapping[str, str]) -> Command | None:
    started = next((i for i, word in enumerate(words) if _STARTS.search(word)), -1)
    direct = not started or bool(words and words[0].endswith(".py") and not _DRAWN.match(words[0]))
    place = next((i for i, word in enumerate(words) if word.endswith(".py") and (i > started >= 0 or direct)), -1)
    if place >= 0:
        return Command(words[place], _options(words[place + 1 :], variables))
    for i, word in enumerate(words[:-1]):
        if word == "-m" and i > started >= 0:
            return Command(f"{words[i + 1].replace('.', '/')}.py", _options(words[i + 2 :], variables))
    return None


def _options(words: Sequence[str], variables: Mapping[str, str]) -> dict[str, str | None]:
    """What options are given, by their names as `argparse` keeps them; one that is given twice has the last value."""
    found: dict[str, str | None] = {}
    for i, word in enumerate(words):
        if word.startswith("-") and word.strip("-"):
            name, given, value = word.lstrip("-").partition("=")
            if given:
                found[name.replace("-", "_")] = _value(value, variables) if value else None
            else:
                behind = words[i + 1] if i + 1 < len(words) else "-"
                empty = behind.startswith("-") or (set(behind) <= _PUNCTUATION and "<" not in behind)
                found[name.replace("-", "_")] = "" if empty else _value(behind, variables)
    return found


def _value(word: str, variables: Mapping[str, str]) -> str | None:
    """The text that a word stands for."""
    if word[:1] in ("[", "<", "{"):
        return None
    known = _VARIABLE.sub(lambda found: variables.get(found[1] or found[2], found[0]), word)
    return None if "$" in known or "`" in known else known

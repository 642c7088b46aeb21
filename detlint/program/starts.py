"""On how many devices scripts are started: what the texts of a project say of that, and of the options that ask for several."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from detlint.facts.model import Const
from detlint.program.commands import Command, Line, Script

MENTIONS: Final = 1_000
"""How many values of an option are read: more are data."""
SHORTEST: Final = 3
"""How many letters the shorter name of an option has: `argparse` takes any that is the beginning of one option alone."""
_SEVERAL: Final = re.compile(
    r"mpirun|msrun|torchrun|rank_?table|rank_?size|world_?size|worker_num|hccl|nproc_per|server_list|"
    r"distributed\.(?:launch|run)\b|accelerate launch|deepspeed",
    re.I,
)
"""What starts several processes, or is told how many there are."""
_GIVEN: Final = re.compile(r"(?:rank_size|world_size|worker_num|device_num)=([^\s;&|]*)", re.I)
_ASKED: Final = re.compile(r"(?:mpirun\b.*?\s-np?|--(?:local_)?worker_num|--nproc_per_node)[= ]+(\S+)")
"""How many processes are started: by variables, by what starts them."""
_COMMENT: Final = re.compile(r"^[ \t]*#.*$", re.M)
_WORDS: Final = {
    "false": False, "no": False, "off": False, "true": True, "yes": True, "on": True, "null": None, "none": None, "~": None,
}  # fmt: skip
"""What a literal says in YAML, JSON, TOML, or on a command line."""


Usual = Mapping[str, Collection[Const]]
"""Options, and the values which mean what each is where nobody gives it."""


class Part(NamedTuple):
    """A text about how things are started: a shell script, the code of a document, the cells of a notebook."""

    text: str
    is_code: bool


class Starts(NamedTuple):
    """What may say on how many devices the scripts of a project are started."""

    parts: tuple[Part, ...]
    outside: tuple[Part, ...]
    """Those in folders above the project."""
    folder: str
    """The project's."""
    settings: tuple[str, ...]
    """Texts of YAML, JSON, TOML and INI."""

    def values(self, option: str) -> set[Const | None]:
        """What an option is set to in files of settings; None for what isn't a literal. A text with spaces describes it."""
        word = re.escape(option).replace("_", "[-_]")
        said = re.compile(rf"(?:^|[\s{{,.])[\"']?{word}[\"']?[ \t]*[:=][ \t]*([^\n,}}#]*)", re.M)
        texts = [found[1].strip() for text in self.settings for found in said.finditer(text)]
        plain = [text for text in texts[:MENTIONS] if not (text[:1] in ("'", '"') and " " in text)]
        return {literal(text) for text in plain} | ({None} if len(texts) > MENTIONS else set())

    def turn_on(self, script: str, usual: Usual) -> bool:
        """Whether a text may have a script started on several devices of its own hardware, by options that have the usual values
        else: it gives one another value, or starts several processes without a command for another hardware or script."""
        if any("server_list" in text or _commands_other(text, usual) for text in self.settings):
            return True
        name = os.path.basename(script)
        parts = [*self.parts, *(part for part in self.outside if name in part.text)]
        return any(_turns_on(part, script, usual) for part in parts)

    def are_for_one(self, script: str) -> bool:
        """Whether all texts that have a script started write out that this is one process."""
        name, found = os.path.basename(script), False
        for part in (*self.parts, *self.outside):
            if name not in part.text:
                continue
            read = Script(part.text)
            starting = part.is_code and any(_may_start(c, script) for line in read.lines() for c in line.commands)
            if starting and not _is_for_one(read):
                return False
            if not starting and any(name in line and _SEVERAL.search(line) for line in part.text.splitlines()):
                return False
            found = found or starting
        return found


def literal(text: str) -> Const | None:
    """The literal that a text of settings, or an option's value, is; None for something else."""
    plain = text.strip().rstrip(",").strip("\"'")
    if plain.lower() in _WORDS:
        return Const(_WORDS[plain.lower()])
    if re.fullmatch(r"-?\d{1,9}", plain):
        return Const(int(plain))
    return Const(plain) if re.fullmatch(r"[\w./-]+", plain) else None


def _turns_on(part: Part, script: str, usual: Usual) -> bool:
    speaks = _SEVERAL.search(part.text) is not None
    if not speaks and not any(option[:SHORTEST] in part.text for option in usual):
        return False
    read = Script(part.text)
    lines = [*read.lines()] if part.is_code else []
    counting = [line for line in lines if any(_may_start(command, script) for command in line.commands)]
    if any(_gives(line, script, *option) for line in counting for option in usual.items()):
        return True
    around = read.others() if part.is_code else part.text
    around += "".join(f"\n{line.text}" for line in lines if not line.commands)
    if any(_says_other(around, *option) for option in usual.items()):
        return True
    started = any(line.commands for line in lines)
    return speaks and bool(counting or not started) and not _is_for_one(read)


def _may_start(command: Command | None, script: str) -> bool:
    """Whether a command may start a script, on hardware that its own options don't say to be another than Ascend."""
    if command is None:
        return True
    end = command.end()
    if end and not script.endswith(f"{os.sep}{end}"):
        return False
    said = {value.lower() for value in command.options.values() if value}
    return said.isdisjoint(("gpu", "cuda", "cpu")) or not said.isdisjoint(("ascend", "npu"))


def _gives(line: Line, script: str, option: str, usual: Collection[Const]) -> bool:
    """Whether a line gives an option another value than the usual ones, perhaps under a shorter name."""
    given = [
        value
        for command in line.commands
        if command is not None and _may_start(command, script)
        for name, value in command.options.items()
        if name == option.lstrip("-") or (len(name) >= SHORTEST and option.startswith(name))
    ]
    if given:
        return any(value is None or literal(value) not in usual for value in given)
    return _says_other(line.text, option, usual)


def _says_other(text: str, option: str, usual: Collection[Const]) -> bool:
    """Whether a text names an option without setting it to what it usually is."""
    word = re.escape(option).replace("_", "[-_]")
    said = re.finditer(rf"(?<!\w){word}(?!\w)[\"'`]?(?:[ \t]*[:=][ \t]*|[ \t]+)?([\w.\"'-]*)", text, re.A)
    return any(literal(found[1].rstrip(".")) not in usual for found in said)


def _commands_other(text: str, usual: Usual) -> bool:
    """Whether settings, as those of a container, have a command that gives an option another value than the usual ones."""
    given = re.findall(r"(?<![\w-])--\w[^\n]*", text)
    return any(_says_other(line, *option) for line in given for option in usual.items())


def _is_for_one(read: Script) -> bool:
    """Whether a script writes out how many processes it starts, and that is one."""
    given = _GIVEN.findall(_COMMENT.sub("", read.text)) + _ASKED.findall(read.text)
    return bool(given) and all(read.value(word.strip("\"'")) == "1" for word in given)

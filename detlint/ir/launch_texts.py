"""A launch text by its name: which grammar it has, the commands in it, and the values that it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec

from detlint.ir import deployments, docker, make, settings, shell
from detlint.ir.commands import (
    Array,
    Assignment,
    Branch,
    Command,
    Define,
    Expansion,
    Group,
    Loop,
    Script,
    Step,
    Word,
    moved,
)
from detlint.ir.settings import Row, Setting, Table

SHELL: Final = (
    ".sh", ".bash", ".zsh", ".ksh", ".fish", ".slurm", ".sbatch", ".pbs", ".qsub", ".lsf", ".bat", ".cmd", ".ps1", ".command",
)  # fmt: skip
"""Of what is no shell of Unix, plain commands are understood."""
YAML: Final = (".yaml", ".yml")
JSON: Final = ".json"
MOST_OF_JSON: Final = 1 << 15
"""How many bytes a JSON file of settings has: what is longer is data."""
INI: Final = (".ini", ".cfg", ".conf", ".properties")
UNREAD: Final = (".gin", ".json5", ".jsonc", ".jsonnet", ".j2", ".tmpl", ".template", ".example")
"""Settings whose grammar nothing here knows: only their words are."""
NOTEBOOK: Final = ".ipynb"
ARGUMENTS: Final = ".args"
VARIABLES: Final = ".env"
_MAKE: Final = frozenset({"makefile", "gnumakefile"})


_PLAIN: Final = frozenset({"docker", "make", "procfile", "shell", "variables"})


class LaunchText(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a launch text says."""

    script: Script = Script()
    documents: tuple[Setting, ...] | None = None
    """The values that it gives; None for a text that gives none, or that can't be read."""
    words: frozenset[str] = frozenset()
    """The names in it: keys, values, words of commands, in small letters, with `_` for `-`."""
    is_read: bool = True
    """Whether its grammar is known, and it keeps to it."""


def kind_of(name: str) -> str:
    """The grammar of a file; "" for what is no launch text."""
    lower = name.lower()
    if lower.startswith("dockerfile") or lower.endswith((".dockerfile", "containerfile")):
        return "docker"
    if lower in _MAKE or lower.endswith(".mk") or lower.startswith("makefile."):
        return "make"
    if lower == "procfile":
        return "procfile"
    kinds = {
        SHELL: "shell", YAML: "yaml", (".json",): "json", (".toml",): "toml", INI: "ini", UNREAD: "unread", (NOTEBOOK,): "notebook",
        (ARGUMENTS,): "arguments", (VARIABLES,): "variables",
    }  # fmt: skip
    if lower in (".env", "args.txt", "options.txt"):
        return "variables" if lower == ".env" else "arguments"
    return next((kind for endings, kind in kinds.items() if lower.endswith(endings)), "")


def is_launch(path: str) -> bool:
    """Whether a file is a launch text that has no other use: one of commands or of variables."""
    if path.endswith((".py", ".json")):
        return False
    return kind_of(path.replace("\\", "/").rpartition("/")[2]) in _PLAIN


def is_settings(path: str) -> bool:
    """Whether a file is none of code: YAML, JSON, or a launch text."""
    return path.endswith((*YAML, JSON)) or is_launch(path)


def lower(name: str, data: bytes) -> LaunchText:
    """What a text says. Never raises on account of the input.

    Args:
        name: its file's. Of a notebook, the text is what its cells give a shell.
    """
    kind = kind_of(name)
    if kind == "docker":
        return _of_script(docker.lower(data))
    if kind == "make":
        return _of_script(make.lower(data))
    if kind in _OF_SHELL:
        return _OF_SHELL[kind](data)
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    read = _SETTINGS.get(kind)
    documents = read(_lines(text)) if read is not None else None
    if documents is None:
        return LaunchText(words=frozenset(_words((text,))), is_read=False)
    script = Script(deployments.lower(settings.Items(tuple(documents))))
    if kind == "procfile":
        script = Script(tuple(step for document in documents for step in _of_procfile(document)))
    words = (text for document in documents for text in settings.texts(document))
    return LaunchText(script, tuple(documents), frozenset(_words(words)))


def _of_script(script: Script) -> LaunchText:
    return LaunchText(script, None, frozenset(_words(_said(script.steps))), script.complete)


def _of_arguments(data: bytes) -> LaunchText:
    """The arguments of a command, of which each may have a line of its own."""
    script = shell.lower(b" ".join(line for line in data.split(b"\n") if not line.lstrip().startswith(b"#")))
    return _of_script(script)


def _of_variables(data: bytes) -> LaunchText:
    """Variables of the environment: they are values, too."""
    script = shell.lower(data)
    found = [step for step in script.steps if isinstance(step, Assignment) and isinstance(step.value, Word)]
    rows = (
        Row(step.name.rpartition("__")[2].lower(), settings.plain(step.value.text), step.line, step.column)
        for step in found
        if isinstance(step.value, Word)
    )
    text = _of_script(script)
    return LaunchText(Script((), script.complete), (Table(tuple(rows)),), text.words, script.complete)


_OF_SHELL: Final[dict[str, Callable[[bytes], LaunchText]]] = {
    "shell": lambda data: _of_script(shell.lower(data)),
    "notebook": lambda data: _of_script(shell.lower(data)),
    "arguments": _of_arguments,
    "variables": _of_variables,
}
_SETTINGS: Final[dict[str, Callable[[str], list[Setting] | None]]] = {
    "yaml": settings.of_yaml,
    "procfile": settings.of_yaml,
    "json": settings.of_json,
    "toml": settings.of_toml,
    "ini": settings.of_ini,
}


def _lines(text: str) -> str:
    """A text with blanks for what only YAML 1.1 takes for ends of lines."""
    return text if text.isascii() else text.translate(dict.fromkeys(map(ord, "\x85\u2028\u2029"), " "))


def _of_procfile(document: Setting) -> Iterator[Step]:
    for row in document.rows if isinstance(document, Table) else ():
        if isinstance(row.value, str):
            yield Group(moved(shell.lower(row.value.encode("utf-8", "replace")).steps, row.line - 1, row.inner[1]))


# -- words ----------------------------------------------------------------------------------------------------------------


def _words(texts: Iterable[str]) -> Iterator[str]:
    """The names in texts."""
    for text in texts:
        spaced = "".join(each if each.isalnum() or each in "_-" else " " for each in text.lower())
        for word in spaced.split():
            yield word.strip("-").replace("-", "_")


def _said(steps: Iterable[Step]) -> Iterator[str]:
    """What is written out in steps."""
    for step in steps:
        if isinstance(step, Assignment):
            yield step.name
            values = step.value.words if isinstance(step.value, Array) else [step.value]
            yield from _of_words(word for word in values if word is not None)
        elif isinstance(step, Command):
            yield from _said(step.given)
            yield from _of_words(step.words)
        elif isinstance(step, Branch):
            for arm in step.arms:
                yield from _said(arm)
        elif isinstance(step, Loop):
            yield from _of_words(step.values or ())
            yield from _said(step.body)
        else:
            assert isinstance(step, (Define, Group))
            yield from _said(step.body)


def _of_words(words: Iterable[Word]) -> Iterator[str]:
    for word in words:
        for part in word.parts:
            if isinstance(part, str):
                yield part
            elif isinstance(part, Expansion):
                yield part.name
                yield from _of_words([part.default] if part.default is not None else ())

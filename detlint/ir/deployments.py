"""The commands in files of settings: workflows (GitHub, GitLab, Azure), compose files, containers of Kubernetes, launch files of editors,
tasks of package managers.

They are known by the keys that all such formats have in common. What stands in a table is a process of its own: its variables hold for
what stands below.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Final

from detlint.ir import shell
from detlint.ir.commands import Assignment, Command, Group, Step, Word, moved
from detlint.ir.settings import NOWHERE, Items, NotKnown, Row, Setting, Table

_SCRIPTS: Final = frozenset({"after_script", "bash", "before_script", "cmd", "run", "script", "setup"})
"""What they give a shell."""
_WORDS: Final = ("entrypoint", "command", "args")
"""What makes one command together."""
_PROGRAMS: Final = frozenset({"command", "entrypoint", "module", "program"})
_ENVIRONMENT: Final = frozenset({"env", "env_vars", "environment", "envs", "variables"})
"""In small letters."""
_FOLDERS: Final = frozenset({"cwd", "working-directory", "working_dir", "workingDirectory", "workingDir"})
_TASKS: Final = frozenset({"scripts", "tasks"})
"""Tables of commands by names."""


def lower(setting: Setting) -> tuple[Step, ...]:
    """The commands that a value has, in order."""
    if isinstance(setting, Items):
        return tuple(step for value in setting.values for step in lower(value))
    if not isinstance(setting, Table):
        return ()
    steps = [step for row in setting.rows if row.key.lower() in _ENVIRONMENT for step in _assigned(row)]
    steps += [_moving(row) for row in setting.rows if row.key in _FOLDERS and _written(row.value)]
    steps += _together({row.key: row for row in setting.rows})
    for row in setting.rows:
        if row.key in _SCRIPTS:
            steps += _script(row)
        elif row.key in _TASKS and isinstance(row.value, Table):
            steps += [Group(tuple(_script(task))) for task in row.value.rows if _written(task.value)]
        if isinstance(row.value, (Table, Items)) and row.key.lower() not in _ENVIRONMENT:
            steps += lower(row.value)
    return (Group(tuple(steps)),) if steps else ()


def _written(value: Setting) -> str:
    """A text as a shell has it, with variables for what a workflow puts into it (`${{ env.NAME }}`); "" for any other value."""
    text = value.text if isinstance(value, NotKnown) else value if isinstance(value, str) else ""
    parts = text.split("${{")
    found = parts[0]
    for part in parts[1:]:
        inside, _, rest = part.partition("}}")
        name = inside.strip().removeprefix("env.")
        found += (f"${{{name}}}" if name.isidentifier() and name.isascii() else "$(_)") + rest
    return found


def _word(value: Setting, row: Row) -> Word:
    """A value as processes get it."""
    if isinstance(value, (int, float)):
        return Word((str(value).lower(),), *row.inner)
    text = _written(value)
    return Word(shell.quoted(text).parts if text else (None if value is None else "",), *row.inner)


def _placed(word: Word, place: tuple[int, int, int]) -> Word:
    """A word that is a whole value, with where that stands."""
    return Word(word.parts, *place) if place[0] else word


def _moving(row: Row) -> Step:
    return Command((Word(("cd",)), _word(row.value, row)), (), row.line, row.column)


def _assigned(row: Row) -> Iterator[Step]:
    """The variables of a process: a table, a list of `NAME=value`, or one of tables with `name` and `value`."""
    if isinstance(row.value, Table):
        for own in row.value.rows:
            yield _variable(own.key, own.value, own)
    listed = row.value if isinstance(row.value, Items) else Items(())
    for number, value in enumerate(listed.values):
        if isinstance(value, Table) and (name := _written(value.get("name"))):
            own = next((each for each in value.rows if each.key == "value"), row)
            yield _variable(name, value.get("value"), own)
        elif text := _written(value):
            place = listed.places[number] if number < len(listed.places) else NOWHERE
            name, _, given = text.partition("=")
            word = _placed(_word(given, row), place)
            yield Assignment(name, word, "export", False, *(place[:2] if place[0] else (row.line, row.column)))


def _variable(name: str, value: Setting, row: Row) -> Step:
    return Assignment(name, _placed(_word(value, row), row.place), "export", False, row.line, row.column)


def _together(rows: dict[str, Row]) -> list[Step]:
    """The command that a container, an editor, or a sweep starts; of arguments alone the image knows the program."""
    found = [*_started(rows)]
    if not found:
        return []
    words = [Word((None,))] if rows.keys().isdisjoint(_PROGRAMS) else []
    for start, row in found:
        words += [Word((text,), *row.inner) for text in start]
        if isinstance(row.value, Items):
            given = zip(row.value.values, row.value.places or repeat(NOWHERE), strict=False)
            plain = ((value, place) for value, place in given if not isinstance(value, (Table, Items)))
            words += [_placed(_word(value, row), place) for value, place in plain]
        elif start:
            words.append(_word(row.value, row))
        else:
            steps = [*_script(row)]
            if len(steps) != 1 or not isinstance(steps[0], Command):
                return steps
            words += steps[0].words
    line, column = found[0][1].line, found[0][1].column
    return [Command(tuple(words), (), line, column)] if any(word.text for word in words) else []


def _started(rows: dict[str, Row]) -> Iterator[tuple[tuple[str, ...], Row]]:
    """What makes the words of a command, in order, with what stands before each."""
    program, module = rows.get("program"), rows.get("module")
    if "command" not in rows and program is not None and _written(program.value).endswith(".py"):
        yield ("python",), program
    elif "command" not in rows and module is not None and "request" in rows:
        yield ("python", "-m"), module
    yield from (((), rows[key]) for key in _WORDS if key in rows)


def _script(row: Row) -> Iterator[Step]:
    """What a shell gets: a text, or several."""
    line, column = row.inner
    for value in row.value.values if isinstance(row.value, Items) else (row.value,):
        steps = shell.lower(_written(value).encode("utf-8", "replace")).steps
        yield from moved(steps, max(line - 1, 0), row.indent or column, each=bool(row.indent))

"""The commands that a launch text runs, with what its variables stand for.

Each way through a text is gone: of two arms both, of a loop over words each; a function where it is called. What a variable may be at a
place is a few texts; a command comes once for each choice among them. What nobody may know but who starts the text (its arguments, what
is read or computed) is `UNKNOWN`, a mark in the word; a default (`${X:-8}`) holds, as nobody says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, Final, NamedTuple

from detlint.ir import shell
from detlint.ir.commands import Array, Assignment, Branch, Command, Expansion, Group, Loop, Script, Step, Word

UNKNOWN: Final = "\0"
"""Stands in a word for what isn't known."""
MOST_VALUES: Final = 16
"""Texts that a variable may be."""
MOST_WAYS: Final = 32
"""Choices among such for one command."""
MOST_STEPS: Final = 20_000
"""Those of one text, each way of a command counted: functions may call each other without end."""
LONGEST: Final = 20_000
"""Characters of a text: what is longer is data."""
DEEPEST: Final = 20
"""Calls of functions within each other."""
_ARGUMENTS: Final = frozenset({"@", "*"})
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash", "ksh"})

Value = str | tuple[str, ...]
"""A text, or the items of an array."""


class Given(NamedTuple):
    """A variable that processes get, by one place of a text."""

    name: str
    value: str
    """`UNKNOWN` in what isn't known of it."""
    line: int
    column: int
    place: tuple[int, int, int]
    """The line, the column and the length of the word with the value; a length of 0 where it isn't written on one line."""


class Started(NamedTuple):
    """A command as it is run."""

    words: tuple[str, ...]
    environment: Mapping[str, str]
    """The variables that the text hands on to it."""
    folder: str
    """Where it is run, from where the text is."""
    line: int
    column: int
    places: tuple[tuple[int, int, int], ...] = ()
    """Of each word, as `Given.place` has it."""


ANY: Final = Started((UNKNOWN, f"--{UNKNOWN}"), {}, UNKNOWN, 0, 0)
"""Stands for all that a text runs beyond what is gone through."""


def is_known(word: str) -> bool:
    """Whether all of a word is written out."""
    return UNKNOWN not in word


def started(script: Script, sourced: Callable[[str], Script | None] = lambda name: None) -> list[Started]:
    """The commands that a text runs, but those that only a shell has (`cd`, `set`).

    Args:
        sourced: what another text says that it reads (`source env.sh`), by how it is named there; None where that isn't known.
    """
    return gone_through(script, sourced)[0]


def gone_through(
    script: Script, sourced: Callable[[str], Script | None] = lambda name: None
) -> tuple[list[Started], list[Given]]:
    """The same, and the variables that the text itself gives processes."""
    run = _Run(sourced)
    run.steps(script.steps)
    run.others()
    if run.left <= 0:
        run.found.append(ANY)
    found = {(one.words, (*one.environment.items(),), *one[2:]): one for one in run.found}
    return [*found.values()], [*dict.fromkeys(run.given)]


class _State(NamedTuple):
    """What holds at a place."""

    variables: dict[str, tuple[Value, ...]]
    exported: frozenset[str]
    folder: str


class _Run:
    """The state of going through a text."""

    def __init__(self, sourced: Callable[[str], Script | None]) -> None:
        self.sourced = sourced
        self.found: list[Started] = []
        self.given: list[Given] = []
        self.apart: Command | None = None
        """The command in whose place another text is run."""
        self.elsewhere = False
        """Whether that one is a file."""
        self.of_others: set[str] = set()
        """The functions that other files define."""
        self.variables: dict[str, tuple[Value, ...]] = {}
        self.set_by: dict[str, Assignment] = {}
        """What gave variables their values last."""
        self.exported: frozenset[str] = frozenset()
        self.folder = "."
        self.exports_all = False
        self.functions: dict[str, tuple[Step, ...]] = {}
        self.called: set[str] = set()
        self.depth = 0
        self.left = MOST_STEPS

    def others(self) -> None:
        """Go through the functions that nothing calls: who reads the text may."""
        for name in [*self.functions]:
            if name not in self.called:
                self.call(name, None, None)

    # -- the state ----------------------------------------------------------------------------------------------

    def kept(self) -> _State:
        return _State(self.variables.copy(), self.exported, self.folder)

    def put_back(self, state: _State) -> None:
        self.variables, self.exported, self.folder = state.variables.copy(), state.exported, state.folder

    def meet(self, states: Sequence[_State]) -> None:
        """Go on where several ways meet."""
        names = dict.fromkeys(name for state in states for name in state.variables)
        self.variables = {
            name: _few(value for state in states for value in state.variables.get(name, (UNKNOWN,))) for name in names
        }
        self.exported = frozenset().union(*(state.exported for state in states))
        folders = {state.folder for state in states}
        self.folder = folders.pop() if len(folders) == 1 else UNKNOWN

    # -- steps --------------------------------------------------------------------------------------------------

    def steps(self, steps: Iterable[Step]) -> None:
        for step in steps:
            self.left -= 1
            if self.left < 0:
                return
            if isinstance(step, Assignment):
                self.assign(step)
            elif isinstance(step, Command):
                self.command(step)
            elif isinstance(step, Branch):
                self.branch(step)
            elif isinstance(step, Loop):
                self.loop(step)
            elif isinstance(step, Group):
                before = self.kept()
                self.steps(step.body)
                self.put_back(before)
            else:
                self.functions[step.name] = step.body
                self.of_others -= {step.name}
                self.of_others |= {step.name} if self.elsewhere else set()

    def assign(self, step: Assignment) -> None:
        name = step.name
        if step.kind == "unset":
            self.variables.pop(name, None)
            self.exported -= {name}
            return
        if step.value is not None or step.kind == "read":
            self.variables[name] = self.values(step)
            self.set_by[name] = step
        if step.kind == "export" or self.exports_all:
            self.exported |= {name}
        if name in self.exported and name in self.set_by:
            self.give(self.set_by[name], self.variables.get(name, ()))

    def give(self, step: Assignment, values: Iterable[Value]) -> None:
        """Note what a place gives processes."""
        if not self.elsewhere:
            word = step.value if isinstance(step.value, Word) and not self.apart else Word(())
            at, place = self.apart or step, (word.line, word.column, word.length)
            self.given += (Given(step.name, _text(value), at.line, at.column, place) for value in values)

    def values(self, step: Assignment) -> tuple[Value, ...]:
        """What a variable gets."""
        if step.value is None:
            return (UNKNOWN,)
        listed = isinstance(step.value, Array)
        words = step.value.words if isinstance(step.value, Array) else (step.value,)
        found: list[Value] = []
        for chosen in self.choices(words):
            fields = [field for word in words for field in _fields(word, chosen, not listed)]
            value: Value = tuple(fields) if listed else " ".join(fields)
            before = self.variables.get(step.name, ("",)) if step.adds else ("",)
            found += (_added(old, value) for old in before)
        return _few(found)

    def branch(self, step: Branch) -> None:
        before, ends = self.kept(), list[_State]()
        for arm in step.arms:
            self.put_back(before)
            self.steps(arm)
            ends.append(self.kept())
        self.meet(ends if step.exhaustive else [before, *ends])

    def loop(self, step: Loop) -> None:
        before = self.kept()
        for name in _assigned(step.body):  # an earlier round may have set it
            self.variables[name] = _few((*self.variables.get(name, ()), UNKNOWN))
        if step.variable:
            self.variables[step.variable] = self.items(step.values) if step.values is not None else (UNKNOWN,)
        self.steps(step.body)
        self.meet([before, self.kept()])

    def items(self, words: Sequence[Word]) -> tuple[Value, ...]:
        """What a loop goes over."""
        return _few(field for chosen in self.choices(words) for word in words for field in _fields(word, chosen))

    # -- commands -----------------------------------------------------------------------------------------------

    def command(self, step: Command) -> None:
        given = {one.name: self.values(one) for one in step.given}
        for one in step.given:
            self.give(one, given[one.name])
        handed = {name: self.variables.get(name, (UNKNOWN,)) for name in sorted(self.exported) if name not in given}
        done = set[Any]()
        for chosen in self.choices(step.words, {**handed, **{f"{name}=": values for name, values in given.items()}}):
            fields = [(field, word) for word in step.words for field in _fields(word, chosen)]
            words = tuple(field for field, _ in fields)
            environment = {name: _text(chosen[name]) for name in handed}
            environment |= {name: _text(chosen[f"{name}="]) for name in given}
            what = words if words[:1] and words[0] in self.functions else (words, *environment.items())
            if words and what not in done and self.left > 0:
                self.left -= 1
                done.add(what)
                places = tuple((word.line, word.column, word.length) for _, word in fields)
                self.run(Started(words, environment, self.folder, step.line, step.column, places), step)

    def run(self, started: Started, step: Command) -> None:
        """Run one command."""
        words = started.words
        name, rest = words[0], words[1:]
        if name in self.functions:
            self.call(name, rest, step if name in self.of_others else None)
        elif name in ("cd", "pushd", "popd"):
            self.folder = _joined(self.folder, rest[0] if rest else UNKNOWN)
        elif name == "set":
            self.exports_all |= any(_sets_all(word) for word in rest)
            if "--" in rest:
                self.variables["@"] = (rest[rest.index("--") + 1 :],)
        elif name == "shift":
            arguments = self.variables.get("@", (UNKNOWN,))[0]
            self.variables["@"] = (arguments[1:] if isinstance(arguments, tuple) else UNKNOWN,)
        elif text := " ".join(rest) if name == "eval" else _given_to_shell(words):
            self.within(shell.lower(text.replace(UNKNOWN, "$__unknown__").encode()), step)
        elif name in ("source", ".") and rest:
            self.source(rest[0], step)
        else:
            at = (self.apart.line, self.apart.column) if self.apart else (step.line, step.column)
            self.found.append(started._replace(line=at[0], column=at[1], places=() if self.apart else started.places))

    def source(self, name: str, step: Command) -> None:
        """Run what another text says. Which of its functions nothing calls, is a matter of its own."""
        own, script = {*self.functions}, self.sourced(name)
        if script is not None:
            before, self.elsewhere = self.elsewhere, True
            self.within(script, step)
            self.elsewhere = before
            self.called |= self.functions.keys() - own

    def within(self, script: Script, step: Command) -> None:
        """Run what a text says that a command runs in its own place."""
        if self.depth < DEEPEST:
            self.depth += 1
            before, self.apart = self.apart, self.apart or step
            self.steps(script.steps)
            self.apart = before
            self.depth -= 1

    def call(self, name: str, arguments: tuple[str, ...] | None, step: Command | None) -> None:
        """Run a function.

        Args:
            arguments: None where they aren't known.
            step: what calls one that another file defines.
        """
        self.called.add(name)
        if self.depth < DEEPEST:
            self.depth += 1
            around = self.apart, self.elsewhere
            self.apart, self.elsewhere = self.apart or step, self.elsewhere or step is not None
            before = self.variables.get("@")
            self.variables["@"] = (arguments if arguments is not None else UNKNOWN,)
            self.steps(self.functions[name])
            self.variables.pop("@") if before is None else self.variables.update({"@": before})
            self.apart, self.elsewhere = around
            self.depth -= 1

    # -- words --------------------------------------------------------------------------------------------------

    def choices(
        self, words: Sequence[Word], handed: Mapping[str, tuple[Value, ...]] | None = None
    ) -> Iterator[Mapping[str, Value]]:
        """What the variables of some words may be together, and those that processes are handed; of too many ways, those of the words."""
        names = dict.fromkeys(name for word in words for name in _names(word))
        known = {name: self.variables[name] for name in names if name in self.variables}
        several = known | dict(handed or {})
        if _ways(several) > MOST_WAYS:
            several |= {name: (UNKNOWN,) for name, values in several.items() if name not in known and len(values) > 1}
        if _ways(several) > MOST_WAYS:
            several |= {name: (UNKNOWN,) for name, values in several.items() if len(values) > 1}
        return (dict(zip(several, way, strict=True)) for way in product(*several.values()))


def _ways(several: Mapping[str, Sequence[Value]]) -> int:
    return prod(map(len, several.values()))


def _names(word: Word) -> Iterator[str]:
    """The variables that a word depends on."""
    for part in word.parts:
        if isinstance(part, Expansion):
            yield "@" if part.name.isdigit() or part.name in _ARGUMENTS else part.name
            if part.default is not None:
                yield from _names(part.default)


def _fields(word: Word, chosen: Mapping[str, Value], quoted: bool = False) -> list[str]:
    """The words that one becomes; none where it is nothing but variables that are empty.

    Args:
        quoted: whether it stays one.
    """
    fields, is_word = [""], quoted
    for part in word.parts:
        if not isinstance(part, Expansion):
            fields[-1] += UNKNOWN if part is None else part
            is_word = True
            continue
        is_word = is_word or part.quoted
        value = _value(part, chosen)
        if isinstance(value, tuple):
            pieces = [*value] if part.each else [*value[:1]]
        else:
            pieces = [value] if part.quoted or quoted else value.split()
            if not (part.quoted or quoted) and value[:1].isspace() and fields[-1]:
                pieces = ["", *pieces]
        if pieces:
            fields[-1] += pieces[0]
            fields += pieces[1:]
            is_word = is_word or bool(pieces[0])
            if not (part.quoted or quoted) and isinstance(value, str) and value[-1:].isspace():
                fields.append("")
    fields = fields[:-1] if len(fields) > 1 and not fields[-1] else fields
    return fields if is_word or fields != [""] else []


def _value(part: Expansion, chosen: Mapping[str, Value]) -> Value:
    """What a variable stands for."""
    name, found = part.name, chosen.get(part.name)
    if name in _ARGUMENTS or name.isdigit():
        arguments = chosen.get("@")
        if name.isdigit() and isinstance(arguments, tuple) and name != "0":
            place = int(name) - 1 if len(name) < 4 else len(arguments)
            found = arguments[place] if place < len(arguments) else ""
        elif not name.isdigit():
            found = arguments
    if not found and part.default is not None:
        return " ".join(_fields(part.default, chosen, quoted=True))
    return found if found is not None else UNKNOWN


def _text(value: Value) -> str:
    return value if isinstance(value, str) else " ".join(value)


def _added(old: Value, new: Value) -> Value:
    """`X+=new`"""
    if isinstance(new, tuple):
        return (*old, *new) if isinstance(old, tuple) else ((old, *new) if old else new)
    return (*old[:-1], old[-1] + new) if isinstance(old, tuple) and old else _text(old) + new


def _few(values: Iterable[Value]) -> tuple[Value, ...]:
    """Each of some values once; what isn't known where they are too many."""
    found = tuple(dict.fromkeys(value if len(_text(value)) <= LONGEST else UNKNOWN for value in values))
    return found if 0 < len(found) <= MOST_VALUES else (UNKNOWN,)


def _assigned(steps: Iterable[Step]) -> Iterator[str]:
    """The variables that steps set."""
    for step in steps:
        if isinstance(step, Assignment):
            yield step.name
        elif isinstance(step, Branch):
            for arm in step.arms:
                yield from _assigned(arm)
        elif isinstance(step, Loop):
            yield from (step.variable,) if step.variable else ()
            yield from _assigned(step.body)


def _given_to_shell(words: Sequence[str]) -> str:
    """What a shell gets to run that a command starts: `srun bash -c "..."`; "" for none."""
    for i, word in enumerate(words[:-2]):
        is_shell = word.rpartition("/")[2] in _SHELLS
        if is_shell and words[i + 1].startswith("-") and words[i + 1].endswith("c"):
            return words[i + 2]
    return ""


def _sets_all(option: str) -> bool:
    """Whether an option of `set` hands all variables on."""
    return option == "allexport" or (option.startswith("-") and not option.startswith("--") and "a" in option)


def _joined(folder: str, inside: str) -> str:
    """The folder that one inside another is."""
    if inside.startswith(("/", "~", "-")) or not is_known(inside):
        return UNKNOWN if inside.startswith(("/", "~", "-", UNKNOWN)) else f"{UNKNOWN}/{inside}"
    return f"{folder}/{inside}"

"""Runs that use several devices only where somebody asks for it, and are said to use one: the option is off where nobody gives it, and
no command, document or setting of their project turns it on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Final

from detlint.domains.constant.evaluator import Evaluator, literal
from detlint.domains.constant.given import writes
from detlint.domains.matching.match import Matcher
from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.model.arguments import received
from detlint.model.launches.devices import Starts, Usual
from detlint.model.launches.documents import Documents
from detlint.model.module import Module
from detlint.model.places import point_of
from detlint.model.runs.calls import STARTS_COMMUNICATION
from detlint.model.runs.reach import Place, Reach
from detlint.model.sites.records import Const, Detail, Member, Param, Ref
from detlint.model.sites.records import Function as Head
from detlint.model.uses import Use, Users

LAUNCHERS: Final = ("mpirun", "msrun", "torchrun")
"""What starts several processes; Python files of a project may have it, too."""
RANK_SIZE: Final = "RANK_SIZE"
"""The variable by which each process knows how many there are."""
DEEPEST: Final = 3
"""How many calls a parameter is followed up."""
_DECLARE: Final = frozenset({"add_argument", "add_option", "option", "Option"})
"""Functions of libraries that declare one, beside those of absl."""
_DEST: Final = frozenset({"dest", "name"})
"""By what a declaration says them else."""
_ONE: Final = frozenset((Const(1), Const("1")))
_OFF: Final = frozenset(map(Const, (False, 0, None)))


class Alone:
    """Asks the documents of runs that may start to communicate with other devices.

    Args:
        documents: what a project says of how its scripts are started.
    """

    def __init__(self, matcher: Matcher, users: Users, documents: Documents) -> None:
        self._matcher = matcher
        self._resolver = matcher.resolver
        self._users = users
        self._documents = documents

    def complete(self, reach: Reach) -> None:
        """Note whether a run that may communicate is said to use one device."""
        if not reach.communicates:
            return
        script = reach.entry.module.path
        starts = self._documents.starts(script)
        begun = [place for place in reach.places if self._begins(place, reach)] if starts is not None else []
        if starts is None or not begun:
            return
        run = _Run(reach, starts, self._users)
        asked = [run.options_of(place) for place in begun]
        known = {name: _alike(run.usual[name]) for found in asked for name in found}
        usual = {other: values for name, values in known.items() for other in (name, *run.other_names(name))}
        for_one = all(asked) and not starts.turn_on(usual)
        reach.alone = (for_one or starts.are_for_one()) and not self._launches(starts, usual)

    def _begins(self, place: Place, reach: Reach) -> bool:
        """Whether a run starts to communicate at a site, which says so or is handed what does."""
        found = (self._matcher.matches(place.module, place.site), *reach.handed.get(place, {}).values())
        return any(STARTS_COMMUNICATION in effect.entry.contexts for effects in found for effect in effects)

    def _launches(self, starts: Starts, options: Usual) -> bool:
        """Whether a file of the project names what starts several processes, says how many there are, starts something with one of some
        options, or has another value for one as its own, as settings in Python do."""
        index, folder = self._users.index, starts.folder
        found = index.saying_any(LAUNCHERS, folder)
        saying = index.saying(RANK_SIZE, folder)
        found += (path for path in saying if any(value not in _ONE for value in self._given_by(path, RANK_SIZE)))
        found += launching(self._users, folder, options)
        for option, usual in options.items():
            for path in index.saying(option.lstrip("-"), folder):
                given = self._given_by(path, option)
                found += [path] if any(value is not None and value not in usual for value in given) else []
        return bool(found) or any(value not in _ONE for value in starts.sets(RANK_SIZE))

    def _given_by(self, path: str, option: str) -> set[Const | None]:
        code = self._resolver.code(path)
        return {*_of_tables(code, option)} if code is not None else set()


def launching(users: Users, folder: str, options: Iterable[str]) -> list[str]:
    """The Python files below a folder that may start a script, or call what parses its options, with one of some: a text of their code
    gives it, and doesn't only declare it. What notebooks say are launch files."""
    given = {
        way.replace("_", "-") for option in options for way in (option if option.startswith("-") else f"--{option}",)
    }
    ways = (spelled for way in given for spelled in (way.strip("-"), way.strip("-").replace("-", "_")))
    users.index.sought.update((folder, part) for way in ways for part in way.split("-"))
    below = (path for path in users.index.below(folder) if given and path.endswith(".py"))
    return [path for path in below if _launches(users.resolver.by_words(path), given)]


def _launches(code: Code | None, given: AbstractSet[str]) -> bool:
    """Whether a text of a file's code gives one of some options, but where that is declared."""
    rows = (
        {row for row, text in enumerate(code.constants) if isinstance(text, str) and _gives(text, given)}
        if code
        else ()
    )
    return code is not None and any(
        operation[1] in rows and not all(_declares(function, use.op) for use in function.users[at])
        for function in (code.functions() if rows else ())
        for at, operation in function.each(op.CONST)
    )


def _gives(text: str, given: AbstractSet[str]) -> bool:
    """Whether a word of a text is one of some options, perhaps with its value."""
    return "-" in text and any(word.partition("=")[0].replace("_", "-") in given for word in text.split())


def _declares(function: Function, at: int) -> bool:
    """Whether an op declares an option, by the name of what is called."""
    name = function.chain(function.call(at).callee) if function.ops[at][0] == op.CALL else None
    last = "" if name is None else name.attributes[-1] if name.attributes else function.dotted(name.root)
    return last in _DECLARE or last.startswith("DEFINE_")


class _Run:
    """A run, and what its options are where nobody gives them."""

    def __init__(self, reach: Reach, starts: Starts, users: Users) -> None:
        self._starts = starts
        self._users = users
        self._paths = sorted(reach.files)
        self.usual: dict[str, Const] = {}
        """The options that were asked for and are known."""

    def options_of(self, place: Place) -> set[str]:
        """The options one of which has to be given another value than usual for a run to come to a site; none where it may come there
        without that."""
        module, function = place.module, place.module.function_of(place.module.sites[place.site])
        point = point_of(self._users.resolver, module, module.sites[place.site])
        for test in reversed([*point.tests()] if point is not None and point.around.number else []):
            asked = set[str]()
            known = Evaluator(partial(self._known, module, function, asked)).of(test.function, test.value)
            if known is (not test.wanted):
                return asked
        return set()

    def _known(self, module: Module, function: Head, asked: set[str], body: Function, at: int) -> Const | None:
        """What an expression usually is: an option, or what the calls of the function give a parameter."""
        operation = body.ops[at]
        if operation[0] == op.ITEM:
            key = body.constant(operation[2])
            return self._option(key, asked) if isinstance(key, str) else None
        if operation[0] == op.ATTR:
            return self._option(body.code.strings[operation[2]], asked) if body.dotted(at) else None
        given = body.given(at)
        if given is None or given[0].qualified != function.name:
            return None
        return self._parameter(module, function, body.text(operation[1]), asked)

    def _option(self, name: str, asked: set[str]) -> Const | None:
        """What an option, or a setting, is where nobody gives it another value; None where that isn't the same anywhere, or something in
        the run's files sets it."""
        value = self.usual[name] if name in self.usual else self._usual(name)
        if value is not None:
            self.usual[name] = value
            asked.add(name)
        return value

    def other_names(self, name: str) -> set[str]:
        """By what else the command line may give an option: `-d`, or what its parser has for its `dest`."""
        declared = (names for code in self._codes() for names in _declared(code) if name in map(_attribute, names))
        found = {word.lstrip("-") for names in declared for word in names}
        return {f"-{word}" if len(word) == 1 else _attribute(word) for word in found} - {name}

    def _codes(self) -> Iterator[Code]:
        """The run's files of Python."""
        return (code for path in self._paths if (code := self._users.resolver.code(path)) is not None)

    def _usual(self, name: str) -> Const | None:
        resolver = self._users.resolver
        codes = [*self._codes()]
        modules = [module for path in self._paths if (module := resolver.module(path)) is not None]
        values = {module.facts.options[name].default for module in modules if name in module.facts.options}
        values |= self._starts.values(name)
        value = values.pop() if len(values) == 1 else None
        if not isinstance(value, Const) or len(codes) < len(self._paths):
            return None
        given = (writes(resolver, module.path, name) for module in modules)
        written = (one.of(code) for one, code in zip(given, codes, strict=True))
        return value if all(found == value for each in written for found in each) else None

    def _parameter(self, module: Module, function: Head, name: str, asked: set[str], depth: int = 0) -> Const | None:
        """What all calls in the run's files usually give a parameter."""
        if "." in function.name or depth > DEEPEST:
            return None
        uses = [use for use in self._users.of(module, function.name) or () if use.module.path in self._paths]
        values = {self._given(module.detail(function), use, name, asked, depth) for use in uses}
        return values.pop() if len(values) == 1 else None

    def _given(self, called: Detail, use: Use, name: str, asked: set[str], depth: int) -> Const | None:
        """What a call usually gives a parameter."""
        if not use.called:
            return None
        argument = received(use.module.sites[use.site], called.parameters).get(name)
        if argument is None or argument.given is None:
            return None
        value = argument.value
        if isinstance(value, Param):
            function = use.module.function_of(use.module.sites[use.site])
            return self._parameter(use.module, function, value.name, asked, depth + 1)
        if isinstance(value, (Member, Ref)):
            return self._option(value.attr if isinstance(value, Member) else value.name.rpartition(".")[2], asked)
        return value if isinstance(value, Const) else None


def _alike(usual: Const) -> frozenset[Const]:
    """The values that mean the same of an option as the usual one."""
    return _OFF if usual in _OFF else frozenset({usual})


def _attribute(word: str) -> str:
    """The attribute by which an option is read, unless its parser says another."""
    return word.lstrip("-").replace("-", "_")


def _declared(code: Code) -> Iterator[list[str]]:
    """The names of the options that a file declares, of each with that of its attribute, if it is told one."""
    for function in code.each_once():
        for at, _ in function.each(op.CALL):
            if _declares(function, at):
                call = function.call(at)
                said = map(function.constant, (*call.positional, *(call.named[word] for word in _DEST & {*call.named})))
                yield [text for text in said if isinstance(text, str)]


def _of_tables(code: Code, name: str) -> Iterator[Const | None]:
    """What a file has under a name, as its own or in a table; None for what isn't written out."""
    for function in code.each_once():
        for at, operation in enumerate(function.ops):
            if operation[0] == op.STORE and not function.number and function.text(operation[1]) == name:
                yield literal(function, operation[2])
            elif operation[0] == op.SET_ITEM and function.constant(operation[2]) == name:
                yield literal(function, operation[3])
            elif operation[0] == op.DICT:
                items = zip(operation[1::2], operation[2::2], strict=True)
                yield from (literal(function, value) for key, value in items if function.constant(key) == name)
            elif operation[0] == op.CALL and function.is_builtin(operation[1], "dict"):
                yield from (literal(function, value) for word, value in function.call(at).named.items() if word == name)

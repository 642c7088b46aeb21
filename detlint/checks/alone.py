"""Runs that use several devices only where somebody asks for it, and are said to use one: the option is off where nobody gives it, and
no command, document or setting of their project turns it on."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Final

from detlint.checks.guards import Guarded, on_the_way
from detlint.checks.match import Matcher
from detlint.facts.loops import dotted
from detlint.facts.model import Const, Detail, Member, Param, Ref
from detlint.facts.model import Function as Head
from detlint.facts.nodes import walk
from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.model.devices import Starts, Usual, literal
from detlint.model.documents import Documents
from detlint.program.bound import Argument, CallArgument, bind
from detlint.program.calls import STARTS_COMMUNICATION
from detlint.program.reach import Place, Reach
from detlint.program.resolve import Module
from detlint.program.truth import result, truth
from detlint.program.users import Use, Users

LAUNCHERS: Final = ("mpirun", "msrun", "torchrun")
"""What starts several processes; Python files of a project may have it, too."""
RANK_SIZE: Final = "RANK_SIZE"
"""The variable by which each process knows how many there are."""
DEEPEST: Final = 3
"""How many calls a parameter is followed up."""
_HEAD: Final = re.compile(rb"\bdef \w+\((?:[^()]|\([^()]*\))*\)")
"""Heads of functions: a parameter of that name is none of the options."""
_RANKS: Final = re.compile(rb"\bRANK_SIZE[\"'\]]*\s*(?:[=:](?!=)|value:)\s*(?![\"']?1\b)")
"""What sets that variable to something else than one: in Python, or for a container."""
_DECLARED: Final = re.compile(rb"(?:\badd\w*|DEFINE_\w+|[oO]ption|\barg\w*)\([^)]*")
"""Where an option is declared, and not given."""
_DECLARE: Final = ("add", "DEFINE_", "arg")
"""How the names of functions begin that declare one."""
_NAME: Final = re.compile(rb"[\"']--?([\w-]+)[\"']")
"""How a declaration writes the names of an option."""
_MADE: Final = rb"(?:update|replace|merge|set_defaults|[dD]ict|Namespace|Config|Settings)\((?:[^()]|\([^()]*\))*?"
"""What makes settings of keywords, or sets them so."""
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
        reach.alone = (for_one or starts.are_for_one()) and not self._launches(starts.folder, usual)

    def _begins(self, place: Place, reach: Reach) -> bool:
        """Whether a run starts to communicate at a site, which says so or is handed what does."""
        found = (self._matcher.matches(place.module, place.site), *reach.handed.get(place, {}).values())
        return any(STARTS_COMMUNICATION in effect.entry.contexts for effects in found for effect in effects)

    def _launches(self, folder: str, options: Usual) -> bool:
        """Whether a file below a folder speaks of what starts several processes, says how many there are, starts something with
        one of some options, or has another value for one as its own, as settings in Python do."""
        texts = self._users.texts
        found = texts.saying_any(LAUNCHERS, folder)
        ranks = texts.saying_any((RANK_SIZE,), folder)
        found += [path for path in ranks if _RANKS.search(texts.of(path) or b"")]
        found += launching(self._users, folder, options)
        for option, usual in options.items():
            saying = texts.saying(option.lstrip("-"), folder)
            found += [path for path in saying if _has_other(texts.of(path) or b"", option, usual)]
        self._resolver.opened.update(found)
        return bool(found)


def launching(users: Users, folder: str, options: Iterable[str]) -> list[str]:
    """The Python files below a folder that may start a script, or call what parses its options, with one of some: a text of their code
    gives it, and doesn't only declare it. What notebooks say are launch files."""
    given = {
        way.replace("_", "-") for option in options for way in (option if option.startswith("-") else f"--{option}",)
    }
    users.texts.sought.update(
        (folder, word) for option in options for word in (option.lstrip("-"), option.lstrip("-").replace("_", "-"))
    )
    below = (path for path in users.texts.below(folder) if given and path.endswith(".py"))
    return [path for path in below if _launches(users.resolver.modules.code(path), given)]


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
    return last.startswith(_DECLARE) or last.lower() == "option"


class _Run:
    """A run, and what its options are where nobody gives them."""

    def __init__(self, reach: Reach, starts: Starts, users: Users) -> None:
        self._starts = starts
        self._users = users
        self._paths = sorted(reach.files)
        self._modules = {place.module.path: place.module for place in reach.places}
        self.usual: dict[str, Const] = {}
        """The options that were asked for and are known."""

    def options_of(self, place: Place) -> set[str]:
        """The options one of which has to be given another value than usual for a run to come to a site; none where it may come there
        without that."""
        module, function = place.module, place.module.function_of(place.module.sites[place.site])
        found = on_the_way(self._users.texts, module, place.site)
        if found is None:
            return set()
        for guard in found.guards:
            asked = set[str]()
            if truth(guard.test, partial(self._known, module, function, found, asked)) is (not guard.wanted):
                return asked
        return set()

    def _known(self, module: Module, function: Head, found: Guarded, asked: set[str], node: ast.expr) -> Const | None:
        """What an expression usually is: an option, what the calls of the function give a parameter, or a name for that."""
        if isinstance(node, ast.Subscript):
            named = node.slice.value if isinstance(node.slice, ast.Constant) else None
            return self._option(named, asked) if isinstance(named, str) else None
        if isinstance(node, ast.Attribute):
            return self._option(node.attr, asked) if dotted(node) else None
        if not isinstance(node, ast.Name):
            return None
        bound = [one for one in walk(found.function) if _binds(one, node.id)]
        if bound:  # an assignment, and the name that it binds
            kept = bound[0] if len(bound) == 2 else None
            if not isinstance(kept, ast.Assign) or isinstance(kept.value, ast.Name):
                return None
            return result(kept.value, partial(self._known, module, function, found, asked))
        return self._parameter(module, function, node.id, asked)

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
        texts = (self._users.texts.of(path) or b"" for path in self._paths)
        declared = [found[0] for text in texts for found in _DECLARED.finditer(text)]
        said = re.compile(rb"[\"'](?:--)?%s[\"']" % re.escape(name.encode()).replace(b"_", b"[-_]"))
        names = [_NAME.findall(one) for one in declared if said.search(one)]
        found = {word.decode("utf-8", "replace") for one in names for word in one}
        return {f"-{word}" if len(word) == 1 else word.replace("-", "_") for word in found} - {name}

    def _usual(self, name: str) -> Const | None:
        modules = [module for path in self._paths if (module := self._users.resolver.module(path)) is not None]
        values = {module.facts.options[name].default for module in modules if name in module.facts.options}
        values |= self._starts.values(name)
        value = values.pop() if len(values) == 1 else None
        self._users.resolver.opened.update(self._paths)
        texts = (self._users.texts.of(path) for path in self._paths)
        if not isinstance(value, Const) or any(text is None or _sets_other(text, name, value) for text in texts):
            return None
        return value

    def _parameter(self, module: Module, function: Head, name: str, asked: set[str], depth: int = 0) -> Const | None:
        """What all calls in the run's files usually give a parameter."""
        if "." in function.name or depth > DEEPEST:
            return None
        uses = [use for use in self._users.of(module, function.name) or () if use.module.path in self._paths]
        values = {self._given(module.detail(function), use, name, asked, depth) for use in uses}
        return values.pop() if len(values) == 1 else None

    def _given(self, called: Detail, use: Use, name: str, asked: set[str], depth: int) -> Const | None:
        """What a call usually gives a parameter."""
        parameter = next((one for one in called.parameters if one.name == name), None)
        if parameter is None or not use.called:
            return None
        argument = handed(called, use, name)
        if argument is None or argument.given is None:
            return None
        value = argument.value if argument.given else parameter.default
        if isinstance(value, Param):
            function = use.module.function_of(use.module.sites[use.site])
            return self._parameter(use.module, function, value.name, asked, depth + 1)
        if isinstance(value, (Member, Ref)):
            return self._option(value.attr if isinstance(value, Member) else value.name.rpartition(".")[2], asked)
        return value if isinstance(value, Const) else None


def handed(called: Detail, use: Use, name: str) -> Argument | None:
    """What a call hands a parameter of the function that it calls."""
    signature: list[tuple[str, object]] = [(one.kind + one.name, None) for one in called.parameters]
    given = (CallArgument(one.name, one.value) for one in use.module.sites[use.site].args)
    return bind(given, signature).get(name)


def _alike(usual: Const) -> frozenset[Const]:
    """The values that mean the same of an option as the usual one."""
    return _OFF if usual in _OFF else frozenset({usual})


def _has_other(text: bytes, name: str, usual: Collection[Const]) -> bool:
    """Whether the top level of a file binds a name to a literal that isn't a usual value, or a table has one under it."""
    word = re.escape(name.encode())
    tables = (
        rb"[\"']%s[\"']\]?\s*[:=]\s*(True|[1-9]\d*)\b|\bdict\((?:[^()]|\([^()]*\))*?\b%s\s*=\s*(True|[1-9]\d*)\b"
        % (word, word)
    )
    if any(literal((found[1] or found[2]).decode()) not in usual for found in re.finditer(tables, text)):
        return True
    said = re.finditer(rb"^%s[ \t]*(?::[ \w]+)?=[ \t]*(\w+)[ \t]*(?:#.*)?$" % word, text, re.M)
    values = (literal(found[1].decode("utf-8", "replace")) for found in said)
    return any(value not in usual for value in values if value is not None)


def _sets_other(text: bytes, name: str, usual: Const) -> bool:
    """Whether a file may set an option to another value than the usual one."""
    raw = name.encode()
    if raw not in text:
        return False
    word = re.escape(raw)
    sets = rb"(?:(?:\.%s|[\"']%s[\"']\])(?P<more>\s*,[^=\n()]*)?\s*[|^]?=(?!=)|[\"']%s[\"']\s*:)\s*(?P<to>[\w.]*)" % (
        word,
        word,
        word,
    )
    given = rb"\b%s\s*(?::[ \w]+)?=\s*(?P<to>True|\d+)\b" % word
    made = rb"%s\b%s\s*=\s*(?![\w.]*\.%s\b)(?P<to>[\w.]*)" % (_MADE, word, word)
    set_ = (found for found in re.finditer(sets, text) if not (found["more"] and _is_in_call(text, found.start())))
    handed = (found for found in re.finditer(made, text) if found["to"] != raw)
    said = (*set_, *re.finditer(given, _HEAD.sub(b"", text)), *handed)
    by_name = re.search(rb"setattr\([^,\n]+,\s*[\"']%s[\"']" % word, text)
    return by_name is not None or any(literal(found["to"].decode("utf-8", "replace")) != usual for found in said)


def _is_in_call(text: bytes, place: int) -> bool:
    """Whether a place stands among the arguments of a call that begins in the same line: `f(a.size, n=a.n)` sets no `a.size`."""
    before = text[text.rfind(b"\n", 0, place) + 1 : place]
    return re.search(rb"\w\((?:[^();]|\([^();]*\))*$", before) is not None


def _binds(node: ast.AST, name: str) -> bool:
    """Whether a node of a function binds a name."""
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    return isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)

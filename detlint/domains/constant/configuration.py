"""What the files of settings of a project decide: `if config.transform:` never holds where all of them that have the key say `null`.

What code looks up is known by its key alone, in whatever table: all that any file, command, or line of code may give that key counts.
So nothing needs to be known of which file is read, nor of how tables are handed on.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from detlint.db import Memo
from detlint.domains.constant.evaluator import Evaluator
from detlint.domains.constant.given import IS, TRUTH, writes
from detlint.domains.constant.lookups import Lookup, key_before, key_of, looked_up
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.exits import BEFORE
from detlint.ir.places import Place
from detlint.ir.tests import denied
from detlint.model.launches.chosen import TABLE
from detlint.model.launches.documents import Documents
from detlint.model.launches.launched import declared_in, ways
from detlint.model.launches.settings import Settings
from detlint.model.module import Module
from detlint.model.places import call_of
from detlint.model.sites.records import Const, Member, Ref, Result, Value
from detlint.model.uses import Users

_READERS: Final = ("yaml", "OmegaConf", "hydra", "json", "argparse")
"""What a project says that reads files of settings, or commands."""
_LENIENT: Final = ("addict", "OmegaConf", "__missing__", "defaultdict", "__getattr__")
"""What a project says in which an attribute that a table lacks may be had all the same."""
_ALL: Final = ("locals",)
"""What a project says that makes a table of whatever variables there are."""
_LITERALS: Final = frozenset({"", "true", "false", "none", "null", "yes", "no", "on", "off"})
_BEGIN_LITERALS: Final = ("-", "+", ".", "[", "(", "{", *"0123456789")


class _Given(NamedTuple):
    """What the code of a project gives a key."""

    values: frozenset[Const | None] = frozenset()
    """None for what isn't known."""
    declared: bool = False
    """Whether it is an option of a command line."""


class ByConfiguration:
    """Finds what such files decide."""

    def __init__(self, users: Users, documents: Documents) -> None:
        self._users = users
        self._documents = documents
        self._tables = Settings(users)
        self._given: Memo[_Given] = Memo(users.db)
        self._said: Memo[bool] = Memo(users.db)

    def value(self, module: Module, value: Value | None, inside: str) -> Const | None:
        """What a value that is looked up in settings always is; None where that isn't known, or for any other.

        Args:
            inside: the function that it is a value of, by its name inside the file; "" for the top level.
        """
        if isinstance(value, Ref):  # of a table that another file has: `from config import config`
            table, _, attr = value.name.rpartition(".")
            value = Member(Ref(table), attr)
        if isinstance(value, Member):
            return self._of_table(module, value.base, inside, Lookup(key_of(value.attr)))
        of = value.of if isinstance(value, Result) else None
        if not (isinstance(of, Member) and of.attr == "get" and isinstance(value, Result) and value.site >= 0):
            return None
        args = module.sites[value.site].args
        key = args[0].value if args and len(args) <= 2 and not any(arg.name for arg in args) else None
        default = args[1].value if len(args) == 2 else Const(None)
        if not (isinstance(key, Const) and isinstance(key.value, str) and isinstance(default, Const)):
            return None
        return self._of_table(module, of.base, inside, Lookup(key.value, default=default))

    def _of_table(self, module: Module, table: Value | None, inside: str, asked: Lookup) -> Const | None:
        """What looking something up in a value always gives, if that is a table of settings."""
        if not self._tables.holds(module, table, inside):
            return None
        outer = isinstance(table, Member) and self._tables.holds(module, table.base, inside)
        return self._of(
            module, asked._replace(table=key_of(table.attr)) if isinstance(table, Member) and outer else asked
        )

    def _looked_up(self, module: Module, function: Function, at: int) -> Lookup | None:
        """What an expression of a function looks up in settings; None for any other."""
        found = looked_up(function, at)
        if found is None or found.function is None or not self._tables.is_table(module, found.function, found.holder):
            return None
        before = key_before(found.function, found.holder)
        outer = before and self._tables.is_table(module, found.function, found.function.ops[found.holder][1])
        return found._replace(table=before) if outer else found

    def written(self, module: Module, function: Function, at: int, respelled: str = "") -> Const | None:
        """The same of an expression of a function, or of a test whether a key is there.

        Args:
            respelled: the method that writes it otherwise before it counts; "" for none.
        """
        found = self._looked_up(module, function, at)
        if found is not None and respelled:
            found = found._replace(respelled=respelled) if not (found.is_there or found.respelled) else None
        return self._of(module, found) if found is not None else None

    def holds(self, module: Module, function: Function, test: int) -> bool | None:
        """Whether what a test looks up is true before code makes True or False of that text, and after
        (`config.clip = config.clip == "True"`); None where that isn't known, or for any other."""
        inner = denied(function, test)
        found = self._looked_up(module, function, inner if inner >= 0 else test)
        plain = found is not None and not (found.is_there or found.respelled)
        value = self._of(module, found, compared=True) if found is not None and plain else None
        return (value.value is True) is (inner < 0) if value is not None else None

    def launched(self, module: Module, option: str) -> Iterator[Const]:
        """What launches of a script give an option of its command line, where that isn't its default."""
        for way in ways(self._documents.around(module.path), dict(declared_in(module))):
            yield from (value for name, value in way.options if name == option and value is not None)

    def passed(self, module: Module, site: int, name: str, position: int) -> Const | None:
        """What a call passes that its function looks up in settings.

        Args:
            name: the parameter.
            position: its position, counted from 0.
        """
        point = call_of(self._users.resolver, module, module.sites[site])
        if point is None or not point.around.number:
            return None
        function, call = point.function, point.function.call(point.at)
        passed = call.argument(position if not function.unpacks(point.at) else -1, name)
        if passed < 0:
            return None
        found = self.written(module, function, passed)
        if (
            found is None
            and function.ops[passed][0] == op.LOAD
            and (bound := self._only_bound(module, function, passed)) >= 0
        ):
            return self.written(module, function, bound) or self.member(module, function, bound)
        return found

    def unpacked(
        self, module: Module, name: str, default: Const | None, table: Value | None = None, inside: str = ""
    ) -> Const | None:
        """What calls of a file pass by tables of settings that they unpack.

        Args:
            name: the parameter.
            default: what it is where a table lacks it; None where each has to have it.
            table: such a table, None for any, of a function of the file.
        """
        named = isinstance(table, Member) and self._tables.holds(module, table.base, inside)
        key = key_of(table.attr) if isinstance(table, Member) and named else ""
        return self._of(module, Lookup(name, default=default, unpacked=True, table=key))

    def member(self, module: Module, function: Function, at: int) -> Const | None:
        """The value of a member of an enumeration, as code names it; None for anything else."""
        first, dot, rest = function.dotted(at).partition(".")
        meant = module.facts.names.get(first) if dot else None
        if not isinstance(meant, Ref):
            return None
        value = self._users.resolver.name(module.path, f"{meant.name}.{rest}")
        owner = self._users.resolver.name(module.path, f"{meant.name}.{rest}".rpartition(".")[0])
        bases = self._users.resolver.classes.mro(owner.name) if isinstance(owner, Ref) and "::" in owner.name else ()
        return value if isinstance(value, Const) and any(base.startswith("enum.") for base in bases) else None

    def _only_bound(self, module: Module, function: Function, load: int) -> int:
        """What a name is bound to in the only place that settings let it come to; -1 for none."""
        truth, left = Evaluator(partial(self.written, module)), list[int]()
        for store in sorted(function.flow.reaching.get(load, ())):
            if store == BEFORE or function.ops[store][0] != op.STORE or function.ops[store][1] in function.rebound:
                return -1
            tests = Place(function, store).tests()
            if not any(truth.of(test.function, test.value) is (not test.wanted) for test in tests):
                left.append(function.ops[store][2])
        return left[0] if len(left) == 1 else -1

    def _of(self, module: Module, asked: Lookup, compared: bool = False) -> Const | None:
        """What looking something up always gives.

        Args:
            compared: whether it is the truth of a text that counts, of which code makes True or False.
        """
        if not asked.key.isidentifier() or not asked.key.isascii():
            return None
        folder = settings_folder(self._users, self._documents, module)
        reads = self._said.of((folder, _READERS), partial(self._says, folder, _READERS), False)
        if not folder or not reads:
            return None
        chosen = self._documents.chosen(folder, asked.key, asked.table)
        if None in chosen.values or (len(chosen.values) > (2 if compared else 1) and not asked.is_there):
            return None
        if asked.unpacked and (
            not chosen.values or self._said.of((folder, _ALL), partial(self._says, folder, _ALL), True)
        ):
            return None
        by_code = partial(self._given_by_code, folder, asked.key, asked.unpacked)
        given = self._given.of((folder, asked.key, asked.unpacked), by_code, _Given())
        values = {*chosen.values, *given.values}
        if None in values or (given.declared and (chosen.spoken or not chosen.started)):
            return None
        if compared or any(_text_of(value) is not None for value in given.values):
            return Const(True) if compared and _is_the_same(chosen.values, given.values) else None
        if asked.is_there and chosen.values and not chosen.left_out:
            return Const(True)
        strict = not self._said.of((folder, _LENIENT), partial(self._says, folder, _LENIENT), True)
        if asked.is_there:
            return Const(False) if not values and chosen.left_out and strict else None
        if asked.unpacked:
            values.update([asked.default] if asked.default is not None and (chosen.left_out or not asked.table) else [])
        elif chosen.left_out and asked.default is not None:
            values.add(asked.default)
        elif not (chosen.values or given.declared) or (chosen.left_out and not strict):
            return None
        converted = TRUTH in values
        values.discard(TRUTH)
        only = values.pop() if len(values) == 1 else None
        text = converted and only is not None and isinstance(only.value, str)
        if asked.respelled:  # whatever code makes of it is a text, too
            return _respelled(only, asked.respelled) if only is not None and not text else None
        return only if only is not None and not text and not _may_be_more(only) else None

    def _says(self, folder: str, words: tuple[str, ...]) -> bool:
        """Whether the code of a file below a folder says one of some words."""
        codes = (self._users.resolver.code(path) for path in self._users.index.saying_any(words, folder))
        return any(code is not None and not code.identifiers.isdisjoint(words) for code in codes)

    def _given_by_code(self, folder: str, key: str, unpacked: bool) -> _Given:
        """What the code below a folder gives a key, or passes under that name where tables are unpacked."""
        found, declared = set[Const | None](), False
        for path in self._users.index.saying_any([key, key.replace("_", "-")], folder):
            if path.endswith((".py", ".ipynb")):
                code = self._users.resolver.code(path)
                given = writes(self._users.resolver, path, key, unpacked=unpacked)
                found.update(given.of(code) if code is not None else (None,))
                declared |= given.declared
            if None in found:
                break
        return _Given(frozenset(found), declared)


def settings_folder(users: Users, documents: Documents, module: Module) -> str:
    """The folder of the project that a module belongs to, or that of the launches which start it, whichever is around the other."""
    own, documented = users.project(module), os.path.join(documents.home(module.path), "")
    around = min(own, documented, key=len) if len(documented) > 1 else own
    return max(around, os.path.join(users.resolver.modules.root, ""), key=len)


def _text_of(value: Const | None) -> str | None:
    """The text with which code compares a key, to put in its place whether it is that; None for what it gives the key otherwise."""
    text = value.value if value is not None and isinstance(value.value, str) else ""
    return text.removeprefix(IS) if text.startswith(IS) else None


def _is_the_same(chosen: Sequence[Const | None], given: Collection[Const | None]) -> bool:
    """Whether a key is always given the very text with which code compares it. A command's `True` is one."""
    texts = {_text_of(value) for value in given}
    words = [value.value for value in chosen if value is not None]
    same = all(str(word) in texts for word in words) and any(isinstance(word, str) for word in words)
    return len(texts) == 1 and same


def _respelled(value: Const, method: str) -> Const | None:
    """A text as one of its methods writes it; None for anything else, which has no such method."""
    known = isinstance(value.value, str) and value != TABLE
    return Const(getattr(value.value, method)()) if known else None


def _may_be_more(value: Const) -> bool:
    """Whether code may make something else of a text than that, as of `"False"` or `"0"`."""
    text = value.value
    if value == TABLE or not isinstance(text, str):
        return False
    return text.strip().lower() in _LITERALS or text.startswith(_BEGIN_LITERALS)

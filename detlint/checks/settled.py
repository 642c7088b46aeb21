"""What the files of settings of a project decide: `if config.transform:` never holds where all of them that have the key say `null`.

What code looks up is known by its key alone, in whatever table: all that any file, command, or line of code may give that key counts.
So nothing needs to be known of which file is read, nor of how tables are handed on.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Sequence
from functools import partial
from typing import Final, NamedTuple

from detlint.checks.given import IS, TRUTH, Writes, names_tables
from detlint.checks.guards import call_in, guarded
from detlint.checks.lookups import Lookup, assignments, holds_settings, key_of, looked_up, table_of
from detlint.facts.loops import dotted
from detlint.facts.model import Const, Member, Ref, Result, Span, Value
from detlint.facts.parse import tree
from detlint.program.answers import Answers
from detlint.program.chosen import TABLE
from detlint.program.documents import Documents
from detlint.program.resolve import Module
from detlint.program.truth import truth
from detlint.program.users import Users

_READERS: Final = ("yaml", "OmegaConf", "hydra", "json", "argparse")
"""What a project says that reads files of settings, or commands."""
_LENIENT: Final = ("addict", "OmegaConf", "__missing__", "defaultdict", "__getattr__")
"""What a project says in which an attribute that a table lacks may be had all the same."""
_ALL: Final = ("locals",)
"""What a project says that makes a table of whatever variables there are."""
_PLAIN: Final = frozenset(
    {"builtins", "typing", "collections", "enum", "argparse", "types", "abc", "pydantic", "easydict", "addict"}
)
"""Modules from which tables of settings derive."""
_NO_TEXT: Final = re.compile(r"\s*|[-+.\d].*|true|false|none|null|yes|no|on|off|[\[({].*", re.I | re.S)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class _Given(NamedTuple):
    """What the code of a project gives a key."""

    values: frozenset[Const | None] = frozenset()
    """None for what isn't known."""
    declared: bool = False
    """Whether it is an option of a command line."""


class Settled:
    """Finds what such files decide."""

    def __init__(self, users: Users, documents: Documents) -> None:
        self._users = users
        self._documents = documents
        self._given: Answers[_Given] = Answers(users)
        self._said: Answers[bool] = Answers(users)

    def value(self, module: Module, value: Value | None) -> Const | None:
        """What a value that is looked up in settings always is; None where that isn't known, or for any other."""
        if isinstance(value, Ref):  # of a table that another file has: `from config import config`
            table, _, attr = value.name.rpartition(".")
            value = Member(Ref(table), attr)
        if isinstance(value, Member) and holds_settings(value.base):
            return self._of(module, Lookup(key_of(value.attr), table_of(value.base)))
        of = value.of if isinstance(value, Result) else None
        if not (isinstance(of, Member) and of.attr == "get" and isinstance(value, Result) and value.site >= 0):
            return None
        args = module.sites[value.site].args
        key = args[0].value if args and len(args) <= 2 and not any(arg.name for arg in args) else None
        default = args[1].value if len(args) == 2 else Const(None)
        if not (isinstance(key, Const) and isinstance(key.value, str) and isinstance(default, Const)):
            return None
        return self._of(module, Lookup(key.value, table_of(of.base), default)) if holds_settings(of.base) else None

    def written(self, module: Module, function: _Function, node: ast.expr) -> Const | None:
        """The same of an expression of a function, or of a test whether a key is there."""
        found = looked_up(function, node)
        return self._of(module, found) if found is not None else None

    def holds(self, module: Module, function: _Function, test: ast.expr) -> bool | None:
        """Whether what a test looks up is true before code makes True or False of that text, and after
        (`config.clip = config.clip == "True"`); None where that isn't known, or for any other."""
        negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        found = looked_up(function, test.operand if isinstance(test, ast.UnaryOp) and negated else test)
        plain = found is not None and not (found.is_there or found.respelled)
        value = self._of(module, found, compared=True) if found is not None and plain else None
        return (value.value is True) is not negated if value is not None else None

    def passed(self, module: Module, site: int, name: str, position: int) -> Const | None:
        """What a call passes that its function looks up in settings.

        Args:
            name: the parameter.
            position: its position, counted from 0.
        """
        caller = module.function_of(module.sites[site])
        text = self._users.texts.of(module.path) if module.path.endswith(".py") and caller.name else None
        found = call_in(text, caller.name.partition(".")[0], module.sites[site].span) if text is not None else None
        if found is None or found[0].name != caller.name.rpartition(".")[2]:
            return None
        function, call = found
        plain = not any(isinstance(arg, ast.Starred) for arg in call.args)
        written = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
        if written is None and plain and 0 <= position < len(call.args):
            written = call.args[position]
        if isinstance(written, ast.Name) and (value := self.written(module, function, written)) is None:
            lines = module.sites[site].span.line - call.lineno
            written = self._only_bound(module, caller.name.partition(".")[0], function, written.id, lines)
            return value or (
                self.written(module, function, written) or self.member(module, written) if written else None
            )
        return self.written(module, function, written) if written is not None else None

    def unpacked(self, module: Module, name: str, default: Const | None) -> Const | None:
        """What calls of a file pass by tables of settings that they unpack.

        Args:
            name: the parameter.
            default: what it is where a table lacks it; None where each has to have it.
        """
        return self._of(module, Lookup(name, default=default, unpacked=True))

    def member(self, module: Module, node: ast.expr) -> Const | None:
        """The value of a member of an enumeration, as code names it; None for anything else."""
        first, dot, rest = dotted(node).partition(".") if isinstance(node, ast.Attribute) else ("", "", "")
        meant = module.facts.names.get(first) if dot else None
        if not isinstance(meant, Ref):
            return None
        value = self._users.resolver.name(module.path, f"{meant.name}.{rest}")
        owner = self._users.resolver.name(module.path, f"{meant.name}.{rest}".rpartition(".")[0])
        bases = self._users.resolver.mro(owner.name) if isinstance(owner, Ref) and "::" in owner.name else ()
        return value if isinstance(value, Const) and any(base.startswith("enum.") for base in bases) else None

    def _only_bound(self, module: Module, top: str, function: _Function, name: str, lines: int) -> ast.expr | None:
        """What a function binds a name to in the only place that settings let it come to.

        Args:
            top: the definition of the top level that it is in.
            lines: how many are before it in its file.
        """
        text, leaf = self._users.texts.of(module.path) or b"", partial(self.written, module, function)
        left = list[ast.expr]()
        for node in assignments(function, name):
            line = node.lineno + lines
            found = guarded(text, top, Span(line, node.col_offset, line, node.col_offset + 1))
            tests = found.guards if found is not None else ()
            if not any(truth(guard.test, leaf) is (not guard.wanted) for guard in tests):
                left.append(node.value)
        return left[0] if len(left) == 1 else None

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
            values.update([asked.default] if asked.default is not None else [])
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
        return any(path.endswith((".py", ".ipynb")) for path in self._users.texts.saying_any(words, folder))

    def _given_by_code(self, folder: str, key: str, unpacked: bool) -> _Given:
        """What the code below a folder gives a key, or passes under that name where tables are unpacked."""
        found, declared = set[Const | None](), False
        for path in self._users.texts.saying_any([key, key.replace("_", "-")], folder):
            if path.endswith((".py", ".ipynb")):
                self._users.resolver.opened.add(path)
                parsed = tree(self._users.texts.code(path) or b"")
                theirs = partial(self._is_of_library, path), partial(self._is_of_framework, path)
                writes = Writes(key, *theirs, unpacked=unpacked)
                found.update(writes.of(parsed) if parsed is not None else (None,))
                declared |= writes.declared
            if None in found:
                break
        return _Given(frozenset(found), declared)

    def _is_of_library(self, path: str, owner: str) -> bool:
        bases = self._users.resolver.mro(f"{path}::{owner}")[1:]
        others = [base for base in bases if "::" not in base and base.partition(".")[0] not in _PLAIN]
        return bool(others) and not any(map(names_tables, others))

    def _is_of_framework(self, path: str, name: str) -> bool:
        module = self._users.resolver.module(path)
        meant = module.facts.names.get(name) if module is not None else None
        return isinstance(meant, Ref) and meant.name.partition(".")[0] in self._users.resolver.catalog.roots


def settings_folder(users: Users, documents: Documents, module: Module) -> str:
    """The folder of the project that a module belongs to, or that of the README which is about it, whichever is around the other."""
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
    return value != TABLE and isinstance(value.value, str) and _NO_TEXT.fullmatch(value.value) is not None

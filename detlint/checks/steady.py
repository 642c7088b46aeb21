"""Whether all that is live in a run surely computes the same again on a GPU, without any switch: of layers, functions and libraries those
that the catalog knows for it, and no method of tensors that varies.

What it may assume: what liveness does; nothing else has tensors computed than what the code names; cuBLAS works in one stream.
"""

from __future__ import annotations

import sys
from functools import cached_property
from typing import Final

from detlint.domains.matching.match import OPERATORS, Matcher
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.liveness import Piece, Program, live
from detlint.model.meaning import Meaning
from detlint.model.runs.reach import Reach

CUDA: Final = "cuda"
_OPEN: Final = ("builtins.__import__", "builtins.eval", "builtins.exec", "importlib.", "pickle.", "runpy.")
"""What of Python's own may come to anything."""


class Steady:
    """Asks that of runs."""

    def __init__(self, matcher: Matcher, program: Program) -> None:
        self._resolver, self._catalog, self._program = matcher.resolver, matcher.catalog, program
        known = [name for framework in self._catalog.frameworks for name in framework.steady]
        self._names = frozenset(known)
        self._prefixes = tuple(name for name in known if name.endswith("."))
        self._roots = {name.partition(".")[0] for name in known}
        self._known: dict[Piece, bool] = {}

    def holds(self, reach: Reach) -> bool:
        """Whether all that is live in a run does."""
        vary = (self._catalog.roots | self._catalog.libraries) - self._roots - sys.stdlib_module_names
        if any(not vary.isdisjoint(self._resolver.brief(path).libraries) for path in sorted(reach.files)):
            return False
        path, function = reach.entry.module.path, reach.entry.function
        found = live(self._program, path, (f"{path}::{function.name}",) if function.number else ())
        reach.visited.update(piece.path for piece in found)
        return all(map(self._is_steady, found))

    @cached_property
    def _varying(self) -> frozenset[str]:
        """The methods of tensors that may vary on a GPU."""
        tensors = tuple(f"{framework.tensor}." for framework in self._catalog.frameworks if framework.tensor)
        entries = (
            e for e in self._catalog.entries if e.rule.startswith(OPERATORS) and (CUDA in e.targets or not e.targets)
        )
        return frozenset(name.rpartition(".")[2] for e in entries for name in e.names if name.startswith(tensors))

    def _is_steady(self, piece: Piece) -> bool:
        if piece not in self._known:
            meaning = self._program.meaning(piece.path)
            function = self._program.function(piece)
            self._known[piece] = meaning is not None and function is not None and self._all_known(meaning, function)
        return self._known[piece]

    def _all_known(self, meaning: Meaning, function: Function) -> bool:
        """Whether all that a piece of code names, itself, computes the same again."""
        if meaning.module.facts.stars and any(function.each(op.STAR_IMPORT)):
            return False
        for at, operation in (*function.each(op.LOAD), *function.each(op.ATTR)):
            if function.is_dead(at) or function.is_hint(at):
                continue
            names = sorted(name for name in meaning.names(function, at) if "::" not in name)
            if operation[0] == op.ATTR and not names and not self._is_known(meaning, function, at):
                return False
            whole = any(function.ops[use.op][0] == op.ATTR and use.place == 1 for use in function.users[at])
            if not whole and not all(map(self._computes_alike, names)):
                return False
        return True

    def _is_known(self, meaning: Meaning, function: Function, at: int) -> bool:
        """Whether an attribute of an object is no method of tensors that varies."""
        _, base, name = function.ops[at]
        return meaning.code.strings[name] not in self._varying or "::" in meaning.kind(function, base)

    def _computes_alike(self, name: str) -> bool:
        """Whether what has a full name does; a method or an attribute does as its class, but for methods of tensors that vary."""
        if name.partition(".")[0] in sys.stdlib_module_names or name.startswith("builtins."):
            return not f"{name}.".startswith(_OPEN)
        if name in self._catalog.builders:
            return False  # settings may name anything
        owner, _, last = name.rpartition(".")
        of_class = owner in self._names and owner.rpartition(".")[2][:1].isupper() and last not in self._varying
        return name in self._names or of_class or f"{name}.".startswith(self._prefixes)

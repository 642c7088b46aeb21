"""Values that a function keeps under a name which nobody reads, or only to keep another so, or what it computes of them, by its text; or
gives back to who does no more with them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection
from functools import lru_cache, partial
from typing import Final

from detlint.checks.guards import call_in
from detlint.checks.origins import KEEPS
from detlint.facts.loops import dotted
from detlint.facts.model import KEPT, Function, Instance, Member, Result, Site
from detlint.facts.nodes import walk
from detlint.facts.parse import tree
from detlint.facts.spare import Layout, Role, Spare
from detlint.program.resolve import Module, Resolver
from detlint.program.texts import Block, Texts
from detlint.program.users import Callers

OUT: Final = "out"
"""The parameter by which a call is told where to put its result."""
_BY_NAME: Final = re.compile(rb"\b(?:locals|vars|(?<!\.)eval|exec)\(|f_locals")
"""What may read names that aren't written out."""
DEEPEST: Final = 2
"""Through so many functions that give it back an object is followed."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef
Ignores = Callable[[Module, ast.Call, ast.expr, int], bool]
"""Whether a call of a module makes nothing of an argument, by how many lines are before the text that has it."""
IN_PLACE: Final = "_"
"""How the names of methods end that change the tensor that they are called on."""


def is_unread(
    texts: Texts,
    module: Module,
    site: Site,
    takers: Collection[str] = (),
    computes: Callable[[Module, str], bool] | None = None,
    ignores: Ignores | None = None,
) -> bool:
    """Whether what a call in a function gives is kept under a name that nobody reads, or only to keep something under another such
    name.

    Args:
        takers: what may take it nevertheless, by its last component.
        computes: whether what a file means by a name only makes a tensor of others. Such, and what methods make of the result, is worth
            no more than that; None where it has to be kept as it is.
        ignores: whether a call makes nothing of an argument.
    """
    given = site.use == KEPT or (computes is not None and site.use != "dropped")
    found = _call_of(texts, module, site) if given else None
    if found is None or any(argument.name == OUT for argument in site.args):
        return False
    function, call = found
    body, lines = Layout(function.body), site.span.line - call.lineno
    own = {*body.bound, *(node.arg for node in walk(function) if isinstance(node, ast.arg))}

    def role(call: ast.Call, value: ast.expr) -> Role:
        name = dotted(call.func)
        if name.rpartition(".")[2] in takers or (ignores is not None and ignores(module, call, value, lines)):
            return "ends"
        plain = computes is not None and name.partition(".")[0] not in own and all(k.arg != OUT for k in call.keywords)
        return "passes" if plain and computes is not None and computes(module, name) else ""

    def passes(method: str) -> bool:
        return computes is not None and method in KEEPS

    return Spare(body, role, passes, {}, ends=(), fills=("append",) if computes else ()).is_spare(call)


class UnreadObjects:
    """Finds objects that nobody ever uses: transforms, that only draw when data are handed to them.

    Args:
        callers: the uses of a function; None where there may be others.
        makes_object: whether what a file means by a name is a class of a library, whose objects only keep what they are handed.
    """

    def __init__(self, texts: Texts, callers: Callers, makes_object: Callable[[Module, str], bool]) -> None:
        self._texts = texts
        self._callers = callers
        self._makes_object = makes_object

    def holds(self, module: Module, site: Site, depth: int = 0) -> bool:
        """Whether nobody reads what a call gives, or an object that it is handed to, where the function around it keeps it, nor where
        those do who call that and are given it."""
        function = module.function_of(site)
        found = _call_of(self._texts, module, site)
        if found is None or found[0].name != function.name.rpartition(".")[2]:
            return False
        body = Layout(found[0].body)
        role: Callable[[ast.Call, ast.expr], Role] = partial(self._role, module)
        spare = Spare(body, role, lambda _: False, {}, ends=(), tables=True)
        if spare.is_spare(found[1]):
            return True
        given = function.name and not function.owner and not found[0].decorator_list and not function.yields
        if depth == DEEPEST or not given or not spare.is_spare(found[1], returned=True):
            return False
        uses = self._callers(module, function.name)
        return bool(uses) and all(
            use.called and use.site >= 0 and self.holds(use.module, use.module.sites[use.site], depth + 1)
            for use in uses or ()
        )

    def _role(self, module: Module, call: ast.Call, value: ast.expr) -> Role:
        return "passes" if self._makes_object(module, dotted(call.func)) else ""


class Ignored:
    """Finds arguments that the forward pass which takes them never reads: `if self.guided: x = x + self.embed(guide)`.

    Args:
        is_set: whether anything but a class itself may set an attribute of its objects.
        keeps_from: whether the flow never comes to a place in the text of a definition.
    """

    def __init__(
        self,
        resolver: Resolver,
        texts: Texts,
        is_set: Callable[[Module, str, str], bool],
        keeps_from: Callable[[Module, Block, int], bool],
    ) -> None:
        self._resolver = resolver
        self._texts = texts
        self._is_set = is_set
        self._keeps_from = keeps_from

    def holds(self, module: Module, call: ast.Call, value: ast.expr, lines: int) -> bool:
        """Whether a call of a part of a layer is handed something that this never reads."""
        place = call.lineno + lines, call.col_offset, (call.end_lineno or 0) + lines
        sites = (s for s in module.sites if (s.span.line, s.span.column, s.span.end_line) == place)
        site = next((s for s in sites if s.kind == "call" and isinstance(s.target, Member)), None)
        taken = self._taking(module, site) if site is not None and not any(map(_is_splat, call.args)) else None
        if taken is None:
            return False
        home, function = taken
        names = [p.name if not p.kind else "" for p in home.detail(function).parameters[1:]]
        name = next((keyword.arg or "" for keyword in call.keywords if keyword.value is value), "")
        if value in call.args:
            name = next(iter(names[call.args.index(value) :]), "")
        block = next((b for b in self._texts.blocks(home.path) if b.name == function.owner), None)
        return name in names and name != "" and block is not None and self._is_never_read(home, function, block, name)

    def _taking(self, module: Module, site: Site) -> tuple[Module, Function] | None:
        """The forward pass that a call of a part runs, of which the object itself always is, as its constructor makes it."""
        around, target = module.function_of(site), site.target
        if not isinstance(target, Member) or not isinstance(target.base, Instance) or target.base.name:
            return None
        made = self._resolver.normal(module.path, target, around)
        kind = self._resolver.type_of(made) if isinstance(made, Result) else ""
        layer = self._resolver.layer(kind) if "::" in kind else None
        path, _, owner = kind.partition("::")
        if layer is None or self._is_set(module, around.owner, target.attr):
            return None
        home = self._resolver.known(path)
        self._resolver.opened.add(path)
        forward = home.functions.get(f"{owner}.{layer.forward}")
        return (home, forward) if forward is not None and not home.detail(forward).decorators else None

    def _is_never_read(self, home: Module, function: Function, block: Block, name: str) -> bool:
        """Whether the flow comes to no place of a method that says a parameter."""
        parsed = tree(block.text) if not _BY_NAME.search(block.text) else None
        body = parsed.body[0] if parsed is not None and parsed.body else None
        methods = [n for n in body.body if isinstance(n, ast.FunctionDef)] if isinstance(body, ast.ClassDef) else []
        own = [method for method in methods if method.name == function.name.rpartition(".")[2]]
        said = [n for method in own for n in walk(method) if isinstance(n, ast.Name) and n.id == name]
        starts = [0, *(found.end() for found in re.finditer(rb"\n", block.text))]
        places = (starts[node.lineno - 1] + node.col_offset for node in said)
        return len(own) == 1 and all(self._keeps_from(home, block, place) for place in places)


def _is_splat(argument: ast.expr) -> bool:
    return isinstance(argument, ast.Starred)


def _call_of(texts: Texts, module: Module, site: Site) -> tuple[_Function, ast.Call] | None:
    """The call of a site, and the function around it; None where that can't be read, or names are put together."""
    name = module.function_of(site).name.partition(".")[0]
    text = texts.code(module.path) if name and site.kind == "call" else None
    return call_in(text, name, site.span) if text is not None and not _goes_by_names(text) else None


@lru_cache(maxsize=64)
def _goes_by_names(text: bytes) -> bool:
    return _BY_NAME.search(text) is not None

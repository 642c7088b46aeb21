"""Values that a function keeps under a name which nobody reads, or only to keep another so, or what it computes of them, by its text; or
gives back to who does no more with them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection
from functools import partial
from typing import Final

from detlint.checks.guards import call_in
from detlint.checks.origins import KEEPS
from detlint.facts.loops import dotted
from detlint.facts.model import KEPT, Site
from detlint.facts.spare import Layout, Role, Spare
from detlint.program.resolve import Module
from detlint.program.texts import Texts
from detlint.program.users import Callers

OUT: Final = "out"
"""The parameter by which a call is told where to put its result."""
_BY_NAME: Final = re.compile(rb"\b(?:locals|vars|(?<!\.)eval|exec)\(|f_locals")
"""What may read names that aren't written out."""
DEEPEST: Final = 2
"""Through so many functions that give it back an object is followed."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef
IN_PLACE: Final = "_"
"""How the names of methods end that change the tensor that they are called on."""


def is_unread(
    texts: Texts,
    module: Module,
    site: Site,
    takers: Collection[str] = (),
    computes: Callable[[Module, str], bool] | None = None,
) -> bool:
    """Whether what a call in a function gives is kept under a name that nobody reads, or only to keep something under another such
    name.

    Args:
        takers: what may take it nevertheless, by its last component.
        computes: whether what a file means by a name only makes a tensor of others. Such, and what methods make of the result, is worth
            no more than that; None where it has to be kept as it is.
    """
    given = site.use == KEPT or (computes is not None and site.use != "dropped")
    found = _call_of(texts, module, site) if given else None
    if found is None or any(argument.name == OUT for argument in site.args):
        return False
    function, call = found
    body = Layout(function.body)
    own = {*body.bound, *(node.arg for node in ast.walk(function) if isinstance(node, ast.arg))}

    def role(call: ast.Call, value: ast.expr) -> Role:
        name = dotted(call.func)
        if name.rpartition(".")[2] in takers:
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


def _call_of(texts: Texts, module: Module, site: Site) -> tuple[_Function, ast.Call] | None:
    """The call of a site, and the function around it; None where that can't be read, or names are put together."""
    name = module.function_of(site).name.partition(".")[0]
    text = texts.code(module.path) if name and site.kind == "call" else None
    return call_in(text, name, site.span) if text is not None and not _BY_NAME.search(text) else None

"""Values that a function keeps under a name which nobody reads, or only to keep another so, by its text."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from typing import Final

from detlint.checks.guards import call_in
from detlint.facts.loops import dotted
from detlint.facts.model import KEPT, Site
from detlint.facts.spare import Layout, Role, Spare
from detlint.program.resolve import Module
from detlint.program.texts import Texts

OUT: Final = "out"
"""The parameter by which a call is told where to put its result."""
_BY_NAME: Final = re.compile(rb"\b(?:locals|vars|(?<!\.)eval|exec)\(|f_locals")
"""What may read names that aren't written out."""
IN_PLACE: Final = "_"
"""How the names of methods end that change the tensor that they are called on."""


def is_unread(texts: Texts, module: Module, site: Site, takers: Collection[str] = ()) -> bool:
    """Whether what a call in a function gives is kept under a name that nobody reads, or only to keep something under another such
    name.

    Args:
        takers: what may take it nevertheless, by its last component.
    """
    name = module.function_of(site).name.partition(".")[0]
    text = texts.code(module.path) if name and site.kind == "call" and site.use == KEPT else None
    found = call_in(text, name, site.span) if text is not None and not _BY_NAME.search(text) else None
    if found is None or any(argument.name == OUT for argument in site.args):
        return False
    function, call = found

    def role(call: ast.Call, value: ast.expr) -> Role:
        return "ends" if dotted(call.func).rpartition(".")[2] in takers else ""

    return Spare(Layout(function.body), role, lambda _: False, {}, ends=()).is_spare(call)

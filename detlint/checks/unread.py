"""Values that nothing is made of, by the text of the function that keeps them under a name."""

from __future__ import annotations

from typing import Final

from detlint.checks.guards import call_in
from detlint.facts.model import KEPT, Site
from detlint.facts.spare import Layout, Spare
from detlint.program.resolve import Module
from detlint.program.texts import Texts

IN_PLACE: Final = "_"
"""How the names of methods end that change the tensor that they are called on."""


def is_unread(texts: Texts, module: Module, site: Site) -> bool:
    """Whether what a call in a function gives is kept under a name that nobody reads, or only to keep something under another such
    name."""
    name = module.function_of(site).name.partition(".")[0]
    text = texts.code(module.path) if name and site.kind == "call" and site.use == KEPT else None
    found = call_in(text, name, site.span) if text is not None and b"locals(" not in text else None
    if found is None:
        return False
    function, call = found
    return Spare(Layout(function.body), lambda *_: "", lambda _: False, {}, ends=()).is_spare(call)

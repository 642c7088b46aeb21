"""Values that nothing is made of, by the text of the function that keeps them under a name."""

from __future__ import annotations

from typing import Final

from detlint.checks.guards import call_in
from detlint.facts.model import KEPT, Site
from detlint.facts.spare import Layout, Spare

IN_PLACE: Final = "_"
"""How the names of methods end that change the tensor that they are called on."""


def is_unread(data: bytes, name: str, site: Site, called: str) -> bool:
    """Whether what a call gives is kept under a name that nobody reads, or only to keep something under another such name.

    Args:
        data: the text of the file.
        name: the definition of the top level that the call stands in.
        called: what is called.
    """
    if site.kind != "call" or site.use != KEPT or called.endswith(IN_PLACE) or b"locals(" in data:
        return False
    found = call_in(data, name, site.span)
    if found is None:
        return False
    function, call = found
    return Spare(Layout(function.body), lambda *_: "", lambda _: False, {}, ends=()).is_spare(call)

"""The call that a library makes of a function which it is handed: `Process(target=f, args=(1,), kwargs={"n": 2})` comes to `f(1, n=2)`."""

from __future__ import annotations

from collections.abc import Mapping

from detlint.catalog import Handing
from detlint.facts.model import Arg, Items, Member, Ref, Site
from detlint.program.bound import Argument, CallArgument, beyond
from detlint.program.calls import owner_of


def given_with(
    hands: Handing, site: Site, bound: Mapping[str, Argument], signature: list[tuple[str, object]]
) -> list[Arg]:
    """What a function gets which a call hands over, as the file of that call has it.

    Args:
        bound: what the parameters of the call get.
        signature: those parameters.
    """
    found: list[Arg] = []
    if hands.first:
        own = site.target.base if isinstance(site.target, Member) else Ref(owner_of(site.target))
        found.append(Arg("", own if hands.first == "self" else None))
    if hands.items.startswith("*"):
        more = beyond((CallArgument(a.name, a.value) for a in site.args), signature)
        found += [Arg(a.name, None) for a in more if a.name in ("", "*")]
    elif hands.items:
        found.append(Arg("", None))
    for star, name in (("*", hands.arguments), ("**", hands.keywords)):
        if name.startswith("*"):
            more = beyond((CallArgument(a.name, a.value) for a in site.args), signature)
            found += [Arg(a.name, a.value) for a in more if (a.name in ("", "*")) is (star == "*")]
        elif name and (passed := bound.get(name)) is not None and passed.given is not False:
            listed = passed.value.values if star == "*" and isinstance(passed.value, Items) else None
            found += [Arg("", value) for value in listed] if listed is not None else [Arg(star, passed.value)]
    return found

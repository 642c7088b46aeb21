"""Tables that say what to build: `dict(type="RandomFlip")` for a registry, `{"_target_": "torch.nn.Dropout"}` for Hydra.

Which keys do so is data of the catalog (`[[factory]]`); here a table becomes the target and the arguments of a site,
whether Python or YAML holds it.
"""

from __future__ import annotations

from collections.abc import Iterator

from detlint.catalog import Catalog, Factory
from detlint.model.sites.records import Arg, Const, Items, Mapping, Ref, SiteKind, Value


def named(factory: Factory, value: str, catalog: Catalog) -> Ref | None:
    """What the value of a factory's key names; None where it can be nothing of the catalog's or the program's.

    A registry takes a name of its own, with or without the library that it was registered by (`mmdet.RandomFlip`), and
    a dotted name.
    """
    if factory.names == "registered" and value not in catalog.calls:
        scope, _, name = value.rpartition(".")
        if value in catalog.registry:
            return Ref(value)
        if name in catalog.registry and scope in factory.scopes:
            return Ref(name)
    if factory.library and (member := catalog.member_of(factory.library, value)):
        return Ref(member)
    dotted = "." in value and all(part.isidentifier() for part in value.split("."))
    return Ref(value) if dotted else None


def kind_of(factory: Factory, target: Ref, table: Mapping, catalog: Catalog) -> SiteKind:
    """What kind of site a table is."""
    if factory.names == "registered" and target.name in catalog.registry and target.name not in catalog.calls:
        return "registry"
    return "partial" if _item(table, factory.partial) == Const(True) else "call"


def arguments(factory: Factory, table: Mapping) -> tuple[Arg, ...] | None:
    """What a table passes to what it names; None where it isn't such a table after all."""
    if factory.required and factory.arguments[0] not in table.keys:
        return None
    found = [*_positional(_item(table, factory.positional))] if factory.positional in table.keys else []
    if not factory.arguments:
        beside = {factory.key, factory.positional, factory.partial, *factory.plain}
        return (*found, *(Arg(k, v) for k, v in zip(table.keys, table.values, strict=True) if k not in beside))
    for key in factory.arguments:
        if key in table.keys:
            held = _item(table, key)
            if isinstance(held, Mapping):
                found += [Arg(k, v) for k, v in zip(held.keys, held.values, strict=True)]
            elif held != Const(None):
                found.append(Arg("**", None))
    return tuple(found)


def _positional(listed: Value | None) -> Iterator[Arg]:
    if isinstance(listed, Items):
        yield from (Arg("", value) for value in listed.values)
    else:
        yield Arg("*", None)


def _item(table: Mapping, key: str) -> Value | None:
    return table.values[table.keys.index(key)] if key in table.keys else None

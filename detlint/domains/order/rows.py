"""DET115: rows of a table whose order nothing fixes, and that are sorted at once: `frame.unique("key").sort("key")`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from detlint.model.module import Module
from detlint.model.sites.records import Arg, Const, Items, Member, Param, Ref, Result, Site, Value

ROWS: Final = "rows"
"""Entries in this context give one row for each combination of what some columns hold."""
_COLUMNS: Final = ("", "by", "subset")
"""Parameters that name columns."""
_KEEPS: Final = frozenset({"agg", "collect", "lazy", "len", "max", "mean", "median", "min", "n_unique", "sum"})
"""Methods that leave one row for each combination, of tables and of what `group_by` gives."""


def are_sorted(module: Module, index: int) -> bool:
    """Whether the rows that a call gives are sorted where they are made, by all columns that tell one from another."""
    given = module.sites[index]
    columns = _columns(given.args) or _selected(module, given)
    while columns is not None and (then := _next(module, index)) is not None:
        index, method = then
        if method not in _KEEPS:
            sorts = _columns(module.sites[index].args) if method == "sort" else None
            return sorts is not None and all(column in sorts for column in columns)
    return False


def _columns(arguments: Sequence[Arg]) -> list[Value] | None:
    """The columns that a call names; None where it names none, or not all are plain names."""
    found = list[Value]()
    for argument in arguments:
        if argument.name in _COLUMNS:
            named = argument.value.values if isinstance(argument.value, Items) else (argument.value,)
            found += [column for column in named if _is_name(column) and column is not None]
            if not all(map(_is_name, named)):
                return None
        elif argument.name.startswith("*") or not isinstance(argument.value, (Const, Items)):
            return None  # `group_by(part=pl.col("x") % 2)`
    return found or None


def _is_name(column: Value | None) -> bool:
    """Whether a value may be the name of one column: a text, a variable or a parameter, the same at both places of one expression."""
    return isinstance(column, (Param, Ref)) or (isinstance(column, Const) and isinstance(column.value, str))


def _selected(module: Module, given: Site) -> list[Value] | None:
    """All columns of a table of which whole rows count: `frame.select("key").unique()`."""
    base = given.target.base if isinstance(given.target, Member) else None
    chosen = isinstance(base, Result) and isinstance(base.of, Member) and base.of.attr == "select" and base.site >= 0
    if not chosen or any(argument.name in _COLUMNS for argument in given.args):
        return None
    return _columns(module.sites[base.site].args) if isinstance(base, Result) else None


def _next(module: Module, index: int) -> tuple[int, str] | None:
    """The call of a method of what a call gives, in the same expression, and the method."""
    here = module.sites[index].span
    for number, site in enumerate(module.sites[index + 1 :], index + 1):
        if not isinstance(site.target, Member) or (site.span.line, site.span.column) != (here.line, here.column):
            continue
        if isinstance(site.target.base, Result) and site.target.base.site == index:
            return number, site.target.attr
    return None

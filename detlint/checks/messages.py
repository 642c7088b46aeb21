"""What is told of a match that is a finding: its words, and how it is fixed."""

from __future__ import annotations

from collections.abc import Container, Sequence

import msgspec

from detlint.catalog import Applicability, Recipe, Rule
from detlint.checks.finding import Finding
from detlint.checks.levels import Level
from detlint.config import Settings
from detlint.domains.matching.record import Match
from detlint.model.module import Module
from detlint.model.sites.records import Const, Site


def finding(
    module: Module, site: Site, match: Match, rule: Rule, level: Level, active: Container[str], settings: Settings
) -> Finding:
    """What is told of a match.

    Args:
        active: the targets that the module is judged for.
    """
    entry = match.entry
    name = match.name.removeprefix("builtins.")
    api = name if site.kind != "partial" else f"partial({name})"
    value = next((p for p in entry.when), "")
    own = "" if _writes_default(match) else entry.message
    message = (own or rule.message).replace("{api}", api).replace("{value}", value)
    targets = tuple(t for t in entry.targets if t in active) or tuple(entry.targets)
    return Finding(
        module.path, site.span, rule.code, rule.name, level.severity, message, entry.remedy or rule.remedy, targets, (),
        value, _recipe(match, rule, settings.profile), match.name, level.certainty,
    )  # fmt: skip


def _writes_default(match: Match) -> bool:
    """Whether a call writes out the argument of which a message says what it does by default: it shuffles `unless `shuffle=False` is
    passed`."""
    said = (name for name in match.entry.when if f"unless `{name}=" in match.entry.message)
    given = (argument for name in said if (argument := match.arguments.get(name)) is not None and argument.given)
    return any(isinstance(a.value, Const) and a.value.value is not None for a in given)


def _recipe(match: Match, rule: Rule, profile: str) -> Recipe | None:
    """How a finding is fixed. What is random by design stays so where runs are only to be repeated."""
    entry, reproduces = match.entry, profile == "reproduce"
    recipe = entry.fix if reproduces else entry.align or entry.fix
    if recipe is None or (match.before and not _is_for_calls_of_partials(recipe, match)):
        return None
    if recipe.unsure is not None and not match.sure:
        recipe = msgspec.structs.replace(recipe, applicability=recipe.unsure)
    if recipe.kind == "replace-target" and not recipe.text:
        recipe = _renamed(recipe, match.name, entry.known)
    if reproduces and (entry.level or rule.level) == "design":
        milder: Applicability = "display" if recipe.applicability == "unsafe" else recipe.applicability
        return msgspec.structs.replace(recipe, applicability=milder, repeated="display")
    return recipe


def _is_for_calls_of_partials(recipe: Recipe, match: Match) -> bool:
    """Whether a recipe only adds something to a call, which it finds by its name: what a partial gives stands elsewhere."""
    adds = recipe.kind in ("add-argument", "set-argument", "start-run")
    return adds and all(argument.name for argument in match.before)


def _renamed(recipe: Recipe, name: str, known: Sequence[str]) -> Recipe:
    """The recipe for a member that doesn't exist: the one that was meant, where exactly one is much like it."""
    import difflib

    owner, _, member = name.rpartition(".")
    alike = difflib.get_close_matches(member, known, cutoff=0.75)
    if len(alike) != 1:
        return msgspec.structs.replace(recipe, applicability="display", text=f"<{owner}.{known[0]}>")
    return msgspec.structs.replace(recipe, text=f"<{owner}.{alike[0]}>")

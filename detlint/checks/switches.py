"""Family 6 at the entry points: a run on an accelerator that never switches determinism on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from detlint.catalog import Catalog
from detlint.checks.finding import Finding, Severity, Step
from detlint.checks.levels import LOWEST_GPU_WORDS, Levels, is_test, targets
from detlint.checks.match import Matcher
from detlint.facts.model import Span
from detlint.program.flow import Reach

MINDSPORE: Final = "mindspore-deterministic"
TORCH: Final = "deterministic-algorithms"


def findings(reach: Reach, matcher: Matcher, levels: Levels, catalog: Catalog) -> Iterator[Finding]:
    """DET602 for PyTorch, DET608 for MindSpore: once for each entry point that trains there and sets no switch."""
    training = [
        (place, match)
        for place in reach.places
        for match in matcher.matches(place.module, place.site)
        if "trains" in match.entry.contexts
    ]
    if not training:
        return
    frameworks = {match.name.partition(".")[0] for _, match in training}
    mindspore = bool(frameworks & {"mindspore"})
    code, switch = ("DET608", MINDSPORE) if mindspore else ("DET602", TORCH)
    if reach.switches.get(switch, (False, None))[0]:
        return
    module = reach.entry.module
    modules = {place.module.path: place.module for place in reach.places} | {module.path: module}
    words = {word for m in modules.values() for word in m.facts.mentions}
    used = {LOWEST_GPU_WORDS[word] for word in words} | set(levels.settings.targets)
    if mindspore:
        used.add("ascend")
    active = sorted(used & {"cuda", "ascend"} & targets(module.facts, levels.settings) if levels.settings.targets else used & {"cuda", "ascend"})
    if not active:
        return
    severity: Severity = "warning"
    if active == ["cuda"] and reach.switches.get("cudnn-deterministic", (False, None))[0]:
        severity = "note"
    if levels.settings.profile == "align":
        severity = "error"
    if is_test(module.path, levels.root):
        severity = "note"
    counted = sum(
        1 for p in reach.places for match in matcher.matches(p.module, p.site) if match.entry.category in ("b", "c")
    )
    rule = catalog.rules[code]
    place, match = training[0]
    what = f"; {counted} operators on its way could be deterministic" if counted else ""
    step = Step(place.module.path, place.module.sites[place.site].span, "trains here")
    yield Finding(
        module.path, reach.entry.span, code, rule.name, severity,
        f"this run trains on {' and '.join(active)} and never switches determinism on{what}",
        rule.remedy, tuple(active), (step,), api=match.name,
    )  # fmt: skip

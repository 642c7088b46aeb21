"""Family 6 at the entry points: a run on an accelerator that never switches determinism on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from detlint.catalog import Catalog
from detlint.checks.finding import Finding, Severity, Step
from detlint.checks.levels import Levels, is_test
from detlint.checks.match import Matcher
from detlint.checks.scope import DEVICES, targets
from detlint.facts.model import Span
from detlint.program.flow import Reach

MINDSPORE: Final = "mindspore-deterministic"
TORCH: Final = "deterministic-algorithms"


def findings(reach: Reach, matcher: Matcher, levels: Levels, catalog: Catalog) -> Iterator[Finding]:
    """What an entry point's way says of the switches."""
    yield from _determinism_off(reach, matcher, levels, catalog)
    yield from _workspace(reach, matcher, levels, catalog)


def _workspace(reach: Reach, matcher: Matcher, levels: Levels, catalog: Catalog) -> Iterator[Finding]:
    """DET603: the torch releases that check the cuBLAS workspace under the deterministic switch want it set, in time."""
    version = levels.settings.versions.get("torch")
    switched, place = reach.switches.get(TORCH, (None, None))
    if version is None or not switched or place is None or "cuda" not in targets(place.module.facts, levels.settings):
        return
    from packaging.version import Version

    if not Version("1.7") <= Version(version) < Version("2.10"):
        return
    rule = catalog.rules["DET603"]
    _, setting = reach.switches.get("cublas-workspace", (None, None))
    if setting is None:
        message = f"torch {version} raises under the deterministic switch, because CUBLAS_WORKSPACE_CONFIG is not set"
        yield Finding(
            place.module.path, place.module.sites[place.site].span, rule.code, rule.name, "warning", message, rule.remedy, ("cuda",)
        )
        return
    for earlier in reach.places[: reach.places.index(setting)]:
        if any("starts-cuda" in match.entry.contexts for match in matcher.matches(earlier.module, earlier.site)):
            step = Step(earlier.module.path, earlier.module.sites[earlier.site].span, "CUDA is in use from here")
            message = "CUBLAS_WORKSPACE_CONFIG is set after CUDA work has begun, and is read only once"
            span = setting.module.sites[setting.site].span
            yield Finding(
                setting.module.path, span, rule.code, rule.name, "warning", message, rule.remedy, ("cuda",), (step,)
            )
            return


def _determinism_off(reach: Reach, matcher: Matcher, levels: Levels, catalog: Catalog) -> Iterator[Finding]:
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
    used = {DEVICES[word] for word in words} | set(levels.settings.targets)
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

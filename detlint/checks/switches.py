"""Family 6 at the entry points: a run on an accelerator that never switches determinism on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from detlint.catalog import Catalog
from detlint.checks.finding import Finding, Severity, Step
from detlint.checks.levels import Levels, is_test
from detlint.checks.match import Match, Matcher
from detlint.checks.scope import DEVICES, targets
from detlint.program.reach import Place, Reach

MINDSPORE: Final = "mindspore-deterministic"
TORCH: Final = "deterministic-algorithms"
FRAMEWORKS: Final = {
    "torch": ("DET602", TORCH, {"cuda", "ascend"}),
    "mindspore": ("DET608", MINDSPORE, {"ascend"}),
    "tensorflow": ("DET607", "tensorflow-determinism", {"cuda"}),
    "keras": ("DET607", "tensorflow-determinism", {"cuda"}),
}
"""Framework -> the rule for a run without its switch, the switch, the targets that it is about."""


def findings(reach: Reach, matcher: Matcher, levels: Levels, catalog: Catalog) -> Iterator[Finding]:
    """What an entry point's way says of the switches."""
    for check in (_determinism_off, _workspace, _communication, _twice):
        yield from check(reach, matcher, levels, catalog)


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
        # The last release of a series is written 1.8.9999 (see `detlint.versions`).
        shown = version.replace(".9999", ".x")
        message = f"torch {shown} raises under the deterministic switch, because CUBLAS_WORKSPACE_CONFIG is not set"
        yield Finding(
            place.module.path,
            place.module.sites[place.site].span,
            rule.code,
            rule.name,
            _warning(levels),
            message,
            rule.remedy,
            ("cuda",),
        )
        return
    for earlier in reach.places[: reach.places.index(setting)]:
        if any("starts-cuda" in match.entry.contexts for match in matcher.matches(earlier.module, earlier.site)):
            step = Step(earlier.module.path, earlier.module.sites[earlier.site].span, "CUDA is in use from here")
            message = "CUBLAS_WORKSPACE_CONFIG is set after CUDA work has begun, and is read only once"
            span = setting.module.sites[setting.site].span
            yield Finding(
                setting.module.path,
                span,
                rule.code,
                rule.name,
                _warning(levels),
                message,
                rule.remedy,
                ("cuda",),
                (step,),
            )
            return


def _determinism_off(reach: Reach, matcher: Matcher, levels: Levels, catalog: Catalog) -> Iterator[Finding]:
    """A run that trains on an accelerator and never switches its framework's determinism on: once, at its start."""
    training = _with_context("trains", reach, matcher)
    if not training:
        return
    place, match = training[0]
    code, switch, possible = FRAMEWORKS.get(match.name.partition(".")[0], FRAMEWORKS["torch"])
    active = sorted(_hardware(reach, levels) & possible)
    if code == "DET608":
        active = active or ["ascend"]
    if not active or reach.switches.get(switch, (False, None))[0]:
        return
    module = reach.entry.module
    severity = _warning(levels)
    if severity == "warning" and active == ["cuda"] and reach.switches.get("cudnn-deterministic", (False, None))[0]:
        severity = "note"
    if is_test(module.path, levels.root):
        severity = "note"
    counted = sum(
        1 for p in reach.places for match in matcher.matches(p.module, p.site) if match.entry.category in ("b", "c")
    )
    what = f"; {counted} operators on its way could be deterministic" if counted else ""
    message = f"this run trains on {' and '.join(active)} and never switches determinism on{what}"
    step = Step(place.module.path, place.module.sites[place.site].span, "trains here")
    rule = catalog.rules[code]
    yield Finding(
        module.path,
        reach.entry.span,
        code,
        rule.name,
        severity,
        message,
        rule.remedy,
        tuple(active),
        (step,),
        api=match.name,
    )


def _communication(reach: Reach, matcher: Matcher, levels: Levels, catalog: Catalog) -> Iterator[Finding]:
    """DET605: devices that sum over HCCL in order of arrival."""
    starts = _with_context("starts-communication", reach, matcher)
    # Whoever writes the variable has decided, whatever the value; a wrong one is a finding of its own.
    decided = "hccl-deterministic" in reach.switches
    if not starts or decided or any(reach.switches.get(switch, (False, None))[0] for switch in (TORCH, MINDSPORE)):
        return
    place, match = starts[0]
    rule = catalog.rules["DET605"]
    message = (
        f"`{match.name}` starts HCCL, whose reductions keep no fixed order unless HCCL_DETERMINISTIC is set before"
    )
    span = place.module.sites[place.site].span
    yield Finding(place.module.path, span, rule.code, rule.name, _warning(levels), message, rule.remedy, ("ascend",))


def _twice(reach: Reach, matcher: Matcher, levels: Levels, catalog: Catalog) -> Iterator[Finding]:
    """DET608: MindSpore's switch may be set once; the second call raises."""
    for switch, place in reach.again:
        if switch == MINDSPORE:
            rule = catalog.rules["DET608"]
            message = "determinism is switched a second time, which raises"
            span = place.module.sites[place.site].span
            yield Finding(
                place.module.path, span, rule.code, rule.name, _warning(levels), message, rule.remedy, ("ascend",)
            )


def _warning(levels: Levels) -> Severity:
    """The level of a warning of this family."""
    return "error" if levels.settings.profile == "align" else "warning"


def _with_context(context: str, reach: Reach, matcher: Matcher) -> list[tuple[Place, Match]]:
    return [
        (place, match)
        for place in reach.places
        for match in matcher.matches(place.module, place.site)
        if context in match.entry.contexts
    ]


def _hardware(reach: Reach, levels: Levels) -> set[str]:
    """The targets that the files on the way mention, within those configured."""
    modules = {place.module.path: place.module for place in reach.places} | {
        reach.entry.module.path: reach.entry.module
    }
    mentioned = {DEVICES[word] for module in modules.values() for word in module.facts.mentions}
    return mentioned & set(levels.settings.targets) if levels.settings.targets else mentioned

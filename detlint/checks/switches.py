"""Family 6 at the entry points: a run on an accelerator that never switches determinism on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Final, Literal, NamedTuple

from detlint.catalog import HARDWARE, Applicability, Catalog, Recipe, Rule, Switch
from detlint.checks.finding import LAUNCH, PROCESS, Finding, Severity, Step
from detlint.checks.levels import case_of, level
from detlint.checks.seeds import way_of
from detlint.domains.device.documented import Documented
from detlint.domains.device.hardware import target_of, targets_of
from detlint.domains.gradient.backward import Backward
from detlint.domains.known import Domains
from detlint.domains.matching.contexts import in_context
from detlint.domains.matching.match import Matcher
from detlint.domains.matching.record import Match
from detlint.domains.matching.scope import fulfilled, implied, implied_alone
from detlint.marks import Brief
from detlint.model.module import Module
from detlint.model.runs.calls import STARTS_COMMUNICATION
from detlint.model.runs.reach import Effect, Place, Reach
from detlint.model.sites.records import Const, Span, branches, options, plain, sites, surely_after
from detlint.model.tests import stands_in_test

MINDSPORE: Final = "mindspore-deterministic"
TORCH: Final = "deterministic-algorithms"
WORKSPACE: Final = 'os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")'
WORKSPACE_VERSIONS: Final = "torch >= 1.7, < 2.10"
"""The releases that check the cuBLAS workspace under the switch."""
USUAL: Final = "torch"
"""The framework of a run that trains through a library which belongs to none."""
NCCL: Final = "nccl-algorithm"
"""The switch that says how NCCL sums."""
BY_NCCL: Final = "communicates-by-nccl"
"""Calls in this context start a library for communication that GPUs have."""
MOST_NAMED: Final = 3
"""How many of the operators that the switch answers a finding names."""
_BEGIN: Final = frozenset({"only-differentiates", "prepares"})
"""Contexts of calls that train, which only get something ready for it."""


Harmless = Callable[[Module, int, Match], bool]
"""Whether the layer that a site makes is used for nothing, or its weights are frozen where the operator is about their gradient."""
Elsewhere = Callable[[Reach, Place], bool]
"""Whether a run comes to a place on other hardware than Ascend alone."""


class Asked(NamedTuple):
    """What switches are judged by."""

    domains: Domains
    elsewhere: Elsewhere
    harmless: Harmless


def findings(reach: Reach, asked: Asked) -> Iterator[Finding]:
    """What an entry point's way says of the switches."""
    yield from _determinism_off(reach, asked)
    yield from _workspace(reach, asked.domains)
    yield from _twice(reach, asked.domains)
    yield from _communication(reach, asked.domains, asked.elsewhere)
    yield from _by_nccl(reach, asked.domains)


def _workspace(reach: Reach, domains: Domains) -> Iterator[Finding]:
    """DET603: the torch releases that check the cuBLAS workspace under the deterministic switch want it set, in time."""
    matcher, backward, catalog, launched = domains.matcher, domains.backward, domains.catalog, domains.documented
    versions = matcher.versions(reach.entry.module)
    version = versions.get("torch")
    optional = (True, reach.offered[TORCH]) if TORCH in reach.offered else (None, None)
    switched, place = reach.switches.get(TORCH, optional)
    if version is None or not switched or place is None or "cuda" not in matcher.active(place.module):
        return
    if not fulfilled(WORKSPACE_VERSIONS, versions):
        return
    rule = catalog.rules["DET603"]
    _, setting = reach.switches.get("cublas-workspace", (None, None))
    if TORCH not in reach.switches:
        setting = setting or reach.offered.get("cublas-workspace")  # perhaps by the same option
    if (
        setting is None and launched.switched(reach, "cublas-workspace") is not None
    ):  # a wrong one is told where it is set
        return
    if setting is None:
        # The last release of a series is written 1.8.9999 (see `detlint.versions`).
        shown = version.replace(".9999", ".x")
        message = f"torch {shown} raises under the deterministic switch, because CUBLAS_WORKSPACE_CONFIG is not set"
        yield Finding(
            place.module.path,
            place.module.sites[place.site].span,
            rule.code,
            rule.name,
            _severity(backward, rule, place.module),
            message,
            rule.remedy,
            ("cuda",),
            steps=_launches(launched, reach),
            fix=_variable("CUBLAS_WORKSPACE_CONFIG", ":4096:8", "safe"),
        )
        return
    before = reach.places[: reach.places.index(setting)] if setting in reach.places else ()
    for earlier in before:
        if any("starts-cuda" in match.entry.contexts for match in matcher.matches(earlier.module, earlier.site)):
            step = Step(earlier.module.path, earlier.module.sites[earlier.site].span, "CUDA is in use from here")
            message = "CUBLAS_WORKSPACE_CONFIG is set after CUDA work has begun, and is read only once"
            span = setting.module.sites[setting.site].span
            yield Finding(
                setting.module.path,
                span,
                rule.code,
                rule.name,
                _severity(backward, rule, setting.module),
                message,
                rule.remedy,
                ("cuda",),
                (step,),
            )
            return


def _determinism_off(reach: Reach, asked: Asked) -> Iterator[Finding]:
    """A run that trains on an accelerator and never switches its framework's determinism on: once, at its start."""
    domains = asked.domains
    matcher, backward, catalog, launched = domains.matcher, domains.backward, domains.catalog, domains.documented
    training = in_context("trains", reach, matcher) or in_context("readies", reach, matcher)
    if not training or not reach.trains:
        return
    place, match = next((found for found in training if not _is_imported(*found, reach)), training[0])
    switch = _switch(match, place, catalog)
    hardware, certain = _hardware(reach, matcher, backward)
    active = sorted(hardware & set(switch.targets))
    open_ = not certain and not active
    finding = {found for found, _ in in_context("finds-hardware", reach, matcher)}
    usual_there = switch.assumed or switch.taken
    by_finding = open_ and not usual_there and bool(finding)
    if by_finding or (open_ and usual_there):
        usual = {*switch.targets} if usual_there else matcher.active(place.module)
        active = sorted(target for target in switch.targets if target in usual and _is_asked_for(target, backward))
    if not active or reach.switches.get(switch.name, (launched.switched(reach, switch.name), None))[0]:
        return
    if by_finding and all(domains.placed.is_on_host(found.module, found.site) for found in finding):
        return
    module = reach.entry.module
    partly = active == ["cuda"] and reach.switches.get(switch.partly, (False, None))[0]
    answered = _answered(reach, asked, frozenset(active), training)
    if open_ and switch.taken and not answered:
        return
    optional = reach.offered.get(switch.name)
    switches = "switches determinism on only where it is asked to" if optional else "never switches determinism on"
    starter = reach.starter
    if starter is not None and starter.trains and not starter.switches.keys() & {switch.name, switch.partly}:
        return  # told of what starts it, and of this once that is repaired
    calls, begins, runs = reach.process or ((), None, "")
    who = f"the process that runs `{plain(runs)}`" if runs else "this run"
    message = f"{who} trains on {' and '.join(active)} and {switches}{answered}"
    steps = [*way_of(reach, calls)]
    if begins is not None:
        steps.append(Step(begins.module.path, begins.span, PROCESS))
    steps.append(Step(place.module.path, place.module.sites[place.site].span, "trains here"))
    if optional:
        steps.append(Step(optional.module.path, optional.module.sites[optional.site].span, "off by default"))
    rule = catalog.rules[switch.rule]
    yield Finding(
        module.path,
        _stands_at(reach, place),
        rule.code,
        rule.name,
        _severity(backward, rule, module, own="align" if partly else ""),
        message,
        switch.remedy or rule.remedy,
        tuple(active),
        tuple(steps),
        fix=_switching(switch, reach, active, matcher.versions(reach.entry.module), launched),
        api=match.name,
    )


def _stands_at(reach: Reach, training: Place) -> Span:
    """Where a finding about a whole run stands: at the block that starts it; in a script without one at the statement that
    trains, for what happens to be called first says nothing of it."""
    site = training.module.sites[training.site]
    own = reach.entry.kind in ("script", "notebook") and training.module is reach.entry.module and not site.function
    return site.span if own else reach.entry.span


def _switching(
    switch: Switch, reach: Reach, active: Sequence[str], versions: Mapping[str, str], launched: Documented
) -> Recipe | None:
    """How a run is switched at its start; None where no statement does it for the versions in use."""
    statements = next((text for asked, text in switch.calls.items() if fulfilled(asked, versions)), "")
    if not statements:
        return None
    checks = "torch" not in versions or fulfilled(WORKSPACE_VERSIONS, versions)
    given = "cublas-workspace" in reach.switches or launched.switched(reach, "cublas-workspace")
    if checks and switch.name == TORCH and "cuda" in active and not given:
        statements = f"{WORKSPACE}\n{statements}"
    return Recipe("start-run", text=statements, applicability="unsafe")


def _switch(match: Effect, place: Place, catalog: Catalog) -> Switch:
    """The switch of the framework that trains: by the name of what was called, else by what its file imports."""
    root = match.name.partition(".")[0]
    imported = sorted({name.partition(".")[0] for name in place.module.facts.imports})
    found = [module for module in (root, USUAL, *imported) if module == root or module in imported]
    return next((catalog.switches[module] for module in found if module in catalog.switches), catalog.switches[USUAL])


def _answered(reach: Reach, asked: Asked, active: Set[str], training: Sequence[tuple[Place, Effect]]) -> str:
    """The operators on the way of a run that the switch answers, and those that an environment variable answers; not those whose result
    is the same in any order.

    Args:
        active: the hardware that it is on.
        training: where it trains.
    """
    matcher, backward = asked.domains.matcher, asked.domains.backward
    found: dict[str, Counter[str]] = {"b": Counter(), "c": Counter()}
    automatic = in_context("automatic-mode", reach, matcher) and not in_context("other-mode", reach, matcher)
    for place in reach.places:
        matches = matcher.matches(place.module, place.site)
        names = {
            m.entry.category: m.name
            for m in matches
            if m.entry.category in found
            and (not m.entry.targets or not active.isdisjoint(m.entry.targets))
            and ((reach.communicates and not reach.alone) or "between-devices" not in m.entry.contexts)
            and not (automatic and "not-in-automatic-mode" in m.entry.contexts)
            and "in-any-order" not in m.entry.contexts
            and not reach.held.get(m.entry.unless_set)
            and _may_vary(place, m, reach, backward)
            and not (m.entry.pass_ == "backward" and _is_over(place, training))
            and not asked.harmless(place.module, place.site, m)
        }
        category = next((category for category in found if category in names), None)
        if category is not None:
            found[category][names[category]] += 1
    told = []
    if switched := found["b"].total():
        s = "s" * (switched > 1)
        told.append(f"; {switched} operator{s} on its way would follow the switch: {_most(found['b'])}")
    if variable := found["c"].total():
        subject = f"{variable} operator{'s' * (variable > 1)} on its way" if not switched else f"{variable}"
        need = "needs" if variable == 1 else "need"
        told.append(f"; {subject} {need} an environment variable as well: {_most(found['c'])}")
    return "".join(told)


def _may_vary(place: Place, match: Match, reach: Reach, backward: Backward) -> bool:
    """Whether gradients may be taken at an operator, if it is about them. Of a function in the file where the run starts, its
    callers there say so; those of others may stand anywhere."""
    site = place.module.sites[place.site]
    if match.entry.pass_ != "backward" or match.builds:
        return True
    own = place.module is reach.entry.module
    if backward.gradients.are_off(place.module, site, by_callers=own):
        return False
    return not backward.matcher.sinks.ends_gradients(place.module, place.site)


def _is_over(place: Place, training: Sequence[tuple[Place, Effect]]) -> bool:
    """Whether a place stands behind all calls by which a run trains, from beginning to end, in one top level, and in no loop with any."""
    module, before = place.module, {other.site for other, _ in training}
    whole = all("trains" in match.entry.contexts and _BEGIN.isdisjoint(match.entry.contexts) for _, match in training)
    if not whole or any(other.module is not module for other, _ in training) or max(before) > place.site:
        return False
    if any(module.sites[site].function for site in (place.site, *before)):
        return False
    loops = (
        {*sites(block.arms[0])} for block in branches(module.steps(module.facts.functions[0])) if block.kind == "loop"
    )
    return not any(place.site in loop and not before.isdisjoint(loop) for loop in loops)


def _most(found: Counter[str]) -> str:
    """The most frequent of some names, with their counts."""
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    named = [f"{count} `{name}`" if count > 1 else f"`{name}`" for name, count in ranked[:MOST_NAMED]]
    others = sum(count for _, count in ranked[MOST_NAMED:])
    return ", ".join([*named, *([f"{others} more"] if others else [])])


def _communication(reach: Reach, domains: Domains, elsewhere: Elsewhere) -> Iterator[Finding]:
    """DET605: devices that sum over HCCL in order of arrival."""
    matcher, backward, catalog, launched = domains.matcher, domains.backward, domains.catalog, domains.documented
    started = in_context(STARTS_COMMUNICATION, reach, matcher)
    if (
        not started
        or not reach.adds_up
        or not _may_be_on(reach, "ascend", backward)
        or any(reach.switches.get(switch, (False, None))[0] for switch in (TORCH, MINDSPORE))
        or _is_of_another(reach, matcher)
    ):
        return
    here = next((one for one in started if not elsewhere(reach, one[0])), None)
    if here is None or launched.switched(reach, "hccl-deterministic") is not None:
        return
    place, match = here
    # Whoever writes the variable in time has decided, whatever the value; a wrong one is a finding of its own.
    written = reach.switches.get("hccl-deterministic")
    if _is_set(reach, "hccl-deterministic", place):
        return
    rule = catalog.rules["DET605"]
    message = (
        f"`{match.name}` starts HCCL, whose reductions keep no fixed order unless HCCL_DETERMINISTIC is set before"
    )
    if written is not None:
        message += "; here it is set after, and is read no more"
    span = place.module.sites[place.site].span
    fix = _variable("HCCL_DETERMINISTIC", "true", "safe")
    severity = _severity(backward, rule, place.module, unused=reach.alone)
    yield Finding(
        place.module.path,
        span,
        rule.code,
        rule.name,
        severity,
        message,
        rule.remedy,
        ("ascend",),
        _launches(launched, reach),
        fix=fix,
    )


def _by_nccl(reach: Reach, domains: Domains) -> Iterator[Finding]:
    """DET605 under align: GPUs that sum over NCCL, which takes its algorithm by the machine unless it is told."""
    matcher, backward, catalog, launched = domains.matcher, domains.backward, domains.catalog, domains.documented
    started = in_context(BY_NCCL, reach, matcher)
    if backward.settings.profile != "align" or not started or not _may_be_on(reach, "cuda", backward):
        return
    if reach.stops or not in_context("sums-by-nccl", reach, matcher):
        return
    place, match = started[0]
    rule, site = catalog.rules["DET605"], place.module.sites[place.site]
    if launched.switched(reach, NCCL) is not None or _is_set(reach, NCCL, place):
        return
    message = f"`{match.name}` starts NCCL, which picks its algorithm, and with it the order of sums, by the machine"
    fix = _variable("NCCL_ALGO", "Ring", "unsafe")
    yield Finding(
        place.module.path, site.span, rule.code, rule.name, _severity(backward, rule, place.module, unused=reach.alone), message,
        "Set NCCL_ALGO to `Ring` before the process group is created.", ("cuda",), _launches(launched, reach), fix=fix,
    )  # fmt: skip


def _variable(name: str, value: str, applicability: Applicability) -> Recipe:
    """How a variable of the environment is set: where launches set others, else in the code."""
    text = f'<os.environ.setdefault>("{name}", "{value}")'
    return Recipe("insert-before", argument=name, value=value, text=text, applicability=applicability)


def _is_set(reach: Reach, switch: str, place: Place) -> bool:
    """Whether a run that comes to a place has set a switch by then: always, or where an option that leads there is given."""
    if switch in reach.switches:
        return not _is_behind(reach.switches[switch][1], place, reach)
    offered = reach.offered.get(switch)
    if offered is None or offered.module is not place.module:
        return False
    function = place.module.function_of(place.module.sites[place.site])
    return place.site in (surely_after(place.module.steps(function), offered.site) or ())


def _is_behind(one: Place, other: Place, reach: Reach) -> bool:
    """Whether a run comes to a place after another one."""
    return one in reach.places and other in reach.places and reach.places.index(one) > reach.places.index(other)


def _is_of_another(reach: Reach, matcher: Matcher) -> bool:
    """Whether a run imports a library for hardware with a back end of the same name, and none for Ascend."""
    return targets_of(("hccl",), _implied(reach, matcher)) == {"hpu"}


def _implied(reach: Reach, matcher: Matcher) -> set[str]:
    """The hardware whose libraries a run imports."""
    return {target for said in _said_by(reach, matcher) for target in implied(said.libraries, matcher.catalog)}


def _said_by(reach: Reach, matcher: Matcher) -> list[Brief]:
    """What the files say of the places that a run passes, that where it starts, and those of settings that they read."""
    files = {*reach.through, reach.entry.module.path}
    loaded = matcher.resolver.loaded
    return [*map(matcher.resolver.brief, sorted(files | loaded.read_in(files) if loaded is not None else files))]


def _twice(reach: Reach, domains: Domains) -> Iterator[Finding]:
    """DET608: MindSpore's switch may be set once; the second call raises."""
    matcher, backward, catalog = domains.matcher, domains.backward, domains.catalog
    for switch, place in reach.again:
        if switch == MINDSPORE:
            rule, site = catalog.rules["DET608"], place.module.sites[place.site]
            message = "determinism is switched a second time, which raises"
            sets = [m for m in matcher.matches(place.module, place.site) if m.entry.sets.get(switch) is not None]
            argument = str(sets[0].entry.sets[switch]).removeprefix("=") if sets else ""
            # A call that sets other things too keeps them.
            kind: Literal["remove-statement", "remove-argument"]
            kind = "remove-statement" if len(site.args) == 1 else "remove-argument"
            fix = Recipe(kind, argument if kind == "remove-argument" else "", applicability="safe")
            yield Finding(
                place.module.path, site.span, rule.code, rule.name, _severity(backward, rule, place.module), message,
                rule.remedy, fix=fix, api=sets[0].name if sets else "",
            )  # fmt: skip


def _severity(backward: Backward, rule: Rule, module: Module, own: str = "", unused: bool = False) -> Severity:
    """The level of a finding of this family in a file."""
    return level(
        case_of(
            rule,
            backward.settings,
            own,
            in_test=stands_in_test(module, backward.matcher.catalog.testing),
            unused=unused,
        )
    ).severity


def _is_imported(place: Place, match: Effect, reach: Reach) -> bool:
    """Whether importing a module makes something ready to train, for whoever calls it."""
    top = not place.module.sites[place.site].function
    return top and place.module is not reach.entry.module and "prepares" in match.entry.contexts


def _may_be_on(reach: Reach, target: str, backward: Backward) -> bool:
    """Whether a run may be for some hardware: the settings ask for it, or ask for none and it chooses no other."""
    chooses_another = target_of(reach.held.get(HARDWARE)) not in ("", target)
    return _is_asked_for(target, backward) and (bool(backward.settings.targets) or not chooses_another)


def _is_asked_for(target: str, backward: Backward) -> bool:
    """Whether the settings leave some hardware in: they narrow what is told of operators and switches to what they name."""
    return not backward.settings.targets or target in backward.settings.targets


def _hardware(reach: Reach, matcher: Matcher, backward: Backward) -> tuple[set[str], bool]:
    """The targets that the run chooses, else those that the files on the way mention, within those configured; and whether
    they are chosen."""
    said = target_of(reach.held.get(HARDWARE))
    if said:
        found = {said}
    else:
        files = _said_by(reach, matcher)
        words = {word for file in files for word in file.mentions}
        found = targets_of(words, _implied(reach, matcher))
        if not backward.settings.targets and not any(file.stands_for_cuda for file in files):
            found = _named_by(reach, matcher) or {*implied_alone(reach.entry.module, matcher.catalog)} or found
    return found & set(backward.settings.targets) if backward.settings.targets else found, bool(said)


def _named_by(reach: Reach, matcher: Matcher) -> set[str]:
    """The accelerators that a run's script itself names, where it makes devices of such words alone, or that it communicates between:
    what the files behind it know of other hardware says nothing then. None where it leaves one open, or has something find its hardware."""
    if in_context("finds-hardware", reach, matcher):
        return set()
    if in_context(BY_NCCL, reach, matcher) and not in_context(STARTS_COMMUNICATION, reach, matcher):
        return {"cuda"}
    script = reach.entry.module
    made = [(place, effect) for place, effect in in_context("device", reach, matcher) if place.module is script]
    words = [argument.value for _, effect in made if (argument := effect.argument("type"))]
    named = {target_of(one.value) if isinstance(one, Const) else "" for word in words for one in options(word)}
    if not named - {"cpu"} or "" in named:
        return set()
    return targets_of(script.facts.mentions, _implied(reach, matcher)) | (named - {"cpu"})


def _launches(launched: Documented, reach: Reach) -> tuple[Step, ...]:
    """The launch files that set other switches, as steps to a finding."""
    return tuple(Step(path, span, LAUNCH) for path, span in launched.beside(reach))

"""Family 1 at the entry points: what is drawn before it is seeded, and seeds that do not fix anything."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Final

from msgspec.structs import replace

from detlint.catalog import Catalog, Recipe, Rule, Scalar
from detlint.checks.finding import PROCESS, Finding, Step
from detlint.checks.levels import as_note, case_of, level
from detlint.checks.live_draws import LiveDraw
from detlint.config import Settings
from detlint.domains.constant.evaluator import COMPARISONS, value_of
from detlint.domains.known import Domains
from detlint.domains.matching.match import Matcher, known_constant
from detlint.domains.matching.record import Match
from detlint.effects.flow import Flow
from detlint.effects.words import Words
from detlint.ir import ops as op
from detlint.ir.alone import in_ir
from detlint.ir.code import UNKNOWN, Function
from detlint.ir.tests import comparison, denied
from detlint.model.growth import SAVES
from detlint.model.module import Module
from detlint.model.resolve import Resolver
from detlint.model.runs.reach import GENERATOR, Draws, Place, Reach, Seeding, agree
from detlint.model.runs.values import Frame, Origin, Spot, Values
from detlint.model.sites.reading.values import member
from detlint.model.sites.records import (
    LOOKS,
    PRINTS,
    Branch,
    Const,
    Either,
    Expression,
    Items,
    Member,
    Param,
    Partial,
    Ref,
    Result,
    Span,
    Value,
    is_made_by,
    options,
    plain,
)
from detlint.model.sites.records import Mapping as Table
from detlint.model.tests import has_tests, stands_in_test

OF: Final = {"torch": ("cuda", "npu", "mps", "xpu"), "mindspore": ("mindspore-dataset", "mindspore-generator")}
"""The streams that one call nearly always seeds along with another."""
_SEED: Final = Recipe("set-seed", value="{seed}", applicability="safe")
_DEFAULT: Final = Recipe("set-default", value="{seed}", applicability="safe")
OBJECTS: Final = frozenset({"gym-space", "gym-batch", "jax"})
"""Streams that objects of the program hold."""
OF_OBJECTS: Final = "DET103"
"""The rule of what draws from a generator that its object has."""
SEED_THE_OBJECT: Final = "Call its `seed` with a fixed number before."
STATE_SETTERS: Final = frozenset({"seed", "manual_seed", "set_state", "setstate"})


def flow(
    resolver: Resolver,
    matcher: Matcher,
    properties: Mapping[str, Sequence[str]],
    words: Words,
) -> Flow:
    """The seed flow over what the rule engine matches.

    Args:
        properties: as `links.properties` tells them.
        words: tells what may happen in a file.
    """
    made = Flow(resolver, matcher, properties, switch, taken, words)
    made.start = _start_method(matcher.settings)
    return made


def _start_method(settings: Settings) -> str:
    """How `multiprocessing` starts processes on Linux where nothing is said; "" where Python's version isn't known."""
    if "python" not in settings.versions:
        return ""
    from packaging.version import InvalidVersion, Version

    with contextlib.suppress(InvalidVersion):
        return "fork" if Version(settings.versions["python"]) < Version("3.14") else "forkserver"
    return ""


def _writes(function: Function) -> bool:
    """Whether a function calls what writes files."""
    for at, _ in function.each(op.CALL):
        name, mode = function.called(at), function.call(at).argument(1, "mode")
        if name in SAVES:
            return True
        if name == "open" and str(function.constant(mode)).startswith(("w", "a", "x")):
            return True
    return False


def switch(match: Match, value: Scalar) -> Scalar:
    """The value that a call gives a switch: a literal, or `=name` for that argument's."""
    if isinstance(value, str) and value.startswith("="):
        given = known_constant(match.arguments.get(value[1:]))
        return given if given is None or isinstance(given, (bool, int, float, str)) else True
    return value


def taken(frame: Frame, test: Value, values: Values) -> tuple[bool | None, Spot | None]:
    """Whether a test holds when the user gives no option (None when that can't be known), and where the default stands
    that decides."""
    if not isinstance(test, Expression):
        return None, None
    function, at = in_ir(test.text) or (None, -1)
    if function is None:
        return None, None
    negated = False
    while (inner := denied(function, at)) >= 0:
        at, negated = inner, not negated
    verdict, spot = _holds(frame, function, at, test.names, values)
    return (None if verdict is None else verdict is not negated), spot


_Names = dict[str, Value | None]


def _holds(frame: Frame, function: Function, at: int, names: _Names, values: Values) -> tuple[bool | None, Spot | None]:
    operation = function.ops[at]
    word = function.code.strings[operation[1]] if operation[0] == op.CHOICE else ""
    if word in ("and", "or"):
        known, spot = _holds(frame, function, operation[2], names, values)
        decides = word == "or"
        if known is decides:
            return known, spot  # `False and ...`, `True or ...`
        other, there = _holds(frame, function, operation[3], names, values)
        return (other, there) if known is not None or other is decides else (None, spot)
    if (asked := comparison(function, at)) is not None:
        left, right = (_operand(frame, function, side, names, values) for side in (asked.left, asked.right))
        return _compared(asked.word, left.value, right.value), left.default or right.default
    value = _operand(frame, function, at, names, values)
    return (bool(value.value.value) if isinstance(value.value, Const) else None), value.default


def _compared(word: str, left: Value | None, right: Value | None) -> bool | None:
    if word in ("in", "not in"):
        return _among(left, right, word == "in")
    if not (isinstance(left, Const) and isinstance(right, Const)):
        return None
    a, b = left.value, right.value
    if word in ("is", "=="):
        return a == b
    if word in ("is not", "!="):
        return a != b
    numbers = isinstance(a, (int, float)) and isinstance(b, (int, float))
    return COMPARISONS[word](a, b) if numbers else None


def _among(left: Value | None, right: Value | None, among: bool) -> bool | None:
    """Whether a value is one of some others, or a part of a text, or none of them; None where they aren't known."""
    if isinstance(left, Const) and isinstance(right, Const) and isinstance(right.value, str):
        return (left.value in right.value) is among if isinstance(left.value, str) else None
    if not (isinstance(left, Const) and isinstance(right, Items) and all(isinstance(v, Const) for v in right.values)):
        return None
    return (left in right.values) is among


def _operand(frame: Frame, function: Function, at: int, names: _Names, values: Values) -> Origin:
    """The default of `args.seed`, `seed`, `None`, `0`, `-1`."""
    operation = function.ops[at]
    if operation[0] in (op.LOAD, op.ATTR):
        root, attributes = function.chain(at)
        value = names.get(function.dotted(root))
        for attr in attributes:
            value = member(value, attr)
        return values.look(frame, value)
    call = function.call(at) if operation[0] == op.CALL else None
    is_get = function.called(at) == "get" and function.called_on(at) >= 0
    if call is not None and is_get and not (call.named or call.unpacked):
        key = function.constant(call.positional[0]) if len(call.positional) == 1 else UNKNOWN
        table = _operand(frame, function, function.called_on(at), names, values).value
        if isinstance(key, str) and (said := values.said(table, key)) is not None:
            return said
        if key is not UNKNOWN:
            return Origin(Const(None))  # an option of a configuration that may be left out
    return Origin(value_of(function, at, {}))


class SeedRules:
    """Turns what entry points reach into findings, one for each entry point and cause.

    Args:
        domains: what is known of the program.
        unused: whether nothing uses the generator that a site makes.
        may_train: whether a run trains, or something may in the file that it starts in.
    """

    def __init__(
        self, domains: Domains, unused: Callable[[Module, int], bool], may_train: Callable[[Reach], bool]
    ) -> None:
        self.catalog, self.settings, self.matcher = domains.catalog, domains.settings, domains.matcher
        self.users = domains.users
        self.left_out = domains.unnamed.leaves_out
        self.unused = unused
        self.may_train = may_train
        self.rule_of = {stream: rule for rule in self.catalog.rules.values() for stream in rule.streams}

    def findings(self, reach: Reach, live: Mapping[str, LiveDraw]) -> Iterator[Finding]:
        """The findings of one entry point.

        Args:
            live: what is drawn by code that no call leads to which can be followed, by stream.
        """
        found = chain(
            self._unseeded(reach, reach.unseeded),
            self._of_live_code(reach, live),
            self.entropy(reach.seedings, way_of(reach, ())),
            self._optional(reach),
            self._late(reach),
        )
        # What tests draw, their runner decides; what such a file does besides, it does for who starts it by hand.
        module = reach.entry.module
        tests = has_tests(module, self.catalog.testing)
        for finding in found:
            mild = tests or _is_only_printed(finding, reach) or self._is_only_looked_at(finding, reach)
            mild = mild or (not reach.entry.function.number and not reach.entry.called and self.left_out(module))
            yield as_note(finding) if mild else finding

    def _is_only_looked_at(self, finding: Finding, reach: Reach) -> bool:
        """Whether a data set draws what only the `__main__` block of a file that others import looks at, which goes through it at most:
        whoever trains with the data set starts elsewhere. Not if anything is written where that is drawn."""
        entry, module = reach.entry, self.matcher.resolver.module(finding.path)
        if self.may_train(reach) or reach.infers or reach.loads or module is None or entry.kind != "__main__":
            return False
        sites = (site for site in module.sites if site.span == finding.span)
        owners = {module.function_of(site).owner for site in sites}
        if not owners or not all(f"{owner}.__getitem__" in module.functions for owner in owners):
            return False
        code = self.users.resolver.code(module.path)
        bodies = [body for owner in owners for body in (code.by_name.get(owner, ()) if code is not None else ())]
        return (
            _main_block(entry.module) in (PRINTS, LOOKS)
            and bool(bodies)
            and not any(_writes(function) for body in bodies for function in body.code.inside(body.number))
            and self.users.is_imported(entry.module)
        )

    def _of_live_code(self, reach: Reach, live: Mapping[str, LiveDraw]) -> Iterator[Finding]:
        """Draws of live code, with the references that lead there in place of calls."""
        for stream, one in live.items():
            for found in self._unseeded(reach, {stream: one.draws}):
                start, *others = found.steps
                yield replace(found, steps=(start, *one.way, *others))

    def _unseeded(self, reach: Reach, unseeded: Mapping[str, Draws]) -> Iterator[Finding]:
        # A key or a generator that is handed around fixes no stream for the whole program.
        fixed = [s for s in reach.seedings if s.kind == "fixed" and not s.passing and not OBJECTS.issuperset(s.streams)]
        by_rule: dict[str, list[tuple[str, Draws]]] = {}
        for stream, draws in unseeded.items():
            rule = self.rule_of.get(stream)
            if rule is not None:
                by_rule.setdefault(rule.code, []).append((stream, draws))
        for code, group in by_rule.items():
            draws = min((d for _, d in group), key=lambda d: (len(d.path), d.first.module.path, d.first.site))
            count = sum(d.count for _, d in group)
            stream = group[0][0]
            # A stream that is seeded on some way, but not on this one, isn't forgotten.
            there = [s for s in fixed if agree(s.way, draws.way)]
            # No seed of another stream is meant for what has a generator of its own.
            others = [] if code == OF_OBJECTS or any(stream in s.streams for s in there) else there
            rule = self.catalog.rules["DET113" if others else code]
            api = written(draws.first)
            more = f" (and {count - 1} more)" if count > 1 else ""
            steps = [*way_of(reach, draws.path)]
            if draws.process is not None:
                length, begins = draws.process
                steps.insert(length + 1, Step(begins.module.path, begins.span, PROCESS))
            if others:
                other = others[0]
                message = f"the run seeds {_listed(other.streams)} but not {stream}, from which `{api}` draws{more}"
                steps.append(Step(other.place.module.path, _span(other.place), f"seeds {_listed(other.streams)}"))
            elif code == OF_OBJECTS:
                message = f"`{api}` draws from a generator of its object, which nothing seeds before{more}"
            else:
                message = rule.message.format(api=api, value="") + more
            known, sure = self.catalog.rules[code], any(d.sure for _, d in group)
            steps = [step for step, _ in groupby(steps)]  # an object is made, then called
            remedy = known.remedy if code != OF_OBJECTS else SEED_THE_OBJECT
            found = self._finding(rule.code, _spot(draws.first), message, remedy, tuple(steps), sure)
            streams = [stream for stream, _ in group]
            counted = dict.fromkeys(place for _, d in group for place in d.places if place != draws.first)
            yield replace(
                found,
                fix=_seeding(known, streams, self.catalog, self.settings.fix_style == "runtime"),
                others=tuple(Step(p.module.path, _span(p), f"`{written(p)}` draws too") for p in counted),
            )

    def entropy(self, seedings: Iterable[Seeding], path: tuple[Step, ...]) -> Iterator[Finding]:
        """The findings of seeds that differ in every run, one for each cause.

        Args:
            path: how the run gets there.
        """
        by_cause: dict[Spot, Seeding] = {}
        for seeding in seedings:
            if seeding.kind == "entropy":
                by_cause.setdefault(seeding.cause or _spot(seeding.place), seeding)
        for cause, seeding in by_cause.items():
            at = seeding.place
            if cause == _spot(at):
                message, steps = f"`{written(at)}` takes a seed that differs in every run", path
            else:
                message = f"the seed of `{written(at)}` differs in every run, because of this"
                steps = (*path, Step(at.module.path, _span(at), "seeds with it"))
            codes = {self.rule_of[stream].code for stream in seeding.streams if stream in self.rule_of}
            code = "DET116" if codes == {"DET116"} else "DET110"
            recipe, api = self._fixed(at) if cause == _spot(at) else (_SEED, "")
            yield replace(self._finding(code, cause, message, "", steps), fix=recipe, api=api)

    def _fixed(self, place: Place) -> tuple[Recipe | None, str]:
        """How a call that takes a seed from entropy gets a fixed one, and what it calls."""
        found = self.matcher.matches(place.module, place.site)
        for match in found:
            if match.entry.rule == "DET110" and match.entry.fix is not None:
                return match.entry.fix, match.name
        for match in found:
            if match.entry.seed:
                fixed = Recipe("set-argument", match.entry.seed, value="{seed}", applicability="safe")
                return fixed, match.name
        return None, ""

    def _optional(self, reach: Reach) -> Iterator[Finding]:
        by_cause: dict[Spot, list[tuple[str, Seeding]]] = {}
        for stream, seeding in reach.optional.items():
            if stream in reach.optional_drawn and not self._is_unused(stream, seeding.place):
                by_cause.setdefault(seeding.cause or _spot(seeding.place), []).append((stream, seeding))
        for cause, group in by_cause.items():
            streams = list(dict.fromkeys(s for stream, seeding in group for s in _named(stream, seeding)))
            message = (
                f"the seed is optional, and without it {_listed(streams)} stay{'s' * (len(streams) == 1)} unseeded"
            )
            at = group[0][1].place
            steps = [*way_of(reach, ())]
            if cause != _spot(at):
                steps.append(Step(at.module.path, _span(at), "seeds only where one is given"))
            found = self._finding("DET111", cause, message, "", tuple(steps))
            yield replace(found, fix=_DEFAULT) if cause != _spot(at) else found

    def _is_unused(self, stream: str, place: Place) -> bool:
        """Whether a stream is that of a generator which nothing uses."""
        return stream.startswith(GENERATOR) and self.unused(place.module, place.site)

    def _late(self, reach: Reach) -> Iterator[Finding]:
        by_place: dict[Place, list[tuple[str, Draws]]] = {}
        for stream, (seeding, (first_draws, *_)) in reach.late.items():
            by_place.setdefault(seeding.place, []).append((stream, first_draws))
        for place, group in by_place.items():
            first = group[0][1].first
            step = Step(first.module.path, _span(first), f"`{written(first)}` has drawn before")
            them = "it" if len(group) == 1 else "them"
            message = f"seeds {_listed([stream for stream, _ in group])} after the run has drawn from {them}"
            yield self._finding("DET112", _spot(place), message, "", (*way_of(reach, ()), step))

    def _finding(
        self, code: str, spot: Spot, message: str, remedy: str, steps: tuple[Step, ...], sure: bool = True
    ) -> Finding:
        rule = self.catalog.rules[code]
        path = spot.module.path
        case = case_of(
            rule,
            self.settings,
            certainty="certain" if sure else "likely",
            in_test=stands_in_test(spot.module, self.catalog.testing),
        )
        severity, certainty, _ = level(case)
        told = message, remedy or rule.remedy
        return Finding(path, spot.span, code, rule.name, severity, *told, steps=steps, certainty=certainty)


def _is_only_printed(finding: Finding, reach: Reach) -> bool:
    """Whether something is drawn in the `__main__` block of a package's module, to print what the module makes of it."""
    module = reach.entry.module
    if reach.trains or "." not in module.facts.module or finding.path != module.path or len(finding.steps) > 1:
        return False
    return _main_block(module) == PRINTS


def _main_block(module: Module) -> Value | None:
    """What the `__main__` block of a file does, as far as it is known."""
    blocks = (step for step in module.steps(module.facts.functions[0]) if isinstance(step, Branch))
    return next((block.test for block in blocks if block.kind == "main"), None)


def _seeding(rule: Rule, streams: Sequence[str], catalog: Catalog, runtime: bool) -> Recipe | None:
    """How a run is seeded for some streams of a rule, without calls that another one makes needless; None where no call is known
    for one of them."""
    statements = list(dict.fromkeys(rule.seeding.get(stream, "") for stream in streams))
    for statement in statements[:]:
        meant = {stream for stream in streams if rule.seeding.get(stream) == statement}
        if any(meant <= _seeded_by(other, catalog) for other in statements if other != statement):
            statements.remove(statement)
    if runtime and rule.runtime_seeding:
        statements = [rule.runtime_seeding]
    return Recipe("start-run", text="\n".join(statements), applicability="safe") if all(statements) else None


def _seeded_by(statement: str, catalog: Catalog) -> set[str]:
    """The streams that a call with a number seeds, in every release."""
    entries = (catalog.entries[i] for i in catalog.calls.get(statement.partition("(")[0], ()))
    return {stream for entry in entries if not (entry.when or entry.versions) for stream in entry.seeds}


def _named(stream: str, seeding: Seeding) -> tuple[str, ...]:
    """The stream that a seeding leaves open; for a generator object's seed, the object."""
    return seeding.streams if stream.startswith(GENERATOR) else (stream,)


def _spot(place: Place) -> Spot:
    return Spot(place.module, _span(place))


def _span(place: Place) -> Span:
    return place.module.sites[place.site].span


def written(place: Place) -> str:
    """The API at a place, by its own name."""
    target = place.module.sites[place.site].target
    if isinstance(target, Either):  # one of them stands where the others are left out
        target = next((option for option in target.options if isinstance(option, Ref)), target)
    return _written(target, place.module)


def _written(target: Value | None, module: Module) -> str:
    if isinstance(target, Result):
        return f"{_written(target.of, module)}(...)"
    if isinstance(target, (Expression, Param)):
        return target.text if isinstance(target, Expression) else target.name
    while isinstance(target, Partial):
        target = target.of
    name = target.name if isinstance(target, Ref) else target.attr if isinstance(target, Member) else ""
    return plain(name.removeprefix(module.facts.module + ".").removeprefix("?.")) or "(...)"


def way_of(reach: Reach, path: tuple[Place, ...]) -> tuple[Step, ...]:
    """The way from the entry point to a place, call by call."""
    entry = reach.entry
    start = Step(entry.module.path, entry.span, f"the run starts here ({entry.kind})")
    return (start, *(Step(p.module.path, _span(p), f"calls {_called(p)}") for p in path))


def _called(place: Place) -> str:
    """What a call on the way calls, as people would say it."""
    target = place.module.sites[place.site].target
    if isinstance(target, (Result, Expression)):
        return "what another call gives"
    if not isinstance(target, Member) or not target.attr.startswith("["):
        return f"`{written(place)}`"
    base = target.base
    table = base.name if isinstance(base, Ref) else base.attr if isinstance(base, Member) else ""
    named = plain(table.removeprefix(f"{place.module.facts.module}."))
    return f"an item of `{named}`" if named else "an item of a table"


def _listed(words: tuple[str, ...] | list[str]) -> str:
    """Streams as people name them: PyTorch's of the devices go without saying beside that of the CPU."""
    named = [word for word in words if not any(word in OF.get(other, ()) for other in words)]
    return ", ".join(named[:-1]) + " and " + named[-1] if len(named) > 1 else named[0]


def seeded_later(module: Module, index: int, kept: str, setters: Container[str]) -> bool:
    """Whether a generator object made at a site gets its seed or state by a call of its own, in the same file.

    Args:
        kept: the attribute that keeps it; "" for none.
        setters: methods that do so in some library, besides `STATE_SETTERS`.
    """
    for site in module.sites:
        target = site.target
        if site.kind != "call" or not isinstance(target, Member):
            continue
        if target.attr not in STATE_SETTERS and target.attr not in setters:
            continue
        owner = target.base
        if isinstance(owner, Result) and owner.site == index:
            return True
        if kept and isinstance(owner, Member) and owner.attr == kept:
            return True
    return _is_replaced(module, index)


def _is_replaced(module: Module, index: int) -> bool:
    """Whether another method puts a generator with a seed in the place of one that a site makes: `self.rng = Random(seed)`."""
    site = module.sites[index]
    body = module.classes.get(module.function_of(site).owner)
    kept = [options(v) for v in body.attributes.values() if isinstance(v, Either)] if body is not None else []
    others = [
        o.site for values in kept if any(is_made_by(v, index) for v in values) for o in values if isinstance(o, Result)
    ]
    return any(
        number >= 0
        and module.sites[number].target == site.target
        and module.sites[number].function != site.function
        and any(argument.value != Const(None) for argument in module.sites[number].args)
        for number in others
    )


def set_later(module: Module, index: int, parameters: Container[str], setters: Container[str]) -> bool:
    """Whether an object made at a site is given one of some parameters later, in the same file: by a method of its own, or in a
    function that is handed it (`estimator.set_params(random_state=seed)`)."""
    for site in module.sites:
        target = site.target
        if not isinstance(target, Member) or target.attr not in setters:
            continue
        named = [arg for arg in site.args if arg.name.rpartition("__")[2] in parameters and arg.value != Const(None)]
        if not named:
            continue
        if has(target.base, index):
            return True
        function = module.function_of(site).name
        called = [other for other in module.sites if other.target == Ref(module.prefix + function)]
        handed = isinstance(target.base, Param) and any(has(arg.value, index) for other in called for arg in other.args)
        if handed:
            return True
    return False


def has(value: Value | None, index: int) -> bool:
    """Whether a value is what was made at a site, or has it somewhere inside."""
    if isinstance(value, Result):
        goes_through = isinstance(value.of, Member) and value.of.attr in ("items", "values")
        return value.site == index or (goes_through and has(value.of, index))
    if isinstance(value, Member):
        return has(value.base, index)
    inside = value.options if isinstance(value, Either) else value.values if isinstance(value, (Items, Table)) else ()
    return any(has(part, index) for part in inside)

"""Family 1 at the entry points: what is drawn before it is seeded, and seeds that do not fix anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from detlint.catalog import Catalog, Scalar
from detlint.checks.finding import Finding, Severity, Step, lowered
from detlint.checks.levels import is_test
from detlint.checks.match import Match, Matcher, known_constant
from detlint.config import Settings
from detlint.facts.model import Const, Expression, Member, Ref, Result, Span, Value
from detlint.program.flow import Draws, Flow, Place, Reach
from detlint.program.resolve import Module, Resolver

STATE_SETTERS: Final = frozenset({"seed", "manual_seed", "set_state", "setstate"})


def flow(resolver: Resolver, matcher: Matcher) -> Flow:
    """The seed flow over what the rule engine matches."""
    reader = SeedReader(resolver, matcher)
    return Flow(resolver, matcher.matches, matcher.target, reader.kind, reader.switch, reader.taken)


class SeedReader:
    """What the seed of a seeding call is, and which way a test goes by default."""

    def __init__(self, resolver: Resolver, matcher: Matcher) -> None:
        self.resolver = resolver
        self.matcher = matcher
        self.catalog: Catalog = resolver.catalog

    def kind(self, module: Module, site: int, match: Match) -> str:
        """`fixed`, `entropy` or `optional`."""
        entry = match.entry
        if not entry.seed:
            return "fixed"
        argument = match.arguments.get(entry.seed)
        if argument is None or argument.given is None:
            return "fixed"
        if argument.given is False and (argument.value is None or argument.value == Const(None)):
            return "entropy" if entry.absent == "entropy" else "fixed"
        value = self.matcher.by_default(module, argument.value)
        if value == Const(None):
            if argument.value == Const(None):
                return "fixed" if entry.absent == "fixed" else "entropy"
            return "fixed" if entry.absent == "fixed" else "optional"
        return "entropy" if self.is_entropy(value) else "fixed"

    def is_entropy(self, value: Value | None) -> bool:
        """Whether a value differs in every run: the clock, the process, the system's entropy."""
        while isinstance(value, (Result, Member)):
            if isinstance(value, Result) and isinstance(value.of, Ref):
                entries = self.catalog.calls.get(value.of.name, ())
                return any(self.catalog.entries[i].entropy for i in entries)
            value = value.of if isinstance(value, Result) else value.base
        if isinstance(value, Expression):
            return any(self.is_entropy(inner) for inner in value.names.values())
        return False

    def switch(self, module: Module, site: int, match: Match, value: Scalar) -> Scalar:
        """The value that a call gives a switch: a literal, or `=name` for that argument's."""
        if isinstance(value, str) and value.startswith("="):
            given = known_constant(match.arguments.get(value[1:]))
            return given if given is None or isinstance(given, (bool, int, float, str)) else True
        return value

    def taken(self, module: Module, test: Value) -> bool | None:
        """Whether a test holds when the user gives no option; None when that can't be known."""
        import libcst as cst
        import libcst.matchers as m

        from detlint.checks.expressions import parse

        if not isinstance(test, Expression):
            return None
        node = parse(test.text)
        negated = False
        while isinstance(node, cst.UnaryOperation) and m.matches(node.operator, m.Not()):
            node, negated = node.expression, not negated
        verdict = self._comparison(module, node, test.names) if node is not None else None
        return None if verdict is None else verdict is not negated

    def _comparison(self, module: Module, node: object, names: dict[str, Value | None]) -> bool | None:
        import libcst as cst
        import libcst.matchers as m

        if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
            left = self._operand(module, node.left, names)
            right = self._operand(module, node.comparisons[0].comparator, names)
            if not (isinstance(left, Const) and isinstance(right, Const)):
                return None
            operator, a, b = node.comparisons[0].operator, left.value, right.value
            if m.matches(operator, m.Is() | m.Equal()):
                return a == b
            if m.matches(operator, m.IsNot() | m.NotEqual()):
                return a != b
            if isinstance(a, (int, float)) and isinstance(b, (int, float)):
                if m.matches(operator, m.GreaterThan()):
                    return a > b
                if m.matches(operator, m.GreaterThanEqual()):
                    return a >= b
            return None
        if isinstance(node, (cst.Name, cst.Attribute)):
            value = self._operand(module, node, names)
            return bool(value.value) if isinstance(value, Const) else None
        return None

    def _operand(self, module: Module, node: object, names: dict[str, Value | None]) -> Value | None:
        """The default of `args.seed`, `seed`, `None`, `0`, `-1`."""
        import libcst as cst

        from detlint.checks.expressions import evaluate

        if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name):
            base = names.get(node.value.value)
            if base is not None:
                value = self.resolver.member(self.resolver.normal(module.path, base), node.attr.value)
                return self.matcher.by_default(module, value)
            return None
        if isinstance(node, cst.Name) and node.value in names:
            return self.matcher.by_default(module, self.resolver.normal(module.path, names[node.value]))
        if isinstance(node, cst.BaseExpression):
            return evaluate(Expression(cst.Module([]).code_for_node(node), {}))
        return None


class SeedRules:
    """Turns what entry points reach into findings, one for each entry point and cause."""

    def __init__(self, catalog: Catalog, settings: Settings, root: str) -> None:
        self.catalog = catalog
        self.settings = settings
        self.root = root
        self.rule_of = {stream: rule for rule in catalog.rules.values() for stream in rule.streams}

    def findings(self, reach: Reach) -> Iterator[Finding]:
        """The findings of one entry point."""
        yield from self._unseeded(reach)
        yield from self._entropy(reach)
        yield from self._optional(reach)
        yield from self._late(reach)

    def _unseeded(self, reach: Reach) -> Iterator[Finding]:
        fixed = [s for s in reach.seedings if s.kind == "fixed"]
        by_rule: dict[str, list[tuple[str, Draws]]] = {}
        for stream, draws in reach.unseeded.items():
            rule = self.rule_of.get(stream)
            if rule is not None and stream not in reach.late:
                by_rule.setdefault(rule.code, []).append((stream, draws))
        for code, group in by_rule.items():
            draws = min((d for _, d in group), key=lambda d: (len(d.path), d.first.module.path, d.first.site))
            count = sum(d.count for _, d in group)
            stream = group[0][0]
            rule = self.catalog.rules["DET113" if fixed else code]
            site = draws.first.module.sites[draws.first.site]
            api = _written(draws.first)
            more = f" (and {count - 1} more)" if count > 1 else ""
            steps = [*_path(reach, draws.path)]
            if fixed:
                other = fixed[0]
                message = f"the run seeds {_listed(other.streams)} but not {stream}, from which `{api}` draws{more}"
                steps.append(Step(other.place.module.path, _span(other.place), f"seeds {_listed(other.streams)}"))
            else:
                message = rule.message.format(api=api, value="") + more
            yield self._finding(
                rule.code, draws.first, message, self.catalog.rules[code].remedy, tuple(steps), site.span
            )

    def _entropy(self, reach: Reach) -> Iterator[Finding]:
        for seeding in dict.fromkeys(s for s in reach.seedings if s.kind == "entropy"):
            message = f"`{_written(seeding.place)}` takes a seed that differs in every run"
            yield self._finding("DET110", seeding.place, message, "", _path(reach, ()))

    def _optional(self, reach: Reach) -> Iterator[Finding]:
        by_place: dict[Place, list[str]] = {}
        for stream, seeding in reach.optional.items():
            if stream in reach.optional_drawn:
                by_place.setdefault(seeding.place, []).append(stream)
        for place, streams in by_place.items():
            message = f"the seed is optional, and without it {_listed(streams)} stays unseeded"
            yield self._finding("DET111", place, message, "", _path(reach, ()))

    def _late(self, reach: Reach) -> Iterator[Finding]:
        by_place: dict[Place, list[str]] = {}
        for stream, seeding in reach.late.items():
            by_place.setdefault(seeding.place, []).append(stream)
        for place, streams in by_place.items():
            draws = reach.unseeded[streams[0]]
            first = Step(draws.first.module.path, _span(draws.first), f"`{_written(draws.first)}` has drawn before")
            message = f"seeds {_listed(streams)} after the run has drawn from {'it' if len(streams) == 1 else 'them'}"
            yield self._finding("DET112", place, message, "", (first,))

    def _finding(
        self, code: str, place: Place, message: str, remedy: str, steps: tuple[Step, ...], span: Span | None = None
    ) -> Finding:
        rule = self.catalog.rules[code]
        severity: Severity = "error" if rule.level == "error" else "warning"
        if is_test(place.module.path, self.root):
            severity = lowered(severity)
        return Finding(
            place.module.path,
            span or _span(place),
            code,
            rule.name,
            severity,
            message,
            remedy or rule.remedy,
            steps=steps,
        )


def _span(place: Place) -> Span:
    return place.module.sites[place.site].span


def _written(place: Place) -> str:
    """The API at a place, by its own name."""
    target = place.module.sites[place.site].target
    if isinstance(target, (Result, Expression)):
        return "the call"
    name = target.name if isinstance(target, Ref) else target.attr if isinstance(target, Member) else "the call"
    return name.removeprefix(place.module.facts.module + ".").removeprefix("?.")


def _path(reach: Reach, path: tuple[Place, ...]) -> tuple[Step, ...]:
    """The way from the entry point to a place, call by call."""
    entry = reach.entry
    start = Step(entry.module.path, entry.span, f"the run starts here ({entry.kind})")
    return (start, *(Step(p.module.path, _span(p), f"calls `{_written(p)}`") for p in path))


def _listed(words: tuple[str, ...] | list[str]) -> str:
    return ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else words[0]


def seeded_later(module: Module, index: int) -> bool:
    """Whether a generator object made at a site gets its seed or state by a call of its own, in the same file."""
    kept = module.sites[index].use.removeprefix("assigned:").rpartition(".")
    for site in module.sites:
        target = site.target
        if site.kind != "call" or not isinstance(target, Member) or target.attr not in STATE_SETTERS:
            continue
        owner = target.base
        if isinstance(owner, Result) and owner.site == index:
            return True
        if kept[1] and isinstance(owner, Member) and owner.attr == kept[2]:
            return True
    return False

"""What several workers do to random numbers: DET304, copies of a generator, and NumPy before torch 1.9."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from detlint.checks.finding import Finding
from detlint.checks.levels import case_of, level
from detlint.domains.draws import makes_generator
from detlint.domains.matching.match import Matcher
from detlint.model.arguments import Argument
from detlint.model.module import Module
from detlint.model.runs.outcome import Outcome
from detlint.model.sites.records import Const, Result, Span
from detlint.model.tests import stands_in_test


def findings(module: Module, matcher: Matcher, runs: Sequence[Outcome]) -> Iterator[Finding]:
    """A finding for each attribute of a Dataset class that holds a generator object; none where no workers run.

    Args:
        runs: those that pass the module.
    """
    resolver, catalog = matcher.resolver, matcher.catalog
    datasets = [body for body in module.facts.classes if resolver.kinds.is_dataset(f"{module.path}::{body.name}")]
    if not datasets or _never_has_workers(module, matcher):
        return
    if runs and all(run.renews or not run.workers for run in runs):
        return
    for body in datasets:
        for name, value in body.attributes.items():
            if (
                isinstance(value, Result)
                and value.site >= 0
                and makes_generator(resolver.normal(module.path, value), catalog)
            ):
                message = f"`self.{name}` is a generator object on a Dataset: every worker draws the same numbers from its copy"
                yield _finding(module, module.sites[value.site].span, matcher, message)
        if not _seeds_workers(module, matcher):
            yield from copied(module, body.name, matcher)


def copied(module: Module, owner: str, matcher: Matcher, methods: Collection[str] | None = None) -> Iterator[Finding]:
    """The findings of what methods of a class draw from NumPy's stream in workers, to which it is copied as it is; what
    makes its objects draws before they begin.

    Args:
        methods: those that are called there, by their names in the file; None for all of them.
    """
    message = "NumPy's global stream is the same in every worker before torch 1.9"
    for index, site in enumerate(module.sites if _copies_numpy(matcher.versions(module)) else ()):
        function = module.function_of(site)
        own = function.owner == owner and not function.name.endswith(".__init__")
        if own and (methods is None or function.name in methods) and _draws(module, index, matcher, {"numpy"}):
            yield _finding(module, site.span, matcher, message)


def _finding(module: Module, span: Span, matcher: Matcher, message: str) -> Finding:
    rule = matcher.catalog.rules["DET304"]
    found = level(case_of(rule, matcher.settings, in_test=stands_in_test(module, matcher.catalog.testing)))
    return Finding(module.path, span, rule.code, rule.name, found.severity, message, rule.remedy)


def _loaders(module: Module, matcher: Matcher) -> Iterator[dict[str, Argument]]:
    """The arguments of the loaders that the file builds."""
    for index, site in enumerate(module.sites):
        for match in matcher.matches(module, index):
            if "loader" in match.entry.contexts and site.kind in ("call", "config"):
                yield match.arguments
                break


def _never_has_workers(module: Module, matcher: Matcher) -> bool:
    """Whether the file builds its loaders itself, and none of them has workers."""
    counts = [arguments.get("num_workers") for arguments in _loaders(module, matcher)]
    return bool(counts) and all(count is not None and count.value == Const(0) for count in counts)


def _seeds_workers(module: Module, matcher: Matcher) -> bool:
    given = [arguments.get("worker_init_fn") for arguments in _loaders(module, matcher)]
    return any(argument is not None and argument.given is not False for argument in given)


def _copies_numpy(versions: Mapping[str, str]) -> bool:
    """Whether torch is known to be older than 1.9, which began to seed NumPy in each worker."""
    if "torch" not in versions:
        return False
    from packaging.version import Version

    return Version(versions["torch"]) < Version("1.9")


def _draws(module: Module, index: int, matcher: Matcher, streams: set[str]) -> bool:
    return any(streams & set(match.entry.draws) for match in matcher.matches(module, index))

"""Where a run starts: a `__main__` block, a script whose top level acts, or a notebook."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from detlint.model.launches.launched import Started
from detlint.model.module import Module
from detlint.model.sites.records import Branch, Function, Ref, Span, Step, Value, sites


class EntryPoint(msgspec.Struct, frozen=True):
    """A place where a run starts: the function whose steps it takes, and the line that says so."""

    module: Module
    function: Function
    span: Span
    kind: str
    called: str = ""
    """The object that it calls after its steps, by name in the file: a group of commands, an application."""
    started: Started = Started()
    """What starts it."""


def entry_points(module: Module, declared: Iterable[str] = ()) -> list[EntryPoint]:
    """The entry points of one file.

    Args:
        declared: functions of it (by name in the file; "" for its top level) that a project's metadata or the
            configuration names.
    """
    top = module.facts.functions[0]
    found = []
    if module.facts.cells:
        first = next(sites(module.steps(top)), None)
        start = Span(module.facts.cells[0].line, 0, module.facts.cells[0].line, 0)
        found.append(EntryPoint(module, top, module.sites[first].span if first is not None else start, "notebook"))
    elif any(isinstance(step, Branch) and step.kind == "main" for step in module.steps(top)):
        found.append(EntryPoint(module, top, _main_span(module.steps(top)), "__main__"))
    elif module.path.endswith("__main__.py") and any(True for _ in sites(module.steps(top))):
        found.append(EntryPoint(module, top, Span(1, 0, 1, 0), "__main__.py"))
    for name in declared:
        if name and Ref(module.prefix + name) == _main_calls(module):
            continue  # the block is the same run
        function = module.functions.get(name) if name else top
        if function is None and name in module.facts.names:
            found.append(EntryPoint(module, top, Span(1, 0, 1, 0), "script", name))
        elif function is not None:
            first = next(sites(module.steps(function)), None)
            span = module.sites[first].span if first is not None else Span(1, 0, 1, 0)
            found.append(EntryPoint(module, function, span, "script"))
    return found


def script(module: Module) -> EntryPoint | None:
    """The top level of a file without a `__main__` block, as an entry point; None where it calls nothing."""
    top = module.facts.functions[0]
    first = next(sites(module.steps(top)), None)
    if first is None or not any(site.function == 0 and site.kind == "call" for site in module.sites):
        return None
    return EntryPoint(module, top, module.sites[first].span, "script")


def _main_span(steps: tuple[Step, ...]) -> Span:
    """Where the `__main__` block begins: `if __name__ == "__main__"`."""
    spans = [step.span for step in steps if isinstance(step, Branch) and step.kind == "main"]
    return spans[0] or Span(1, 0, 1, 0)


def _main_calls(module: Module) -> Value | None:
    """What the `__main__` block of a file calls, if that is all it does."""
    steps = module.steps(module.facts.functions[0])
    called = [module.sites[i].target for s in steps if isinstance(s, Branch) and s.kind == "main" for i in sites((s,))]
    return called[0] if len(called) == 1 else None

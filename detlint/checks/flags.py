"""Which parameters decide whether the flow of a function comes to a site."""

from __future__ import annotations

from detlint.facts.model import Branch, Step, flag_of


def flags_before(steps: tuple[Step, ...], index: int) -> list[tuple[str, bool]]:
    """The parameters that decide whether the flow of a function comes to a site, and what each must be."""
    found = _way_to(steps, index)
    return found if found is not None else []


def _way_to(steps: tuple[Step, ...], index: int) -> list[tuple[str, bool]] | None:
    """The flags on the way to a site; None where it isn't among the steps."""
    passed: list[tuple[str, bool]] = []
    for step in steps:
        if not isinstance(step, Branch):
            if step == index:
                return passed
            continue
        flag, first = flag_of(step.test) if step.kind == "if" and len(step.arms) == 2 else ("", True)
        for number, arm in enumerate(step.arms):
            way = _way_to(arm, index)
            if way is not None:
                return [*passed, *([(flag, (number == 0) is first)] if flag else ()), *way]
        if flag:
            leaves = [arm[-1:] == (-1,) for arm in step.arms]
            passed += [(flag, leaves[0] is not first)] if leaves[0] is not leaves[1] else ()
    return None

"""A rule's page, as text for the terminal or as data."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from detlint.catalog import Catalog, Condition, Entry, Rule

LEVELS = {"design": "note or warning by default, error with --profile align"}


def page(catalog: Catalog, rule: Rule) -> Iterator[str]:
    """Everything that the catalog says of a rule."""
    yield f"{rule.code} {rule.name}"
    yield "=" * len(f"{rule.code} {rule.name}")
    yield ""
    yield rule.summary
    yield ""
    yield f"Level: {LEVELS.get(rule.level, rule.level)}"
    yield ""
    yield from textwrap.wrap("Why: " + rule.why, 100)
    if rule.remedy:
        yield ""
        yield from textwrap.wrap("What to do: " + rule.remedy, 100)
    entries = [entry for entry in catalog.entries if entry.rule == rule.code]
    if entries:
        yield ""
        yield f"APIs ({sum(len(e.names) + len(e.registry) + len(e.sections) + len(e.copies) for e in entries)})"
        for entry in entries:
            yield ""
            yield from _entry(entry)
    if rule.source:
        yield ""
        yield f"Source: {rule.source}"


def _entry(entry: Entry) -> Iterator[str]:
    names = [
        *entry.names,
        *(f'type="{name}"' for name in entry.registry),
        *(f"{name} = dict(...)" for name in entry.sections),
        *(f"copies of {name}" for name in entry.copies),
    ]
    yield from textwrap.wrap("- " + ", ".join(names), 100, subsequent_indent="  ", break_long_words=False)
    if entry.when:
        yield "  when " + " and ".join(f"{name} {condition_text(c)}" for name, c in entry.when.items())
    facts = [
        f"on {', '.join(entry.targets)}" if entry.targets else "",
        "in the backward pass" if entry.pass_ == "backward" else "",
        "while training" if entry.while_training else "",
        entry.versions,
    ]
    if entry.becomes:
        yield "  when its result becomes " + " or ".join(kind.replace(":", " ").strip() for kind in entry.becomes)
    if any(facts):
        yield "  " + ", ".join(fact for fact in facts if fact)
    if entry.remedy:
        yield from textwrap.wrap(entry.remedy, 96, initial_indent="  ", subsequent_indent="  ")


def condition_text(condition: Condition) -> str:
    """A condition in words."""
    parts = []
    if condition.given is not None:
        parts.append("is given" if condition.given else "is not given")
    if condition.in_ is not None:
        parts.append("is " + " or ".join(map(repr, condition.in_)))
    if condition.not_in is not None:
        parts.append("is not " + " nor ".join(map(repr, condition.not_in)))
    if condition.above is not None:
        parts.append(f"> {condition.above:g}")
    if condition.below is not None:
        parts.append(f"< {condition.below:g}")
    if condition.sequence is not None:
        parts.append("is a range" if condition.sequence else "is one value")
    if condition.accelerator is not None:
        parts.append("is an accelerator" if condition.accelerator else "is the CPU")
    if condition.device is not None:
        parts.append("is a device of " + " or ".join(condition.device))
    if condition.not_device is not None:
        parts.append("is no device of " + " nor ".join(condition.not_device))
    if condition.length is not None:
        parts.append(f"has {' or '.join(map(str, condition.length))} items")
    if condition.not_length is not None:
        parts.append(f"has not {' or '.join(map(str, condition.not_length))} items")
    if condition.type is not None:
        parts.append(f"is a {condition.type}")
    if condition.contains is not None:
        parts.append(f"contains {condition.contains!r}")
    if condition.draws:
        parts.append(f"draws from {' or '.join(condition.draws)}")
    return " and ".join(parts)


def data(catalog: Catalog, rule: Rule) -> dict[str, Any]:
    """A rule's page as plain data."""
    entries = [entry for entry in catalog.entries if entry.rule == rule.code]
    return {
        "code": rule.code,
        "name": rule.name,
        "level": rule.level,
        "summary": rule.summary,
        "why": rule.why,
        "remedy": rule.remedy,
        "source": rule.source,
        "apis": [
            {
                "names": [*e.names],
                "registry": [*e.registry],
                "sections": [*e.sections],
                "copies": [*e.copies],
                "when": {name: condition_text(c) for name, c in e.when.items()},
                "targets": [*e.targets],
                "pass": e.pass_,
                "versions": e.versions,
                "remedy": e.remedy,
                "source": e.source,
            }
            for e in entries
        ],
    }

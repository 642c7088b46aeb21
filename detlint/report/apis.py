"""The APIs of a rule as tables, a table for each library: when they count, what happens, and what to do."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Final

from detlint.catalog import Condition, Entry
from detlint.fixes.wording import fix_text
from detlint.report.document import Table, escaped

_NUMBERS: Final = {"whole": "holds whole numbers", "half": "holds floating-point numbers of 16 bits"}

TARGETS: Final = {
    "cpu": "CPU",
    "cuda": "CUDA",
    "ascend": "Ascend",
    "tpu": "TPU",
    "mps": "MPS",
    "xpu": "XPU",
    "hpu": "HPU",
}
SWITCHED: Final = {
    "a": "raises under the deterministic switch",
    "b": "deterministic under the switch",
    "c": "deterministic with an environment variable",
    "d": "no switch reaches it",
}
"""Category of an operator -> what the deterministic switch does to it."""
RUNTIME: Final = {
    "off": "turns it off",
    "cpu": "runs it on the CPU",
    "cpu-draw": "draws on the CPU, then moves the numbers",
    "seed": "gives it a seed",
    "replace": "puts its deterministic counterpart in its place",
    "counterpart": "has its deterministic counterpart work in its place",
    "sequential": "takes the items in order, with one worker",
}
"""What the runtime companion does, by the catalog's word for it."""
FEW: Final = 10
"""Up to so many rows, a table's folds are open."""


def tables(entries: Sequence[Entry], switch: str = "") -> Iterator[Table]:
    """A table for each library. Names for which all else is equal share a row.

    Args:
        switch: tell what the entries set this switch to, instead of what is found.
    """
    libraries: dict[str, dict[tuple[tuple[str, ...], ...], dict[str, None]]] = {}
    for entry in entries:
        cells = tuple(
            map(
                tuple,
                (_when(entry), _sets(entry, switch) if switch else _what(entry), () if switch else _remedy(entry)),
            )
        )
        for library, name in _names(entry):
            libraries.setdefault(library, {}).setdefault(cells, {})[name] = None
    many = sum(map(len, libraries.values())) > FEW
    for library, rows in sorted(libraries.items(), key=lambda item: item[0].lower()):
        count = sum(map(len, rows.values()))
        yield Table(
            ("API", "When", "What", "Remedy"),
            [([*names], *cells) for cells, names in rows.items()],
            f"{library}: {count} API{'s' if count > 1 else ''}",
            not many or len(libraries) == 1,
        )


def _names(entry: Entry) -> Iterator[tuple[str, str]]:
    """The library of each name, and the name as it is shown."""
    for name in entry.names:
        root = name.partition(".")[0]
        if entry.kind == "environment":
            yield "Environment variables", f"`{name}`"
        elif entry.kind == "unknown-member":
            yield root, f"`{name}`: any other member"
        elif entry.kind == "mention":
            yield root, f"`{name}`, named and not called"
        elif entry.kind == "order":
            yield "Python", f"`{name.removeprefix('builtins.')}` of a set"
        else:
            plain = "." not in name or root in sys.stdlib_module_names
            yield "Python" if plain else root, f"`{name}`" + (" =" if entry.kind == "assignment" else "")
    library = next((name.partition(".")[0] for name in entry.names), "By name")
    for name in entry.registry:
        yield library, f'`type="{name}"`'
    for name in entry.sections:
        yield library, f"`{name} = dict(...)`"
    for name in entry.copies:
        yield library, f"copies of `{name}`"


def _when(entry: Entry) -> Iterator[str]:
    if entry.when:
        asked = " and ".join(f"`{name}` {escaped(condition_text(c))}" for name, c in entry.when.items())
        yield asked + (", or where that can't be told" if entry.unsure == "report" else "")
    where = [
        f"on {', '.join(TARGETS[target] for target in entry.targets)}" if entry.targets else "",
        "in the backward pass" if entry.pass_ == "backward" else "",
        "while training" if entry.while_training else "",
        f"where its result becomes {' or '.join(kind.replace(':', ' ').strip() for kind in entry.becomes)}"
        if entry.becomes
        else "",
        escaped(entry.versions),
    ]
    if any(where):
        yield "; ".join(part for part in where if part)


def _what(entry: Entry) -> Iterator[str]:
    if entry.message:
        name = (entry.names or entry.registry or entry.sections or entry.copies)[0].rpartition(".")[2]
        yield _sentence(entry.message.replace("`{api}`", "it").replace("{api}", name))
    if entry.category:
        yield _sentence(SWITCHED[entry.category])
    if entry.level:
        yield f"Level: {entry.level}."
    if entry.note:
        yield entry.note


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "`")) else ".")


def _sets(entry: Entry, switch: str) -> Iterator[str]:
    value = entry.sets[switch]
    if isinstance(value, bool):
        yield f"Switches it {'on' if value else 'off'}."
    elif isinstance(value, str) and value.startswith("="):
        yield f"Switches it on or off, as `{value[1:]}` says."
    else:
        yield f"Sets it to `{value}`."
    if entry.note:
        yield entry.note


def _remedy(entry: Entry) -> Iterator[str]:
    if entry.remedy:
        yield entry.remedy
    if entry.fix is not None:
        yield f"*Fix:* {fix_text(entry.fix)} ({entry.fix.applicability})"
    if entry.runtime is not None:
        yield f"*Runtime:* {RUNTIME[entry.runtime.do]}"


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
    if condition.sum_above is not None:
        parts.append(f"adds up to more than {condition.sum_above:g}")
    if condition.type is not None:
        parts.append(_NUMBERS.get(condition.type, f"is a {condition.type}"))
    if condition.not_type is not None:
        parts.append("may hold other than whole numbers")
    if condition.dense_for:
        parts.append(f"puts places into more than two windows of `{condition.dense_for}`")
    if condition.sparse_for:
        parts.append(f"puts no place into more than two windows of `{condition.sparse_for}`")
    if condition.not_only:
        parts.append("has more than " + ", ".join(f"`{name}`" for name in condition.not_only))
    if condition.contains is not None:
        parts.append(f"contains {condition.contains!r}")
    if condition.draws:
        parts.append(f"draws from {' or '.join(condition.draws)}")
    return " and ".join(parts)

"""What the catalog knows of an operator that a trace has found, and what the linter finds in the source that called it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from detlint.tracing.calls import Call
from detlint.tracing.cause import Cause
from detlint.tracing.events import is_recorded, sort_of

if TYPE_CHECKING:
    from detlint.catalog import Catalog, Entry
    from detlint.checks.finding import Finding
    from detlint.project import Project

_TARGETS: Final = {"npu": "ascend", "cuda": "cuda", "cpu": "cpu", "xpu": "xpu", "mps": "mps"}
_OWNERS: Final = {
    "torch": (
        "torch.nn.functional.", "torch.", "torch.Tensor.", "torch.linalg.", "torch.special.", "torchvision.ops.",
    ),
    "mindspore": ("mindspore.ops.", "mindspore.mint.", "mindspore.mint.nn.functional.", "mindspore.Tensor.", "mindspore.nn."),
    "tensorflow": ("tensorflow.", "tensorflow.math.", "tensorflow.nn.", "tensorflow.image.", "tensorflow.raw_ops."),
}  # fmt: skip
"""Where a framework's operators are found by their names."""
_NODE: Final = re.compile(r"(?P<function>\w+?)Backward\d*")
_FAMILIES: Final = {
    "data": "13",
    "random": "13",
    "control": "13",
    "memory": "",
    "kernel": "46",
    "collective": "6",
    "crash": "",
}
"""The families of rules that may speak of a cause."""
_SILENT: Final = {"torch": "DET408"}
"""The rule about operators that no other rule knows."""
_BY_CATEGORY: Final = {"a": "DET401", "b": "DET402", "d": "DET408"}
"""The rule about an operator of which the linter says nothing by itself, for the source doesn't show whether it varies."""
_STREAMS: Final = {"tensorflow": "tensorflow", "mindspore": "mindspore"}
_COMMUNICATION: Final = "DET605"
_ENTROPY: Final = "DET110"
_UNSEEN_SEEDS: Final = frozenset({"DET110"})
_UNSEEN: Final = _UNSEEN_SEEDS | {"DET103", "DET107", "DET108", "DET115", "DET304", "DET305", "DET306"}
"""Rules about what enters a run and may have no row: orders of hashes, generators that libraries make, seeds of streams that aren't
followed."""
_PYTHON: Final = {"random": "python", "numpy": "numpy"}
_FRAMEWORKS: Final = frozenset({"torch", "mindspore", "tensorflow", "keras", "jax", "flax", "optax", "haiku", "paddle"})
_WITHIN: Final = {"tensorflow": "keras", "pytorch": "torch"}
"""What a framework is called besides, or brings along; msprobe calls PyTorch by its other name."""
_MOST: Final = 5


@dataclass
class Known:
    """What is known of a cause.

    Attributes:
        code: the rule; empty where none speaks of it.
        api: the name under which the catalog knows the operator.
        findings: what the linter finds at the lines that lead to the operator; for a cause whose line can't be told by a
            trace, what it finds in those files.
        near: whether the findings stand at those lines.
        blamed: the finding that explains what the trace can't see, at another line than the operator's.
    """

    code: str = ""
    name: str = ""
    api: str = ""
    message: str = ""
    why: str = ""
    remedy: str = ""
    findings: list[Finding] = field(default_factory=list)
    near: bool = False
    blamed: Finding | None = None


def known(cause: Cause, project: Project, framework: str = "torch") -> Known:
    """The rule, the findings, and what to do."""
    call = cause.shown
    found = Known()
    if call is not None:
        found = _rule(cause, project.catalog, framework)
        found.findings, found.near = _findings(cause, call, project, found.code, framework)
        if cause.kind in ("data", "random", "control") and not call.event:
            found.blamed = _blamed(cause, call, found)
        found.findings = found.findings[:_MOST]
    first = found.blamed or (found.findings[0] if found.near else None)
    if first is not None and first.code != found.code:
        rule = project.catalog.rules[first.code]
        found.code, found.name, found.why = first.code, rule.name, rule.why
        found.message, found.remedy = first.message, first.remedy
    return found


def _blamed(cause: Cause, call: Call, found: Known) -> Finding | None:
    """What explains a difference that the trace shows only later: an order of hashes, a seed that differs in every run.

    What the trace records is no explanation where it doesn't differ: draws, listings, the order in which loaders shuffle.
    """
    place = call.place
    if place is None or any(
        f.path == place.file and f.span.line <= place.line <= f.span.end_line for f in found.findings
    ):
        return None
    codes = _UNSEEN_SEEDS if cause.kind == "random" else _UNSEEN
    likely = [f for f in found.findings if f.code in codes and not is_recorded(f.api)]
    above = [f for f in likely if f.path == place.file and f.span.line <= place.line]
    return above[-1] if above else likely[0] if likely else None


def names(cause: Cause, framework: str) -> Iterator[str]:
    """The names under which a catalog may know the operator: what the program called, then the kernels."""
    for call in (cause.shown, cause.call):
        if call is None:
            continue
        yield from (call.api,) if call.api else ()
        namespace, _, rest = call.op.partition(".")
        kernel = rest.partition(".")[0]
        plain = re.sub(r"_(backward|forward)(_.*)?$", "", kernel)
        for name in dict.fromkeys((kernel, plain)):
            yield from (f"{owner}{name}" for owner in _OWNERS.get(framework, ()))
            yield f"{namespace}.{name}"


def _rule(cause: Cause, catalog: Catalog, framework: str) -> Known:
    if cause.call is not None and cause.call.event:
        return _of_event(cause.call, catalog)
    if cause.kind == "random":
        stream = _STREAMS.get(framework) or _stream(cause)
        code = next((rule.code for rule in catalog.rules.values() if stream in rule.streams), "")
        return _of_code(catalog, code)
    if cause.kind == "collective":
        return _of_code(catalog, _COMMUNICATION)
    if cause.kind != "kernel":
        return Known()
    for name, entry in _entries(cause, catalog, framework):
        rule = catalog.rules[entry.rule or _BY_CATEGORY[entry.category]]
        said = (entry.message or rule.message).replace("{api}", name)
        return Known(rule.code, rule.name, name, said, rule.why, entry.remedy or rule.remedy)
    return _of_code(catalog, _SILENT.get(framework, "")) if cause.call is not None and not cause.unseen else Known()


def _of_event(call: Call, catalog: Catalog) -> Known:
    """The rule about a function of Python's, or NumPy's."""
    if sort_of(call.op) in ("seed", "chance"):
        return _of_code(catalog, _ENTROPY)
    for i in catalog.calls.get(catalog.canonical(call.op), ()):
        entry = catalog.entries[i]
        if entry.rule and entry.rule[3] in _FAMILIES["data"]:
            found = _of_code(catalog, entry.rule)
            found.remedy = entry.remedy or found.remedy
            return found
    stream = call.op.partition(".")[0]
    return _of_code(
        catalog, next((rule.code for rule in catalog.rules.values() if _PYTHON.get(stream) in rule.streams), "")
    )


def _stream(cause: Cause) -> str:
    """PyTorch has a stream for each kind of device."""
    device = next((v.device for v in (*cause.call.inputs, *cause.call.outputs)), "cpu") if cause.call else "cpu"
    return "torch" if device.startswith("cpu") else device.partition(":")[0]


def _of_code(catalog: Catalog, code: str) -> Known:
    rule = catalog.rules.get(code)
    return Known() if rule is None else Known(code, rule.name, "", "", rule.why, rule.remedy)


def _entries(cause: Cause, catalog: Catalog, framework: str) -> list[tuple[str, Entry]]:
    """The entries about operators, the one for this device and this pass first."""
    call = cause.call
    assert call is not None
    device = next((v.device for v in (*call.inputs, *call.outputs)), "cpu").partition(":")[0]
    wanted = "backward" if call.backward else "forward"
    found: list[tuple[str, Entry]] = []
    for name in names(cause, framework):
        public = catalog.canonical(name)
        found.extend((public, catalog.entries[i]) for i in catalog.calls.get(public, ()))
    for part in _parts(cause):
        found.extend((part, catalog.entries[i]) for i in catalog.copies.get(part, ()))
        found.extend((name, catalog.entries[i]) for name in _ending(catalog, part) for i in catalog.calls[name])
    target = _TARGETS.get(device)
    found = [
        (name, entry)
        for name, entry in found
        if not _is_foreign(name, framework)
        and (
            entry.rule.startswith("DET4")
            or (not entry.rule and entry.category in _BY_CATEGORY and target in entry.targets)
        )
    ]
    return sorted(found, key=lambda pair: (target not in pair[1].targets, pair[1].pass_ != wanted))


def _is_foreign(name: str, framework: str) -> bool:
    """Whether an API is another framework's than the one that ran."""
    first = name.partition(".")[0]
    return first in _FRAMEWORKS and first not in (framework, _WITHIN.get(framework))


def _parts(cause: Cause) -> Iterator[str]:
    """Names of classes and functions that the calls go through: those of a copied extension tell what it is."""
    for call in (cause.shown, cause.call):
        if call is None:
            continue
        if node := _NODE.fullmatch(call.node.rpartition("::")[2]):
            yield node["function"]
        yield call.op.partition(".")[2].partition(".")[0]
        for place in call.stack[:2]:
            yield from (part for part in place.function.split(".") if part not in ("forward", "backward", "<locals>"))


def _ending(catalog: Catalog, last: str) -> list[str]:
    """What the catalog knows by a name of this ending, if it is no word that anybody might use."""
    if len(last) < 8 or (last.islower() and "_" not in last):
        return []
    return [name for name in catalog.calls if name.endswith(f".{last}")]


def _findings(cause: Cause, call: Call, project: Project, code: str, framework: str) -> tuple[list[Finding], bool]:
    """Findings at the lines of a call, those of its rule first; else what may explain the cause in its files."""
    root = project.config.root.absolute()
    files = [*dict.fromkeys(Path(place.file) for place in call.stack if _is_source(Path(place.file), root))]
    if not files:
        return [], False
    found = [
        f
        for f in project.bare().check(files, files).findings
        if f.code[3] in _FAMILIES[cause.kind]
        and not _is_foreign(f.api, framework)
        and (cause.kind == "kernel" or f.severity != "note")
    ]
    here = [
        f
        for place in call.stack
        for f in found
        if f.path == place.file and f.span.line <= place.line <= f.span.end_line
    ]
    if cause.kind == "kernel":
        here = [f for f in here if f.code == code]
    if here:
        return [*dict.fromkeys(here)][:_MOST], True
    if cause.kind == "kernel":
        return [], False
    return found, False


def _is_source(file: Path, root: Path) -> bool:
    """Whether a file is one of the project's own: what is installed isn't."""
    return file.suffix == ".py" and root in file.parents and "site-packages" not in file.parts and file.is_file()

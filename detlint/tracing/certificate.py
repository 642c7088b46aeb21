"""A certificate: what a run's repeatability rests on, and what of that has changed since.

Everything is a table of texts by name, so that two certificates are compared line by line: seeds and where they are set, switches,
operators, libraries, machine, environment, code, files that are read, and what was computed.
"""

from __future__ import annotations

import ast
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click
import msgspec
from xxhash import xxh3_64_hexdigest

from detlint.runtime.launch import NotStarted
from detlint.tracing import basis, environment, kept_file, losses
from detlint.tracing.calls import calls
from detlint.tracing.cause import Cause
from detlint.tracing.known import names
from detlint.tracing.locate import window
from detlint.tracing.output_tail import last
from detlint.tracing.reader import Trace, Unreadable, traces
from detlint.tracing.start import Program
from detlint.tracing.watch import Watch
from detlint.visible import visible

Section = dict[str, str]
_FORMAT: Final = 1
_TITLES: Final = {
    "seeds": "Seeds, and where they are set", "switches": "Switches", "environment": "Environment", "enforced": "Enforced by detlint",
    "libraries": "Libraries", "machine": "Machine", "operators": "Operators, and what the catalog says of them",
    "code": "Code that was imported", "files": "Files that were read", "computed": "What was computed",
}  # fmt: skip
_IGNORED: Final = ("DETLINT_", "RANK", "LOCAL_RANK", "TORCHELASTIC_")
_LARGEST: Final = 256 << 20
"""Bytes of a file that are digested; of a larger one, the size counts."""


class Certificate(msgspec.Struct, kw_only=True):
    """What a run rests on.

    Attributes:
        program: as for `python`; `iterations`: how many were run, 0 for all.
        places: of each seed, its line, which isn't compared.
        assumed: what nobody has looked at.
    """

    format: int = _FORMAT
    program: list[str]
    iterations: int
    as_is: bool
    sections: dict[str, Section]
    places: Section = {}
    assumed: list[str] = []


class Change(msgspec.Struct, frozen=True):
    """Something that isn't as it was; empty where it is missing."""

    section: str
    name: str
    before: str
    now: str


def read(path: Path) -> Certificate:
    """A certificate.

    Raises:
        NotStarted: the file is none.
    """
    return kept_file.read(
        path, Certificate, _FORMAT,
        made=f"detlint certify -o {path} SCRIPT",
        other="no certificate that `detlint certify` wrote",
        old="a certificate of another version of detlint; write it anew",
    )  # fmt: skip


def certified(program: Program, folder: Path, iterations: int) -> Certificate:
    """Run a program once, traced, and tell what it rests on.

    Raises:
        NotStarted: it can't be started, or fails.
        TimedOut: it takes too long.
    """
    into, output = folder / "certified", folder / "certified.txt"
    into.mkdir(parents=True)
    steps = window(None, iterations)
    watch = Watch(losses=str(into), iterations=iterations, trace=str(into), steps=steps, basis=str(into))
    if code := program.run(watch, output):
        raise NotStarted(f"the program failed with exit code {code}:\n{last(output)}")
    parts = basis.read(into)
    if not parts:
        raise NotStarted("the program left nothing to certify: it ended by a signal, or by `os._exit`")
    sections: dict[str, Section] = {name: {} for name in _TITLES}
    sections["libraries"] = {name: value for name, value in environment.versions().items() if name != "detlint"}
    sections["machine"] = {"Python": environment.interpreter(), "platform": environment.machine()}
    sections["environment"] = {k: v for k, v in environment.variables().items() if not k.startswith(_IGNORED)}
    sections["enforced"] = {name: str(value) for name, value in (program.enforced or {}).items()}
    certificate = Certificate(
        program=[*program.arguments], iterations=iterations, as_is=program.enforced is None, sections=sections
    )
    for part in parts.values():
        _of_process(part, certificate)
    for file in sorted(into.glob(f"*{losses.SUFFIX}")):
        sections["computed"] |= {
            f"{file.stem}, loss {i}": f"{loss.value!r} ({loss.bits} {loss.state})".replace(" )", ")")
            for i, loss in enumerate(losses.read(file))
        }
    _of_traces(into, certificate)
    certificate.assumed = [*_assumed(certificate)]
    return certificate


def _of_process(part: basis.Basis, certificate: Certificate) -> None:
    sections = certificate.sections
    for seed, count in part.seeds:
        where = f"{_relative(seed.file)}" if seed.file else "detlint"
        name = f"{seed.api}({seed.value}) in {where}"
        sections["seeds"][name] = f"{int(sections['seeds'].get(name, '0').split()[0]) + count} times"
        certificate.places[name] = f"{where}:{seed.line}" if seed.file else ""
    for source in part.sources:
        sections["code"] |= _code(Path(source))
    for file in part.read:
        if (digest := _file(Path(file))) is not None:
            sections["files"][_relative(file)] = digest


def _of_traces(folder: Path, certificate: Certificate) -> None:
    from detlint.catalog import load

    sections, catalog = certificate.sections, load()
    try:
        files = traces(folder)
    except Unreadable:
        files = []
    for file in files:
        header = Trace.open(file).header
        sections["libraries"] |= {name: value for name, value in header.versions.items() if name != "detlint"}
        sections["switches"] |= header.flags
        sections["environment"] |= {k: v for k, v in header.environment.items() if not k.startswith(_IGNORED)}
        sections["machine"] |= {
            "Python": header.python, "platform": header.platform, "devices": ", ".join(header.devices), "threads": str(header.threads),
        }  # fmt: skip
        counts: Counter[str] = Counter()
        rules: dict[str, set[str]] = {}
        for call in calls(file):
            counts[call.op] += 1
            found = names(Cause("kernel", "", call), header.framework)
            rules.setdefault(call.op, set()).update(
                catalog.entries[i].rule
                for name in found
                for i in catalog.calls.get(name, ())
                if catalog.entries[i].rule[:4] == "DET4"
            )
        for op, count in counts.items():
            sections["operators"][op] = f"{count} calls" + (f"; {', '.join(sorted(rules[op]))}" if rules[op] else "")


def _assumed(certificate: Certificate) -> Iterator[str]:
    yield (
        "what repeats in these iterations repeats in later ones"
        if certificate.iterations
        else "what repeated once repeats again"
    )
    if not certificate.sections["operators"]:
        yield "no framework's operators were seen"
    yield "files outside of the current folder, the network and the clock change nothing"
    varying = sorted(
        {
            code
            for said in certificate.sections["operators"].values()
            for code in said.partition("; ")[2].split(", ")
            if code
        }
    )
    if varying:
        yield f"operators that may vary on other devices or without their switches ({', '.join(varying)}) repeat here, as they were seen to"


def _code(path: Path) -> Section:
    """The digest of each function and class of a file, and of what else stands in it; no comment, docstring or layout counts."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {_relative(path): "unreadable"}
    parts: dict[str, list[str]] = {}
    for node in tree.body:
        for inner in ast.walk(node):
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and _is_text(inner.body[0]):
                inner.body = inner.body[1:] or [ast.Pass()]
        if not _is_text(node):
            parts.setdefault(getattr(node, "name", "") or "<module>", []).append(ast.dump(node))
    return {f"{_relative(path)}: {name}": xxh3_64_hexdigest("\n".join(texts).encode()) for name, texts in parts.items()}


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _file(path: Path) -> str | None:
    try:
        size = path.stat().st_size
        return f"{size} bytes, {xxh3_64_hexdigest(path.read_bytes())}" if size <= _LARGEST else f"{size} bytes"
    except OSError:
        return None


def _relative(path: str | Path) -> str:
    try:
        return Path(path).relative_to(Path.cwd()).as_posix()
    except ValueError:
        return os.fspath(path)


def changes(before: Certificate, now: Certificate) -> list[Change]:
    """What isn't as it was."""
    return [
        Change(section, name, ours.get(name, ""), others.get(name, ""))
        for section in _TITLES
        for ours, others in [(_of(before.sections, section), _of(now.sections, section))]
        for name in sorted({*ours, *others})
        if ours.get(name) != others.get(name)
    ]


def _of(sections: Mapping[str, Section], name: str) -> Section:
    return sections.get(name, {})


def lines(certificate: Certificate) -> Iterator[str]:
    """It for people."""
    for section, title in _TITLES.items():
        table = certificate.sections.get(section, {})
        if table:
            yield click.style(title, bold=True)
            for name, value in sorted(table.items()):
                place = certificate.places.get(name, "")
                yield f"  {visible(name)}: {visible(value)}" + (
                    f" ({visible(place)})" if section == "seeds" and place else ""
                )
    yield click.style("Assumed", bold=True)
    yield from (f"  {visible(said)}" for said in certificate.assumed)


def told(found: list[Change]) -> Iterator[str]:
    """What has changed, for people."""
    for change in found:
        said = f"{change.name}: was {change.before or 'missing'}, is {change.now or 'missing'}"
        yield f"{click.style('changed', fg='red', bold=True)}[{change.section}]: {visible(said)}"
    if found:
        yield f"The certificate is {click.style('revoked', fg='red', bold=True)}: {len(found)} things have changed."
    else:
        holds = click.style("holds", fg="green", bold=True)
        yield f"The certificate {holds}: all that it rests on is as it was, and so is what was computed."


def encoded(certificate: Certificate) -> bytes:
    """It as a file."""
    return msgspec.json.format(msgspec.json.encode(certificate), indent=2) + b"\n"


def changed_json(found: list[Change]) -> dict[str, Any]:
    """What has changed, for programs."""
    return {"holds": not found, "changes": msgspec.to_builtins(found)}

"""Reads and checks the files of a catalog: an error names the file, the entry, the key and the reason."""

from __future__ import annotations

import ast
from typing import Any, TypeVar

import msgspec

from detlint.catalog.entries import (
    CODE,
    STREAMS,
    CatalogError,
    Document,
    Entry,
    Factory,
    Framework,
    KernelLanguage,
    Launcher,
    Rule,
    SettingsFile,
    Signature,
)

_T = TypeVar("_T")

TABLES = {
    "api": list, "rule": list, "framework": list, "factory": list, "settings-file": list, "launcher": list, "kernel-language": list,
    "signatures": dict, "aliases": dict,
}  # fmt: skip
"""What a catalog file may hold."""


def _fail(path: str, entry: str, reason: str) -> CatalogError:
    return CatalogError(f"{path}: {entry}: {reason}")


def _convert(path: str, label: str, raw: object, kind: type[Any]) -> Any:
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        text = str(error)
        reason, _, place = text.partition(" - at ")
        key = place.strip("`").removeprefix("$").lstrip(".")
        raise _fail(path, label, f"key `{key}`: {reason}" if key else reason) from None


def _signature(path: str, name: str, text: object) -> msgspec.Raw:
    """Parse `"input, p=0.5, *, training=True"` to an encoded `Signature`: (parameter, default); `...` stands for no default."""
    if not isinstance(text, str):
        raise _fail(path, f"[signatures] {name}", "must be a string of parameters, as in a `def`")
    try:
        arguments = ast.parse(f"def f({text}): ...").body[0].args  # type: ignore[attr-defined]
        positional = [*arguments.posonlyargs, *arguments.args]
        missing = [None] * (len(positional) - len(arguments.defaults))
        pairs = [*zip(positional, [*missing, *arguments.defaults], strict=True)]
        stop = [("*" + (arguments.vararg.arg if arguments.vararg else ""), "...")]
        stop = stop if arguments.vararg or arguments.kwonlyargs else []
        keyword = [*zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
        read = [(a.arg, "..." if d is None else ast.literal_eval(d)) for a, d in [*pairs, *keyword]]
        if len({parameter for parameter, _ in read}) < len(read):
            raise ValueError("a parameter is named twice")
        signature: Signature = [*read[: len(pairs)], *stop, *read[len(pairs) :]]
        return msgspec.Raw(msgspec.msgpack.encode(signature))
    except (SyntaxError, ValueError, TypeError, OverflowError, RecursionError, MemoryError) as error:
        raise _fail(path, f"[signatures] {name}", f"not a parameter list with literal defaults ({error})") from None


def _check_entry(path: str, label: str, entry: Entry) -> None:
    if not (entry.names or entry.registry or entry.sections or entry.copies):
        raise _fail(path, label, "key `names`: at least one of `names`, `registry`, `sections`, `copies` is needed")
    if entry.rule and not CODE.fullmatch(entry.rule):
        raise _fail(path, label, f"key `rule`: `{entry.rule}` is not a code (DET and three digits)")
    if entry.rule and not entry.source:
        raise _fail(path, label, "key `source`: say which page or file the fact comes from")
    _check_versions(path, label, "versions", entry.versions)
    absent = [entry.absent] if entry.absent not in ("", "fixed", "entropy") else []
    handed = [stream for condition in entry.when.values() for stream in condition.draws]
    named = (
        ("draws", entry.draws), ("seeds", entry.seeds), ("unseeds", entry.unseeds), ("restores", entry.restores),
        ("absent", absent), ("when", handed),
    )  # fmt: skip
    for key, streams in named:
        if unknown := set(streams) - STREAMS:
            raise _fail(
                path, label, f"key `{key}`: there is no stream `{min(unknown)}`; known are {', '.join(sorted(STREAMS))}"
            )
    if entry.kind == "unknown-member" and not entry.known:
        raise _fail(path, label, "key `known`: list the members that do exist")


def _check_versions(path: str, label: str, key: str, versions: str) -> None:
    if not versions:
        return
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        Requirement(versions)
    except InvalidRequirement:
        raise _fail(path, label, f"key `{key}`: `{versions}` is no requirement such as `torch >= 2.1`") from None


def _check_factory(path: str, label: str, factory: Factory) -> None:
    if not (factory.key or factory.tags or factory.partial_tags):
        raise _fail(path, label, "key `key`: a key or tags are needed")
    for tag in (*factory.tags, *factory.partial_tags):
        if not tag.startswith("!"):
            raise _fail(path, label, f"key `tags`: `{tag}` is no YAML tag; they begin with `!`")
    if factory.required and not factory.arguments:
        raise _fail(path, label, "key `required`: name the key of the arguments, which must be there, in `arguments`")


def parse(path: str, data: bytes) -> Document:
    """Read one catalog file.

    Raises:
        CatalogError: not TOML, an unknown key, or a wrong value.
    """
    from detlint import toml  # a compiled catalog needs none

    try:
        raw = toml.parse(data)
    except toml.TomlError as error:
        raise CatalogError(f"{path}: not valid TOML: {error}") from None
    if unknown := set(raw) - TABLES.keys():
        raise CatalogError(f"{path}: unknown table `{min(unknown)}`; known are {', '.join(sorted(TABLES))}")
    for table, kind in TABLES.items():
        if not isinstance(raw.get(table, kind()), kind):
            raise CatalogError(f"{path}: `{table}` must be written as {'[[' + table + ']]' if kind is list else table}")
    entries = []
    for number, row in enumerate(raw.get("api", []), 1):
        label = f"[[api]] {number}"
        if isinstance(row, dict) and isinstance(row.get("names"), list) and row["names"]:
            label += f" ({row['names'][0]})"
        row = _expand(row)
        entry = _convert(path, label, row, Entry)
        _check_entry(path, label, entry)
        entries.append(entry)
    rules = []
    for number, row in enumerate(raw.get("rule", []), 1):
        rule = _convert(path, f"[[rule]] {number}", row, Rule)
        if not CODE.fullmatch(rule.code):
            raise _fail(path, f"[[rule]] {number}", f"key `code`: `{rule.code}` is not a code (DET and three digits)")
        rules.append(rule)
    frameworks = _rows(path, raw, "framework", Framework)
    for number, framework in enumerate(frameworks, 1):
        for versions in framework.switch.calls if framework.switch is not None else ():
            _check_versions(path, f"[[framework]] {number}", "switch.calls", versions)
    factories = _rows(path, raw, "factory", Factory)
    for number, factory in enumerate(factories, 1):
        _check_factory(path, f"[[factory]] {number}", factory)
    settings_files = _rows(path, raw, "settings-file", SettingsFile)
    launchers = _rows(path, raw, "launcher", Launcher)
    languages = _rows(path, raw, "kernel-language", KernelLanguage)
    signatures = {name: _signature(path, name, text) for name, text in raw.get("signatures", {}).items()}
    aliases = _convert(path, "[aliases]", raw.get("aliases", {}), dict[str, str])
    return Document(rules, entries, frameworks, factories, settings_files, launchers, languages, signatures, aliases)


def _rows(path: str, raw: dict[str, Any], table: str, kind: type[_T]) -> list[_T]:
    return [_convert(path, f"[[{table}]] {number}", row, kind) for number, row in enumerate(raw.get(table, []), 1)]


def _expand(row: Any) -> Any:
    """A list is short for `{ in = [...] }`, a word in `runtime` for `{ do = "..." }`."""
    if isinstance(row, dict) and isinstance(row.get("when"), dict):
        row = {**row, "when": {k: {"in": v} if isinstance(v, list) else v for k, v in row["when"].items()}}
    if isinstance(row, dict) and isinstance(row.get("runtime"), str):
        row = {**row, "runtime": {"do": row["runtime"]}}
    return row


def check_rules(sources: list[tuple[str, bytes]], documents: list[Document]) -> None:
    """Every entry's rule and kind of file exist, no code is defined twice, and aliases lead somewhere."""
    aliases = {name: target for document in documents for name, target in document.aliases.items()}
    for (path, _), document in zip(sources, documents, strict=True):
        for name in document.aliases:
            if _goes_round(name, aliases):
                raise CatalogError(f"{path}: [aliases] {name}: leads back to itself")
    codes: dict[str, str] = {}
    for (path, _), document in zip(sources, documents, strict=True):
        for rule in document.rules:
            if rule.code in codes:
                raise CatalogError(f"{path}: [[rule]] {rule.code}: already defined in {codes[rule.code]}")
            codes[rule.code] = path
    kinds = {kind.name for document in documents for kind in document.settings_files}
    for (path, _), document in zip(sources, documents, strict=True):
        for number, entry in enumerate(document.entries, 1):
            told = entry.runtime.rule if entry.runtime is not None else ""
            for key, code in (("rule", entry.rule), ("runtime.rule", told)):
                if code and code not in codes:
                    raise CatalogError(f"{path}: [[api]] {number}: key `{key}`: there is no rule {code}")
            for name in entry.names if entry.kind == "setting" else ():
                if name.partition(".")[0] not in kinds:
                    raise CatalogError(
                        f"{path}: [[api]] {number}: key `names`: `{name}` begins with no `[[settings-file]]`'s name; "
                        f"known are {', '.join(sorted(kinds))}"
                    )
        for framework in document.frameworks:
            if framework.switch is not None and framework.switch.rule not in codes:
                code = framework.switch.rule
                raise CatalogError(f"{path}: [[framework]] {framework.name}: key `switch`: there is no rule {code}")


def _goes_round(name: str, aliases: dict[str, str]) -> bool:
    """Whether rewriting a name by the aliases never ends."""
    for _ in range(20):
        head = name
        while head and head not in aliases:
            head = head.rpartition(".")[0]
        if not head:
            return False
        name = aliases[head] + name[len(head) :]
    return True

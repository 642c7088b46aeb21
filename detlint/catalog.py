"""The catalog: what is known of each API, as data. Loads, checks and compiles the TOML files of `rules/`.

A document holds `[[rule]]`, `[[api]]` and `[[framework]]` tables, `[signatures]` and `[aliases]`; DESIGN.md section 6
and docs/catalog.md describe the keys. Everything here is mechanism: no API is named in this file.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import os
import re
import sys
from collections.abc import Set
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import msgspec

from detlint import __version__

Level = Literal["error", "warning", "note"]
Target = Literal["cpu", "cuda", "ascend", "tpu", "mps", "xpu"]
Scalar = bool | int | float | str | None

CODE = re.compile(r"DET\d{3}")
STREAMS = frozenset({
    "python", "numpy", "torch", "cuda", "npu", "mps", "xpu", "mindspore", "mindspore-generator", "tensorflow", "keras", "paddle",
    "cupy", "jax", "theano", "mindspore-dataset", "imgaug", "gym",
})  # fmt: skip
"""The random-number states that the seed flow tells apart."""
JUDGED_BY_USE = frozenset({"DET103", "DET305", "DET306"})
"""Rules whose findings depend on what becomes of a call's result."""


class CatalogError(Exception):
    """A catalog file that can't be used. The text names the file, the entry, the key and the reason."""


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", omit_defaults=True):
    """What must hold of one argument. Every key that is given must hold; an argument left out has its default."""

    in_: list[Scalar] | None = msgspec.field(default=None, name="in")
    not_in: list[Scalar] | None = None
    above: float | None = None
    below: float | None = None
    given: bool | None = None
    """Whether the call passes the argument at all (a splat may: undecided)."""
    sequence: bool | None = None
    """Whether the value is a list or tuple of more than one item."""
    accelerator: bool | None = None
    """Whether the value names a device other than the CPU (`"cuda:0"`, `torch.device("npu")`, `x.device`)."""
    type: Literal["str", "number", "tensor", "indexable"] | None = None


class Fix(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A named rewrite of `detlint.fixes`, with its parameters."""

    kind: str
    argument: str = ""
    value: Scalar = None
    text: str = ""
    applicability: Literal["safe", "unsafe", "display"] = "unsafe"


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", omit_defaults=True):
    """What is known of a group of APIs that behave alike. Without `rule` it only informs the seed flow."""

    names: list[str] = []
    """Canonical dotted names; methods as `torch.Tensor.scatter_add_`; environment variables as themselves."""
    kind: Literal["call", "assignment", "environment", "unknown-member", "order"] = "call"
    rule: str = ""
    registry: list[str] = []
    """Names under which a registry builds it: `dict(type="RandomFlip")`."""
    copies: list[str] = []
    """Class or function names that projects copy from the original: a project's own definition of that name counts."""
    unmistakable: bool = False
    """The method name alone is enough when the receiver's type is unknown."""
    when: dict[str, Condition] = {}
    unsure: Literal["silent", "report"] = "silent"
    """What to do when a condition can't be decided from the source."""
    targets: list[Target] = []
    pass_: Literal["forward", "backward"] = msgspec.field(default="forward", name="pass")
    versions: str = ""
    """A requirement such as `torch >= 2.1, < 2.10`; empty means every version."""
    category: Literal["", "a", "b", "c", "d"] = ""
    """a raises under the deterministic switch; b the switch selects a deterministic path; c an environment variable is
    needed; d nondeterministic with no alert."""
    level: Literal["", "error", "warning", "note", "design"] = ""
    """Overrides the rule's level."""
    message: str = ""
    remedy: str = ""
    fix: Fix | None = None
    runtime: str = ""
    known: list[str] = []
    """For `unknown-member`: the members that do exist."""
    draws: list[str] = []
    seeds: list[str] = []
    seed: str = ""
    """The parameter that carries the seed."""
    absent: Literal["", "fixed", "entropy"] = ""
    """What a seeding call without its seed does; a seed of None is always entropy unless `absent` is `fixed`."""
    unseeds: list[str] = []
    entropy: bool = False
    sets: dict[str, Scalar] = {}
    """Switches that the call sets: `deterministic-algorithms`, `cudnn-deterministic`, ...; a string `=name` takes the
    value of that argument."""
    consumes: list[str] = []
    """The parameters that carry random keys which the call uses up."""
    returns: str = ""
    """The type of the result; `generator` for generator objects."""
    contexts: list[str] = []
    """What a block under `with` or a decorator means: `no-grad`."""
    note: str = ""
    source: str = ""

    @property
    def acts(self) -> bool:
        """Whether a call of it matters where it stands."""
        contexts = [context for context in self.contexts if context not in ("returns-self", "closed", "layer")]
        return (
            bool(
                self.rule
                or self.draws
                or self.seeds
                or self.sets
                or self.unseeds
                or self.entropy
                or self.consumes
                or contexts
                or self.category
            )
            or self.returns == "generator"
        )

    def level_or(self, default: str) -> str:
        """The entry's own level, else `default`."""
        return self.level or default


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A code and its explanation."""

    code: str
    name: str
    level: Literal["error", "warning", "note", "design"]
    summary: str
    """One sentence: what it finds."""
    message: str
    """The text of a finding; `{api}` is the name of the API, `{value}` the argument that decided."""
    why: str
    remedy: str = ""
    """What to do, where the entry says nothing of its own. Imperative."""
    source: str = ""
    streams: list[str] = []
    """The random-number streams whose unseeded draws carry this code."""

    @property
    def family(self) -> int:
        """The first digit: 0 housekeeping, 1 seeds, 2 layers, 3 data, 4 operators, 5 devices, 6 switches."""
        return int(self.code[3])


class Framework(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A library: its import roots, and what making and typing its values means."""

    name: str
    modules: list[str]
    """Top-level import names."""
    targets: list[Target] = []
    """Targets implied by importing it (`torch_npu` -> ascend)."""
    tensor: str = ""
    """The tensor class; a method on it gives one again, unless `plain` lists the method."""
    producers: list[str] = []
    """Dotted prefixes, ending in `.`, whose functions return the tensor."""
    plain: list[str] = []
    """Functions under the producers, and tensor methods, that do not."""
    module: str = ""
    """The layer class; calling an instance runs `forward` and gives a tensor."""
    forward: str = ""
    """The method that calling an instance runs."""
    layers: list[str] = []
    """Dotted prefixes, ending in `.`, whose capitalised members are layers."""


class Document(msgspec.Struct, frozen=True, omit_defaults=True):
    """One catalog file, checked."""

    rules: list[Rule] = []
    entries: list[Entry] = []
    frameworks: list[Framework] = []
    signatures: dict[str, list[tuple[str, Any]]] = {}
    aliases: dict[str, str] = {}


class Catalog:
    """All documents, indexed by what the analyzer asks for.

    Attributes map a name to the positions of its entries in `entries`, in file order.
    """

    def __init__(self, documents: list[Document], fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self.rules = {rule.code: rule for document in documents for rule in document.rules}
        self.entries = [entry for document in documents for entry in document.entries]
        self.frameworks = [framework for document in documents for framework in document.frameworks]
        self.signatures: dict[str, list[tuple[str, Any]]] = {}
        for document in documents:
            for name, parameters in document.signatures.items():
                # Two files may know the same API; the one that knows more of its parameters is right.
                if len(parameters) >= len(self.signatures.get(name, ())):
                    self.signatures[name] = parameters
        self.aliases = {k: v for document in documents for k, v in document.aliases.items()}
        self.calls: dict[str, list[int]] = {}
        self.registry: dict[str, list[int]] = {}
        self.copies: dict[str, list[int]] = {}
        self.assignments: dict[str, list[int]] = {}
        self.environment: dict[str, list[int]] = {}
        self.orders: dict[str, list[int]] = {}
        """What items go through."""
        self.members: dict[str, list[int]] = {}
        self.methods: dict[str, list[int]] = {}
        for i, entry in enumerate(self.entries):
            table = {
                "call": self.calls,
                "assignment": self.assignments,
                "environment": self.environment,
                "unknown-member": self.members,
                "order": self.orders,
            }[entry.kind]
            for name in entry.names:
                table.setdefault(name, []).append(i)
                if entry.unmistakable:
                    self.methods.setdefault(name.rpartition(".")[2], []).append(i)
            for name in entry.registry:
                self.registry.setdefault(name, []).append(i)
            for name in entry.copies:
                self.copies.setdefault(name, []).append(i)

    @cached_property
    def roots(self) -> frozenset[str]:
        """Top-level import names of the frameworks."""
        return frozenset(module for framework in self.frameworks for module in framework.modules)

    @cached_property
    def acting(self) -> frozenset[str]:
        """The names whose calls matter where they stand; others only tell the type of what they give back."""
        return frozenset(name for name, found in self.calls.items() if any(self.entries[i].acts for i in found))

    @cached_property
    def words(self) -> frozenset[str]:
        """The last component of everything that can make a site."""
        tables = (self.acting, self.registry, self.copies, self.assignments, self.environment, self.members)
        return frozenset(name.rpartition(".")[2] for table in tables for name in table)

    def words_of(self, codes: Set[str]) -> frozenset[str]:
        """The last component of everything that can break one of some rules."""
        entries = (entry for entry in self.entries if entry.rule in codes and entry.kind != "order")
        names = (name for entry in entries for name in (*entry.names, *entry.registry, *entry.copies))
        return frozenset(name.rpartition(".")[2] for name in names)

    @cached_property
    def setting_words(self) -> frozenset[str]:
        """The last component of what seeds a stream or sets a switch."""
        entries = (entry for entry in self.entries if entry.seeds or entry.unseeds or entry.sets)
        return frozenset(name.rpartition(".")[2] for entry in entries for name in entry.names)

    @cached_property
    def method_words(self) -> frozenset[str]:
        """The last component of everything that may be called on an object."""
        tables = (self.acting, self.copies)
        split = [name.rpartition(".") for table in tables for name in table]
        return frozenset(
            last for owner, _, last in split if not owner or owner.rpartition(".")[2][:1].isupper() or last == "apply"
        )

    @cached_property
    def ordered_words(self) -> frozenset[str]:
        """The last component of what is judged by what becomes of its result."""
        entries = (e for e in self.entries if e.rule in JUDGED_BY_USE or "picks" in e.contexts)
        return frozenset(name.rpartition(".")[2] for entry in entries for name in entry.names)

    @cached_property
    def ordering(self) -> frozenset[str]:
        """What gives the elements of a set an order."""
        return frozenset(name for name, found in self.orders.items() if any(self.entries[i].rule for i in found))

    @cached_property
    def same_order(self) -> frozenset[str]:
        """What gives back the items that it is given, in their order."""
        return self._for_items("same-order")

    @cached_property
    def orderless(self) -> frozenset[str]:
        """What doesn't care about the order of what it is given, or puts it right."""
        return self._for_items("orderless")

    @cached_property
    def keeps_order(self) -> frozenset[str]:
        """What makes data of the items that it is given, in their order."""
        return self._for_items("keeps-order")

    def _for_items(self, context: str) -> frozenset[str]:
        return frozenset(
            name for name, found in self.orders.items() if any(context in self.entries[i].contexts for i in found)
        )

    @cached_property
    def key_words(self) -> frozenset[str]:
        """The last component of what makes, derives or uses up random keys, or repeats what does."""
        return frozenset(name.rpartition(".")[2] for entry in self._about_keys for name in entry.names)

    @cached_property
    def key_roots(self) -> frozenset[str]:
        """The libraries of what does."""
        return frozenset(name.partition(".")[0] for entry in self._about_keys for name in entry.names)

    @property
    def _about_keys(self) -> list[Entry]:
        return [e for e in self.entries if e.consumes or not {"key", "repeats"}.isdisjoint(e.contexts)]

    @cached_property
    def drawing_words(self) -> frozenset[str]:
        """The last component of what draws numbers."""
        return frozenset(name.rpartition(".")[2] for entry in self.entries if entry.draws for name in entry.names)

    def canonical(self, name: str) -> str:
        """The public name of `name`: `torch.nn.modules.dropout.Dropout` -> `torch.nn.Dropout`."""
        if name in self.calls:
            return name
        aliases = self.aliases
        head = name
        while head:
            target = aliases.get(head)
            if target is not None:
                return self.canonical(target + name[len(head) :])
            head = head.rpartition(".")[0]
        return name


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


def _signature(path: str, name: str, text: object) -> list[tuple[str, Any]]:
    """Parse `"input, p=0.5, *, training=True"` to (parameter, default); `...` stands for no default."""
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
        return [*read[: len(pairs)], *stop, *read[len(pairs) :]]
    except (SyntaxError, ValueError) as error:
        raise _fail(path, f"[signatures] {name}", f"not a parameter list with literal defaults ({error})") from None


def _check_entry(path: str, label: str, entry: Entry) -> None:
    if not (entry.names or entry.registry or entry.copies):
        raise _fail(path, label, "key `names`: at least one of `names`, `registry`, `copies` is needed")
    if entry.rule and not CODE.fullmatch(entry.rule):
        raise _fail(path, label, f"key `rule`: `{entry.rule}` is not a code (DET and three digits)")
    if entry.rule and not entry.source:
        raise _fail(path, label, "key `source`: say which page or file the fact comes from")
    if entry.versions:
        from packaging.requirements import InvalidRequirement, Requirement

        try:
            Requirement(entry.versions)
        except InvalidRequirement:
            raise _fail(
                path, label, f"key `versions`: `{entry.versions}` is no requirement such as `torch >= 2.1`"
            ) from None
    for key, streams in (("draws", entry.draws), ("seeds", entry.seeds), ("unseeds", entry.unseeds)):
        if unknown := set(streams) - STREAMS:
            raise _fail(
                path, label, f"key `{key}`: there is no stream `{min(unknown)}`; known are {', '.join(sorted(STREAMS))}"
            )
    if entry.kind == "unknown-member" and not entry.known:
        raise _fail(path, label, "key `known`: list the members that do exist")


def parse(path: str, data: bytes) -> Document:
    """Read one catalog file.

    Raises:
        CatalogError: not TOML, an unknown key, or a wrong value.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        raw = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CatalogError(f"{path}: not valid TOML: {error}") from None
    if unknown := set(raw) - {"rule", "api", "framework", "signatures", "aliases"}:
        raise CatalogError(
            f"{path}: unknown table `{min(unknown)}`; known are api, rule, framework, signatures, aliases"
        )
    for table, kind in (("rule", list), ("api", list), ("framework", list), ("signatures", dict), ("aliases", dict)):
        if not isinstance(raw.get(table, kind()), kind):
            raise CatalogError(f"{path}: `{table}` must be written as {'[[' + table + ']]' if kind is list else table}")
    entries = []
    for number, row in enumerate(raw.get("api", []), 1):
        label = f"[[api]] {number}"
        if isinstance(row, dict) and isinstance(row.get("names"), list) and row["names"]:
            label += f" ({row['names'][0]})"
        row = _expand_conditions(row)
        entry = _convert(path, label, row, Entry)
        _check_entry(path, label, entry)
        entries.append(entry)
    rules = []
    for number, row in enumerate(raw.get("rule", []), 1):
        rule = _convert(path, f"[[rule]] {number}", row, Rule)
        if not CODE.fullmatch(rule.code):
            raise _fail(path, f"[[rule]] {number}", f"key `code`: `{rule.code}` is not a code (DET and three digits)")
        rules.append(rule)
    frameworks = [
        _convert(path, f"[[framework]] {number}", row, Framework)
        for number, row in enumerate(raw.get("framework", []), 1)
    ]
    signatures = {name: _signature(path, name, text) for name, text in raw.get("signatures", {}).items()}
    aliases = _convert(path, "[aliases]", raw.get("aliases", {}), dict[str, str])
    return Document(rules, entries, frameworks, signatures, aliases)


def _expand_conditions(row: Any) -> Any:
    """A list is short for `{ in = [...] }`."""
    if isinstance(row, dict) and isinstance(row.get("when"), dict):
        row = {**row, "when": {k: {"in": v} if isinstance(v, list) else v for k, v in row["when"].items()}}
    return row


def directory() -> Path:
    """The catalog that is shipped: inside the package when installed, at the repository's top when editable."""
    here = Path(__file__).parent
    installed = here / "rules"
    return installed if installed.is_dir() else here.parent / "rules"


def load(extra: list[Path] | None = None, cache: Path | None = None) -> Catalog:
    """The shipped catalog and the user's own files, in that order; a compiled copy is kept in `cache`.

    Args:
        extra: the user's catalogs.
        cache: folder for the compiled form; None keeps none.

    Raises:
        CatalogError: a file can't be read or is wrong.
    """
    top = directory()
    files = [*sorted(top.rglob("*.toml")), *(extra or [])]
    digest = hashlib.blake2b(f"{__version__} {sys.version_info[:2]}".encode(), digest_size=16)
    sources: list[tuple[str, bytes]] = []
    for file in files:
        try:
            data = file.read_bytes()
        except OSError as error:
            raise CatalogError(f"{file}: can't be read: {error.strerror}") from None
        shown = str(file.relative_to(top.parent)) if file.is_relative_to(top) else str(file)
        sources.append((shown, data))
        digest.update(b"\0" + shown.encode() + b"\0" + data)
    digest.update(_own_code())
    fingerprint = digest.hexdigest()
    if cache is None and fingerprint in _loaded:
        return _loaded[fingerprint]
    compiled = cache / f"catalog-{fingerprint}.msgpack" if cache else None
    documents = _read_compiled(compiled) if compiled else None
    if documents is None:
        documents = [parse(path, data) for path, data in sources]
        _check_rules(sources, documents)
        if compiled:
            _write_compiled(compiled, documents)
    catalog = _loaded[fingerprint] = Catalog(documents, fingerprint)
    return catalog


_loaded: dict[str, Catalog] = {}
"""What this process has loaded, by fingerprint: who uses no cache, and asks again and again, waits once."""


def _own_code() -> bytes:
    """What tells one state of detlint's code from another: what the cache keeps was made by it."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    return repr([(str(file), (status := file.stat()).st_size, status.st_mtime_ns) for file in files]).encode()


def _check_rules(sources: list[tuple[str, bytes]], documents: list[Document]) -> None:
    """Every entry's rule exists, no code is defined twice, and aliases lead somewhere."""
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
    for (path, _), document in zip(sources, documents, strict=True):
        for number, entry in enumerate(document.entries, 1):
            if entry.rule and entry.rule not in codes:
                raise CatalogError(f"{path}: [[api]] {number}: key `rule`: there is no rule {entry.rule}")


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


def _read_compiled(path: Path) -> list[Document] | None:
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=list[Document])
    except (OSError, msgspec.DecodeError):
        return None


def _write_compiled(path: Path, documents: list[Document]) -> None:
    """Best effort: a cache that can't be written costs time, nothing else."""
    temporary = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(msgspec.msgpack.encode(documents))
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)

"""The catalog: what is known of each API, as data. Loads, checks and compiles the TOML files of `rules/`.

A document holds `[[rule]]`, `[[api]]` and `[[framework]]` tables, `[signatures]` and `[aliases]`; DESIGN.md section 6
and docs/catalog.md describe the keys. Everything here is mechanism: no API is named in this file.
"""

from __future__ import annotations

import ast
import gc
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
import xxhash

from detlint import __version__

Level = Literal["error", "warning", "note"]
Applicability = Literal["safe", "unsafe", "display"]
Target = Literal["cpu", "cuda", "ascend", "tpu", "mps", "xpu"]
Scalar = bool | int | float | str | None
_T = TypeVar("_T")

CODE = re.compile(r"DET\d{3}")
STREAMS = frozenset({
    "python", "numpy", "torch", "cuda", "npu", "mps", "xpu", "mindspore", "mindspore-generator", "tensorflow", "keras", "paddle",
    "cupy", "jax", "theano", "mindspore-dataset", "imgaug", "gym", "faker", "polars",
})  # fmt: skip
"""The random-number states that the seed flow tells apart."""
TABLES = {
    "api": list, "rule": list, "framework": list, "factory": list, "settings-file": list, "signatures": dict, "aliases": dict,
}  # fmt: skip
"""What a catalog file may hold."""
HARDWARE = "hardware"
"""The switch that says on what hardware the program runs, in the words of its library."""
OPEN_SEED = "DET107"
"""The rule of what has a seed of its own, and is given none."""
TRANSFORM = "DET301"
"""The rule of random transforms."""
SHUFFLED = "DET302"
"""The rule of data in random order."""
UNORDERED = frozenset({"DET305", "DET306"})
"""Rules of what gives items in no order."""
JUDGED_BY_USE = UNORDERED | {"DET103"}
"""Rules whose findings depend on what becomes of a call's result."""
RAISES = "raises"
REMOVED = "removed"
"""The context of what a library doesn't have, or doesn't take: a call of it comes to an error."""
UNSUPPORTED = "unsupported"
"""The context of operators that a framework doesn't have on the hardware that `targets` names."""
OF_TYPES = frozenset({"returns-self", "closed", "layer", "weights", "named-weights", RAISES, REMOVED, UNSUPPORTED})
"""Contexts that only say what an object is, or matter only in files that mention its library."""


class CatalogError(Exception):
    """A catalog file that can't be used. The text names the file, the entry, the key and the reason."""


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", omit_defaults=True):
    """What must hold of one argument. Every key that is given must hold; an argument left out has its default.

    The name before it, in `when`, may go into a dictionary: `randomness.seed` is what `randomness` gets under "seed".
    """

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
    device: list[str] | None = None
    """The value surely names a device of one of these kinds."""
    not_device: list[str] | None = None
    """It does not, or may name another."""
    length: list[int] | None = None
    """How many items the list or tuple has."""
    not_length: list[int] | None = None
    """It has another number of them, or may have."""
    sum_above: float | None = None
    """Its numbers, without those below zero, add up to more, or may do."""
    not_surely: list[Scalar] | None = None
    """It is none of these, or may be none."""
    not_dimensions: list[int] | None = None
    """It is a tensor with another number of dimensions, or may be one."""
    type: Literal["str", "number", "tensor", "whole", "indexable"] | None = None
    """`whole`: a tensor that surely holds whole numbers or booleans."""
    not_type: Literal["whole"] | None = None
    """It is none of these, or may be none."""
    dense_for: str = ""
    """A parameter, a kernel's size: with the value as stride, some place is in more than two windows of that size. Left out it
    counts as the same size."""
    sparse_for: str = ""
    """A kernel's size: no place is in more than two windows, so that sums over them are the same in any order."""
    not_only: list[str] = []
    """It isn't surely a list of nothing but calls of these."""
    contains: str | None = None
    """A part of a string (`XLA_FLAGS` holds many flags)."""
    draws: list[str] = []
    """Streams: whether it is a function of the program, or an object used like one, that draws from one of them."""


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How to fix what is found: a named rewrite of `detlint.fixes`, with its parameters (see docs/catalog.md)."""

    kind: Literal[
        "set-argument", "add-argument", "remove-argument", "rename", "replace-value", "replace-text", "replace-target",
        "wrap", "replace", "replace-item", "remove-statement", "insert-before", "set-default", "set-seed",
        "draw-on-cpu", "on-cpu", "start-run",
    ]  # fmt: skip
    argument: str = ""
    arguments: tuple[str, ...] = ()
    value: Scalar = None
    text: str = ""
    applicability: Applicability = "unsafe"
    repeated: Applicability = "unsafe"
    """What it is, if it writes a seed, where the code may run more than once: the same numbers would come each time."""
    unsure: Applicability | None = None
    """What it is where a condition of its entry can't be decided; as elsewhere without this key."""

    @property
    def seeds(self) -> bool:
        """Whether it gives the seed to something that draws from then on."""
        return self.kind not in ("start-run", "set-default") and "{seed}" in f"{self.text} {self.value}"


class Deed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What `detlint.runtime.enforce` does with an API while a program runs (see docs/enforcing.md)."""

    do: Literal["off", "cpu", "cpu-draw", "seed", "replace", "counterpart", "sequential"]
    rule: str = ""
    """The rule under which it is told, where the entry itself has none."""
    text: str = ""
    """What takes its place, as in recipes; where it is empty, the entry's `align` or `fix` says how."""


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", omit_defaults=True):
    """What is known of a group of APIs that behave alike. Without `rule` it only informs the seed flow."""

    names: list[str] = []
    """Canonical dotted names; methods as `torch.Tensor.scatter_add_`; environment variables as themselves; settings under
    the name of their kind of file (`detectron2.SEED`)."""
    kind: Literal["call", "assignment", "environment", "setting", "unknown-member", "mention", "order"] = "call"
    rule: str = ""
    registry: list[str] = []
    """Names under which a registry builds it: `dict(type="RandomFlip")`."""
    sections: list[str] = []
    """Names under which a configuration holds a dictionary of settings: `randomness = dict(seed=None)`."""
    copies: list[str] = []
    """Class or function names that projects copy from the original: a project's own definition of that name counts."""
    unmistakable: bool = False
    """The method name alone is enough when the receiver's type is unknown."""
    when: dict[str, Condition] = {}
    block: bool = False
    """It counts only as the head of a `with` block in which something is drawn or a layer is built."""
    inside: list[str] = []
    """It counts only in methods of a class that is one of these: `dataset`, `layer`."""
    unsure: Literal["silent", "report"] = "silent"
    """What to do when a condition can't be decided from the source."""
    while_training: bool = False
    """It counts only in a run that trains; where `inside` is given too, in either place."""
    outermost: bool = False
    """Silent inside another call of the same API, which speaks for it."""
    becomes: list[str] = []
    """What must become of the result outside of `inside`, by the beginnings of `Site.use`: `key`, `argument:numpy.array`."""
    collides: str = ""
    """A parameter with indices: where none repeats, no two things are done to one place, and nothing varies."""
    unless_under: str = ""
    """A context: silent inside a `with` block that means it."""
    unless_set: str = ""
    """A switch: silent where every run that comes by has set it."""
    targets: list[Target] = []
    pass_: Literal["forward", "backward"] = msgspec.field(default="forward", name="pass")
    versions: str = ""
    """A requirement such as `torch >= 2.1, < 2.10`; empty means every version."""
    category: Literal["", "a", "b", "c", "d"] = ""
    """a raises under the deterministic switch; b the switch selects a deterministic path; c an environment variable is
    needed; d nondeterministic with no alert."""
    strict: bool = False
    """The switch answers it only where it is on in full: with `warn_only` it stays as it is."""
    level: Literal["", "error", "warning", "note", "design", "align"] = ""
    """Overrides the rule's level."""
    message: str = ""
    remedy: str = ""
    fix: Recipe | None = None
    align: Recipe | None = None
    """What takes the place of `fix` where back ends are compared (profile `align`)."""
    runtime: Deed | None = None
    known: list[str] = []
    """For `unknown-member`: the members that do exist."""
    draws: list[str] = []
    seeds: list[str] = []
    seed: str = ""
    """The parameter that carries the seed."""
    absent: str = ""
    """What a seeding call without its seed takes: something `fixed` (as without this key), `entropy`, or a number from a
    stream, by its name. A seed of None is always entropy, unless `absent` is `fixed` or a stream."""
    unseeds: list[str] = []
    restores: list[str] = []
    """Leaving the block puts these streams back as they were."""
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
        return (
            bool(
                self.rule
                or self.draws
                or self.seeds
                or self.sets
                or self.unseeds
                or self.restores
                or self.entropy
                or self.consumes
                or self.category
                or not OF_TYPES.issuperset(self.contexts)
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
    level: Literal["error", "warning", "note", "design", "align"]
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
    switch: str = ""
    """The switch that it is about; the rule's page lists what sets it."""
    seeding: dict[str, str] = {}
    """The call that seeds a stream at the start of a run: `random.seed({seed})`."""
    runtime_seeding: str = msgspec.field(default="", name="runtime-seeding")
    """The call of detlint's runtime that seeds all of its streams, for `fix-style = "runtime"`. `a.b:name(...)` is a name
    that is imported from its module."""

    @property
    def family(self) -> int:
        """The first digit: 0 housekeeping, 1 seeds, 2 layers, 3 data, 4 operators, 5 devices, 6 switches."""
        return int(self.code[3])


class Switch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What makes a framework take its deterministic kernels, and what a run is told that trains without it."""

    name: str
    """The switch, as entries set it."""
    rule: str
    targets: list[Target]
    """The hardware on which it matters."""
    assumed: bool = False
    """Whether a run is judged for these targets although no file of it names one."""
    partly: str = ""
    """Another switch, which answers the most of it on CUDA: what a run is told that sets that one is a note."""
    remedy: str = ""
    """Instead of the rule's."""
    calls: dict[str, str] = {}
    """What switches it on at the start of a run, a statement a line, by the requirement that it needs (`torch >= 1.8`)."""


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
    whole: list[str] = []
    """Types of whole numbers and of booleans, and functions that give tensors of them whatever they get."""
    precise: list[str] = []
    """Types of other numbers that hold any count, exactly."""
    casts: list[str] = []
    """Functions and methods that give a tensor of the same numbers in the type that they are told, or that their name says."""
    compares: list[str] = []
    """Functions that give tensors of booleans, and classes whose objects do when they are called."""
    wraps: list[str] = []
    """Functions that make a tensor of the numbers that they get, of the same type unless they are told another one."""
    reshapes: list[str] = []
    """Functions that give a tensor of the same numbers in another shape, and classes whose objects do when they are called."""
    stacks: list[str] = []
    """Functions that put tensors side by side along a new axis."""
    zeros: list[str] = []
    """Functions that give a tensor of zeros."""
    constants: list[str] = []
    """Functions that give a tensor full of the number that they are told second."""
    picks: list[str] = []
    """Functions that take each number from one of the two that they are told after a condition."""
    module: str = ""
    """The layer class; calling an instance runs `forward` and gives a tensor."""
    forward: str = ""
    """The method that calling an instance runs."""
    passes_on: bool = False
    """Whether it is handed what the call says, no more and no less."""
    weights_from: str = ""
    """The stream that the seeds of initial weights are drawn from, whatever stream the framework has of its own."""
    works: str = "__call__"
    """The method by which its transforms and layers do their work."""
    hands: str = ""
    """The method by which they hand what they do to a pipeline that is compiled."""
    weights: list[str] = []
    """Names of parameters that are handed stored weights, which carry no gradients."""
    masks: list[str] = []
    """Endings of the names of tensors that hold zeros and ones, whatever their type."""
    leaves: list[str] = []
    """Functions, and methods of tensors, that give tensors which need no gradients whatever they get."""
    inputs: list[str] = []
    """Names of parameters that are handed data as a loader gives it."""
    networks: list[str] = []
    """Classes from which whole networks derive, and no parts of one."""
    latents: list[str] = []
    """Parts of the names of parameters by which a whole network is handed data besides its first."""
    answers: list[str] = []
    """Names of parameters by which a network is handed what it should have answered."""
    missing: list[str] = []
    """Attributes and items of what a call gives that loads weights, by which it tells for which it had none."""
    classes: list[str] = []
    """Names of parameters by which a network is told how many classes there are."""
    channels: list[str] = []
    """Names of parameters by which a network is told how many channels its images have."""
    examples: list[str] = []
    """Parts of the names of functions that make examples for tracers."""
    ids: list[str] = []
    """Names of variables that only tell runs, processes and files apart."""
    testing: list[str] = []
    """Environment variables, and modules, that are only there while tests run."""
    chooses: list[str] = []
    """Functions that choose some of many, or make some up, by their last component."""
    buffers: list[str] = []
    """Methods by which a layer keeps a tensor that is no parameter, under the name that they get first."""
    shows: list[str] = []
    """Libraries, and methods and functions by their last component, that only show people what they are handed."""
    paints: list[str] = []
    """Functions that paint on the picture that is their first argument; without a dot: parts of the names of those that plot."""
    colours: list[str] = []
    """Parameters by which whoever paints or plots is handed a colour."""
    looks: list[str] = []
    """Beginnings of the names of functions and methods that do nothing but to give something for what they are handed."""
    fills: list[str] = []
    """Methods that put what they are handed into their object, and do no more."""
    makes: list[str] = []
    """Functions that make an object which nobody else has, by their last component."""
    assembles: list[str] = []
    """Libraries whose classes only keep what they are handed when an object is made, and do nothing before it is used."""
    pipelines: list[str] = []
    """Functions, methods and parameters by which a data pipeline is handed functions, by their last component."""
    mode: str = ""
    """The attribute of an instance that says whether it trains."""
    mends: list[str] = []
    """Libraries that give it what it lacks."""
    layers: list[str] = []
    """Dotted prefixes, ending in `.`, whose capitalised members are layers."""
    switch: Switch | None = None


class Factory(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", omit_defaults=True):
    """How a configuration says what to build: in a table by a key (`_target_: torch.nn.Dropout`), in YAML by a tag
    (`!new:torch.nn.Dropout`)."""

    name: str
    key: str = ""
    """The key whose value names what is built."""
    tags: list[str] = []
    """YAML tags that do, as far as the name (`!new:`)."""
    partial_tags: list[str] = []
    """Those that keep the call for later."""
    names: Literal["dotted", "registered"] = "dotted"
    """Whether the value is a dotted name, or one under which something is registered."""
    scopes: list[str] = []
    """The libraries whose registries hold what the catalog knows by `registry`; one may stand before a name."""
    library: str = ""
    """Where a name without dots is looked up."""
    arguments: list[str] = []
    """The keys of the tables that hold the arguments; without any they stand beside the name."""
    required: bool = False
    """Whether the first of these must be there, because the key alone means many things."""
    positional: str = ""
    """The key of a list of positional arguments."""
    partial: str = ""
    """The key that, when true, keeps the call for later."""
    plain: list[str] = []
    """Keys beside the name that are no arguments."""
    builders: list[str] = []
    """Functions that build what the table says which they are handed."""
    source: str = ""


class SettingsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", omit_defaults=True):
    """A kind of YAML file whose keys mean something to a library by their names alone."""

    name: str
    marks: list[str]
    """Keys of which one, anywhere in the document, tells that it is such a file."""
    under: list[str] = []
    """Keys below which the settings may stand too (subcommands)."""
    calls: dict[str, str] = {}
    """Keys whose table holds the arguments of a call of an API."""
    source: str = ""


class Document(msgspec.Struct, frozen=True, omit_defaults=True):
    """One catalog file, checked; or several put together."""

    rules: list[Rule] = []
    entries: list[Entry] = []
    frameworks: list[Framework] = []
    factories: list[Factory] = []
    settings_files: list[SettingsFile] = []
    signatures: dict[str, msgspec.Raw] = {}
    """Encoded: a run asks for few of them, and they are a quarter of everything."""
    aliases: dict[str, str] = {}


Signature = list[tuple[str, Any]]
"""(parameter, default) in order; `...` stands for no default, a name beginning with `*` takes the rest."""


class Signatures(Mapping[str, Signature]):
    """The parameters of each API, read when first asked for."""

    def __init__(self, encoded: dict[str, msgspec.Raw]) -> None:
        self._encoded = encoded
        self._read: dict[str, Signature] = {}
        self._decoder = msgspec.msgpack.Decoder(Signature)

    def __getitem__(self, name: str) -> Signature:
        if name not in self._read:
            self._read[name] = self._decoder.decode(self._encoded[name])
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._encoded)

    def __len__(self) -> int:
        return len(self._encoded)


def _together(documents: list[Document]) -> Document:
    """Several documents as one. Of two files that know the same API, the one that knows more of its parameters is right."""
    signatures: dict[str, msgspec.Raw] = {}
    lengths: dict[str, int] = {}
    for document in documents:
        for name, parameters in Signatures(document.signatures).items():
            if len(parameters) >= lengths.get(name, 0):
                signatures[name] = document.signatures[name]
                lengths[name] = len(parameters)
    return Document(
        [rule for document in documents for rule in document.rules],
        [entry for document in documents for entry in document.entries],
        [framework for document in documents for framework in document.frameworks],
        [factory for document in documents for factory in document.factories],
        [kind for document in documents for kind in document.settings_files],
        signatures,
        {name: target for document in documents for name, target in document.aliases.items()},
    )


class Catalog:
    """All that is known, indexed by what the analyzer asks for.

    Attributes map a name to the positions of its entries in `entries`, in file order.
    """

    def __init__(self, known: Document, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self.rules = {rule.code: rule for rule in known.rules}
        self.entries = known.entries
        self.frameworks = known.frameworks
        self.factories = known.factories
        self.settings_files = known.settings_files
        self.signatures = Signatures(known.signatures)
        self.aliases = known.aliases
        self.calls: dict[str, list[int]] = {}
        self.registry: dict[str, list[int]] = {}
        self.sections: dict[str, list[int]] = {}
        self.copies: dict[str, list[int]] = {}
        self.assignments: dict[str, list[int]] = {}
        self.environment: dict[str, list[int]] = {}
        self.settings: dict[str, list[int]] = {}
        self.orders: dict[str, list[int]] = {}
        """What items go through."""
        self.members: dict[str, list[int]] = {}
        self.mentions: dict[str, list[int]] = {}
        self.methods: dict[str, list[int]] = {}
        of_kind = {
            "call": self.calls,
            "assignment": self.assignments,
            "environment": self.environment,
            "setting": self.settings,
            "unknown-member": self.members,
            "mention": self.mentions,
            "order": self.orders,
        }
        self.stand_ins: dict[str, str] = {}
        """Names of functions that items go through, wherever they are defined -> what they stand for."""
        for i, entry in enumerate(self.entries):
            tables = [
                (of_kind[entry.kind], entry.names),
                (self.registry, entry.registry),
                (self.sections, entry.sections),
            ]
            if entry.kind == "order":
                self.stand_ins.update((copy, entry.names[0]) for copy in entry.copies)
            else:
                tables.append((self.copies, entry.copies))
            for table, names in tables:
                for name in names:
                    if name in table:
                        table[name].append(i)
                    else:
                        table[name] = [i]
            if entry.unmistakable:
                for name in entry.names:
                    self.methods.setdefault(name.rpartition(".")[2], []).append(i)

    @cached_property
    def roots(self) -> frozenset[str]:
        """Top-level import names of the frameworks."""
        return frozenset(module for framework in self.frameworks for module in framework.modules)

    @cached_property
    def libraries(self) -> frozenset[str]:
        """Top-level import names of all that has calls."""
        return frozenset(name.partition(".")[0] for name in self.calls)

    def member_of(self, library: str, name: str) -> str:
        """The dotted name of the one thing in a library that ends so; "" where there is none, or several."""
        return self._members_of.get(library, {}).get(name, "")

    @cached_property
    def _members_of(self) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {factory.library: {} for factory in self.factories if factory.library}
        for full in self.calls:
            members = found.get(full.partition(".")[0])
            if members is not None:
                last = full.rpartition(".")[2]
                members[last] = "" if last in members else full
        return found

    def beginning(self, text: str) -> tuple[str, ...]:
        """The dotted names of what can be called that begin so, in order; their last component begins in the text."""
        owner = text.rpartition(".")[0]
        return tuple(sorted(name for name in self.calls if name.startswith(text) and name.rpartition(".")[0] == owner))

    @cached_property
    def scopes(self) -> frozenset[str]:
        """The libraries whose registries hold what `registry` knows."""
        return frozenset(scope for factory in self.factories for scope in factory.scopes)

    @cached_property
    def factory_keys(self) -> dict[str, Factory]:
        """The keys that name what a table builds."""
        return {factory.key: factory for factory in self.factories if factory.key}

    @cached_property
    def builders(self) -> dict[str, Factory]:
        """The functions that build what a table says."""
        return {name: factory for factory in self.factories for name in factory.builders}

    @cached_property
    def factory_tags(self) -> dict[str, Factory]:
        """The YAML tags that do, as far as the name."""
        return {tag: factory for factory in self.factories for tag in (*factory.tags, *factory.partial_tags)}

    @cached_property
    def switches(self) -> dict[str, Switch]:
        """The switch of each top-level import name whose framework has one."""
        return {module: f.switch for f in self.frameworks if f.switch is not None for module in f.modules}

    @cached_property
    def acting(self) -> frozenset[str]:
        """The names whose calls matter where they stand; others only tell the type of what they give back."""
        acting = (entry.names for entry in self.entries if entry.kind == "call" and entry.acts)
        return frozenset(chain.from_iterable(acting))

    @cached_property
    def devices(self) -> dict[str, str]:
        """What says on what hardware the program runs -> the parameter that does."""
        said = [(entry.names, str(entry.sets[HARDWARE])) for entry in self.entries if HARDWARE in entry.sets]
        return {name: value.removeprefix("=") for names, value in said for name in names}

    @cached_property
    def _spellings(self) -> dict[str, list[str]]:
        """The last component of a name -> those that its aliases have instead."""
        found: dict[str, list[str]] = {}
        for alias, target in self.aliases.items():
            own, last = alias.rpartition(".")[2], self.canonical(target).rpartition(".")[2]
            if own != last:
                found.setdefault(last, []).append(own)
        return found

    def _last(self, names: Iterable[str]) -> frozenset[str]:
        """The last components of names, and of their aliases."""
        words = {name.rpartition(".")[2] for name in names}
        return frozenset(words.union(*(self._spellings[word] for word in words & self._spellings.keys())))

    @cached_property
    def words(self) -> frozenset[str]:
        """The last component of everything that can make a site."""
        tables = (
            self.acting, self.registry, self.sections, self.copies, self.assignments, self.environment, self.members,
        )  # fmt: skip
        return self._last(name for table in tables for name in table)

    def words_of(self, codes: Set[str]) -> frozenset[str]:
        """The last component of everything that can break one of some rules."""
        entries = (entry for entry in self.entries if entry.rule in codes and entry.kind != "order")
        names = (name for e in entries for name in (*e.names, *e.registry, *e.sections, *e.copies))
        return self._last(names)

    @cached_property
    def drawing_words(self) -> frozenset[str]:
        """The last component of what draws from a stream and is no finding by itself."""
        entries = (entry for entry in self.entries if entry.draws and not entry.rule)
        return frozenset(name.rpartition(".")[2] for entry in entries for name in entry.names)

    @cached_property
    def seeded_words(self) -> frozenset[str]:
        """The last component of what takes a seed."""
        return self._last(name for entry in self.entries if entry.seed for name in entry.names)

    @cached_property
    def setting_words(self) -> frozenset[str]:
        """The last component of what seeds a stream or sets a switch."""
        entries = (entry for entry in self.entries if entry.seeds or entry.unseeds or entry.sets)
        return self._last(name for entry in entries for name in entry.names)

    @cached_property
    def tracing_words(self) -> frozenset[str]:
        """The last component of what traces a model, and of what trains."""
        told = {"traces", "trains"}
        return self._last(name for entry in self.entries if told.intersection(entry.contexts) for name in entry.names)

    @cached_property
    def all_drawing_words(self) -> frozenset[str]:
        """The last component of everything that draws, whether or not it is a finding by itself."""
        return self._last(name for entry in self.entries if entry.draws for name in entry.names)

    @cached_property
    def method_words(self) -> frozenset[str]:
        """The last component of everything that may be called on an object."""
        split = [(name, *name.rpartition(".")) for table in (self.acting, self.copies) for name in table]
        return self._last(
            name
            for name, owner, _, last in split
            if not owner or owner.rpartition(".")[2][:1].isupper() or last == "apply"
        )

    @cached_property
    def modes(self) -> frozenset[str]:
        """The attributes of layers that say whether they train."""
        return frozenset(framework.mode for framework in self.frameworks if framework.mode)

    @cached_property
    def buffers(self) -> frozenset[str]:
        """Methods by which a layer keeps a tensor that is no parameter."""
        return frozenset(name for framework in self.frameworks for name in framework.buffers)

    @cached_property
    def weights(self) -> frozenset[str]:
        """Names of parameters that are handed stored weights."""
        return frozenset(name for framework in self.frameworks for name in framework.weights)

    @cached_property
    def raising(self) -> frozenset[str]:
        """The names whose calls may come to an error, perhaps on some hardware alone."""
        return self.with_context(RAISES) | self.with_context(UNSUPPORTED)

    @cached_property
    def lacking(self) -> frozenset[str]:
        """Those of them that don't exist at all, so that importing one does, too."""
        return frozenset(
            n for e in self.entries if RAISES in e.contexts and not e.when and not e.versions for n in e.names
        )

    @cached_property
    def removed(self) -> dict[str, str]:
        """Names that a library had once -> the releases without them."""
        return {name: entry.versions for entry in self.entries if REMOVED in entry.contexts for name in entry.names}

    @cached_property
    def asking(self) -> frozenset[str]:
        """What raises in all releases of its library that are older than the one that it is told."""
        return self.with_context("asks-for-release")

    @cached_property
    def raising_words(self) -> frozenset[str]:
        """The last component of the names whose calls may come to an error."""
        return self._last(self.raising)

    @cached_property
    def words_and_raising(self) -> tuple[frozenset[str], frozenset[str]]:
        """The last component of everything that can make a site, and of what may be called on an object, with these."""
        return self.words | self.raising_words, self.method_words | self.raising_words

    @cached_property
    def raising_roots(self) -> tuple[bytes, ...]:
        """The libraries that such are known of."""
        return tuple(sorted({name.partition(".")[0].encode() for name in self.raising}))

    def lacks(self, name: str) -> bool:
        """Whether a library surely doesn't have what is imported by a dotted name, or what that leads through."""
        name = self.canonical(name)
        while name and name not in self.lacking:
            name = name.rpartition(".")[0]
        return name != ""

    def with_context(self, context: str) -> frozenset[str]:
        """The names of all that a context is said of."""
        return frozenset(name for entry in self.entries if context in entry.contexts for name in entry.names)

    def words_with(self, context: str) -> frozenset[str]:
        """The last components of these names; their aliases aren't among them."""
        return frozenset(name.rpartition(".")[2] for name in self.with_context(context))

    @cached_property
    def only_drawing(self) -> frozenset[str]:
        """What does nothing but to draw something and give that."""
        return self.with_context("only-draws")

    @cached_property
    def only_drawing_words(self) -> frozenset[str]:
        """The last components of these names, and of their aliases."""
        return self._last(self.only_drawing)

    @cached_property
    def loading(self) -> frozenset[str]:
        """What loads weights, by its last component."""
        return self._last(self.with_context("loads-weights"))

    @cached_property
    def missing(self) -> frozenset[str]:
        """Attributes and items by which that tells for which weights it had none."""
        return frozenset(name for framework in self.frameworks for name in framework.missing)

    @cached_property
    def weights_from(self) -> dict[str, str]:
        """Streams of frameworks -> those that the seeds of their initial weights are drawn from."""
        return {framework.name: framework.weights_from for framework in self.frameworks if framework.weights_from}

    @cached_property
    def adding(self) -> frozenset[str]:
        """The frameworks of which it is known what adds up between devices by itself."""
        return frozenset(name.partition(".")[0] for name in self.with_context("sums-between-devices"))

    @cached_property
    def leaves(self) -> frozenset[str]:
        """Functions and methods that give tensors without gradients."""
        return frozenset(name for framework in self.frameworks for name in framework.leaves)

    @cached_property
    def inputs(self) -> frozenset[str]:
        """Names of parameters that are handed data."""
        return frozenset(name for framework in self.frameworks for name in framework.inputs)

    @cached_property
    def layer_prefixes(self) -> tuple[str, ...]:
        """Dotted prefixes, ending in `.`, whose capitalised members are layers."""
        return tuple(sorted({name for framework in self.frameworks for name in framework.layers}))

    @cached_property
    def networks(self) -> frozenset[str]:
        """Classes from which whole networks derive."""
        return frozenset(name for framework in self.frameworks for name in framework.networks)

    @cached_property
    def latents(self) -> frozenset[str]:
        """Parts of the names of parameters by which a whole network is handed data."""
        return frozenset(part for framework in self.frameworks for part in framework.latents)

    @cached_property
    def classes(self) -> frozenset[str]:
        """Names of parameters by which a network is told how many classes there are."""
        return frozenset(name for framework in self.frameworks for name in framework.classes)

    @cached_property
    def channels(self) -> frozenset[str]:
        """Names of parameters by which a network is told how many channels its images have."""
        return frozenset(name for framework in self.frameworks for name in framework.channels)

    @cached_property
    def examples(self) -> tuple[str, ...]:
        """Parts of the names of functions that make examples for tracers."""
        return tuple(sorted({part for framework in self.frameworks for part in framework.examples}))

    @cached_property
    def ids(self) -> frozenset[str]:
        """Names of variables that only tell runs, processes and files apart."""
        return frozenset(name for framework in self.frameworks for name in framework.ids)

    @cached_property
    def testing(self) -> frozenset[str]:
        """Environment variables, and modules, that are only there while tests run."""
        return frozenset(name for framework in self.frameworks for name in framework.testing)

    @cached_property
    def chooses(self) -> frozenset[str]:
        """Functions that choose some of many, or make some up, by their last component."""
        return frozenset(name for framework in self.frameworks for name in framework.chooses)

    @cached_property
    def shows(self) -> frozenset[str]:
        """What only shows people what it is handed: libraries, and functions and methods by their last component."""
        return frozenset(name for framework in self.frameworks for name in framework.shows)

    @cached_property
    def paints(self) -> frozenset[str]:
        """Functions that paint on the picture that is their first argument."""
        return frozenset(name for framework in self.frameworks for name in framework.paints if "." in name)

    @cached_property
    def plots(self) -> re.Pattern[str]:
        """Finds parts of the names of functions that paint or plot."""
        parts = {name.rpartition(".")[2] for framework in self.frameworks for name in framework.paints}
        return re.compile("|".join(map(re.escape, sorted(parts))))

    @cached_property
    def colours(self) -> frozenset[str]:
        """Parameters by which whoever paints or plots is handed a colour."""
        return frozenset(name for framework in self.frameworks for name in framework.colours)

    @cached_property
    def plotters(self) -> re.Pattern[bytes]:
        """Finds what imports, or calls by its name, something that shows pictures."""
        painting = {name.rpartition(".")[2] for name in self.paints}
        words = sorted((self.shows - {"print"}) | self.colours | painting)
        return re.compile(rb"\b(?:" + "|".join(map(re.escape, words)).encode() + rb")\b")

    @cached_property
    def looks(self) -> tuple[str, ...]:
        """Beginnings of the names of what does nothing but to give something for what it is handed."""
        return tuple(sorted({name for framework in self.frameworks for name in framework.looks}))

    @cached_property
    def fills(self) -> frozenset[str]:
        """Methods that put what they are handed into their object, and do no more."""
        return frozenset(name for framework in self.frameworks for name in framework.fills)

    @cached_property
    def makes(self) -> frozenset[str]:
        """Functions that make an object which nobody else has, by their last component."""
        return frozenset(name for framework in self.frameworks for name in framework.makes)

    @cached_property
    def makes_layers(self) -> frozenset[str]:
        """The base classes of layers and of networks, and what else makes one."""
        bases = frozenset(framework.module for framework in self.frameworks) - {""}
        return bases.union(*(entry.names for entry in self.entries if entry.returns in bases))

    @cached_property
    def assembles(self) -> frozenset[str]:
        """Libraries whose objects do nothing before they are used."""
        return frozenset(name for framework in self.frameworks for name in framework.assembles)

    @cached_property
    def used_later(self) -> frozenset[str]:
        """The last components of their classes whose objects draw then."""
        names = (name for name, found in self.calls.items() if any(self.entries[i].rule == OPEN_SEED for i in found))
        return self._last(
            n for n in names if n.partition(".")[0] in self.assembles and n.rpartition(".")[2][:1].isupper()
        )

    @cached_property
    def transforms(self) -> frozenset[str]:
        """The last components of the classes of random transforms."""
        names = (name for entry in self.entries if entry.rule == TRANSFORM for name in entry.names)
        return self._last(name for name in names if name.rpartition(".")[2][:1].isupper())

    @cached_property
    def data_sets(self) -> frozenset[str]:
        """What makes a data set, or takes one in random order, and does nothing before somebody goes through what it gives."""
        return frozenset(
            name
            for entry in self.entries
            for name in entry.names
            if entry.returns.endswith("Dataset") or (entry.rule == SHUFFLED and name.rpartition(".")[2][:1].isupper())
        )

    @cached_property
    def data_methods(self) -> frozenset[str]:
        """The methods of data sets that give such a data set, too."""
        found = (name.rpartition(".") for entry in self.entries for name in entry.names if name in self.data_sets)
        return frozenset(last for owner, _, last in found if owner.endswith("Dataset"))

    @cached_property
    def drawing_below(self) -> frozenset[str]:
        """What draws whole numbers from its first bound on, but not its second."""
        return self.with_context("draws-below")

    @cached_property
    def drawing_up_to(self) -> frozenset[str]:
        """What draws whole numbers between its bounds, both of them included."""
        return self.with_context("draws-up-to")

    @cached_property
    def selecting(self) -> frozenset[str]:
        """What selects so many of what it is given, each once."""
        return self.with_context("selects")

    @cached_property
    def bounded_words(self) -> frozenset[str]:
        """The last components of all these."""
        return self._last(self.drawing_below | self.drawing_up_to | self.selecting)

    @cached_property
    def shuffled_words(self) -> frozenset[str]:
        """The last components of those that are taken in random order."""
        found = {name: [self.entries[i] for i in self.calls.get(name, ())] for name in self.data_sets}
        return self._last(
            name for name, entries in found.items() if any(e.rule == SHUFFLED or e.draws for e in entries)
        )

    @cached_property
    def shufflers(self) -> re.Pattern[bytes]:
        """Finds what calls one of them by its name."""
        return re.compile(rb"\b(?:" + "|".join(map(re.escape, sorted(self.shuffled_words))).encode() + rb")\b")

    @cached_property
    def by_shape(self) -> dict[str, tuple[set[str], set[str]]]:
        """Functions that take only the shape of what follows their first argument, by their last component -> their libraries,
        and the parameters that their first argument may be given by."""
        found: dict[str, tuple[set[str], set[str]]] = {}
        for entry in (entry for entry in self.entries if "by-shape" in entry.contexts):
            for name in entry.names:
                libraries, firsts = found.setdefault(name.rpartition(".")[2], (set(), set()))
                libraries.add(name.partition(".")[0])
                firsts.update(entry.consumes)
        return found

    @cached_property
    def pipelines(self) -> frozenset[str]:
        """What a data pipeline is handed functions by."""
        return frozenset(name for framework in self.frameworks for name in framework.pipelines)

    @cached_property
    def masks(self) -> tuple[str, ...]:
        """Endings of the names of tensors that hold zeros and ones."""
        return tuple(sorted({ending for framework in self.frameworks for ending in framework.masks}))

    @cached_property
    def whole(self) -> frozenset[str]:
        """Types of whole numbers, and functions that give tensors of them."""
        return frozenset(name for framework in self.frameworks for name in framework.whole)

    @cached_property
    def precise(self) -> frozenset[str]:
        """Types of numbers that hold any count."""
        return frozenset(name for framework in self.frameworks for name in framework.precise)

    @cached_property
    def casts(self) -> frozenset[str]:
        """What gives a tensor in another type."""
        return frozenset(name for framework in self.frameworks for name in framework.casts)

    @cached_property
    def casting_methods(self) -> frozenset[str]:
        """The methods of tensors among them."""
        return self._of_tensors(self.casts)

    @cached_property
    def compares(self) -> frozenset[str]:
        """What gives tensors of booleans, by itself or by the objects that it makes."""
        return frozenset(name for framework in self.frameworks for name in framework.compares)

    @cached_property
    def wraps(self) -> frozenset[str]:
        """Functions that make a tensor of the numbers that they get."""
        return frozenset(name for framework in self.frameworks for name in framework.wraps)

    @cached_property
    def reshapes(self) -> frozenset[str]:
        """What gives the same numbers in another shape, by itself or by the objects that it makes."""
        return frozenset(name for framework in self.frameworks for name in framework.reshapes)

    @cached_property
    def stacks(self) -> frozenset[str]:
        """Functions that put tensors side by side along a new axis."""
        return frozenset(name for framework in self.frameworks for name in framework.stacks)

    @cached_property
    def zeros(self) -> frozenset[str]:
        """Functions that give a tensor of zeros."""
        return frozenset(name for framework in self.frameworks for name in framework.zeros)

    @cached_property
    def constants(self) -> frozenset[str]:
        """Functions that give a tensor full of one number."""
        return frozenset(name for framework in self.frameworks for name in framework.constants)

    @cached_property
    def picks(self) -> frozenset[str]:
        """Functions that take each number from one of two."""
        return frozenset(name for framework in self.frameworks for name in framework.picks)

    @cached_property
    def whole_words(self) -> frozenset[str]:
        """The last component of the types of whole numbers, which are no functions."""
        return frozenset(
            name.rpartition(".")[2] for name in self.whole if name not in self.calls and name.count(".") == 1
        )

    @cached_property
    def differentiated(self) -> frozenset[str]:
        """The functions that are judged by their backward pass."""
        judged = (entry for entry in self.entries if entry.rule and entry.pass_ == "backward")
        names = (name for entry in judged for name in entry.names)
        return frozenset(name for name in names if not name.rpartition(".")[2][:1].isupper())

    @cached_property
    def plain_methods(self) -> frozenset[str]:
        """The methods of tensors that give none."""
        return self._of_tensors(name for framework in self.frameworks for name in framework.plain)

    @cached_property
    def gradients_end(self) -> frozenset[str]:
        """The methods of tensors that no gradient comes back through."""
        return self._of_tensors((*self.leaves, *self.whole))

    @cached_property
    def tensors(self) -> frozenset[str]:
        """The classes of tensors."""
        return frozenset(framework.tensor for framework in self.frameworks)

    def _of_tensors(self, names: Iterable[str]) -> frozenset[str]:
        """The methods of tensors among some names."""
        split = (name.rpartition(".") for name in names)
        return frozenset(last for owner, _, last in split if owner in self.tensors)

    @cached_property
    def ordered_words(self) -> frozenset[str]:
        """The last component of what is judged by what becomes of its result."""
        judged = (e for e in self.entries if e.rule in JUDGED_BY_USE or e.becomes or "picks" in e.contexts)
        return self._last(name for entry in judged for name in entry.names)

    @cached_property
    def listing_words(self) -> tuple[bytes, ...]:
        """The last components of what gives items in no order."""
        return tuple(
            word.encode() for word in self._last(n for e in self.entries if e.rule in UNORDERED for n in e.names)
        )

    @cached_property
    def ordering(self) -> frozenset[str]:
        """What gives the elements of a set an order."""
        return frozenset(name for name, found in self.orders.items() if any(self.entries[i].rule for i in found))

    @cached_property
    def same_order(self) -> frozenset[str]:
        """What gives back the items that it is given, in their order."""
        return self._for_items("same-order")

    @cached_property
    def passing(self) -> frozenset[str]:
        """The last components of what gives back the items that it is given, copies of it included."""
        names = (*self.same_order, *(copy for copy, name in self.stand_ins.items() if name in self.same_order))
        return self._last(names)

    @cached_property
    def orderless(self) -> frozenset[str]:
        """What doesn't care about the order of what it is given, or puts it right."""
        return self._for_items("orderless")

    @cached_property
    def keeps_order(self) -> frozenset[str]:
        """What makes data of the items that it is given, in their order."""
        return self._for_items("keeps-order")

    @cached_property
    def numbers_texts(self) -> frozenset[str]:
        """What is given texts, and gives each the number of its place."""
        return self._for_items("numbers-texts")

    def _for_items(self, context: str) -> frozenset[str]:
        return frozenset(
            name for name, found in self.orders.items() if any(context in self.entries[i].contexts for i in found)
        )

    @cached_property
    def key_words(self) -> frozenset[str]:
        """The last component of what makes, derives or uses up random keys, or repeats what does."""
        return self._last(name for entry in self._about_keys for name in entry.names)

    @cached_property
    def key_roots(self) -> frozenset[str]:
        """The libraries of what does."""
        return frozenset(name.partition(".")[0] for entry in self._about_keys for name in entry.names)

    @property
    def _about_keys(self) -> list[Entry]:
        return [e for e in self.entries if e.consumes or not {"key", "repeats"}.isdisjoint(e.contexts)]

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


def _signature(path: str, name: str, text: object) -> Signature:
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
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        raw = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
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
    encode = msgspec.msgpack.encode
    signatures = {
        name: msgspec.Raw(encode(_signature(path, name, text))) for name, text in raw.get("signatures", {}).items()
    }
    aliases = _convert(path, "[aliases]", raw.get("aliases", {}), dict[str, str])
    return Document(rules, entries, frameworks, factories, settings_files, signatures, aliases)


def _rows(path: str, raw: dict[str, Any], table: str, kind: type[_T]) -> list[_T]:
    return [_convert(path, f"[[{table}]] {number}", row, kind) for number, row in enumerate(raw.get(table, []), 1)]


def _expand(row: Any) -> Any:
    """A list is short for `{ in = [...] }`, a word in `runtime` for `{ do = "..." }`."""
    if isinstance(row, dict) and isinstance(row.get("when"), dict):
        row = {**row, "when": {k: {"in": v} if isinstance(v, list) else v for k, v in row["when"].items()}}
    if isinstance(row, dict) and isinstance(row.get("runtime"), str):
        row = {**row, "runtime": {"do": row["runtime"]}}
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
    shipped = _files(directory(), ".toml")
    own = [(str(file), _read(file)) for file in extra or []]
    digest = xxhash.xxh3_128(f"{__version__} {sys.version_info[:2]}".encode())
    digest.update(_states([*shipped, *_files(Path(__file__).parent, ".py")]))
    for path, data in own:
        digest.update(b"\0" + path.encode() + b"\0" + data)
    fingerprint = digest.hexdigest()
    if cache is None and fingerprint in _loaded:
        return _loaded[fingerprint]
    collecting = gc.isenabled()
    gc.disable()  # nothing of what is made here is garbage
    try:
        compiled = cache / f"catalog-{fingerprint}.msgpack" if cache else None
        known = _read_compiled(compiled) if compiled else None
        if known is None:
            known = _compile([*((_shown(file), _read(Path(file))) for file in shipped), *own])
            if compiled:
                from detlint.cache import write_whole

                write_whole(compiled, msgspec.msgpack.encode(known))
        catalog = _loaded[fingerprint] = Catalog(known, fingerprint)
    finally:
        if collecting:
            gc.enable()
    return catalog


def _compile(sources: list[tuple[str, bytes]]) -> Document:
    documents = [parse(path, data) for path, data in sources]
    _check_rules(sources, documents)
    return _together(documents)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise CatalogError(f"{file}: can't be read: {error.strerror}") from None


def _shown(file: str) -> str:
    """A shipped file as messages name it."""
    return str(Path(file).relative_to(directory().parent))


_loaded: dict[str, Catalog] = {}
"""What this process has loaded, by fingerprint: who uses no cache, and asks again and again, waits once."""


def _files(folder: Path, ending: str) -> list[str]:
    """The files below a folder, in the order of their paths."""
    below = ((top, name) for top, _, names in os.walk(folder) for name in names)
    return sorted(os.path.join(top, name) for top, name in below if name.endswith(ending))


def _states(files: list[str]) -> bytes:
    """What tells one state of detlint's own files from another: its code made what the cache keeps, its rules are in it."""
    return repr([(file, (status := os.stat(file)).st_size, status.st_mtime_ns) for file in files]).encode()


def _check_rules(sources: list[tuple[str, bytes]], documents: list[Document]) -> None:
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


def _read_compiled(path: Path) -> Document | None:
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=Document)
    except (OSError, msgspec.DecodeError):
        return None

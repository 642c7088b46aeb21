"""What an entry of the catalog can say: the tables of a file, typed.

Written for being read at each start: annotations are no strings, which msgspec would have to evaluate one by one (2.5 ms),
and what holds several things is a tuple, since each entry would have its own empty list for each key that it leaves out.
"""

import re
from typing import Any, Literal

import msgspec

from detlint.catalog.places import Places

Level = Literal["error", "warning", "note"]

Applicability = Literal["safe", "unsafe", "display"]

Target = Literal["cpu", "cuda", "ascend", "tpu", "mps", "xpu", "hpu"]

Scalar = bool | int | float | str | None

CODE = re.compile(r"DET\d{3}")

STREAMS = frozenset({
    "python", "numpy", "torch", "cuda", "npu", "mps", "xpu", "mindspore", "mindspore-generator", "tensorflow", "keras", "paddle",
    "cupy", "jax", "theano", "mindspore-dataset", "imgaug", "gym", "gym-space", "gym-batch", "faker", "polars", "dask",
    "monai", "dali", "dgl", "open3d",
})  # fmt: skip
"""The random-number states that the seed flow tells apart."""
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

RAISES = "raises"
REMOVED = "removed"
"""The context of what a library doesn't have, or doesn't take: a call of it comes to an error."""

OF_TYPES = frozenset({"returns-self", "closed", "layer", "weights", "named-weights", RAISES, REMOVED})
"""Contexts that only say what an object is, or matter only in files that mention its library."""


class CatalogError(Exception):
    """A catalog file that can't be used. The text names the file, the entry, the key and the reason."""


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", omit_defaults=True):
    """What must hold of one argument. Every key that is given must hold; an argument left out has its default.

    The name before it, in `when`, may go into a dictionary: `randomness.seed` is what `randomness` gets under "seed".
    """

    in_: tuple[Scalar, ...] | None = msgspec.field(default=None, name="in")
    not_in: tuple[Scalar, ...] | None = None
    above: float | None = None
    below: float | None = None
    given: bool | None = None
    """Whether the call passes the argument at all (a splat may: undecided)."""
    sequence: bool | None = None
    """Whether the value is a list or tuple of more than one item."""
    accelerator: bool | None = None
    """Whether the value names a device other than the CPU (`"cuda:0"`, `torch.device("npu")`, `x.device`)."""
    device: tuple[str, ...] | None = None
    """The value surely names a device of one of these kinds."""
    not_device: tuple[str, ...] | None = None
    """It does not, or may name another."""
    length: tuple[int, ...] | None = None
    """How many items the list or tuple has."""
    not_length: tuple[int, ...] | None = None
    """It has another number of them, or may have."""
    sum_above: float | None = None
    """Its numbers, without those below zero, add up to more, or may do."""
    not_surely: tuple[Scalar, ...] | None = None
    """It is none of these, or may be none."""
    not_dimensions: tuple[int, ...] | None = None
    """It is a tensor with another number of dimensions, or may be one."""
    dimensions_above: int | None = None
    """It is a tensor that surely has more dimensions."""
    type: Literal["str", "number", "tensor", "whole", "half", "indexable"] | None = None
    """`whole`: a tensor that surely holds whole numbers or booleans; `half`: floating-point numbers of 16 bits."""
    not_type: Literal["whole"] | None = None
    """It is none of these, or may be none."""
    dense_for: str = ""
    """A parameter, a kernel's size: with the value as stride, some place is in more than two windows of that size. Left out it
    counts as the same size."""
    sparse_for: str = ""
    """A kernel's size: no place is in more than two windows, so that sums over them are the same in any order."""
    not_only: tuple[str, ...] = ()
    """It isn't surely a list of nothing but calls of these."""
    contains: str | None = None
    """A part of a string (`XLA_FLAGS` holds many flags)."""
    draws: tuple[str, ...] = ()
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


class Handing(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", omit_defaults=True):
    """How a call is handed what it calls, and what it calls that with: `Process(target=f, args=(1,), kwargs={"n": 2})`."""

    function: str
    """The parameter that gets the function, or a table or list of several, one of which is chosen."""
    otherwise: str = ""
    """What it calls where that is left out: the function of that name in the module that the run starts with, `*` for any of those
    that it defines."""
    first: Literal["", "self", "other"] = ""
    """What the function gets before all else: the object that the call is made on, or something of the library's."""
    arguments: str = ""
    """The parameter that gets a list of the arguments; `*args`, where it is what the call gives beyond its parameters."""
    keywords: str = ""
    """The same for a table of keywords, `**kwargs`."""
    items: str = ""
    """The parameter that gets something of which the function gets one item at a time; `*iterables`, where it gets one of each."""


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", omit_defaults=True):
    """What is known of a group of APIs that behave alike. Without `rule` it only informs the seed flow."""

    names: tuple[str, ...] = ()
    """Canonical dotted names; methods as `torch.Tensor.scatter_add_`; environment variables as themselves; programs that
    commands start as `vllm.serve`; settings under the name of their kind of file (`detectron2.SEED`)."""
    kind: Literal["call", "assignment", "environment", "command", "setting", "unknown-member", "mention", "order"] = (
        "call"
    )
    rule: str = ""
    registry: tuple[str, ...] = ()
    """Names under which a registry builds it: `dict(type="RandomFlip")`."""
    sections: tuple[str, ...] = ()
    """Names under which a configuration holds a dictionary of settings: `randomness = dict(seed=None)`."""
    copies: tuple[str, ...] = ()
    """Class or function names that projects copy from the original: a project's own definition of that name counts."""
    unmistakable: bool = False
    """The method name alone is enough when the receiver's type is unknown."""
    when: dict[str, Condition] = {}
    block: bool = False
    """It counts only as the head of a `with` block in which something is drawn or a layer is built."""
    inside: tuple[str, ...] = ()
    """It counts only in methods of a class that is one of these: `dataset`, `layer`."""
    unsure: Literal["silent", "report"] = "silent"
    """What to do when a condition can't be decided from the source."""
    while_training: bool = False
    """It counts only in a run that trains; where `inside` is given too, in either place."""
    outermost: bool = False
    """Silent inside another call of the same API, which speaks for it."""
    becomes: tuple[str, ...] = ()
    """What must become of the result outside of `inside`, by the beginnings of its roles: `key`, `argument:numpy.array`."""
    collides: str = ""
    """A parameter with indices: where none repeats, no two things are done to one place, and nothing varies."""
    gradient_of: str = ""
    """The parameter whose gradient alone varies: where that needs none, nothing does."""
    unless_under: str = ""
    """A context: silent inside a `with` block that means it."""
    unless_set: str = ""
    """A switch: silent where every run that comes by has set it."""
    targets: tuple[Target, ...] = ()
    pass_: Literal["forward", "backward"] = msgspec.field(default="forward", name="pass")
    versions: str = ""
    """A requirement such as `torch >= 2.1, < 2.10`; empty means every version."""
    category: Literal["", "a", "b", "c", "d"] = ""
    """a raises under the deterministic switch; b the switch selects a deterministic path; c an environment variable is
    needed; d nondeterministic with no alert."""
    strict: bool = False
    """The switch answers it only where it is on in full: with `warn_only` it stays as it is."""
    level: Literal["", "error", "warning", "note", "design", "align", "compare"] = ""
    """Overrides the rule's level."""
    message: str = ""
    remedy: str = ""
    fix: Recipe | None = None
    align: Recipe | None = None
    """What takes the place of `fix` where back ends are compared (profile `align`)."""
    runtime: Deed | None = None
    known: tuple[str, ...] = ()
    """For `unknown-member`: the members that do exist."""
    draws: tuple[str, ...] = ()
    seeds: tuple[str, ...] = ()
    seed: str = ""
    """The parameter that carries the seed."""
    absent: str = ""
    """What a seeding call without its seed takes: something `fixed` (as without this key), `entropy`, or a number from a
    stream, by its name. A seed of None is always entropy, unless `absent` is `fixed` or a stream."""
    unseeds: tuple[str, ...] = ()
    reads: str = ""
    """The parameter that names, or is, a file of settings: the call gives what that says."""
    restores: tuple[str, ...] = ()
    """Leaving the block puts these streams back as they were."""
    entropy: bool = False
    sets: dict[str, Scalar] = {}
    """Switches that the call sets: `deterministic-algorithms`, `cudnn-deterministic`, ...; a string `=name` takes the
    value of that argument."""
    options: dict[str, dict[str, Scalar]] = {}
    """Of a call that reads the command line of its script: flags of that, and the switches that each sets."""
    adds: tuple[str, ...] = ()
    """Of what adds atomically in a kernel: the parameters with the place, perhaps with what tells it further, and what is added."""
    compiles: tuple[str, ...] = ()
    """The parameters that carry a source in C++, which is compiled."""
    declares: tuple[str, ...] = ()
    """The parameters that carry the declarations of what such a source takes, where it is a body alone."""
    assembles: tuple[str, ...] = ()
    """The parameters that carry instructions of PTX."""
    consumes: tuple[str, ...] = ()
    """The parameters that carry random keys which the call uses up."""
    returns: str = ""
    """The type of the result; `generator` for generator objects."""
    holds: str = ""
    """Of a class: the type of what its objects hold under names."""
    hands: Handing | None = None
    """How it is handed what it calls, in the way that its `contexts` say."""
    contexts: tuple[str, ...] = ()
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
                or self.hands
                or self.reads
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
    level: Literal["error", "warning", "note", "design", "align", "compare"]
    summary: str
    """One sentence: what it finds."""
    message: str
    """The text of a finding; `{api}` is the name of the API, `{value}` the argument that decided."""
    why: str
    remedy: str = ""
    """What to do, where the entry says nothing of its own. Imperative."""
    source: str = ""
    streams: tuple[str, ...] = ()
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
    targets: tuple[Target, ...]
    """The hardware on which it matters."""
    assumed: bool = False
    """Whether a run is judged for these targets although no file of it names one."""
    taken: bool = False
    """Whether the framework takes this hardware by itself: code that names none is told what is known to vary there."""
    partly: str = ""
    """Another switch, which answers the most of it on CUDA: what a run is told that sets that one is a note."""
    remedy: str = ""
    """Instead of the rule's."""
    calls: dict[str, str] = {}
    """What switches it on at the start of a run, a statement a line, by the requirement that it needs (`torch >= 1.8`)."""


class Framework(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A library: its import roots, and what making and typing its values means."""

    name: str
    modules: tuple[str, ...]
    """Top-level import names."""
    targets: tuple[Target, ...] = ()
    """Targets implied by importing it (`torch_npu` -> ascend)."""
    tensor: str = ""
    """The tensor class; a method on it gives one again, unless `plain` lists the method."""
    producers: tuple[str, ...] = ()
    """Dotted prefixes, ending in `.`, whose functions return the tensor."""
    plain: tuple[str, ...] = ()
    """Functions under the producers, and tensor methods, that do not."""
    whole: tuple[str, ...] = ()
    """Types of whole numbers and of booleans, and functions that give tensors of them whatever they get."""
    half: tuple[str, ...] = ()
    """Types of floating-point numbers of 16 bits, and methods that give tensors of them."""
    precise: tuple[str, ...] = ()
    """Types of other numbers that hold any count, exactly."""
    casts: tuple[str, ...] = ()
    """Functions and methods that give a tensor of the same numbers in the type that they are told, or that their name says."""
    compares: tuple[str, ...] = ()
    """Functions that give tensors of booleans, and classes whose objects do when they are called."""
    scalars: tuple[str, ...] = ()
    """Losses that give one number, unless their `reduction` is "none"."""
    wraps: tuple[str, ...] = ()
    """Functions that make a tensor of the numbers that they get, of the same type unless they are told another one."""
    reshapes: tuple[str, ...] = ()
    """Functions that give a tensor of the same numbers in another shape, and classes whose objects do when they are called."""
    stacks: tuple[str, ...] = ()
    """Functions that put tensors side by side along a new axis."""
    computes: tuple[str, ...] = ()
    """Functions that make a tensor of others, and do nothing else."""
    ranges: tuple[str, ...] = ()
    """Functions that count: they give a tensor of numbers, each another one."""
    zeros: tuple[str, ...] = ()
    """Functions that give a tensor of zeros."""
    constants: tuple[str, ...] = ()
    """Functions that give a tensor full of the number that they are told second."""
    picks: tuple[str, ...] = ()
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
    weights: tuple[str, ...] = ()
    """Names of parameters that are handed stored weights, which carry no gradients."""
    leaves: tuple[str, ...] = ()
    """Functions, and methods of tensors, that give tensors which need no gradients whatever they get."""
    inputs: tuple[str, ...] = ()
    """Names of parameters that are handed data as a loader gives it."""
    networks: tuple[str, ...] = ()
    """Classes from which whole networks derive, and no parts of one."""
    latents: tuple[str, ...] = ()
    """Parts of the names of parameters by which a whole network is handed data besides its first."""
    optimizers: tuple[str, ...] = ()
    """Classes and functions that have weights changed by their gradients, and dotted prefixes, ending in `.`, of such."""
    gradients: tuple[str, ...] = ()
    """Functions that take gradients, besides those that are known to train."""
    updates: tuple[str, ...] = ()
    """Functions, methods and attributes by which weights get new values, by their last component."""
    classes: tuple[str, ...] = ()
    """Names of parameters by which a network is told how many classes there are."""
    channels: tuple[str, ...] = ()
    """Names of parameters by which a network is told how many channels its images have."""
    addresses: tuple[str, ...] = ()
    """Options, environment variables and schemes of addresses, by how they begin: what follows one says where processes meet."""
    labels: tuple[str, ...] = ()
    """Functions that only take names of files, folders and runs, and addresses."""
    testing: tuple[str, ...] = ()
    """Environment variables, and modules, that are only there while tests run."""
    chooses: tuple[str, ...] = ()
    """Functions that choose some of many, or make some up, by their last component."""
    buffers: tuple[str, ...] = ()
    """Methods by which a layer keeps a tensor that is no parameter, under the name that they get first."""
    shows: tuple[str, ...] = ()
    """Libraries, and methods and functions by their last component, that only show people what they are handed."""
    paints: tuple[str, ...] = ()
    """Functions that paint on the picture that is their first argument; without a dot: parts of the names of those that plot."""
    colours: tuple[str, ...] = ()
    """Parameters by which whoever paints or plots is handed a colour."""
    looks: tuple[str, ...] = ()
    """Beginnings of the names of functions and methods that do nothing but to give something for what they are handed."""
    fills: tuple[str, ...] = ()
    """Methods that put what they are handed into their object, and do no more."""
    makes: tuple[str, ...] = ()
    """Functions that make an object which nobody else has, by their last component."""
    assembles: tuple[str, ...] = ()
    """Libraries whose classes only keep what they are handed when an object is made, and do nothing before it is used."""
    pipelines: tuple[str, ...] = ()
    """Functions, methods and parameters by which a data pipeline is handed functions, by their last component."""
    mode: str = ""
    """The attribute of an instance that says whether it trains."""
    mends: tuple[str, ...] = ()
    """Libraries that give it what it lacks."""
    layers: tuple[str, ...] = ()
    """Dotted prefixes, ending in `.`, whose capitalised members are layers."""
    switch: Switch | None = None
    places: Places | None = None


class Factory(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", omit_defaults=True):
    """How a configuration says what to build: in a table by a key (`_target_: torch.nn.Dropout`), in YAML by a tag
    (`!new:torch.nn.Dropout`)."""

    name: str
    key: str = ""
    """The key whose value names what is built."""
    tags: tuple[str, ...] = ()
    """YAML tags that do, as far as the name (`!new:`)."""
    partial_tags: tuple[str, ...] = ()
    """Those that keep the call for later."""
    names: Literal["dotted", "registered"] = "dotted"
    """Whether the value is a dotted name, or one under which something is registered."""
    scopes: tuple[str, ...] = ()
    """The libraries whose registries hold what the catalog knows by `registry`; one may stand before a name."""
    library: str = ""
    """Where a name without dots is looked up."""
    arguments: tuple[str, ...] = ()
    """The keys of the tables that hold the arguments; without any they stand beside the name."""
    required: bool = False
    """Whether the first of these must be there, because the key alone means many things."""
    positional: str = ""
    """The key of a list of positional arguments."""
    partial: str = ""
    """The key that, when true, keeps the call for later."""
    plain: tuple[str, ...] = ()
    """Keys beside the name that are no arguments."""
    builders: tuple[str, ...] = ()
    """Functions that build what the table says which they are handed."""
    source: str = ""


class SettingsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", omit_defaults=True):
    """A kind of YAML file whose keys mean something to a library by their names alone."""

    name: str
    marks: tuple[str, ...]
    """Keys of which one, anywhere in the document, tells that it is such a file."""
    under: tuple[str, ...] = ()
    """Keys below which the settings may stand too (subcommands)."""
    calls: dict[str, str] = {}
    """Keys whose table holds the arguments of a call of an API."""
    source: str = ""


class Launcher(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", omit_defaults=True):
    """Programs of one kind that start another one, perhaps in several processes."""

    names: tuple[str, ...] = ()
    """Programs."""
    modules: tuple[str, ...] = ()
    """Modules that do so (`python -m torch.distributed.run`)."""
    processes: tuple[str, ...] = ()
    """The options that say how many processes."""
    several: bool = False
    """Whether it may start several where none of them is given."""
    variables: tuple[str, ...] = ()
    """Variables of the environment by which processes know how many they are."""
    assigning: tuple[str, ...] = ()
    """The options that set variables of the environment (`-e NAME=value`); "" for words before the program that do (`env NAME=value`)."""
    source: str = ""


class KernelLanguage(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", omit_defaults=True):
    """What is known of a language for kernels: full names of Python, and names that C++ calls. Methods go by their names."""

    name: str
    kernels: tuple[str, ...] = ()
    """Decorators, and words, by which a function is a kernel."""
    functions: tuple[str, ...] = ()
    """Decorators by which a function is one that kernels call."""
    loop_kernels: tuple[str, ...] = ()
    """Decorators of kernels whose outermost loops run in parallel."""
    loop_functions: tuple[str, ...] = ()
    """Those of functions that such kernels call, and that are nothing by themselves."""
    loop_settings: tuple[str, ...] = ()
    """What tells how the next such loop runs: `loop_config(serialize=True)`."""
    statics: tuple[str, ...] = ()
    """What has a loop, or a test, be done when a kernel is compiled."""
    adding_kernels: tuple[str, ...] = ()
    """Decorators of functions in which `+=` to an entry of an array is atomic."""
    appends: tuple[str, ...] = ()
    """What appends to a list that all share: the list, which one of several, what."""
    appending_methods: tuple[str, ...] = ()
    """Methods that do so: what."""
    stores: tuple[str, ...] = ()
    """What stores at an address: that, what."""
    tuned_kernels: tuple[str, ...] = ()
    """Those that choose a configuration by timing, unless they are given one."""
    parallel_kernels: tuple[str, ...] = ()
    """Decorators by which loops of a function may run in parallel, if they are told so."""
    parallel_ranges: tuple[str, ...] = ()
    """What such a loop goes through."""
    tuners: tuple[str, ...] = ()
    """Classes whose objects stand for kernels; one that is told configurations chooses among them."""
    autotuners: tuple[str, ...] = ()
    """Decorators that choose one of several configurations by timing."""
    configs: tuple[str, ...] = ()
    """What makes such a configuration."""
    programs: tuple[str, ...] = ()
    """What gives the number of the program, or block, that runs; as a loop or block: all that run."""
    threads: tuple[str, ...] = ()
    """The same of threads in a block."""
    grids: tuple[str, ...] = ()
    """The same of threads in all blocks."""
    counts: tuple[str, ...] = ()
    """How many of them there are."""
    ceilings: tuple[str, ...] = ()
    """How many blocks something is cut into: that, and the size of a block."""
    powers: tuple[str, ...] = ()
    """What rounds a size up."""
    permutes: tuple[str, ...] = ()
    """What gives each thread another number, by its own: the last argument."""
    lanes: tuple[str, ...] = ()
    """What numbers the elements that one program works on at once."""
    atomics: tuple[str, ...] = ()
    """Functions of C++ that add to a place, the first argument, a number, the second one; methods of a reference, a number."""
    float_atomics: tuple[str, ...] = ()
    """Those that add floating-point numbers, whatever their arguments."""
    indexed_atomics: tuple[str, ...] = ()
    """Those that are handed the array, the index, how long it is, and the number."""
    reductions: tuple[str, ...] = ()
    """Functions of C++, with their namespace, by which threads add up in an order of their own."""
    reductions_by_policy: tuple[str, ...] = ()
    """Those of them that do so only if they are told a policy."""
    policies: tuple[str, ...] = ()
    """Such policies."""
    counters: tuple[str, ...] = ()
    """Those that count whole numbers up to a limit."""
    swaps: tuple[str, ...] = ()
    """Those that put one value in another's place, if that is still there."""
    swapping_methods: tuple[str, ...] = ()
    """Methods of atomic variables that do the same."""
    exchanges: tuple[str, ...] = ()
    """Those that do so whatever is there."""
    atomic_references: tuple[str, ...] = ()
    """Types whose methods are atomic."""
    bits: tuple[str, ...] = ()
    """What gives the bits of a floating-point number as a whole one."""
    byte_copies: tuple[str, ...] = ()
    """What copies bytes: to an address, from another one."""
    additions: tuple[str, ...] = ()
    """Functions that add two numbers."""
    items: tuple[str, ...] = ()
    """What gives the number of a thread among those of all blocks, along an axis that is told."""
    block_items: tuple[str, ...] = ()
    """The same among those of its block."""
    modes: tuple[str, ...] = ()
    """Functions that have later copies of a type add."""
    whole: tuple[str, ...] = ()
    """What gives whole numbers."""
    floats: tuple[str, ...] = ()
    """What gives floating-point numbers."""
    first: tuple[str, ...] = ()
    """What gives numbers like those of its first argument, unless it is told a type."""
    like: tuple[str, ...] = ()
    """The same of what makes new arrays."""
    addresses: tuple[str, ...] = ()
    """What gives no numbers, but where they are."""
    chooses: tuple[str, ...] = ()
    """What gives one of its second and third arguments."""
    typed: tuple[str, ...] = ()
    """What gives numbers of the type that it is told, floating-point numbers if it is told none."""
    typed_whole: tuple[str, ...] = ()
    """The same, whole numbers if it is told none."""
    mode_ends: tuple[str, ...] = ()
    """What ends a mode in which copies add."""
    copies: tuple[str, ...] = ()
    """What copies to a place, the first argument, what the second one is."""
    fills: tuple[str, ...] = ()
    """What writes one number to a tensor, the first argument or what the method is of; the second argument."""
    table_reads: tuple[str, ...] = ()
    """Methods that read an entry of a tensor."""
    adding_methods: tuple[str, ...] = ()
    """Methods of what a kernel is given that add atomically: where, a number."""
    loads: tuple[str, ...] = ()
    """What reads entries of a table in memory, by their address."""
    cuts: tuple[str, ...] = ()
    """What may give one number for several."""
    sums: tuple[str, ...] = ()
    """What adds up along an axis, in an order that the sizes of blocks decide."""
    products: tuple[str, ...] = ()
    """What multiplies matrices."""
    dispatches_floats: tuple[str, ...] = ()
    """Macros that compile what they are handed for types among which floating-point ones are."""
    dispatches_whole: tuple[str, ...] = ()
    """The same for whole ones alone."""
    float_types: tuple[str, ...] = ()
    whole_types: tuple[str, ...] = ()
    floats_methods: tuple[str, ...] = ()
    whole_methods: tuple[str, ...] = ()
    like_methods: tuple[str, ...] = ()
    """What makes arrays of the type that they are told, or of their object's."""
    same_methods: tuple[str, ...] = ()
    cast_methods: tuple[str, ...] = ()
    """What gives numbers of the type that it is told."""
    source: str = ""


class Document(msgspec.Struct, frozen=True):
    """One catalog file, checked."""

    rules: list[Rule] = []
    entries: list[Entry] = []
    frameworks: list[Framework] = []
    factories: list[Factory] = []
    settings_files: list[SettingsFile] = []
    launchers: list[Launcher] = []
    kernel_languages: list[KernelLanguage] = []
    signatures: dict[str, msgspec.Raw] = {}
    """Encoded: a run asks for few of them, and they are a quarter of everything."""
    aliases: dict[str, str] = {}


Signature = list[tuple[str, Any]]
"""(parameter, default) in order; `...` stands for no default, a name beginning with `*` takes the rest."""

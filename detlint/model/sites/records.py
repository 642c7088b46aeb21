"""The facts of one file, as plain serialisable records.

Values are symbolic: what an expression is known to be without running it. `None` means unknown. Names are dotted and
absolute: `F.dropout` after `import torch.nn.functional as F` is `Ref("torch.nn.functional.dropout")`, and a function
of the file itself is `Ref("<module>.function")`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from detlint.model.search_path import NOTHING, Puts
from detlint.sources.directives import Directive
from detlint.sources.parse import Cell, Problem

SUPER: Final = "<super>"
"""The attribute of an object by which its class asks for what its bases have: `super().f` is `self.<super>.f`."""
NOTED: Final = "__init_subclass__"
"""The method that runs for each class that derives from its own."""
SETTER: Final = ".<setter>"


class Record(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A compact record: an array on disk, no dictionary in memory."""


class Const(Record, frozen=True, tag=0):
    """A literal."""

    value: bool | int | float | str | None


class Ref(Record, frozen=True, tag=1):
    """An imported or defined thing, by its dotted name."""

    name: str


UNKNOWN_RECEIVER: Final = Ref("?")
"""What a method is called on, where nothing is known of it."""


class Member(Record, frozen=True, tag=2):
    """An attribute (`attr`) or an item (`[key]`) of a value."""

    base: Value
    attr: str


class Result(Record, frozen=True, tag=3):
    """What a call gives back. `site` is the position of the call in `Facts.sites`, -1 when it wasn't recorded."""

    of: Value
    site: int = -1


class Instance(Record, frozen=True, tag=4):
    """Some object of a class: `self`, or a variable with an annotation."""

    of: str
    name: str = ""
    """The parameter that holds it; `?` for another variable, "" for `self`."""


class Param(Record, frozen=True, tag=5):
    """A parameter of the enclosing function: its name and its default."""

    name: str
    default: Value | None = None


class Items(Record, frozen=True, tag=6):
    """A list, tuple or set display."""

    values: tuple[Value | None, ...]
    kind: Literal["list", "tuple", "set"] = "list"


class Mapping(Record, frozen=True, tag=7):
    """A dictionary whose keys are all literal strings."""

    keys: tuple[str, ...]
    values: tuple[Value | None, ...]
    open: bool = False
    """Whether it has others besides, which aren't known: `dict(shuffle=False, **options)`."""
    rest: Value | None = None
    """The table that has these, where that is all."""


class Either(Record, frozen=True, tag=8):
    """One of several values, depending on the way taken; None among them is a way that is not known."""

    options: tuple[Value | None, ...]
    by: str = ""
    """What decides between two: the first is the value where that is true. A parameter of its function; the mode of a layer, with a dot
    before it; or an attribute of something, `config.distributed`."""


class Partial(Record, frozen=True, tag=9):
    """`functools.partial(of, ...)`; the bound arguments stand at `site`."""

    of: Value
    site: int = -1


class Expression(Record, frozen=True, tag=10):
    """Any other expression: its source text, and what the names in it are."""

    text: str
    names: dict[str, Value | None] = {}

    def __hash__(self) -> int:
        return hash((self.text, *sorted(self.names)))  # the table itself has none


class Each(Record, frozen=True, tag=11):
    """A list that a comprehension makes, of functions or of what calls give: one stands for all."""

    of: Value | None


Value = Const | Ref | Member | Result | Instance | Param | Items | Mapping | Either | Partial | Expression | Each


GETATTR: Final = Ref("builtins.getattr")
"""What gives a part of a module or class by a name that isn't written out; the site is an `item`."""
IMPORT_MODULE: Final = Ref("importlib.import_module")
"""What gives a module by such a name, likewise."""
PUT_TOGETHER: Final = Ref("builtins.str.join")
ANY_TEXT: Final = Ref("builtins.str")
"""A part of such a text of which nothing is known."""
"""What gives the text that some parts make, likewise."""
LOOKED_UP: Final = (GETATTR, IMPORT_MODULE, PUT_TOGETHER)
PARSES: Final = frozenset({"parse_args", "parse_args_into_dataclasses", "parse_intermixed_args", "parse_known_args"})
"""Methods of parsers of command lines that give what a line says."""
TAKES_OUT: Final = frozenset({"get", "pop", "setdefault"})
"""Methods that give what a table has under a key, and are told what to give where it has nothing."""
OPERATED: Final = "<op>"
"""Stands for a method: what arithmetic makes of a value and of others."""
SCALED: Final = "<number>"
"""What arithmetic makes of a value and of numbers."""
SHAPES: Final = Const("shapes")
PRINTS: Final = Const("prints")
LOOKS: Final = Const("looks")
"""What the test of a `__main__` block says of it (`Branch.test`)."""
COMPARED: Final = Result(Ref("operator.eq"))
"""What a comparison gives: of tensors, zeros and ones."""


def options(value: Value | None) -> tuple[Value | None, ...]:
    """What a value may be, one by one."""
    return value.options if isinstance(value, Either) else (value,)


def is_made_by(value: object, index: int) -> bool:
    """Whether a value is what the call at a position of `Body.sites` gives; never for -1, where several may not be recorded."""
    return isinstance(value, Result) and value.site == index >= 0


class Arg(Record, frozen=True):
    """One argument of a call. `name` is the keyword, "" for a positional, "*" and "**" for splats."""

    name: str
    value: Value | None


class Span(Record, frozen=True):
    """Where something stands: 1-based lines; columns are 0-based offsets in the UTF-8 of the line."""

    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def place(self) -> tuple[int, int, int, int]:
        """The same as the IR has it."""
        return self.line, self.column, self.end_line, self.end_column


SiteKind = Literal[
    "call",
    "partial",
    "config",
    "assignment",
    "environment",
    "command",
    "registry",
    "section",
    "setting",
    "write",
    "mention",
    "order",
    "item",
]
"""`config`: an object that a configuration describes, to be built later (`dict(type=Net)`). `section`: `randomness =
dict(seed=None)`, settings under a name that the catalog knows. `setting`: a key of a YAML file that means something to a
library by its name alone. `command`: a launch text starts a program, with options and variables as arguments.
`mention`: a statement that only names a function. `write`: an attribute or item of some object is
set; it may be a property, an option of the command line, a collection that keeps functions and classes. `order`: the elements
of a set get an order. `item`: a part of something by a name that isn't written out; it is no step, and only says what the value is
that has its number."""


class Site(Record, frozen=True):
    """A place that the catalog may know: a call, an assignment, an environment write, a registry entry."""

    kind: SiteKind
    target: Value
    """The callee; for an assignment the attribute; for the environment `Ref(variable)`; for a registry `Ref(type)`, or
    the dotted name of something of the program's own; for a section `Ref(name)`; for a setting `Ref("detectron2.SEED")`."""
    args: tuple[Arg, ...]
    span: Span
    function: int
    """The function that it stands in, as a position in `Facts.functions`; 0 is the module's top level."""
    within: tuple[int, ...] = ()
    """The calls that made the context managers around it, by position in `Body.sites`."""


class Branch(Record, frozen=True):
    """Alternatives in the flow of a function, or a block. An arm is a list of steps.

    `test` is what an `if` asks (as text where it may decide on a seed, or a parameter; where a layer is asked whether it
    trains, the first arm is where it does), what a `with` enters, and what a `rebind` sets anew (an attribute, an item); of a
    loop, the values that its body replaces, each before the one in its place: tensors, and random keys; of a `__main__` block
    that shows no more than the shapes of what it makes, `SHAPES`, that only prints, `PRINTS`, or that at most prints and shows
    pictures, `LOOKS`. A `trial` is the body of a function that shows no more than shapes. `tests` is an `if` whose first arm only
    runs while tests do. A `with` whose block surely raises has a second arm, without steps: what is behind it is come to if its manager
    catches that. A `yield`, a `rebind`, an `exit` of the process, and a `return` that stands in another branch, have no arms.
    Nor has a `raise`, where the expression that is evaluated surely raises.
    """

    kind: Literal["if", "loop", "try", "main", "with", "trial", "tests", "yield", "return", "exit", "raise", "rebind"]
    test: Value | None
    arms: tuple[tuple[Step, ...], ...]
    span: Span | None = None
    """Where the test stands, if it is known, or begins a `__main__` block."""


def flag_of(test: Value | None) -> tuple[str, bool]:
    """The parameter whose truth is what an `if` asks, "" for none, and whether its first arm is for what is true."""
    if isinstance(test, Param):
        return test.name, True
    if not isinstance(test, Expression):
        return "", True
    asked = test.text.removeprefix("not ")
    named = test.names.get(asked)
    return (named.name, asked == test.text) if isinstance(named, Param) else ("", True)


Step = int | Branch
"""A site, by its position in `Body.sites`; -1: the flow leaves here; -2 and below: the first of `Body.runs` at -2, and so
on; or a branch."""


def sites(steps: Sequence[Step]) -> Iterator[int]:
    """All sites under some steps, in order, branches included."""
    for step in steps:
        if isinstance(step, Branch):
            for arm in step.arms:
                yield from sites(arm)
        elif step >= 0:
            yield step


def branches(steps: Sequence[Step]) -> Iterator[Branch]:
    """All branches under some steps."""
    for step in steps:
        if isinstance(step, Branch):
            yield step
            for arm in step.arms:
                yield from branches(arm)


def surely(steps: tuple[Step, ...]) -> Iterator[int]:
    """The sites that are passed whatever is asked on the way."""
    for step in steps:
        if isinstance(step, Branch):
            if step.kind in ("main", "with", "try", "trial"):
                yield from surely(step.arms[0])
        elif step >= 0:
            yield step


def surely_after(steps: tuple[Step, ...], site: int) -> list[int] | None:
    """The sites that are passed once one is, before a loop around it begins anew; None where it isn't among the steps."""
    for number, step in enumerate(steps):
        if step == site:
            return [*surely(steps[number + 1 :])]
        if not isinstance(step, Branch):
            continue
        for arm in step.arms:
            found = surely_after(arm, site)
            if found is not None:
                return found if step.kind == "loop" or -1 in arm else [*found, *surely(steps[number + 1 :])]
    return None


class Parameter(Record, frozen=True):
    """A parameter: `kind` is "" for ordinary ones, "*" and "**" for the collecting ones."""

    name: str
    default: Value | None
    annotation: str
    kind: str = ""
    span: Span | None = None
    """Where it stands, if its default may say whether something is seeded."""
    needed: bool = False
    """Whether it has no default, known or not."""


class Function(Record, frozen=True):
    """A function or method; position 0 of `Facts.functions` is the module's top level."""

    name: str
    """Its name inside the module, dotted: `Net.forward`, `main.<locals>.step`; `train@2` for what another cell of a
    notebook defines again."""
    owner: str
    """The class it is a method of, as a name inside the module; "" for none."""
    returns: Value | None = None
    number: int = 0
    """Its position in `Facts.functions`."""
    yields: bool = False
    """Whether calling it makes a generator."""
    deferred: bool = False
    """Whether calling it runs nothing yet: a generator function, or a coroutine."""


def plain(name: str) -> str:
    """The name of a function or class as its source has it: what a notebook defines again is numbered (`train@2`)."""
    first, *others = name.split("@")
    return first + "".join(other.lstrip("0123456789") for other in others)


class Option(Record, frozen=True):
    """An option of a command line: its default, and where that stands."""

    default: Value | None
    span: Span


class Detail(Record, frozen=True):
    """What only matters of a function where its own file is checked."""

    parameters: tuple[Parameter, ...] = ()
    decorators: tuple[Value | None, ...] = ()
    options: dict[str, Option] = {}
    """Parameters that decorators fill from the command line (`@click.option("--seed")`)."""


class Class(Record, frozen=True):
    """A class: bases as values, attributes from its body and from `self.x = ...` in its methods."""

    name: str
    bases: tuple[Value | None, ...]
    attributes: dict[str, Value | None]
    methods: tuple[str, ...]
    places: dict[str, Span] = {}
    """Where those fields stand whose defaults may say whether something is seeded."""
    decorators: tuple[Value | None, ...] = ()
    """With its metaclass, which may make something else of it too."""
    properties: tuple[str, ...] = ()
    """Those of its methods that run where their name is read, as an attribute is, or, `NOTED`, where a class derives from it. What runs
    where it is assigned is the function with `SETTER` after that name."""


class Body(Record, frozen=True):
    """What happens in a file, in order: needed where it is checked or run through, not where a name leads into it."""

    sites: tuple[Site, ...] = ()
    steps: tuple[tuple[Step, ...], ...] = ()
    """The steps of each function, at the function's position."""
    details: tuple[Detail, ...] = ()
    """The details of each function, at the function's position."""
    runs: tuple[str | Member, ...] = ()
    """What runs something without a call, in the order of the source: imports that may lead into the program, dotted, and
    attributes that are read and may be properties."""
    keyed: tuple[int, ...] = ()
    """The functions that may handle random keys, by position."""


ANY: Final = "*"
"""The component of a dotted name that stands for every module of a package."""


Aliases = dict[str, tuple[str, ...]]
"""Names -> the last components of what they stand for."""


class Head(Record, frozen=True):
    """What linking asks of every file: the first fields of its facts, which are read without the rest."""

    module: str
    imports: tuple[str, ...] = ()
    """Every module or member that is imported, dotted, sorted."""
    aliases: msgspec.Raw = msgspec.Raw(b"\x80")  # an empty table: `Aliases` with nothing in it
    """Names that may stand for something else (`warp = F.grid_sample`, a bare subclass): encoded `Aliases`, which are half of all heads
    and seldom asked for."""
    starts: Literal["", "main", "script", "notebook"] = ""
    """Whether a run may start here: a `__main__` block, a top level that calls something, or a notebook."""
    directives: tuple[Directive, ...] = ()
    lines: int = 0
    stars: tuple[str, ...] = ()
    """Modules imported with `*`, in order."""
    offers: str | None = ""
    """The names that its top level binds itself and `import *` would take, with spaces between; None: left out."""
    closed: bool = False
    """Whether these are all, and may be any: its `__all__` says so."""
    cells: tuple[Cell, ...] = ()
    """Of a notebook, the code cells in order; all positions are those in the joined code."""
    properties: tuple[str, ...] = ()
    """The names of those properties of its classes that do more than to give back a value, sorted."""
    registers: dict[str, str] = {}
    """Names of the catalog's registries under which the file registers something of its own -> what, dotted."""
    builds: tuple[str, ...] = ()
    """The names of registries that it mentions, sorted."""
    puts: Puts = NOTHING
    """What it puts on Python's search path."""

    def brief(self) -> Head:
        """All but what is long and seldom asked for; of the imports, those of whichever modules a package has."""
        return Head(
            self.module, tuple(name for name in self.imports if ANY in name), self.aliases.copy(), self.starts, self.directives, self.lines,
            self.stars, None, self.closed, cells=self.cells, properties=self.properties, registers=self.registers, builds=self.builds,
            puts=self.puts,
        )  # fmt: skip


class Facts(Head, frozen=True):
    """Everything that later steps need to know of one file; `body` is an encoded `Body`. `Head`'s fields come first, so a
    head can be read off encoded facts."""

    names: dict[str, Value | None] = {}
    """What each name means at the end of the module's top level."""
    functions: tuple[Function, ...] = ()
    classes: tuple[Class, ...] = ()
    options: dict[str, Option] = {}
    """Command-line options by attribute name."""
    mentions: tuple[str, ...] = ()
    """Words for devices that occur in the file, lower case, sorted."""
    problem: Problem | None = None
    left_out: tuple[Problem, ...] = ()
    """Why cells of a notebook could not be read; the others were."""
    body: msgspec.Raw = msgspec.Raw(b"\x90")  # an empty array: a `Body` with nothing in it


ENCODER: Final = msgspec.msgpack.Encoder()
_FACTS: Final = msgspec.msgpack.Decoder(Facts)
_HEAD: Final = msgspec.msgpack.Decoder(Head)
_ALIASES: Final = msgspec.msgpack.Decoder(Aliases)
_BODY: Final = msgspec.msgpack.Decoder(Body)


def encode(facts: Facts) -> bytes:
    """Facts as they are kept."""
    return ENCODER.encode(facts)


def decode(data: bytes) -> Facts:
    """Facts as they were kept; their body stays encoded."""
    return _FACTS.decode(data)


def decode_head(data: bytes) -> Head:
    """The beginning of facts as they were kept, of which it holds no part in memory."""
    head = _HEAD.decode(data)
    return msgspec.structs.replace(head, aliases=head.aliases.copy())


def decode_aliases(head: Head) -> Aliases:
    """The names of a file that may stand for something else."""
    return _ALIASES.decode(head.aliases)


def decode_body(facts: Facts) -> Body:
    """What happens in a file."""
    return _BODY.decode(facts.body)

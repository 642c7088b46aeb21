"""What every part of reading stands on: its state, and how it goes from op to op.

The ops of a function are read in order, with the names as they stand at each; the bodies of functions are read after what is around them,
because that is when they can run. Arms of a branch are read from the same state and joined.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final

from detlint.catalog import Catalog
from detlint.ir import ops as op
from detlint.ir.code import Code
from detlint.ir.uses import Op
from detlint.ir.writes import Writes
from detlint.ir.written import exactly
from detlint.model import sets
from detlint.model.elements import Elements
from detlint.model.kernel import ends_cell
from detlint.model.options import lacking
from detlint.model.sets import MAKES_SET
from detlint.model.sites.reading.class_body import ClassBody
from detlint.model.sites.reading.handlers import OPS, SPECIAL
from detlint.model.sites.reading.values import DEEPEST_VALUE, PASSES, STDLIB, depth_of, simple
from detlint.model.sites.records import (
    COMPARED,
    Arg,
    Detail,
    Either,
    Expression,
    Function,
    Instance,
    Member,
    Option,
    Param,
    Ref,
    Result,
    Site,
    Span,
    Step,
    Value,
)
from detlint.model.sites.scope import Arms, Scope
from detlint.sources.parse import Cell

_ELEMENTS: Final[dict[Elements, Value | None]] = {
    "": None,
    "-": None,
    "str": Instance("builtins.str"),
    "int?": Either((Instance("builtins.int"), None)),
}
"""What the elements of a set are, in the facts of a site."""
OPAQUE: Final = frozenset({
    op.LOAD, op.ATTR, op.CONST, op.FUNCTION, op.COLLECT, op.LIST, op.TUPLE, op.SET, op.DICT, op.AWAIT, op.YIELD, op.YIELD_FROM, op.STAR,
    op.AUGMENT, op.FOR, op.WITH, op.PART, op.CAUGHT, op.CLASS, op.IMPORT, op.MEMBER, op.WITHOUT, op.TYPE_PARAMETER,
})  # fmt: skip
"""Ops that are names or calls, or that say nothing of a value: how those are written isn't kept."""


class Block:
    """A block that is being read."""

    __slots__ = (
        "arms", "around", "asked", "began", "first", "keys", "kind", "mark", "noted", "outer", "renewed", "steps",
        "stops", "tests",
    )  # fmt: skip

    def __init__(self, kind: str, mark: int, state: State) -> None:
        self.kind = kind
        self.mark = mark
        """The op that began it, or its last arm that has a test."""
        self.first = mark
        self.stops: list[bool] = []
        """Of each arm, whether the flow never comes out of it."""
        self.outer = state.steps
        """The steps around it."""
        self.began, self.keys = len(state.steps), state.keys
        """How many steps, and sites with keys, there were before it."""
        self.noted, self.around = state.noted, state.within
        self.arms = Arms(state.scope)
        self.steps: list[tuple[Step, ...]] = []
        """Those of its arms."""
        self.tests: list[int] = []
        self.asked: tuple[int, Value, bool, Value | None] | None = None
        """A parameter that may be left at None, what it is in an arm in which it isn't, whether that is the first, and what it was."""
        self.renewed: set[int] = set()
        """What a loop binds at the beginning of each turn."""


class State:
    """The state of reading one file, and its steps from op to op."""

    def __init__(self, code: Code, module: str, package: bool, catalog: Catalog, cells: Collection[Cell]) -> None:
        self.code = code
        self.strings = code.strings
        self.module = module
        self.prefix = f"{module}."
        self.package = package
        self.catalog = catalog
        self.cells = cells
        self.writes = Writes(code)
        said = code.identifiers
        self.raises = not said.isdisjoint(catalog.raising_roots)
        """Whether it may call something that its library doesn't have."""
        self.words, self.method_words = (
            catalog.words_and_raising if self.raises else (catalog.words, catalog.method_words)
        )
        self.gone_through, self.kept = _known(catalog)
        self.mentioned = catalog.last(catalog.mentions)
        self.keyed: dict[int, None] = {}
        """The functions with sites that may handle random keys."""
        self.keys = 0
        """How many such sites there are; none before the file imports what knows such keys."""
        self.has_keys = False
        self.foreign = _foreign(catalog, module.partition(".")[0])
        self.lacking = lacking(code)
        """Options that are read of a command line which surely doesn't have them."""
        self.bound: set[str] | None = set() if not cells else None
        """The names that the file binds somewhere, once one is missed; None where that can't be known."""
        self.excerpt: bool | None = None
        """Whether it leaves out much of what it reads, once its top level misses a name."""

        self.sites: list[Site] = []
        self.places: list[tuple[int, int]] = []
        """The function and the op of each."""
        self.functions: list[Function] = []
        self.details: list[Detail] = []
        self.flow: list[tuple[Step, ...]] = []
        """The steps of each function."""
        self.lowered: list[int] = []
        """Of each function its number in the IR."""
        self.classes: dict[str, ClassBody] = {}
        self.stars: list[str] = []
        self.imports: set[str] = set()
        self.registers: dict[str, str] = {}
        self.builds: set[str] = set()
        """Names of registries: those under which the file registers something, and those that it builds something by."""
        self.options: dict[str, Option] = {}
        self.parsers: dict[str, Value | None] = {}
        """The methods that options were defined by, as attributes of their parsers."""
        self.runs: list[str | Member] = []
        self.ran: dict[str | tuple[int, str], int] = {}
        """What import statements name of the program, and attributes by their root -> the step that stands for it."""
        self.roots: list[Value | None] = []
        """Those roots, which are told apart by being the same object."""
        self.defined: dict[str, int] = {}
        """How often the cells of a notebook have defined a name; nothing is counted of other files."""
        self.lambdas: dict[str, int] = {}
        """How many lambdas there are in each class or function."""
        self.waiting: deque[Scope] = deque()

        # What is read just now.
        self.scope: Scope
        self.ops: Sequence[Op] = ()
        self.made: list[Value | None] = []
        self.callees: Collection[int] = ()
        """The ops whose values are called."""
        self.chains: dict[int, tuple[Value | None, str]] = {}
        """Attributes -> what they are read of, and by which path."""
        self.blocks: list[Block] = []
        self.next = 0
        """The op to go on with; 0: the next one."""
        self.unsure = 0
        """Above 0 in parts of expressions that may not be evaluated."""
        self.gathering = 0
        """How many comprehensions are around."""
        self.tested = -1
        """What the last `IF` in an expression asked that has ended."""
        self.steps: list[Step] = []
        self.outermost = self.steps
        """The steps of the function that is read, outside of its blocks."""
        self.flagged: dict[int, Value] = {}
        """Names of it that are only true where a flag is which the object keeps."""
        self.early: list[tuple[int, Value]] = []
        """Where it has left unless a layer trains: after how many of these, and what asks for the mode."""
        self.returned: list[Value | None] = []
        self.within: tuple[int, ...] = ()
        self.noted: set[int] = set()
        """The steps for attributes that were surely read before in the function: what runs then has run."""
        self.transforms: list[tuple[int, int]] = []
        """Random transforms that the function which is read keeps under names: sites, and ops."""

    # -- from op to op --------------------------------------------------------------------------------------------------------

    def enter(self, scope: Scope) -> None:
        """Begin with a scope."""
        self.scope, self.ops, self.made, self.chains, self.blocks = scope, scope.ops, scope.made, {}, []
        self.callees = {operation[1] for operation in scope.ops if operation[0] == op.CALL}

    def run(self) -> None:
        """Read the ops of the scope in order."""
        ops, made, handlers = self.ops, self.made, OPS
        at, end = 0, len(ops)
        while at < end:
            operation = ops[at]
            made[at] = handlers[operation[0]](self, at, operation)
            at += 1
            if self.next:
                at, self.next = self.next, 0

    def run_inside(self, scope: Scope) -> None:
        """Read a scope where it stands in another one."""
        before = self.scope, self.ops, self.made, self.callees, self.chains, self.blocks
        self.enter(scope)
        self.run()
        self.scope, self.ops, self.made, self.callees, self.chains, self.blocks = before

    def stop(self, at: int) -> None:
        """The flow leaves here: what follows in the block is never come to."""
        self.steps.append(-1)
        if self.blocks:
            block = self.blocks[-1]
            block.stops[-1] = True
            self.next = next(mark for mark in self.scope.function.parts[block.mark] if mark > at)
        else:
            self.next = self.next_cell(at)

    def ends_cell(self, at: int) -> bool:
        """Whether a cell of a notebook ends with an op, which raises."""
        top_level = self.scope.kind == "module" and not self.blocks
        if not self.cells or not top_level or not ends_cell(self.scope.function, at):
            return False
        self.stop(at)
        return True

    def next_cell(self, at: int) -> int:
        """The op that the next cell of a notebook begins with, behind one of the top level; behind all for other functions."""
        return len(self.ops)

    # -- places and texts -----------------------------------------------------------------------------------------------------

    def span(self, at: int) -> Span:
        """Where an op stands."""
        return Span(*self.scope.function.span(at))

    def dotted(self, at: int) -> str:
        """A chain of names as written; "" for anything else."""
        return self.scope.function.dotted(at) if at >= 0 else ""

    def code_of(self, at: int) -> int:
        """The code of a value's op."""
        return self.ops[at][0] if at >= 0 else op.END

    def constant_of(self, at: int) -> object:
        """The constant that is written there; None for anything else, too."""
        return self.code.constants[self.ops[at][1]] if self.code_of(at) == op.CONST else None

    def is_none(self, at: int) -> bool:
        """Whether it is `None` that is written there."""
        return self.code_of(at) == op.CONST and self.constant_of(at) is None

    def valued(self, at: int) -> Value | None:
        """What a value is; what isn't known, as it is written, for the rule engine to look at."""
        if self.made[at] is COMPARED and self.ops[at][0] == op.COMPARE:
            return self.expression(at) or COMPARED  # what is compared may be known
        return self.assigned(at)

    def assigned(self, at: int) -> Value | None:
        """The same, but of comparisons no more than that they are some."""
        value = self.made[at]
        return value if value is not None or self.ops[at][0] in OPAQUE else self.expression(at)

    def expression(self, at: int, other: int = -1, named: Param | None = None) -> Value | None:
        """How an expression is written, and what its names mean.

        Args:
            other: a part of it that is written as a parameter instead, `named`.
        """
        function = self.scope.function
        text = exactly(function, at, {other: named.name} if named is not None else None)
        if text is None or not text.isprintable():
            return None
        found: dict[str, Value | None] = {named.name: named} if named is not None else {}
        bound = set[int]()
        for part in range(function.first(at), at + 1) if named is None else ():
            code, slot = self.ops[part][:2] if len(self.ops[part]) > 1 else (op.END, -1)
            if code == op.STORE:
                bound.add(slot)  # by a comprehension
            elif code == op.LOAD and slot not in bound and (kept := simple(self.made[part])) is not None:
                found[function.text(slot)] = kept
        return Expression(text, found)

    def order(self, name: str, elements: Elements | None, at: int) -> None:
        """Note that a set's elements get an order here; that of numbers is always the same."""
        if elements is None or elements == "int":
            return
        given = (Arg("elements", _ELEMENTS[elements]),)
        self.places.append((self.scope.function.number, at))
        self.sites.append(Site("order", Ref(name), given, self.span(at), self.scope.number))

    def unordered(self, value: Value | None) -> Elements | None:
        """What is in a set, or in what passes a set's elements on; None for what isn't surely one."""
        if type(value) is Member and type(value.base) is Instance and value.base.of.startswith(self.prefix):
            owner = self.classes.get(value.base.of.removeprefix(self.prefix))
            return sets.elements_of(owner.attributes.get(value.attr)) if owner is not None else None
        found = sets.elements_of(value) if value is not None else None
        return found if found is not None or type(value) is not Result else self.given_back(value)

    def given_back(self, value: Result) -> Elements | None:
        """What is in the set that a function, or a method, of the file gives."""
        of, owner = value.of, ""
        if type(of) is Member:
            made = of.base.of if type(of.base) is Result else None
            owner = of.base.of if type(of.base) is Instance else made.name if type(made) is Ref else ""
            owner = f"{owner}.{of.attr}" if owner.removeprefix(self.prefix) in self.classes else ""
        elif type(of) is Ref:
            owner = of.name
        if not owner.startswith(self.prefix):
            return None
        functions = self.code.by_name.get(owner.removeprefix(self.prefix), ())
        return sets.given_back(functions[0]) if len(functions) == 1 else None

    def deeper(self, value: Value | None, attr: str) -> Value | None:
        """An item of a value that isn't deep already."""
        return Member(value, attr) if value is not None and depth_of(value) < DEEPEST_VALUE else None


@lru_cache(maxsize=4)
def _known(catalog: Catalog) -> tuple[frozenset[str], frozenset[str]]:
    """The functions that items go through, and all whose meaning the reader itself needs."""
    through = MAKES_SET | catalog.same_order | catalog.ordering
    return through, PASSES | SPECIAL.keys() | through | catalog.builders.keys()


@lru_cache(maxsize=64)
def _foreign(catalog: Catalog, own: str) -> frozenset[str]:
    """Top-level modules that are none of the program's. The libraries that the catalog describes may be: their own
    repositories have scripts and examples beside them. Only the frameworks below them all are not worth the question."""
    frameworks = {framework.tensor.partition(".")[0] for framework in catalog.frameworks}
    return (STDLIB | {"numpy"} | frameworks) - {own, ""}

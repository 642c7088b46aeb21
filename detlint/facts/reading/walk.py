"""What every part of the walk stands on: its state, and how it goes from node to node."""

from __future__ import annotations

import ast
import re
from collections import Counter, deque
from collections.abc import Container, Iterable, Sequence
from functools import lru_cache
from typing import Final

from detlint.catalog import Catalog
from detlint.facts import sets
from detlint.facts.model import (
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
    Site,
    Step,
    Value,
)
from detlint.facts.reading.class_body import ClassBody
from detlint.facts.reading.handlers import EXPRESSIONS, SPECIAL, STATEMENTS, of_expression, of_statement
from detlint.facts.reading.values import LONGEST_TEXT, PASSES, STDLIB, simple, span_of
from detlint.facts.scope import Missing, Scope
from detlint.facts.sets import MAKES_SET
from detlint.ir.code import Code
from detlint.ir.records import FileIR
from detlint.ir.writes import Writes
from detlint.source import Source

_IDENTIFIERS: Final = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*")
_ELEMENTS: Final[dict[sets.Elements, Value | None]] = {
    "": None,
    "-": None,
    "str": Instance("builtins.str"),
    "int?": Either((Instance("builtins.int"), None)),
}
"""What the elements of a set are, in the facts of a site."""
# Expressions that are names or calls, or that say nothing about a value: their text isn't kept.
OPAQUE: Final = frozenset({
    ast.Name, ast.Attribute, ast.Constant, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
    ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Await, ast.Yield, ast.YieldFrom, ast.Starred,
})  # fmt: skip


class Walk:
    """The state of one walk, and its steps from node to node."""

    # With slots every attribute is as quick as the first; a dictionary of more than thirty is not.
    __slots__ = (
        "_counting",
        "_lines",
        "anew",
        "bindings",
        "bound",
        "builders",
        "builds",
        "catalog",
        "classes",
        "code",
        "counters",
        "data",
        "defined",
        "definition",
        "details",
        "early",
        "excerpt",
        "factories",
        "fates",
        "flagged",
        "flow",
        "foreign",
        "functions",
        "gone_through",
        "has_keys",
        "ids",
        "imports",
        "in_cells",
        "inputs",
        "is_id",
        "judged",
        "kept",
        "kept_names",
        "key_words",
        "keyed",
        "keys",
        "lacking",
        "lambdas",
        "lists",
        "masks",
        "method_words",
        "module",
        "noted",
        "options",
        "ordered",
        "ordering",
        "outermost",
        "package",
        "parsers",
        "passing",
        "perhaps",
        "prefix",
        "raises",
        "ran",
        "registers",
        "returned",
        "roots",
        "runs",
        "said",
        "same_order",
        "scope",
        "sites",
        "stand_ins",
        "stars",
        "steps",
        "top",
        "transforms",
        "tree",
        "unsure",
        "use",
        "waiting",
        "whole",
        "within",
        "words",
        "writes",
        "yields",
    )  # fmt: skip

    def __init__(self, data: bytes, module: str, package: bool, catalog: Catalog, ir: FileIR) -> None:
        self.data = data
        self.code = Code(ir)
        self.writes = Writes(self.code)
        self.module = module
        self.prefix = f"{module}."
        self.package = package
        self.catalog = catalog
        self.raises = any(root in data for root in catalog.raising_roots)
        """Whether it may call something that its library doesn't have."""
        self.words, self.method_words = (
            catalog.words_and_raising if self.raises else (catalog.words, catalog.method_words)
        )
        self.whole = catalog.whole_words
        self.masks = catalog.masks
        self.inputs = catalog.inputs
        self.ids = catalog.ids
        self.is_id = False
        """Whether what is read is kept under a name that only tells runs or files apart."""
        self.factories, self.builders = catalog.factory_keys, catalog.builders
        self.same_order, self.stand_ins, self.passing = catalog.same_order, catalog.stand_ins, catalog.passing
        self.ordering = catalog.ordering
        self.gone_through, self.kept = _known(catalog)
        self.key_words = catalog.key_words
        self.keyed: dict[int, None] = {}
        """The functions with sites that may handle random keys."""
        self.keys = 0
        """How many such sites there are; none before the file imports what knows such keys."""
        self.has_keys = False
        self.foreign = _foreign(catalog, module.partition(".")[0])
        self._counting: Container[str] | None = None
        self.said: frozenset[str] = frozenset()
        """The names that its code has."""
        self.top: Sequence[ast.stmt] = ()
        """Its statements."""
        self.tree: ast.Module | None = None
        """The whole file; of a notebook, None."""
        self.bindings: tuple[ast.AST | None, Counter[str], Counter[str]] | None = None
        """How often a function binds each name, or the file where that is None, and says that one is of another scope."""
        self.bound: set[str] | None = set()
        """The names that the file binds somewhere, once one is missed; None where that can't be known."""
        self.excerpt: bool | None = None
        """Whether it leaves out much of what it reads, once its top level misses a name."""
        self.lacking: frozenset[tuple[int, int, int | None, int | None]] = frozenset()
        """Options that are read of a command line which surely doesn't have them."""
        self.unsure = 0
        """Above 0 in parts of expressions that may not be evaluated."""
        self.perhaps: dict[int, None] = {}
        """The sites in parts of expressions of which it depends on others whether they are evaluated."""
        self.transforms: list[int] = []
        """Random transforms that the function which is read keeps under names, by the numbers of their sites."""
        self.lists = any(word in data for word in catalog.listing_words)
        """Whether the file may list things in no order, so that it counts what functions do with their parameters."""
        self._lines: list[bytes] | None = None

        self.sites: list[Site] = []
        self.functions: list[Function] = []
        self.details: list[Detail] = []
        self.flow: list[tuple[Step, ...]] = []
        """The steps of each function."""
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
        self.lambdas: dict[str, dict[tuple[int, int], int]] = {}
        """The numbers of lambdas, by where they begin, in the class or function around them."""
        self.in_cells = False
        self.waiting: deque[tuple[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, Scope, int]] = deque()

        self.scope = Scope("module", None, 0, "")
        self.steps: list[Step] = []
        self.definition: ast.AST | None = None
        """The function that is read; None at the top level."""
        self.flagged: dict[str, Value] = {}
        """Names of it that are only true where a flag is which the object keeps."""
        self.outermost = self.steps
        """The steps of the function that is read, outside of its blocks."""
        self.early: list[tuple[int, Value]] = []
        """Where it has left unless a layer trains: after how many of these, and what asks for the mode."""
        self.returned: list[Value | None] = []
        self.ordered: set[str] = set()
        self.yields = False
        self.fates: dict[str, list[str]] = {}
        """Local names that hold what a site gave -> how they are used."""
        self.within: tuple[int, ...] = ()
        self.noted: set[int] = set()
        """The steps for attributes that were surely read before in the function: what runs then has run."""
        self.counters: set[str] = set()
        """Names that loops count with: `for i in range(n)`."""
        self.use = ""
        self.judged = 0
        """How many sites there are that are judged by what becomes of their result."""
        self.kept_names: set[str] = set()
        """Attributes, and names of the module, that hold what such a site gave."""
        self.anew: dict[str, str] = {}
        """Names that are bound anew in the block that is read -> what they are called in `fates` since then."""

    def block(self, statements: Sequence[ast.stmt]) -> bool:
        """Read statements in order; whether the flow never comes out at their end."""
        anew = self.anew
        stopped = self.statements(statements)
        self.anew = anew  # behind the block a name may have what it had before
        return stopped

    def statements(self, statements: Sequence[ast.stmt]) -> bool:
        """As `block`, but what is bound anew stays so: all of it runs before what comes after."""
        for statement in statements:
            if STATEMENTS[type(statement)](self, statement):
                self.steps.append(-1)
                return True
        return False

    @of_statement(ast.Pass, ast.Nonlocal)
    def _pass(self, node: ast.stmt) -> None:
        pass

    @of_statement(*ast.stmt.__subclasses__())
    def children(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.expression(child)

    def track(self, names: Iterable[str]) -> None:
        """Note from here on how some names are used that things are gathered into."""
        for name in names:
            uses = self.fates.get(name, [])
            if name.isidentifier() and "gathered" not in uses:
                # A parameter that was bound anew is no longer what the caller has.
                value = self.scope.names.get(name)
                own = value is not None and type(value) not in (Param, Either)
                self.fates[name] = [*(["gathered", "anew"] if own else ["gathered"]), *uses]

    def expression(self, node: ast.expr) -> Value | None:
        """Visit an expression, record the sites in it, and say what it is known to be."""
        return EXPRESSIONS[type(node)](self, node)

    @of_expression(*ast.expr.__subclasses__())
    def _other(self, node: ast.expr) -> None:
        self.use = ""
        self.children(node)

    def value(self, node: ast.expr) -> Value | None:
        """As `expression`, but what isn't a known value is kept as text for the rule engine to look at."""
        kind = type(node)
        value = EXPRESSIONS[kind](self, node)
        if value is COMPARED and kind is ast.Compare:
            return self.expression_value(node) or value  # what is compared may be known
        return value if value is not None or kind in OPAQUE else self.expression_value(node)

    def expression_value(self, node: ast.expr) -> Value | None:
        """The text of an expression and what its names mean, without visiting it again."""
        text = self.text(node)
        if text is None:
            return None
        names: dict[str, Value | None] = {}
        for name in _IDENTIFIERS.findall(text):
            found = self.scope.look_up(name)
            kept = simple(found) if not isinstance(found, Missing) else None
            if kept is not None and name not in ("None", "True", "False"):
                names[name] = kept
        return Expression(text, names)

    def lines(self) -> list[bytes]:
        if self._lines is None:
            self._lines = Source("", self.data).lines
        return self._lines

    def text(self, node: ast.expr | ast.stmt) -> str | None:
        number = node.lineno
        if number != node.end_lineno:
            return None  # a line break is no printable character
        lines = self.lines()
        if number > len(lines):
            return None
        text = lines[number - 1][node.col_offset : node.end_col_offset].decode("utf-8", "replace")
        return text if len(text) <= LONGEST_TEXT and text.isprintable() else None

    def unordered(self, value: Value | None) -> sets.Elements | None:
        """What is in a set, or in what passes a set's elements on; None for what isn't surely one."""
        if type(value) is Member and type(value.base) is Instance and value.base.of.startswith(self.prefix):
            owner = self.classes.get(value.base.of.removeprefix(self.prefix))
            return sets.elements_of(owner.attributes.get(value.attr)) if owner is not None else None
        return sets.elements_of(value) if value is not None else None

    def order(self, name: str, elements: sets.Elements | None, node: ast.expr, use: str) -> None:
        """Note that a set's elements get an order here, which something becomes of; that of numbers is always the same."""
        if elements is None or elements == "int" or not use:
            return
        self.judged += 1
        into, _, names = use.removeprefix("counted:").removeprefix("joined:").partition(":")
        self.track(names.split(",") if into in ("data-loop", "put") else ())
        given = (Arg("elements", _ELEMENTS[elements]),)
        self.sites.append(Site("order", Ref(name), given, span_of(node), self.scope.function, (), use))


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

"""Reads the facts of a source file off its `ast`, in one walk that visits each expression once.

A body is read in order, with the names as they stand at that statement; the bodies of functions are read after the
block around them, because that is when they can run. Branches are read from the same state and joined.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from itertools import groupby, takewhile
from typing import Any, Final, Literal

from msgspec import Raw, structs

from detlint.catalog import Catalog, Factory
from detlint.facts import assigned, certain, imported, loops, modes, sets, smoke, unbound
from detlint.facts.comments import directives
from detlint.facts.factories import arguments, kind_of, named
from detlint.facts.kernel import ends_cell
from detlint.facts.loops import GROWS, MAPS, WRITES, dotted
from detlint.facts.model import (
    ANEW,
    AS,
    BUT,
    CERTAIN,
    COMPARED,
    COMPLETE,
    ENCODER,
    IDLE,
    KEPT,
    LENT,
    OPERATED,
    PRINTS,
    SCALED,
    SETTER,
    SHAPES,
    UNKNOWN_RECEIVER,
    UNUSED,
    Aliases,
    Arg,
    Body,
    Branch,
    Cell,
    Class,
    Const,
    Detail,
    Either,
    Expression,
    Facts,
    Function,
    Instance,
    Items,
    Mapping,
    Member,
    Option,
    Param,
    Parameter,
    Partial,
    Problem,
    Ref,
    Result,
    Site,
    SiteKind,
    Span,
    Step,
    Value,
    options,
)
from detlint.facts.namespaces import lacking
from detlint.facts.parse import parsable, parse
from detlint.facts.scope import MISSING, Arms, Missing, Scope, chosen, is_collection, join
from detlint.facts.sets import KINDS, MAKES_SET
from detlint.facts.spare import Layout, Role, Spare
from detlint.notebook import cell_of
from detlint.source import Source

STDLIB: Final = sys.stdlib_module_names | {"builtins"}
LONGEST_TEXT: Final = 200
LONGEST_DISPLAY: Final = 64
MOST_WORDS: Final = 8
"""Arms of an `if` that are nested, where each is for another text."""
DEEPEST_VALUE: Final = 16
SHORT_MAPPING: Final = 8
EXITS: Final = frozenset({"sys.exit", "os._exit", "os.abort", "builtins.exit", "builtins.quit"})
FLAGS: Final = "absl.flags.FLAGS"
PLAIN: Final = frozenset({
    "int", "float", "bool", "str", "bytes", "dict", "list", "tuple", "set", "object", "None", "type", "Any", "Callable", "Type",
})  # fmt: skip
"""Annotations that say nothing of what can be called on a value."""
TYPING: Final = frozenset({"Optional", "Union", "Annotated", "Final", "ClassVar", "Required"})


def read(
    data: bytes, module: str, package: bool, catalog: Catalog, cells: tuple[Cell, ...] = (), accelerator: str = ""
) -> Facts:
    """The facts of one file.

    Args:
        data: the file's bytes, in any encoding that it declares; of a notebook, the joined code.
        module: its dotted name.
        package: whether it is an `__init__.py`.
        catalog: tells which names can make a site.
        cells: a notebook's cells of code.
        accelerator: the word for the hardware on which a notebook is to be opened, besides those in its code.

    Never raises on account of the input: a file that can't be parsed has a `problem` and nothing else. Of a notebook, the
    cells that can't be parsed are left out.
    """
    tree = parse(data)
    left_out: tuple[Problem, ...] = ()
    if isinstance(tree, Problem) and cells:
        data, left_out = parsable(data, cells)
        tree = parse(data)
    if isinstance(tree, Problem):
        return Facts(module, cells=cells, problem=tree)
    try:
        facts = _Reader(data, module, package, catalog).file(tree, cells, left_out)
    except RecursionError:
        return Facts(module, cells=cells, problem=Problem("can't be analysed: it is nested too deeply"))
    if accelerator and accelerator not in facts.mentions:
        facts = structs.replace(facts, mentions=tuple(sorted({*facts.mentions, accelerator})))
    return facts


class _Reader:
    """The state of one walk."""

    # With slots every attribute is as quick as the first; a dictionary of more than thirty is not.
    __slots__ = (
        "_counting",
        "_lines",
        "_shows",
        "_shuffles",
        "anew",
        "bindings",
        "bodies",
        "bound",
        "builders",
        "builds",
        "catalog",
        "classes",
        "counters",
        "data",
        "defined",
        "definition",
        "details",
        "displays",
        "dropped",
        "drops",
        "early",
        "excerpt",
        "factories",
        "fates",
        "flagged",
        "flow",
        "foreign",
        "functions",
        "given_back",
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
        "probed",
        "raises",
        "ran",
        "registers",
        "returned",
        "roots",
        "runs",
        "same_order",
        "scope",
        "set_once",
        "several",
        "sites",
        "stand_ins",
        "stars",
        "steps",
        "trained",
        "transforms",
        "tree",
        "unsure",
        "use",
        "waiting",
        "whole",
        "within",
        "words",
        "worthless",
        "yields",
    )  # fmt: skip

    def __init__(self, data: bytes, module: str, package: bool, catalog: Catalog) -> None:
        self.data = data
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
        self.trained = 0
        """How often it asks for the gradients of a layer's parameters, which need some anyway."""
        self.foreign = _foreign(catalog, module.partition(".")[0])
        self._counting: frozenset[str] | None = None
        self._shows: bool | None = None
        self._shuffles: bool | None = None
        self.dropped: set[ast.Call] = set()
        """Calls whose result is called `_`."""
        self.probed = ""
        """What is called so was handed the value that is asked for."""
        self.tree: ast.Module | None = None
        """The whole file; of a notebook, None."""
        self.bindings: tuple[ast.AST | None, Counter[str]] | None = None
        """How often a function binds each of its names, or the file where that is None."""
        self.bound: set[str] | None = set()
        """The names that the file binds somewhere, once one is missed; None where that can't be known."""
        self.excerpt: bool | None = None
        """Whether it leaves out much of what it reads, once its top level misses a name."""
        self.lacking: set[ast.Attribute] = set()
        """Options that are read of a command line which surely doesn't have them."""
        self.unsure = 0
        """Above 0 in parts of expressions that may not be evaluated."""
        self.perhaps: dict[int, None] = {}
        """The sites in parts of expressions of which it depends on others whether they are evaluated."""
        self.displays = False
        """Whether a name stands alone in a line of the top level, which shows what it holds where the file is run by cells."""
        self.drops = b" _ = " in data and _DROPS.search(data) is not None
        """Whether the file has any, so that it looks at what they are handed."""
        self.several: list[tuple[int, list[str]]] = []
        """Calls of the function that is read that give several things, by the numbers of their sites, and the names of those."""
        self.given_back: list[tuple[int, int, str]] = []
        """Calls whose results it gives back among others, likewise, their places among these, and their names."""
        self.transforms: list[tuple[int, ast.Call]] = []
        """Random transforms that the function which is read keeps under names, by the numbers of their sites."""
        self.worthless: list[tuple[int, ast.Call]] = []
        """Sites of the function that is read whose result may become nothing: what has keys, or chooses, or is drawn."""
        self.lists = any(word in data for word in catalog.listing_words)
        """Whether the file may list things in no order, so that it counts what functions do with their parameters."""
        self.bodies: dict[str, ast.FunctionDef] = {}
        """The functions of the top level."""
        self._lines: list[bytes] | None = None

        self.sites: list[Site] = []
        self.functions: list[Function] = []
        self.details: list[Detail] = []
        self.flow: list[tuple[Step, ...]] = []
        """The steps of each function."""
        self.classes: dict[str, _ClassBody] = {}
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
        self.set_once: dict[tuple[str, str], bool] = {}
        """Whether an attribute is set once in a class, and by no other name in the file."""
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

    # -- the file -----------------------------------------------------------------------------------------------

    def file(self, tree: ast.Module, cells: tuple[Cell, ...], left_out: tuple[Problem, ...]) -> Facts:
        lines, lower = self.data.count(b"\n") + 1, self.data.lower()
        self.functions.append(Function("", ""))
        self.details.append(Detail())
        self.flow.append(())
        self.bodies = {node.name: node for node in tree.body if type(node) is ast.FunctionDef}
        if cells:
            self.cells(tree.body, cells)
        else:
            self.tree = tree
            self.lacking = lacking(tree, self.data) if b".parse_" in self.data else self.lacking
            self.block(tree.body)
        self.tell_spare(tree.body)
        self.details[0] = Detail(ordered=self.in_order(), fates=self.used())
        self.flow[0] = tuple(self.steps)
        module_scope = self.scope
        while self.waiting:
            self.function_body(*self.waiting.popleft())
        classes = tuple([body.done() for body in self.classes.values()])
        return Facts(
            module=self.module,
            imports=tuple(sorted(self.imports)),
            aliases=Raw(ENCODER.encode(aliases(module_scope.names, classes))),
            starts="notebook" if cells else self.starts(),
            names=module_scope.names,
            stars=tuple(self.stars),
            offers=" ".join([name for name in module_scope.names if not name.startswith("_")]),
            functions=tuple(self.functions),
            classes=classes,
            directives=directives(self.data, lower),
            options=self.options,
            mentions=mentions(self.data, lower),
            learns=b"requires_grad" in self.data and self.learns(),
            lines=lines,
            cells=cells,
            registers=self.registers,
            builds=tuple(sorted(self.builds)),
            left_out=left_out,
            properties=self.properties(),
            body=Raw(ENCODER.encode(self.body())),
        )

    def learns(self) -> bool:
        """Whether it asks for the gradients of anything but parameters, which need some anyway: `nn.Parameter(x, requires_grad=True)`."""
        parameters = self.catalog.with_context("parameter")
        asked = (
            any(argument.name == "requires_grad" and argument.value == Const(True) for argument in site.args)
            for site in self.sites
            if type(site.target) is Ref and site.target.name in parameters
        )
        return len(_ASKS.findall(self.data)) > self.trained + sum(asked)

    def body(self) -> Body:
        return Body(
            tuple(self.sites),
            tuple(self.flow),
            tuple(self.details),
            tuple(self.runs),
            tuple(self.keyed),
            self.lists,
            tuple(self.perhaps),
        )

    def cells(self, statements: list[ast.stmt], cells: Sequence[Cell]) -> None:
        """Read a notebook's top level. Each cell is run by itself: one that raises, or exits, doesn't end the run."""
        self.in_cells = True
        for _, group in groupby(statements, lambda statement: cell_of(cells, statement.lineno)):
            if self.statements([*takewhile(lambda statement: not ends_cell(statement, self.data), group)]):
                self.steps.pop()
                last = self.steps[-1] if self.steps else None
                if isinstance(last, Branch) and last.kind == "exit":
                    self.steps.pop()

    def starts(self) -> Literal["", "main", "script"]:
        if any(type(step) is Branch and step.kind == "main" for step in self.flow[0]):
            return "main"
        return "script" if any(site.function == 0 and site.kind == "call" for site in self.sites) else ""

    def properties(self) -> tuple[str, ...]:
        """The names of the properties that do something."""
        found = {f"{body.name}.{name}": name for body in self.classes.values() for name in body.properties}
        if not found:
            return ()
        names = ((f.name.removesuffix(SETTER), steps) for f, steps in zip(self.functions, self.flow, strict=True))
        return tuple(sorted({found[name] for name, steps in names if name in found and any(s != -1 for s in steps)}))

    def in_order(self) -> tuple[str, ...]:
        return tuple(sorted(self.ordered))

    def used(self) -> dict[str, tuple[str, ...]]:
        return {name: tuple(dict.fromkeys(uses)) for name, uses in self.fates.items() if uses}

    def function_body(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope, index: int
    ) -> None:
        self.scope, self.steps, self.returned, self.within = scope, [], [], ()
        self.definition, self.outermost, self.early = node, self.steps, []
        self.flagged = {}
        self.ordered, self.fates, self.counters = set(), {}, set()
        self.yields, self.noted = False, set()
        if isinstance(node, ast.Lambda):
            self.unsure += 1
            self.returned.append(self.expression(node.body))
            self.unsure -= 1
        else:
            if self.lists:
                self.fates = {
                    argument.arg: [] for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
                }
            self.block(node.body)
            for place, mode in reversed(self.early):
                self.under(mode, place)
            self.tell_spare(node.body)
            self.tell_needed(node)
            self.tell_unread(node)
            if self.steps and smoke.is_trial(node, [*map(_name_of, self.details[index].decorators)]):
                self.steps = [Branch("trial", None, (tuple(self.steps),))]
        head, detail = self.functions[index], self.details[index]
        deferred = self.yields or isinstance(node, ast.AsyncFunctionDef)
        self.functions[index] = Function(head.name, head.owner, join(self.returned), index, self.yields, deferred)
        self.details[index] = Detail(detail.parameters, detail.decorators, detail.options, self.in_order(), self.used())
        self.flow[index] = tuple(self.steps)

    def tell_spare(self, statements: Sequence[ast.stmt]) -> None:
        """Tell of the sites of a function whose result becomes nothing: `spare` of keys, `looked-at` of what was chosen, `probe` of what
        a function is tried out with, `cut` of tensors, `idle` of objects, and of data sets, which may be `lent`, `unused` of numbers
        that are drawn."""
        if not self.worthless:
            return
        layout = lru_cache(lambda: Layout(statements))
        main = [
            s for s in statements if isinstance(s, ast.If) and isinstance(s.test, ast.Compare) and _is_main_test(s.test)
        ]
        keys: Spare | None = None
        chosen: Spare | None = None
        tensors: Spare | None = None
        objects: Spare | None = None
        data: Spare | None = None
        numbers: Spare | None = None
        tries = self.dropped and self.scope.kind != "module"
        probes = Spare(layout(), self.role_of_probe, lambda _: False, {}) if tries else None
        for number, node in self.worthless:
            site = self.sites[number]
            if site.use == "dropped":
                continue
            if site.use == KEPT and self.only_draws(site):
                numbers = numbers or Spare(layout(), lambda *_: "", lambda _: False, {})
                in_sight = self.scope.kind == "function" or any(node in ast.walk(block) for block in main)
                if in_sight and numbers.is_spare(node) and not _BY_NAME.search(self.data):
                    self.sites[number] = _with_use(site, UNUSED)
                    continue
            self.probed = ""
            if probes is not None and probes.is_spare(node) and self.probed:
                self.sites[number] = _with_use(site, f"probe:{self.probed}")
            elif self.is_differentiated(site.target):
                ends = self.catalog.gradients_end | smoke.SHAPES
                tensors = tensors or Spare(
                    layout(),
                    self.role_of_tensor,
                    self.gives_tensor,
                    {},
                    ends=ends,
                    compares=True,
                    ends_by=self.is_made_whole,
                )
                if self.scope.kind != "module" and tensors.is_spare(node):
                    self.sites[number] = _with_use(site, "cut")
            elif self.has_keys and _tail(site.target) in self.key_words:
                # Names of a module may be read by others, but for those of its `__main__` block.
                if self.scope.kind != "module" or any(node in ast.walk(block) for block in main):
                    keys = keys or Spare(layout(), self.role_of_key, lambda _: False, {})
                    if keys.is_spare(node):
                        self.sites[number] = _with_use(site, "spare")
            elif _tail(site.target) in self.catalog.chooses and self.shows():
                known = self.catalog
                chosen = chosen or Spare(
                    layout(), self.role_of_chosen, self.looks_at, self.bodies, fills=known.fills, makes=known.makes
                )
                if chosen.is_shown(node):
                    self.sites[number] = _with_use(site, "looked-at")
            elif self.displays and self.scope.kind == "module" and _tail(site.target) in self.catalog.used_later:
                objects = objects or Spare(layout(), self.role_of_object, lambda _: False, {})
                if objects.is_shown(node):
                    self.sites[number] = _with_use(site, IDLE)
            elif site.kind == "call":
                # Whoever makes one at the top level may not have written yet what goes through it.
                in_function = self.scope.kind != "module"
                if not (self.is_shuffled(site.target) if in_function else self.is_left(site.target, site.use)):
                    continue
                data = data or Spare(layout(), self.role_of_data, self.gives_data, {}, parts=False)
                if data.is_spare(node, returned=in_function):
                    self.sites[number] = _with_use(site, LENT if in_function else IDLE)
        self.worthless, self.dropped = [], set()

    def only_draws(self, site: Site) -> bool:
        """Whether a call does nothing but to draw something and give that."""
        target = site.target
        known = type(target) is Ref and _tail(target) in self.catalog.only_drawing_words
        return known and self.catalog.canonical(target.name) in self.catalog.only_drawing  # type: ignore[union-attr]

    def tell_needed(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Put transforms that are made for one arm of an `if flag:` alone under that flag: `flip = RandomFlip()`, and then
        `if is_training: operations = [flip]`."""
        if not self.transforms:
            return
        layout = Layout(function.body)
        for number, node in self.transforms:
            for arm, first in layout.arms_for(node):
                flag, negated = self.decider(arm.test)
                if flag and not flag.startswith(".") and flag not in layout.bound:
                    arms = ((number,), ()) if first is not negated else ((), (number,))
                    self.steps = _with_step(self.steps, number, Branch("if", Param(flag), arms))
                    break
        self.transforms = []

    def tell_unread(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Tell which of several things that calls give are never read, and what the function only gives back as one of several: by
        how often it says their names."""
        if not self.several and not self.given_back:
            return
        text = b"\n".join(self.lines()[function.lineno - 1 : function.end_lineno])
        for number, targets in self.several:
            unread = [str(i) for i, target in enumerate(targets) if _times(text, target) == 1]
            if unread and self.sites[number].use == KEPT:
                self.sites[number] = _with_use(self.sites[number], BUT + ",".join(unread))
        for number, place, name in self.given_back:
            if self.sites[number].use == KEPT and _times(text, name) == 2:
                self.sites[number] = _with_use(self.sites[number], f"{AS}{place}")
        self.several, self.given_back = [], []

    def role_of_probe(self, call: ast.Call, value: ast.expr) -> Role:
        """What a call makes of a tensor, of which `_ = attention(q, q, q)` only says whether an attention can be had."""
        root = self.scope.look_up(dotted(call.func).partition(".")[0])
        if call not in self.dropped or type(root) is not Ref:
            return ""
        self.probed = self.called(call)
        return "passes"

    def role_of_key(self, call: ast.Call, value: ast.expr) -> Role:
        """What a call makes of a key, or of what was drawn by one."""
        name = self.called(call)
        last = name.rpartition(".")[2]
        if name.startswith("jax.random.") and last in self.key_words:
            return "passes"
        libraries, firsts = self.catalog.by_shape.get(last, ((), ()))
        first = value in call.args[:1] or any(word.value is value and word.arg in firsts for word in call.keywords)
        imported = any(name.partition(".")[0] in libraries for name in self.imports)
        return "ends" if imported and not first else ""

    def role_of_chosen(self, call: ast.Call, value: ast.expr) -> Role:
        """What a call makes of what was chosen to be looked at."""
        name = self.called(call)
        if not self.catalog.shows.isdisjoint((name.partition(".")[0], name.rpartition(".")[2])):
            return "ends"
        painted = name in self.catalog.paints and value not in call.args[:1]
        word = next((word.arg for word in call.keywords if word.value is value), None)
        if painted or (word in self.catalog.colours and self.catalog.plots.search(name.rpartition(".")[2])):
            return "ends"
        return "passes" if self.looks_at(name.rpartition(".")[2]) or self.applies_layer(call) else ""

    def applies_layer(self, call: ast.Call) -> bool:
        """Whether a call applies a layer or a network, which the file makes by name, to data."""
        func = call.func
        if type(func) is ast.Call:
            return self.is_layer(Ref(self.called(func)))
        value = self.scope.look_up(func.id) if type(func) is ast.Name else None
        return type(value) is Result and type(value.of) is Ref and self.is_layer(value.of)

    def is_layer(self, made: Ref, deep: int = 4) -> bool:
        """Whether what makes an object is a class of layers, or a function of the file that gives one back."""
        name = self.catalog.canonical(made.name)
        own = made.name.removeprefix(self.prefix)
        if name in self.catalog.makes_layers:
            return True
        if name.startswith(self.catalog.layer_prefixes) and name.rpartition(".")[2][:1].isupper():
            return True
        if own == made.name or not deep:
            return False
        body = self.classes.get(own)
        if body is not None:
            return any(type(base) is Ref and self.is_layer(base, deep - 1) for base in body.bases)
        function = self.bodies.get(own)  # which may not have been read yet
        given = [node.value for node in ast.walk(function) if type(node) is ast.Return] if function else []
        return bool(given) and all(
            type(value) is ast.Call and self.is_layer(Ref(self.called(value)), deep - 1) for value in given
        )

    def role_of_object(self, call: ast.Call, value: ast.expr) -> Role:
        """What a call makes of an object that does nothing before one of its methods is called: a part of another such object."""
        name = self.called(call)
        if name == "builtins.print":
            return "ends"
        last = name.rpartition(".")[2]
        return "passes" if name.partition(".")[0] in self.catalog.assembles and last[:1].isupper() else ""

    def role_of_data(self, call: ast.Call, value: ast.expr) -> Role:
        """What a call makes of a data set that nobody has gone through: another such data set."""
        name = self.catalog.canonical(self.called(call))
        if name in ("builtins.len", "builtins.print"):
            return "ends"
        return "passes" if name in self.catalog.data_sets else ""

    def gives_data(self, method: str) -> bool:
        return method in self.catalog.data_methods

    def is_shuffled(self, target: Value) -> bool:
        """Whether a call may give a data set that draws when somebody goes through it."""
        return _tail(target) in self.catalog.shuffled_words and self.is_data_set(target)

    def is_data_set(self, called: Value) -> bool:
        """Whether what a call gives is such a data set, or what its methods make of one."""
        if type(called) is Ref:
            return self.catalog.canonical(called.name) in self.catalog.data_sets
        if type(called) is not Member or called.attr not in self.catalog.data_methods:
            return False
        return all(type(base) is Result and self.is_data_set(base.of) for base in options(called.base))

    def is_left(self, target: Value, use: str) -> bool:
        """Whether the top level keeps what a function of the file gives, which may be such a data set."""
        own = use == "kept" and self.scope.kind == "module" and type(target) is Ref
        return own and target.name.startswith(self.prefix) and self.shuffles()  # type: ignore[union-attr]

    def looks_at(self, name: str) -> bool:
        return name.startswith(self.catalog.looks)

    def role_of_tensor(self, call: ast.Call, value: ast.expr) -> Role:
        """What a call makes of a tensor through which a gradient may come back."""
        name = self.catalog.canonical(self.called(call))
        if name in self.catalog.leaves or name in self.catalog.whole:
            return "ends"
        # `torch.amin(x)` gives what `x.amin()` does.
        library, _, last = name.rpartition(".")
        of_tensors = f"{library}.Tensor" in self.catalog.tensors and self.gives_tensor(last)
        return "passes" if of_tensors and all(keyword.arg != "out" for keyword in call.keywords) else ""

    def is_made_whole(self, call: ast.Call) -> bool:
        """Whether a method makes whole numbers of a tensor, through which no gradient comes back: `x.to(torch.uint8)`."""
        assert isinstance(call.func, ast.Attribute)
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        return call.func.attr in self.catalog.casting_methods and any(map(self.is_whole_type, given))

    def is_whole_type(self, node: ast.expr) -> bool:
        """Whether an expression names a type of whole numbers."""
        root, _, rest = dotted(node).partition(".")
        known = self.scope.look_up(root) if rest else None
        name = self.catalog.canonical(f"{known.name}.{rest}") if type(known) is Ref else ""
        return name in self.catalog.whole and rest in self.catalog.whole_words

    def gives_tensor(self, method: str) -> bool:
        return method not in self.catalog.plain_methods

    def is_differentiated(self, target: Value) -> bool:
        """Whether a call is of a function whose backward pass the catalog knows."""
        return type(target) is Ref and self.catalog.canonical(target.name) in self.catalog.differentiated

    def called(self, call: ast.Call) -> str:
        """The dotted name of what is called, with what its first part was imported as."""
        name = dotted(call.func) or (call.func.attr if isinstance(call.func, ast.Attribute) else "")
        root, _, rest = name.partition(".")
        known = self.scope.look_up(root)
        return f"{known.name}.{rest}".rstrip(".") if type(known) is Ref else name

    # -- statements ---------------------------------------------------------------------------------------------

    def block(self, statements: Sequence[ast.stmt]) -> bool:
        """Read statements in order; whether the flow never comes out at their end."""
        anew = self.anew
        stopped = self.statements(statements)
        self.anew = anew  # behind the block a name may have what it had before
        return stopped

    def statements(self, statements: Sequence[ast.stmt]) -> bool:
        """As `block`, but what is bound anew stays so: all of it runs before what comes after."""
        for statement in statements:
            if _STATEMENTS[type(statement)](self, statement):
                self.steps.append(-1)
                return True
        return False

    def _pass(self, node: ast.stmt) -> None:
        pass

    def children(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.expression(child)

    def _expr(self, node: ast.Expr) -> bool:
        kind = type(node.value)
        if kind is ast.Constant:
            return False
        if kind is ast.Name and self.scope.kind == "module":
            self.displays = True
        if (kind is ast.ListComp and loops.gathered([node.value.elt], (), "") is None) or kind is ast.Call:  # type: ignore[attr-defined]
            self.use = "dropped"
        value = _EXPRESSIONS[kind](self, node.value)
        if type(value) is Ref and self.catalog.canonical(value.name) in self.catalog.mentions:
            self.site("mention", value, (), node)
        if type(value) is not Result or not _leaves(value.of):
            return False
        self.steps.append(Branch("exit", None, ()))
        return True

    def _assign(self, node: ast.Assign) -> None:
        right, targets = node.value, node.targets
        kind = type(right)
        if self.drops and kind is ast.Call and type(targets[0]) is ast.Name and targets[0].id == "_":
            self.dropped.add(right)  # type: ignore[arg-type]
        if kind is ast.Constant:
            value = constant(right.value)  # type: ignore[attr-defined]
        elif kind is ast.Attribute or (kind is ast.Name and not self.fates):
            self.use = ""
            value = _EXPRESSIONS[kind](self, right)
        else:
            first = targets[0]
            name = first.id if type(first) is ast.Name else dotted(first)
            before = self.judged
            held = self.held_anew(name, right) if name in self.fates else name
            self.use = "assigned:" + held if name else _put_into(first)
            self.is_id = name.rpartition(".")[2] in self.ids
            value = _EXPRESSIONS[kind](self, right)
            self.is_id = False
            if type(first) is ast.Tuple and type(value) is Result and self.scope.kind == "function" and value.site >= 0:
                names = [element.id if type(element) is ast.Name else "" for element in first.elts]
                self.several += [(value.site, names)] if all(names) else ()
            if value is None and kind not in _OPAQUE:
                value = self.expression_value(right)
            if self.judged > before and name:
                self.watch(held)
                if held != name:
                    self.anew = {**self.anew, name: held}
        for target in targets:
            if type(target) is ast.Name:
                self.scope.bind(target.id, value)
                if kind is ast.BoolOp and (flag := self.flag_among(right)) is not None:
                    self.flagged[target.id] = flag
                if type(value) is Mapping:
                    self.section(target.id, value, right)
            else:
                self.assign(target, value, node)

    def watch(self, name: str) -> None:
        """Note from here on how a name is used that holds what a site gave; an attribute, or a name of the module, in all
        functions that are read later."""
        self.fates.setdefault(name, [])
        if "." in name or self.scope.kind == "module":
            self.kept_names.add(name)

    def extended(self, name: str) -> None:
        """Note from here on how a list is used that was made under this name and gets a listing: `files.extend(folder.glob("*"))`."""
        if type(self.scope.names.get(name)) is Items:
            self.watch(name)

    def held_anew(self, name: str, value: ast.expr) -> str:
        """What a name that is followed is called from here on to the end of the block, where it is bound to something else: nothing
        comes there that it had before."""
        held = self.anew.get(name, name)
        kept = "." in name or held.endswith(ANEW * _MOST_ANEW)
        return held if kept or any(dotted(part) == name for part in ast.walk(value)) else held + ANEW

    def follow(self, name: str) -> None:
        """Note how a name is used; what it is assigned to holds the same."""
        name = self.anew.get(name, name)
        self.fates.setdefault(name, []).append(self.use)
        if "assigned:" in self.use:
            self.judged += 1

    def viewed(self, name: str, use: str) -> None:
        """Note how a table is used whose items are asked for, in its order: `for name, file in files.items()`."""
        if name in self.fates or name in self.kept_names:
            self.use = use
            self.follow(name)
            self.use = ""

    def _annotated(self, node: ast.AnnAssign) -> None:
        name, before = dotted(node.target), self.judged
        name = self.anew.get(name, name)
        self.use = f"assigned:{name}"
        value = self.value(node.value) if node.value is not None else None
        if self.judged > before and name:
            self.watch(name)
        if not isinstance(value, (Const, Ref, Items, Mapping)):
            annotation = self.annotated(node.annotation)
            if annotation and (annotation in KINDS or not annotation.startswith("builtins.")):
                value = Instance(annotation, "?")
        if node.value is not None or value is not None:
            self.assign(node.target, value, node)

    def _augmented(self, node: ast.AugAssign) -> None:
        name, before = dotted(node.target), self.judged
        self.use = use = f"data-loop:{name}"
        value = self.value(node.value)
        if self.judged > before and name:
            self.watch(name)
        if isinstance(node.op, ast.Add):
            self.order("builtins.iter", self.unordered(value), node.value, use)
        target = self.expression(node.target) if not isinstance(node.target, ast.Name) else None
        if isinstance(target, Ref) and target.name == "os.environ" and isinstance(value, Mapping):
            self.environment(zip(value.keys, value.values, strict=True), node)
        if isinstance(node.target, ast.Subscript) and isinstance(node.target.slice, ast.Constant):
            self.written(self.expression(node.target.value), constant(node.target.slice.value), None, node)
        if isinstance(node.target, ast.Name):
            held = self.scope.look_up(node.target.id)
            self.scope.bind(node.target.id, None if isinstance(held, Missing) else _operation(held, None))

    def assign(self, target: ast.expr, value: Value | None, statement: ast.stmt) -> None:
        """Bind a target: a name, an attribute of `self` or of an import, `os.environ[...]`, or several of them."""
        if isinstance(target, ast.Name):
            self.scope.bind(target.id, value)
        elif isinstance(target, ast.Attribute):
            self.assign_attribute(target, value, statement)
        elif isinstance(target, (ast.Tuple, ast.List)):
            values: Sequence[Value | None] = ()
            if isinstance(value, Items) and len(value.values) == len(target.elts):
                values = value.values
            for i, element in enumerate(target.elts):
                part = (
                    values[i]
                    if values
                    else (Member(value, f"[{i}]") if _deep(value) < DEEPEST_VALUE and value else None)
                )
                self.assign(element.value if isinstance(element, ast.Starred) else element, part, statement)
        elif isinstance(target, ast.Subscript):
            base = self.expression(target.value)
            key = self.expression(target.slice)
            if isinstance(value, (Param, Ref)):
                self.keep(target.value, base, key, value, statement)
            if self.keys and base is not None and isinstance(key, Const):
                self.steps.append(Branch("rebind", member(base, f"[{key.value}]"), ()))
            if base is not None and base == self.rest():
                base = Mapping((), (), open=True)
            if _is_table(base) and isinstance(target.value, ast.Name):
                changed = {key.value: value} if isinstance(key, Const) and isinstance(key.value, str) else None
                self.scope.bind(target.value.id, _updated(base, changed))
            self.written(base, key, value, statement)

    def written(self, base: Value | None, key: Value | None, value: Value | None, statement: ast.stmt) -> None:
        """`os.environ[key] = value`; of a value that is put together, its text is what the rule engine looks at."""
        if not (isinstance(base, Ref) and base.name == "os.environ") or not isinstance(key, Const):
            return
        if isinstance(statement, ast.AugAssign):
            text = self.text(statement)
            value = Expression(text) if text is not None else None
        elif isinstance(statement, ast.Assign) and isinstance(value, Result) and _tail(value.of) in (OPERATED, SCALED):
            value = self.expression_value(statement.value)
        if isinstance(key.value, str):
            self.environment([(key.value, value)], statement)

    def keep(
        self, node: ast.expr, base: Value | None, key: Value | None, value: Param | Ref, statement: ast.stmt
    ) -> None:
        """Note that a collection which outlives the function is given an item that may be a function or a class."""
        base = self.shared(node, base)
        if isinstance(base, (Ref, Member)) and (type(value) is Param or self.wanted(value)):
            self.site(
                "write", Member(base, f"[{key.value if isinstance(key, Const) else '*'}]"), (Arg("", value),), statement
            )

    def shared(self, node: ast.expr, value: Value | None) -> Value | None:
        """A collection of the module that is filled later (`MODELS = {}`) by its name; any other value as it is."""
        if type(node) is not ast.Name or not is_collection(value):
            return value
        inner = next((names for names in self.scope.around if node.id in names), None)
        return Ref(self.prefix + node.id) if inner is self.scope.around[-1] else value

    def assign_attribute(self, target: ast.Attribute, value: Value | None, statement: ast.stmt) -> None:
        base = self.expression(target.value)
        if target.attr == "requires_grad":
            kept = (
                type(target.value) is ast.Attribute
            )  # `model.head.weight.requires_grad = True`: no tensor that a name holds
            self.trained += (kept or _is_parameter(base)) and value != Const(False)
        if self.keys and base is not None:
            self.steps.append(Branch("rebind", member(base, target.attr), ()))
        if isinstance(base, Instance) and base.of.startswith(self.prefix):
            owner = self.classes.get(base.of.removeprefix(self.prefix))
            if owner is not None:
                owner.attribute(target.attr, value)
                if target.attr in owner.properties:
                    self.site("write", Member(base, target.attr), (Arg("", value),), statement)
        elif isinstance(base, Ref) and (target.attr in self.words or base.name.rpartition(".")[2] in self.words):
            self.site("assignment", Ref(f"{base.name}.{target.attr}"), (Arg("value", value),), statement)
        elif isinstance(base, (Param, Result, Member)) and "seed" in target.attr.lower():
            self.site("write", Member(base, target.attr), (Arg("", value),), statement)
            if isinstance(base, Result) and target.attr in self.words:
                self.site("assignment", Member(base, target.attr), (Arg("value", value),), statement)
        elif isinstance(base, Result) and target.attr in self.words:
            self.site("assignment", Member(base, target.attr), (Arg("value", value),), statement)
        elif base is not None and self.may_run(base, target.attr):
            self.site("write", Member(base, target.attr), (Arg("", value),), statement)

    def environment(self, pairs: Iterable[tuple[str, Value | None]], node: ast.AST) -> None:
        for name, value in pairs:
            if name in self.catalog.environment:
                self.site("environment", Ref(name), (Arg("value", value),), node)

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.imports.add(alias.name)
            self.run(alias.name)
            if alias.asname:
                self.scope.bind(alias.asname, Ref(alias.name))
            else:
                root = alias.name.partition(".")[0]
                self.scope.bind(root, Ref(root))

    def _import_from(self, node: ast.ImportFrom) -> None:
        source = node.module or ""
        if node.level:
            parts = self.module.split(".")
            keep = len(parts) - node.level + (1 if self.package else 0)
            source = ".".join([*parts[: max(keep, 0)], *([source] if source else [])])
        prefix = f"{source}." if source else ""
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(source)
                self.imports.add(source)
                self.run(source)
            else:
                name = prefix + alias.name
                self.imports.add(name)
                self.run(name)
                self.scope.bind(alias.asname or alias.name, Ref(name))

    def run(self, name: str) -> None:
        """Note that an import runs a module here, if it may be one of the program's, or that its library has no such."""
        root = name.partition(".")[0]
        if root in self.catalog.key_roots:
            self.has_keys = True
        if root not in self.foreign or (self.raises and self.catalog.lacks(name)):
            if name not in self.ran:
                self.ran[name] = -2 - len(self.runs)
                self.runs.append(name)
            self.steps.append(self.ran[name])

    def _assert(self, node: ast.Assert) -> None:
        inside = len(self.sites)
        self.unsure += 1
        self.children(node)
        self.unsure -= 1
        self.may_be_passed_over(inside)
        self.ordered.update(loops.alone(node.test, holds=True))
        for empty in loops.empty(node.test):
            self.misses_none(empty)

    def misses_none(self, empty: str) -> None:
        """Note that a call loads all weights of a layer, whatever it was told: an assertion in its block says that none is missing."""
        name, _, part = empty.rpartition(".")
        call = self.scope.look_up(name or part)
        if not name and isinstance(call, Member):
            part, call = call.attr, call.base
        if not isinstance(call, Result) or part not in self.catalog.missing:
            return
        if _tail(call.of) in self.catalog.loading and call.site in self.steps:
            self.sites[call.site] = _with_use(self.sites[call.site], COMPLETE)

    def _if(self, node: ast.If) -> bool:
        test, rest = node.test, node.orelse
        if type(test) is ast.Compare and _is_main_test(test):
            return self.branch("main", test, [node.body, rest])
        if type(test) is ast.BoolOp and self.steps:
            self.drawn_for(test)
        self.use = "tested"
        _EXPRESSIONS[type(test)](self, test)
        # `elif` nests in the tree; as further arms a chain of thousands of them is no deeper than one.
        bodies, tests = [node.body], [test]
        while len(rest) == 1 and type(rest[0]) is ast.If:
            node = rest[0]
            bodies.append(node.body)
            tests.append(node.test)
            rest = node.orelse
            self.use = "tested"
            self.expression(node.test)
        bodies.append(rest)
        if isinstance(bodies[0][-1], (ast.Raise, ast.Return, ast.Continue)):
            self.ordered.update(loops.alone(test, holds=False))
        under_tests = type(test) in _MAY_ASK and smoke.asks_for_tests(test, self.catalog.testing)
        before = len(self.steps)
        held = [self.held(test) for test in tests] if len(tests) > 1 and type(test) is ast.Compare else []
        over = self.branch("tests" if under_tests else "if", test, bodies)
        if held and len(self.steps) > before:
            self.unfold(tests, held)
        if not rest and self.steps is self.outermost and type(bodies[0][-1]) is ast.Return and len(bodies) == 2:
            mode = self.decided_by_mode(test, holds=False)
            if mode is not None:
                self.early.append((len(self.steps), mode))
        return over

    def branch(
        self,
        kind: Any,
        test: ast.expr | None,
        bodies: list[list[ast.stmt]],
        names: Sequence[str] = (),
        renewed: Collection[str] = (),
    ) -> bool:
        """Read alternatives, each of which may bind a name at its start; whether none of them comes out.

        Args:
            renewed: what a loop binds at the beginning of each turn.
        """
        outer, arms, all_steps, stops, keys = self.steps, Arms(self.scope), [], True, self.keys
        by, negated = self.chooser(test) if kind == "if" and len(bodies) == 2 else ("", False)
        told, where = _given(test) if kind == "if" else ("", False)
        fixed = self.fixed(test) if kind == "if" and len(bodies) == 2 else None
        default = self.scope.names.get(told)
        narrows = type(default) is Param and default.default == Const(None)
        given = Param(default.name) if narrows else None  # type: ignore[union-attr]
        noted = self.noted
        for i, body in enumerate(bodies):
            self.steps, self.noted = [], noted.copy()
            arms.start()
            if names and names[i]:
                self.scope.bind(names[i], None)
            if given is not None and (i == 0) is where:
                self.scope.bind(told, given)
            stopped = bool(body) and self.block(body)
            if given is not None and self.scope.names.get(told) is given:
                self.scope.bind(told, default)
            arms.end(stopped and kind != "loop")
            all_steps.append(tuple(self.steps))
            stops = stops and stopped
        self.steps, self.noted = outer, noted
        carried = self.carried(arms.ends[0], self.keys > keys, renewed) if kind == "loop" and arms.ends[0] else None
        arms.join(by if len(arms.ends) == 2 else "", negated)
        if given is not None and not where and len(arms.ends) == 1 and self.scope.log is None and not bodies[-1]:
            self.scope.bind(told, given)  # behind `if seed is None: return`
        if any(all_steps):
            if kind == "if" and (type(test) is ast.BoolOp or type(test) is ast.Name) and len(all_steps) == 2:
                for i, steps in enumerate(all_steps):
                    mode = self.decided(test, holds=not i) if steps else None
                    if mode is not None:
                        all_steps[i] = (Branch("if", mode, (steps, ())),)
            if (type(test) is ast.Name or type(test) is ast.Attribute) and dotted(test).endswith("TYPE_CHECKING"):
                all_steps[0] = ()  # never runs
                if not any(all_steps):
                    return stops and kind != "loop"
            if fixed is not None:
                all_steps[fixed] = ()  # never runs
            asked = seeds = None
            if test is not None and kind == "if":
                asked = seeds = self.question(test, all_steps) or self.mode(test, all_steps)
                if asked is None and len(all_steps) == 2:
                    asked = self.flag(test, all_steps) or self.argument(test, all_steps)
                    asked = asked or self.choice(test) or self.worded(test)
                if asked is None and len(all_steps) == 2:
                    asked = seeds = self.held(test)
            elif kind == "main":
                only_prints = PRINTS if smoke.only_prints(bodies[0]) else None
                asked = SHAPES if smoke.only_shows_shapes(bodies[0], self.layers()) else only_prints
            span = _span(test) if test is not None and (type(seeds) is Expression or kind == "main") else None
            self.steps.append(Branch(kind, asked or carried, tuple(all_steps), span))
        return stops and kind != "loop"

    def layers(self) -> set[str]:
        """The classes of the file that are layers, and say nothing of themselves but what these say, and the functions that give one
        back."""
        if any(not _SAYS.isdisjoint(body.methods) for body in self.classes.values()):
            return set()
        known = {framework.module for framework in self.catalog.frameworks}
        own = {
            body.name
            for body in self.classes.values()
            if any(type(base) is Ref and base.name in known for base in body.bases)
        }
        return own | smoke.makers(self.bodies, own)

    def carried(self, after: dict[str, Value | None], keys: bool, renewed: Collection[str]) -> Value | None:
        """The values that a loop's body replaces for the next turn, each before the one in its place: those that may be tensors,
        or any where there may be keys among them."""
        names = self.scope.names
        kept = [(name, value) for name, value in after.items() if name not in renewed]
        pairs = [(before, value) for name, value in kept if (before := names.get(name)) is not None]
        changed = [pair for pair in pairs if (keys or type(pair[0]) in _TYPED) and pair[0] != pair[1]]
        return Items(tuple([value for pair in changed for value in pair])) if changed else None

    def mode(self, test: ast.expr, arms: list[tuple[Step, ...]]) -> Value | None:
        """Whether an `if` asks a layer if it trains: `if self.training`; of `if not self.training` the arms change places."""
        asked, negated = modes.asked(test, self.catalog.modes)
        if type(asked) is not ast.Attribute or len(arms) != 2 or (mode := self.mode_of(asked)) is None:
            return None
        if negated:
            arms.reverse()
        return mode

    def mode_of(self, asked: modes.Asked) -> Value | None:
        """What a mode that is asked for is: an attribute of a layer, or a parameter of the function; None for anything else."""
        if isinstance(asked, ast.Name):
            given = self.scope.names.get(asked.id)
            return given if type(given) is Param else None
        layer = self.scope.names.get(dotted(asked.value))
        return Member(layer, asked.attr) if type(layer) is Instance else None

    def decided_by_mode(self, test: ast.expr | None, holds: bool) -> Value | None:
        """The mode that a layer is surely in where a test comes out so: that in which it trains."""
        asked = modes.decides(test, self.catalog.modes, holds)
        return None if asked is None else self.mode_of(asked)

    def decided(self, test: ast.BoolOp | ast.Name, holds: bool) -> Value | None:
        """What is surely true where a test comes out so: a mode, or a flag that the object keeps, `self.mosaic and p < 0.5`, by the name
        too that this was given."""
        if type(test) is ast.Name:
            return self.flagged_by(test) if holds and test.id in self.flagged else None
        mode = self.decided_by_mode(test, holds)
        return self.flag_among(test) if mode is None and holds else mode

    def flag_among(self, test: ast.expr) -> Value | None:
        """A flag that the object keeps without which a test doesn't hold."""
        if type(test) is not ast.BoolOp or type(test.op) is not ast.And:
            return None
        flags = (self.kept_flag(part, negated=False) for part in test.values)
        return next((flag for flag in flags if flag is not None), None)

    def flagged_by(self, name: ast.Name) -> Value | None:
        """The flag without which a name isn't true, that nothing else binds in the function."""
        nodes = ast.walk(self.definition) if self.definition is not None else ()
        bound = [n for n in nodes if type(n) is ast.Name and n.id == name.id and type(n.ctx) is not ast.Load]
        return self.flagged[name.id] if len(bound) == 1 else None

    def drawn_for(self, test: ast.BoolOp) -> None:
        """Note that what is drawn right before an `if` is only looked at while a layer trains: `p = random()`, and then
        `if self.training and p < drop`."""
        mode = self.decided_by_mode(test, holds=type(test.op) is ast.And)
        if mode is None or self.definition is None or type(step := self.steps[-1]) is not int:
            return
        read = [n.id for n in ast.walk(self.definition) if type(n) is ast.Name and type(n.ctx) is ast.Load]
        asked = {part.id for part in ast.walk(test) if type(part) is ast.Name and read.count(part.id) == 1}
        values = (self.scope.names.get(name) for name in asked)
        if any(type(value) is Result and value.site == step for value in values):
            self.steps[-1:] = [Branch("if", mode, ((step,), ()))]

    def under(self, asked: Value | None, start: int) -> None:
        """Note that the steps from one on are only taken where something is true: while a layer trains, by a flag."""
        if asked is not None and len(self.steps) > start:
            self.steps[start:] = [Branch("if", asked, (tuple(self.steps[start:]), ()))]

    def question(self, test: ast.expr, arms: list[tuple[Step, ...]]) -> Value | None:
        """What an `if` asks, kept where it may decide on a seed or a switch."""
        text = self.text(test) if len(arms) == 2 else None
        asks = text is not None and _may_seed(text)
        return self.expression_value(test) if asks or any(map(self.may_seed, arms)) else None

    def argument(self, test: ast.expr | None, arms: list[tuple[Step, ...]]) -> Value | None:
        """What an `if` asks of a parameter that may be left at None, `n is not None and n > 0`, kept where it decides on a draw."""
        first = test.values[0] if type(test) is ast.BoolOp else test
        asked = self.scope.names.get(_given(first)[0]) if type(first) is ast.Compare else None
        if test is None or type(asked) is not Param or asked.default != Const(None):
            return None
        return self.expression_value(test) if any(map(self.may_draw, arms)) else None

    def choice(self, test: ast.expr | None) -> Value | None:
        """What an `if` asks of a parameter that has a default, `repeats > 0`: a call may leave it at that."""
        if type(test) is not ast.Compare or type(test.left) is not ast.Name or len(test.ops) > 1:
            return None
        asked = self.scope.names.get(test.left.id)
        literal = type(test.comparators[0]) is ast.Constant and type(asked) is Param and type(asked.default) is Const
        return self.expression_value(test) if literal else None

    def worded(self, test: ast.expr) -> Value | None:
        """What an `if` asks of a parameter that is a text, `split == "train"`: a call may say it."""
        if type(test) is not ast.Compare or type(test.left) is not ast.Name or len(test.ops) > 1:
            return None
        asked, with_ = self.scope.names.get(test.left.id), test.comparators[0]
        if type(asked) is not Param or type(test.ops[0]) not in _ALIKE:
            return None
        literals = with_.elts if type(with_) is ast.Tuple or type(with_) is ast.List else [with_]
        texts = all(type(literal) is ast.Constant and type(literal.value) is str for literal in literals)
        return self.expression_value(test) if texts else None

    def held(self, test: ast.expr) -> Value | None:
        """What an `if` asks of a name that only ever stands for one value, as a script has its settings at the top: `kind == "walks"`,
        `not quick`. Who edits the script may choose another one, as with an option."""
        asked = test.operand if type(test) is ast.UnaryOp and type(test.op) is ast.Not else test
        if type(asked) is ast.Compare and len(asked.ops) == 1 and type(asked.comparators[0]) is ast.Constant:
            asked = asked.left
        if type(asked) is not ast.Name or type(self.scope.names.get(asked.id)) is not Const:
            return None
        return self.expression_value(test) if self.is_bound_once(asked.id) else None

    def is_bound_once(self, name: str) -> bool:
        """Whether one place alone binds a name, in the function, or in the file for one of its top level, and nothing does so out of
        sight."""
        if self.scope.kind == "class" or _BY_NAME.search(self.data):
            return False
        if self.bindings is None or self.bindings[0] is not self.definition:
            around = self.definition or self.tree
            nodes = [*ast.walk(around)] if around is not None else []
            stored = [n.id for n in nodes if type(n) is ast.Name and type(n.ctx) is not ast.Load]
            outer = [name for n in nodes if type(n) is ast.Global or type(n) is ast.Nonlocal for name in n.names]
            self.bindings = self.definition, Counter([*stored, *outer])
        return self.bindings[1][name] == 1

    def unfold(self, tests: list[ast.expr], held: list[Value | None]) -> None:
        """Nest the arms of the `if` that was just read, where each asks what text a parameter is, or what a name stands for: a call, or
        the file, takes one of them.

        Args:
            held: what they ask of such names.
        """
        branch = self.steps[-1]
        if type(branch) is not Branch or branch.kind != "if" or branch.test is not None:
            return
        if not len(tests) < len(branch.arms) <= MOST_WORDS:
            return
        asked = [kept or self.worded(test) for test, kept in zip(tests, held, strict=True)]
        if None in asked:
            return
        *arms, rest = branch.arms
        for number in reversed(range(len(arms))):
            span = _span(tests[number]) if held[number] is not None else None
            rest = (Branch("if", asked[number], (arms[number], rest), span),) if arms[number] or rest else ()
        self.steps[-1:] = rest

    def may_draw(self, steps: tuple[Step, ...]) -> bool:
        """Whether one of some sites may draw, by its name."""
        words = self.catalog.all_drawing_words
        return any(
            any(map(self.may_draw, step.arms))
            if type(step) is Branch
            else step >= 0 and _tail(self.sites[step].target) in words  # type: ignore[operator, index]
            for step in steps
        )

    def flag(self, test: ast.expr | None, arms: list[tuple[Step, ...]]) -> Value | None:
        """The parameter that an `if` asks, which a call may give as True or False; of `if not flag` the arms change places."""
        name, negated = self.decider(test)
        asked = Param(name) if name and not name.startswith(".") else self.kept_flag(test, negated)
        if asked is not None and negated:
            arms.reverse()
        return asked

    def kept_flag(self, test: ast.expr | None, negated: bool) -> Value | None:
        """The attribute that a test is, or denies, of an object whose constructor keeps that by what it is given."""
        asked = test.operand if negated else test  # type: ignore[union-attr]
        kept = self.kept_attribute(asked)
        return Member(kept[0].instance, asked.attr) if kept is not None else None  # type: ignore[union-attr]

    def decider(self, test: ast.expr | None) -> tuple[str, bool]:
        """The parameter that a test is, or, with a dot, the mode of a layer, "" for neither, and whether it stands under a `not`."""
        negated = type(test) is ast.UnaryOp and type(test.op) is ast.Not
        name = test.operand if negated else test  # type: ignore[union-attr]
        if type(name) is ast.Attribute and name.attr in self.catalog.modes:
            return f".{name.attr}", negated
        found = self.scope.names.get(name.id) if type(name) is ast.Name else self.kept_parameter(name)
        return (found.name, negated) if type(found) is Param else ("", negated)

    def chooser(self, test: ast.expr | None) -> tuple[str, bool]:
        """What a test is that decides between two values (see `Either.by`), "" for anything else, and whether it stands under a `not`."""
        by, negated = self.decider(test)
        asked = test.operand if negated else test  # type: ignore[union-attr]
        return by or (dotted(asked) if type(asked) is ast.Attribute else ""), negated

    def fixed(self, test: ast.expr | None) -> bool | None:
        """What a test always is, since it names what the function binds once, to True or False; None where that isn't so."""
        negated = type(test) is ast.UnaryOp and type(test.op) is ast.Not
        name = test.operand if negated else test  # type: ignore[union-attr]
        value = self.scope.names.get(name.id) if type(name) is ast.Name and self.scope.kind == "function" else None
        if type(value) is not Const or type(value.value) is not bool or self.definition is None:
            return None
        nodes = [*ast.walk(self.definition)]
        bound = [n for n in nodes if type(n) is ast.Name and n.id == name.id and type(n.ctx) is not ast.Load]  # type: ignore[union-attr]
        elsewhere = any(type(n) is ast.Global and name.id in n.names for n in nodes)  # type: ignore[union-attr]
        return value.value is not negated if len(bound) == 1 and not elsewhere else None

    def kept_parameter(self, node: ast.expr | None) -> Value | None:
        """What an attribute is that the constructor which is being read has kept of a parameter, `self.train = train`, and that
        nothing else in the file sets."""
        kept = self.kept_attribute(node)
        if kept is None or self.functions[self.scope.function].name != f"{kept[0].name}.__init__":
            return None
        return kept[1] if type(kept[1]) is Param else None

    def kept_attribute(self, node: ast.expr | None) -> tuple[_ClassBody, Value] | None:
        """The class of `self`, and what its constructor keeps as an attribute which nothing else sets, in the class, or by another
        name in the file: a parameter, or what some come to."""
        if type(node) is not ast.Attribute or type(node.value) is not ast.Name:
            return None
        own = self.scope.names.get(node.value.id)
        owner = self.classes.get(own.of.removeprefix(self.prefix)) if type(own) is Instance and not own.name else None
        value = owner.attributes.get(node.attr) if owner is not None else None
        if value is None or owner is None or not _may_be_flag(value):
            return None
        key = owner.name, node.attr
        if key not in self.set_once:
            word, text = node.attr.encode(), b"\n".join(self.lines()[owner.lines.start - 1 : owner.lines.stop - 1])
            self.set_once[key] = assigned.times(text, word) == 1 and not assigned.of_another(self.data, word)
        return (owner, value) if self.set_once[key] else None

    def may_seed(self, steps: tuple[Step, ...]) -> bool:
        """Whether one of some sites may seed a stream or set a switch, by its name."""
        for step in steps:
            if type(step) is Branch:
                if any(map(self.may_seed, step.arms)):
                    return True
            elif step >= 0:  # type: ignore[operator]
                tail = _tail(self.sites[step].target)  # type: ignore[index]
                catalog = self.catalog
                if tail in catalog.setting_words or (_name_may_seed(tail) and tail not in catalog.all_drawing_words):
                    return True
        return False

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        before, judged, fates = len(self.sites), self.judged, [(name, len(uses)) for name, uses in self.fates.items()]
        self.use = "logged" if loops.only_logs(node.body) else "ignored" if loops.only_numbers(node) else "loop"
        iterated = self.expression(node.iter)
        unordered = self.unordered(iterated) if iterated is not None else None
        if unordered is not None:
            self.order("builtins.iter", unordered, node.iter, "loop")
        through = [name for name, count in fates if len(self.fates[name]) > count]
        if told := bool(through) or self.judged > judged:
            self.gathered(node, before, fates)
            through = [name for name in through if self.fates[name][-1] in _LOOPS]
            for name in through:
                self.fates[name][-1] += UNREAD
        if iterated is None and isinstance(node.iter, ast.Call) and dotted(node.iter.func) in self.passing:
            iterated = self.expression_value(node.iter)
        item: Value | None = None
        if isinstance(iterated, Items) and all(isinstance(value, Ref) for value in iterated.values):
            item = Member(iterated, "[*]")  # each of them in turn
        elif isinstance(iterated, Items) and 0 < len(iterated.values) <= 4:
            item = join(iterated.values)
        elif iterated is not None and _deep(iterated) < DEEPEST_VALUE:
            item = Member(iterated, "[*]")
        self.assign(node.target, item, node)
        if type(node.target) is ast.Name and type(node.iter) is ast.Call and dotted(node.iter.func) == "range":
            self.counters.add(node.target.id)
        inside = len(self.sites)
        self.branch("loop", None, [node.body], renewed=loops.names_in(node.target))
        if told or unordered is not None:
            self.done_in_order(before, inside, through)
        if self.ordered:
            self.items_put_right(node)
        self.block(node.orelse)

    def items_put_right(self, node: ast.For | ast.AsyncFor) -> None:
        """Note that a loop sorts each item of a table: `for names in groups.values(): names.sort()`."""
        targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        through = node.iter.func if isinstance(node.iter, ast.Call) else None
        if isinstance(through, ast.Attribute) and any(dotted(target) in self.ordered for target in targets):
            self.ordered.add(loops.INSIDE + dotted(through.value))

    def gathered(self, node: ast.For | ast.AsyncFor, before: int, fates: list[tuple[str, int]]) -> None:
        """Tell the sites and names that a loop goes over what its body gathers: `data-loop:files,+total`.

        Before what may be a sum of numbers stands a `+`; after a `;` stand the lists that the loop is handed
        (`for root, dirs, names in os.walk(...)`).
        """
        targets = [dotted(t) for t in node.target.elts] if isinstance(node.target, ast.Tuple) else [dotted(node.target)]
        index = targets[0] if len(targets) == 2 else ""
        grown = loops.gathered(node.body, targets, index, None, self.counting())
        # What surely raises is costly to find, and at the top level ends the run.
        if grown is not None and self.scope.kind != "module" and self.may_miss():
            grown = loops.gathered(node.body, targets, index, self.surely_misses, self.counting())
        if grown is None:
            return
        handed = ";" + ",".join(targets[1:]) if len(targets) == 3 else ""
        use = "data-loop:" + ",".join(grown.marked) + handed
        in_order = use if grown.in_order else "loop"
        for i in range(before, len(self.sites)):
            site = self.sites[i]
            if site.use.endswith("loop"):
                self.sites[i] = _with_use(site, site.use.replace("loop", in_order if site.kind == "order" else use))
        for name, count in fates:
            uses = self.fates[name]
            uses[count:] = [u.replace("loop", use) if u.endswith("loop") else u for u in uses[count:]]
        self.track(grown.names)

    def counting(self) -> frozenset[str]:
        """The functions and methods of the file that only count."""
        if self._counting is None:
            known = self.tree is not None and loops.may_count(self.data)
            self._counting = loops.counting(self.tree) if self.tree is not None and known else frozenset()
        return self._counting

    def done_in_order(self, first: int, body: int, names: Iterable[str]) -> None:
        """Tell what a loop goes over what else its body does: `loop:A-B`, by the positions of the sites.

        Args:
            first: the first site of what it goes over.
            body: that of its body.
            names: those that hold what it goes over.
        """
        use = f"loop:{body}-{len(self.sites)}" if len(self.sites) > body else "loop"
        for i in range(first, body) if use != "loop" else ():
            site = self.sites[i]
            if site.kind == "order" and site.use.endswith("loop"):
                self.sites[i] = _with_use(site, use)
            elif site.use in _LOOPS:
                self.sites[i] = _with_use(site, site.use.removesuffix("loop") + use)
        for name in names:
            self.fates[name] = [
                fate.removesuffix(f"loop{UNREAD}") + use if fate.endswith(UNREAD) else fate for fate in self.fates[name]
            ]

    def track(self, names: Iterable[str]) -> None:
        """Note from here on how some names are used that things are gathered into."""
        for name in names:
            uses = self.fates.get(name, [])
            if name.isidentifier() and "gathered" not in uses:
                # A parameter that was bound anew is no longer what the caller has.
                value = self.scope.names.get(name)
                own = value is not None and type(value) not in (Param, Either)
                self.fates[name] = [*(["gathered", "anew"] if own else ["gathered"]), *uses]

    def _while(self, node: ast.While) -> None:
        self.expression(node.test)
        self.branch("loop", None, [node.body])
        self.block(node.orelse)

    def _try(self, node: Any) -> bool:
        bodies = [[*node.body, *node.orelse]]
        names = [""]
        for handler in node.handlers:
            if handler.type is not None:
                self.unsure += 1
                self.expression(handler.type)
                self.unsure -= 1
            bodies.append(handler.body)
            names.append(handler.name or "")
        stopped = self.branch("try", None, bodies, names)
        return self.block(node.finalbody) or stopped

    def _with(self, node: ast.With | ast.AsyncWith) -> bool:
        outer, entered_values = self.within, []
        for item in node.items:
            name = dotted(item.optional_vars) if item.optional_vars is not None else ""
            name, before = self.anew.get(name, name), self.judged
            self.use = f"assigned:{name}" if name else ""
            value = self.expression(item.context_expr)
            if name and self.judged > before:
                self.fates.setdefault(name, [])
            entered = value.of if isinstance(value, Result) else value
            if isinstance(value, Result) and value.site >= 0 and isinstance(entered, Ref):
                self.within = (*self.within, value.site)
            entered_values.append(value)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value, node)
        steps, self.steps = self.steps, []
        stopped = self.block(node.body)
        inner: tuple[Step, ...] = tuple(self.steps)
        self.steps = steps
        for value in reversed(entered_values):
            # Only a call's result or an object can do something when it is entered.
            inner = (Branch("with", value, (inner,)),) if isinstance(value, (Result, Ref, Instance)) else inner
        self.steps += inner
        self.within = outer
        return stopped

    def _match(self, node: ast.Match) -> bool:
        self.expression(node.subject)
        for case in node.cases:
            for pattern in ast.walk(case.pattern):
                name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
                if isinstance(name, str):
                    self.scope.bind(name, None)
        self.branch("if", None, [*(case.body for case in node.cases), []])
        return False

    def _return(self, node: ast.Return) -> bool:
        if node.value is not None:
            self.use = "returned"
            value = self.expression(node.value)
            self.returned.append(value)
            if type(node.value) is ast.Tuple and type(value) is Items:
                for place, (element, given) in enumerate(zip(node.value.elts, value.values, strict=False)):
                    if type(element) is ast.Name and type(given) is Result and given.site >= 0:
                        self.given_back.append((given.site, place, element.id))
        if self.steps is not self.outermost:
            self.steps.append(Branch("return", None, ()))
        return True

    def _raise(self, node: ast.Raise) -> bool:
        for part in (node.exc, node.cause):
            if part is not None:
                self.expression(part)
        return True

    def _stop(self, node: ast.Break | ast.Continue) -> bool:
        return True

    def _global(self, node: ast.Global) -> None:
        if self.scope.kind == "function":
            self.scope.globals.update(node.names)

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.scope.bind(target.id, None)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        name = self.inside(node.name)
        decorators, options = [], dict[str, Option]()
        for decorator in node.decorator_list:
            decorators.append(self.expression(decorator))
            if isinstance(decorator, ast.Call):
                options |= self.click_option(decorator, decorators[-1])
            self.registered(decorator, self.prefix + name)
        self.define(node, name, tuple(decorators), options)
        opaque = any(_name_of(decorator).startswith("?") for decorator in decorators)
        self.scope.bind(node.name, Ref(self.prefix + name) if not opaque else None)

    def click_option(self, node: ast.Call, made: Value | None) -> dict[str, Option]:
        """The parameter that `@click.option("--seed", default=0)` fills."""
        name = _name_of(made)
        if not name.startswith(("click.", "rich_click.", "asyncclick.")) or not name.endswith((".option", ".argument")):
            return {}
        texts = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        if not texts:
            return {}
        plain = [text for text in texts if not text.startswith("-")]
        long = next((text for text in texts if text.startswith("--")), texts[0])
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if "default" in given:
            default = self.value(given["default"])
        else:
            flag = isinstance(given.get("is_flag"), ast.Constant) or "/" in long
            default = Const(False) if flag else Const(None) if "required" not in given else None
        parameter = plain[0] if plain else long.partition("/")[0].lstrip("-").replace("-", "_")
        return {parameter: Option(default, _span(node))}

    def registered(self, node: ast.expr, definition: str) -> None:
        """Note what `@MODELS.register_module(name="Net")` registers: under its own name where none is given, and where what
        is given is not literal."""
        call = node if isinstance(node, ast.Call) else None
        if not dotted(call.func if call is not None else node).rpartition(".")[2].startswith("register"):
            return
        given = [k.value for k in call.keywords if k.arg == "name"] + call.args[:1] if call is not None else []
        texts = [e.value for e in ast.walk(given[0]) if isinstance(e, ast.Constant)] if given else []
        for name in [text for text in texts if isinstance(text, str)] or [definition.rpartition(".")[2]]:
            if name in self.catalog.registry:
                self.registers[name] = definition

    def inside(self, name: str) -> str:
        """The name of a definition inside the module, dotted."""
        around = self.around()
        if self.in_cells and self.scope.kind == "module":
            # Cells define names anew as they go, and what is called in between means the earlier ones.
            count = self.defined[name] = self.defined.get(name, 0) + 1
            return f"{name}@{count}" if count > 1 else name
        return f"{around}.{name}" if around else name

    def around(self) -> str:
        """The name of the class or function that stands around here; empty for the module."""
        if self.scope.kind == "class":
            return self.scope.owner
        return self.functions[self.scope.function].name if self.scope.kind == "function" else ""

    def define(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        name: str,
        decorators: tuple[Value | None, ...],
        options: dict[str, Option] | None = None,
    ) -> int:
        """Queue a function's body to be read after the block around it; its position in `functions`."""
        owner = self.scope.owner if self.scope.kind == "class" else ""
        names = [_name_of(decorator) for decorator in decorators] if decorators else []
        if owner:
            name = self.classes[owner].define(name, names)
        scope = Scope("function", self.scope, 0, owner or self.scope.owner)
        parameters = self.parameters(node.args, owner, names, scope.names)
        # Only now: a default may be a lambda, which is numbered first.
        index = scope.function = len(self.functions)
        self.waiting.append((node, scope, index))
        self.functions.append(Function(name, owner, None, index))
        self.details.append(Detail(parameters, decorators, options or {}))
        self.flow.append(())
        return index

    def parameters(
        self, arguments: ast.arguments, owner: str, decorators: Sequence[str], bound: dict[str, Value | None]
    ) -> tuple[Parameter, ...]:
        """The parameters of a function or method; what their names mean in it is noted in `bound`."""
        positional, defaults = arguments.args, arguments.defaults
        if arguments.posonlyargs:
            positional = [*arguments.posonlyargs, *positional]
        required = len(positional) - len(defaults)
        parameters = [
            self.parameter(argument, defaults[i - required] if i >= required else None, "", bound)
            for i, argument in enumerate(positional)
        ]
        if owner and positional and "builtins.staticmethod" not in decorators:
            own = self.prefix + owner
            bound[positional[0].arg] = (
                Ref(own) if "builtins.classmethod" in decorators else self.classes[owner].instance
            )
        if arguments.vararg:
            parameters.append(self.parameter(arguments.vararg, None, "*", bound))
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            parameters.append(self.parameter(argument, default, "", bound))
        if arguments.kwarg:
            parameters.append(self.parameter(arguments.kwarg, None, "**", bound))
        return tuple(parameters)

    def parameter(
        self, argument: ast.arg, default: ast.expr | None, kind: str, bound: dict[str, Value | None]
    ) -> Parameter:
        """A parameter; what its name means in the function is noted in `bound`."""
        name = argument.arg
        annotated = argument.annotation
        annotation = self.annotated(annotated) if annotated is not None else ""
        value = span = None
        if default is not None:
            before = len(self.steps)
            value = self.value(default)
            if len(self.steps) > before and type(default) in (ast.Call, ast.Dict):
                self.steps[before:] = [s for s in self.steps[before:] if not self.describes(s)]
            if _name_may_seed(name):
                span = _span(argument)
        if annotation and not kind and (annotation in KINDS or not annotation.startswith("builtins.")):
            bound[name] = Instance(annotation, "" if annotation in KINDS else name)
        else:
            bound[name] = Param(name, value)
        return Parameter(name, value, annotation, kind, span, default is None and not kind)

    def rest(self) -> Value | None:
        """What the function that is read gets the keywords as that none of its parameters takes."""
        parameters = self.details[self.scope.function].parameters
        return Param(parameters[-1].name) if parameters and parameters[-1].kind == "**" else None

    def describes(self, step: Step) -> bool:
        """Whether a step says what is to be built; where that is a parameter's default, nothing builds it there."""
        return type(step) is int and step >= 0 and self.sites[step].kind in ("config", "registry")

    def _class(self, node: ast.ClassDef) -> None:
        name = self.inside(node.name)
        decorators = tuple(self.expression(decorator) for decorator in node.decorator_list)
        for decorator in node.decorator_list:
            self.registered(decorator, self.prefix + name)
        bases = tuple(self.expression(base) for base in node.bases)
        for keyword in node.keywords:
            value = self.expression(keyword.value)
            if keyword.arg in ("metaclass", None) and value != Ref("abc.ABCMeta"):
                decorators = (*decorators, value)
        body = self.classes[name] = _ClassBody(
            name,
            bases,
            decorators,
            Instance(self.prefix + name),
            range(node.lineno, (node.end_lineno or node.lineno) + 1),
        )
        outer, within = self.scope, self.within
        outer.bind(node.name, Ref(f"{self.module}.{name}"))
        self.scope = Scope("class", outer, outer.function, name)
        self.block(node.body)
        for attribute, value in self.scope.names.items():
            if attribute not in body.methods:
                body.attribute(attribute, value)
        for statement in node.body:
            if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
                target = statement.target if isinstance(statement, ast.AnnAssign) else statement.targets[0]
                if type(target) is ast.Name and _name_may_seed(target.id):
                    body.places[target.id] = _span(statement)
        self.scope, self.within = outer, within

    # -- expressions --------------------------------------------------------------------------------------------

    def expression(self, node: ast.expr) -> Value | None:
        """Visit an expression, record the sites in it, and say what it is known to be."""
        return _EXPRESSIONS[type(node)](self, node)

    def _other(self, node: ast.expr) -> None:
        self.use = ""
        self.children(node)

    def _joined(self, node: ast.JoinedStr) -> None:
        kept = self.use.startswith(_KEEPS) and self.use not in _SHOWN and not self.use.endswith(_ERRORS)
        for part in node.values:
            if type(part) is ast.FormattedValue and type(part.value) is not ast.Name:
                # Which one of some files a text names that isn't only shown is up to their order.
                self.use = "" if kept and type(part.value) is ast.Subscript else "shown"
                self.expression(part.value)
        self.use = ""

    def _slice(self, node: ast.Slice) -> None:
        for part in (node.lower, node.upper, node.step):
            if part is not None and type(part) is not ast.Constant:
                self.expression(part)

    def value(self, node: ast.expr) -> Value | None:
        """As `expression`, but what isn't a known value is kept as text for the rule engine to look at."""
        kind = type(node)
        value = _EXPRESSIONS[kind](self, node)
        if value is COMPARED and kind is ast.Compare:
            return self.expression_value(node) or value  # what is compared may be known
        return value if value is not None or kind in _OPAQUE else self.expression_value(node)

    def expression_value(self, node: ast.expr) -> Value | None:
        """The text of an expression and what its names mean, without visiting it again."""
        text = self.text(node)
        if text is None:
            return None
        names: dict[str, Value | None] = {}
        for name in _IDENTIFIERS.findall(text):
            found = self.scope.look_up(name)
            kept = _simple(found) if not isinstance(found, Missing) else None
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

    def _constant(self, node: ast.Constant) -> Value | None:
        self.use = ""
        value = node.value
        if type(value) is str and len(value) <= LONGEST_TEXT and value.isascii():
            return Const(value)
        return constant(value)

    def _name(self, node: ast.Name) -> Value | None:
        name = node.id
        if self.use:
            if name in self.fates or name in self.kept_names:
                self.follow(name)
            self.use = ""
        names = self.scope.names
        if name in names:
            return names[name]
        found = self.scope.look_up(name)
        if found is MISSING:
            if self.stars:
                return Ref(self.prefix + name)
            self.misses(name)
            return None
        return found  # type: ignore[return-value]

    def misses(self, name: str) -> None:
        """Note that a name is read that nothing has bound so far: if nothing in the file ever does, that raises. At the top level it
        may be what somebody has left out who shows the rest."""
        if self.unsure or not self.may_miss() or not self.is_unbound(name):
            return
        if self.scope.kind == "module" and self.excerpt is None and self.tree is not None:
            self.excerpt = unbound.is_excerpt(self.tree, self.bound or set())
        if self.scope.kind != "module" or not self.excerpt:
            self.steps.append(Branch("raise", Const(name), ()))

    def may_miss(self) -> bool:
        """Whether a name that is read here may be one that nothing binds."""
        return self.tree is not None and self.bound is not None and not self.stars

    def is_unbound(self, name: str) -> bool:
        """Whether nothing in the file binds a name that no scope has so far."""
        if not self.bound and self.tree is not None and not name.startswith("__"):
            self.bound = unbound.bound(self.tree, self.data)
        return self.bound is not None and not name.startswith("__") and name not in self.bound

    def surely_misses(self, statement: ast.stmt) -> bool:
        """Whether a statement surely reads a name that nothing binds."""
        nodes = [*ast.walk(statement)] if type(statement) in (ast.Assign, ast.Expr) else []
        if any(type(node) in _MAY_SKIP for node in nodes):
            return False
        read = [node.id for node in nodes if type(node) is ast.Name and type(node.ctx) is ast.Load]
        missing = {name for name in read if self.scope.look_up(name) is MISSING}
        if missing and self.definition is not None:  # most of them the function binds, which is soon looked through
            around = ast.walk(self.definition)
            missing -= {node.id for node in around if type(node) is ast.Name and type(node.ctx) is not ast.Load}
        return any(map(self.is_unbound, missing))

    def _attribute(self, node: ast.Attribute, called: bool = False) -> Value | None:
        """An attribute; one that is `called` is a method sooner than a property."""
        # Chains are followed without recursion: generated code has chains thousands of links long.
        base = node.value
        kind = type(base)
        if self.kept_names and self.use and (name := dotted(node)) in self.kept_names:
            self.follow(name)
            self.use = ""
        if self.lacking and not self.unsure:
            self.lack(node)
        if kind is not ast.Attribute:
            value = _EXPRESSIONS[kind](self, base)
            if value is None:
                return None
            if not called:
                self.read(value, node.attr, value, node.attr)
            elif node.attr == "get" and self.shared(base, value) is not value:
                return Member(Ref(self.prefix + base.id), "get")  # type: ignore[attr-defined]
            return Ref(f"{value.name}.{node.attr}") if type(value) is Ref else member(value, node.attr)
        attributes = [node.attr]
        while type(base) is ast.Attribute:
            attributes.append(base.attr)
            base = base.value
        value = root = self.expression(base)
        path = ""
        while attributes and value is not None:
            attr = attributes.pop()
            path = f"{path}.{attr}" if path else attr
            if attributes or not called:
                self.read(root, path, value, attr)
            value = member(value, attr)
        return value

    def lack(self, node: ast.Attribute) -> None:
        """Note that an option is read which the command line doesn't have, at the root of a chain of attributes."""
        while isinstance(node.value, ast.Attribute):
            node = node.value
        if node in self.lacking:
            self.steps.append(Branch("raise", Const(node.attr), ()))

    def read(self, root: Value | None, path: str, base: Value, attr: str) -> None:
        """Note that an attribute is read that may be a property; it is known by the first name of the chain, and the rest."""
        step = self.ran.get((id(root), path))
        if step is None:
            self.roots.append(root)
            step = 0
            if self.may_run(base, attr):
                step = -2 - len(self.runs)
                self.runs.append(Member(base, attr))
            self.ran[id(root), path] = step
        if step and step not in self.noted:
            self.noted.add(step)
            self.steps.append(step)

    def is_mask(self, value: Value) -> bool:
        """Whether a tensor is called a mask; in another shape or type it stays one."""
        return type(value) in (Instance, Param) and value.name.endswith(self.masks)  # type: ignore[union-attr]

    def may_run(self, base: Value, attr: str) -> bool:
        """Whether an attribute may be a property of one of the program's classes."""
        kind = type(base)
        if kind is Instance:
            name: str = base.of  # type: ignore[union-attr, assignment]
            own = self.classes.get(name.removeprefix(self.prefix))
            if own is not None:
                return attr not in own.attributes and (attr not in own.methods or attr in own.properties)
            return name.partition(".")[0] not in self.foreign
        root: Any = base
        while True:
            if kind is Member:
                root = root.base
            elif kind is Result:
                root = root.of
            else:
                break
            kind = type(root)
        if kind is Ref:
            return root.name.partition(".")[0] not in self.foreign
        return kind is Instance or kind is Param or kind is Either

    def _call(self, node: ast.Call) -> Value | None:
        use, self.use = self.use, ""
        function = node.func
        kind = type(function)
        if kind is ast.Call:
            self.use = use  # `Parallel(...)(...)`: what is built here makes what is used there
        if kind is ast.Attribute:
            if use and function.attr in _VIEWS and (self.fates or self.kept_names):  # type: ignore[attr-defined]
                self.viewed(dotted(function.value), use)  # type: ignore[attr-defined]
            callee, attr = self._attribute(function, called=True), function.attr  # type: ignore[arg-type, attr-defined]
        else:
            callee, attr = _EXPRESSIONS[kind](self, function), ""
        if callee is None and attr in self.catalog.methods:
            callee = Member(UNKNOWN_RECEIVER, attr)
        name = callee.name if type(callee) is Ref else ""
        if kind is ast.Name and function.id in self.stand_ins:  # type: ignore[attr-defined]
            name = self.stand_ins[function.id]  # type: ignore[attr-defined]
        wanted = callee is not None and (
            self.wanted(callee)
            or (node.keywords and _says_what_to_make(node, name != "", self.whole))
            or (attr == "to" and _converts(node, self.whole))
        )
        args: Sequence[Arg] = ()
        known = name in self.kept
        method = _METHODS.get(attr, "") if attr else ""
        if method == "joins":
            method = "tells" if type(function.value) is ast.Constant else ""  # type: ignore[attr-defined]
        if known or method == "tells":
            args, made = self.understood(node, callee, name, attr if method else "", wanted, use)
            if made is not None:
                return made
        elif node.args or node.keywords:
            if wanted:
                passed = (
                    _passed(attr, function, use) if method else f"argument:{name}" if name else f"argument:?.{attr}"
                )
                # The text of an argument only matters to the rules, so only where the catalog may know the callee.
                args = self.arguments(node, passed, self.value if _tail(callee) in self.words else None)
            else:
                self.visit_arguments(node, name or f"?.{attr}", use if method else None)
            self.use = ""
        if callee is None:
            return None
        site = self.site("call", callee, tuple(args) if args else (), node, use) if wanted else -1
        if (
            attr in KEEPS_NUMBERS
            and type(callee) is Member
            and self.is_mask(callee.base)
            and not (wanted and attr == "to")
        ):
            return callee.base
        if site < 0 and name.startswith("builtins."):
            # `int(time.time())` is still what the clock said.
            if name in _PASSES and args and isinstance(args[0].value, (Result, Member, Param)):
                return args[0].value
            return _BUILT_IN.get(name)
        return Result(callee, site) if name or _deep(callee) < DEEPEST_VALUE else None

    def understood(
        self, node: ast.Call, callee: Value | None, name: str, attr: str, wanted: bool, use: str
    ) -> tuple[list[Arg], Value | None]:
        """A call whose meaning the reader itself needs: its arguments, and what it gives if that is known by it."""
        goes_through = name in self.gone_through
        if goes_through and use and _counts(name, node.args):
            use = f"counted:{use}"
        if attr in GROWS or attr == "join":
            passed = _passed(attr, node.func, use)
        elif name in self.same_order or name in _SAME_NUMBER:
            passed = use
        else:
            passed = f"argument:{name or '?.' + attr}"
        before = self.judged
        args = self.arguments(node, passed, self.value if wanted and _tail(callee) in self.words else None)
        self.use = ""
        if attr == "extend" and self.judged > before:
            self.extended(dotted(node.func.value))  # type: ignore[attr-defined]
        if attr:
            self.method_call(node, attr, callee, args, use)
        made = _SPECIAL[name](self, node, args) if name in _SPECIAL else None
        if made is None and name in self.builders:
            made = self.instantiated(self.builders[name], node, args)
        if made is None and goes_through:
            made = self.passed_on(name, node, args, use)
        return args, made

    def arguments(self, node: ast.Call, passed: str, read: Callable[[ast.expr], Value | None] | None) -> list[Arg]:
        """Visit the arguments of a call and say what they are; what becomes of them is `passed`."""
        args = []
        followed = self.fates or self.kept_names
        for argument in node.args:
            label = ""
            if type(argument) is ast.Starred:
                label, argument = "*", argument.value
            kind = type(argument)
            if followed or kind is not ast.Name:
                self.use = passed
            args.append(Arg(label, read(argument) if read else _EXPRESSIONS[kind](self, argument)))
        for keyword in node.keywords:
            given = keyword.value
            kind = type(given)
            if followed or kind is not ast.Name:
                self.use = passed
            args.append(Arg(keyword.arg or "**", read(given) if read else _EXPRESSIONS[kind](self, given)))
        return args

    def visit_arguments(self, node: ast.Call, name: str, use: str | None) -> None:
        """Visit the arguments of a call that nobody asks for; a mere name only matters where it is followed.

        Args:
            use: what becomes of the call, where its method passes it on.
        """
        followed = self.fates or self.kept_names
        passed = ""
        for argument in node.args:
            kind = type(argument)
            if kind is ast.Constant or (kind is ast.Name and not followed):
                if kind is ast.Name and self.scope.look_up(argument.id) is MISSING:  # type: ignore[attr-defined]
                    self.misses(argument.id)  # type: ignore[attr-defined]
                continue
            passed = passed or (f"argument:{name}" if use is None else _passed(name.rpartition(".")[2], node.func, use))
            self.use = passed
            if kind is ast.Starred:
                argument = argument.value  # type: ignore[attr-defined]
                kind = type(argument)
            _EXPRESSIONS[kind](self, argument)
        for keyword in node.keywords:
            given = keyword.value
            kind = type(given)
            if kind is ast.Constant or (kind is ast.Name and not followed):
                if kind is ast.Name and self.scope.look_up(given.id) is MISSING:  # type: ignore[attr-defined]
                    self.misses(given.id)  # type: ignore[attr-defined]
                continue
            self.use = passed = passed or (
                f"argument:{name}" if use is None else _passed(name.rpartition(".")[2], node.func, use)
            )
            _EXPRESSIONS[kind](self, given)

    def method_call(self, node: ast.Call, attr: str, callee: Value | None, args: list[Arg], use: str) -> None:
        """What a method's name alone tells: `x.sort()`, `parser.add_argument(...)`, `options.update(...)`."""
        function = node.func
        assert isinstance(function, ast.Attribute)
        if attr == "sort":
            self.ordered.add(loops.place(function.value))
        elif attr in ("add", "update") and isinstance(callee, Member) and self.unordered(callee.base) is not None:
            self.added(function.value, callee.base, node, args)
        elif attr == "extend" or attr == "join":
            name, into = (
                ("builtins.iter", _passed(attr, function, "")) if attr == "extend" else ("builtins.str.join", use)
            )
            for given, arg in zip(node.args[:1], args, strict=False):
                self.order(name, self.unordered(arg.value), given, into)
        elif attr == "add_argument":
            self.option(args, node, callee)
        elif attr == "register_module":
            things = [a.value.name for a in args if a.name in ("", "module") and isinstance(a.value, Ref)]
            if things:
                self.registered(node, things[0])
        elif attr == "set_defaults":
            for arg in args:
                known = self.options.get(arg.name)
                # What a parser says counts for it; of several subcommands' parsers any may be the one that is used.
                other = known is not None and not _same_owner(self.parsers.get(arg.name), callee)
                value = join((known.default, arg.value)) if known is not None and other else arg.value
                self.options[arg.name], self.parsers[arg.name] = Option(value, _span(node)), callee
        elif attr == "update" and (callee is None or (isinstance(callee, Member) and _is_table(callee.base))):
            self.dictionary_update(function.value, args)

    # Sets: which values are, and where their elements get an order.

    def unordered(self, value: Value | None) -> sets.Elements | None:
        """What is in a set, or in what passes a set's elements on; None for what isn't surely one."""
        if type(value) is Member and type(value.base) is Instance and value.base.of.startswith(self.prefix):
            owner = self.classes.get(value.base.of.removeprefix(self.prefix))
            return sets.elements_of(owner.attributes.get(value.attr)) if owner is not None else None
        return sets.elements_of(value) if value is not None else None

    def passed_on(self, name: str, node: ast.Call, args: list[Arg], use: str) -> Value | None:
        """What a function gives that makes a set or goes through one; None where none is involved, or it gets an order."""
        if name in MAKES_SET:
            given = node.args[0] if node.args else None
            value = args[0].value if args else None
            return sets.SETS[sets.items_of(given, value) if given is not None else "-"]
        kinds = [kind for arg in args if (kind := self.unordered(arg.value)) is not None]
        if not kinds:
            return None
        kind = sets.joined(kinds)
        if name in self.ordering:
            items = [*node.args, *(keyword.value for keyword in node.keywords)]
            for item, arg in zip(items, args, strict=True):
                if not arg.name.startswith("*"):
                    self.order(name, self.unordered(arg.value), item, use)
            return None
        # `map(f, names)` gives something else than names.
        return sets.SETS[kind if name != "builtins.map" else sets.items_of(node, None)]

    def order(self, name: str, elements: sets.Elements | None, node: ast.expr, use: str) -> None:
        """Note that a set's elements get an order here, which something becomes of; that of numbers is always the same."""
        if elements is None or elements == "int" or not use:
            return
        self.judged += 1
        into, _, names = use.removeprefix("counted:").removeprefix("joined:").partition(":")
        self.track(names.split(",") if into in ("data-loop", "put") else ())
        given = (Arg("elements", _ELEMENTS[elements]),)
        self.sites.append(Site("order", Ref(name), given, _span(node), self.scope.function, (), use))

    def added(self, target: ast.expr, base: Value, node: ast.Call, args: list[Arg]) -> None:
        """`names.add(x)`, `names.update(xs)`: what a set holds from here on."""
        before = self.unordered(base) or ""
        one = node.func.attr == "add"  # type: ignore[attr-defined]
        pairs = zip(node.args, args, strict=False)
        new = [(sets.element_of if one else sets.items_of)(given, arg.value) for given, arg in pairs]
        made = sets.SETS[sets.joined((before, *new))]
        if isinstance(target, ast.Name):
            self.scope.bind(target.id, made)
        elif isinstance(base, Member) and isinstance(base.base, Instance):
            self.classes[base.base.of.removeprefix(self.prefix)].attribute(base.attr, made)

    def wanted(self, callee: Value) -> bool:
        """Whether a call is worth recording: the catalog may know it, or the program may define it."""
        kind = type(callee)
        if kind is Ref:
            name: str = callee.name  # type: ignore[union-attr]
            return name.partition(".")[0] not in self.foreign or self.acts(name)
        if kind is Member:
            if callee.attr in self.method_words or callee.attr in self.options:  # type: ignore[union-attr]
                return True
            root: Any = callee
            while True:
                kind = type(root)
                if kind is Member:
                    root = root.base
                elif kind is Result:
                    root = root.of
                else:
                    break
            if kind is Ref:
                return root.name.partition(".")[0] not in self.foreign
            if kind is Items or kind is Mapping:
                return any(isinstance(value, Ref) and self.wanted(value) for value in root.values)
            if kind is Either:
                return any(isinstance(value, (Ref, Result)) and self.wanted(value) for value in root.options)
            if kind is Param:  # `Model(...).act(x)`: what a class makes that a function is handed
                return root is not callee.base and root.name[:1].isupper()  # type: ignore[union-attr]
            return kind is Instance and root.of.partition(".")[0] not in self.foreign
        if isinstance(callee, Either):
            return any(option is not None and self.wanted(option) for option in callee.options)
        if isinstance(callee, Result):
            return self.wanted(callee.of)
        return isinstance(callee, (Partial, Instance, Param))

    def acts(self, name: str) -> bool:
        """Whether the catalog knows an external name as one whose calls matter."""
        last = name.rpartition(".")[2]
        if last not in self.words and last != "__init__":
            return False
        if last in self.catalog.copies or last == "apply":
            return True
        known = self.catalog.canonical(name)
        return known in self.catalog.acting or (self.raises and known in self.catalog.raising)

    def site(self, kind: SiteKind, target: Value, args: tuple[Arg, ...], node: Any, use: str = "") -> int:
        tail = _tail(target)
        if args and tail not in self.words and kind != "write":
            args = tuple([arg if type(arg.value) in _SHORT else Arg(arg.name, _simple(arg.value)) for arg in args])
        if self.is_id:
            use = "id"
        elif use:
            if tail in self.catalog.ordered_words or (self.lists and self.is_kept_here(target, use)):
                self.judged += 1
            else:
                use = "kept" if use.startswith(("assigned:", "put:")) else use if use in _TOLD_OF_ALL else ""
        if tail in self.catalog.bounded_words and self.is_certain(target, node, use):
            use = CERTAIN
        if self.has_keys and tail in self.key_words:
            self.keys += 1
            self.keyed[self.scope.function] = None
            self.may_be_spare(node)
        elif (
            (tail in self.catalog.chooses and self.shows())
            or (use != "returned" and self.is_differentiated(target))
            or (self.drops and tail in self.catalog.all_drawing_words)
            or (self.scope.kind == "module" and tail in self.catalog.used_later)
            or (tail in self.catalog.shuffled_words and self.is_shuffled(target))
            or (use == "kept" and self.is_left(target, use))
            or (use == "kept" and tail in self.catalog.only_drawing_words)
        ):
            self.may_be_spare(node)
        elif (
            use == "kept"
            and tail in self.catalog.transforms
            and self.scope.kind == "function"
            and type(node) is ast.Call
        ):
            self.transforms.append((len(self.sites), node))
        number = len(self.sites)
        self.sites.append(Site(kind, target, args, _span(node), self.scope.function, self.within, use))
        self.steps.append(number)
        return number

    def is_certain(self, target: Value, node: Any, use: str) -> bool:
        """Whether what a call draws comes out the same whatever that is."""
        if type(node) is not ast.Call or type(target) is not Ref:
            return False
        name, known = self.catalog.canonical(target.name), self.catalog
        if name in known.selecting:
            return certain.is_everything(node, use)
        inclusive = name in known.drawing_up_to
        return (inclusive or name in known.drawing_below) and certain.is_one_number(node, inclusive)

    def is_kept_here(self, target: Value, use: str) -> bool:
        """Whether a call keeps under a name what a function of the file gives back, or a loop goes over it at once."""
        own = type(target) is Ref and target.name.startswith(self.prefix)
        return own and (use.startswith("assigned:") or use in _LOOPS)

    def shows(self) -> bool:
        """Whether the file may show somebody something."""
        if self._shows is None:
            self._shows = self.catalog.plotters.search(self.data) is not None
        return self._shows

    def shuffles(self) -> bool:
        """Whether the file may make a data set that is taken in random order."""
        if self._shuffles is None:
            self._shuffles = self.catalog.shufflers.search(self.data) is not None
        return self._shuffles

    def may_be_spare(self, node: Any) -> None:
        """Note a call that comes next among the sites and is worth nothing where nothing is made of its result."""
        if type(node) is ast.Call:
            self.worthless.append((len(self.sites), node))

    def option(self, args: list[Arg], node: ast.Call, callee: Value | None) -> None:
        """A command-line option and its default: `parser.add_argument("--seed", type=int, default=42)`."""
        flags = [
            a.value.value for a in args if not a.name and isinstance(a.value, Const) and isinstance(a.value.value, str)
        ]
        named = {a.name: a.value for a in args if a.name}
        long = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
        given = named.get("dest")
        name = (
            given.value
            if isinstance(given, Const) and isinstance(given.value, str)
            else long.lstrip("-").replace("-", "_")
        )
        default: Value | None = None
        if "default" in named:
            default = named["default"]
        elif "action" in named:
            action = named["action"]
            stored = {"store_true": Const(False), "store_false": Const(True)}
            default = stored.get(str(action.value)) if isinstance(action, Const) else None
        elif long.startswith("-") and "required" not in named:
            default = Const(None)
        self.options[name], self.parsers[name] = Option(default, _span(node)), callee

    # Calls of the standard library whose meaning the reader itself needs.

    def _partial(self, node: ast.Call, args: list[Arg]) -> Value | None:
        if not args or args[0].value is None or args[0].name or isinstance(args[0].value, (Const, Param, Expression)):
            return None
        target = args[0].value
        if isinstance(target, Partial) and isinstance(target.of, Partial):
            return None
        site = self.site("partial", target, tuple(args[1:]), node) if self.wanted(target) else -1
        return Partial(target, site)

    def _dict(self, node: ast.Call, args: list[Arg]) -> Value | None:
        first = args[0].value if args and args[0].name in ("", "**") else None
        if type(first) is not Mapping and args and args[0].name:
            first = None
        named = {arg.name: arg.value for arg in (args[1:] if first is not None else args)}
        if "" in named or "*" in named or [arg.name for arg in args].count("**") > 1:
            return None
        for keyword in node.keywords:
            self.section(keyword.arg, named.get(keyword.arg or ""), keyword.value)
        if isinstance(first, Mapping):
            return _updated(first, named) if "**" not in named else None
        return self.mapping([*named], [*named.values()], node) if first is None and (not args or args[0].name) else None

    def dictionary_update(self, target: ast.expr, args: list[Arg]) -> None:
        """`options.update(shuffle=True)` on a dictionary that is known."""
        base = self.scope.look_up(target.id) if isinstance(target, ast.Name) else None
        if isinstance(target, ast.Name) and not isinstance(base, Missing) and _is_table(base):
            named: dict[str, Value | None] | None = {}
            for arg in args:
                if (
                    isinstance(arg.value, Mapping)
                    and not arg.value.open
                    and arg.name in ("", "**")
                    and named is not None
                ):
                    named.update(zip(arg.value.keys, arg.value.values, strict=True))
                elif arg.name not in ("", "*", "**") and named is not None:
                    named[arg.name] = arg.value
                else:
                    named = None
            self.scope.bind(target.id, _updated(base, named))

    def _super(self, node: ast.Call, args: list[Arg]) -> Value | None:
        owner = self.scope.owner
        return Member(Instance(f"{self.module}.{owner}"), "<super>") if owner else None

    def _set_variable(self, node: ast.Call, args: list[Arg]) -> None:
        if len(args) > 1 and isinstance(args[0].value, Const) and isinstance(args[0].value.value, str):
            self.environment([(args[0].value.value, args[1].value)], node)

    def _update_variables(self, node: ast.Call, args: list[Arg]) -> None:
        for arg in args:
            if isinstance(arg.value, Mapping):
                self.environment(zip(arg.value.keys, arg.value.values, strict=True), node)
            elif arg.name not in ("", "*", "**"):
                self.environment([(arg.name, arg.value)], node)

    def _setattr(self, node: ast.Call, args: list[Arg]) -> None:
        if len(args) == 3 and isinstance(args[1].value, Const) and isinstance(args[1].value.value, str):
            base, attr = args[0].value, args[1].value.value
            if isinstance(base, Ref) and (attr in self.words or base.name.rpartition(".")[2] in self.words):
                self.site("assignment", Ref(f"{base.name}.{attr}"), (Arg("value", args[2].value),), node)

    def _sorted(self, node: ast.Call, args: list[Arg]) -> None:
        for child in ast.walk(node.args[0]) if node.args else ():
            if isinstance(child, (ast.Name, ast.Attribute, ast.Subscript)):
                self.ordered.add(loops.place(child))

    def _same(self, node: ast.Call, args: list[Arg]) -> Value | None:
        return args[0].value if args else None

    def _first(self, node: ast.Call, args: list[Arg]) -> Value | None:
        """`typer.Option(None, "--seed")` is the default of what it describes."""
        return (
            args[0].value if args and not args[0].name else next((a.value for a in args if a.name == "default"), None)
        )

    def _field(self, node: ast.Call, args: list[Arg]) -> Value | None:
        """`dataclasses.field(default=0)`; of a factory, what it makes."""
        named = {arg.name: arg.value for arg in args}
        factory = named.get("default_factory")
        return named["default"] if "default" in named else Result(factory) if isinstance(factory, Ref) else None

    def _flag(self, node: ast.Call, args: list[Arg]) -> Value | None:
        """`flags.DEFINE_integer("seed", None, ...)` of absl."""
        name = args[0].value if args else None
        if not (isinstance(name, Const) and isinstance(name.value, str)):
            return None
        default = args[1].value if len(args) > 1 else next((a.value for a in args if a.name == "default"), None)
        self.options[name.value] = Option(default, _span(node))
        return Ref(f"{FLAGS}.{name.value}")

    def _import_module(self, node: ast.Call, args: list[Arg]) -> Value | None:
        package = self.module if self.package else self.module.rpartition(".")[0]
        names = imported.named(node, args[0].value if args else None, package)
        self.imports.update(names)
        for name in names:
            self.run(name)
        return join(map(Ref, names)) if names else None

    def _getattr(self, node: ast.Call, args: list[Arg]) -> Value | None:
        if len(args) >= 2 and isinstance(args[1].value, Const) and isinstance(args[1].value.value, str):
            return member(args[0].value, args[1].value.value)
        # `getattr(torch_scatter, f"scatter_{name}")` is one of those that begin so; what the catalog doesn't know is harmless.
        begin = imported.beginning(node.args[1]) if len(args) >= 2 and isinstance(args[0].value, Ref) else ""
        return join(map(Ref, self.catalog.beginning(f"{args[0].value.name}.{begin}"))) if begin else None  # type: ignore[union-attr]

    # Other expressions.

    def _binary(self, node: ast.BinOp) -> Value | None:
        use, self.use = self.use, ""
        kind = type(node.op)
        # Lists that are put together go where the whole goes.
        use = use if kind is ast.Add else f"modulo:{use}" if kind is ast.Mod or kind is ast.BitAnd else ""
        rights = []
        left: ast.expr = node
        while type(left) is ast.BinOp:
            rights.append(left.right)
            left = left.left
        self.use = use
        value = _EXPRESSIONS[type(left)](self, left)
        for right in reversed(rights):
            self.use = use if kind is ast.Add else ""
            value = _operation(value, _EXPRESSIONS[type(right)](self, right))
        self.use = ""
        return value

    def _unary(self, node: ast.UnaryOp) -> Value | None:
        if isinstance(node.op, ast.Not):
            self.use = "tested"
        value = self.expression(node.operand)
        if isinstance(node.op, ast.USub) and isinstance(value, Const) and isinstance(value.value, (int, float)):
            return Const(-value.value)
        if isinstance(node.op, ast.Not):
            return None
        return value if value is COMPARED else _operation(value, Const(-1))

    def _conditional(self, node: ast.IfExp) -> Value | None:
        outer, self.use = self.use, "tested"
        test = self.expression(node.test)
        options, inside = [], len(self.sites)
        for arm, holds in ((node.body, True), (node.orelse, False)):
            self.use, start = outer, len(self.steps)
            self.unsure += 1
            options.append(self.value(arm))
            self.unsure -= 1
            if len(self.steps) > start:
                self.under(self.decided_by_mode(node.test, holds), start)
        self.may_be_passed_over(inside)
        if isinstance(test, Const):
            return options[0 if test.value else 1]
        if options == [None, None]:
            return None
        by, negated = self.chooser(node.test)
        then, other = reversed(options) if negated else options
        return chosen(then, other, by)

    def may_be_passed_over(self, inside: int) -> None:
        """Note that the sites from one on stand where a run may not come, although it comes to their statement."""
        self.perhaps.update(dict.fromkeys(range(inside, len(self.sites))))

    def _bool(self, node: ast.BoolOp) -> Value | None:
        either = type(node.op) is ast.Or
        outer = self.use if either else "tested"
        options, inside = [], len(self.sites)
        start = len(self.steps)
        for number, part in enumerate(node.values):
            self.use = outer
            self.unsure += number == 1
            options.append(_EXPRESSIONS[type(part)](self, part))
            inside = len(self.sites) if number == 0 else inside
        self.unsure -= 1
        self.may_be_passed_over(inside)
        if not either and len(self.steps) > start:
            asked, negated = modes.asked(node.values[0], self.catalog.modes)
            flag = self.kept_flag(node.values[0], negated=False) if asked is None else None
            self.under(self.mode_of(asked) if asked is not None and not negated else flag, start)
        # `x or default`: either of them, when both are known.
        return join(options) if either and None not in options else None

    def _subscript(self, node: ast.Subscript) -> Value | None:
        item = node.slice
        if self.use in _SHOWN or (type(item) is ast.Slice and not (item.lower or item.upper or item.step)):
            pass
        elif type(item) is ast.Name:
            self.use = "turn" if item.id in self.counters else "index"
        else:
            single = type(item) is ast.Constant or type(item) is ast.UnaryOp
            self.use = "item" if single and not self.use.startswith("returned") else "index"
        base = _EXPRESSIONS[type(node.value)](self, node.value)
        self.use = "key"
        key = _EXPRESSIONS[type(item)](self, item)
        self.use = ""
        base = self.shared(node.value, base)
        if base is None or self.is_mask(base):
            return base
        if type(key) is Const:
            if type(base) is Mapping and isinstance(key.value, str):
                return base.values[base.keys.index(key.value)] if key.value in base.keys else None
            if type(base) is Items and isinstance(key.value, int) and -len(base.values) <= key.value < len(base.values):
                return base.values[key.value]
            return member(base, f"[{key.value}]")
        return member(base, "[*]")

    def _display(self, node: ast.List | ast.Tuple | ast.Set) -> Value | None:
        outer, self.use = _inside(self.use) if type(node) is not ast.Set else "argument:builtins.set", ""
        if len(node.elts) > LONGEST_DISPLAY:
            for element in node.elts:
                if type(element) is not ast.Constant:
                    self.expression(element)
            return sets.SETS[sets.joined(map(sets.element, node.elts))] if type(node) is ast.Set else None
        values, starred = [], False
        for element in node.elts:
            self.use = outer
            if type(element) is ast.Starred:
                starred, element = True, element.value
                values.append(_EXPRESSIONS[type(element)](self, element))
                self.order("builtins.iter", self.unordered(values[-1]), element, outer)
            else:
                values.append(_EXPRESSIONS[type(element)](self, element))
        if starred:
            return sets.SETS[""] if type(node) is ast.Set else None
        return Items(tuple(values), _DISPLAYS[type(node)])

    def _dictionary(self, node: ast.Dict) -> Value | None:
        outer, self.use = _inside(self.use), ""
        keys, values, literal = [], [], len(node.keys) <= LONGEST_DISPLAY
        for i, (key, item) in enumerate(zip(node.keys, node.values, strict=True)):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                keys.append(key.value)
            elif key is None:
                keys.append("**")
            else:
                literal = False
                keys.append(f"[{i}]")
                self.expression(key)
            self.use = outer
            values.append(self.value(item) if literal else self.expression(item))
            self.section(keys[-1] if literal else None, values[-1], item)
        if literal:
            return self.mapping(keys, values, node)
        # Under what names a table has its functions and classes doesn't matter where one of them is taken out.
        table = "**" not in keys and 0 < len(keys) <= LONGEST_DISPLAY and all(type(value) is Ref for value in values)
        return Mapping(tuple(keys), tuple(values)) if table else None

    def section(self, name: str | None, value: Value | None, node: ast.expr) -> None:
        """Settings under a name that the catalog knows: `randomness = dict(seed=None)`, also inside of others."""
        if name in self.catalog.sections and isinstance(value, Mapping):
            args = tuple(Arg(key, held) for key, held in zip(value.keys, value.values, strict=True))
            self.site("section", Ref(name), args, node)

    def mapping(self, keys: list[str], values: list[Value | None], node: ast.expr) -> Value | None:
        """A dictionary with literal keys, and `**` for others that are put into it; one that a registry or Hydra builds an
        object from is a site."""
        if not all(key.isprintable() for key in keys):
            return None
        table = Mapping(tuple(keys), tuple(values))
        for key in keys:
            if key in self.factories:
                self.built(self.factories[key], table, node)
        return _opened(table, type(node) is ast.Call) if "**" in keys else table

    def built(self, factory: Factory, table: Mapping, node: ast.expr) -> None:
        """Note what a table says is to be built from it."""
        what, args = table.values[table.keys.index(factory.key)], arguments(factory, table)
        if args is None:
            return
        if isinstance(what, Const) and isinstance(what.value, str):
            target = named(factory, what.value, self.catalog)
            if target is None:
                return
            kind = kind_of(factory, target, table, self.catalog)
            if kind == "registry":
                self.builds.add(target.name)
            else:
                self.imports.add(target.name)
                if not self.wanted(target):
                    return
                if not self.acts(target.name):
                    kind = "registry"  # the program's own: naming it here runs nothing of it
                elif kind == "call":
                    kind = "config"
            self.site(kind, target, args, node)
        elif isinstance(what, Ref) and not factory.required and self.wanted(what):
            self.site("config", what, args, node)

    def instantiated(self, factory: Factory, node: ast.Call, args: list[Arg]) -> Value | None:
        """What `instantiate({"_target_": "project.Net"}, depth=3)` builds, where its table is known. What the catalog knows was
        noted where the table stands."""
        table = args[0].value if args and not args[0].name else None
        if not isinstance(table, Mapping) or factory.key not in table.keys:
            return None
        what, given = table.values[table.keys.index(factory.key)], arguments(factory, table)
        target = (
            named(factory, what.value, self.catalog)
            if isinstance(what, Const) and isinstance(what.value, str)
            else None
        )
        if target is None or given is None or kind_of(factory, target, table, self.catalog) != "call":
            return None
        own = self.wanted(target) and not self.acts(target.name)
        return Result(target, self.site("call", target, (*given, *args[1:]), node) if own else -1)

    def _comprehension(self, node: Any) -> Value | None:
        outer, self.use = self.use, ""
        kind = type(node)
        collected = outer or "collected"
        if kind is ast.SetComp:
            collected = "argument:builtins.set"  # a set has no order to begin with
        elif kind is ast.DictComp and outer and loops.keyed(node):
            collected = f"keyed:{outer}"
        saved: dict[str, Any] = {}
        before = len(self.sites)
        for number, generator in enumerate(node.generators):
            self.use = collected
            iterated = self.expression(generator.iter)
            self.unsure += number == 0
            unordered = self.unordered(iterated)
            if unordered is not None:
                # A dictionary is read by its keys.
                self.order("builtins.iter", unordered, generator.iter, "loop" if kind is ast.DictComp else collected)
            self.use = ""
            target = generator.target
            for child in (target,) if type(target) is ast.Name else ast.walk(target):
                if isinstance(child, ast.Name):
                    saved.setdefault(child.id, self.scope.names.get(child.id, MISSING))
                    self.scope.names[child.id] = member(iterated, "[*]") if child is target else None
            for condition in generator.ifs:
                self.expression(condition)
        inside, start, keys = len(self.sites), len(self.steps), self.keys
        if kind is ast.DictComp:
            self.expression(node.key)
            self.expression(node.value)
            self.done_in_order(before, inside, ())
        else:
            self.use = _among(collected) if type(node.elt) is ast.Call else ""
            self.expression(node.elt)
        self.unsure -= 1
        if self.keys > keys:
            self.steps[start:] = [Branch("loop", None, (tuple(self.steps[start:]),))]
        for name, outside in saved.items():
            if isinstance(outside, Missing):
                self.scope.names.pop(name, None)
            else:
                self.scope.names[name] = outside
        return sets.SETS[sets.comprehended(node)] if kind is ast.SetComp else None

    def _compare(self, node: ast.Compare) -> Value | None:
        for side in (node.left, *node.comparators):
            kind = type(side)
            if kind is not ast.Constant and kind is not ast.Name:
                self.use = "tested"
                _EXPRESSIONS[kind](self, side)
        self.use = ""
        return None if type(node.ops[0]) in _ONE_ANSWER else COMPARED

    def _lambda(self, node: ast.Lambda) -> Value | None:
        self.use = ""
        scope = self.scope
        # Counted in what stands around it: lines that move give it no other name.
        siblings = self.lambdas.setdefault(self.around(), {})
        number = siblings.setdefault((node.lineno, node.col_offset), len(siblings) + 1)
        name = self.inside(f"<lambda:{number}>")
        if scope.kind == "class":
            # A lambda in a class body is no method; what it binds stays unknown.
            scope = self.scope
            self.scope = Scope("function", scope, scope.function, scope.owner)
            self.define(node, name, ())
            self.scope = scope
        else:
            self.define(node, name, ())
        return Ref(f"{self.module}.{name}")

    def _named(self, node: ast.NamedExpr) -> Value | None:
        value = self.expression(node.value)
        self.scope.bind(node.target.id, value)
        return value

    def _await(self, node: ast.Await) -> Value | None:
        return self.expression(node.value)

    def _yield(self, node: ast.Yield | ast.YieldFrom) -> None:
        value = None
        if node.value is not None:
            self.use = "returned"
            value = self.expression(node.value)
        # Whoever goes over what passes on all of a loader gets what that gives.
        self.returned.append(value if type(node) is ast.YieldFrom else None)
        self.yields = True
        self.steps.append(Branch("yield", None, ()))

    # -- annotations --------------------------------------------------------------------------------------------

    def typing_name(self, node: ast.expr) -> str:
        """The last component of what `Optional` in `Optional[...]` is, under whatever name it was imported."""
        named = self.scope.look_up(node.id) if isinstance(node, ast.Name) else None
        return (named.name if isinstance(named, Ref) else dotted(node)).rpartition(".")[2]

    def annotated(self, node: ast.expr) -> str:
        """What `annotation` says; whether it is evaluated when the file runs depends on where it stands."""
        self.unsure += 1
        found = self.annotation(node)
        self.unsure -= 1
        return found

    def annotation(self, node: ast.expr) -> str:
        """The class that an annotation names, dotted; "" when it names none or several."""
        kind = type(node)
        if kind is ast.Name or kind is ast.Attribute:
            if kind is ast.Name and node.id in PLAIN:  # type: ignore[attr-defined]
                return sets.SET if node.id == "set" else ""  # type: ignore[attr-defined]
            value = _EXPRESSIONS[kind](self, node)
            return value.name if type(value) is Ref else ""
        if isinstance(node, ast.Constant):
            if not isinstance(node.value, str) or len(node.value) > LONGEST_TEXT:
                return ""
            try:
                return self.annotation(ast.parse(node.value, mode="eval").body)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return ""
        if isinstance(node, ast.BinOp):
            left, right = self.annotation(node.left), self.annotation(node.right)
            return left or right if not left or not right or left == right else ""
        if isinstance(node, ast.Subscript):
            head = self.typing_name(node.value)
            if head in sets.SET_TYPES:
                return sets.annotated(head, self.typing_name(node.slice))
            if head in TYPING:
                inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                found = {self.annotation(item) for item in inner} - {""}
                return found.pop() if len(found) == 1 else ""
        return ""


class _ClassBody:
    """A class while its methods are still being read."""

    def __init__(
        self,
        name: str,
        bases: tuple[Value | None, ...],
        decorators: tuple[Value | None, ...],
        instance: Instance,
        lines: range,
    ) -> None:
        self.name, self.bases, self.decorators, self.lines = name, bases, decorators, lines
        self.instance = instance
        """`self`, the same in all of its methods."""
        self.attributes: dict[str, Value | None] = {}
        self.methods: list[str] = []
        self.properties: list[str] = []
        self.places: dict[str, Span] = {}

    def define(self, name: str, decorators: Sequence[str]) -> str:
        """Note a method; the name of its function, which for what sets a property isn't that of the property."""
        last = name.rpartition(".")[2]
        for decorator in decorators:
            if decorator.endswith(f".{name}.setter"):
                return name + SETTER
            if decorator.endswith(f".{name}.deleter"):
                return f"{name}.<deleter>"
            if decorator.endswith("property"):
                self.properties.append(last)
        self.methods.append(last)
        return name

    def attribute(self, name: str, value: Value | None) -> None:
        """Note an assignment; several that differ are alternatives."""
        self.attributes[name] = join((self.attributes[name], value)) if name in self.attributes else value

    def done(self) -> Class:
        return Class(
            self.name,
            self.bases,
            self.attributes,
            tuple(dict.fromkeys(self.methods)),
            self.places,
            self.decorators,
            tuple(dict.fromkeys(self.properties)),
        )


def aliases(names: dict[str, Value | None], classes: Iterable[Class]) -> Aliases:
    """Names that may stand for something of another name, so that a call by them needs a closer look."""
    found: dict[str, set[str]] = {}
    for table in (names, *(body.attributes for body in classes)):
        for name, value in table.items():
            if type(value) is Ref and value.name.endswith(name) and value.name.rpartition(".")[2] == name:
                continue  # as most are: an import or a definition by its own name
            others = _tails(value) - {name}
            if others:
                found.setdefault(name, set()).update(others)
    for body in classes:
        if "__init__" not in body.methods:  # constructing it is constructing its base
            bases = set().union(*map(_tails, body.bases))
            if bases:
                found.setdefault(body.name.rpartition(".")[2], set()).update(bases)
    return {name: tuple(sorted(others)) for name, others in sorted(found.items())}


def _leaves(callee: Value) -> bool:
    """Whether a call ends the process: `sys.exit()`, `parser.error("...")`."""
    if isinstance(callee, Member):
        return (
            callee.attr in ("error", "exit")
            and isinstance(callee.base, Result)
            and _tail(callee.base.of) == "ArgumentParser"
        )
    return isinstance(callee, Ref) and callee.name in EXITS


def _tails(value: Value | None) -> set[str]:
    """The last components of the names that a value may have."""
    kind = type(value)
    if kind is Ref:
        return {value.name.rpartition(".")[2]}  # type: ignore[union-attr]
    if kind is Member:
        return {value.attr}  # type: ignore[union-attr]
    return set().union(*map(_tails, value.options)) if kind is Either else set()  # type: ignore[union-attr]


def mentions(data: bytes, lower: bytes) -> tuple[str, ...]:
    """The words for devices that a file contains, sorted; `_` and digits end a word here (`torch_npu`, `cuda0`).

    Args:
        lower: the file in lower case.
    """
    found = Counter(first.decode() + end for pattern, end in _DEVICES for first in pattern.findall(lower))
    if found["ascend"] and found["ascend"] == len(_ASCENDING.findall(data)):
        del found["ascend"]
    return tuple(sorted(word for word, times in found.items() if times))


def _ending(beginnings: str, end: str) -> tuple[re.Pattern[bytes], str]:
    """What finds the beginnings of the words that go on with `end`.

    A regular expression that begins with a literal is as fast as a search for the literal, or faster where that begins
    with a rare letter; the looks around only cost something where it is found.
    """
    dots = "." * len(beginnings.partition("|")[0])
    return re.compile(f"{end}(?![a-z])(?<=({beginnings}){end})(?<![a-z]{dots}{end})".encode()), end


def constant(value: object) -> Value | None:
    """A literal as a value; bytes, complex numbers, long texts and huge integers are not kept."""
    if isinstance(value, str):
        return Const(value) if len(value) <= LONGEST_TEXT and (value.isascii() or value.isprintable()) else None
    if value is None or isinstance(value, (bool, float)):
        return Const(value)
    return Const(value) if isinstance(value, int) and -(2**63) <= value < 2**63 else None


def member(base: Value | None, attr: str) -> Value | None:
    """An attribute of a value."""
    kind = type(base)
    if kind is Ref:
        return Ref(f"{base.name}.{attr}") if attr[0] != "[" else Member(base, attr)  # type: ignore[union-attr, arg-type]
    if kind is Member or kind is Result:
        return Member(base, attr) if _deep(base) < DEEPEST_VALUE else None  # type: ignore[arg-type]
    if base is None or kind is Const or kind is Expression:
        return None
    if kind is Mapping and attr in base.keys:  # type: ignore[union-attr]
        return base.values[base.keys.index(attr)]  # type: ignore[union-attr]
    return Member(base, attr)


def _given(test: ast.expr | None) -> tuple[str, bool]:
    """The name that a test tells to be something else than None, "" for none, and whether it does where it holds: else it does
    where it fails."""
    if isinstance(test, ast.Call) and dotted(test.func) == "isinstance" and test.args:
        return dotted(test.args[0]), True
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        return "", False
    none = test.comparators[0]
    told = isinstance(none, ast.Constant) and none.value is None
    return (dotted(test.left), isinstance(test.ops[0], ast.IsNot)) if told else ("", False)


def _may_be_flag(value: Value) -> bool:
    """Whether a constructor may make a value of the flags that it is given: `augment and not rect`."""
    if type(value) is Expression:
        return _COMBINES.search(value.text) is not None
    return type(value) is Param or (type(value) is Either and value.by != "" and "." not in value.by[1:])


def _is_parameter(value: Value | None) -> bool:
    """Whether a value is one of a layer's parameters: `for name, parameter in layer.named_parameters()`."""
    while type(value) is Member and value.attr.startswith("["):
        value = value.base
    return type(value) is Result and _tail(value.of) in _PARAMETERS


def _operation(left: Value | None, right: Value | None) -> Value | None:
    """Arithmetic gives what its typed side is: `2 * x` is a tensor when `x` is."""
    if left is COMPARED and right is COMPARED:
        return COMPARED
    if type(left) is Either and type(right) is not Instance and any(map(_is_of_stdlib, left.options)):
        # `seed + rank`, where the seed is drawn unless it is given: it is still what was drawn.
        return join(_operation(option, right) for option in left.options)
    for side in (left, right):
        if side is COMPARED:
            continue  # as a factor it takes on the other's type
        if type(side) in _TYPED and _deep(side) < DEEPEST_VALUE:
            other = right if side is left else left
            attr = SCALED if type(other) is Const else OPERATED
            if type(side) is Result and type(side.of) is Member and side.of.attr in (attr, OPERATED):
                return side
            return Result(Member(side, attr))  # type: ignore[arg-type]
        if type(side) is Items and side.kind == "set":
            return sets.SETS[sets.elements_of(side) or ""]
    return None


def _is_of_stdlib(value: Value | None) -> bool:
    """Whether a function of the standard library gave a value, such as `random.randint`: it is no tensor."""
    return type(value) is Result and type(value.of) is Ref and value.of.name.partition(".")[0] in STDLIB


def _tail(callee: Value | None) -> str:
    """The last component of a callee's name."""
    kind = type(callee)
    if kind is Ref:
        return callee.name.rpartition(".")[2]  # type: ignore[union-attr]
    if kind is Member:
        return callee.attr  # type: ignore[union-attr]
    if kind is Either:
        return next((tail for option in callee.options if (tail := _tail(option))), "")  # type: ignore[union-attr]
    return ""


def _deep(value: Any) -> int:
    depth = 0
    while True:
        kind = type(value)
        if kind is Member:
            value = value.base
        elif kind is Result:
            value = value.of
        else:
            return depth
        depth += 1


def _same_owner(first: Value | None, second: Value | None) -> bool:
    """Whether two methods are surely of one object: of the same variable's value, or of the same attribute."""
    if not isinstance(first, Member) or not isinstance(second, Member):
        return False
    return first.base is second.base or (type(first.base) is Member and first.base == second.base)


def _is_main_test(node: ast.Compare) -> bool:
    if len(node.ops) != 1 or type(node.ops[0]) is not ast.Eq:
        return False
    sides = (node.left, node.comparators[0])
    return any(isinstance(s, ast.Name) and s.id == "__name__" for s in sides) and any(
        isinstance(s, ast.Constant) and s.value == "__main__" for s in sides
    )


def _simple(value: Value | None) -> Value | None:
    """A value if it is short to write down."""
    kind = type(value)
    if kind in _SHORT:
        return value
    if kind is Param:
        default = value.default  # type: ignore[union-attr]
        return value if default is None or type(default) is Const else Param(value.name)  # type: ignore[union-attr]
    if kind is Partial:
        return value if type(value.of) is Ref else None  # type: ignore[union-attr]
    if kind is Mapping and len(value.keys) <= SHORT_MAPPING:  # type: ignore[union-attr]
        return Mapping(value.keys, tuple(map(_simple, value.values)), value.open)  # type: ignore[union-attr]
    if kind is Either:
        options = tuple(_simple(option) for option in value.options)  # type: ignore[union-attr]
        return Either(options, value.by) if None not in options else None  # type: ignore[union-attr]
    if kind is not Member and kind is not Result:
        return None
    return value if _deep(value) <= 4 or _deep(value := _reshaped(value)) <= 4 else None


def _reshaped(value: Value | None) -> Value | None:
    """A tensor in another shape, brought into it in one step."""
    if type(value) is Member:
        return Member(base, value.attr) if (base := _reshaped(value.base)) is not None else None
    if type(value) is not Result or type(value.of) is not Member or value.of.attr not in RESHAPES:
        return value
    base = value.of.base
    while type(base) is Result and type(base.of) is Member and base.of.attr in RESHAPES:
        base = base.of.base
    return Result(Member(base, value.of.attr), value.site)


RESHAPES: Final = frozenset({
    "contiguous", "expand", "flatten", "permute", "reshape", "squeeze", "transpose", "unflatten", "unsqueeze", "view",
})  # fmt: skip
"""Methods of tensors that give the same numbers, of the same type and in the same place, in another shape."""
KEEPS_NUMBERS: Final = frozenset({
    "clone", "contiguous", "detach", "expand", "flatten", "float", "permute", "repeat", "repeat_interleave", "reshape", "squeeze",
    "to", "transpose", "type_as", "unsqueeze", "view",
})  # fmt: skip
"""Methods of tensors that keep the numbers, in another shape, type or place."""


def _converts(node: ast.Call, whole: frozenset[str]) -> bool:
    """Whether a call of a method `to` spells out the device, or a type of whole numbers: `x.to("cpu")`, `x.to(torch.long)`."""
    if not node.args:
        return False
    first = node.args[0]
    return (type(first) is ast.Constant and type(first.value) is str) or getattr(first, "attr", "") in whole


def _says_what_to_make(node: ast.Call, function: bool, whole: frozenset[str]) -> bool:
    """Whether a call says where its tensor is made (of functions alone), or that it holds whole numbers."""
    for keyword in node.keywords:
        if keyword.arg == "device" and function:
            return True
        if keyword.arg == "dtype" and getattr(keyword.value, "attr", "") in whole:
            return True
    return False


@lru_cache(maxsize=4)
def _known(catalog: Catalog) -> tuple[frozenset[str], frozenset[str]]:
    """The functions that items go through, and all whose meaning the reader itself needs."""
    through = MAKES_SET | catalog.same_order | catalog.ordering
    return through, _KEPT | through | catalog.builders.keys()


@lru_cache(maxsize=64)
def _foreign(catalog: Catalog, own: str) -> frozenset[str]:
    """Top-level modules that are none of the program's. The libraries that the catalog describes may be: their own
    repositories have scripts and examples beside them. Only the frameworks below them all are not worth the question."""
    frameworks = {framework.tensor.partition(".")[0] for framework in catalog.frameworks}
    return (STDLIB | {"numpy"} | frameworks) - {own, ""}


def _may_seed(text: str) -> bool:
    """Whether a text speaks of seeds or of determinism."""
    if not text.isascii():
        return _SEEDING.search(text) is not None
    # Searches for literals are many times faster than a regular expression that ignores case.
    lower = text.lower()
    return "seed" in lower or "random" in lower or "determin" in lower or "reprod" in lower


_name_may_seed: Final = lru_cache(maxsize=8192)(_may_seed)


def _is_table(value: Value | None) -> bool:
    """Whether a value is a dictionary that is known, or one of several."""
    return all(isinstance(option, Mapping) for option in options(value))


def _opened(table: Mapping, once: bool) -> Value | None:
    """A dictionary into which others are put, under the key `**`: what is surely in it.

    Args:
        once: whether no key may come twice, as in a call; else the last one counts.
    """
    merged: dict[str, Value | None] = {}
    unknown = False
    for key, value in zip(table.keys, table.values, strict=True):
        if key != "**":
            merged[key] = value
            continue
        if type(value) is Mapping:
            merged |= zip(value.keys, value.values, strict=True)
        elif not once:
            merged.clear()
        unknown = unknown or type(value) is not Mapping or value.open
    return Mapping(tuple(merged), tuple(merged.values()), unknown) if merged else None


def _updated(base: Value | None, changed: dict[str, Value | None] | None) -> Value | None:
    """A dictionary with some keys set anew; None when it isn't known which."""
    if isinstance(base, Either) and changed is not None:
        return Either(tuple(_updated(option, changed) for option in base.options), base.by)
    if changed is None or not isinstance(base, Mapping):
        return None
    merged = dict(zip(base.keys, base.values, strict=True)) | changed
    return Mapping(tuple(merged), tuple(merged.values()), base.open)


def _span(node: Any) -> Span:
    return Span(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def _name_of(decorator: Value | None) -> str:
    """The name of a decorator, called or not."""
    value = decorator.of if isinstance(decorator, Result) else decorator
    return value.name if isinstance(value, Ref) else ""


def _inside(use: str) -> str:
    """What becomes of an element of something that something becomes of."""
    return use if use != "returned" else "returned:inside"


def _among(use: str) -> str:
    """What becomes of one of many that something becomes of together: `found = [os.listdir(folder) for folder in folders]`."""
    kind, _, name = use.partition(":")
    return f"put:{name}" if kind == "assigned" and name else _inside(use)


def _put_into(target: ast.expr) -> str:
    """What becomes of what is assigned to an item: the whole gathers it (`splits["train"] = files`)."""
    return f"put:{dotted(target.value)}" if type(target) is ast.Subscript else "assigned:"


def _passed(attr: str, function: Any, use: str) -> str:
    """What becomes of the arguments of a method: `files.append(x)`, `out.write(x)`, `pool.map(f, xs)`, `",".join(xs)`."""
    if attr in GROWS:
        return f"{'data-loop' if attr == 'extend' else 'put'}:{dotted(function.value)}"
    if attr == "join":
        return f"joined:{use}"
    return "written" if attr in WRITES else use


def _counts(name: str, arguments: list[ast.expr]) -> bool:
    """Whether a call gives each item of an iterable a number: `enumerate(xs)`, `zip(xs, range(n))`."""
    if name == "builtins.zip":
        functions = [dotted(a.func) for a in arguments if type(a) is ast.Call]
        return any(function.rpartition(".")[2] in ("range", "count", "arange") for function in functions)
    return name == "builtins.enumerate"


def _with_step(steps: Iterable[Step], number: int, instead: Branch) -> list[Step]:
    """Steps with another one in place of a site, wherever it stands among them."""
    found: list[Step] = []
    for step in steps:
        if isinstance(step, Branch):
            arms = tuple(tuple(_with_step(arm, number, instead)) for arm in step.arms)
            step = Branch(step.kind, step.test, arms, step.span)
        found.append(instead if step == number else step)
    return found


_BY_NAME: Final = re.compile(rb"\b(?:locals|vars|globals|(?<!\.)eval|exec)\(|f_locals")
"""What may read names that aren't written out."""


def _times(text: bytes, name: str) -> int:
    """How often a text says a name; often, where it is no such text as can be searched."""
    return len(re.findall(rb"\b%s\b" % name.encode(), text)) if name.isascii() else sys.maxsize


def _with_use(site: Site, use: str) -> Site:
    return Site(site.kind, site.target, site.args, site.span, site.function, site.within, use)


_ASKS: Final = re.compile(
    rb"(?<!\.weight\.)(?<!\.bias\.)requires_grad_\((?!False\b)|requires_grad\s*=(?!=)(?!\s*False\b)"
)
"""Asks for the gradients of a tensor: `x.requires_grad_()`, `requires_grad=True`; to read the attribute doesn't, nor does it to give a
new layer's weight what the old one had: `new.weight.requires_grad_(old.weight.requires_grad)`."""
_PARAMETERS: Final = frozenset({"named_parameters", "parameters"})
_SAYS: Final = frozenset({"__repr__", "__str__", "extra_repr"})
"""Methods by which an object says what it is."""
_SEEDING: Final = re.compile(r"seed|determin|reprod|random", re.I)
_SHORT: Final = frozenset({Const, Ref, Instance, type(None)})
"""Values that are short to write down, whatever is in them."""
_TYPED: Final = frozenset({Result, Member, Instance, Param})
_DROPS: Final = re.compile(rb"^[ \t]+_ = ", re.M)
_DEVICES: Final = (
    _ending("g|n|t", "pu"), _ending("h|n", "ccl"), _ending("as", "cend"), _ending("c", "uda"), _ending("", "mps"),
    _ending("", "xla"),
)  # fmt: skip
_ASCENDING: Final = re.compile(rb"#[^\n]*?\bascend(?=:| order\b)")
"""Comments on what is sorted: "ascend: small is keep"."""
_IDENTIFIERS: Final = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*")
_SAME_NUMBER: Final = frozenset({"builtins.abs", "builtins.int"})
_ELEMENTS: Final[dict[sets.Elements, Value | None]] = {
    "": None,
    "-": None,
    "str": Instance("builtins.str"),
    "int?": Either((Instance("builtins.int"), None)),
}
"""What the elements of a set are, in the facts of a site."""
_PASSES: Final = frozenset(
    f"builtins.{name}" for name in ("int", "int.from_bytes", "float", "abs", "round", "str", "hash", "reversed", "iter")
)
_BUILT_IN: Final = {
    f"builtins.{name}": Instance(f"builtins.{made}")
    for name, made in (
        ("list", "list"), ("dict", "dict"), ("tuple", "tuple"), ("str", "str"), ("int", "int"), ("float", "float"), ("range", "range"),
        ("len", "int"), ("ord", "int"),
    )
}  # fmt: skip
"""What functions of the language give."""

_ALIKE: Final = frozenset({ast.Eq, ast.NotEq, ast.In, ast.NotIn})
_ONE_ANSWER: Final = frozenset({ast.In, ast.NotIn, ast.Is, ast.IsNot})
"""Comparisons that give True or False whatever they compare; of tensors, the others give one for each element."""

_TOLD_OF_ALL: Final = frozenset({
    "dropped", "logged", *(f"argument:builtins.{name}" for name in ("frozenset", "len", "set", "sorted")),
})  # fmt: skip
"""What is told of whatever is called: a function may give back a listing, whose order its callers settle."""
_LOOPS: Final = ("loop", "counted:loop")
UNREAD: Final = "?"
"""Behind `loop`, while the loop is read whose sites come to stand there."""
_COMBINES: Final = re.compile(r"\b(?:and|or|not|is)\b|[<>=]=|[<>]")
"""What a test has that is put together of others."""
_MAY_ASK: Final = frozenset({ast.BoolOp, ast.Call, ast.Compare})
"""Kinds of tests that may ask whether tests run."""
# Expressions that are names or calls, or that say nothing about a value: their text isn't kept.
_OPAQUE: Final = frozenset({
    ast.Name, ast.Attribute, ast.Constant, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
    ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Await, ast.Yield, ast.YieldFrom, ast.Starred,
})  # fmt: skip

_SPECIAL: Final[dict[str, Callable[[_Reader, ast.Call, list[Arg]], Value | None]]] = {
    "functools.partial": _Reader._partial,
    "builtins.dict": _Reader._dict,
    "builtins.super": _Reader._super,
    "builtins.setattr": _Reader._setattr,
    "builtins.getattr": _Reader._getattr,
    "builtins.sorted": _Reader._sorted,
    "natsort.natsorted": _Reader._sorted,
    "builtins.staticmethod": _Reader._same,
    "importlib.import_module": _Reader._import_module,
    "builtins.__import__": _Reader._import_module,
    "dataclasses.field": _Reader._field,
    **{f"typer.{name}": _Reader._first for name in ("Option", "Argument")},
    **{f"absl.flags.DEFINE_{kind}": _Reader._flag for kind in ("integer", "string", "float", "bool", "boolean")},
    "os.putenv": _Reader._set_variable,
    "os.environ.setdefault": _Reader._set_variable,
    "os.environ.__setitem__": _Reader._set_variable,
    "os.environ.update": _Reader._update_variables,
}

# Every kind of node has its handler, so that none needs to be asked for twice.
_DISPLAYS: Final[dict[type[ast.expr], Literal["list", "tuple", "set"]]] = {
    ast.List: "list",
    ast.Tuple: "tuple",
    ast.Set: "set",
}
_METHODS: Final = {
    **dict.fromkeys(("sort", "add_argument", "set_defaults", "update", "register_module", "add", "extend"), "tells"),
    "join": "joins",
    **dict.fromkeys((GROWS | WRITES | MAPS) - {"extend"}, "passes"),
}
"""Methods whose name tells the reader something, or what becomes of their arguments."""
_VIEWS: Final = frozenset({"items", "keys", "values"})
_SHOWN: Final = frozenset({"shown", "argument:builtins.print", *(f"argument:?.{level}" for level in loops.LEVELS)})
"""What shows people what it is handed: which part of it, is no matter."""
_MAY_SKIP: Final = frozenset({
    ast.BoolOp, ast.Compare, ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.Lambda, ast.ListComp, ast.SetComp,
})  # fmt: skip
"""Kinds of expressions that may not read all names in them."""
_KEEPS: Final = ("argument:", "assigned:", "returned", "written")
"""How the uses of a text begin that may be more than shown."""
_ERRORS: Final = ("Error", "Exception", "Warning")
_MOST_ANEW: Final = 4
"""A name that is bound anew more often is no longer told apart from what it was before."""
_KEPT: Final = _PASSES | MAKES_SET | _SPECIAL.keys()

_STATEMENTS: Final[dict[type[ast.AST], Callable[[_Reader, Any], Any]]] = {
    **dict.fromkeys(ast.stmt.__subclasses__(), _Reader.children),
    ast.Pass: _Reader._pass,
    ast.Nonlocal: _Reader._pass,
    ast.Expr: _Reader._expr,
    ast.Assign: _Reader._assign,
    ast.AnnAssign: _Reader._annotated,
    ast.AugAssign: _Reader._augmented,
    ast.Import: _Reader._import,
    ast.ImportFrom: _Reader._import_from,
    ast.Assert: _Reader._assert,
    ast.If: _Reader._if,
    ast.For: _Reader._for,
    ast.AsyncFor: _Reader._for,
    ast.While: _Reader._while,
    ast.Try: _Reader._try,
    ast.With: _Reader._with,
    ast.AsyncWith: _Reader._with,
    ast.Match: _Reader._match,
    ast.Return: _Reader._return,
    ast.Raise: _Reader._raise,
    ast.Break: _Reader._stop,
    ast.Continue: _Reader._stop,
    ast.Global: _Reader._global,
    ast.Delete: _Reader._delete,
    ast.FunctionDef: _Reader._function,
    ast.AsyncFunctionDef: _Reader._function,
    ast.ClassDef: _Reader._class,
}
if sys.version_info >= (3, 11):
    _STATEMENTS[ast.TryStar] = _Reader._try

_EXPRESSIONS: Final[dict[type[ast.AST], Callable[[_Reader, Any], Value | None]]] = {
    **dict.fromkeys(ast.expr.__subclasses__(), _Reader._other),
    ast.Name: _Reader._name,
    ast.Constant: _Reader._constant,
    ast.Attribute: _Reader._attribute,
    ast.Call: _Reader._call,
    ast.BinOp: _Reader._binary,
    ast.UnaryOp: _Reader._unary,
    ast.IfExp: _Reader._conditional,
    ast.BoolOp: _Reader._bool,
    ast.Subscript: _Reader._subscript,
    ast.List: _Reader._display,
    ast.Tuple: _Reader._display,
    ast.Set: _Reader._display,
    ast.Dict: _Reader._dictionary,
    ast.ListComp: _Reader._comprehension,
    ast.SetComp: _Reader._comprehension,
    ast.DictComp: _Reader._comprehension,
    ast.GeneratorExp: _Reader._comprehension,
    ast.Compare: _Reader._compare,
    ast.JoinedStr: _Reader._joined,
    ast.Slice: _Reader._slice,
    ast.Lambda: _Reader._lambda,
    ast.NamedExpr: _Reader._named,
    ast.Await: _Reader._await,
    ast.Yield: _Reader._yield,
    ast.YieldFrom: _Reader._yield,
}

"""What the body of a loop gathers, by the names that grow in it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Container, Iterator, Sequence, Set
from functools import cached_property
from typing import Final, NamedTuple

from detlint.facts.nodes import walk

GROWS: Final = frozenset({"append", "extend", "insert", "put", "appendleft"})
JOINS: Final = frozenset({"append", "cat", "concat", "concatenate", "hstack", "vstack"})
"""Functions that give a longer one: `x = np.concatenate([x, more])`."""
WRITES: Final = frozenset({"write", "writelines", "writerow", "writerows"})
MAPS: Final = frozenset({"map", "imap", "starmap"})
"""Methods of pools that give a result for each item, in order."""
YIELDED: Final = "<"
"""What grows is what a generator yields."""
INSIDE: Final = "["
"""How the name of a table begins whose items grow: `groups[x].append(...)`."""
SUM: Final = "+"
"""How the name of what may be a sum of numbers begins, or of what has a list for each element."""
WRITTEN: Final = ">"
"""What grows is a file."""
NUMBERED: Final = "#"
"""How the name of a table begins that gets a number for each item."""
COUNTS: Final = "bincount"
"""How often each number is among some."""
_MODULES: Final = frozenset({"cp", "cupy", "jnp", "jax.numpy", "mnp", "np", "numpy", "ops", "tf.math", "torch"})
"""Those whose function counts; what else has such a method is a tensor."""
_FILLS: Final = frozenset({"ones", "ones_like", "zeros", "zeros_like"})
"""Functions that give arrays of whole numbers."""
_COMPARES: Final = frozenset({
    "eq", "equal", "ge", "greater", "greater_equal", "gt", "isin", "le", "less", "less_equal", "logical_and", "logical_not",
    "logical_or", "lt", "ne", "not_equal",
})  # fmt: skip
"""Functions and methods that give booleans."""
_KEEP: Final = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
"""Operators that make whole numbers of whole numbers."""
_LOOKS: Final = frozenset({"int", "len", "print", "range", "str"})
"""Functions that change nothing that they are given."""
_WHOLE: Final = frozenset({"int", "len", "os.path.getsize"})
_SAME: Final = frozenset({"asnumpy", "cpu", "item", "numpy", "reshape"})
"""Methods that give the same numbers."""
LEVELS: Final = frozenset({"critical", "debug", "error", "info", "warn", "warning"})
_SHOWN: Final = frozenset({"sys.stdout", "sys.stderr", "stdout", "stderr"})


class Gathered(NamedTuple):
    """The names that a loop's body gathers into, in the order of the source; `#name` is a table of numbers."""

    names: tuple[str, ...]
    in_order: tuple[str, ...]
    """Those that surely keep the order in which the loop goes."""

    @property
    def marked(self) -> Iterator[str]:
        """All of them, with a mark before those that may be sums, where the order matters to rounding alone."""
        return (name if name in self.in_order else SUM + name for name in self.names)


def gathered(
    body: Sequence[ast.AST],
    targets: Sequence[str],
    index: str,
    raises: Callable[[ast.stmt], bool] | None = None,
    counting: Container[str] = frozenset(),
) -> Gathered | None:
    """What a loop's body gathers (appends, adds up, numbers, writes, yields); None where it gathers nothing.

    Args:
        targets: the names that the loop binds.
        index: the one of them that counts (`for i, x in enumerate(...)`), "" for none.
        raises: whether a statement surely does: what comes after it in its block doesn't.
        counting: functions of the file that only count.
    """
    nodes = [node for statement in body for node in walk(statement)]
    if raises is not None:
        never = set(_behind(body, raises)).union(*(_behind(block, raises) for node in nodes for block in _blocks(node)))
        nodes = [node for node in nodes if node not in never]
    anew, own = set[str](), set[str]()
    counters = {index} if index else set()
    for node in nodes:
        if isinstance(node, ast.AugAssign) and isinstance(node.value, ast.Constant):
            counters.add(dotted(node.target))
        anew.update(_made_anew(node))
        own.update(_built(node, own))
    # What is bound to an item of something else, first of all, is that one in each turn until it is bound again.
    begun = {
        name: part.lineno for part in reversed(body) if isinstance(part, ast.Assign) for name in _bound_to_item(part)
    }
    names: dict[str, bool] = {}
    counted = _counted(body, nodes, counting)
    for node in nodes:
        if node in counted:
            continue
        for name, in_order in _growth(node, set(targets), anew, counters - {""}, counting):
            if isinstance(node, ast.Assign) and begun.get(name, sys.maxsize) < node.lineno:
                continue
            # What is made anew in every turn gathers nothing over the turns.
            if name.lstrip(INSIDE + NUMBERED) not in anew and name.partition(".")[0] not in own:
                names[name] = names.get(name, False) or in_order
    return Gathered(tuple(names), tuple(n for n, in_order in names.items() if in_order)) if names else None


def _blocks(node: ast.AST) -> Iterator[Sequence[ast.AST]]:
    """The blocks of statements right in a node."""
    return (
        part for _, part in ast.iter_fields(node) if isinstance(part, list) and part and isinstance(part[0], ast.stmt)
    )


def _behind(block: Sequence[ast.AST], raises: Callable[[ast.stmt], bool]) -> Iterator[ast.AST]:
    """All that stands in a block behind what surely raises."""
    end = next((n for n, part in enumerate(block) if isinstance(part, ast.stmt) and raises(part)), len(block))
    return (node for part in block[end + 1 :] for node in walk(part))


def only_logs(body: Sequence[ast.AST]) -> bool:
    """Whether a loop's body does nothing but log what is at hand: `logger.info(f"Sample {i}: {data[i]}")`."""
    return all(isinstance(part, ast.Expr) and _is_log(part.value) for part in body)


def only_numbers(node: ast.For | ast.AsyncFor) -> bool:
    """Whether a loop takes no more than the numbers of what a call has just given: `for i, _ in enumerate(os.listdir(folder))`."""
    target, through = node.target, node.iter
    if not isinstance(target, ast.Tuple) or len(target.elts) != 2 or not isinstance(through, ast.Call):
        return False
    item = target.elts[1]
    if not isinstance(item, ast.Name) or not item.id.startswith("_") or dotted(through.func) != "enumerate":
        return False
    made = bool(through.args) and isinstance(through.args[0], ast.Call)
    return made and not any(_reads(part, item.id) for statement in node.body for part in walk(statement))


def _reads(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _is_log(node: ast.expr) -> bool:
    """Whether an expression hands texts to a logger, and calls nothing else for it."""
    if not isinstance(node, ast.Call):
        return False
    owner, _, level = dotted(node.func).rpartition(".")
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    calls = any(isinstance(part, ast.Call) for argument in given for part in walk(argument))
    return level in LEVELS and "log" in owner.rpartition(".")[2].lower() and not calls


def _made_anew(node: ast.AST) -> Iterator[str]:
    """The names that a part of the body binds to something new."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            alias = isinstance(node.value, (ast.Name, ast.Attribute, ast.Subscript, ast.IfExp))
            if isinstance(target, ast.Name) and not alias and target.id not in _names(node.value):
                yield target.id
    elif isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
        yield node.optional_vars.id


def _bound_to_item(node: ast.Assign) -> Iterator[str]:
    """The names that an assignment binds to an item of something else: `mask = outputs[0]`."""
    if isinstance(node.value, ast.Subscript):
        return (t.id for t in node.targets if isinstance(t, ast.Name) and t.id not in _names(node.value))
    return iter(())


def _built(node: ast.AST, own: set[str]) -> Iterator[str]:
    """The names that a part of the body binds to an object of a class, or to what a method of such an object makes.

    Args:
        own: those that are known by then.
    """
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        chain = dotted(node.value.func)
        if chain.rpartition(".")[2][:1].isupper() or chain.partition(".")[0] in own:
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _growth(
    node: ast.AST, targets: set[str], anew: set[str], counters: set[str], counting: Container[str]
) -> Iterator[tuple[str, bool]]:
    """What grows by a part of the body, and whether surely in the order of the loop."""
    if isinstance(node, (ast.Yield, ast.YieldFrom)):
        yield YIELDED, True
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        if not _is_whole(node.value, counting):
            yield dotted(node.target), _is_sequence(node.value)
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Name, ast.Attribute)):
        name = dotted(node.targets[0])
        in_order = _regrown(node.value, name, counting)
        if in_order is not None:
            yield name, in_order
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner = node.func.value
        if node.func.attr in GROWS:
            # `groups[x].append(...)` has a list for each element.
            keyed = isinstance(owner, ast.Subscript) and not targets.isdisjoint(_names(owner.slice))
            yield place(owner), not keyed and not isinstance(owner, ast.Call)
        elif node.func.attr in WRITES and dotted(owner) not in _SHOWN | anew and not _opens(owner):
            yield WRITTEN, True
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        target = node.targets[0]
        table = dotted(target.value)
        if _counts(node.value, table, counters):
            yield f"{NUMBERED}{table}", True
        elif _counts(target.slice, table.removesuffix(".loc"), counters):
            yield table, True  # `images[i] = load(file)`


def keyed(node: ast.DictComp) -> bool:
    """Whether a table is made by the names of what it is made of, and not of their numbers: `{name: load(name) for name in names}`."""
    for generator in node.generators:
        through = generator.iter.func if isinstance(generator.iter, ast.Call) else generator.iter
        if dotted(through) in ("enumerate", "zip"):
            return False
    targets = {name for generator in node.generators for name in _names(generator.target)}
    return not targets.isdisjoint(_names(node.key))


def _opens(node: ast.expr) -> bool:
    """Whether a file is opened on the spot, from its beginning: `path.open("w").write(text)`."""
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    if (function.attr if isinstance(function, ast.Attribute) else dotted(function)) != "open":
        return False
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    modes = [part.value for part in given if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return not any("a" in mode for mode in modes)


def _regrown(value: ast.expr, name: str, counting: Container[str]) -> bool | None:
    """Whether what a name is bound to is surely in the order of the loop; None where it isn't itself with more: `x = x + more`."""
    if isinstance(value, ast.Call):
        last = dotted(value.func).rpartition(".")[2]
        return True if last in JOINS and any(name in _chains(given) for given in value.args) else None
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return None
    for own, more in ((value.left, value.right), (value.right, value.left)):
        if dotted(own) == name:
            return None if _is_whole(more, counting) else _is_sequence(more)
    # `x = 0.9 * x + more`: each counts for less than the next.
    return True if isinstance(value.left, ast.BinOp) and name in _chains(value.left) else None


def _counts(node: ast.expr, table: str, counters: set[str]) -> bool:
    """Whether an expression is the next number: a counter, or the size of the table that it goes into."""
    for part in walk(node):
        if isinstance(part, ast.Name) and part.id in counters:
            return True
        if isinstance(part, ast.Call) and dotted(part.func) == "len" and part.args and dotted(part.args[0]) == table:
            return True
    return False


def _is_whole(node: ast.expr, counting: Container[str] = frozenset()) -> bool:
    """Whether what is added up are numbers that need no rounding, so that the order is no matter: `count += len(names)`,
    `right += (found == label).sum()`.

    Args:
        counting: functions, and methods of `self`, that only count.
    """
    node = _itself(node)
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, str)
    if not isinstance(node, ast.Call):
        return False
    name, of = dotted(node.func), node.func.value if isinstance(node.func, ast.Attribute) else None
    last = node.func.attr if isinstance(node.func, ast.Attribute) else name
    if name in _WHOLE or name.removeprefix("self.") in counting:
        return True
    if last == COUNTS:
        # A tensor's own method takes what else would be the second argument: weights.
        plain = 1 if of is None or dotted(of) in _MODULES else 0
        return len(node.args) == plain and all(keyword.arg == "minlength" for keyword in node.keywords)
    return last == "sum" and any(_is_comparison(added) for added in (of, *node.args[:1]))


def _is_comparison(node: ast.expr | None) -> bool:
    """Whether an expression gives booleans: `found == label`, `np.equal(found, label)`."""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func)
        return name in _COMPARES
    return isinstance(node, ast.Compare)


def _counted(body: Sequence[ast.AST], nodes: Sequence[ast.AST], counting: Container[str]) -> set[ast.AST]:
    """The parts of a loop's body that add up whole numbers which they have a name for: `hits = (found == label).sum(); right += hits`."""
    added = {
        node: value.id
        for node in nodes
        if isinstance(node, ast.AugAssign) and isinstance(value := _itself(node.value), ast.Name)
    }
    whole = _wholes(nodes, counting) if added else frozenset[str]()
    blocks = [body, *(block for node in nodes for block in _blocks(node))] if whole else []
    return {node for node, name in added.items() if name in whole and any(_is_bound(b, name, node) for b in blocks)}


def _is_bound(block: Sequence[ast.AST], name: str, node: ast.AST) -> bool:
    """Whether a statement of a block surely binds a name before a part of a later one is come to."""
    bound = False
    for part in block:
        if bound and any(inner is node for inner in walk(part)):
            return True
        bound = bound or (isinstance(part, ast.Assign) and any(dotted(target) == name for target in part.targets))
    return False


def _wholes(nodes: Sequence[ast.AST], counting: Container[str] = frozenset()) -> frozenset[str]:
    """The names that some code only ever binds to whole numbers, or to arrays that it puts nothing else into."""
    stored: dict[str, list[ast.expr]] = {}
    changed = list[str]()
    for node in nodes:
        if isinstance(node, ast.Assign) or (isinstance(node, ast.AugAssign) and isinstance(node.op, _KEEP)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                item = isinstance(target, ast.Subscript)
                stored.setdefault(dotted(target.value if item else target), []).append(node.value)  # type: ignore[attr-defined]
        changed += _changed(node)
    places = [
        node for node in nodes if isinstance(node, (ast.Name, ast.Subscript)) and not isinstance(node.ctx, ast.Load)
    ]
    puts = [dotted(node.value) if isinstance(node, ast.Subscript) else node.id for node in places]
    known = {name for name, values in stored.items() if name.isidentifier() and puts.count(name) == len(values)}
    known -= {*changed, *(node.arg for node in nodes if isinstance(node, ast.arg))}
    while True:
        left = {name for name in known if all(_is_of_wholes(value, known, counting) for value in stored[name])}
        # What another name stands for too, may be changed under that one.
        others = [dotted(_base(value)) for name, values in stored.items() if name not in left for value in values]
        left -= {*others}
        if left == known:
            return frozenset(known)
        known = left


def _changed(node: ast.AST) -> Iterator[str]:
    """The names of what a part of some code may change in other ways than to bind it, or to put something into it."""
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        yield from node.names
    elif isinstance(node, ast.Call):
        if dotted(node.func) not in _LOOKS:
            yield from (dotted(given) for given in (*node.args, *(keyword.value for keyword in node.keywords)))
        if isinstance(node.func, ast.Attribute) and node.func.attr not in _SAME | {"sum"}:
            yield dotted(node.func.value)


def _base(node: ast.expr) -> ast.expr:
    """What something is an item of, or a part."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _is_of_wholes(node: ast.expr, names: Set[str], counting: Container[str]) -> bool:
    """Whether an expression surely is a whole number, or an array of such, if some names are."""
    node = _itself(_base(node))
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float)) and float(node.value).is_integer()
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        return isinstance(node.op, _KEEP) and all(_is_of_wholes(side, names, counting) for side in sides)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FILLS:
        return dotted(node.func.value) in _MODULES
    return isinstance(node, ast.Call) and _is_whole(node, counting)


def _itself(node: ast.expr) -> ast.expr:
    """An expression without the methods that give the same numbers: `counts` of `counts.reshape(2, 2)`."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SAME:
        node = node.func.value
    return node


class Counting(Container[str]):
    """The functions and methods of a file that only count: `hist` of `def hist(a): return np.bincount(a)`; by their names alone.
    Few are ever asked for, so that each is looked at when it is."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._known: dict[object, bool] = {}

    def __contains__(self, name: object) -> bool:
        known = self._known.get(name)
        if known is None:
            named = self._named.get(name, ())
            known = self._known[name] = bool(named) and all(map(_counts_alone, named))
        return known

    @cached_property
    def _named(self) -> dict[object, list[ast.FunctionDef | ast.AsyncFunctionDef]]:
        found: dict[object, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
        for node in walk(self._tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.setdefault(node.name, []).append(node)
        return found


def _counts_alone(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether all that a function gives back is whole, as it is written, or under a name that it binds to nothing else."""
    parts = [*walk(node)]
    given = [part.value for part in parts if isinstance(part, ast.Return)]
    plain = not node.decorator_list and not any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in parts)
    if not plain or not given or not all(given):
        return False
    names = _wholes(parts)
    return all(value is not None and (_is_whole(value) or _is_of_wholes(value, names, frozenset())) for value in given)


def _is_sequence(node: ast.expr) -> bool:
    """Whether something that is added is a list or a text, by how it is written."""
    if isinstance(node, ast.BinOp):
        return _is_sequence(node.left) or _is_sequence(node.right)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, (ast.List, ast.ListComp, ast.Tuple, ast.JoinedStr))


def _chains(node: ast.AST) -> set[str]:
    """The chains of names in an expression."""
    return {dotted(part) for part in walk(node) if isinstance(part, (ast.Name, ast.Attribute))}


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in walk(node) if isinstance(part, ast.Name)}


def names_in(target: ast.expr) -> list[str]:
    """The names that an assignment to a target binds."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return [name for part in target.elts for name in names_in(part)]
    part = target.value if isinstance(target, ast.Starred) else target
    return [part.id] if isinstance(part, ast.Name) else []


_ONE: Final = {
    True: ((ast.Eq, 1), (ast.LtE, 1), (ast.Lt, 2)),
    False: ((ast.NotEq, 1), (ast.Gt, 1), (ast.GtE, 2)),
}


def alone(test: ast.expr, holds: bool) -> list[str]:
    """What has one item at most, which is in order however it came, if a test holds, or if it fails: `len(files) == 1`."""
    if isinstance(test, ast.BoolOp):
        return (
            [name for part in test.values for name in alone(part, holds)]
            if isinstance(test.op, ast.And) is holds
            else []
        )
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.comparators[0], ast.Constant):
        return []
    asked, number = test.left, test.comparators[0].value
    counted = isinstance(asked, ast.Call) and dotted(asked.func) == "len" and len(asked.args) == 1
    told = any(isinstance(test.ops[0], kind) and number == limit for kind, limit in _ONE[holds])
    return [place(asked.args[0])] if counted and told else []  # type: ignore[attr-defined]


def empty(test: ast.expr) -> list[str]:
    """What is empty if a test holds, as written: `not missing`, `missing == []`, `len(missing) == 0`."""
    if isinstance(test, ast.BoolOp):
        return [name for part in test.values for name in empty(part)] if isinstance(test.op, ast.And) else []
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return [dotted(test.operand)]
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return []
    asked, other = test.left, test.comparators[0]
    if isinstance(asked, ast.Call) and dotted(asked.func) == "len" and len(asked.args) == 1:
        return [dotted(asked.args[0])] if isinstance(other, ast.Constant) and other.value == 0 else []
    return [dotted(asked)] if isinstance(other, (ast.List, ast.Tuple)) and not other.elts else []


def place(node: ast.AST) -> str:
    """A chain of names as written, or `[` and the table that something is an item of; "" for anything else."""
    return INSIDE + dotted(node.value) if isinstance(node, ast.Subscript) else dotted(node)


def dotted(node: ast.AST) -> str:
    """`self.files` as written; "" for anything that isn't a chain of names."""
    if type(node) is ast.Name:
        return node.id
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""

"""What a function does with its parameters, and what becomes of what it makes, which may spare a finding."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from detlint.facts import smoke
from detlint.facts.loops import dotted
from detlint.facts.model import AS, BUT, IDLE, KEPT, LENT, UNUSED, Member, Ref, Result, Site, Value, options
from detlint.facts.nodes import walk
from detlint.facts.reading.values import tail_of, with_use
from detlint.facts.reading.walk import Walk
from detlint.facts.spare import Layout, Role, Spare

_BY_NAME: Final = frozenset({"locals", "vars", "globals", "eval", "exec"})
"""What may read names that aren't written out."""
_FRAME: Final = "f_locals"


class Roles(Walk):
    """Tells what a function does with what it is handed."""

    __slots__ = ()

    def tell_spare(self, statements: Sequence[ast.stmt]) -> None:
        """Tell of the sites of a function whose result becomes nothing: `spare` of keys, `looked-at` of what was chosen, `probe` of what
        a function is tried out with, `cut` of tensors, `idle` of objects, and of data sets, which may be `lent`, `unused` of numbers
        that are drawn."""
        if not self.worthless:
            return
        layout = lru_cache(lambda: Layout(statements))
        main = [
            s for s in statements if isinstance(s, ast.If) and isinstance(s.test, ast.Compare) and is_main_test(s.test)
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
                in_sight = self.scope.kind == "function" or any(node in walk(block) for block in main)
                if in_sight and numbers.is_spare(node) and not self.reads_by_name():
                    self.sites[number] = with_use(site, UNUSED)
                    continue
            self.probed, own = "", self.may_be_data(site.target)
            if probes is not None and not own and probes.is_spare(node) and self.probed:
                self.sites[number] = with_use(site, f"probe:{self.probed}")
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
                    self.sites[number] = with_use(site, "cut")
            elif self.has_keys and tail_of(site.target) in self.key_words:
                # Names of a module may be read by others, but for those of its `__main__` block.
                if self.scope.kind != "module" or any(node in walk(block) for block in main):
                    keys = keys or Spare(layout(), self.role_of_key, lambda _: False, {})
                    if keys.is_spare(node):
                        self.sites[number] = with_use(site, "spare")
            elif tail_of(site.target) in self.catalog.chooses and self.shows():
                known = self.catalog
                chosen = chosen or Spare(
                    layout(), self.role_of_chosen, self.looks_at, self.bodies, fills=known.fills, makes=known.makes
                )
                if chosen.is_shown(node):
                    self.sites[number] = with_use(site, "looked-at")
            elif self.displays and self.scope.kind == "module" and tail_of(site.target) in self.catalog.used_later:
                objects = objects or Spare(layout(), self.role_of_object, lambda _: False, {})
                if objects.is_shown(node):
                    self.sites[number] = with_use(site, IDLE)
            elif site.kind == "call":
                # Whoever makes one at the top level may not have written yet what goes through it.
                in_function = self.scope.kind != "module"
                shuffled = self.is_shuffled(site.target) if in_function else self.is_left(site.target, site.use)
                if not (shuffled or own):
                    continue
                data = data or Spare(layout(), self.role_of_data, self.gives_data, {}, parts=False)
                if data.is_spare(node, returned=in_function) and (shuffled or self.probed):
                    places = "" if data.places <= {-1} else ",".join(map(str, sorted(data.places)))
                    self.sites[number] = with_use(site, LENT + places if in_function else IDLE)
        self.worthless, self.dropped = [], set()

    def only_draws(self, site: Site) -> bool:
        """Whether a call does nothing but to draw something and give that."""
        target = site.target
        known = type(target) is Ref and tail_of(target) in self.catalog.only_drawing_words
        return known and self.catalog.canonical(target.name) in self.catalog.only_drawing  # type: ignore[union-attr]

    def tell_unread(self, function: ast.FunctionDef | ast.AsyncFunctionDef | None = None) -> None:
        """Tell which of several things that calls give are never read, and what the function only gives back as one of several: by
        how often it says their names.

        Args:
            function: None for the `__main__` block, whose names no other file has, but all functions of its own.
        """
        if not self.several and not self.given_back:
            return
        if function is None and self.reads_by_name():
            self.several = []
        said = _said([function] if function is not None else self.top)
        for number, targets in self.several:
            unread = [str(i) for i, target in enumerate(targets) if said[target] == 1]
            if unread and self.sites[number].use == KEPT:
                self.sites[number] = with_use(self.sites[number], BUT + ",".join(unread))
        for number, place, name in self.given_back:
            if self.sites[number].use == KEPT and said[name] == 2:
                self.sites[number] = with_use(self.sites[number], f"{AS}{place}")
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
        given = [node.value for node in walk(function) if type(node) is ast.Return] if function else []
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
        self.probed = name if name in self.catalog.data_sets else self.probed
        return "passes" if name in self.catalog.data_sets else ""

    def gives_data(self, method: str) -> bool:
        return method in self.catalog.data_methods

    def is_shuffled(self, target: Value) -> bool:
        """Whether a call may give a data set that draws when somebody goes through it."""
        return tail_of(target) in self.catalog.shuffled_words and self.is_data_set(target)

    def may_be_data(self, target: Value) -> bool:
        """Whether a function makes an object of a class that no framework has, in a file that may make a data set of it."""
        own = self.scope.kind == "function" and type(target) is Ref and tail_of(target)[:1].isupper()
        return own and target.name.partition(".")[0] not in self.catalog.roots and self.shuffles()  # type: ignore[union-attr]

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

    def shows(self) -> bool:
        """Whether the file may show somebody something."""
        if self._shows is None:
            self._shows = not self.said.isdisjoint(self.catalog.plotters)
        return self._shows

    def reads_by_name(self) -> bool:
        """Whether the file may read names that it doesn't write out."""
        if self._by_name is None:
            nodes = (node for part in self.top for node in walk(part)) if self.said & _BY_NAME else ()
            named = any(type(node) is ast.Name and node.id in _BY_NAME for node in nodes)
            self._by_name = named or _FRAME in self.said
        return self._by_name

    def shuffles(self) -> bool:
        """Whether the file may make a data set that is taken in random order."""
        if self._shuffles is None:
            self._shuffles = not self.said.isdisjoint(self.catalog.shuffled_words)
        return self._shuffles


def is_main_test(node: ast.Compare) -> bool:
    if len(node.ops) != 1 or type(node.ops[0]) is not ast.Eq:
        return False
    sides = (node.left, node.comparators[0])
    return any(isinstance(s, ast.Name) and s.id == "__name__" for s in sides) and any(
        isinstance(s, ast.Constant) and s.value == "__main__" for s in sides
    )


def _said(nodes: Iterable[ast.AST]) -> Counter[str]:
    """How often code says each name, to read or to bind it, or that it is one of another scope."""
    found = Counter[str]()
    for node in (part for top in nodes for part in walk(top)):
        if type(node) is ast.Name:
            found[node.id] += 1
        elif type(node) is ast.Global or type(node) is ast.Nonlocal:
            found.update(node.names)
    return found

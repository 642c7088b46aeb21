"""What becomes of what a site gives: nothing, or nothing that matters to a rule, by what the catalog says of those who take it.

Asked when a verdict hangs on it, of the IR of the file in which the site stands. It assumes what `Unused` assumes; and that names of a
module may be read by other files, where nothing ends the value that they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import partial
from typing import Any, Final, TypeVar

from detlint.db import Memo
from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.ir.places import Place
from detlint.model.escapes import Escapes
from detlint.model.labels import is_label
from detlint.model.meaning import Meaning, Meanings
from detlint.model.module import Module
from detlint.model.places import call_within
from detlint.model.resolve import Resolver
from detlint.model.sites.reading.values import KEEPS_NUMBERS
from detlint.model.trials import SHAPES
from detlint.model.unused import Role, Unused, Worth, acts, reads_any_name

KEEP: Final = frozenset({op.STORE, op.SET_ATTR, op.SET_ITEM})
_PASS_ON: Final = frozenset({op.AWAIT, op.CHOICE, op.DICT, op.LIST, op.PART, op.STAR, op.TUPLE})
_ROLES: Final = {
    **dict.fromkeys(KEEP, "kept"),
    **dict.fromkeys((op.COMPARE, op.UNARY, op.IF, op.UNTIL, op.ASSERT), "tested"),
    **dict.fromkeys((op.RETURN, op.YIELD, op.YIELD_FROM), "returned"),
    op.FOR: "loop",
}
"""Codes of ops -> what becomes of the values that they take."""
_KEYS: Final = "jax.random."
_PARAMETERS: Final = frozenset(
    {"get_parameters", "named_parameters", "parameters", "parameters_and_names", "trainable_params"}
)
"""The methods of networks that give their parameters."""
_NOTHING: Final = frozenset[int]()
_Answer = TypeVar("_Answer")


def unread_parts(function: Function, at: int) -> frozenset[int]:
    """Those of several things which a value is, that are only taken out of it under names which nobody reads."""
    read, unread = set[int](), set[int]()
    for use in function.users[at]:
        part = function.ops[use.op]
        if part[0] != op.PART or part[2] < 0:
            return _NOTHING
        (unread if Unused(function, Worth()).holds(use.op) else read).add(part[2])
    return frozenset(unread - read)


def given_back_as(function: Function, at: int) -> int:
    """The place at which a function only gives back, as one of several, what it keeps under a name; -1 where it does anything else."""
    unused = Unused(function, Worth(parts=False))
    stored = any(function.ops[use.op][0] == op.STORE for use in function.users[at])
    only = stored and unused.holds(at, returned=True) and len(unused.places) == 1
    return next(iter(unused.places)) if only else -1


class Sinks:
    """Answers for the sites of a program."""

    def __init__(self, resolver: Resolver, meanings: Meanings) -> None:
        self._resolver = resolver
        self._catalog = resolver.catalog
        self.meanings = meanings
        self._escapes = Escapes(resolver, meanings)
        self._known: Memo[Any] = Memo(resolver.db)

    # -- what any value may become --------------------------------------------------------------------------------------

    def is_dropped(self, module: Module, index: int) -> bool:
        """Whether nothing is done with what a site gives, not even to keep it."""
        return self._ask("dropped", module, index, lambda function, at, _: not function.users[at], False)

    def is_kept(self, module: Module, index: int) -> bool:
        """Whether it is kept as it is, under a name or in something else."""
        return self._ask("kept", module, index, _is_kept, False)

    def is_kept_alone(self, module: Module, index: int) -> bool:
        """The same, but not as a part of a part of an object: `self.fc.weight.data = rand(4)`."""
        return self._ask("alone", module, index, _is_kept_alone, False)

    def becomes_weights(self, module: Module, index: int) -> bool:
        """Whether it is kept under a name only to make a parameter of a layer of it, or for nothing."""
        return self._ask("weights", module, index, self._becomes_weights, False)

    def kept_as(self, module: Module, index: int) -> str:
        """The attribute that keeps it; "" for none."""
        return self._ask("attribute", module, index, _kept_as, "")

    def becomes(self, module: Module, index: int) -> frozenset[str]:
        """What becomes of it: it is an `index`, or a `key` by which something is indexed, `tested`, `returned`, `collected` by a
        comprehension, gone through by a `loop`, `kept`, `argument:` of something."""
        return self._ask("roles", module, index, self._roles, frozenset())

    def tells_apart(self, module: Module, index: int) -> bool:
        """Whether it goes into what only tells runs, or files, apart, by its name."""
        return self._ask("id", module, index, self._tells_apart, False)

    def unread_parts(self, module: Module, index: int) -> frozenset[int]:
        """Those of several things that a site gives which nobody reads; none where names that aren't seen may be read."""
        return self._ask("parts", module, index, self._unread_parts, _NOTHING)

    def given_back_as(self, module: Module, index: int) -> int:
        """The place at which its function only gives it back, as one of several; -1 where it does anything else with it."""
        return self._ask("place", module, index, lambda function, at, _: given_back_as(function, at), -1)

    # -- what only values of some kinds may become ----------------------------------------------------------------------

    def ends_gradients(self, module: Module, index: int) -> bool:
        """Whether no gradient comes back to the tensor that a call gives: it becomes whole numbers, a comparison, a shape."""
        return self._ask("cut", module, index, self._ends_gradients, False)

    def draws_nothing(self, module: Module, index: int) -> bool:
        """Whether nothing is drawn by the keys that a call gives, or only what is dropped."""
        return self._ask("keys", module, index, self._draws_nothing, False)

    def is_only_printed(self, module: Module, index: int) -> bool:
        """Whether what a function gives is only shown to people."""
        return self._ask("printed", module, index, self._is_only_printed, False)

    def is_only_shown(self, module: Module, index: int) -> bool:
        """Whether what a call chooses is only shown to people."""
        return self._ask("shown", module, index, self._is_only_shown, False)

    def is_unused_at_top(self, module: Module, index: int) -> bool:
        """Whether the top level does nothing with the object, or the data set, that a call makes, or no more than to show it."""
        return self._ask("unused-at-top", module, index, self._is_unused_at_top, False)

    def lent(self, module: Module, index: int) -> frozenset[int] | None:
        """The places at which a function only gives back the data set that a call makes, as one of several: -1 where not as one of
        several; none where nobody goes through it. None where it may do more with it."""
        return self._ask("lent", module, index, self._lent, None)

    def is_never_called(self, module: Module, index: int) -> bool:
        """Whether nobody calls the layer that a call makes."""
        return self._ask("called", module, index, self._is_never_called, False)

    # -------------------------------------------------------------------------------------------------------------------

    def _ask(
        self,
        question: str,
        module: Module,
        index: int,
        answer: Callable[[Function, int, Meaning], _Answer],
        otherwise: _Answer,
    ) -> _Answer:
        """The answer for the call that a site is; another one for what is no call, or isn't found."""

        def find() -> _Answer:
            call = call_within(self._resolver, self.meanings, module, module.sites[index])
            if call is None:
                return otherwise
            meaning, point = call
            return answer(point.function, point.at, meaning)

        found: _Answer = self._known.of((question, module.number, index), find, otherwise)
        return found

    def _name(self, meaning: Meaning, function: Function, call: int) -> str:
        """The full name of what is called, as the catalog has it; that of a method where no more is known."""
        callee = function.ops[call][1]
        name = meaning.name(function, callee) or function.dotted(callee) or function.called(call)
        return self._catalog.canonical(name)

    def _is_never_called(self, function: Function, at: int, meaning: Meaning) -> bool:
        return self._escapes.is_never_called(meaning, Place(function, at))

    def _roles(self, function: Function, at: int, meaning: Meaning) -> frozenset[str]:
        found = set[str]()
        for use in function.users[at]:
            taking = function.ops[use.op]
            code = taking[0]
            if code == op.ITEM:
                found.add("index" if use.place == 1 else "key")
            elif code == op.CALL and use.place > 1:
                name = self._name(meaning, function, use.op)
                passes = name in self._catalog.same_order
                found |= self._roles(function, use.op, meaning) if passes else {f"argument:{name}"}
            elif code in _PASS_ON or (code == op.BINARY and function.code.strings[taking[1]] == "+"):
                found |= self._roles(function, use.op, meaning)
            elif (made := function.collected(use.op)) >= 0:
                found |= self._roles(function, made, meaning) or {"collected"}
            elif code in _ROLES:
                found.add(_ROLES[code])
        return frozenset(found)

    def _becomes_weights(self, function: Function, at: int, meaning: Meaning) -> bool:
        known = self._catalog
        kept = KEEPS_NUMBERS | known.casting_methods

        def role(function: Function, call: int, _: int) -> Role:
            name = self._name(meaning, function, call)
            return "ends" if name in known.with_context("parameter") else "passes" if name in known.wraps else ""

        stored = all(function.ops[use.op][0] == op.STORE for use in function.users[at])
        return (
            stored and bool(function.users[at]) and Unused(function, Worth(role, lambda word: word in kept)).holds(at)
        )

    def _tells_apart(self, function: Function, at: int, meaning: Meaning) -> bool:
        return is_label(self._catalog, partial(self._name, meaning), function, at)

    def _unread_parts(self, function: Function, at: int, _: Meaning) -> frozenset[int]:
        in_sight = function.number > 0 or function.is_main(at)
        return (
            unread_parts(function, at) if in_sight and not reads_any_name(function.code, function.number) else _NOTHING
        )

    def _ends_gradients(self, function: Function, at: int, meaning: Meaning) -> bool:
        worth = Worth(
            partial(self._role_of_tensor, meaning),
            self._gives_tensor,
            partial(self._ends_tensor, meaning),
            compares=True,
        )
        differs = function.number > 0 and self._name(meaning, function, at) in self._catalog.differentiated
        return differs and Unused(function, worth).holds(at)

    def _role_of_tensor(self, meaning: Meaning, function: Function, call: int, _: int) -> Role:
        """What a call makes of a tensor through which a gradient may come back."""
        name = self._name(meaning, function, call)
        if name in self._catalog.leaves or name in self._catalog.whole:
            return "ends"
        # `torch.amin(x)` gives what `x.amin()` does.
        library, last = name.rpartition(".")[::2]
        of_tensors = f"{library}.Tensor" in self._catalog.tensors and self._gives_tensor(last)
        return "passes" if of_tensors and "out" not in function.call(call).named else ""

    def _gives_tensor(self, method: str) -> bool:
        return method not in self._catalog.plain_methods

    def _ends_tensor(self, meaning: Meaning, function: Function, attribute: int) -> bool:
        """Whether an attribute of a tensor is none through which a gradient comes back, as a method makes whole numbers:
        `x.to(torch.uint8)`."""
        word = function.code.strings[function.ops[attribute][2]]
        if word in self._catalog.gradients_end or word in SHAPES:
            return True
        calls = [use.op for use in function.users[attribute] if use.place == 1 and function.ops[use.op][0] == op.CALL]
        given = [value for call in calls for value in function.call(call).values()]
        return word in self._catalog.casting_methods and any(
            self._is_whole(meaning, function, value) for value in given
        )

    def _is_whole(self, meaning: Meaning, function: Function, value: int) -> bool:
        """Whether a value is a type of whole numbers."""
        name = self._catalog.canonical(meaning.name(function, value))
        return name in self._catalog.whole and name.rpartition(".")[2] in self._catalog.type_words

    def _draws_nothing(self, function: Function, at: int, meaning: Meaning) -> bool:
        in_sight = function.number > 0 or function.is_main(at)
        worth = Worth(partial(self._role_of_key, meaning), ends=_says_shape)
        return in_sight and Unused(function, worth).holds(at)

    def _role_of_key(self, meaning: Meaning, function: Function, call: int, value: int) -> Role:
        """What a call makes of a key, or of what was drawn by one."""
        name = self._name(meaning, function, call)
        last = name.rpartition(".")[2]
        if name.startswith(_KEYS) and last in self._catalog.key_words:
            return "passes"
        libraries, firsts = self._catalog.by_shape.get(last, ((), ()))
        given = function.call(call)
        first = value in given.positional[:1] or any(given.named.get(word) == value for word in firsts)
        return "ends" if not first and _imports(function.code, libraries) else ""

    def _is_only_printed(self, function: Function, at: int, meaning: Meaning) -> bool:
        def role(function: Function, call: int, _: int) -> Role:
            name = self._name(meaning, function, call)
            return (
                "ends" if not self._catalog.shows.isdisjoint((name.partition(".")[0], name.rpartition(".")[2])) else ""
            )

        unused = Unused(function, Worth(role, lambda method: method == "item", _says_shape))
        return function.called_on(at) < 0 and unused.holds(at) and unused.ended

    def _is_only_shown(self, function: Function, at: int, meaning: Meaning) -> bool:
        known = self._catalog
        if function.called(at) not in known.chooses or not self._says(meaning, known.plotters):
            return False
        worth = Worth(
            partial(self._role_of_chosen, meaning), self._looks_at, _says_shape, known.fills, known.makes, inside=True
        )
        unused = Unused(function, worth)
        return unused.holds(at) and unused.ended

    def _looks_at(self, name: str) -> bool:
        return name.startswith(self._catalog.looks)

    def _role_of_chosen(self, meaning: Meaning, function: Function, call: int, value: int) -> Role:
        """What a call makes of what was chosen to be looked at."""
        known, name, given = self._catalog, self._name(meaning, function, call), function.call(call)
        last = name.rpartition(".")[2]
        if not known.shows.isdisjoint((name.partition(".")[0], last)):
            return "ends"
        painted = name in known.paints and value not in given.positional[:1]
        keyword = next((keyword for keyword, named in given.named.items() if named == value), "")
        if painted or (keyword in known.colours and known.plots.search(last)):
            return "ends"
        applies = self._resolver.kinds.layer(meaning.kind(function, given.callee)) is not None
        return "passes" if self._looks_at(last) or applies else ""

    def _is_unused_at_top(self, function: Function, at: int, meaning: Meaning) -> bool:
        if function.number > 0:
            return False
        if function.called(at) in self._catalog.used_later:
            unused = Unused(function, Worth(partial(self._role_of_object, meaning), ends=_says_shape))
            return unused.holds(at) and unused.ended
        if self._is_shuffled(meaning, function, at):
            known = acts(function, self._catalog.preparing) and not reads_any_name(function.code, function.number)
            return known and self._is_left(function, at, meaning, [])
        own = self._name(meaning, function, at).startswith(f"{meaning.module.path}::") and _is_kept(
            function, at, meaning
        )
        return own and self._says(meaning, self._catalog.shuffled_words) and self._is_left(function, at, meaning, [])

    def _role_of_object(self, meaning: Meaning, function: Function, call: int, _: int) -> Role:
        """What a call makes of an object that does nothing before one of its methods is called: a part of another such object."""
        name = self._name(meaning, function, call)
        if name == "builtins.print":
            return "ends"
        of_objects = name.partition(".")[0] in self._catalog.assembles
        return "passes" if of_objects and name.rpartition(".")[2][:1].isupper() else ""

    def _lent(self, function: Function, at: int, meaning: Meaning) -> frozenset[int] | None:
        if not function.number:
            return None
        taken, places = list[str](), set[int]()
        shuffled = self._is_shuffled(meaning, function, at)
        if not shuffled and not self._may_be_data(meaning, function, at):
            return None
        left = self._is_left(function, at, meaning, taken, places)
        return frozenset(places) if left and (shuffled or taken) else None

    def _is_left(
        self, function: Function, at: int, meaning: Meaning, taken: list[str], places: set[int] | None = None
    ) -> bool:
        """Whether nobody goes through a data set.

        Args:
            taken: gets the names of what makes other data sets of it.
            places: gets the places at which the function gives it back; None where it may not.
        """

        def role(function: Function, call: int, _: int) -> Role:
            name = self._name(meaning, function, call)
            if name in ("builtins.len", "builtins.print"):
                return "ends"
            if name in self._catalog.data_sets:
                taken.append(name)
                return "passes"
            return ""

        def ends(function: Function, attribute: int) -> bool:
            word = function.code.strings[function.ops[attribute][2]]
            return word in SHAPES or word in self._catalog.describing

        worth = Worth(role, lambda method: method in self._catalog.data_methods, ends, parts=False)
        unused = Unused(function, worth)
        left = unused.holds(at, returned=places is not None)
        if places is not None:
            places |= unused.places
        return left

    def _is_shuffled(self, meaning: Meaning, function: Function, at: int) -> bool:
        """Whether a call may give a data set that draws when somebody goes through it."""
        return function.called(at) in self._catalog.shuffled_words and self._is_data_set(meaning, function, at)

    def _is_data_set(self, meaning: Meaning, function: Function, value: int) -> bool:
        """Whether a value is a data set that a call of a library gives, or what its methods make of one."""
        value = function.meant(value)
        if function.ops[value][0] != op.CALL:
            return False
        if self._name(meaning, function, value) in self._catalog.data_sets:
            return True
        base = function.called_on(value)
        of_data = base >= 0 and function.called(value) in self._catalog.data_methods
        return of_data and self._is_data_set(meaning, function, base)

    def _may_be_data(self, meaning: Meaning, function: Function, at: int) -> bool:
        """Whether a call makes an object of a class that no framework has, in a file that may make a data set of it."""
        name = meaning.name(function, function.ops[at][1])
        own = self._resolver.classes.is_class(name) and _is_kept(function, at, meaning)
        return own and name.partition(".")[0] not in self._catalog.roots

    def _says(self, meaning: Meaning, words: Set[str]) -> bool:
        """Whether the code of a file has one of some names, wherever that is."""
        self._resolver.opened.add(meaning.path)
        return not meaning.code.identifiers.isdisjoint(words)


def _is_kept(function: Function, at: int, _: Meaning) -> bool:
    uses = [*function.ends(at, (op.LIST, op.PART, op.TUPLE))]
    return bool(uses) and all(function.ops[use.op][0] in KEEP for use in uses)


def _is_kept_alone(function: Function, at: int, meaning: Meaning) -> bool:
    stores = (function.ops[use.op] for use in function.users[at])
    into_parts = any(taken[0] == op.SET_ATTR and function.ops[taken[1]][0] == op.ATTR for taken in stores)
    return not into_parts and _is_kept(function, at, meaning)


def _kept_as(function: Function, at: int, _: Meaning) -> str:
    stores = (function.ops[use.op] for use in function.users[at])
    return next((function.code.strings[taken[2]] for taken in stores if taken[0] == op.SET_ATTR), "")


def _says_shape(function: Function, attribute: int) -> bool:
    return function.code.strings[function.ops[attribute][2]] in SHAPES


def _imports(code: Code, libraries: object) -> bool:
    """Whether a file imports a part of some libraries."""
    return any(code.strings[row.module].partition(".")[0] in libraries for row in code.ir.imports)  # type: ignore[operator]

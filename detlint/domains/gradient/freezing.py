"""Networks that a function freezes before it does more with them than to prepare them: `net.requires_grad_(False)`.

What it may assume: a method that gives the object itself, and what loads weights, leave a network as it is else; a constructor that only
keeps what it is handed does nothing with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Binding, Function
from detlint.ir.places import Place
from detlint.ir.records import EITHER, FUNCTION, KEYWORD
from detlint.ir.uses import Use as Taking
from detlint.model.kept import only_setter
from detlint.model.launches.settings import slot_of
from detlint.model.meaning import Meaning
from detlint.model.training import REQUIRES
from detlint.model.uses import Users

_ASKS, _FREEZES = REQUIRES
_DEEPEST: Final = 2
"""Functions that hand a network on to one that freezes it."""
_APPLY: Final = "apply"
"""The method that gives the network itself, and may do anything to it."""
_LEAVE: Final = frozenset({op.RETURN, op.BREAK, op.CONTINUE})
_ARMS: Final = frozenset({op.IF, op.ELSE})
_PLAIN: Final = frozenset({op.LOAD, op.CONST, op.ATTR, op.PART})
"""What does nothing by itself."""


class Held(NamedTuple):
    """A network that has a name in a function."""

    meaning: Meaning
    function: Function
    after: int
    """The op behind which it has it; -1 for a parameter."""
    name: str
    """As it is read there: `net`, `self.encoder`."""

    @property
    def part(self) -> str:
        """The attribute of the object itself under which a method keeps it; "" for any other."""
        operation = self.function.ops[self.after] if self.after >= 0 else (op.END,)
        return self.function.own(self.after) if operation[0] == op.SET_ATTR and self.name.count(".") == 1 else ""


class _Act(NamedTuple):
    """What is done with a network where it is read."""

    freezes: bool = False
    kept: int = -1
    """The op that gives it a name, or gives it back; -1 where it gets none."""
    part: str = ""
    """The attribute that it is then of what is kept."""


_PREPARES: Final = _Act()


class Freezing:
    """Reads it off the IR.

    Args:
        trains: whether something may train in a definition of a file's top level.
    """

    def __init__(self, users: Users, trains: Callable[[str, str], bool]) -> None:
        self._users = users
        self._trains = trains
        catalog = users.resolver.catalog
        self._weights = catalog.words_with("weights")
        self._named = catalog.words_with("named-weights")
        self._same = catalog.words_with("returns-self")
        self._loads = catalog.loading

    def held(self, meaning: Meaning, place: Place) -> Held | None:
        """The one name that what a call makes gets, also as a part of what is made of it; None where it gets none, or several."""
        act = self._act(meaning, place.function, place.at, _DEEPEST)
        name = _name(place.function, act) if act is not None and act.kept >= 0 else ""
        return Held(meaning, place.function, act.kept, name) if act is not None and name else None

    def given_back(self, meaning: Meaning, place: Place) -> str:
        """The attribute that what a call makes is of what its function makes of it, and gives back without doing more with it than to
        choose its mode or to load its weights; "" for none."""
        act = self._act(meaning, place.function, place.at, _DEEPEST)
        if act is None or not act.part:
            return ""
        if place.function.ops[act.kept][0] == op.RETURN:
            return act.part
        held = Held(meaning, place.function, act.kept, _name(place.function, act))
        end = next(self._ends(held, _DEEPEST), None)
        whole = held.name.removesuffix(f".{act.part}")
        given = end is not None and place.function.dotted(end) == whole and _is_given_back(place.function, end)
        return act.part if given else ""

    def freezes(self, held: Held, depth: int = 0) -> bool:
        """Whether a function freezes a network, behind the op that gives it its name, before it does anything else with it or may leave.

        Args:
            depth: how many functions handed the network on to it.
        """
        end = next(self._ends(held, depth), None)
        reads = end is not None and held.function.ops[end][0] in (op.LOAD, op.ATTR)
        act = self._act(held.meaning, held.function, end, depth) if end is not None and reads else None
        return act is not None and act.freezes and end is not None and _is_beside(held, end)

    def _ends(self, held: Held, depth: int) -> Iterator[int]:
        """The ops behind the one that names a network that do more than to prepare it, or that leave, in order."""
        function, names, own = held.function, [held.name], {held.after}
        for at in _behind(function, held.after):
            code = function.ops[at][0]
            if code in _LEAVE or (code in (op.FUNCTION, op.CLASS) and _reads_inside(function, at, names)):
                yield at
            elif (said := name_of(function, at)) in names:
                act = self._act(held.meaning, function, at, depth) if code in (op.LOAD, op.ATTR) else None
                name = _name(function, act) if act is not None and act.kept >= 0 else said
                new = act is not None and name not in names
                if at in own:
                    continue
                if (
                    act is None
                    or act.freezes
                    or not _only_asked(held, at)
                    or not name
                    or (new and not _is_beside(held, at))
                ):
                    yield at
                own.add(act.kept if act is not None else -1)
                names += [name] if new else []
            elif code in (op.LOAD, op.ATTR) and said and any(name.startswith(f"{said}.") for name in names):
                yield from () if all(self._leaves(function, use, names) for use in function.users[at]) else (at,)

    def _leaves(self, function: Function, use: Taking, names: list[str]) -> bool:
        """Whether what is done with the object that a network is an attribute of leaves that as it is."""
        operation = function.ops[use.op]
        if operation[0] == op.SET_ATTR:
            return use.place == 1
        if operation[0] == op.CALL:
            return function.called(use.op) in self._loads
        if operation[0] != op.ATTR:
            return False
        word = function.code.strings[operation[2]]
        called = any(function.ops[more.op][0] == op.CALL and more.place == 1 for more in function.users[use.op])
        return not called or function.dotted(use.op) in names or word in self._loads | (self._same - {_APPLY})

    def _act(self, meaning: Meaning, function: Function, at: int, depth: int) -> _Act | None:
        """What is done with a network where it is made, or read; None for anything else than what this tells of."""
        uses = function.users[at]
        if len(uses) != 1:
            return None if uses else _PREPARES
        use = uses[0]
        operation = function.ops[use.op]
        if operation[0] in (op.STORE, op.RETURN) or (operation[0] == op.SET_ATTR and use.place == 3):
            return _Act(kept=use.op)
        if operation[0] == op.CALL and use.place > 1:
            return self._handed(meaning, function, use.op, at, depth)
        taken = function.users[use.op] if operation[0] == op.ATTR else ()
        if len(taken) != 1 or function.ops[taken[0].op][0] != op.CALL or taken[0].place != 1:
            return None
        word, call = function.code.strings[operation[2]], taken[0].op
        if word == _FREEZES and _is_false(function, call):
            return _Act(freezes=True)
        if word in self._weights | self._named:
            return _Act(freezes=True) if self._freezes_each(function, call, word) else None
        if word in self._same:
            return self._act(meaning, function, call, depth) if function.users[call] or word != _APPLY else None
        return _PREPARES if word in self._loads else None

    def _handed(self, meaning: Meaning, function: Function, call: int, at: int, depth: int) -> _Act | None:
        """What is done with a network by handing it to something."""
        if function.called(call) in self._loads:
            return _PREPARES
        given = function.call(call)
        alone = given.values() == (at,) and not function.users[call] and depth < _DEEPEST
        word = next(iter(given.named), "")
        if alone and self._is_frozen_first(meaning.name(function, given.callee), word, depth + 1):
            return _Act(freezes=True)
        part = self._part_of(meaning, function, call, at)
        act = self._act(meaning, function, call, depth) if part else None
        return act._replace(part=part) if act is not None and act.kept >= 0 and not act.part else None

    def _is_frozen_first(self, name: str, word: str, depth: int) -> bool:
        """Whether a function of the program freezes its one argument first of all.

        Args:
            word: the parameter that gets it; "" for the first.
        """
        found = self._users.meanings.definition(name)
        if found is None or found[1].decorators or found[1].outermost is not found[1]:
            return False
        meaning, function = found
        slot = slot_of(function, word) if word else 0
        takes = function.header.kind == FUNCTION and 0 <= slot < len(function.header.parameters)
        plain = takes and function.header.parameters[slot].kind in (EITHER, KEYWORD)
        return plain and self.freezes(Held(meaning, function, -1, function.text(slot)), depth)

    def _part_of(self, meaning: Meaning, function: Function, call: int, at: int) -> str:
        """The one attribute under which an object of the program keeps a network that it is made of, whose class does nothing else with
        what it is handed, and hands on no weights; "" for anything else."""
        name, given = meaning.name(function, function.ops[call][1]), function.call(call)
        found = self._users.meanings.definition(f"{name}.__init__") if "::" in name else None
        path, _, inside = name.partition("::")
        if found is None or function.unpacks(call):
            return ""
        made = found[1]
        owner = made.parent
        if owner is None or owner.decorators or self._trains(path, inside):
            return ""
        handed = [*enumerate(given.positional, 1), *((slot_of(made, word), v) for word, v in given.named.items())]
        slots = [slot for slot, value in handed if value == at]
        part = _kept_from(made, slots[0]) if len(slots) == 1 else ""
        return part if part and self.is_kept_alone(owner, part) else ""

    def is_kept_alone(self, owner: Function, part: str) -> bool:
        """Whether a class sets an attribute in one place, and hands on no weights, which may be trained whatever becomes of them later."""
        handing = self._weights | self._named
        inside = {function.number for function in owner.code.inside(owner.number)}
        hands_on = any(number in inside for word in handing for number, _ in owner.code.attributes.get(word, ()))
        return not hands_on and only_setter(owner.code, owner.qualified, part) is not None

    def _freezes_each(self, function: Function, call: int, word: str) -> bool:
        """Whether all weights that a call gives are gone through, to freeze each: `for name, p in net.named_parameters()`."""
        uses = function.users[call]
        use = uses[0].op if len(uses) == 1 and not function.call(call).values() else -1
        if use >= 0 and function.called(taken := next((u.op for u in function.users[use]), use)) == "values":
            use, word = next((u.op for u in function.users[taken]), -1), ""  # by their names
        loop = use if use >= 0 and function.ops[use][0] == op.FOR else -1
        parts = function.flow.parts.get(loop, ())
        if len(parts) != 2:
            return False
        whole = not word or word in self._weights
        weights = [loop] if whole else [n for n, o in function.each(op.PART) if o[1:] == (loop, 1, 2)]
        kept = [u.op for weight in weights for u in function.users[weight] if function.ops[u.op][0] == op.STORE]
        return len(kept) == 1 and _only_freezes(function, range(loop + 1, parts[-1]), kept[0])


def _kept_from(made: Function, slot: int) -> str:
    """The attribute under which a constructor keeps a parameter, with which it does nothing else; "" for none."""
    variable = Binding(made.number, slot)
    reads = made.code.reads(variable) if not made.code.stores(variable) else ()
    if len(reads) != 1 or reads[0][0] is not made or not 0 < slot < len(made.header.parameters):
        return ""
    uses = made.users[reads[0][1]]
    keeps = len(uses) == 1 and made.ops[uses[0].op][0] == op.SET_ATTR and uses[0].place == 3
    return made.own(uses[0].op) if keeps and made.header.parameters[slot].kind <= KEYWORD else ""


def _only_freezes(function: Function, body: range, kept: int) -> bool:
    """Whether all that a loop does is to freeze the weight that one of its names is."""
    slot, froze = function.ops[kept][1], False
    for at in body:
        operation = function.ops[at]
        if operation[0] == op.SET_ATTR:
            sets = function.code.strings[operation[2]] == _ASKS and function.constant(operation[3]) is False
            weight = function.ops[operation[1]]
        elif operation[0] == op.CALL:
            sets = function.called(at) == _FREEZES and _is_false(function, at) and not function.users[at]
            weight = function.ops[function.called_on(at)] if sets else (op.END,)
        elif operation[0] in _PLAIN or (
            operation[0] == op.STORE and function.ops[operation[2]][0] in (op.FOR, op.PART)
        ):
            continue
        else:
            return False
        if not sets or weight != (op.LOAD, slot):
            return False
        froze = True
    return froze


def _is_false(function: Function, call: int) -> bool:
    """Whether a call is handed `False`, and nothing else."""
    given = function.call(call).values()
    return len(given) == 1 and function.constant(given[0]) is False


def _behind(function: Function, after: int) -> Iterator[int]:
    """The ops behind one, up to the end of the part of a block that it stands in."""
    depth = 0
    for at in range(after + 1, len(function.ops)):
        code = function.ops[at][0]
        depth += (code in op.OPENING) - (code == op.END)
        if depth < 0 or (depth == 0 and code in op.OF_A_BLOCK):
            return
        yield at


def _is_beside(held: Held, at: int) -> bool:
    """Whether an op stands in the same part of a block as the one that names a network."""
    blocks = held.function.flow.blocks
    return blocks[at] == (blocks[held.after] if held.after >= 0 else -1)


def _only_asked(held: Held, at: int) -> bool:
    """Whether nothing but tests stands between an op and the block of the one that names a network."""
    function = held.function
    base = function.flow.blocks[held.after] if held.after >= 0 else -1
    between = takewhile(lambda mark: mark != base, function.blocks(at))
    return all(function.ops[mark][0] in _ARMS for mark in between)


def name_of(function: Function, at: int) -> str:
    """The name, with attributes, that an op reads, sets or deletes; "" for any other."""
    operation = function.ops[at]
    if operation[0] in (op.LOAD, op.ATTR):
        return function.dotted(at)
    if operation[0] in (op.STORE, op.DELETE):
        return function.text(operation[1])
    if operation[0] in (op.SET_ATTR, op.DELETE_ATTR):
        of = function.dotted(operation[1])
        return f"{of}.{function.code.strings[operation[2]]}" if of else ""
    return ""


def _name(function: Function, act: _Act) -> str:
    """The name that a network gets; "" where it is given back."""
    name = name_of(function, act.kept)
    return f"{name}.{act.part}" if name and act.part else name


def _is_given_back(function: Function, at: int) -> bool:
    return any(function.ops[use.op][0] == op.RETURN for use in function.users[at])


def _reads_inside(function: Function, at: int, names: list[str]) -> bool:
    """Whether a function, or class, that is defined there reads one of some names, or what it is an attribute of."""
    roots = {name.partition(".")[0] for name in names}
    inside = function.code.inside(function.ops[at][1])
    return any(not roots.isdisjoint(one.slots) for one in inside)

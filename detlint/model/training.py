"""What in a file's code trains, or may: optimizers, gradients, and what is told to train.

What it may assume: a name of a library means what the catalog says, whichever way it was imported; a method of a receiver whose type isn't
known may be the one of that name that the catalog knows, so `loss.backward()` and `optimizer.step()` train, whatever they are called on.
Names that a project gives to its own things, texts and comments say nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from detlint.catalog import Catalog
from detlint.ir import ops as op
from detlint.ir.code import Call, Function
from detlint.model.meaning import Meaning, Meanings
from detlint.model.module import Module
from detlint.model.resolve import Resolver
from detlint.model.sites.records import Member, Ref, Result, Value

ONLY_DIFFERENTIATES: Final = "only-differentiates"
"""What the catalog says of calls that give gradients, and keep none."""
PASSES_BACK: Final = "passes-back"
"""What it says of those by which tensors get the gradients that they keep."""
TRAINS: Final = "trains"
"""Calls what trains, or has an optimizer."""
DIFFERENTIATES: Final = "differentiates"
"""Takes gradients, and needn't do more."""
PASSES: Final = "passes back"
"""Passes gradients back to tensors that keep them."""
ASKS: Final = "asks"
"""Asks for the gradients of a tensor that needs none by itself."""
NEEDS: Final = "needs"
"""Asks for those of a parameter, but of one that was just made."""
FREEZES: Final = "freezes"
"""Says that a tensor needs none."""
GRADIENT: Final = "gradient"
"""Reads a gradient that a tensor keeps, for more than its size."""
SIZE: Final = "size"
"""Reads only the size of one."""
INPUTS: Final = "inputs"
"""Takes the gradients of what a function is handed, and says that it takes none of weights."""
STEPS: Final = "steps"
"""Calls what may make a step of an optimizer, or of something else, that it hands something to."""
UPDATES: Final = "updates"
"""Gives weights new values."""
TOLD: Final = "told"
"""Tells something to train, or chooses the mode for it."""
SPEAK: Final = frozenset({TRAINS, DIFFERENTIATES, PASSES, ASKS, NEEDS, GRADIENT, SIZE})
"""By any of them something may train."""

REQUIRES: Final = ("requires_grad", "requires_grad_")
"""The attribute by which a tensor says whether it needs gradients, and the method that sets it, also of networks."""
_GRAD: Final = "grad"
_TRAIN: Final = "train"
_MODES: Final = frozenset({"fit", "set_train", _TRAIN})
_MODE: Final = "mode"
_STEP: Final = "step"
_CLOSURE: Final = "closure"
_SIZES: Final = frozenset({"abs", "norm"})
_KEPT: Final = frozenset({"bias", "weight"})
"""Attributes under which layers keep parameters."""

MOST_LED_TO: Final = 400
"""Definitions that are looked through for what trains; with more, something may."""

Signs = Mapping[str, frozenset[str]]
"""Definitions of a file's top level, "" for what stands in none -> what is done in them."""


class Training:
    """Reads it off the IR of files; everything asked once is remembered."""

    def __init__(self, resolver: Resolver, meanings: Meanings) -> None:
        self._resolver = resolver
        self._meanings = meanings
        self._known: dict[str, Signs] = {}
        catalog: Catalog = resolver.catalog
        self._trains = catalog.with_context("trains")
        self._only_differentiates = catalog.with_context(ONLY_DIFFERENTIATES)
        self._of_inputs = {
            (name, parameter)
            for entry in catalog.entries
            if ONLY_DIFFERENTIATES in entry.contexts
            for parameter, condition in entry.when.items()
            if condition.given is False
            for name in entry.names
        }
        self._passes_back = catalog.with_context(PASSES_BACK)
        self.parameters = catalog.with_context("parameter")
        self._gradients = {name for framework in catalog.frameworks for name in framework.gradients}
        self._optimizers = tuple(name for framework in catalog.frameworks for name in framework.optimizers)
        self.updates = {name for framework in catalog.frameworks for name in framework.updates}
        self.all_weights = catalog.words_with("weights") | catalog.words_with("named-weights")
        roots = {name.partition(".")[0] for name in (*catalog.calls, *catalog.aliases)}
        self._libraries = {*roots, *catalog.roots, *sys.stdlib_module_names}
        owned = (name.rpartition(".") for name in self._trains)
        self._methods = {last for owner, _, last in owned if resolver.classes.is_class(owner)}

    @cached_property
    def words(self) -> frozenset[str]:
        """The names of which code says one that does anything of all that."""
        full = (*self._trains, *self._gradients, *(name.rstrip(".") for name in self._optimizers))
        return frozenset({*self._resolver.catalog.last(full), *self.updates, *REQUIRES, *_MODES, _GRAD, _STEP})

    def may(self, path: str) -> bool:
        """Whether a file may have any sign of training, by the names that its code has, or as it has something of code that isn't there.
        Nothing rests on it then."""
        code = self._resolver.by_words(path)
        return code is None or not code.identifiers.isdisjoint(self.words) or self.has_others(path)

    def has_others(self, path: str) -> bool:
        """Whether a file imports code that isn't there, and may do anything."""
        module, find = self._resolver.module(path), self._resolver.modules.find
        imports = module.facts.imports if module is not None else ()
        return any(name.partition(".")[0] not in self._libraries and find(path, name) is None for name in imports)

    def signs(self, module: Module) -> Signs:
        """What is done in the parts of a file."""
        self._resolver.opened.add(module.path)
        if module.path not in self._known:
            self._known[module.path] = self._found(module) if self.may(module.path) else {}
        return self._known[module.path]

    def has(self, module: Module, signs: Iterable[str]) -> bool:
        """Whether some part of a file does one of some things."""
        wanted = frozenset(signs)
        return any(not wanted.isdisjoint(found) for found in self.signs(module).values())

    def leads_to(self, module: Module, home: str) -> bool:
        """Whether a file refers to definitions of the program outside of a folder that train, or that refer to such in turn."""
        waiting = [*dict.fromkeys(name for name in self._refers(module, None) if not name.startswith(home))]
        for name in waiting:
            path, _, inside = name.partition("::")
            other, top = self._resolver.module(path), inside.partition(".")[0]
            if other is None or len(waiting) > MOST_LED_TO:
                return len(waiting) > MOST_LED_TO
            if not SPEAK.isdisjoint(self.signs(other).get(top, ())):
                return True
            waiting += dict.fromkeys(named for named in self._refers(other, top) if named not in waiting)
        return False

    def _refers(self, module: Module, top: str | None) -> Iterator[str]:
        """The definitions of the program, `<file>::<top level>`, that a definition of a file refers to, or, of None, any of it."""
        meaning = self._meanings.of(module)
        for function in meaning.code.functions() if meaning is not None else ():
            for at, _ in function.each(op.LOAD, op.ATTR) if top in (None, function.outermost.name) else ():
                path, colon, inside = (
                    meaning.name(function, at).partition("::") if meaning is not None else ("", "", "")
                )
                if colon and inside:
                    yield f"{path}::{inside.partition('.')[0]}"

    def _found(self, module: Module) -> Signs:
        meaning = self._meanings.of(module)
        if meaning is None:  # it is no Python: what it names is made
            named = {
                *module.facts.imports,
                *(site.target.name for site in module.sites if isinstance(site.target, Ref)),
            }
            found = {sign for name in named if (sign := self.of_name(name))}
            return {"": frozenset(found)} if found else {}
        signs: dict[str, set[str]] = {}
        for function in meaning.code.functions():
            found = {*_Read(self, self._resolver, meaning, function).signs()} - {""}
            if found:
                signs.setdefault(function.qualified.partition(".")[0], set()).update(found)
        return {name: frozenset(found) for name, found in signs.items()}

    def knows(self, name: str) -> bool:
        """Whether a full name is of the program, of Python, or of a library that the catalog knows anything of: else it is of code that
        isn't there, and may do anything."""
        path, colon, inside = name.partition("::")
        if colon:
            module = self._resolver.module(path)
            body = module.classes.get(inside) if module is not None else None
            if body is not None:  # who derives from code that isn't there may do what that does
                own = self._resolver.classes.mro(name)
                return self._resolver.classes.knows_bases(name) and all(map(self.knows, own[1:]))
            return module is None or inside in module.functions
        return name.partition(".")[0] in self._libraries

    def is_of_others(self, value: Value | None) -> bool:
        """Whether code that isn't there has made a value, or what it is a part of."""
        while isinstance(value, (Member, Result)):
            value = value.base if isinstance(value, Member) else value.of
        return isinstance(value, Ref) and not self.knows(value.name)

    def says_no_weights(self, name: str, call: Call, function: Function) -> bool:
        """Whether a call of a library is told in so many words that it is to take no gradients of weights."""
        name = self._resolver.catalog.canonical(name)
        given = (call.named[parameter] for of, parameter in self._of_inputs if of == name and parameter in call.named)
        return any(function.constant(value) is None for value in given)

    def of_name(self, name: str) -> str:
        """What is done by who has something of a library, by its full name; "" for nothing."""
        name = self._resolver.catalog.canonical(name)
        if name in self._passes_back:
            return PASSES
        if name in self._only_differentiates or name in self._gradients:
            return DIFFERENTIATES
        if name in self._trains or f"{name}.".startswith(self._optimizers) or name in self._optimizers:
            return TRAINS
        return ""

    def of_method(self, name: str) -> str:
        """What may be done by a method of that name, of an object of which nothing is known; "" for nothing."""
        if name not in self._methods:
            return ""
        if any(full.endswith(f".{name}") for full in self._passes_back):
            return PASSES
        return TRAINS


class _Read:
    """What one function does."""

    def __init__(self, training: Training, resolver: Resolver, meaning: Meaning, function: Function) -> None:
        self._training = training
        self._resolver = resolver
        self._meaning = meaning
        self._function = function

    def signs(self) -> Iterator[str]:
        function, training = self._function, self._training
        strings = function.code.strings
        for at, operation in enumerate(function.ops):
            code = operation[0]
            if code == op.ATTR:
                if strings[operation[2]] in training.words:
                    yield from self._of_attribute(at, strings[operation[2]])
            elif code == op.LOAD:
                if function.binding(operation[1]).owner != function.number or not function.number:
                    yield self._of_library(self._meaning.name(function, at), self._called(at))
            elif code == op.CALL:
                yield self._of_call(at)
            elif code == op.SET_ATTR:
                yield self._of_setting(operation)
            elif code == op.STAR_IMPORT:
                yield training.of_name(f"{self._meaning.name(function, operation[1])}.*")

    def _of_library(self, name: str, call: Call | None) -> str:
        """What is done by who has something, by its full name, and calls it."""
        if not name or "::" in name:
            return ""
        found = self._training.of_name(name)
        if found == DIFFERENTIATES and call and self._training.says_no_weights(name, call, self._function):
            return INPUTS
        return found or (UPDATES if name.rpartition(".")[2] in self._training.updates else "")

    def _of_attribute(self, at: int, word: str) -> Iterator[str]:
        """What is done by reading an attribute, and calling it."""
        name, call = self._meaning.name(self._function, at), self._called(at)
        found = self._of_library(name, call)
        owner = name.rpartition(".")[0]
        is_open = not found and (
            not self._training.knows(name) or owner in self._resolver.types.tensors or word == REQUIRES[1]
        )
        if is_open:
            found = self._of_unknown(
                at, word, call, self._training.is_of_others(self._meaning.value(self._function, at))
            )
        if word in _MODES and (found or is_open or self._resolver.kinds.layer(owner)) and _is_on(self._function, call):
            yield TOLD
        yield found

    def _of_unknown(self, at: int, word: str, call: Call | None, of_others: bool) -> str:
        """What is done by an attribute of an object of which nothing is known.

        Args:
            of_others: whether code that isn't there has made it.
        """
        if word == _GRAD:
            return self._of_gradient(at)
        if word in self._training.updates:
            return UPDATES
        if word == REQUIRES[1]:
            return self._asked(self._function.ops[at][1]) if _is_on(self._function, call) else FREEZES if call else ""
        if word == _STEP and call is not None:
            return TRAINS if {*call.named} <= {_CLOSURE} and not (call.positional or call.unpacked) else STEPS
        if word == _TRAIN and (call is None or not (of_others or self._trains(call))):
            return ""
        return self._training.of_method(word)

    def _called(self, at: int) -> Call | None:
        """The call of a value; None where it isn't called."""
        function = self._function
        calls = (use.op for use in function.users[at] if function.ops[use.op][0] == op.CALL and use.place == 1)
        call = next(calls, None)
        return function.call(call) if call is not None else None

    def _trains(self, call: Call) -> bool:
        """Whether a method that trains, or sets a mode, is told more than a mode."""
        function = self._function
        given = call.positional[0] if call.positional else call.named.get(_MODE, -1)
        if given < 0:
            return bool(call.named or call.unpacked)
        if isinstance(function.constant(given), bool):
            return False
        parameter = function.parameter(given)
        default = function.header.parameters[parameter].default if parameter >= 0 else -1
        return default < 0 or function.parent is None or not isinstance(function.parent.constant(default), bool)

    def _of_gradient(self, at: int) -> str:
        """What is done with a gradient that a tensor keeps, but to ask whether it has one."""
        ops, strings = self._function.ops, self._function.code.strings
        found = set[str]()
        for use in self._function.users[at]:
            operation = ops[use.op]
            word = strings[operation[2]] if operation[0] == op.ATTR else ""
            if word == "data":
                found.add(self._of_gradient(use.op))
            elif word in _SIZES:
                found.add(SIZE)
            elif word != "zero_" and operation[0] != op.COMPARE:
                found.add(GRADIENT)
        return GRADIENT if GRADIENT in found else SIZE if found - {""} else ""

    def _of_setting(self, operation: Sequence[int]) -> str:
        """What is done by setting an attribute."""
        function, word = self._function, self._function.code.strings[operation[2]]
        if word == _GRAD:
            return GRADIENT if function.constant(operation[3]) is not None else ""
        if word in self._training.updates:
            return UPDATES
        if word != REQUIRES[0]:
            return ""
        return self._asked(operation[1]) if self._is_asked(operation[3]) else self._frozen(operation[3])

    def _of_call(self, at: int) -> str:
        """What is done by an argument: `torch.zeros(3, requires_grad=True)`. A parameter needs gradients anyway. A network that is handed
        to code which isn't there may be trained there."""
        function, call = self._function, self._function.call(at)
        asked = call.named.get(REQUIRES[0], -1)
        name = self._meaning.name(function, call.callee)
        if asked >= 0:
            new = name in self._training.parameters
            return self._frozen(asked) or ("" if new or not self._is_asked(asked) else ASKS)
        if not name or self._training.knows(name):
            return ""
        kinds = (self._meaning.kind(function, value) for value in call.values())
        return TRAINS if any(kind and self._resolver.kinds.layer(kind) for kind in kinds) else ""

    def _frozen(self, value: int) -> str:
        return FREEZES if self._function.constant(value) is False else ""

    def _is_asked(self, value: int) -> bool:
        """Whether gradients are asked for: not surely no, nor as another tensor has it."""
        operation, strings = self._function.ops[value], self._function.code.strings
        if operation[0] == op.ATTR and strings[operation[2]] == REQUIRES[0]:
            return False
        return self._function.constant(value) is not False

    def _asked(self, value: int) -> str:
        """Of what gradients are asked for."""
        function, training = self._function, self._training
        made = function.stored(value) if function.ops[value][0] == op.LOAD else [value]
        if made and all(self._makes_parameter(each) for each in made):
            return ""
        value = function.meant(value)
        operation = function.ops[value]
        if operation[0] == op.ATTR and function.code.strings[operation[2]] in _KEPT:
            return NEEDS
        parts = (value, operation[1]) if operation[0] == op.ATTR else (value,)
        kinds = {self._meaning.kind(function, part) for part in parts} - {""}
        if not kinds.isdisjoint(training.parameters) or any(self._resolver.kinds.layer(kind) for kind in kinds):
            return NEEDS
        while operation[0] == op.PART:
            operation = function.ops[operation[1]]
        of = function.ops[function.meant(operation[1])] if operation[0] == op.FOR else operation
        callee = function.ops[of[1]] if of[0] == op.CALL else of
        through = callee[0] == op.ATTR and function.code.strings[callee[2]] in training.all_weights
        return NEEDS if through else ASKS

    def _makes_parameter(self, value: int) -> bool:
        operation = self._function.ops[value]
        return operation[0] == op.CALL and self._meaning.name(self._function, operation[1]) in self._training.parameters


def _is_on(function: Function, call: Call | None) -> bool:
    """Whether a call chooses a mode, and not surely the one that doesn't train, or asks for no gradients."""
    if call is None:
        return False
    given = [*call.positional[:1], *(call.named[word] for word in (_MODE, *REQUIRES) if word in call.named)]
    return all(function.constant(value) is not False for value in given)

"""Parts of networks that a configuration describes, and that the constructor which is handed the description makes and freezes:
`first_stage_config: {target: ldm.AutoencoderKL, params: ...}` in what describes a whole network.

The configuration says which class's constructor is handed the description, and as which parameter. What becomes of it there is followed
through methods of the object itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from detlint.domains.gradient.freezing import Held, name_of
from detlint.ir import ops as op
from detlint.ir.code import Binding, Code, Function
from detlint.ir.records import REST
from detlint.ir.yaml_nodes import shares
from detlint.model.meaning import Meaning
from detlint.model.module import Module
from detlint.model.sites.records import TAKES_OUT, Items, Mapping, Ref, Result, Site, Value
from detlint.model.uses import Users

_DEEPEST: Final = 4
"""Methods that hand a description on to others."""


class Configured:
    """Finds such parts.

    Args:
        freezes: whether a function freezes what has a name before it does anything else with it.
    """

    def __init__(self, users: Users, freezes: Callable[[Held], bool]) -> None:
        self._users = users
        self._resolver = users.resolver
        self._freezes = freezes

    def holds(self, module: Module, index: int) -> bool:
        """Whether what a site of a configuration describes is frozen by each constructor that is handed the description."""
        documents = self._users.index.yaml(module.path)
        if documents is None or shares(documents):
            return False
        held = [(site, arg.name, _place(arg.value, index)) for site in module.sites for arg in site.args]
        found = [(site, name, deep) for site, name, deep in held if deep is not None]
        return bool(found) and all(not deep and self._is_frozen_by(module, site, name) for site, name, deep in found)

    def _is_frozen_by(self, module: Module, site: Site, name: str) -> bool:
        """Whether the constructor that a site calls freezes what it makes of a parameter, and nobody else is handed that."""
        made = self._resolver.normal(module.path, site.target)
        if not (isinstance(made, Ref) and "::" in made.name and name.isidentifier() and name.isascii()):
            return False
        project = self._users.project(self._resolver.known(made.name.partition("::")[0]))
        codes = filter(None, map(self._resolver.code, self._users.index.saying(name, project)))
        others = any(_takes_out(code, name) for code in codes)
        return not others and self._only_freezes(made.name, "__init__", name, _DEEPEST)

    def _only_freezes(self, made: str, method: str, parameter: str | int, deepest: int) -> bool:
        """Whether all that a method of a class makes of a parameter is frozen there, or by the methods that it hands that to.

        Args:
            parameter: its name, or its position, counted from the object itself.
        """
        found = self._resolver.classes.attribute(made, method) if deepest else None
        defined = self._users.meanings.definition(found.name) if isinstance(found, Ref) else None
        if defined is None or defined[1].decorators:
            return False
        meaning, function = defined
        slot = _slot(function, parameter)
        reads = function.code.reads(Binding(function.number, slot)) if slot > 0 else ()
        left = [(home, at) for home, at in reads if not _is_only_asked(home, at)]
        return bool(left) and all(
            home is function and self._keeps_frozen(meaning, function, at, made, deepest) for home, at in left
        )

    def _keeps_frozen(self, meaning: Meaning, function: Function, at: int, made: str, deepest: int) -> bool:
        """Whether a description is handed to a call that gives what is frozen at once, or that is of a method which does so itself."""
        uses = function.users[at]
        call = uses[0].op if len(uses) == 1 and uses[0].place > 1 and function.ops[uses[0].op][0] == op.CALL else -1
        given = function.call(call) if call >= 0 else None
        if given is None or given.values() != (at,):
            return False
        if function.users[call]:
            name = name_of(function, function.users[call][0].op) if len(function.users[call]) == 1 else ""
            return name != "" and self._freezes(Held(meaning, function, function.users[call][0].op, name))
        method = function.own(given.callee)
        word = next(iter(given.named), "")
        return method != "" and self._only_freezes(made, method, word or 1, deepest - 1)


def _place(value: Value | None, index: int) -> bool | None:
    """Whether what a site builds is inside of a value; False where it is the value itself, None where it isn't there."""
    if isinstance(value, Result):
        return False if value.site == index else None
    parts = value.values if isinstance(value, (Items, Mapping)) else ()
    return True if any(_place(part, index) is not None for part in parts) else None


def _takes_out(code: Code, name: str) -> bool:
    """Whether a file takes what has a name out of the description around it: `config.name`, `config["name"]`, `config.get("name")`."""
    if any(code.function(number).ops[at][0] == op.ATTR for number, at in code.attributes.get(name, ())):
        return True
    rows = {row for row, value in enumerate(code.constants) if value == name}
    return bool(rows) and any(
        operation[1] in rows and any(_asks(function, use.op) for use in function.users[at])
        for function in code.each_once()
        for at, operation in function.each(op.CONST)
    )


def _asks(function: Function, at: int) -> bool:
    return function.ops[at][0] == op.ITEM or function.called(at) in TAKES_OUT


def _slot(function: Function, parameter: str | int) -> int:
    """The slot of a parameter that may be given by position, but of the object itself; -1 for none."""
    taken = [slot for slot, one in enumerate(function.header.parameters) if one.kind < REST]
    if isinstance(parameter, int):
        return parameter if parameter in taken else -1
    return next((slot for slot in taken if function.text(slot) == parameter), -1)


def _is_only_asked(function: Function, at: int) -> bool:
    """Whether nothing is made of a value: it, or something in it, is compared, or counted."""
    for use in function.users[at]:
        operation = function.ops[use.op]
        counted = operation[0] == op.CALL and use.place > 1 and function.is_builtin(operation[1], "len")
        inside = operation[0] in (op.ATTR, op.ITEM) and use.place == 1 and _is_only_asked(function, use.op)
        if not (operation[0] == op.COMPARE or counted or inside):
            return False
    return bool(function.users[at])

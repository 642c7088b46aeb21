"""Which values are tables of settings: read from a file or a command line, or handed on from who has read them.

What it may assume: whoever is given such a table and makes something of it without being of the program gives one back; an object of the
program is one if its class keeps what it is told under names that aren't written out, or has no more than fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from detlint.db import Memo
from detlint.ir import ops as op
from detlint.ir.code import Binding, Function
from detlint.ir.records import REST
from detlint.ir.writes import OWN, Writes
from detlint.model.meaning import Meaning
from detlint.model.module import Module
from detlint.model.places import call_of, point_of
from detlint.model.resolve import Resolver
from detlint.model.sites.records import PARSES, Instance, Member, Param, Ref, Result, Value
from detlint.model.uses import Use, Users

READS: Final = frozenset({
    "absl.flags.FLAGS", "confuse.Configuration", "configparser.ConfigParser", "hydra.compose", "json.load", "json.loads",
    "jsonargparse.ArgumentParser", "mmcv.Config.fromfile", "mmengine.Config.fromfile", "omegaconf.OmegaConf.create",
    "omegaconf.OmegaConf.from_cli", "omegaconf.OmegaConf.load", "omegaconf.OmegaConf.merge", "omegaconf.OmegaConf.structured", "toml.load",
    "toml.loads", "tomllib.load", "tomllib.loads", "yaml.full_load", "yaml.load", "yaml.safe_load", "yaml.unsafe_load",
})  # fmt: skip
"""What gives what a file or a command line says."""
TABLES: Final = frozenset({
    "addict.Dict", "argparse.Namespace", "box.Box", "builtins.dict", "collections.OrderedDict", "collections.UserDict",
    "collections.namedtuple", "easydict.EasyDict", "ml_collections.ConfigDict", "ml_collections.config_dict.ConfigDict", "munch.Munch",
    "omegaconf.DictConfig", "pydantic.BaseModel", "pydantic.BaseSettings", "pydantic_settings.BaseSettings", "tap.Tap",
    "transformers.PretrainedConfig", "transformers.TrainingArguments", "types.SimpleNamespace", "typing.NamedTuple", "typing.TypedDict",
    "yacs.config.CfgNode",
})  # fmt: skip
"""Classes of libraries whose objects are tables that may hold settings, and from which such of the program derive."""
RECORDS: Final = ("attr.", "attrs.", "dataclasses.", "pydantic.")
"""Where the decorators come from that make a class a record of its fields."""
FILLED: Final = frozenset({"hydra.main", "pyrallis.wrap", "sacred.Experiment.capture"})
"""Decorators that hand a function a table of settings."""
_DYNAMIC: Final = frozenset({"__getattr__", "__getitem__", "__getattribute__"})
_DEEPEST: Final = 12
"""So many steps a value is followed back."""


class Settings:
    """Follows values back to where they come from."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self._resolver = users.resolver
        self._parameters: Memo[bool] = Memo(users.db)
        self._classes: Memo[bool] = Memo(users.db)

    def holds(self, module: Module, value: Value | None, inside: str) -> bool:
        """Whether a value of a function, as facts have it, is a table of settings.

        Args:
            inside: the function's name inside its file; "" for the top level.
        """
        if isinstance(value, Member):
            return self.holds(module, value.base, inside) or self._is_kept(module, value, inside)
        if isinstance(value, Result) and value.site >= 0:
            point = point_of(self._resolver, module, module.sites[value.site])
            return point is not None and self.is_table(module, *point)
        if isinstance(value, (Param, Instance)) and value.name:
            function = self._function(module, inside)
            slot = slot_of(function, value.name) if function is not None else -1
            return function is not None and slot >= 0 and self._is_given(module, function, slot, 0)
        return isinstance(value, Ref) and self._is_named(module, value)

    def is_table(self, module: Module, function: Function, at: int, depth: int = 0) -> bool:
        """Whether a value of a function is one."""
        if depth > _DEEPEST:
            return False
        operation, more = function.ops[at], depth + 1
        code = operation[0]
        if code in (op.ATTR, op.ITEM):
            return self.is_table(module, function, operation[1], more) or self._is_attribute(module, function, at, more)
        if code in (op.STORE, op.AWAIT, op.PART, op.STAR, op.WITH):
            return self.is_table(module, function, operation[2 if code == op.STORE else 1], more)
        if code == op.CHOICE:
            return any(self.is_table(module, function, arm, more) for arm in operation[2:])
        if code == op.LOAD:
            return self._is_loaded(module, function, at, more)
        return code == op.CALL and self._is_made(module, function, at, more)

    def _is_loaded(self, module: Module, function: Function, at: int, depth: int) -> bool:
        given = function.given(at)
        if given is not None:
            return self._is_given(module, *given, depth)
        stored = function.stored(at)
        if stored is not None:
            return any(self.is_table(module, function, value, depth) for value in stored)
        binding = function.binding(function.ops[at][1])
        if binding.owner:
            return any(self.is_table(module, *store, depth) for store in function.code.stores(binding))
        meaning = self._meaning(module)
        return meaning is not None and self._is_named(module, meaning.value(function, at), depth)

    def _is_named(self, module: Module, value: Value | None, depth: int = 0) -> bool:
        """Whether a name of a library, or of the top level of a file, means one."""
        normal = self._resolver.normal(module.path, value) if value is not None else None
        if not isinstance(normal, Ref):
            of = normal.of if isinstance(normal, Result) else None
            return isinstance(of, Ref) and self._gives(of.name, depth)
        path, colon, name = normal.name.partition("::")
        if not colon:
            return normal.name in READS
        home = self._resolver.module(path)
        code = self._resolver.code(path) if home is not None else None
        slots = code.module.slots.get(name, ()) if code is not None else ()
        stores = (store for slot in slots for store in (code.stores(Binding(0, slot)) if code is not None else ()))
        return home is not None and any(
            one.ops[at][0] == op.STORE and self.is_table(home, one, at, depth + 1) for one, at in stores
        )

    def _is_made(self, module: Module, function: Function, at: int, depth: int) -> bool:
        """Whether a call gives one."""
        call, meaning = function.call(at), self._meaning(module)
        if function.called(at) in PARSES and function.called_on(at) >= 0:
            return True
        name = meaning.name(function, call.callee) if meaning is not None else ""
        if "::" in name:
            return self._gives(name, depth)
        if name in READS or name in TABLES:
            return True
        on = function.called_on(at)
        taken = (*call.values(), *([on] if on >= 0 and not name else []))
        return any(self.is_table(module, function, value, depth) for value in taken)

    def _gives(self, name: str, depth: int) -> bool:
        """Whether what is called by a full name gives one: a function by what it returns, a class by what it keeps."""
        path, colon, inside = name.partition("::")
        home = self._resolver.module(path) if colon else None
        if home is None:
            return name in READS or name in TABLES
        if inside in home.classes:
            return self._classes.of(name, lambda: makes_tables(self._resolver, name), False)
        body = self._function(home, inside)
        returns = (operation[1] for _, operation in body.each(op.RETURN)) if body is not None else ()
        return body is not None and any(self.is_table(home, body, value, depth) for value in returns)

    def _is_given(self, module: Module, function: Function, slot: int, depth: int) -> bool:
        """Whether some call gives a parameter one, or its annotation says that it is one."""
        if slot == 0 and function.receives:
            return function.parent is not None and self._gives(f"{module.path}::{function.parent.qualified}", depth)
        key = (module.path, function.number, slot)
        return self._parameters.of(key, lambda: self._finds_given(module, function, slot, depth), False)

    def _finds_given(self, module: Module, function: Function, slot: int, depth: int) -> bool:
        meaning, around = self._meaning(module), function.parent
        if meaning is None or around is None:
            return False
        annotation = function.header.parameters[slot].annotation
        if annotation >= 0 and any(self._gives(name, depth) for name in meaning.names(around, annotation)):
            return True
        decorated = (meaning.names(around, value) for value in self._deciding(function))
        if slot == 0 and any(not FILLED.isdisjoint(names) for names in decorated):
            return True
        default = function.header.parameters[slot].default
        if default >= 0 and self.is_table(module, around, default, depth):
            return True
        made = function.parent.qualified if function.name == "__init__" and function.parent else function.qualified
        return any(
            self.is_table(use.module, *handed, depth)
            for use in self._users.each(module, made)
            for handed in self._handed(use, function, slot)
        )

    @staticmethod
    def _deciding(function: Function) -> Iterator[int]:
        """What decorates a function: the decorators, and what those are made by."""
        around = function.parent
        for value in function.decorators if around is not None else ():
            yield value
            if around is not None and around.ops[value][0] == op.CALL:
                yield around.ops[value][1]

    def _handed(self, use: Use, function: Function, slot: int) -> Iterator[tuple[Function, int]]:
        """The value that a use of a function hands a parameter, and where that stands."""
        if use.site < 0 or not use.called:
            return
        point = call_of(self._resolver, use.module, use.module.sites[use.site])
        if point is None:
            return
        position = slot - bool(function.receives) if function.header.parameters[slot].kind < REST else -1
        given = point.function.call(point.at).argument(position, function.text(slot))
        if given >= 0:
            yield point.function, given

    def _is_attribute(self, module: Module, function: Function, at: int, depth: int) -> bool:
        """Whether a method of a class keeps one under an attribute that a value is of the object itself."""
        name, body = (
            function.own(at),
            function.receiver(function.ops[at][1]) if function.ops[at][0] == op.ATTR else None,
        )
        return name != "" and body is not None and self._keeps(module, body, name, depth)

    def _keeps(self, module: Module, body: Function, name: str, depth: int) -> bool:
        inside = {one.number for one in body.code.inside(body.number)}
        return any(
            self.is_table(module, one, one.ops[at][3], depth)
            for one, at in body.code.setters(name)
            if one.number in inside and one.own(at) == name and one.ops[at][0] == op.SET_ATTR
        )

    def _is_kept(self, module: Module, value: Member, inside: str) -> bool:
        """The same of an attribute as facts have it."""
        function = self._function(module, inside)
        owner = function.parent if function is not None else None
        own = isinstance(value.base, Instance) and not value.base.name
        return own and owner is not None and owner.is_class and self._keeps(module, owner, value.attr, 0)

    def _meaning(self, module: Module) -> Meaning | None:
        return self._users.meanings.of(module)

    def _function(self, module: Module, inside: str) -> Function | None:
        code = self._resolver.code(module.path)
        found = code.by_name.get(inside, ()) if code is not None else ()
        return found[0] if len(found) == 1 else None


def makes_tables(resolver: Resolver, name: str) -> bool:
    """Whether the objects of a class are tables: it derives from such, is a record, or keeps what it is told by any name.

    Args:
        name: its full name.
    """
    for base in resolver.classes.mro(name):
        path, colon, inside = base.partition("::")
        home = resolver.module(path) if colon else None
        if home is None:
            if base in TABLES:
                return True
            continue
        body, code = home.classes.get(inside), resolver.code(path)
        if resolver.kinds.layer(base) is not None or body is None:
            return False
        named = (resolver.normal(path, one.of if isinstance(one, Result) else one) for one in body.decorators)
        is_record = any(isinstance(one, Ref) and one.name.startswith(RECORDS) for one in named)
        writes = Writes(code).by_any_name(inside) if code is not None else ()
        keeps_any = any(write.of != OWN and _is_of(write.function, write.of, inside) for write in writes)
        dynamic = _DYNAMIC.intersection(body.methods)
        is_sequence = dynamic == {"__getitem__"} and "__len__" in body.methods and "keys" not in body.methods
        if is_record or keeps_any or (dynamic and not is_sequence):
            return True
    return False


def slot_of(function: Function, name: str) -> int:
    """The parameter of a name; -1 for none."""
    return next((slot for slot, _ in enumerate(function.header.parameters) if function.text(slot) == name), -1)


def _is_of(function: Function, value: int, owner: str) -> bool:
    """Whether a value is the object itself, in a method of a class."""
    body = function.receiver(function.meant(value)) if value >= 0 else None
    return body is not None and body.qualified == owner

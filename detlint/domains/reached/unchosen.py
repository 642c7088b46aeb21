"""Definitions that a registry keeps under names of their own, and that nobody chooses: files of settings name another one of the same
file, and nothing says the name of this one.

Whoever runs a project may choose it yet; so what is found in such a definition is a note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final

from detlint.db import Memo
from detlint.domains.constant.configuration import settings_folder
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.places import Place
from detlint.ir.yaml_text import is_yaml
from detlint.model.exports import ALL
from detlint.model.launches.chosen import SAID, UNKNOWN
from detlint.model.launches.documents import Documents
from detlint.model.module import Module
from detlint.model.references import block_of, is_listed, saying, spelling
from detlint.model.registries import Kept
from detlint.model.sites.records import Const, Member, Ref, Result, Value
from detlint.model.uses import Users

_LISTING: Final = ("list_models", "list_modules")
"""What gives the names of all that is registered."""
_OF_TABLES: Final = ("values", "items", "keys", "dict")
"""How the names of what a registry has end by which code comes to all of it."""
_SHORTEST: Final = 3
"""Letters of a name by which it may begin to be put together."""
_HOLES: Final = ("{", "%")


class Unchosen:
    """Finds such definitions.

    Args:
        documents: knows what settings and documents say.
        is_in_library: whether others use what a file has.
        kept_by: what importing a file puts into registries.
    """

    def __init__(
        self,
        users: Users,
        documents: Documents,
        is_in_library: Callable[[Module], bool],
        kept_by: Callable[[Module], Iterable[Kept]],
    ) -> None:
        self._users = users
        self._index = users.index
        self._documents = documents
        self._is_in_library = is_in_library
        self._kept_by = kept_by
        self._answers: Memo[bool] = Memo(users.db)
        self._by_nobody: Memo[bool] = Memo(users.db)
        self._choosing: Memo[list[str]] = Memo(users.db)

    def holds(self, module: Module, name: str) -> bool:
        """Whether a definition of a file's top level is one."""
        return self._answers.of((module.path, name), partial(self._finds_out, module, name), False)

    def _finds_out(self, module: Module, name: str) -> bool:
        registry, names = self._registered(module, name)
        others = [words for other, words in self._all(module) if other == registry and words != names]
        if not (registry and names and others) or self._is_in_library(module):
            return False
        folder = settings_folder(self._users, self._documents, module)
        if not any(self._is_chosen(module, word, folder) for words in others for word in words):
            return False
        if self._is_named(module, name, names, folder) or self._may_be_put_together(names, folder):
            return False
        if self._goes_through(registry, folder):
            return False
        said = (self._documents.chosen(folder, word, SAID) for word in names)
        return not any(found.spoken or found == UNKNOWN for found in said)

    def by_nobody(self, module: Module, name: str) -> bool:
        """Whether nobody chooses what a registry has by one of its names, whatever else is chosen: they are neither a text in code,
        nor in files of settings."""
        return self._by_nobody.of((module.path, name), partial(self._finds_nobody, module, name), False)

    def _finds_nobody(self, module: Module, name: str) -> bool:
        registry, names = self._registered(module, name)
        folder = settings_folder(self._users, self._documents, module)
        if not registry or self._may_be_put_together(names, folder) or self._goes_through(registry, folder):
            return False
        for path in self._index.saying_any(names, folder):
            code = self._users.resolver.code(path)
            if code is None or not all(map(is_listed, spelling(code, names))):
                return False
        said = (self._documents.chosen(folder, word, SAID) for word in names)
        return not any(found.spoken or found == UNKNOWN for found in said)

    def _is_chosen(self, module: Module, word: str, folder: str) -> bool:
        """Whether a file of settings, or a text in the code of another file, is a name."""
        choosing = self._choosing.of((word, folder), lambda: [*islice(self._find_choosing(word, folder), 2)], [])
        return any(is_yaml(path) or path != module.path for path in choosing)

    def _find_choosing(self, word: str, folder: str) -> Iterator[str]:
        """The files of settings below a folder that say a name, and those whose code has a text that is it."""
        for path in self._index.saying(word, folder):
            code = self._users.resolver.code(path)
            if code is None or word in code.texts:
                yield path

    def _is_named(self, module: Module, name: str, names: Sequence[str], folder: str) -> bool:
        """Whether anything says one of the names of a definition, but itself, what lists or tells of it by that name, and imports of
        the whole file."""
        for path in self._index.saying_any(names, folder):
            if path != module.path:
                return True
        code = self._users.resolver.code(module.path)
        return code is None or any(_means(place) for place in saying(code, names) if block_of(place) != name)

    def _may_be_put_together(self, names: Sequence[str], folder: str) -> bool:
        """Whether code below a folder may put one of some names together, or settings may give a part of it."""
        for name in names:
            begins = [*_begins(name)]
            for path in self._index.saying_any(sorted({*begins}), folder) if begins else ():
                code = self._users.resolver.code(path)
                if code is None and (not is_yaml(path) or self._index.has_name(path, begins[-1])):
                    return True
                if code is not None and any(_may_begin(text, begins) for text in code.texts):
                    return True
        return False

    def _goes_through(self, registry: str, folder: str) -> bool:
        """Whether code below a folder may come to all that is registered."""
        owner = registry.rpartition(".")[0].rpartition(".")[2]
        for path in self._index.saying_any([*_LISTING, ALL, *filter(None, (owner,))], folder):
            code = self._users.resolver.code(path)
            if code is not None and any(_goes_through(function, owner) for function in code.functions()):
                return True
        return False

    def _all(self, module: Module) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The registries into which a file's top level puts definitions, and the names of these there."""
        functions = (function.name for function in module.facts.functions if not function.owner)
        for name in (*functions, *(body.name for body in module.facts.classes)):
            if "." not in name:
                yield self._registered(module, name)

    def _registered(self, module: Module, name: str) -> tuple[str, tuple[str, ...]]:
        """The registry into which the only decorator of a definition puts it, and by which names; "" and none for any other."""
        decorators: tuple[Value | None, ...] = ()
        if name in module.functions:
            decorators = module.detail(module.functions[name]).decorators
        elif name in module.classes:
            decorators = module.classes[name].decorators
        made = decorators[0] if len(decorators) == 1 else None
        names = [name]
        if isinstance(made, Result):
            given = [arg.value for arg in module.sites[made.site].args] if made.site >= 0 else [None]
            texts = [
                value.value for value in given if isinstance(value, Const) and isinstance(value.value, (str, bool))
            ]
            if len(texts) < len(given):
                return "", ()
            names += [text for text in texts if isinstance(text, str)]
            made = made.of
        kept = (each.definition.name for each in self._kept_by(module)) if made is not None else ()
        if made is None or f"{module.path}::{name}" not in kept:
            return "", ()
        plain = all(word.isidentifier() and word.isascii() for word in names)
        return (_spelled(made), tuple(dict.fromkeys(names))) if plain else ("", ())


def _means(place: Place) -> bool:
    """Whether something that is said at a place may choose what has that name: it neither lists it, nor decorates a definition, nor
    only tells of it in a table by that name."""
    function, at = place
    if function.number:
        return True
    made = (operation for _, operation in function.each(op.FUNCTION, op.CLASS))
    decorating = (decorator for operation in made for decorator in operation[3 : 3 + operation[2]])
    if is_listed(place) or any(at in function.within(decorator) for decorator in decorating):
        return False
    uses = function.users[at]
    return not uses or any(function.ops[use.op][0] != op.DICT or not use.place % 2 for use in uses)


def _begins(name: str) -> Iterator[str]:
    """By what a name may begin that is put together of parts: `f"resnet{depth}"`, `"vit_" + size`; the shortest first."""
    for end in range(_SHORTEST, len(name)):
        last, following = name[end - 1], name[end]
        if (last == "_" and following != "_") or (last.isalpha() and following.isdigit()):
            yield name[:end]
            yield name[:end].rstrip("_")


def _may_begin(text: str, begins: Sequence[str]) -> bool:
    """Whether a text is a beginning of a name, alone or before what is filled in."""
    return any(text == begin or text.startswith(tuple(begin + hole for hole in _HOLES)) for begin in begins)


def _goes_through(function: Function, owner: str) -> bool:
    """Whether a function may come to all that a registry has, or a file gives out.

    Args:
        owner: the name of the registry.
    """
    strings = function.code.strings
    for at, operation in function.each(op.CALL, op.LOAD, op.ATTR):
        if operation[0] == op.CALL:
            if function.called(at) in _LISTING:
                return True
            continue
        word = function.text(operation[1]) if operation[0] == op.LOAD else strings[operation[2]]
        listed = word == ALL and operation[0] == op.ATTR
        for use in function.users[at] if listed or (owner and word == owner) else ():
            taking = function.ops[use.op]
            if taking[0] == op.FOR or (taking[0] == op.COMPARE and use.place > 1):
                return True
            if taking[0] == op.ATTR and not listed and strings[taking[2]].endswith(_OF_TABLES):
                return True
    return False


def _spelled(value: Value) -> str:
    """A dotted name as the code has it; "" for anything else."""
    if isinstance(value, Member):
        base = _spelled(value.base)
        return f"{base}.{value.attr}" if base else ""
    return value.name if isinstance(value, Ref) else ""

"""Definitions that a registry keeps under names of their own, and that nobody chooses: files of settings name another one of the same
file, and nothing says the name of this one.

Whoever runs a project may choose it yet; so what is found in such a definition is a note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final

from detlint.checks.settled import settings_folder
from detlint.facts.model import Const, Member, Ref, Result, Value
from detlint.facts.yaml_text import is_yaml
from detlint.model.documents import Documents
from detlint.model.settings import SAID, UNKNOWN
from detlint.program.answers import Answers
from detlint.program.registries import last
from detlint.program.resolve import Module
from detlint.program.texts import TOP, says
from detlint.program.users import Users

_REGISTERS: Final = "register"
"""How the names of decorators begin that only put a definition into a registry."""
_LISTED: Final = re.compile(rb"^__all__[ \t]*\+?=[ \t]*(?:\[[^\]]*\]|\([^)]*\))", re.M)
_DECORATED: Final = re.compile(rb"^@.*$", re.M)
_LISTING: Final = ("list_models", "list_modules", "__all__")
_GOES_THROUGH: Final = re.compile(rb"(?<!def )\blist_(?:models|modules)\(|\bin\s+[\w.]+\.__all__\b")
"""By what code comes to all that is registered."""
_PARTS: Final = re.compile(r"_+|(?<=[^\W\d_])(?=\d)")
"""Where a name may be put together of parts: `f"resnet{depth}"`, `"vit_" + size`."""
_SHORTEST: Final = 3


class Unchosen:
    """Finds such definitions.

    Args:
        documents: knows what settings and documents say.
        is_in_library: whether others use what a file has.
    """

    def __init__(self, users: Users, documents: Documents, is_in_library: Callable[[Module], bool]) -> None:
        self._users = users
        self._texts = users.texts
        self._documents = documents
        self._is_in_library = is_in_library
        self._answers: Answers[bool] = Answers(users)
        self._by_nobody: Answers[bool] = Answers(users)
        self._choosing: Answers[list[str]] = Answers(users)

    def holds(self, module: Module, name: str) -> bool:
        """Whether a definition of a file's top level is one."""
        return self._answers.of((module.path, name), partial(self._finds_out, module, name), False)

    def _finds_out(self, module: Module, name: str) -> bool:
        registry, names = registered(module, name)
        others = [words for other, words in _all(module) if other == registry and words != names]
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
        registry, names = registered(module, name)
        folder = settings_folder(self._users, self._documents, module)
        if not registry or self._may_be_put_together(names, folder) or self._goes_through(registry, folder):
            return False
        quoted = re.compile(rb"[\"'](?:%s)[\"']" % b"|".join(word.encode() for word in names))
        for path in self._texts.saying_any(names, folder):
            self._users.resolver.opened.add(path)
            if is_yaml(path) or quoted.search(_LISTED.sub(b"", self._texts.of(path) or b"")):
                return False
        said = (self._documents.chosen(folder, word, SAID) for word in names)
        return not any(found.spoken or found == UNKNOWN for found in said)

    def _is_chosen(self, module: Module, word: str, folder: str) -> bool:
        """Whether a file of settings, or a text in the code of another file, is a name."""
        choosing = self._choosing.of((word, folder), lambda: [*islice(self._find_choosing(word, folder), 2)], [])
        path = next((path for path in choosing if is_yaml(path) or path != module.path), "")
        self._users.resolver.opened.update({path} - {""})
        return path != ""

    def _find_choosing(self, word: str, folder: str) -> Iterator[str]:
        """The files of settings below a folder that say a name, and those whose code has a text that is it."""
        quoted = re.compile(rb"[\"']%s[\"']" % word.encode())
        for path in self._texts.saying(word, folder):
            if is_yaml(path) or quoted.search(self._texts.of(path) or b""):
                yield path

    def _is_named(self, module: Module, name: str, names: Sequence[str], folder: str) -> bool:
        """Whether anything says one of the names of a definition, but itself, what lists or tells of it by that name, and imports of
        the whole file."""
        for path in self._texts.saying_any(names, folder):
            self._users.resolver.opened.add(path)
            if path != module.path:
                return True
        words = b"|".join(word.encode() for word in names)
        tells = re.compile(rb"([\"'])(?:(?!(?:%s)\1)[^\"'\n]*\1|(?:%s)\1(?=\s*:))" % (words, words))
        for block in self._texts.blocks(module.path):
            text = block.text
            if block.name == TOP:
                text = tells.sub(b"", _DECORATED.sub(b"", _LISTED.sub(b"", text)))
            if block.name != name and any(says(text, word) for word in names):
                return True
        return False

    def _may_be_put_together(self, names: Sequence[str], folder: str) -> bool:
        """Whether code below a folder may put one of some names together, or settings may give a part of it."""
        for name in names:
            ends = [found.end() for found in _PARTS.finditer(name) if _SHORTEST <= found.end() < len(name)]
            begins = {begin for end in ends for begin in (name[:end], name[:end].rstrip("_"))}
            texts = rb"[\"'](?:%s)[\"'{%%]" % b"|".join(re.escape(begin.encode()) for begin in begins)
            for path in self._texts.saying_any(sorted(begins), folder) if begins else ():
                self._users.resolver.opened.add(path)
                text = self._texts.of(path)
                if (
                    text is None
                    or (is_yaml(path) and says(text, name[: max(ends)].rstrip("_")))
                    or re.search(texts, text)
                ):
                    return True
        return False

    def _goes_through(self, registry: str, folder: str) -> bool:
        """Whether code below a folder may come to all that is registered."""
        owner = re.split(r"\W", registry.rpartition(".")[0])[-1]
        through = re.compile(rb"\bin\s+(?:\w+\.)*%s\b|\b%s\.\w*(?:values|items|keys|dict)\b" % ((owner.encode(),) * 2))
        for path in self._texts.saying_any([*_LISTING, *filter(None, (owner,))], folder):
            text = self._texts.of(path)
            if text is None or self._does(path, text, _GOES_THROUGH) or (owner and self._does(path, text, through)):
                self._users.resolver.opened.add(path)
                return True
        return False

    def _does(self, path: str, text: bytes, what: re.Pattern[bytes]) -> bool:
        """Whether the code of a file does something, and not only its comments and texts."""
        if what.search(text) is None or not path.endswith(".py"):
            return what.search(text) is not None
        return any(what.search(block.text) for block in self._texts.blocks_of_code(path))


def _all(module: Module) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The registries into which a file's top level puts definitions, and the names of these there."""
    functions = (function.name for function in module.facts.functions if not function.owner)
    for name in (*functions, *(body.name for body in module.facts.classes)):
        if "." not in name:
            yield registered(module, name)


def registered(module: Module, name: str) -> tuple[str, tuple[str, ...]]:
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
        texts = [value.value for value in given if isinstance(value, Const) and isinstance(value.value, (str, bool))]
        if len(texts) < len(given):
            return "", ()
        names += [text for text in texts if isinstance(text, str)]
        made = made.of
    if made is None or not last(made).startswith(_REGISTERS):
        return "", ()
    plain = all(word.isidentifier() and word.isascii() for word in names)
    return (_spelled(made), tuple(dict.fromkeys(names))) if plain else ("", ())


def _spelled(value: Value) -> str:
    """A dotted name as the code has it; "" for anything else."""
    if isinstance(value, Member):
        base = _spelled(value.base)
        return f"{base}.{value.attr}" if base else ""
    return value.name if isinstance(value, Ref) else ""

"""Projects in which nothing trains, and networks that refuse to be trained: what varies in a backward pass is nobody's concern there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from detlint.catalog import Catalog
from detlint.checks.training_code import OPTIMIZERS, TrainingCode
from detlint.checks.unnamed import Unnamed
from detlint.notebook import is_notebook
from detlint.program.answers import Answers
from detlint.program.calls import ONLY_DIFFERENTIATES, PASSES_BACK
from detlint.program.resolve import Module
from detlint.program.texts import MAIN, TOP
from detlint.program.users import ANYWHERE, Users

_TRAIN: Final = rb"\.train\(\s*(?!True\b|False\b|mode\b|\))"
"""A method that trains; without arguments it only sets a mode."""
_ORDERS: Final = re.compile(rb"\.(?:set_train|train|fit)\(\s*(?!(?:mode\s*=\s*)?False\b)")
"""A method that trains, or that chooses the mode for it."""
_HANDS: Final = re.compile(
    rb"\b(?:data_sink|SequentialCell|CellList|atexit|partial|Thread)\b|\bgetattr\([^()]*[\"'](?:construct|__call__)|\.(?:construct|__call__)\b"
)
"""What calls a layer in another way."""
_LOSS: Final = re.compile(rb"(?<!def )\b\w*(?i:loss|entropy)\w*\(")
"""What computes a loss."""
_GRADIENTS: Final = rb"requires_grad(?!_?\(?\s*(?:=\s*)?False)"
"""Whoever asks for gradients by hand."""
_UPDATES: Final = rb"assign|apply_gradients|minimize|\btrainable(?!_params)"
"""Whoever gives weights new values, with gradients in hand."""
_SIZE: Final = re.compile(rb"\.grad(?:\.data)?\.(?:abs|norm)\(")
"""Whoever asks for the size of gradients that tensors keep."""
_STEPS: Final = rb"\.step\(|\.grad\b(?!(?:\.data)?\.(?:abs|norm|zero_)\(| *= *None| is )"
"""Whoever makes more than that of them."""


class Untrained:
    """Looks for what trains in the texts of a file's project.

    Args:
        unnamed: knows what nothing runs, and what is part of what others install, and may train.
    """

    def __init__(self, catalog: Catalog, users: Users, unnamed: Unnamed) -> None:
        self._users = users
        self._in_library = unnamed.is_in_library
        words = sorted(catalog.words_with("trains") - {"train"})
        self._words = words
        self._trains = re.compile(
            b"|".join([OPTIMIZERS, _TRAIN, _GRADIENTS, rb"\b(?:%s)\b" % "|".join(words).encode()])
        )
        whole = (key for key, factory in catalog.factory_keys.items() if factory.names != "registered")
        self._code = TrainingCode(users, unnamed, [_TRAIN, *map(_used, words)], _of_inputs(catalog), whole)
        self._updates = {
            kept: re.compile(b"|".join([OPTIMIZERS, _TRAIN, *how, *_but(words, catalog.with_context(context))]))
            for kept, context, how in (
                (False, ONLY_DIFFERENTIATES, (_UPDATES,)),
                (True, PASSES_BACK, (_STEPS,)),
            )
        }
        answers = b"|".join(sorted(name.encode() for framework in catalog.frameworks for name in framework.answers))
        self._refuses = re.compile(rb"\n( +)if (?:%s) is not None:\n\1 +raise\b" % answers)
        self._training: Answers[str] = Answers(users)
        self._ordering: Answers[str] = Answers(users)
        self._around: Answers[str] = Answers(users)
        self._speaking: dict[str, bool] = {}
        self._updating: dict[tuple[str, bool], bool] = {}

    def speaks(self, path: str) -> bool:
        """Whether something may train in a file, by its words."""
        if path not in self._speaking:
            text = self._users.texts.of(path)
            self._speaking[path] = text is None or self.is_about_training(text)
        return self._speaking[path]

    def may_train_in(self, path: str, name: str) -> bool:
        """Whether something may train in a definition of a file's top level, or, of "", in what stands in none."""
        names = (name,) if name else (TOP, MAIN)
        return any(self.is_about_training(b.text) for b in self._users.texts.blocks(path) if b.name in names)

    def is_about_training(self, text: bytes) -> bool:
        """Whether something may train in a text, by its words."""
        return self._trains.search(text) is not None

    def updates(self, path: str, kept: bool) -> bool:
        """Whether weights may get new values in a file, by the words of its code.

        Args:
            kept: whether gradients are passed back to tensors, which keep them.
        """
        if (path, kept) not in self._updating:
            texts = self._users.texts
            parts = (block.text for block in texts.blocks_of_code(path)) if path.endswith(".py") else (texts.of(path),)
            self._updating[path, kept] = any(t is None or self._updates[kept].search(t) is not None for t in parts)
        return self._updating[path, kept]

    def weighs(self, path: str) -> bool:
        """Whether the size of gradients is asked in a file, by its words."""
        text = self._users.texts.of(path)
        return text is not None and _SIZE.search(text) is not None

    def orders(self, path: str) -> bool:
        """Whether something may be told to train in a file, by its words."""
        text = self._users.texts.of(path)
        return text is None or _ORDERS.search(text) is not None

    def hands(self, path: str) -> bool:
        """Whether a layer may be called in a file by another name than its own, or as a part of another, by its words."""
        text = self._users.texts.of(path)
        return text is None or _HANDS.search(text) is not None

    def refuses(self, module: Module) -> bool:
        """Whether networks of a file raise where they are handed the right answers, and none of them computes a loss: they are ported
        to infer with."""
        text = self._users.texts.of(module.path)
        return text is not None and self._refuses.search(text) is not None and not _LOSS.search(text)

    def holds(self, module: Module) -> bool:
        """Whether a file is a script, or scripts lead to it, by imports or out of sight, and nothing trains in its project, which
        nobody else is to use.

        In notebooks people try things out, and train by hand later.
        """
        home = self._home(module)
        return bool(home) and not self._training.of(home, lambda: self._training_file(home), "")

    def is_left(self, module: Module) -> bool:
        """Whether nothing is told to train in the project of such a file, though something there would train if it were run."""
        home = self._home(module)
        return bool(home) and not self._ordering.of(home, lambda: self._ordering_file(home), "")

    def _home(self, module: Module) -> str:
        """The folder of a file's project, if scripts of it lead to the file and it is for nobody else; "" if not."""
        users = self._users
        ends = users.ends(module.path)
        starts = [end for end in ends or () if users.starts(end)]
        if ends is None or any(map(is_notebook, starts)) or self._in_library(module):
            return ""
        return users.home(module) if starts else self._around.of(module.path, lambda: users.around(module), "")

    def _ordering_file(self, home: str) -> str:
        """The first file below a folder in which something may be told to train; "" for none."""
        found = next((path for path in self._users.texts.below(home) if self.orders(path)), "")
        return self._noted(found, home, ("train", "fit"))

    def _training_file(self, home: str) -> str:
        """The first file below a folder in which something may train; "" for none."""
        speaking = [path for path in self._users.texts.below(home) if self.speaks(path)]
        words = (*self._words, "optim", "Optim", "train", "requires_grad")
        return self._noted(self._code.first(home, speaking), home, words)

    def _noted(self, found: str, home: str, words: Iterable[str]) -> str:
        """A file that was found below a folder, with what that rests on: the file, or that none there says any of some words."""
        users = self._users
        if found:
            users.resolver.opened.add(found)
        else:
            users.asked.add(ANYWHERE)
            users.texts.sought.update((home, word) for word in words)
        return found


def _used(word: str) -> bytes:
    """A pattern for the use of a name; where it is a word of any prose, only for its calls and for the method."""
    raw = word.encode()
    return rb"(?<!def )\b%s\(|\.%s\b" % (raw, raw) if word.islower() and "_" not in word else rb"\b%s\b" % raw


def _of_inputs(catalog: Catalog) -> list[bytes]:
    """Patterns for calls that are told in so many words that they are to take no gradients of weights."""
    return [
        rb"\b%s\([^()]*\b%s\s*=\s*None\b" % (name.rpartition(".")[2].encode(), parameter.encode())
        for entry in catalog.entries
        if ONLY_DIFFERENTIATES in entry.contexts
        for parameter, condition in entry.when.items()
        if condition.given is False
        for name in entry.names
    ]


def _but(words: Iterable[str], names: Iterable[str]) -> Iterator[bytes]:
    """Patterns for what trains, but for some names; where a word isn't that of a class, only its calls: it may be a word of any prose."""
    left_out = {name.rpartition(".")[2] for name in names}
    for word in words:
        if word not in left_out:
            yield rb"\b%s%s" % (word.encode(), b"\\b" if word[:1].isupper() else rb"\(")

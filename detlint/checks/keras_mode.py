"""Layers of Keras that nobody tells to train: a run calls them in a loop, or a training step, of its own that doesn't say so."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from typing import Final

from detlint.db import Memo
from detlint.domains.matching.contexts import in_context
from detlint.domains.matching.match import Matcher
from detlint.domains.matching.record import Match
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.meaning import Meaning
from detlint.model.module import Module
from detlint.model.runs.outcome import Passage
from detlint.model.runs.reach import TRAINING, Reach, follows_mode
from detlint.model.sites.records import Member
from detlint.model.training import ONLY_DIFFERENTIATES
from detlint.model.uses import Users

STEP: Final = "train_step"
"""The method of a model that does what it does with one batch. Keras's own tells the layers to train."""
_FITS: Final = frozenset({"fit", "train_on_batch"})
_KERAS: Final = frozenset({"keras", "tensorflow"})
_TELL: Final = frozenset(
    {"learning_phase", "learning_phase_scope", "search", "set_learning_phase", "test_on_batch", STEP}
)
"""What else may have it trained, or told to, by others."""
_FITS_BY: Final = "fit_"
_CALL: Final = "call"
"""The forward pass of a layer."""


class KerasMode:
    """Finds runs that train, and never tell a layer so: where gradients are taken, and in a training step of a model's own, `net(x)` and
    `self.part(x)` stand for inference. Of Keras, only its own step passes `training=True`.
    """

    def __init__(self, matcher: Matcher, users: Users) -> None:
        self._matcher, self._meanings = matcher, users.meanings
        self._told: Memo[bool] = Memo(users.db)

    def holds(self, match: Match, passed: list[Passage]) -> bool:
        """Whether no run that comes to a layer tells it to train."""
        by_mode = match.name.startswith("keras.layers.") and match.entry.rule.startswith("DET2") and follows_mode(match)
        return by_mode and bool(passed) and all(passage.outcome.never_switched for passage in passed)

    def never_tells(self, reach: Reach) -> bool:
        """Whether a run takes gradients by itself, or trains models that have a training step of their own, and nothing in its files tells
        a layer that it is to train."""
        training = [match for _, match in in_context("trains", reach, self._matcher)]
        if not training or any(match.name.partition(".")[0] not in _KERAS for match in training):
            return False
        files = sorted(reach.files)
        if not any(ONLY_DIFFERENTIATES in m.entry.contexts for m in training) and not any(map(self._has_step, files)):
            return False
        if any(self._told.of(path, partial(self._finds_out, path), True) for path in files):
            return False
        places = frozenset(place for path in files for place in self._places(path))
        return not any(self._tells_by_place(path, places) for path in files)

    def _has_step(self, path: str) -> bool:
        code = self._matcher.resolver.code(path)
        return code is not None and STEP in code.identifiers

    def _places(self, path: str) -> Iterator[int]:
        """At which of their arguments the layers of a file are told whether they train."""
        code = self._matcher.resolver.code(path)
        for function in code.functions() if code is not None and TRAINING in code.identifiers else ():
            names = [function.text(slot) for slot in range(len(function.header.parameters))]
            if function.receives == "object" and function.name == _CALL and TRAINING in names:
                yield names.index(TRAINING) - 1

    def _tells_by_place(self, path: str, places: Collection[int]) -> bool:
        """Whether something in a file that may be a layer is handed, where layers are told to train, what isn't off."""
        meaning = self._meanings.at(path)
        for function in meaning.code.functions() if meaning is not None else ():
            assert meaning is not None
            for at, operation in function.each(op.CALL):
                given = function.call(at).positional
                told = [place for place in places if place < len(given) and _is_on(function, given[place])]
                if told and self._may_be_layer(meaning, function, operation[1]):
                    return True
        return False

    def _may_be_layer(self, meaning: Meaning, function: Function, callee: int) -> bool:
        """Whether what is called may be a layer, under a name or as a part of the object itself: of a class that is one, or that isn't
        known."""
        method = function.ops[callee][0] == op.ATTR and not function.own(callee)
        if method or meaning.name(function, callee) or function.definition_of(callee) is not None:
            return False
        kind = meaning.kind(function, callee)
        return not kind or self._matcher.resolver.kinds.layer(kind) is not None

    def _finds_out(self, path: str) -> bool:
        """Whether a file says to a layer, or may have others say, that it is to train."""
        code, module = self._matcher.resolver.code(path), self._matcher.resolver.module(path)
        if code is None or module is None or TRAINING in code.constants or any(map(_tells, code.functions())):
            return True
        fits = [site.target for site in module.sites if site.kind == "call" and isinstance(site.target, Member)]
        fits = [target for target in fits if target.attr in _FITS]
        # Others may be mentioned without being called: `map(model.fit, parts)`.
        read = [at for function in code.functions() for at, o in function.each(op.ATTR) if code.strings[o[2]] in _FITS]
        return len(fits) != len(read) or not all(self._trains_otherwise(module, target) for target in fits)

    def _trains_otherwise(self, module: Module, fit: Member) -> bool:
        """Whether a method is of an object of a class of the file that has a training step of its own, or of a library other than Keras."""
        resolver = self._matcher.resolver
        kind = resolver.types.of(resolver.normal(module.path, fit.base))
        path, inside, name = kind.partition("::")
        if not inside:
            return kind != "" and kind.partition(".")[0] not in _KERAS
        body = module.classes.get(name) if path == module.path else None
        return body is not None and STEP in body.methods


def _tells(function: Function) -> bool:
    """Whether a function may tell a layer to train, or have it trained by others: something is handed True, or as `training` what
    isn't off, nor what a parameter of that name was given."""
    strings = function.code.strings
    for at, operation in function.each(op.ATTR, op.CALL):
        if operation[0] == op.ATTR:
            if strings[operation[2]] in _TELL or strings[operation[2]].startswith(_FITS_BY):
                return True
            continue
        call = function.call(at)
        given = call.named.get(TRAINING, -1)
        if any(function.constant(value) is True for value in call.positional) or (
            given >= 0 and _is_on(function, given)
        ):
            return True
    around = function.parent
    named = [each for slot, each in enumerate(function.header.parameters) if function.text(slot) == TRAINING]
    return around is not None and any(each.default >= 0 and _is_on(around, each.default) for each in named)


def _is_on(function: Function, value: int) -> bool:
    """Whether what is handed as `training` may be on."""
    parameter = function.parameter(value)
    if parameter >= 0:
        return function.text(parameter) != TRAINING
    constant = function.constant(value)
    return constant is not None and constant is not False

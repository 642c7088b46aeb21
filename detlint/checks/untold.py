"""Layers of Keras that nobody tells to train: they are called by a training step of the program's own that doesn't say so."""

from __future__ import annotations

from typing import Final

from detlint.checks.match import Match, Matcher
from detlint.facts.model import Member
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.module import Module
from detlint.model.uses import Users
from detlint.program.outcome import Passage
from detlint.program.reach import follows_mode

STEP: Final = "train_step"
"""The method of a model that does what it does with one batch. Keras's own tells the layers to train."""
_FITS: Final = frozenset({"fit", "train_on_batch"})
_TRAINING: Final = "training"
"""The parameter by which a layer is told."""
_TELL: Final = frozenset({"learning_phase", "search", "test_on_batch", STEP})
"""What else may have it trained, or told to, by others."""
_FITS_BY: Final = "fit_"


class Untold:
    """Finds layers that draw while they train and are never told to: in a script that trains only models with a training step of
    their own, and that says to nobody that he is to train.

    In that step `self(x)` and `self.part(x)` stand for inference: of Keras, only its own step passes `training=True`.
    """

    def __init__(self, matcher: Matcher, users: Users) -> None:
        self._matcher = matcher
        self._users = users
        self._known: dict[str, bool] = {}

    def holds(self, module: Module, match: Match, passed: list[Passage]) -> bool:
        """Whether nothing tells a layer to train, by all that is said in the script of its runs."""
        by_mode = match.name.startswith("keras.layers.") and match.entry.rule.startswith("DET2") and follows_mode(match)
        if not by_mode or not passed or any(passage.outcome.entry != module.path for passage in passed):
            return False
        if self._users.is_imported(module) or self._matcher.resolver.imported(module):
            return False
        if module.path not in self._known:
            self._known[module.path] = self._never_told(module)
        return self._known[module.path]

    def _never_told(self, module: Module) -> bool:
        """Whether a script trains only models that train themselves, and says to no layer that it is to train."""
        code = self._matcher.resolver.code(module.path)
        if code is None or STEP not in code.identifiers or _TRAINING in code.constants:
            return False
        if any(map(_tells, code.functions())):
            return False
        sites = [site for site in module.sites if site.kind == "call"]
        fits = [s for s in sites if isinstance(s.target, Member) and s.target.attr in _FITS]
        # Others may be mentioned without being called: `map(model.fit, parts)`.
        read = [at for function in code.functions() for at, o in function.each(op.ATTR) if code.strings[o[2]] in _FITS]
        return bool(fits) and len(fits) == len(read) and all(self._steps_itself(module, s.target) for s in fits)

    def _steps_itself(self, module: Module, fit: object) -> bool:
        """Whether a method is of an object of a class of the file that has a training step of its own."""
        assert isinstance(fit, Member)
        resolver = self._matcher.resolver
        path, _, name = resolver.types.of(resolver.normal(module.path, fit.base)).partition("::")
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
        given = call.named.get(_TRAINING, -1)
        if any(function.constant(value) is True for value in call.positional) or (
            given >= 0 and _is_on(function, given)
        ):
            return True
    around = function.parent
    named = [each for slot, each in enumerate(function.header.parameters) if function.text(slot) == _TRAINING]
    return around is not None and any(each.default >= 0 and _is_on(around, each.default) for each in named)


def _is_on(function: Function, value: int) -> bool:
    """Whether what is handed as `training` may be on."""
    parameter = function.parameter(value)
    if parameter >= 0:
        return function.text(parameter) != _TRAINING
    constant = function.constant(value)
    return constant is not None and constant is not False

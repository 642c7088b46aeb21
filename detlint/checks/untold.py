"""Layers of Keras that nobody tells to train: they are called by a training step of the program's own that doesn't say so."""

from __future__ import annotations

import re
from typing import Final

from detlint.checks.match import Match, Matcher
from detlint.facts.model import Member
from detlint.program.outcome import Passage
from detlint.program.reach import follows_mode
from detlint.program.resolve import Module
from detlint.program.users import Users

STEP: Final = "train_step"
"""The method of a model that does what it does with one batch. Keras's own tells the layers to train."""
_FITS: Final = frozenset({"fit", "train_on_batch"})
_TELLS: Final = re.compile(
    rb"\btraining\b\s*(?::[^=,()\n]*)?=(?!=)\s*(?!training\b|False\b|None\b)"  # training=True, training: bool = True
    rb"|[\"']training[\"']|learning_phase|,\s*True\s*\)|\(\s*True\s*\)|super\([^()\n]*\)\.train_step\b"
    rb"|\bfit_\w+\(|\.search\(|\btest_on_batch\b"
)
"""What may tell a layer to train, or have it trained by others."""


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
        text = self._users.texts.of(module.path)
        if text is None or STEP.encode() not in text or _TELLS.search(text):
            return False
        sites = [site for site in module.sites if site.kind == "call"]
        fits = [s for s in sites if isinstance(s.target, Member) and s.target.attr in _FITS]
        # Others may be mentioned without being called: `map(model.fit, parts)`. Prose has `model.fit()`, which trains nothing.
        mentions = sum(len(re.findall(rb"\.%s\b(?!\(\))" % name.encode(), text)) for name in _FITS)
        return bool(fits) and len(fits) == mentions and all(self._steps_itself(module, s.target) for s in fits)

    def _steps_itself(self, module: Module, fit: object) -> bool:
        """Whether a method is of an object of a class of the file that has a training step of its own."""
        assert isinstance(fit, Member)
        resolver = self._matcher.resolver
        path, _, name = resolver.type_of(resolver.normal(module.path, fit.base)).partition("::")
        body = module.classes.get(name) if path == module.path else None
        return body is not None and STEP in body.methods

"""What may happen in a file, by its words."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from detlint.model.attributes import Writers
from detlint.model.module import Module


class Words(NamedTuple):
    """What may happen in a file, by its words; each is asked with its path."""

    may_train: Callable[[str], bool]
    """Whether anything may train there."""
    updates: Callable[[str, bool], bool]
    """Whether weights may get new values there; and whether gradients are what tensors keep."""
    weighs: Callable[[str], bool]
    """Whether the size of gradients is asked there."""
    orders: Callable[[str], bool]
    """Whether anything may be told to train there."""
    hands: Callable[[str], bool]
    """Whether a layer may be called there by another name than its own, or as a part of another."""
    adds_up: Callable[[str, bool], bool]
    """Whether anything may add up there what several devices have; and whether what trains counts."""
    patches: Callable[[str], bool]
    """Whether a framework may be given there what it lacks."""
    draws_nothing: Callable[[Module, int], bool]
    """Whether nothing is left to chance where a site of a module draws."""
    writers: Writers
    """Says who sets attributes there, or puts something else in the place of a definition."""

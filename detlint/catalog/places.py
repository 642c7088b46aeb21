"""What is true of a library about where its tensors lie: on the host, or on an accelerator."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import msgspec

Names = tuple[str, ...]


class Places(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", omit_defaults=True):
    """Functions, classes and methods by full name; methods of objects of unknown kind are known by their last component."""

    devices: Names = ()
    """What accelerators are called where a device is asked for: `cuda`, `npu`."""
    names: Names = ()
    """What makes a device of the one that it is told."""
    asked: Names = ()
    """What makes something on the device that it is told, else on the default one."""
    at_home: Names = ()
    """What makes something on the device that it is told, else on the host."""
    alike: Names = ()
    """What makes something where its first argument lies, unless it is told a device."""
    beside: Names = ()
    """Methods that make something where their object lies, unless they are told a device."""
    accelerator: Names = ()
    """What gives an accelerator, or something that lies on one."""
    host: Names = ()
    """What gives something on the host, whatever it is handed; of loaders, what they give."""
    to_accelerator: Names = ()
    """Methods that move to an accelerator."""
    to_host: Names = ()
    """Methods that move to the host."""
    moves: Names = ()
    """Methods that move to the device that they are told."""
    default: Names = ()
    """What sets the default device."""
    takes: Names = ()
    """What puts the network that it is handed on an accelerator."""
    applies: Names = ()
    """Methods of a network that hand each of its parts to the function that they get first."""
    keeps: Names = ()
    """Methods by which a layer keeps what moves with it, under the name that they get first."""
    own: Names = ()
    """Classes whose objects move with the layer that keeps them."""
    tells: Names = ()
    """Attributes and methods of a tensor that give none, and say nothing of where it lies."""


def merged(places: Iterable[Places]) -> Places:
    """What all of some libraries have."""
    known = [*places]
    return Places(**{name: tuple(chain(*(getattr(one, name) for one in known))) for name in Places.__struct_fields__})

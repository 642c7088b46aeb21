"""How many dimensions a tensor has at least, by the calls that gave it its shape.

It may assume that methods of that name are those of tensors, that what convolves over an area is given a batch, and that a name holds
what its function binds it to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.meaning import Meaning, Meanings

_TOLD: Final = frozenset({"permute", "reshape", "view"})
"""Methods of tensors, and functions, that are told each dimension, or where it goes."""
_TWO: Final = frozenset({"movedim", "swapaxes", "swapdims", "transpose"})
"""Those that are told two dimensions, and keep all."""
_KEEP: Final = frozenset({
    "bfloat16", "clone", "contiguous", "cpu", "cuda", "detach", "double", "float", "half", "log_softmax", "softmax", "to", "type_as",
})  # fmt: skip
_GIVES: Final = {
    "torch.nn.Conv1d": 3, "torch.nn.ConvTranspose1d": 3, "torch.nn.Conv2d": 4, "torch.nn.ConvTranspose2d": 4, "torch.nn.Conv3d": 5,
    "torch.nn.ConvTranspose3d": 5, "torch.nn.functional.conv1d": 3, "torch.nn.functional.conv2d": 4, "torch.nn.functional.conv3d": 5,
    "torch.nn.functional.interpolate": 3, "torch.nn.Upsample": 3, "torch.nn.PixelShuffle": 4, "torch.nn.functional.pixel_shuffle": 4,
}  # fmt: skip
"""Functions, and layers whose objects are called -> the dimensions of what they give."""
_SIZED: Final = frozenset({"torch.empty", "torch.ones", "torch.rand", "torch.randn", "torch.zeros"})
"""Functions that are told nothing by position but sizes."""
_DEEPEST: Final = 6


def least(meanings: Meanings, meaning: Meaning, function: Function, value: int, depth: int = 0) -> int:
    """The number of dimensions that a value surely has at least; 0 where nothing is known."""
    operation = function.ops[value]
    if depth > _DEEPEST:
        return 0
    if operation[0] == op.LOAD:
        stored = function.stored(value)
        return min((least(meanings, meaning, function, made, depth + 1) for made in stored), default=0) if stored else 0
    if operation[0] != op.CALL:
        return 0
    known = _GIVES.get(meaning.name(function, operation[1])) or _GIVES.get(meaning.kind(function, operation[1]))
    if known:
        return known
    if layer := meanings.forward(meaning, function, operation[1]):
        return min((least(meanings, *layer, kept[1], depth + 1) for _, kept in layer[1].each(op.RETURN)), default=0)
    word, base, given = function.called(value), function.called_on(value), function.call(value)
    sizes = [*given.positional]
    name = meaning.name(function, operation[1])
    if name in _SIZED and not given.unpacked:
        return _told(function, sizes)
    if given.named or given.unpacked:
        return 0
    if name.startswith("torch.") and not name.startswith("torch.Tensor."):
        base, sizes = (sizes[0], sizes[1:]) if sizes else (-1, [])
    if base < 0:
        return 0
    if word in _TOLD:
        return _told(function, sizes)
    if word in _TWO:
        places = [function.constant(size) for size in sizes]
        told = [place + 1 if place >= 0 else -place for place in places if type(place) is int]
        return max([*told, least(meanings, meaning, function, base, depth + 1)])
    return least(meanings, meaning, function, base, depth + 1) if word in _KEEP else 0


def _told(function: Function, sizes: Sequence[int]) -> int:
    """How many sizes a call is told: `view(a, b)`, `view((a, b))`; 0 for one alone, which may stand for several."""
    several = function.ops[sizes[0]] if len(sizes) == 1 else (op.END,)
    return len(several) - 1 if several[0] in (op.TUPLE, op.LIST) else len(sizes) if len(sizes) > 1 else 0

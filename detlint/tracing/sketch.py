"""What tells how far two tensors are apart, without either: their products with a few vectors of random signs.

Such products are linear: those of a difference are the differences of those. The mean of their squares is the square of the difference's
length, give or take a third with eight of them (Johnson and Lindenstrauss, 1984; Achlioptas, 2003, for signs). They are made on
the host in double precision, and so compare what one device has computed with what another has.
"""

from __future__ import annotations

from functools import cache

import torch

from detlint.tracing.digests import mixed

VECTORS = 8
_BLOCK = 1 << 16


def sketch(tensor: torch.Tensor) -> list[float]:
    """The length of a tensor, how many of its values are no finite numbers, and the products. Those values count as zeros."""
    flat = tensor.detach().to("cpu")
    flat = (torch.view_as_real(flat.resolve_conj()) if flat.is_complex() else flat).reshape(-1).to(torch.float64)
    finite = flat.isfinite()
    odd = flat.numel() - int(finite.sum())
    if odd:
        flat = flat.where(finite, 0.0)
    length = float(flat.norm())
    products = torch.zeros(VECTORS, dtype=torch.float64)
    for number, at in enumerate(range(0, flat.numel(), _BLOCK)):
        block = flat[at : at + _BLOCK]
        products += _signs(number) * (_signs_of_places()[:, : len(block)] @ block)
    return [length, float(odd), *products.tolist()]


@cache
def _signs_of_places() -> torch.Tensor:
    return torch.stack([_bits(mixed(torch.arange(1, _BLOCK + 1)), vector) for vector in range(VECTORS)])


def _signs(block: int) -> torch.Tensor:
    """What each vector's signs are turned by in a block."""
    return _bits(mixed(torch.arange(1, VECTORS + 1) + (block + 1) * 1_000_003), 0)


def _bits(numbers: torch.Tensor, bit: int) -> torch.Tensor:
    return ((numbers >> (17 + bit)) & 1).to(torch.float64) * 2 - 1

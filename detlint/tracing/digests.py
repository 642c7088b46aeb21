"""Digests of tensors: of every bit, in its place.

On the host it is XXH3 (64 bits) over the memory itself, which no copy is made of. On a device it is a sum of the values'
bits as integers, each multiplied by a number that belongs to its place: integers add up to the same in any order, and
only the sums come to the host, once a step. Sums of equal weights, and XOR, would not see a batch in another order.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import torch
from xxhash import xxh3_64_intdigest

from detlint.tracing.records import UNREAD

Digest = int | torch.Tensor
"""A number, or on a device the number that it will be."""

LOW: Final = 1 << 40
"""No allocator of a 64-bit system hands out addresses below; one there is an offset into memory that was given up."""
_BLOCK: Final = 1 << 20
_AT_ONCE: Final = 16 * _BLOCK
"""Words that are multiplied at once: 128 MiB of products."""
_LENGTHS: Final = 4096
"""How many lengths' weights are remembered: views, each of some hundred bytes."""
_INTEGERS: Final = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_WORD: Final = (1 << 64) - 1
_EMPTY: Final = 1


def host(tensor: torch.Tensor) -> int:
    """The digest of a plain tensor in the host's memory.

    Values that lie in another order than a contiguous tensor's, without gaps, are digested as they lie: the layout is part
    of the tensor's kind.
    """
    if not (tensor.is_contiguous() or dense(tensor)):
        tensor = tensor.contiguous()
    size = tensor.nbytes
    address = tensor.data_ptr()
    if address < LOW and (size == 0 or tensor.untyped_storage().nbytes() < size):
        return _EMPTY if size == 0 else UNREAD
    return lying(address, size)


def lying(address: int, size: int) -> int:
    """The digest of memory of the host's."""
    return xxh3_64_intdigest((ctypes.c_char * size).from_address(address)) or _EMPTY


def dense(tensor: torch.Tensor) -> bool:
    """Whether a tensor's values fill their memory, in whatever order of the dimensions."""
    expected = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


class OnDevice:
    """Digests on devices; the weights of the places are made once for each."""

    def __init__(self) -> None:
        self._weights: dict[torch.device, torch.Tensor] = {}
        self._first: dict[tuple[torch.device, int], torch.Tensor] = {}

    def __call__(self, tensor: torch.Tensor) -> Digest:
        """The digest, as a tensor of one integer on the tensor's device.

        Two kernels for most tensors: what a trace costs on a device is the starting of kernels.
        """
        size = tensor.element_size()
        if tensor.numel() == 0:
            return _EMPTY
        flat = tensor.contiguous().view(-1)
        if size == 16:
            flat = torch.view_as_real(flat).view(-1)
        return self._sum(flat.view(_INTEGERS[flat.element_size()]))

    def _sum(self, words: torch.Tensor) -> torch.Tensor:
        """Of tensors of different lengths, too: the length is part of a tensor's kind."""
        device, length = words.device, words.numel()
        if length <= _BLOCK:
            return (words * self._of(device, length)).sum()
        weights, whole = self._of(device, _BLOCK), length // _BLOCK * _BLOCK
        blocks = (words[at : min(at + _AT_ONCE, whole)].view(-1, _BLOCK) for at in range(0, whole, _AT_ONCE))
        sums = [(block * weights).sum(1) for block in blocks]
        if whole < length:
            sums.append(self._sum(words[whole:]).view(1))
        return self._sum(torch.cat(sums))

    def _of(self, device: torch.device, length: int) -> torch.Tensor:
        """The weights of the first places."""
        found = self._first.get((device, length))
        if found is not None:
            return found
        weights = self._weights.get(device)
        if weights is None:
            weights = self._weights[device] = mixed(torch.arange(1, _BLOCK + 1, dtype=torch.int64)).to(device)
        if len(self._first) >= _LENGTHS:
            self._first.clear()
        found = self._first[device, length] = weights[:length]
        return found


def mixed(numbers: torch.Tensor) -> torch.Tensor:
    """Numbers without any pattern, from consecutive ones: the finaliser of SplitMix64, made odd."""
    numbers = numbers * -7046029254386353131
    numbers = (numbers ^ ((numbers >> 30) & 0x3FFFFFFFF)) * -4658895280553007687
    numbers = (numbers ^ ((numbers >> 27) & 0x1FFFFFFFFF)) * -7723592293110705685
    return (numbers ^ ((numbers >> 31) & 0x1FFFFFFFF)) | 1


@contextmanager
def unseen() -> Iterator[None]:
    """What is computed within is of no trace and of no graph. What PyTorch calls in the middle of a kernel is so anyhow."""
    from torch.utils._python_dispatch import _disable_current_modes

    with torch.no_grad(), torch._C.DisableTorchFunction(), _disable_current_modes():
        yield


def together(tensors: Iterable[torch.Tensor]) -> str:
    """One digest of many tensors, each where it is."""
    sums = OnDevice()
    found = [host(part) if part.is_cpu else sums(part) for tensor in tensors for part in plain(tensor)]
    numbers = [n if isinstance(n, int) else on_host(int(n.cpu())) for n in found]
    return f"{xxh3_64_intdigest(b''.join(n.to_bytes(8, 'little') for n in numbers)):016x}"


def on_host(digest: int) -> int:
    """A device's signed sum as digests are written."""
    return (digest & _WORD) or _EMPTY


def plain(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """The plain tensors that make up a tensor of another type: sparse, quantised, distributed, nested.

    A tensor without content (on the meta device, or fake) has none.
    """
    kind = type(tensor)
    if kind is not torch.Tensor and kind is not torch.nn.Parameter and hasattr(tensor, "__tensor_flatten__"):
        wait: Callable[[], Any] | None = getattr(tensor, "trigger_wait", None)
        if wait is not None:
            wait()  # what a collective operation is still filling
        names, _ = tensor.__tensor_flatten__()
        for name in names:
            inner = getattr(tensor, name)
            if isinstance(inner, torch.Tensor):
                yield from plain(inner)
        return
    if tensor.is_meta or _is_fake(tensor):
        return
    if tensor.layout is not torch.strided:
        yield from _parts(tensor)
        return
    if tensor.is_quantized:
        yield tensor.int_repr()
        return
    if tensor.is_complex() and tensor.is_conj():
        tensor = tensor.resolve_conj()
    yield tensor.resolve_neg() if tensor.is_neg() else tensor


def _parts(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    if tensor.layout is torch.sparse_coo:
        yield tensor._indices()
        yield tensor._values()
    elif tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        yield from (tensor.crow_indices(), tensor.col_indices(), tensor.values())
    elif tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        yield from (tensor.ccol_indices(), tensor.row_indices(), tensor.values())
    elif tensor.layout is torch._mkldnn:  # type: ignore[attr-defined]
        yield tensor.to_dense()


def _is_fake(tensor: torch.Tensor) -> bool:
    return type(tensor).__name__ in ("FakeTensor", "FunctionalTensor") or torch._is_functional_tensor(tensor)

"""What is to be known of a PyTorch operator before it is called: whether it draws, aliases, writes, or exchanges data."""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

import torch

_EXCHANGES: Final = ("c10d::", "_c10d_functional::", "_c10d_functional_autograd::")
_MACHINERY: Final = ("profiler::", "aten::set_")
"""Operators that compute nothing. `set_` gives a tensor memory that is there: of a data loader's workers, in the order in which
they are done. It is read where it is used."""
_UNFILLED: Final = frozenset({
    "aten::empty", "aten::empty_like", "aten::empty_strided", "aten::empty_permuted", "aten::empty_quantized",
    "aten::new_empty", "aten::new_empty_strided", "aten::resize_", "aten::resize", "aten::_resize_output_",
})  # fmt: skip
"""Operators that give memory with whatever was in it. A trace fills it with zeros: its bits would differ in every run."""


class Operator(NamedTuple):
    """One overload of an operator.

    Attributes:
        name: as PyTorch prints it: `aten.add.Tensor`.
        random: it draws from a random-number generator.
        view: its results are the memory of its first argument.
        unfilled: its result is memory with whatever was in it.
        shared: it exchanges data with other processes, and returns before it is done.
        silent: it computes nothing.
        fresh: its memory has just been filled outside of any operator, as that of `torch.tensor`.
        waits: it waits for such an exchange.
        mutable: it writes to something that it is given.
        written: the arguments (positions, names) that it writes to without returning them.
    """

    name: str
    random: bool
    view: bool
    unfilled: bool
    shared: bool
    waits: bool
    fresh: bool
    silent: bool
    written: tuple[tuple[int, str], ...]
    mutable: bool

    @property
    def pure(self) -> bool:
        """Whether calling it again with the same gives the same, as far as it says."""
        return not (
            self.mutable or self.random or self.view or self.unfilled or self.shared or self.waits or self.silent
        )

    @classmethod
    @cache
    def of(cls, overload: Any) -> Operator:
        """What an operator says about itself; `overload` is a `torch._ops.OpOverload`."""
        schema = getattr(overload, "_schema", None)
        tags = getattr(overload, "tags", ())
        name: str = schema.name if schema is not None else str(overload)
        waits = name == "_c10d_functional::wait_tensor"
        return cls(
            str(overload),
            torch.Tag.nondeterministic_seeded in tags,
            bool(getattr(overload, "is_view", False)),
            name in _UNFILLED,
            name.startswith(_EXCHANGES) and not waits,
            waits,
            name == "aten::lift_fresh",
            name.startswith(_MACHINERY),
            _written(schema) if schema is not None else (),
            schema is None or bool(schema.is_mutable),
        )


def _written(schema: Any) -> tuple[tuple[int, str], ...]:
    if not schema.is_mutable or any(r.alias_info is not None and r.alias_info.is_write for r in schema.returns):
        return ()
    arguments = enumerate(schema.arguments)
    return tuple((i, a.name) for i, a in arguments if a.alias_info is not None and a.alias_info.is_write)

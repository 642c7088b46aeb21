"""For which hardware something is: what is asked on the way to it, `if self.device_target == "GPU":`, and what words for hardware mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from functools import partial
from typing import Final

from detlint.domains.constant.evaluator import Evaluator
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.written import written
from detlint.model.module import Module
from detlint.model.places import point_of
from detlint.model.resolve import Resolver
from detlint.model.sites.records import Const

DEVICES: Final = {
    "ascend": "ascend", "cuda": "cuda", "gpu": "cuda", "hccl": "ascend", "mps": "mps", "nccl": "cuda", "npu": "ascend",
    "tpu": "tpu", "xla": "tpu",
}  # fmt: skip
"""Words for hardware -> target."""
_SPELL: Final = ("lower", "upper", "capitalize")
"""Methods that write a word in other letters."""


def target_of(word: object) -> str:
    """The target that a library's word for hardware means (`Ascend`, `GPU`, `cuda:0`); "" where that isn't known."""
    lower = word.lower().partition(":")[0] if isinstance(word, str) else ""
    return lower if lower == "cpu" else DEVICES.get(lower, "")


def targets_of(words: Iterable[str], libraries: Set[str]) -> set[str]:
    """The targets that words of a program mean: `hccl` is Habana's, too, where its library is imported and none for Ascend.

    Args:
        libraries: the targets that the program's imports imply.
    """
    of_another = "hpu" in libraries and "ascend" not in libraries
    return {"hpu" if of_another and word == "hccl" else DEVICES[word] for word in words}


class HardwareTests:
    """Knows which places only other hardware comes to."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._names = frozenset(resolver.catalog.devices.values())
        """What the libraries call the hardware that a run chooses; who hands it on calls it so, too."""

    def keeps_from(self, module: Module, index: int, targets: Sequence[str]) -> str:
        """The test that keeps all runs on some hardware from a site, in the function around it; "" where none surely does."""
        code = self._resolver.code(module.path)
        if code is None or self._names.isdisjoint(code.identifiers | code.texts):
            return ""
        point = point_of(self._resolver, module, module.sites[index])
        for test in point.tests() if point is not None else ():
            known = (Evaluator(partial(self._said, target), _hardware) for target in targets)
            if all(truth.of(test.function, test.value) is (not test.wanted) for truth in known):
                return written(test.function, test.value)
        return ""

    def _said(self, target: str, function: Function, at: int) -> Const | None:
        """What an expression is on some hardware, if it tells of that and is compared: whether hardware was chosen says nothing."""
        compared = any(function.ops[use.op][0] == op.COMPARE for use in function.users[at])
        return Const(target) if compared and self._tells(function, at) else None

    def _tells(self, function: Function, at: int) -> bool:
        """Whether an expression is the hardware that the run has chosen: `args.device_target`, what something gives that is told the
        name (`get_context("device_target")`), or a name for that."""
        operation = function.ops[at]
        if function.dotted(at).rpartition(".")[2] in self._names:
            return True
        if operation[0] == op.ITEM:
            return function.constant(operation[2]) in self._names
        if operation[0] == op.CALL:
            if function.called(at) in _SPELL and function.called_on(at) >= 0:
                return self._tells(function, function.called_on(at))
            given = function.call(at).values()
            return bool(given) and function.constant(given[-1]) in self._names
        meant = function.meant(at)
        return meant != at and self._tells(function, meant)


def _hardware(function: Function, at: int) -> Const | None:
    """The target that a word for hardware means; None for all else that is written out."""
    target = target_of(function.constant(at))
    return Const(target) if target else None

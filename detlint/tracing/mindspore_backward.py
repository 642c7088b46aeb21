"""The backward pass of MindSpore's PyNative mode.

Most of its kernels are called like others, but which of the forward pass they belong to isn't told, and some (those of
convolutions, batch norms and others that aren't called by pyboost) aren't seen. Hooks on the results of the forward pass tell both:
each gets the gradient just before the backward pass of the operator that made it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from mindspore.common.api import _pynative_executor

from detlint.tracing.records import NOTHING, Row

if TYPE_CHECKING:
    from detlint.tracing.mindspore_tracer import MindSporeTracer


class _Result(NamedTuple):
    """What a row of the forward pass gave, at an address."""

    row: int
    op: str
    digest: int


class Backward:
    """Follows the backward pass."""

    def __init__(self, tracer: MindSporeTracer) -> None:
        self._tracer = tracer
        self._results: dict[Any, _Result] = {}
        self._contents: set[tuple[int, int]] = set()
        """Kinds and digests of what is known: given to the forward pass, or made by a row."""
        self._forward = NOTHING
        self._site = NOTHING
        self._op = ""
        self._gradients: list[Any] = []
        self._parameters: dict[int, Any] = {}
        self._users: dict[str, tuple[int, str]] = {}
        """By the names of parameters: the row and the operator of the forward pass that used them last."""

    def given(self, op: str, row: Row, inputs: list[Any]) -> None:
        """An operator of the forward pass is about to be called: its inputs get their hooks now.

        While an operator that gives them is still running, most results can't be hooked yet.
        """
        known = zip(row.inputs[::3], row.inputs[1::3], strict=True)
        self._contents.update(known)
        if not _pynative_executor.requires_grad():
            return
        tracer = self._tracer
        for place, tensor in enumerate(inputs):
            key = tracer.key(tensor)
            if key in tracer.names:
                self._users[tracer.names[key]] = tracer.row, op
            found = self._results.get(key)
            if found is not None and found.digest == row.inputs[3 * place + 1]:
                del self._results[key]
                follow_gradient(tensor, self._passing(found))

    def made(self, row: int, op: str, results: list[Any], outputs: list[int]) -> None:
        """An operator gave something."""
        self._contents.update(zip(outputs[::2], outputs[1::2], strict=True))
        if _pynative_executor.requires_grad():
            for place, tensor in enumerate(results):
                if "Float" in str(tensor.dtype):
                    self._results[self._tracer.key(tensor)] = _Result(row, op, outputs[2 * place + 1])

    def called(self, row: Row, inputs: list[Any]) -> None:
        """A kernel of the backward pass is about to be called."""
        self._unseen(inputs, [*zip(row.inputs[::3], row.inputs[1::3], strict=True)])
        for place, tensor in enumerate(inputs):
            kind, digest, producer = row.inputs[3 * place : 3 * place + 3]
            if producer == NOTHING:
                row.inputs[3 * place + 2] = self._tracer.maker(tensor, kind, digest)
        row.node = self._tracer.text("backward")
        if row.site == self._site:
            row.forward = self._forward  # otherwise Python calls it, in a `bprop` or a hook

    def follow_parameter(self, parameter: Any) -> None:
        """Have the gradient of a parameter seen."""
        if id(parameter) not in self._parameters and parameter.requires_grad:
            name = parameter.name
            self._parameters[id(parameter)] = follow_gradient(parameter, lambda found: self._received(found, name))

    def start(self) -> None:
        """The backward pass begins."""
        self._site = self._tracer.begin("", ()).site

    def end(self, gradients: Iterable[Any]) -> None:
        """The backward pass is over, and gave these gradients."""
        found = [*gradients]
        values = [self._tracer.value(tensor) for tensor in found]
        unknown = [tensor for tensor, value in zip(found, values, strict=True) if value not in self._contents]
        if unknown:
            self._row("mindspore.grad", self._gradients, unknown, NOTHING)
        self._forward, self._op = NOTHING, ""
        self._gradients.clear()
        self._results.clear()
        self._users.clear()

    def stepped(self) -> None:
        """A training step is over: nothing of it comes again."""
        self._contents.clear()

    def stop(self) -> None:
        """Take the hooks away."""
        for handle in self._parameters.values():
            if handle is not None:
                handle.remove()
        self._parameters.clear()

    # -- hooks --------------------------------------------------------------------------------------------------------

    def _passing(self, result: _Result) -> Callable[[Any], None]:
        def passing(gradient: Any) -> None:
            self._received(gradient)
            if result.row != self._forward:
                self._forward, self._op = result.row, result.op
                self._gradients.clear()
            self._gradients.append(gradient)

        return passing

    def _received(self, gradient: Any, parameter: str = "") -> None:
        if self._tracer.recording:
            self._unseen([gradient], None, self._users.get(parameter))

    def _unseen(
        self, tensors: list[Any], read: list[tuple[int, int]] | None, user: tuple[int, str] | None = None
    ) -> None:
        """Write the row of a kernel that wasn't seen, where one must have made what comes now.

        Args:
            user: the row and the operator of the forward pass that it belongs to, where that is known.
        """
        tracer = self._tracer
        if read is None:
            read = [tracer.value(tensor) for tensor in tensors]
        unknown = [tensor for tensor, value in zip(tensors, read, strict=True) if value not in self._contents]
        if unknown and (self._op or user):
            row, op = user or (self._forward, self._op)
            self._row(f"{op}.backward", self._gradients if row == self._forward else (), unknown, row)
        self._contents.update(read)

    def _row(self, op: str, inputs: Iterable[Any], outputs: list[Any], forward: int) -> None:
        tracer = self._tracer
        row = tracer.begin(op, inputs)
        row.node, row.forward = tracer.text("backward"), forward
        tracer.finish(row, outputs)
        self._contents.update(zip(row.outputs[::2], row.outputs[1::2], strict=True))


def follow_gradient(tensor: Any, action: Callable[[Any], None]) -> Any:
    """Have something done with a tensor's gradient; the hook, or None where there will be no gradient."""

    def received(gradient: Any) -> Any:
        if gradient is not None:
            action(gradient)
        return gradient  # it replaces what the hook got

    if "Float" not in str(tensor.dtype):
        return None
    try:
        return tensor.register_hook(received)
    except (RuntimeError, TypeError, ValueError):
        return None

"""Turns the calls of operators into rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import torch
from torch.overrides import resolve_name

from detlint.tracing import digests
from detlint.tracing.modules import Modules
from detlint.tracing.operators import Operator
from detlint.tracing.random_state import random_state
from detlint.tracing.records import AIM, FAILED, NAMED, NOTHING, SHARED, UNREAD, VIEW, Row, Values
from detlint.tracing.sites import Frames, Sites
from detlint.tracing.writer import Writer

_node: Final[Callable[[], Any]] = torch._C._current_autograd_node
_sequence: Final[Callable[[], int]] = torch._C._autograd._get_sequence_nr
_LEAF: Final = (1 << 64) - 1
"""The sequence number of the nodes that add up gradients."""
_ORDINARY: Final = frozenset({
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64,
})  # fmt: skip
"""Types whose values are what lies in memory."""
_LONGEST: Final = 200
"""Characters of an argument list that are kept."""
_WAITING: Final = 4096
"""Rows that wait for the digests of a device before these are fetched."""


class Tracer:
    """One trace of one process.

    Attributes:
        recording: whether rows are made.
        row: how many there are.
        filling: what uninitialised memory is filled with.
    """

    def __init__(self, writer: Writer, modules: Modules, on_device: bool | None, values: bool = False) -> None:
        """
        Args:
            values: whether it is written, too, how large values are.
            on_device: where digests are made: True by integer sums, False on the host; None: where the values are.
        """
        self.writer = writer
        self.modules = modules
        self.recording = True
        self.row = 0
        self.filling = 0
        self.api: Any = None
        self._on_device = on_device
        self._values = values
        self._sums = digests.OnDevice()
        self._sites = Sites(*(str(path) + "/" for path in torch.__path__))
        self._operators: dict[Any, Operator] = {}
        self._apis: dict[Any, int] = {}
        self._kinds: dict[Any, int] = {}
        self._usual: dict[Any, int] = {}
        """Those of usual tensors, by type and shape."""
        self._numbers: dict[Any, int] = {}
        self._producers: dict[int, int] = {}
        self._shared: dict[int, int] = {}
        self._forward: dict[int, int] = {}
        self._latest = NOTHING
        self._queue: list[Row] = []
        self._waits = False
        """Whether devices have made digests, so that rows wait for these."""

    def call(self, overload: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call an operator, and write its row."""
        operator = self._operators.get(overload)
        if operator is None:
            operator = self._operators[overload] = Operator.of(overload)
        if operator.silent:
            return overload(*args, **kwargs)
        inputs: list[Any] = []
        others: list[Any] = []
        tensors: list[torch.Tensor] = []
        _sort(args, tensors, others)
        if kwargs:
            _sort(kwargs.values(), tensors, others)
        if operator.fresh:
            for tensor in tensors:
                self._producers.pop(_address(tensor), None)  # who had this memory before is no source of what is in it
        for tensor in tensors:
            self._value(tensor, inputs, operator.view or operator.waits, True)
        random = self._random(tensors, kwargs, others) if operator.random else UNREAD
        node, forward = self._place()
        row = Row(
            self._text(operator.name),
            self._api() if node == NOTHING else NOTHING,  # else it is what started the backward pass
            self.writer.site(self._sites.here(3)),
            self._text(self.modules.path),
            self._arguments(others) if others else NOTHING,
            node,
            forward,
            random,
            inputs,
            [],
            SHARED if operator.shared else VIEW if operator.view else 0,
        )
        try:
            result = overload(*args, **kwargs)
        except BaseException:
            row.flags |= FAILED
            self._put(row)
            raise
        if operator.unfilled and not any(tensor.numel() for tensor in tensors_of(result)):
            return (
                result  # nothing is in it: a tensor whose memory comes from elsewhere begins so, whenever that arrives
            )
        self._results(operator, row, result, tensors, args, kwargs)
        return result

    def record(
        self, op: str, inputs: Iterable[Any], outputs: Iterable[Any], forward: int, since: int | None = None
    ) -> int:
        """Write the row of what is larger than an operator, in the backward pass; `since` as for `finish`."""
        row = self.begin(op, inputs)
        row.node, row.forward = self._text("backward"), forward
        return self.finish(row, outputs, since)

    def begin(self, op: str, inputs: Iterable[Any]) -> Row:
        """A row whose inputs are read."""
        read: list[Any] = []
        tensors: list[torch.Tensor] = []
        others: list[Any] = []
        _sort(inputs, tensors, others)
        self._values_of(tensors, read, False, True)
        site = self.writer.site(self._sites.here(3))
        arguments = self._arguments(others) if others else NOTHING
        path = self._text(self.modules.path)
        return Row(self._text(op), NOTHING, site, path, arguments, NOTHING, NOTHING, UNREAD, read, [], 0)

    def finish(self, row: Row, outputs: Iterable[Any], since: int | None = None) -> int:
        """Read a row's outputs, and write it; its number.

        Args:
            since: the first row of what ran within; what one of those wrote stays its own. None: nothing within has rows.
        """
        tensors: list[torch.Tensor] = []
        _sort(outputs, tensors, [])
        self._values_of(tensors, row.outputs, False, False)
        with torch._C.DisableTorchFunction():
            for tensor in tensors:
                if since is None or max(map(self._producer, _parts(tensor)), default=NOTHING) < since:
                    self._wrote(tensor)
        if self._values:
            with digests.unseen():
                self._measure(row, [], tensors)
        return self._put(row)

    def tensors(self, values: Iterable[Any]) -> list[torch.Tensor]:
        """The tensors among values, whatever lists they stand in."""
        found: list[torch.Tensor] = []
        _sort(values, found, [])
        return found

    def aim(self, op: str, tensors: Iterable[torch.Tensor], read: bool = True) -> None:
        """Write the row of what the run is for.

        Args:
            read: whether the contents are digested; else what wrote them tells.
        """
        found: list[Any] = []
        self._values_of([*tensors], found, not read, True)
        site = self.writer.site(self._sites.here(3))
        self._put(Row(self._text(op), NOTHING, site, NOTHING, NOTHING, NOTHING, NOTHING, UNREAD, found, [], AIM))

    def event(self, name: str, frames: Frames, arguments: str, digest: int) -> None:
        """Write the row of a function of Python's."""
        if self.writer.closed or _node() is not None:
            return  # the trace has ended, or the backward pass calls it
        self._put(self.writer.event(name, frames, arguments, digest))

    def mark(self, step: Any) -> None:
        """Write a record other than a row, in its place among them."""
        with digests.unseen():
            self.fetch()
        self.writer.write(step)
        self._forward.clear()

    def fetch(self) -> None:
        """Fetch the digests that devices have made, and write the rows that wait for them."""
        if not self._queue:
            return
        by_device: dict[torch.device, dict[int, torch.Tensor]] = {}
        for row in self._queue:
            for n in (*row.inputs, *row.outputs):
                if isinstance(n, torch.Tensor):
                    by_device.setdefault(n.device, {})[id(n)] = n
        numbers: dict[int, int] = {}
        for sent in by_device.values():
            fetched = torch.stack([*sent.values()]).cpu().tolist()
            numbers.update(zip(sent, map(digests.on_host, fetched), strict=True))
        for row in self._queue:
            row.inputs = [n if type(n) is int else numbers[id(n)] for n in row.inputs]
            row.outputs = [n if type(n) is int else numbers[id(n)] for n in row.outputs]
            self.writer.write(row)
        self._queue.clear()

    # -- the parts of a row -------------------------------------------------------------------------------------------

    def _place(self) -> tuple[int, int]:
        """The autograd node that runs, and the row of the forward pass that it belongs to.

        A forward kernel's node has been numbered just before the kernel is called; the node tells its number when it runs.
        """
        node = _node()
        if node is None:
            made = _sequence() - 1
            if made != self._latest:
                self._latest = made
                self._forward[made] = self.row
            return NOTHING, NOTHING
        number = node._sequence_nr()
        forward = NOTHING if number == _LEAF else self._forward.get(number, NOTHING)
        return self._text(node.name()), forward

    def _measure(self, row: Row, inputs: list[torch.Tensor], outputs: list[torch.Tensor]) -> None:
        """Write how large values are; those that came in and weren't made by a row, as they are now."""
        from detlint.tracing.sketch import sketch

        made = [producer >= 0 for producer in row.inputs[2::3]]
        if len(made) != len(inputs):  # one that consists of several
            made = [True] * len(inputs)
        given = [[] if known else sketch(tensor) for tensor, known in zip(inputs, made, strict=True)]
        self.writer.write(Values(self.row, given, [*map(sketch, outputs)]))

    def _results(
        self,
        operator: Operator,
        row: Row,
        result: Any,
        inputs: list[torch.Tensor],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        tensors: list[torch.Tensor] = []
        _sort((result,), tensors, [])
        if operator.unfilled:
            fill(result, self.filling)
        if operator.written:
            written = (args[i] if i < len(args) else kwargs.get(name) for i, name in operator.written)
            _sort(written, tensors, [])
        if operator.shared:
            # What is exchanged is ready only later; it is read where it is used.
            for tensor in tensors:
                self._kind_only(tensor, row.outputs)
                self._shared[tensor.untyped_storage().data_ptr()] = self.row
        elif operator.view:
            self._pass_on(row, tensors)
        else:
            for tensor in tensors:
                if operator.unfilled:
                    self._kind_only(tensor, row.outputs)
                else:
                    self._value(tensor, row.outputs, False, False)
                self._wrote(tensor)
            if self._values:
                self._measure(row, inputs, tensors)
        self._put(row)

    def _pass_on(self, row: Row, views: list[torch.Tensor]) -> None:
        """The memory of a view was written by whoever wrote what it is a view of; what comes from outside begins with it."""
        producer = row.inputs[2] if row.inputs else NOTHING
        producer = self.row if producer == NOTHING else producer
        for view in views:
            self._kind_only(view, row.outputs)
            for part in _parts(view):
                address = _address(part)
                if self._producers.get(address, NOTHING) < producer:
                    self._producers[address] = producer

    def _wrote(self, tensor: torch.Tensor) -> None:
        for part in _parts(tensor):
            self._producers[_address(part)] = self.row

    def _put(self, row: Row) -> int:
        number = self.row
        self.row += 1
        if self._waits:
            self._queue.append(row)
            if len(self._queue) >= _WAITING:
                self.fetch()
        else:
            self.writer.write(row)
        return number

    def _values_of(self, tensors: list[torch.Tensor], into: list[Any], unread: bool, read: bool) -> None:
        """Add what tells of tensors outside of a kernel, where what reading them computes must be seen by nobody."""
        with torch._C.DisableTorchFunction():
            if not self._on_device and all(map(_is_usual, tensors)):  # that computes nothing
                for tensor in tensors:
                    self._value(tensor, into, unread, read)
                return
        with digests.unseen():
            for tensor in tensors:
                self._value(tensor, into, unread, read)

    def _value(self, tensor: torch.Tensor, into: list[Any], unread: bool, read: bool) -> None:
        """Add the kind and the digest of a tensor, and its producer where it is read."""
        if not self._on_device and _is_usual(tensor) and (address := tensor.data_ptr()) >= digests.LOW:
            producer = self._written(address, tensor) if read else NOTHING
            key = tensor.dtype, tensor.shape
            kind = self._usual.get(key)
            if kind is None:
                kind = self._usual[key] = self._kind(tensor)
            into.append(kind)
            into.append(UNREAD if unread and producer >= 0 else digests.lying(address, tensor.nbytes))
            if read:
                into.append(producer)
            return
        plain = type(tensor)
        if plain is torch.Tensor or plain is torch.nn.Parameter:
            parts: Iterable[torch.Tensor] = (tensor,)
            if not tensor.is_cpu or tensor.layout is not torch.strided or tensor.is_quantized or _is_lazy(tensor):
                parts = digests.plain(tensor)
        else:
            parts = digests.plain(tensor)
        found = False
        for part in parts:
            found = True
            producer = self._producer(part) if read else NOTHING
            into.append(self._kind(part))
            into.append(UNREAD if unread and producer >= 0 else self._digest(part))
            if read:
                into.append(producer)
        if not found:
            into.extend((self._kind(tensor), UNREAD, NOTHING) if read else (self._kind(tensor), UNREAD))

    def _kind_only(self, tensor: torch.Tensor, into: list[Any]) -> None:
        into.append(self._kind(tensor))
        into.append(UNREAD)

    def _producer(self, tensor: torch.Tensor) -> int:
        return self._written(_address(tensor), tensor)

    def _written(self, address: int, tensor: torch.Tensor) -> int:
        """Who wrote what is at an address."""
        found = self._producers.get(address or NOTHING, NOTHING)
        if self._shared:
            found = max(found, self._shared.get(tensor.untyped_storage().data_ptr(), NOTHING))
        if found == NOTHING and address in self.modules.tensors:
            return NAMED - self._text(self.modules.tensors[address])
        return found

    def _digest(self, tensor: torch.Tensor) -> Any:
        device = self._on_device
        if device is None:
            device = not tensor.is_cpu
        if not device:
            return digests.host(tensor if tensor.is_cpu else tensor.cpu())
        digest = self._sums(tensor)
        self._waits = self._waits or type(digest) is not int
        return digest

    def _kind(self, tensor: torch.Tensor) -> int:
        usual = tensor.layout is torch.strided and tensor.is_contiguous()
        key = (tensor.dtype, tensor.shape, tensor.device, None if usual else _layout(tensor))
        number = self._kinds.get(key)
        if number is None:
            dtype = str(tensor.dtype).removeprefix("torch.")
            number = self.writer.kind(dtype, tuple(map(int, tensor.shape)), str(tensor.device), key[3] or "")
            self._kinds[key] = number
        return number

    def _text(self, text: str) -> int:
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = self.writer.text(text)
        return number

    def _api(self) -> int:
        api = self.api
        if api is None:
            return NOTHING
        number = self._apis.get(api)
        if number is None:
            number = self._apis[api] = self.writer.text(name_of(api))
        return number

    def _arguments(self, others: list[Any]) -> int:
        return self.writer.text(", ".join(map(_shown, others))[:_LONGEST])

    def _random(self, tensors: list[torch.Tensor], kwargs: dict[str, Any], others: list[Any]) -> int:
        generator = next((other for other in others if isinstance(other, torch.Generator)), None)
        device = kwargs.get("device") or (tensors[0].device if tensors else torch.device("cpu"))
        return random_state(generator, torch.device(device))


def name_of(api: Any) -> str:
    """The public name of a function: `torch.nn.functional.grid_sample`."""
    try:
        name = resolve_name(api)
    except Exception:  # whatever a library has made overridable
        name = None
    if name:
        return str(name)
    return f"{getattr(api, '__module__', None) or 'torch'}.{getattr(api, '__qualname__', None) or api}"


def _sort(values: Iterable[Any], tensors: list[torch.Tensor], others: list[Any]) -> None:
    """Tensors apart from everything else, whatever lists they stand in."""
    for value in values:
        if isinstance(value, torch.Tensor):
            tensors.append(value)
        elif isinstance(value, list | tuple) and any(isinstance(item, torch.Tensor | list | tuple) for item in value):
            _sort(value, tensors, others)
        elif isinstance(value, dict):
            _sort(value.values(), tensors, others)
        elif value is not None:
            others.append(value)


def tensors_of(result: Any) -> list[torch.Tensor]:
    """The tensors in a result."""
    tensors: list[torch.Tensor] = []
    _sort((result,), tensors, [])
    return tensors


def _shown(value: Any) -> str:
    """An argument as text; an object that isn't a value has only its type, since its address differs in every run."""
    if isinstance(value, bool | int | float | complex | str | list | tuple):
        return repr(value)
    if isinstance(
        value, torch.dtype | torch.device | torch.layout | torch.memory_format | torch.SymInt | torch.SymFloat
    ):
        return str(value)
    return type(value).__name__


def _layout(tensor: torch.Tensor) -> str:
    if tensor.layout is not torch.strided:
        return str(tensor.layout).removeprefix("torch.")
    try:
        return str(tuple(map(int, tensor.stride())))
    except RuntimeError:  # nested tensors have no strides
        return type(tensor).__name__


def _is_usual(tensor: torch.Tensor) -> bool:
    """Whether it is plain memory of the host's, with its values one after the other."""
    kind = type(tensor)
    return (
        (kind is torch.Tensor or kind is torch.nn.Parameter)
        and tensor.is_cpu
        and tensor.layout is torch.strided
        and tensor.dtype in _ORDINARY
        and tensor.is_contiguous()
        and not tensor.is_neg()
    )


def _parts(tensor: torch.Tensor) -> Iterable[torch.Tensor]:
    """The tensors whose memory it is."""
    kind = type(tensor)
    return (tensor,) if kind is torch.Tensor or kind is torch.nn.Parameter else digests.plain(tensor)


def _is_lazy(tensor: torch.Tensor) -> bool:
    return tensor.is_neg() or (tensor.is_complex() and tensor.is_conj())


def _address(tensor: torch.Tensor) -> int:
    """What tells a tensor's memory while it lives; 0 where nothing does."""
    try:
        return tensor.data_ptr() or int(tensor.untyped_storage()._cdata)
    except (RuntimeError, NotImplementedError):  # sparse, fake
        return 0


def fill(result: Any, what: int = 0) -> None:
    """Put zeros, or something else, into memory that holds anything."""
    for tensor in tensors_of(result):
        if not tensor.is_meta and tensor.numel():
            tensor.fill_(what) if what else tensor.zero_()

"""Turns the calls of TensorFlow's operators, run eagerly, into rows."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Hashable, Iterable
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final

import tensorflow
from tensorflow.python.framework import dtypes, op_def_registry
from tensorflow.python.framework.ops import EagerTensor
from tensorflow.python.ops import gen_resource_variable_ops
from tensorflow.python.util.tf_export import get_canonical_name_for_symbol

from detlint.tracing.arrays import ArrayTracer, Kind, Made, of_array, of_numbers
from detlint.tracing.records import BRINGS, DRAWS, NOTHING, UNREAD, Row
from detlint.tracing.writer import Writer

PACKAGES: Final = Path(tensorflow.__file__).parent.parent
ROOTS: Final = tuple(f"{PACKAGES / name}/" for name in ("tensorflow", "keras", "tf_keras"))
_DEVICES: Final = {"gpu": "cuda"}
_BRINGING: Final = re.compile(
    r"IteratorGetNext\w*|OptionalGetValue|\w*PyFunc\w*|ReadFile|Timestamp|ReadVariableOp|MatchingFiles|\w*Reader\w*|\w*Dequeue\w*"
)
"""Operators that give what no operator has made: of datasets, files, functions of Python's, and the memory of variables."""
_WRITING: Final = re.compile(
    r"Assign\w*VariableOp|Resource(Sparse)?(Apply|Scatter|StridedSlice|Accumulator|GatherNd)\w*|Rng\w*|Stateful\w+"
)
"""Operators that write to the variables whose handles they get."""
_SEEDS: Final = ("seed", "seed2")
_UNSAID: Final = re.compile(
    r"seed2?|container|shared_name|debug_name|executor_type|config_proto|metadata|allowed_devices|T\w*|SrcT|DstT|\w*dtype|\w+_types?"
)
"""Attributes that differ from run to run, or say what the kinds of the tensors say, too."""
_FUNCTION: Final = re.compile(r"__(?:inference|forward|backward)_(?P<name>.+)_\d+")
_INNER: Final = ("fn", "dispatch_target", "op", "target", "func")
"""What TensorFlow's wrappers call the function that they wrap."""


class TensorFlowTracer(ArrayTracer):
    """One trace of TensorFlow.

    Attributes:
        node: the operator whose gradient is computed; empty outside of the backward pass.
        forward: its row.
    """

    def __init__(self, writer: Writer, functions_only: bool) -> None:
        """
        Args:
            functions_only: whether operators get no rows, only compiled functions as a whole.
        """
        super().__init__(writer, *ROOTS)
        self.node = ""
        self.forward = NOTHING
        self._functions_only = functions_only
        self._busy = False
        self._calls: dict[tuple[str, Hashable], int] = {}
        self._latest: dict[str, list[int]] = {}
        self._names_of: dict[Any, str] = {}
        self._stepping: dict[str, Callable[[], None]] = {}

    def called(
        self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> None:
        """Write the row of an operator that has run: TensorFlow calls this. What becomes part of a graph hasn't run."""
        if graph is not None or self._busy or not self.recording:
            return
        name = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
        function = _FUNCTION.fullmatch(name)
        if function is None and self._functions_only:
            return
        self._busy = True
        try:
            self._write(name, f"function {function['name']}" if function else name, inputs, attrs, outputs)
        finally:
            self._busy = False
        if function is not None and (stepped := self._stepping.get(function["name"])):
            stepped()

    def stepping(self, function: str, stepped: Callable[[], None]) -> None:
        """An optimizer steps in a function that is being compiled: each call of that function is a step."""
        self._stepping[function] = stepped

    def found(self, op: str, inputs: Iterable[Any], outputs: Iterable[Any]) -> int:
        """The row of the forward pass that called an operator with these; NOTHING where it isn't known.

        Not all of them are kept for the backward pass, which goes through the operators in reverse.
        """
        number = NOTHING
        for tensor in outputs or ():
            if isinstance(tensor, EagerTensor) and (made := self.made_by(tensor)) != NOTHING:
                number = made
        if number == NOTHING:
            known = (self._calls.get((op, tensor._id)) for tensor in inputs or () if isinstance(tensor, EagerTensor))
            number = next((row for row in known if row is not None), NOTHING)
        rows = self._latest.get(op, [])
        if number == NOTHING and rows:
            return rows.pop()
        if number in rows:
            rows.remove(number)
        return number

    def mark(self, step: Any) -> None:
        handles = {key: made for key, made in self._made.items() if made.digest == UNREAD}
        super().mark(step)
        self._made.update(handles)  # of datasets, iterators and variables, which live on
        self._calls.clear()
        self._latest.clear()

    # -- what TensorFlow's tensors tell -------------------------------------------------------------------------------

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, EagerTensor)

    @property
    def goes_back(self) -> bool:
        return bool(self.node)

    def kind(self, tensor: Any) -> Kind:
        device = str(tensor.backing_device or "").rpartition("device:")[2].lower()
        place = device.partition(":")[0]
        return Kind(tensor.dtype.name, tuple(tensor.shape), _DEVICES.get(place, place))

    def digest(self, tensor: Any) -> int:
        if tensor.dtype in (dtypes.resource, dtypes.variant):
            return UNREAD
        array = tensor.numpy()
        return of_array(array) if hasattr(array, "dtype") else of_numbers([array])

    def key(self, tensor: Any) -> Hashable:
        number: int = tensor._id
        return number

    def api(self, entry: FrameType) -> str:
        names = entry.f_locals
        function = next((names[name] for name in _INNER if callable(names.get(name))), None)
        given = names.get("args") or (names.get("self"),)
        own = given[0] if given else None
        title = getattr(function, "__name__", entry.f_code.co_name)
        if type(own).__module__.startswith("keras."):
            return _of_keras(own, title)
        if function is None:
            function = entry.f_globals.get(title)
        name = self._names_of.get(function)
        if name is None:
            public = _public(function)
            name = self._names_of[function] = f"tensorflow.{public}" if public else ""
        return name

    # -- the parts of a row -------------------------------------------------------------------------------------------

    def _write(self, name: str, op: str, inputs: Any, attrs: Any, outputs: Any) -> None:
        attributes = dict(zip(attrs[::2], attrs[1::2], strict=True)) if attrs else {}
        random, flags = UNREAD, BRINGS if _BRINGING.fullmatch(name) else 0
        if "seed" in attributes or name == "NonDeterministicInts":
            seeds = [attributes.get(seed) or 0 for seed in _SEEDS]
            random, flags = of_numbers(seeds) if any(seeds) else UNREAD, DRAWS
        elif places := _seeds_of(name):
            numbers = [inputs[place].numpy().tolist() for place in places]
            random, flags = (of_numbers(numbers), 0) if any(numbers) else (UNREAD, DRAWS)
        others = [{key: value for key, value in attributes.items() if not _UNSAID.fullmatch(key)}]
        row = self.begin(op, inputs, others, random, flags)
        self._place(row, name, inputs)
        if name == "VarHandleOp":
            self.names[outputs[0]._id] = str(attributes.get("debug_name") or attributes.get("shared_name") or "").strip(
                "/"
            )
        if name == "MakeIterator":
            self._made[inputs[1]._id] = Made(self.row, UNREAD)
        written = self._variables(inputs) if op != name or _WRITING.fullmatch(name) else ()
        self.finish(row, (*outputs, *(value for _, value in written)))
        for handle, _ in written:
            self._made[handle._id] = Made(self.row - 1, UNREAD)

    def _place(self, row: Row, name: str, inputs: Any) -> None:
        """The operator whose gradient it belongs to; in the forward pass, what the backward pass will find it by."""
        if self.node:
            row.node, row.forward = self.text(self.node), self.forward
            return
        for tensor in inputs:
            self._calls[name, tensor._id] = self.row
        self._latest.setdefault(name, []).append(self.row)

    def _variables(self, inputs: Any) -> list[tuple[Any, Any]]:
        """The handles of variables among the inputs, and what the variables hold now."""
        found = []
        for handle in inputs:
            held = getattr(handle, "_handle_data", None)
            if handle.dtype == dtypes.resource and held is not None and held.shape_and_type:
                dtype = held.shape_and_type[0].dtype
                found.append((handle, gen_resource_variable_ops.read_variable_op(handle, dtype)))
        return found

    def made_by(self, tensor: Any) -> int:
        """The row that made a tensor."""
        made = self._made.get(tensor._id) or self._earlier.get(tensor._id)
        return made.row if made is not None else NOTHING


@cache
def _seeds_of(name: str) -> tuple[int, ...]:
    """At which places a dataset's operator gets its seeds, if it draws: both 0 stand for one of the system's."""
    definition = op_def_registry.get(name) if "Dataset" in name else None
    inputs = [argument.name for argument in definition.input_arg] if definition is not None else []
    return tuple(inputs.index(seed) for seed in _SEEDS if seed in inputs)


def _public(function: Any) -> str:
    """The name under which a program gets a function of TensorFlow's, which may be wrapped several times."""
    while callable(function):
        try:
            if name := get_canonical_name_for_symbol(function):
                return str(name)
        except AttributeError:
            return ""  # nothing that TensorFlow exports
        inner = inspect.getclosurevars(function).nonlocals if inspect.isfunction(function) else {}
        function = next((inner[name] for name in _INNER if callable(inner.get(name))), None)
    return ""


def _of_keras(own: Any, function: str) -> str:
    """The name under which a program gets a class of Keras's, or a method of a model."""
    import keras

    kind = type(own)
    if isinstance(own, keras.Model) and function != "__call__":
        return f"keras.Model.{function}"
    for owner in ("layers", "optimizers", "losses", "random"):
        if getattr(getattr(keras, owner), kind.__name__, None) is kind:
            return f"keras.{owner}.{kind.__name__}"
    return ""

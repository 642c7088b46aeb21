"""Turns the calls of MindSpore's operators, in PyNative mode, into rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import mindspore
from mindspore.common.api import _pynative_executor

from detlint.tracing.arrays import ArrayTracer, Kind, of_array, of_numbers
from detlint.tracing.mindspore_backward import Backward
from detlint.tracing.records import DRAWS, NOTHING, UNREAD
from detlint.tracing.writer import Writer

ROOT: Final = str(Path(mindspore.__file__).parent) + "/"
_DEVICES: Final = {"ascend": "npu", "gpu": "cuda"}
_DRAWING: Final = frozenset({
    "Bernoulli", "Dropout", "Dropout2D", "Dropout3D", "FuncDropoutExt", "DropoutExt", "DropoutGenMask", "DropoutGenMaskExt",
    "Gamma", "InplaceBernoulliScalar", "InplaceBernoulliTensor", "InplaceExponential", "InplaceNormal", "InplaceRandom",
    "InplaceUniform", "LogNormalReverse", "LogUniformCandidateSampler", "Multinomial", "MultinomialExt",
    "MultinomialWithReplacement", "NormalFloatFloat", "NormalFloatTensor", "NormalTensorFloat", "NormalTensorTensor",
    "ParameterizedTruncatedNormal", "Poisson", "RandExt", "RandInt", "RandIntLike", "RandLikeExt", "Randn", "RandnExt",
    "RandnLike", "RandomCategorical", "RandomChoiceWithMask", "RandomGamma", "RandomPoisson", "RandomShuffle", "Randperm",
    "RandpermExt", "RandpermV2", "StandardLaplace", "StandardNormal", "TruncatedNormal", "UniformCandidateSampler",
    "UniformExt", "UniformInt", "UniformReal",
})  # fmt: skip
"""Operators that draw random numbers. They get seeds as attributes and keep a state of their own that nothing tells, or a seed
and an offset as tensors, which say it all. Source: mindspore 2.10.0, ops/auto_generate/gen_ops_prim.py."""
_OWNERS: Final = (
    "mindspore.ops", "mindspore.mint", "mindspore.mint.nn.functional", "mindspore", "mindspore.numpy", "mindspore.Tensor",
)  # fmt: skip
_PUBLIC: Final = ("mindspore.mint.nn", "mindspore.nn", "mindspore.ops", "mindspore.mint.optim", "mindspore")


class MindSporeTracer(ArrayTracer):
    """One trace of MindSpore."""

    by_content = True

    def __init__(self, writer: Writer) -> None:
        super().__init__(writer, ROOT)
        self.backward = Backward(self)
        self._busy = False
        self._addresses: dict[int, int] | None = None
        """Those of the tensors of the call that runs: each look at an address waits for what is being computed."""
        self._functions: dict[CodeType, str] = {}
        self._classes: dict[type, str] = {}
        self._dtypes: dict[Any, str] = {}
        self._engine: Callable[[], int] = getattr(_pynative_executor, "get_current_autodiff_engine_id", lambda: NOTHING)

    def call(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Call an operator, and write its row."""
        if self._busy or not self.recording:
            return function(*args, **kwargs)
        before, self._addresses = self._addresses, {}
        try:
            return self._call(function, args, kwargs)
        finally:
            self._addresses = before

    def _call(self, function: Any, args: Any, kwargs: Any) -> Any:
        name: str = function.name
        primitive, given = _taken_apart(name, args)
        inputs = [*self.tensors((*given, *kwargs.values()))]
        others = [*_others((*given, *kwargs.values()))]
        random, flags = UNREAD, 0
        if name in _DRAWING:
            inputs, others, random, flags = self._drawing(primitive, inputs, others)
        elif primitive is not None:
            others.append(getattr(primitive, "init_attrs", None) or {})
        row = self.begin(name, inputs, others, random, flags)
        if self.goes_back:
            self.backward.called(row, inputs)
        else:
            self.backward.given(name, row, inputs)
        try:
            result = function(*args, **kwargs)
        except BaseException:
            self.fail(row)
            raise
        made = [*self.tensors((result,))]
        if not made:
            return result  # it computes on types or shapes
        number = self.row
        for tensor in (*made, *self._written(inputs, row.inputs)):
            self.add(tensor, row)
        self.finish(row)
        self.backward.made(number, name, made, row.outputs)
        return result

    # -- what MindSpore's tensors tell --------------------------------------------------------------------------------

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, mindspore.Tensor)

    @property
    def goes_back(self) -> bool:
        return self._engine() != NOTHING

    def kind(self, tensor: Any) -> Kind:
        dtype = tensor.dtype
        name = self._dtypes.get(dtype)
        if name is None:
            name = self._dtypes[dtype] = str(dtype).lower()
        device = str(getattr(tensor, "device", "")).partition(":")[0].lower()
        return Kind(name, tuple(tensor.shape), _DEVICES.get(device, device))

    def digest(self, tensor: Any) -> int:
        busy, self._busy = self._busy, True  # reading may call operators
        try:
            return of_array(tensor.asnumpy())
        except (RuntimeError, TypeError, ValueError):  # a parameter without content yet
            return UNREAD
        finally:
            self._busy = busy

    def key(self, tensor: Any) -> Hashable:
        addresses = self._addresses
        if addresses is None:
            return tensor.data_ptr() or None
        known = addresses.get(id(tensor))
        if known is None:
            known = addresses[id(tensor)] = tensor.data_ptr()
        return known or None

    def api(self, entry: FrameType) -> str:
        code = entry.f_code
        if "self" in code.co_varnames[:1]:
            own = entry.f_locals["self"]
            kind = type(own)
            if isinstance(own, mindspore.Tensor):
                return f"mindspore.Tensor.{code.co_name}"
            name = self._classes.get(kind)
            if name is None:
                name = self._classes[kind] = _public(kind)
            return name
        name = self._functions.get(code)
        if name is None:
            name = self._functions[code] = _exported(code)
        return name

    # -- the parts of a row -------------------------------------------------------------------------------------------

    def _drawing(self, primitive: Any, inputs: list[Any], others: list[Any]) -> tuple[list[Any], list[Any], int, int]:
        """The inputs and arguments of an operator that draws, without its seeds; their digest; its flags."""
        if primitive is None:
            seeds = [tensor for tensor in inputs if tensor.shape == () and "Int64" in str(tensor.dtype)]
            rest = [tensor for tensor in inputs if all(tensor is not seed for seed in seeds)]
            return rest, others, of_numbers(map(self.digest, seeds)) if seeds else UNREAD, 0 if seeds else DRAWS
        attributes = getattr(primitive, "init_attrs", None) or {}
        numbers = [value for name, value in sorted(attributes.items()) if name.lower().startswith("seed")]
        numbers += [other for other in others if type(other) is int]
        left = [other for other in others if type(other) is not int]
        return inputs, left, of_numbers(numbers) if any(numbers) else UNREAD, DRAWS

    def _written(self, inputs: list[Any], read: list[int]) -> Iterable[Any]:
        """The parameters among the inputs whose content is another one after the call."""
        for place, tensor in enumerate(inputs):
            if (isinstance(tensor, mindspore.Parameter) or self.key(tensor) in self.names) and read[
                3 * place + 1
            ] != self.digest(tensor):
                yield tensor


def _taken_apart(name: str, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The primitive, where an operator is called with it and its name, and what the operator is given."""
    if len(args) == 3 and args[1] == name and isinstance(args[2], tuple | list):
        return args[0], tuple(args[2])
    return None, tuple(args)


def _others(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            if not any(isinstance(item, mindspore.Tensor | list | tuple) for item in value):
                yield value
            else:
                yield from _others(value)
        elif value is not None and not isinstance(value, mindspore.Tensor):
            yield value


def _public(kind: type) -> str:
    """The name under which a program gets one of MindSpore's classes."""
    for owner in _PUBLIC:
        if getattr(_module(owner), kind.__name__, None) is kind:
            return f"{owner}.{kind.__name__}"
    return ""


def _exported(code: CodeType) -> str:
    """The name under which a program gets one of MindSpore's functions."""
    for owner in _OWNERS:
        found = getattr(_module(owner), code.co_name, None)
        if getattr(found, "__code__", None) is code:
            return f"{owner}.{code.co_name}"
    return ""


def _module(name: str) -> Any:
    found: Any = mindspore
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found

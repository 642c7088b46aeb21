"""Functions of TensorFlow on the CPU, forward and backward, in eager code and in graphs."""

from __future__ import annotations

import sys
from typing import Any, Final

from detlint.runtime.arguments import Call
from detlint.runtime.plans import Choice, Function, Plan

CPU: Final = "/CPU:0"
_TARGETS: Final = {"GPU": "cuda", "NPU": "ascend", "TPU": "tpu", "XPU": "xpu", "CPU": "cpu"}
"""Kind of device, as TensorFlow names it -> the catalog's target."""


def device(plan: Plan, choice: Choice, call: Call) -> str:
    """The device on which a call would run; "" where it is the CPU, or the entry doesn't concern it."""
    tensorflow: Any = sys.modules["tensorflow"]
    place = tensorflow.DeviceSpec.from_string(tensorflow.zeros([]).device)
    kind: str = place.device_type or _first(tensorflow)
    if kind == "CPU" and not place.device_index:
        return ""
    if plan.asked or _TARGETS.get(kind, kind.lower()) in choice.entry.targets:
        gradients = plan.asked or choice.entry.pass_ != "backward" or _records(tensorflow)
        return (kind if kind != "CPU" else f"CPU:{place.device_index}") if gradients else ""
    return ""


def _first(tensorflow: Any) -> str:
    """Where a graph's operators go that are told no device: to the first device that is no CPU."""
    kinds = [found.device_type for found in tensorflow.config.get_visible_devices()]
    return next((kind for kind in kinds if kind != "CPU"), "CPU")


def _records(tensorflow: Any) -> bool:
    """Whether gradients may be taken of what is called here: of a graph always, since who calls it isn't known while it is made."""
    record: Any = sys.modules.get("tensorflow.python.eager.record")
    asked = getattr(record, "could_possibly_record", None)
    return asked is None or tensorflow.inside_function() or bool(asked())


def on_cpu(func: Function, call: Call) -> Any:
    """What a function gives, computed on the CPU. Its gradient is computed there as well, from the inputs anew, since a gradient
    takes its device from where it is asked for."""
    tensorflow: Any = sys.modules["tensorflow"]
    nest = tensorflow.nest
    arguments = (call.args, call.kwargs)
    leaves = nest.flatten(arguments, expand_composites=True)
    places = [i for i, leaf in enumerate(leaves) if tensorflow.is_tensor(leaf)]

    def compute(*tensors: Any) -> Any:
        filled = [*leaves]
        for i, tensor in zip(places, tensors, strict=True):
            filled[i] = tensor
        args, kwargs = nest.pack_sequence_as(arguments, filled, expand_composites=True)
        return func(*args, **kwargs)

    @tensorflow.custom_gradient  # type: ignore[untyped-decorator]
    def here(*tensors: Any) -> Any:
        def gradient(*upstream: Any) -> Any:
            with tensorflow.device(CPU), tensorflow.GradientTape() as tape:
                tape.watch([tensor for tensor in tensors if tensor.dtype.is_floating or tensor.dtype.is_complex])
                again = nest.flatten(compute(*tensors))
                return tape.gradient(again, tensors, output_gradients=[*upstream])

        with tensorflow.device(CPU):
            return compute(*tensors), gradient

    if not places:
        with tensorflow.device(CPU):
            return func(*call.args, **call.kwargs)
    return here(*(tensorflow.convert_to_tensor(leaves[i]) for i in places))

"""What is done with calls whose tensors are on a device of PyTorch's: on the CPU, by other operators, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch

from detlint.runtime.arguments import Call
from detlint.runtime.conditions import ON, hold
from detlint.runtime.context import compiling
from detlint.runtime.operators import Generators, device_of, on_cpu
from detlint.runtime.plans import ACTIONS, GOES_ON, Action, Choice, Function, Plan, put, unsupported


def _concerned(plan: Plan, choice: Choice, call: Call) -> torch.device | None:
    """The device on which a call varies, as the entry says, or as the program's author does; None where it doesn't."""
    device = device_of(call.args, call.kwargs)
    if plan.asked:
        return device
    targets = choice.entry.targets
    if device is None or (targets and ON.get(device.type, device.type) not in targets):
        return None
    if choice.entry.pass_ == "backward" and not _takes_gradients(call):
        return None
    return device if hold(choice.entry.when, call) else None


def _takes_gradients(call: Call) -> bool:
    return torch.is_grad_enabled() and any(_requires(value) for value in (*call.args, *call.kwargs.values()))


def _requires(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(_requires(item) for item in value)
    return isinstance(value, torch.Tensor) and value.requires_grad


def _run_on_cpu(plan: Plan, choice: Choice, func: Function, call: Call) -> Any:
    device = _concerned(plan, choice, call)
    if device is None:
        return GOES_ON
    plan.done(choice, f"ran on the CPU instead of {device.type}")
    return on_cpu(func, call.args, call.kwargs, device, _generators(plan))


def _draw_on_cpu(plan: Plan, choice: Choice, func: Function, call: Call) -> Any:
    device = call.kwargs.get("device")
    if device is None:
        device = device_of(call.args, call.kwargs) or _default_device(call)
    device = torch.device(device)
    if device.type in ("cpu", "meta"):
        return GOES_ON
    plan.done(choice, f"drew on the CPU instead of {device.type}")
    return on_cpu(func, call.args, call.kwargs, device, _generators(plan))


def _default_device(call: Call) -> torch.device:
    """Where a call without a device draws: with its tensors on the CPU, else where PyTorch makes new ones."""
    tensors = any(isinstance(value, torch.Tensor) for value in (*call.args, *call.kwargs.values()))
    if tensors:
        return torch.device("cpu")
    return torch.empty(0).device if compiling() else torch.get_default_device()  # which no graph can have


def _replace(plan: Plan, choice: Choice, func: Function, call: Call) -> Any:
    return GOES_ON if _concerned(plan, choice, call) is None else put(plan, choice, func, call)


def _unsupported(plan: Plan, choice: Choice, func: Function, call: Call) -> Any:
    device = _concerned(plan, choice, call)
    if device is None:
        return GOES_ON
    if plan.context.options.unsupported == "cpu":
        return _run_on_cpu(plan, choice, func, call)
    unsupported(plan, choice, device.type)
    return GOES_ON


def _generators(plan: Plan) -> Generators:
    assert isinstance(plan.backend, Devices)
    return plan.backend


class Devices(Generators):
    """PyTorch's devices: what is done with calls on them, and the generators on the CPU that stand in for theirs."""

    actions: ClassVar[Mapping[str, Action]] = {
        **ACTIONS,
        "cpu": _run_on_cpu,
        "cpu-draw": _draw_on_cpu,
        "replace": _replace,
        "unsupported": _unsupported,
    }

"""What layers do inside, where PyTorch tells nobody: hooks that hold what makes a layer draw, while it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from detlint.catalog import Entry
from detlint.runtime.arguments import Attributes
from detlint.runtime.context import Context, compiling
from detlint.runtime.plans import Backend, Plan, plan_of
from detlint.runtime.resolve import find


class Layers:
    """Turns off what layers draw: the attribute that the catalog's recipe names has the recipe's value during the call."""

    def __init__(self, context: Context, backend: Backend) -> None:
        self._context = context
        self._backend = backend
        self._plans: dict[type, Plan | None] = {}
        self._scripts: dict[str, Plan | None] = {}
        self._held: dict[int, tuple[int, dict[str, Any]]] = {}
        """id of a layer -> how many calls of it run, and what its attributes were."""
        self._lock = threading.Lock()
        self._handles: list[Any] = []

    def start(self) -> None:
        # What is known by now is planned now: a plan that is made while PyTorch compiles would be compiled too.
        for api in self._context.catalog.calls:
            found = find(api)
            if found is not None and isinstance(found.value, type) and issubclass(found.value, torch.nn.Module):
                self._plan(found.value)
        # Neither hook gives anything: the input and output stay as they are.
        self._handles = [
            register_module_forward_pre_hook(self._before),
            register_module_forward_hook(self._after, always_call=True),
        ]

    def undo(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def _before(self, module: torch.nn.Module, args: Any) -> None:
        if self._context.active:
            for layer, plan in self._drawing(module):
                if layer.training:
                    self._hold(layer, plan)

    def _after(self, module: torch.nn.Module, args: Any, output: Any) -> None:
        if self._held:
            for layer, _ in self._drawing(module):
                self._release(layer)

    def _drawing(self, module: torch.nn.Module) -> list[tuple[torch.nn.Module, Plan]]:
        """The layers that may draw in a call: itself, or in a script, which runs no hooks inside, all that it is made of."""
        if isinstance(module, torch.jit.ScriptModule):
            parts = ((part, self._plan_of_script(part)) for part in module.modules())
            return [(part, plan) for part, plan in parts if plan is not None]
        plan = self._plan(type(module))
        return [(module, plan)] if plan is not None else []

    def _plan(self, kind: type) -> Plan | None:
        try:
            return self._plans[kind]
        except KeyError:
            plan = self._plans[kind] = layer_plan(kind, self._context, self._backend)
            return plan

    def _plan_of_script(self, part: torch.nn.Module) -> Plan | None:
        name = f"torch.nn.{getattr(part, 'original_name', '')}"
        if name not in self._scripts:
            self._scripts[name] = plan_of(name, self._context, self._backend)
        return self._scripts[name]

    def _hold(self, layer: torch.nn.Module, plan: Plan) -> None:
        if compiling():  # one thread, and locks can't be traced
            self._hold_alone(layer, plan)
            return
        with self._lock:
            self._hold_alone(layer, plan)

    def _hold_alone(self, layer: torch.nn.Module, plan: Plan) -> None:
        running, before = self._held.get(id(layer), (0, {}))
        if not running:
            wanted = plan.held(Attributes(layer))
            if wanted and isinstance(layer, torch.jit.ScriptModule):
                wanted = {"training": False}  # a script has the others as constants
            before = {name: getattr(layer, name) for name in wanted}
            for name, value in wanted.items():
                setattr(layer, name, value)
        if before:
            self._held[id(layer)] = running + 1, before

    def _release(self, layer: torch.nn.Module) -> None:
        if compiling():
            self._release_alone(layer)
            return
        with self._lock:
            self._release_alone(layer)

    def _release_alone(self, layer: torch.nn.Module) -> None:
        running, before = self._held.pop(id(layer), (0, {}))
        if running > 1:
            self._held[id(layer)] = running - 1, before
            return
        for name, value in before.items():
            setattr(layer, name, value)


class Recurrent:
    """What recurrent layers call by whichever of their methods, `LSTM.forward` among them, which runs no hooks: without dropout."""

    def __init__(self, name: str, context: Context) -> None:
        self._api = f"torch.{name}"
        self._context = context

    def __call__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        # (input, hx, params, has_biases, num_layers, dropout, train, ...), and with `batch_sizes` behind a packed input: the rate is the
        # only argument that is no whole number. torch 2.13, torch/nn/modules/rnn.py.
        rate = next((place for place, value in enumerate(args) if isinstance(value, float)), None)
        if rate is None or not args[rate] or not all(args[rate + 1 : rate + 2]):
            return function(*args, **kwargs)
        self._context.done(Entry(rule="DET202"), self._api, f"`{self._api}` ran with dropout=0.0")
        return function(*args[:rate], 0.0, *args[rate + 1 :], **kwargs)


def recurrent(context: Context) -> dict[Any, Recurrent]:
    """What is done with each function that recurrent layers call."""
    return {getattr(torch, name): Recurrent(name, context) for name in ("gru", "lstm", "rnn_relu", "rnn_tanh")}


def layer_plan(kind: type, context: Context, backend: Backend) -> Plan | None:
    """The plan for a class of layers: by its own name or a base class's, or as a copy that a project has."""
    found = known_as(kind, context)
    if found is None:
        return None
    api, entries = found
    return plan_of(api, context, backend, entries)


def known_as(kind: type, context: Context) -> tuple[str, list[Entry]] | None:
    """The name under which the catalog knows a class, and the entries there."""
    catalog = context.catalog
    for base in kind.__mro__:
        own = f"{base.__module__}.{base.__qualname__}"
        api = catalog.canonical(own)
        if api in catalog.calls:
            return api, [catalog.entries[i] for i in catalog.calls[api]]
        if base.__name__ in catalog.copies:
            return own, [catalog.entries[i] for i in catalog.copies[base.__name__]]
    return None

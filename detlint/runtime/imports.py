"""Acting on a framework once the program imports it, without importing it for the program's sake.

A finder ahead of the others looks out for the names that somebody waits for, and wraps their loaders: what waits is done
as soon as the module's own code has run, before the statement that imports it goes on.
https://docs.python.org/3/reference/import.html#import-hooks describes the machinery.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

Action = Callable[[ModuleType], None]


def when_imported(name: str, action: Action) -> bool:
    """Do something with a module: now if it is imported, else as soon as it is.

    Args:
        name: a top-level module.
        action: gets the module. It must not raise: the import would fail with it.

    Returns:
        Whether it is done already.
    """
    module = sys.modules.get(name)
    if module is not None:
        action(module)
        return True
    if _watch not in sys.meta_path:
        sys.meta_path.insert(0, _watch)
    _watch.waiting.setdefault(name, []).append(action)
    return False


def installed(name: str) -> bool:
    """Whether a top-level module could be imported. Importing it is not tried: `import torch_npu` fails without CANN."""
    return name in sys.modules or find_spec(name) is not None


class _Watch(MetaPathFinder):
    """Finds nothing by itself; wraps what the other finders find for the names that are waited for."""

    def __init__(self) -> None:
        self.waiting: dict[str, list[Action]] = {}

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not self.waiting.get(name):
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        specs = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    """A module's own loader, and then what waits for the module."""

    def __init__(self, own: Any) -> None:
        self._own = own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._own.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        # What the module and its readers see is its own loader, as without us.
        module.__loader__ = self._own
        if module.__spec__ is not None:
            module.__spec__.loader = self._own
        self._own.exec_module(module)
        for action in _watch.waiting.pop(module.__name__, ()):
            action(module)


_watch = _Watch()

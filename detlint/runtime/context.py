"""What everything that acts in one enforcement shares."""

from __future__ import annotations

import sys
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from detlint.catalog import Catalog, Entry
from detlint.runtime.options import Options
from detlint.runtime.own_seeds import OwnSeeds
from detlint.runtime.places import importing, place
from detlint.runtime.report import Report


class Nondeterministic(RuntimeError):
    """An operator that varies was called, and nothing is known to do about it (`unsupported="error"`)."""


class NondeterministicWarning(UserWarning):
    """The same under `unsupported="warn"`."""


_ACTIVE: list[Context] = []


def enforced() -> bool:
    """Whether an enforcement is active in this process, begun in it or in the one that it is a copy of."""
    return bool(_ACTIVE)


class Context:
    """The options, the catalog and the report; and whether the enforcement is still active.

    What was put in place of other things may be kept by the program after leaving. It asks `active`, and does nothing then.
    """

    def __init__(self, options: Options, catalog: Catalog, report: Report, only: frozenset[str] = frozenset()) -> None:
        self.options = options
        self.only = only
        self.catalog = catalog
        self.report = report
        self.active = False
        """Set by `begin` and `end`."""
        self.own = OwnSeeds()
        self._seeds: dict[str, int] = {}
        """What has been seeded, and how often."""

    def begin(self) -> None:
        self.active = True
        _ACTIVE.append(self)

    def end(self) -> None:
        if self.active:
            self.active = False
            _ACTIVE.remove(self)

    def seed(self, api: str, origin: str) -> int:
        """The next of the seeds for what has none of its own, by the API and by what calls it.

        So what one part of a program does leaves the seeds of another alone; seeds that the program gives itself count. In a worker of
        a data loader they follow the worker's own seed, or all workers would draw the same.
        """
        key = f"{api} {origin}"
        number = self._seeds[key] = self._seeds.get(key, -1) + 1
        text = f"{self.options.seed}{self.own} {_worker_seed()} {number} {key}"
        return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big")

    def done(self, entry: Entry, api: str, message: str) -> None:
        """Tell what was done, at the line that led there. Not while PyTorch compiles, for then the line means nothing, nor what
        a library does for itself while it is being imported."""
        if not compiling() and not importing():
            self.report.done(*self._rule(entry), api, message, place())

    def refuse(self, entry: Entry, api: str, reason: str) -> None:
        """Tell what was not done."""
        if not compiling():
            self.report.refuse(*self._rule(entry), api, reason, place())

    def _rule(self, entry: Entry) -> tuple[str, str]:
        code = entry.rule or (entry.runtime.rule if entry.runtime is not None else "")
        return code, self.catalog.rules[code].name if code else ""


def compiling() -> bool:
    """Whether `torch.compile` is tracing this call, or its compiler makes it."""
    compiler: Any = sys.modules.get("torch.compiler")
    asked = getattr(compiler, "is_compiling", None)  # while PyTorch is being imported, it isn't there yet
    return asked is not None and (asked() or _in_compiler())


def _in_compiler() -> bool:
    """Whether the compiler is at work in this thread; the flag that PyTorch has for that is only true in what is traced."""
    context = getattr(sys.modules.get("torch._guards"), "CompileContext", None)
    return context is not None and context.try_get() is not None


def _worker_seed() -> int:
    """Worker 3 of a loader must not repeat worker 2; 0 outside of workers."""
    data: Any = sys.modules.get("torch.utils.data")
    asked = getattr(data, "get_worker_info", None)
    info = asked() if asked is not None else None
    return info.seed if info is not None else 0


@lru_cache(256)
def in_force(versions: str) -> bool:
    """Whether an entry's requirement holds of what is installed; an unknown version counts as the newest."""
    if not versions:
        return True
    from packaging.requirements import Requirement

    requirement = Requirement(versions)
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        installed = "99999"
    return requirement.specifier.contains(installed.partition("+")[0], prereleases=True)

"""Within a run: what its repeatability rests on. Where seeds are set and by which values, which files it imports, and which it reads."""

from __future__ import annotations

import atexit
import os
import sys
from collections import Counter
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, Final

import msgspec

from detlint.runtime.imports import when_imported
from detlint.tracing.watch import Watch

SUFFIX: Final = ".basis"
_SEEDS: Final = {
    "random": ("seed",),
    "numpy": ("random.seed", "random.default_rng", "random.RandomState"),
    "torch": ("manual_seed", "cuda.manual_seed", "cuda.manual_seed_all"),
    "mindspore": ("set_seed", "manual_seed", "dataset.config.set_seed"),
    "tensorflow": ("random.set_seed",),
    "keras": ("utils.set_random_seed",),
}
"""What seeds, by library."""
_OWN: Final = str(Path(__file__).parent.parent) + os.sep


class Seed(msgspec.Struct, frozen=True):
    """A call that seeds: how often it was made from that function with that value; without a file, detlint has made it."""

    api: str
    value: str
    file: str
    line: int


class Basis(msgspec.Struct):
    """What a process has done of what it rests on."""

    seeds: list[tuple[Seed, int]] = []
    sources: list[str] = []
    read: list[str] = []


class _Seen:
    def __init__(self, watch: Watch) -> None:
        self.seeds: Counter[Seed] = Counter()
        self.read: dict[str, None] = {}
        self.file = Path(watch.basis, f"{watch.name}{SUFFIX}")
        self.root = os.getcwd() + os.sep
        self.open = True

    def noting(self, api: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def seeding(*args: Any, **kwargs: Any) -> Any:
            caller = sys._getframe(1)
            if caller.f_globals.get("__name__", "").partition(".")[0] == api.partition(".")[0]:
                return function(*args, **kwargs)  # a part of what the library was called for
            value = next(iter((*args, *kwargs.values())), None)
            told = repr(value) if isinstance(value, int | float | str | bytes | None) else type(value).__name__
            self.seeds[Seed(api, told, *self._place(caller))] += 1
            return function(*args, **kwargs)

        return seeding

    def _place(self, caller: FrameType) -> tuple[str, int]:
        """The nearest line of the program's folder that leads there; where none does, that of the call, or none if it is detlint's."""
        frame: FrameType | None = caller
        while frame is not None and not frame.f_code.co_filename.startswith(self.root):
            frame = frame.f_back
        if frame is None and caller.f_code.co_filename.startswith(_OWN):
            return "", 0
        found = frame or caller
        return found.f_code.co_filename, found.f_lineno

    def audit(self, event: str, args: tuple[Any, ...]) -> None:
        """A file below the current folder is read."""
        if (
            event == "open"
            and self.open
            and isinstance(args[0], str)
            and isinstance(args[1], str)
            and args[1][:1] == "r"
        ):
            path = os.path.abspath(args[0])
            if path.startswith(self.root) and not path.endswith((".py", ".pyc")) and "+" not in args[1]:
                self.read[path] = None

    def write(self) -> None:
        self.open = False
        main = sys.modules["__main__"]  # which has no file any more, once it has run
        files = {getattr(module, "__file__", None) for module in [*sys.modules.values()]}
        files |= {sys.argv[0], getattr(getattr(main, "__spec__", None), "origin", None)}
        sources = sorted(
            file for file in files if file and file.endswith(".py") and os.path.abspath(file).startswith(self.root)
        )
        sources = [file for file in sources if os.path.isfile(file) and "site-packages" not in Path(file).parts]
        basis = Basis([*self.seeds.items()], [*dict.fromkeys(map(os.path.abspath, sources))], [*self.read])
        self.file.write_bytes(msgspec.json.encode(basis))


def begin(watch: Watch) -> None:
    """Note it in this process, and write it down when that ends."""
    seen = _Seen(watch)

    def note(library: str) -> Callable[[ModuleType], None]:
        def patch(module: ModuleType) -> None:
            for name in _SEEDS[library]:
                *owners, last = name.split(".")
                owner: Any = module
                for part in owners:
                    owner = getattr(owner, part, None)
                function = getattr(owner, last, None)
                if callable(function) and not isinstance(function, type):
                    setattr(owner, last, seen.noting(f"{library}.{name}", function))

        return patch

    for library in _SEEDS:
        when_imported(library, note(library))
    sys.addaudithook(seen.audit)
    atexit.register(seen.write)


def read(folder: Path) -> dict[str, Basis]:
    """What the processes have written, by their names."""
    files = sorted(folder.glob(f"*{SUFFIX}"))
    return {file.stem: msgspec.json.decode(file.read_bytes(), type=Basis) for file in files}

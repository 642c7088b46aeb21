"""The seeds that a program gives itself. What has none of its own gets one that follows from them, so that another seed of the
program gives other numbers; and what they fix already stays as it is, so that a program that repeats keeps its numbers."""

from __future__ import annotations

import functools
import sys
from collections.abc import Collection
from typing import Any, Final

from detlint.runtime.places import is_own

FIXES: Final = {"python": "random.seed", "numpy": "numpy.random.seed", "torch": "torch.manual_seed"}
"""Streams, and what seeds them; other libraries' own functions call these."""
PLAIN: Final = (int, float, str, bytes, bytearray, bool, tuple, list)
"""What a seed may be whose text is the same in each run."""
_PASSED: Final = (__name__, "detlint.runtime.plans", "detlint.runtime.installation")
"""What a call of the program's goes through on its way to be noted."""


class OwnSeeds:
    """What the program has seeded, by the function that it called."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}

    def note(self, api: str, value: object) -> None:
        """The program seeds a stream; a call of our own is none of the program's."""
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_globals.get("__name__") in _PASSED:
            frame = frame.f_back
        if not is_own(frame.f_code.co_filename):
            self._given[api] = repr(value) if isinstance(value, PLAIN) else type(value).__name__

    def noting(self, api: str, function: Any) -> Any:
        """A seeding function of one argument that notes what it is given."""

        @functools.wraps(function)
        def seeding(seed: Any, *args: Any, **kwargs: Any) -> Any:
            self.note(api, seed)
            return function(seed, *args, **kwargs)

        return seeding

    def fix(self, streams: Collection[str]) -> bool:
        """Whether they fix all of some streams; nothing is fixed by them that draws from none."""
        return bool(streams) and all(FIXES.get(stream) in self._given for stream in streams)

    def __str__(self) -> str:
        return "".join(f" {api}({value})" for api, value in sorted(self._given.items()))

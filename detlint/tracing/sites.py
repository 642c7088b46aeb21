"""Where in the program something is called: the frames of the user's code and of libraries, not those of the framework."""

from __future__ import annotations

import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Final

from detlint.runtime.places import whose

Frames = tuple[tuple[str, int, str], ...]
_DEPTH: Final = 5
_OWN: Final = str(Path(__file__).parent.parent) + "/"
_LIBRARY: Final = 2
"""Frames of libraries that are kept of those which stand together: the innermost."""
_MACHINERY: Final = (_OWN, "<frozen ", "<string>", "<__array_function__")
_SHOWN, _FRAMEWORK, _MACHINE, _FOLDED = range(4)


class Sites:
    """Finds call sites. A code object is judged once."""

    def __init__(self, *roots: str) -> None:
        """
        Args:
            roots: the folders whose frames are left out, besides detlint's own.
        """
        self._roots = roots
        self._hidden: dict[int, int] = {}
        """By identity, for the hash of a code object is made of all that is in it; so each must live on."""
        self._judged: list[CodeType] = []

    def here(self, skip: int = 2) -> Frames:
        """The frames below, innermost first."""
        return self.entered(skip + 1)[0]

    def entered(self, skip: int = 2) -> tuple[Frames, FrameType | None]:
        """The frames below, and the one of what is left out that the innermost of them calls: the public function.

        However deep libraries call each other, the program's own frames are among them.
        """
        found: list[tuple[str, int, str]] = []
        frame: FrameType | None = sys._getframe(skip)
        entry: FrameType | None = None
        hidden = self._hidden
        folded = 0
        while frame is not None:
            code = frame.f_code
            out = hidden.get(id(code))
            if out is None:
                out = hidden[id(code)] = self._left_out(code)
                self._judged.append(code)
            folded = folded + 1 if out == _FOLDED else 0
            if out == _SHOWN or 0 < folded <= _LIBRARY:
                found.append(
                    (
                        code.co_filename,
                        frame.f_lineno,
                        code.co_qualname if hasattr(code, "co_qualname") else code.co_name,
                    )
                )
                if len(found) >= _DEPTH and out == _SHOWN:
                    break
            elif out == _FRAMEWORK and not found:
                entry = frame
            frame = frame.f_back
        return tuple(found), entry

    def _left_out(self, code: CodeType) -> int:
        name = code.co_filename
        if name.startswith(self._roots):
            return _FRAMEWORK
        if name.startswith(_MACHINERY):
            return _MACHINE
        kind = whose(name)
        return _SHOWN if kind == "user" else _FOLDED if kind == "library" else _MACHINE

"""Where in the program something is called: the frames of the user's code and of libraries, not those of the framework."""

from __future__ import annotations

import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Final

Frames = tuple[tuple[str, int, str], ...]
_DEPTH: Final = 5
_OWN: Final = str(Path(__file__).parent.parent) + "/"
_MACHINERY: Final = (_OWN, "<frozen ", "<string>", "<__array_function__")
_PASSED_ON: Final = ("/runpy.py", "/threading.py", "/contextlib.py", "/copy.py")
_SHOWN, _FRAMEWORK, _MACHINE = range(3)


class Sites:
    """Finds call sites. A code object is judged once."""

    def __init__(self, *roots: str) -> None:
        """
        Args:
            roots: the folders whose frames are left out, besides detlint's own.
        """
        self._roots = roots
        self._hidden: dict[CodeType, int] = {}

    def here(self, skip: int = 2) -> Frames:
        """The frames below, innermost first."""
        return self.entered(skip + 1)[0]

    def entered(self, skip: int = 2) -> tuple[Frames, FrameType | None]:
        """The frames below, and the one of what is left out that the innermost of them calls: the public function."""
        found: list[tuple[str, int, str]] = []
        frame: FrameType | None = sys._getframe(skip)
        entry: FrameType | None = None
        hidden = self._hidden
        while frame is not None:
            code = frame.f_code
            out = hidden.get(code)
            if out is None:
                out = hidden[code] = self._left_out(code)
            if not out:
                found.append(
                    (
                        code.co_filename,
                        frame.f_lineno,
                        code.co_qualname if hasattr(code, "co_qualname") else code.co_name,
                    )
                )
                if len(found) == _DEPTH:
                    break
            elif out == _FRAMEWORK and not found:
                entry = frame
            frame = frame.f_back
        return tuple(found), entry

    def _left_out(self, code: CodeType) -> int:
        name = code.co_filename
        if name.startswith(self._roots):
            return _FRAMEWORK
        return _MACHINE if name.startswith(_MACHINERY) or name.endswith(_PASSED_ON) else _SHOWN

"""Where in the program something is called: the frames of the user's code and of libraries, not those of the framework."""

from __future__ import annotations

import sys
from pathlib import Path
from types import CodeType
from typing import Final

Frames = tuple[tuple[str, int, str], ...]
_DEPTH: Final = 5
_OWN: Final = str(Path(__file__).parent.parent) + "/"
_MACHINERY: Final = ("<frozen ", "<string>", "<__array_function__")


class Sites:
    """Finds call sites. A code object is judged once."""

    def __init__(self, *roots: str) -> None:
        """
        Args:
            roots: the folders whose frames are left out, besides detlint's own.
        """
        self._roots = (*_MACHINERY, _OWN, *roots)
        self._hidden: dict[CodeType, bool] = {}

    def here(self, skip: int = 2) -> Frames:
        """The frames below, innermost first."""
        found: list[tuple[str, int, str]] = []
        frame = sys._getframe(skip)
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
            frame = frame.f_back  # type: ignore[assignment]
        return tuple(found)

    def _left_out(self, code: CodeType) -> bool:
        name = code.co_filename
        return name.startswith(self._roots) or name.endswith(("/runpy.py", "/threading.py", "/contextlib.py"))

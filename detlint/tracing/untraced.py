"""A run of which there is no trace, for it has imported no framework that can be traced (JAX): what the linter finds in its sources."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from detlint.runtime.places import whose
from detlint.tracing.frameworks import TITLES, TRACED

_FILE: Final = "sources"
_FAMILIES: Final = "13"
"""What a run is made of: randomness, and data. Which operators vary is a matter of the device."""
_MOST: Final = 5


def leave(folder: Path) -> None:
    """Write down which sources this process has imported, as it ends."""
    if any(framework in sys.modules for framework in TRACED):
        return
    script = getattr(sys.modules["__main__"].__spec__, "origin", None) or sys.argv[0]
    files = [script, *(getattr(module, "__file__", None) for module in [*sys.modules.values()])]
    own = [os.path.abspath(file) for file in files if file and file.endswith(".py") and os.path.isfile(file)]
    (folder / _FILE).write_text("\n".join(dict.fromkeys(file for file in own if whose(file) == "user")))


def explained(folder: Path) -> str:
    """Why no operator is named, and what the linter finds in the sources of a run."""
    said = f"no operator can be named: none of {', '.join([*TITLES.values()][:-1])} and {[*TITLES.values()][-1]} was imported"
    file = folder / _FILE
    sources = [Path(line) for line in file.read_text().splitlines()] if file.exists() else []
    if not sources:
        return said
    from detlint.project import Project  # not where a program runs that only leaves its sources

    report = Project.of(sources[0], {}).bare().check(sources, sources)
    found = [f for f in report.findings if f.code[3] in _FAMILIES and f.severity != "note"]
    found.sort(key=lambda f: f.severity != "error")
    if not found:
        return f"{said}, and the linter finds nothing in what the program imports that explains it"
    shown = [f"  {os.path.relpath(f.path)}:{f.span.line}: {f.code} {f.message}" for f in found[:_MOST]]
    more = [f"  and {len(found) - _MOST} more"] if len(found) > _MOST else []
    return "\n".join([f"{said}. The linter finds:", *shown, *more])

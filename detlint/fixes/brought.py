"""What a run imports whichever way it takes: a library that it only needs on some ways may not be installed."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from detlint.files import read
from detlint.sources.parse import module_of


def brings(path: str, tree: ast.Module, library: str) -> bool:
    """Whether running a file surely imports a library: it, or a file of the project that it imports so, says so at its top
    level, under no condition and in no `try`.

    Args:
        path: the file.
        tree: what it says.
        library: the name of its package.
    """
    seen, waiting = {path}, [(path, tree)]
    while waiting:
        at, module = waiting.pop()
        for level, dotted in _imported(module):
            if not level and dotted.partition(".")[0] == library:
                return True
            for other in _files(at, path, level, dotted):
                if other not in seen:
                    seen.add(other)
                    try:
                        waiting.append((other, module_of(read(other))))
                    except (OSError, SyntaxError, ValueError, LookupError, RecursionError):
                        continue
    return False


def _imported(module: ast.Module) -> Iterator[tuple[int, str]]:
    """The modules that a top level imports, and the members, which may be modules; each with the number of its dots."""
    for node in module.body:
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            own = node.module or ""
            yield node.level, own
            yield from ((node.level, f"{own}.{alias.name}".lstrip(".")) for alias in node.names)


def _files(importer: str, script: str, level: int, dotted: str) -> Iterator[str]:
    """The files that importing a module runs: its own, and those of the packages that it is in."""
    folder = os.path.dirname(importer)
    if level:
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        bases = [folder]
    else:
        bases = [os.path.dirname(script)]
        while os.path.exists(os.path.join(folder, "__init__.py")) and folder != os.path.dirname(folder):
            folder = os.path.dirname(folder)
        bases.append(folder)
    parts = dotted.split(".") if dotted else []
    for base in bases:
        for length in range(1 if parts else 0, len(parts) + 1):
            place = os.path.join(base, *parts[:length])
            names = (os.path.join(place, "__init__.py"), f"{place}.py")
            yield from (name for name in names if os.path.isfile(name))

"""What things are called in a file: the local name of `torch.Generator`, and the import that is missing for it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from detlint.fixes.recipe import NoFix

USUAL: Final = {"numpy": "np", "tensorflow": "tf", "mindspore": "ms"}
"""The names under which people import them."""


class Names:
    """The names that the top level of a module binds.

    Args:
        tree: the module.
        nodes: all that is in it.
    """

    def __init__(self, tree: ast.Module, nodes: Iterable[ast.AST]) -> None:
        self._imported: dict[str, list[tuple[str, int]]] = {}
        """Dotted name -> the local names for it, and the lines from which they are known."""
        self._taken: set[str] = set()
        """What is bound anywhere in the file, but not by an import of the top level."""
        imports = [*top_imports(tree.body)]
        for node in imports:
            self._read(node)
        known = {id(node) for node in imports}
        for inner in nodes:
            if type(inner) in _BINDS and id(inner) not in known:
                self._taken.update(_bound(inner))

    def _read(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                dotted = alias.name if alias.asname else alias.name.partition(".")[0]
            elif node.module is not None and not node.level and alias.name != "*":
                dotted = f"{node.module}.{alias.name}"
            else:
                continue
            self._imported.setdefault(dotted, []).append((alias.asname or alias.name.partition(".")[0], node.lineno))

    def of(self, dotted: str, line: int | None = None, aliases: Iterable[str] = ()) -> tuple[str, str]:
        """How the file writes a name, and the import that it needs for it, "" for none: `("np.random.seed", "")`.

        Args:
            line: where it is to be known; None: in a function, which runs when all imports have been made.
            aliases: other names of the same thing.

        Raises:
            NoFix: the name that it would be imported as means something else.
        """
        for name in (dotted, *aliases):
            known = self._known(name, line)
            if known:
                return known, ""
        root, _, rest = dotted.partition(".")
        local = USUAL.get(root, root)
        if self._elsewhere(local, root):
            raise NoFix(f"`{local}` means something else in the file")
        return ".".join([local, *rest.split(".")]), f"import {root}" + (f" as {local}" if local != root else "")

    def member(self, module: str, name: str, line: int | None = None) -> tuple[str, str]:
        """How the file writes a member of a module that is imported from there, and the import that it needs.

        Args:
            line: where it is to be known, as in `of`.

        Raises:
            NoFix: the name means something else.
        """
        if known := self._known(f"{module}.{name}", line):
            return known, ""
        if self._elsewhere(name, f"{module}.{name}"):
            raise NoFix(f"`{name}` means something else in the file")
        return name, f"from {module} import {name}"

    def _elsewhere(self, local: str, dotted: str) -> bool:
        """Whether a name is bound, but to something else."""
        others = (name for known, found in self._imported.items() if known != dotted for name, _ in found)
        return local in self._taken or local in others

    def source(self, local: str) -> str:
        """What a name stands for, dotted; "" where the top level imports nothing under it."""
        if local in self._taken:
            return ""
        return next((d for d, known in self._imported.items() if any(name == local for name, _ in known)), "")

    def beside(self, local: str, name: str) -> tuple[str, str]:
        """Another member of the module that a name is imported from: `CenterCrop` where `RandomCrop` is; and the import.

        Raises:
            NoFix: it isn't known where the name comes from, or the other one means something else.
        """
        module = self.source(local).rpartition(".")[0]
        if not module:
            raise NoFix(f"where `{local}` comes from isn't known")
        return self.member(module, name)

    def _known(self, dotted: str, line: int | None) -> str:
        """How the file writes a name, "" where it imports nothing that leads to it."""
        parts = dotted.split(".")
        for length in range(len(parts), 0, -1):
            for local, since in self._imported.get(".".join(parts[:length]), ()):
                if local not in self._taken and (line is None or since < line):
                    return ".".join([local, *parts[length:]])
        return ""


def top_imports(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that run whenever the module does: those in `try` count, those under a condition don't."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.Try):
            yield from top_imports(node.body)


_BINDS: Final = frozenset({
    ast.Name, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.arg, ast.ExceptHandler,
})  # fmt: skip
"""Not imports: one in a function hides the module's name there, mostly by the same thing."""


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a node binds."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield node.id
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name

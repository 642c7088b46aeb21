"""Files from which others are generated: those run in their place, and have the same lines."""

from __future__ import annotations

import os
import re
from typing import Final

from detlint.program.resolve import Module
from detlint.program.users import Users

HEAD: Final = 2000
"""So many bytes at the beginning of a file may say what it was generated from."""
_FROM: Final = re.compile(rb"^[ \t]*#[^\n]*\bgenerated\b[^\n]*\bfrom[ \t:`'\"]+[\w./\\-]*?([\w-]+\.py)\b", re.M)


class Templates:
    """Finds the files that others say they were generated from."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self._texts = users.texts
        self._known: dict[str, dict[str, str]] = {}
        """Folder -> the names of its templates -> the file that was generated from one."""

    def is_template(self, module: Module) -> bool:
        """Whether another file of its folder was generated from a file, which nothing but such files imports."""
        if not self._is_one(module.path):
            return False
        importers = self._users.importers(module.path)
        self._users.resolver.opened.update(importers)
        return all(map(self._is_one, importers))

    def _is_one(self, path: str) -> bool:
        generated = self._generated(path)
        folder, name = os.path.split(path)
        self._texts.sought.add((folder + os.sep, name))
        self._users.resolver.opened.update({generated} - {""})
        return bool(generated)

    def _generated(self, path: str) -> str:
        """The file that was generated from another one; "" for none."""
        folder, name = os.path.split(path)
        if folder not in self._known:
            self._known[folder] = {
                said: other
                for other in self._texts.below(folder)
                if os.path.dirname(other) == folder and other.endswith(".py")
                for said in self._said(other)
            }
        return self._known[folder].get(name, "")

    def _said(self, path: str) -> list[str]:
        """What a file says it was generated from: others, in its first comments."""
        found = _FROM.findall((self._texts.of(path) or b"")[:HEAD])
        return [name.decode() for name in found if name.decode() != os.path.basename(path)]

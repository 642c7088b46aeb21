"""Fixes that are put in together: as many of some as what comes of them can be parsed with."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from detlint.fixes.files import Files
from detlint.fixes.plan import Fix, fault
from detlint.fixes.recipe import NoFix
from detlint.fixes.text import Edit, Undecodable

_Asked = tuple[str, tuple[Edit, ...], frozenset[str]]


class Together:
    """Puts in fixes whose edits keep clear of each other, each whole or not at all.

    Args:
        files: what they change.

    Attributes:
        impossible: those that can't be put in even alone, and why.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self._known: dict[_Asked, bytes | NoFix] = {}
        self.impossible: list[tuple[Fix, str]] = []

    def most(self, fixes: Sequence[Fix], made: Sequence[Fix] = ()) -> list[Fix]:
        """As many of some fixes as go together, with those that are made already. Those that are left out could be made alone,
        or are noted as impossible."""
        both = [*made, *fixes]
        try:
            self.texts(both)
            return both
        except NoFix as error:
            if len(fixes) > 1:
                half = len(fixes) // 2
                return self.most(fixes[half:], self.most(fixes[:half], made))
            self._alone(fixes[0], error)
            return [*made]

    def _alone(self, fix: Fix, error: NoFix) -> None:
        try:
            self.texts([fix])
        except NoFix:
            self.impossible.append((fix, str(error)))

    def texts(self, fixes: Sequence[Fix]) -> dict[str, bytes]:
        """What the files have with some fixes.

        Raises:
            NoFix: what comes of them can't be.
        """
        edits: dict[str, dict[Edit, None]] = {}
        imports: dict[str, set[str]] = {}
        for fix in fixes:
            for path, own in fix.edits.items():
                edits.setdefault(path, {}).update(dict.fromkeys(own))
                imports.setdefault(path, set()).update(fix.imports.get(path, ()))
        return {path: self._text(path, tuple(made), frozenset(imports[path])) for path, made in edits.items()}

    def _text(self, path: str, edits: tuple[Edit, ...], imports: frozenset[str]) -> bytes:
        asked = path, edits, imports
        if asked not in self._known:
            self._known[asked] = self._put(*asked)
        known = self._known[asked]
        if isinstance(known, NoFix):
            raise known
        return known

    def _put(self, path: str, edits: tuple[Edit, ...], imports: frozenset[str]) -> bytes | NoFix:
        file = self._files[path]
        try:
            made = [*(file.importing(imports, edits) if imports else ()), *edits]
            places = sorted(edit[:2] for edit in made)
            if any(end > start for (_, end), (start, _) in pairwise(places)):
                raise NoFix("an import would be written over it")
            return file.edited(made)
        except (NoFix, Undecodable) as error:
            return NoFix(str(error))
        except Exception as error:  # the boundary of one fix: the others are made
            return NoFix(fault(error))

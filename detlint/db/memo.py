"""Answers that are remembered as long as a process looks at one revision, and not on disk: what isn't worth a query of its own."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from detlint.db.database import Database

T = TypeVar("T")


class Memo(Generic[T]):
    """Remembers answers. Whoever is given one rests on what it rests on, whether it was found out for him or for somebody before him."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._known: dict[Hashable, tuple[T, dict[int, None]]] = {}

    def of(self, key: Hashable, find: Callable[[], T], meanwhile: T) -> T:
        """The answer to a question.

        Args:
            find: finds it out.
            meanwhile: what is answered to who asks the same while it is found out.
        """
        if key not in self._known:
            self._known[key] = meanwhile, {}
            try:
                with self._db.noting() as noted:
                    answer = find()
            except BaseException:
                del self._known[key]
                raise
            self._known[key] = answer, self._db.shared(noted)
        answer, noted = self._known[key]
        self._db.asked.update(noted)
        return answer

"""Answers about the program that are remembered together with what they rest on."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

from detlint.model.uses import Users

T = TypeVar("T")


class _Rests(NamedTuple):
    """What an answer rests on."""

    opened: frozenset[str] = frozenset()
    """The files whose bodies were asked for."""
    asked: frozenset[str] = frozenset()
    """The names whose users were searched for."""
    sought: frozenset[tuple[str, str]] = frozenset()
    """The words that were looked for."""


class Answers(Generic[T]):
    """Remembers answers. Whoever is given one depends on what it rests on, whether it was found out for him or for somebody
    before him."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self._known: dict[Hashable, tuple[T, _Rests]] = {}

    def of(self, key: Hashable, find: Callable[[], T], meanwhile: T) -> T:
        """The answer to a question.

        Args:
            find: finds it out.
            meanwhile: what is answered to who asks the same while it is found out.
        """
        users, index, resolver = self._users, self._users.index, self._users.resolver
        if key not in self._known:
            self._known[key] = meanwhile, _Rests()
            asked, sought = users.asked, index.sought
            users.asked, index.sought = set(), set()
            try:
                with resolver.looking() as opened:
                    answer = find()
                    rests = _Rests(users.shared(opened), users.shared(users.asked), frozenset(index.sought))
                self._known[key] = answer, rests
            except BaseException:
                del self._known[key]
                raise
            finally:
                users.asked, index.sought = asked, sought
        answer, rests = self._known[key]
        resolver.opened.update(rests.opened)
        users.asked.update(rests.asked)
        index.sought.update(rests.sought)
        return answer

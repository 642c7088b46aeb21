"""Where the places of a text are in what an edit has made of it.

One region of the text is taken to be what the edit has replaced; what stands before and behind it is the same text, at the
same place or a little further on.
"""

from __future__ import annotations

from collections.abc import Sequence

Place = tuple[int, int]
"""A line from 1, and a column in its UTF-8 from 0."""


class Shift:
    """Where the places of a text are in another.

    Args:
        old: the lines of the text, in UTF-8.
        new: those of the other.
    """

    def __init__(self, old: Sequence[bytes], new: Sequence[bytes]) -> None:
        most = min(len(old), len(new))
        head = next((i for i in range(most) if old[i] != new[i]), most)
        tail = next((i for i in range(most - head) if old[-1 - i] != new[-1 - i]), most - head)
        self._lines = len(new) - len(old)
        self._start = (head + 1, _alike(old[head], new[head]) if head < most else 0)
        """Where what was replaced begins, in both."""
        self._end = (len(old) - tail + 1, 0)
        """Where it ended, and with it the line that it ended in, or at the beginning of a line."""
        self._end_shift = 0
        if tail < most - head:
            last, other = old[len(old) - tail - 1], new[len(new) - tail - 1]
            taken = self._start[1] if head + tail == most - 1 else 0
            same = _alike(last[taken:][::-1], other[taken:][::-1])
            self._end = (len(old) - tail, len(last) - same)
            self._end_shift = len(other) - len(last)

    def place(self, line: int, column: int) -> Place | None:
        """Where a place is now; None within what was replaced."""
        if (line, column) <= self._start:
            return line, column
        if (line, column) < self._end:
            return None
        return line + self._lines, column + (self._end_shift if line == self._end[0] else 0)


def _alike(one: bytes, other: bytes) -> int:
    """How long the common beginning is."""
    most = min(len(one), len(other))
    return next((i for i in range(most) if one[i] != other[i]), most)

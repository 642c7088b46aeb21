"""Patterns as .gitignore files have them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.pattern import Pattern

_STAR: Final = "[^/]*"
"""What pathspec makes of `*`."""
_GAP: Final = "(?:/.+)?/"
"""What it makes of `/**/`."""
_LEAD: Final = "^(?:.+/)?"
"""What a pattern begins with that may match in any folder."""


@lru_cache(maxsize=256)
def glob(pattern: str) -> GitIgnoreSpec:
    """A pattern as .gitignore reads it."""
    return spec([pattern])


def spec(lines: Iterable[str]) -> GitIgnoreSpec:
    """What some lines match together. A line that git takes and never matches (`build\\`, `[z-a]`) matches nothing."""
    from pathspec import GitIgnoreSpec

    compiled: list[Any] = [pattern for line in lines for pattern in _patterns(line)]
    return GitIgnoreSpec(compiled)


def is_valid(line: str) -> bool:
    """Whether a line may match something."""
    return not set(line) & set("\\[!") or any(pattern.include is not None for pattern in _patterns(line))


def _patterns(line: str) -> Iterator[Pattern]:
    """The pattern that a line is; none for one that is wrong."""
    from pathspec import GitIgnoreSpec
    from pathspec.pattern import RegexPattern

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `re` has things to say about `[[:alpha:]]`
            for pattern in GitIgnoreSpec.from_lines([line]).patterns:
                text = pattern.regex.pattern if isinstance(pattern, RegexPattern) and pattern.regex else ""
                many = text.count(_STAR) + text.count(_GAP) > 1
                yield RegexPattern(re.compile(_in_linear_time(text)), pattern.include) if many else pattern
    except (ValueError, re.error):
        return


def _in_linear_time(regex: str) -> str:
    """The same regular expression, without attempts that can't succeed: what stands between two `**` is looked for once, at the
    first place where it matches, since any later one leaves less room for the rest; the same holds for `*` in a name. (As in
    `fnmatch.translate`: what a lookahead has found is never tried anew.)"""
    first, *rest = map(_in_names, regex.split(_GAP))
    if not rest:
        return first
    *middle, last = rest
    parts = [first]
    if first.startswith(_LEAD):
        parts = [f"^{_once('(?:.+?/)??' + first.removeprefix(_LEAD) + '(?=/)')}"]
    parts += [_once(f"(?:/.+?)??/{text}(?=/)") for text in middle]
    return "".join([*parts, _GAP, last])


_numbers = count()
"""Names of groups, each used once."""


def _in_names(regex: str) -> str:
    """What stands between two `**`, with each `*` but the last of a name matching as little as it can, once."""
    first, *rest = regex.split(_STAR)
    parts = [first]
    for number, text in enumerate(rest, 1):
        if number == len(rest) or "/" in text:
            parts.append(f"{_STAR}{text}")
        elif text:
            parts.append(_once(f"{_STAR}?{text}"))
    return "".join(parts)


def _once(regex: str) -> str:
    """Matches where a regular expression does, without going back into it."""
    name = f"n{next(_numbers)}"
    return f"(?=(?P<{name}>{regex}))(?P={name})"

"""Suppression comments: `# noqa: DET201`, `# detlint: ignore[DET201] reason`, `# detlint: skip-file`.

They are read from tokens, so text in strings never counts. A malformed one suppresses nothing and is a finding.
"""

from __future__ import annotations

import contextlib
import io
import re
import tokenize
from functools import lru_cache
from typing import Literal

import msgspec

# Decides on bytes whether tokens are worth reading: what another tool is told there is none of ours. No part of it can be
# begun twice at one place, so that the time grows with the text, whatever that is.
WORTH_READING = re.compile(
    rb"detlint\s*:|noqa\s*:[^\n\r#n]*(?:n(?!oqa\s*:)[^\n\r#n]*)*DET|(?:flake8|ruff)\s*[:=]\s*noqa", re.I
)
# The search runs along the rare letter; what stands before it is looked at where that is found.
_ANY_NOQA = re.compile(rb"qa(?<=noqa)")
_BLANKET = re.compile(rb"#\s*noqa\b(?!\s*:)", re.I)

_NOQA = re.compile(
    r"#\s*(?P<file>(?:flake8|ruff)\s*[:=]\s*)?noqa\b(?P<list>\s*:\s*(?P<codes>[A-Z][A-Z0-9]*(?:[\s,]+[A-Z]+[0-9]+)*)?)?",
    re.I,
)
_OURS = re.compile(r"#\s*detlint\s*:\s*(?P<rest>[^#]*)", re.I)
_IGNORE = re.compile(r"ignore(?P<file>-file)?\s*\[(?P<codes>[^\]]*)\]", re.I)
_CODE = re.compile(r"DET\d{0,3}")

Scope = Literal["line", "file"]


class Directive(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A suppression comment. `codes` empty means every code. `scope` is the line's or the file's."""

    line: int
    column: int
    end_column: int
    style: Literal["noqa", "ignore"]
    scope: Scope
    codes: tuple[str, ...]
    problem: str = ""
    """Why it is malformed; such a directive suppresses nothing."""
    about: int = 0
    """The line that it is about, where that isn't its own."""


def directives(data: bytes, lower: bytes | None = None) -> tuple[Directive, ...]:
    """The suppression comments of a source file, in order. `lower` is the file in lower case, where that is at hand.

    In a file that has nothing but blanket `# noqa`, these are taken by their looks: `confirmed` reads the tokens for
    the few that stand where something is found.
    """
    if lower is not None and b"detlint" not in lower and _ANY_NOQA.search(lower) is None:
        return ()
    if b"\r" in data:
        # Python ends lines at a lone CR too; the tokenizer's own reader doesn't.
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"detlint" in data:
        return tuple(_from_tokens(data))
    found = []
    end, line = 0, 1
    while (place := _next_noqa(data, end)) >= 0:
        start = data.rfind(b"\n", end, place) + 1 or end
        line += data.count(b"\n", end, start)
        end = data.find(b"\n", place)
        end = len(data) if end < 0 else end
        text = data[start:end]
        if WORTH_READING.search(text):
            return tuple(_from_tokens(data))
        found += [Directive(line, m.start(), m.end(), "noqa", "line", ()) for m in _BLANKET.finditer(text)]
    return tuple(found)


def _next_noqa(data: bytes, start: int) -> int:
    """Where the word stands next; a search for a literal is many times faster than any regular expression."""
    places = [place for word in (b"noqa", b"NOQA", b"NoQA") if (place := data.find(word, start)) >= 0]
    return min(places, default=-1)


def confirmed(directive: Directive, data: bytes) -> bool:
    """Whether a blanket `# noqa` really is a comment."""
    return directive.line in _blanket_lines(data)


@lru_cache(maxsize=2)
def _blanket_lines(data: bytes) -> frozenset[int]:
    """The lines with a blanket `# noqa`."""
    lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return frozenset(d.line for d in _from_tokens(lines) if d.style == "noqa" and not d.codes)


def _from_tokens(data: bytes) -> list[Directive]:
    found: list[Directive] = []
    with contextlib.suppress(tokenize.TokenError, SyntaxError, ValueError, LookupError):
        for token in tokenize.tokenize(io.BytesIO(data).readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start
                found += of_comment(token.string, line, len(token.line[:column].encode("utf-8", "replace")))
    return found


def may_hold(data: bytes) -> bool:
    """Whether a file may hold suppression comments, by its words."""
    return b"detlint" in data or _ANY_NOQA.search(data.lower()) is not None


def of_comment(text: str, line: int, column: int) -> list[Directive]:
    """The directives in the text of one comment, which begins at a line and column (in bytes)."""
    found = [_ours(match, line, column) for match in _OURS.finditer(text)]
    for match in _NOQA.finditer(text):
        directive = _noqa(match, line, column)
        if directive is not None:
            found.append(directive)
    return found


def _ours(match: re.Match[str], line: int, column: int) -> Directive:
    rest = match["rest"].strip()
    span = (line, column + match.start(), column + match.end())
    if re.match(r"skip-file\b", rest, re.I):
        return Directive(*span, "ignore", "file", ())
    ignore = _IGNORE.match(rest)
    if ignore is None:
        why = (
            "name the codes: `# detlint: ignore[DET201] reason`"
            if re.match(r"ignore\b", rest, re.I)
            else ("expected `ignore[CODE]`, `ignore-file[CODE]` or `skip-file`")
        )
        return Directive(*span, "ignore", "line", (), why)
    codes = tuple(code.strip().upper() for code in ignore["codes"].split(",") if code.strip())
    wrong = [code for code in codes if not _CODE.fullmatch(code)]
    if wrong or not codes:
        return Directive(
            *span, "ignore", "line", (), f"`{wrong[0]}` is not a DET code" if wrong else "no code is named"
        )
    return Directive(*span, "ignore", "file" if ignore["file"] else "line", codes)


def _noqa(match: re.Match[str], line: int, column: int) -> Directive | None:
    """A `noqa` comment, if it concerns us: blanket, or with at least one of our codes."""
    scope: Scope = "file" if match["file"] else "line"
    span = (line, column + match.start(), column + match.end())
    if match["list"] is None:
        return Directive(*span, "noqa", scope, ())
    codes = tuple(code for code in re.split(r"[\s,]+", (match["codes"] or "").upper()) if code.startswith("DET"))
    if not codes:
        return None
    wrong = [code for code in codes if not re.fullmatch(r"DET\d{1,3}", code)]
    if wrong:
        return Directive(*span, "noqa", "line", (), f"`{wrong[0]}` is not a code; flake8 reads this as a blanket noqa")
    return Directive(*span, "noqa", scope, codes)

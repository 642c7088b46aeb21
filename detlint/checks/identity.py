"""The code that a finding stands on: its statement and its function, by which it is known again on another line."""

from __future__ import annotations

import contextlib
import hashlib
import warnings
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import msgspec

from detlint.cache import Cache
from detlint.checks.finding import Finding
from detlint.ir.code import Code
from detlint.ir.extent import around, canonical, statement
from detlint.ir.lower import lower
from detlint.model.sites.records import Span
from detlint.source import Source
from detlint.sources.parse import Problem, parse

LONGEST: Final = 160


class Identity(NamedTuple):
    """What stays the same of a finding's place while lines move.

    Attributes:
        function: the functions and classes around it, dotted; empty at the top level.
        digest: of what the statement does: layout, comments, quotes and parentheses are no part of it. Of a statement that holds
            others, of its head.
        text: its first line, for people.
    """

    function: str
    digest: str
    text: str


class Identities:
    """The identities of findings. A file is parsed if something in it is asked for, and once if all is in a row.

    Args:
        sources: the files.
        cache: what is known of files from earlier.
    """

    def __init__(self, sources: Mapping[str, Source], cache: Cache | None = None) -> None:
        self._sources = sources
        self._cache = cache or Cache(None, "")
        self._known: dict[str, tuple[bytes, dict[Span, Identity]]] = {}
        self._fresh: set[str] = set()
        self._latest: tuple[str, Code | None] = ("", None)

    def of(self, finding: Finding) -> Identity:
        """The identity of a finding's place. What stands in no statement (a comment, YAML) goes by its own text."""
        if finding.path not in self._known:
            self._known[finding.path] = self._remembered(self._sources[finding.path])
        known = self._known[finding.path][1]
        if finding.span not in known:
            known[finding.span] = self._made(finding)
            self._fresh.add(finding.path)
        return known[finding.span]

    def _remembered(self, source: Source) -> tuple[bytes, dict[Span, Identity]]:
        key = hashlib.blake2b(source.data, digest_size=16, person=b"identity").digest()
        with contextlib.suppress(msgspec.DecodeError):
            rows = self._cache.get([key]).values()
            return key, dict(next(map(_ROWS.decode, rows), []))
        return key, {}

    def keep(self) -> None:
        """Remember what has been found out."""
        known = (self._known[path] for path in sorted(self._fresh))
        self._cache.put({key: msgspec.msgpack.encode([*rows.items()]) for key, rows in known})

    def _made(self, finding: Finding) -> Identity:
        source, span = self._sources[finding.path], finding.span
        code = self._code(finding.path)
        found = statement(code, span.line, span.column) if code is not None else None
        if found is None:
            text = b" ".join(source.text_at(span).split()).decode("utf-8", "replace")
            return Identity("", self.digest([text]), _shortened(text))
        return Identity(
            around(found.function), self.digest(canonical(found)), _shortened(source.line(found.line).strip())
        )

    @staticmethod
    def digest(parts: Iterable[str]) -> str:
        """A short text that stands for some others."""
        made = hashlib.blake2b(digest_size=12)
        for part in parts:
            made.update(part.encode("utf-8", "surrogatepass") + b"\0")
        return made.hexdigest()

    def _code(self, path: str) -> Code | None:
        if path != self._latest[0]:
            self._latest = (
                path,
                None if self._sources[path].yaml or self._sources[path].cpp else _lowered(self._sources[path].data),
            )
        return self._latest[1]


_ROWS: Final = msgspec.msgpack.Decoder(list[tuple[Span, Identity]])


def _lowered(data: bytes) -> Code | None:
    """The IR of a file; None where it can't be parsed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = parse(data)
    return Code(lower(tree)) if not isinstance(tree, Problem) else None


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."

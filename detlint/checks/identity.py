"""The code that a finding stands on: its statement and its function, by which it is known again on another line."""

from __future__ import annotations

import ast
import contextlib
import gc
import hashlib
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from detlint.cache import Cache
from detlint.checks.finding import Finding
from detlint.facts.model import Span
from detlint.facts.parse import module_of
from detlint.source import Source

_BLOCKS: Final = ("body", "handlers", "orelse", "finalbody", "cases")
"""Fields that hold other statements: they are no part of the statement's own text."""
_LAYOUT: Final = frozenset({"ctx", "kind", "type_comment"})
LONGEST: Final = 160

_Block = ast.stmt | ast.ExceptHandler | ast.match_case


class Identity(NamedTuple):
    """What stays the same of a finding's place while lines move.

    Attributes:
        function: the functions and classes around it, dotted; empty at the top level.
        digest: of the statement as Python reads it: layout, comments, quotes and parentheses are no part of it. Of a
            statement that holds others, of its head.
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
        self._latest: tuple[str, ast.Module | None] = ("", None)

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
        function, statement = _statement(self._tree(finding.path), span)
        if statement is None:
            text = b" ".join(source.text_at(span).split()).decode("utf-8", "replace")
            return Identity(function, self.digest([text]), _shortened(text))
        return Identity(
            function, self.digest(_canonical(statement)), _shortened(source.line(_first(statement)).strip())
        )

    @staticmethod
    def digest(parts: Iterable[str]) -> str:
        """A short text that stands for some others."""
        made = hashlib.blake2b(digest_size=12)
        for part in parts:
            made.update(part.encode("utf-8", "surrogatepass") + b"\0")
        return made.hexdigest()

    def _tree(self, path: str) -> ast.Module | None:
        if path != self._latest[0]:
            self._latest = path, None if self._sources[path].yaml else _parsed(self._sources[path].data)
        return self._latest[1]


_ROWS: Final = msgspec.msgpack.Decoder(list[tuple[Span, Identity]])


def _parsed(data: bytes) -> ast.Module | None:
    collecting = gc.isenabled()
    gc.disable()  # looking through a tree that is being made takes longer than making it
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return module_of(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    finally:
        if collecting:
            gc.enable()


def _statement(tree: ast.Module | None, span: Span) -> tuple[str, _Block | None]:
    """The innermost statement that holds a place, and the functions and classes around it."""
    names: list[str] = []
    node: ast.Module | _Block | None = tree
    place = (span.line, span.column)
    while node is not None:
        inner = next((child for child in _held(node) if _begins(child) <= place < _ends(child)), None)
        if inner is None:
            break
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.append(node.name)
        node = inner
    if node is None or isinstance(node, ast.Module):
        return ".".join(names), None
    first = next(_held(node), None)
    if first is not None and place >= _begins(first):
        return ".".join(names), None  # between the statements of a block: a comment
    return ".".join(names), node


def _held(node: ast.AST) -> Iterator[_Block]:
    for name in _BLOCKS:
        held = getattr(node, name, ())
        yield from held if isinstance(held, list) else ()


def _first(node: _Block) -> int:
    return _begins(node)[0]


def _begins(node: _Block) -> tuple[int, int]:
    if isinstance(node, ast.match_case):
        return node.pattern.lineno, node.pattern.col_offset
    decorators = getattr(node, "decorator_list", ())
    return min(((d.lineno, 0) for d in decorators), default=(node.lineno, node.col_offset))


def _ends(node: _Block) -> tuple[int, int]:
    last = node.body[-1] if isinstance(node, ast.match_case) else node
    return last.end_lineno or 0, last.end_col_offset or 0


def _canonical(statement: ast.AST) -> Iterator[str]:
    """A statement's own part of the tree, in order. What differs between versions of Python is left out: empty fields."""
    waiting: list[object] = [statement]
    while waiting:
        item = waiting.pop()
        if isinstance(item, ast.AST):
            yield f"<{type(item).__name__}"
            left_out = _BLOCKS if item is statement else ()
            waiting.append(_END)
            for name, value in reversed([*ast.iter_fields(item)]):
                if value is not None and value != [] and name not in _LAYOUT and name not in left_out:
                    waiting += (value, _Field(name))
        elif isinstance(item, list):
            waiting += (_END, *reversed(item), _Field("["))
        elif isinstance(item, _Field):
            yield str(item)
        else:
            yield f"{type(item).__name__}:{item:x}" if isinstance(item, int) else repr(item)


class _Field(str):
    """The name of a field, beside which values that are texts stand."""


_END: Final = _Field(">")


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."

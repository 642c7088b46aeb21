"""The comment that suppresses a finding, put where detlint heeds it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import NamedTuple

from detlint.catalog import Catalog
from detlint.checks.finding import Finding
from detlint.facts.comments import directives
from detlint.facts.model import Directive
from detlint.facts.parse import parse
from detlint.facts.yaml_text import is_yaml

Read = Callable[[bytes], Sequence[Directive] | None]
"""The suppression comments of a text; None where it can't be read."""


class Insertion(NamedTuple):
    """What is put into a line: its number from 1, the column in UTF-8 from 0, and the text."""

    line: int
    column: int
    text: str


def ignoring(finding: Finding, lines: Sequence[bytes], read: Read) -> Insertion | None:
    """The comment that suppresses a finding; None where none can stand.

    It is heeded on the first line of what is found, and on the last. The first may go on behind a backslash, or end within a
    string; then it is the last. A comment that is there already gets one more code.

    Args:
        lines: those of the file in UTF-8, without their ends.
        read: reads what they become.
    """
    known = read(_joined(lines)) or ()
    for line in dict.fromkeys((finding.span.line, finding.span.end_line)):
        if not 0 < line <= len(lines):
            continue
        made = _insertion(finding.code, line, lines[line - 1], known)
        text = lines[line - 1][: made.column] + made.text.encode() + lines[line - 1][made.column :]
        after = read(_joined([*lines[: line - 1], text, *lines[line:]])) or ()
        if any(_names(directive, line, finding.code) for directive in after):
            return made
    return None


def reader(path: str, catalog: Catalog) -> Read:
    """What reads the suppression comments of a kind of file."""
    if is_yaml(path):
        from detlint.facts import yaml_file  # imports PyYAML

        return lambda data: yaml_file.read(data, "", catalog).directives
    return lambda data: directives(data) if isinstance(parse(data), ast.Module) else None


def _insertion(code: str, line: int, text: bytes, known: Sequence[Directive]) -> Insertion:
    own = next((d for d in known if d.line == line and d.scope == "line" and d.codes and not d.problem), None)
    if own is None:
        end = len(text.rstrip())
        return Insertion(line, end, f"  # detlint: ignore[{code}]")
    end = own.end_column if own.style == "noqa" else text.index(b"]", own.column)
    return Insertion(line, end, f", {code}")


def _names(directive: Directive, line: int, code: str) -> bool:
    return directive.line == line and not directive.problem and code in directive.codes


def _joined(lines: Sequence[bytes]) -> bytes:
    return b"\n".join(lines) + b"\n"

"""What an editor shows of a rule where a finding is pointed at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click
from lsprotocol import types

from detlint.catalog import Catalog
from detlint.lsp.diagnostics import Shown
from detlint.report.document import Block, Table, markdown, text
from detlint.report.rules import page

WIDTH = 80


def hover(found: Sequence[Shown], catalog: Catalog, as_markdown: bool) -> types.Hover:
    """What is found on a line, with the pages of the rules."""
    blocks = [*_blocks(found, catalog)]
    kind = types.MarkupKind.Markdown if as_markdown else types.MarkupKind.PlainText
    value = markdown(blocks) if as_markdown else click.unstyle(text(blocks, WIDTH))
    return types.Hover(types.MarkupContent(kind, value), found[0].diagnostic.range)


def _blocks(found: Sequence[Shown], catalog: Catalog) -> Iterator[Block]:
    for one in found:
        finding = one.finding
        yield f"**{finding.code}** {finding.message}"
        if finding.remedy:
            yield finding.remedy
    for code in dict.fromkeys(one.finding.code for one in found):
        yield "---"
        # The tables list every API of the rule: too much for a box beside the text.
        yield from (block for block in page(catalog, catalog.rules[code]) if not isinstance(block, Table))
        yield f"`detlint rule {code}` prints the APIs that it knows."

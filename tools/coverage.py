"""Write docs/coverage.md: what the guides say that detlint grew from, beside the rules and catalog entries that cover it.

    python tools/coverage.py [--check]

The statements are in docs/coverage.toml. Every rule and API that stands there must be in the catalog; so the page can't claim
what isn't so. `--check` writes nothing.

Exit code: 0 written, or up to date; 1 the page is out of date (with `--check`); 2 the data names what the catalog doesn't know.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from detlint.catalog import Catalog, load

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DOCS: Final = Path(__file__).parent.parent / "docs"
PAGE: Final = DOCS / "coverage.md"
HEAD: Final = """\
# What the guides say, and what covers it

detlint grew from five guides to reproducible training. Here is each of their statements beside the rules and the entries
of the catalog that cover it, and what stands open. The page is written by `tools/coverage.py` from `docs/coverage.toml`,
which checks that every rule and API named here exists. What each API must say is tested one by one:
`tests/data/coverage/`.
"""


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A statement of a document."""

    says: str
    rules: list[str] = []
    apis: list[str] = []
    note: str = ""
    open: str = ""


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A guide."""

    title: str
    about: str
    row: list[Row]


def main(arguments: list[str]) -> int:
    """Write or check the page; the exit code."""
    data = tomllib.loads((DOCS / "coverage.toml").read_text("utf-8"))
    documents = msgspec.convert(data["document"], list[Document])
    catalog = load()
    if wrong := [*unknown(documents, catalog)]:
        print("\n".join(f"docs/coverage.toml: {fault}" for fault in wrong), file=sys.stderr)
        return 2
    text = "\n".join([HEAD, *page(documents, catalog)]) + "\n"
    if arguments == ["--check"]:
        if not PAGE.exists() or PAGE.read_text("utf-8") != text:
            print("docs/coverage.md is out of date: run tools/coverage.py", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(text, "utf-8")
    return 0


def unknown(documents: list[Document], catalog: Catalog) -> Iterator[str]:
    """What the data claims and the catalog doesn't have."""
    tables = (catalog.calls, catalog.assignments, catalog.environment, catalog.members)
    for document in documents:
        for row in document.row:
            yield from (f"{row.says!r}: there is no rule {code}" for code in row.rules if code not in catalog.rules)
            for api in row.apis:
                if not any(catalog.canonical(api) in table for table in tables):
                    yield f"{row.says!r}: the catalog has no entry for {api}"
            if not (row.rules or row.open or row.note):
                yield f"{row.says!r}: neither rules nor what is open"


def page(documents: list[Document], catalog: Catalog) -> Iterator[str]:
    """The page below its head, line by line."""
    rows = [row for document in documents for row in document.row]
    waiting = sum(1 for row in rows if row.open)
    yield f"{len(rows)} statements; of {waiting} something stands open."
    for document in documents:
        yield f"\n## {document.title}\n\n{document.about}\n"
        yield "| statement | rules | catalog | remarks |\n| --- | --- | --- | --- |"
        for row in document.row:
            rules = ", ".join(f"{code} {catalog.rules[code].name}" for code in row.rules)
            apis = ", ".join(f"`{api}`" for api in row.apis)
            remarks = " ".join(filter(None, [row.note, f"**Open**: {row.open}." if row.open else ""]))
            yield f"| {cell(row.says)} | {rules} | {apis} | {cell(remarks)} |"


def cell(text: str) -> str:
    """Text for a cell of a table."""
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Writes the rules' pages into wheels: findings link to them where no site is configured."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>body {{ max-width: 50rem; margin: 2rem auto; padding: 0 1rem; font-family: sans-serif; line-height: 1.5 }}
pre {{ overflow-x: auto }} td, th {{ text-align: left; padding-right: 1rem; vertical-align: top }}</style>
{body}"""


class Pages(BuildHookInterface):  # type: ignore[type-arg]
    """Makes them of the rules as they are built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            self._folder = tempfile.TemporaryDirectory()
            write(Path(self.root), Path(self._folder.name))
            build_data["force_include"][self._folder.name] = "detlint/pages/rules"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._folder.cleanup()


def write(root: Path, folder: Path) -> None:
    """Write a page for each rule of a source tree."""
    sys.path.insert(0, str(root))
    from markdown_it import MarkdownIt

    from detlint.catalog import load
    from detlint.report.document import markdown
    from detlint.report.rules import every, page

    catalog, render = load(), MarkdownIt().enable("table").render
    for rule in every(catalog):
        text = "\n".join(markdown([*page(catalog, rule)]))
        written = PAGE.format(title=f"{rule.code} {rule.name}", body=render(text))
        (folder / f"{rule.code}.html").write_text(written, "utf-8")

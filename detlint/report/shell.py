"""The frame of a small page that is whole in itself: it loads nothing, and is light or dark as the reader has it."""

from __future__ import annotations

from typing import Final

from detlint.report.markup import escaped


def page(title: str, body: str, style: str) -> str:
    """A page.

    Args:
        title: its name, as text.
        body: what stands below that, as HTML.
        style: rules of its own, besides colours and letters.
    """
    return SHELL.format(title=escaped(title), colours=COLOURS, style=style, body=body)


COLOURS: Final = """\
:root { color-scheme: light dark; --ink: #1b1f23; --paper: #fff; --dim: #65707a; --line: #d5dbe0; --code: #f3f5f7;
  --good: #1f7a34; --doubt: #8a6100; --bad: #b3261e; --blue: #1759ad; --orange: #c2570c; --grey: #56626b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8eb; --paper: #14181c; --dim: #96a1aa; --line: #343c43;
  --code: #20262c; --good: #6fcf87; --doubt: #e3b341; --bad: #ff8a80; --blue: #79b4ff; --orange: #ffb27a; --grey: #a9b4bd; } }
"""
SHELL: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{colours}body {{ margin: 2rem auto; max-width: 60rem; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); }}
h1 {{ font-size: 1.4rem; }} h2 {{ font-size: 1.1rem; margin-top: 2rem; }}
.chip {{ padding: 0 .5em; border: 1px solid currentColor; border-radius: 1em; font-size: 13px; }}
{style}</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""

"""Text as HTML.

Plain strings and `html.escape` do: the report is one page whose parts are as many functions, each a line or two of HTML. A
template engine would be one more thing to install for everyone, and would leave the escaping of `<script>` and of attributes
to the same function.
"""

from __future__ import annotations

import html
import re
from typing import Final

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
"""What HTML can't hold, UTF-8 can't say, or would turn the order of the letters around it."""
_CODE: Final = re.compile(r"`([^`]+)`")


def escaped(text: object) -> str:
    """Text that a page shows as it is, also inside of an attribute's quotes."""
    return html.escape(_CONTROL.sub("\ufffd", str(text)))


def sentence(text: str) -> str:
    """A message or a remedy: what stands in backquotes is code."""
    return _CODE.sub(r"<code>\1</code>", escaped(text))


def broken(path: str) -> str:
    """A path that may go on in the next line behind each slash."""
    return escaped(path).replace("/", "/<wbr>")


def counted(number: int, word: str) -> str:
    """`1 file`, `1,200 files`."""
    return f"{number:,} {word}{'s' * (number != 1)}"

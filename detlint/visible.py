"""Text that comes from elsewhere, as it may be shown: it steers no terminal, and begins no line of its own.

Names of files, lines of sources and what is quoted from them may hold anything: escape sequences that hide or change what a terminal
shows, line breaks that forge a line of a report, marks that turn the order of letters around.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any, Final

_STEERING: Final = "\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
"""Control characters of both kinds, what ends a line, what sets the direction of letters; and halves of characters."""
_NAMED: Final = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
_ANY: Final = re.compile(f"[{_STEERING}]")
_COMMAND: Final = re.compile(r"##(?=vso\[|\[)")
"""What Azure Pipelines, and GitHub Actions as an heir of it, take for a command wherever it stands in a log."""
_OWN: Final = re.compile(rf"(\x1b\[(?:[0-4]|[39][1-6])m)|[{_STEERING}]")
"""The colours that detlint itself uses pass."""
_DATA: Final = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""What JSON and XML write as it is, and needn't."""


def visible(text: str, keep: str = "") -> str:
    r"""Text with what steers a terminal written out: `\n`, `\x1b`, `\u202e`; bytes of a name that are none of UTF-8 as `\xff`.

    Args:
        keep: characters that stay.
    """
    if not text.isprintable():
        text = _ANY.sub(lambda found: found[0] if found[0] in keep else _written(found[0]), text)
    return _COMMAND.sub(r"#\\x23", text) if "##" in text and _logs() else text


def line(text: str) -> str:
    """A line of a report, with what steers a terminal written out except for detlint's own colours."""
    if text.isprintable():
        return text
    return _OWN.sub(lambda found: found[1] or _written(found[0]), text)


def lines(texts: Iterable[str]) -> str:
    """Lines of a report, some of which may be several; joined."""
    return "\n".join(line(part) for text in texts for part in text.split("\n"))


def encoded(value: Any, indent: int = 2) -> str:
    """JSON: exact data, that steers no terminal either.

    Args:
        indent: 0 for one line.
    """
    import msgspec  # what shows lines needs none of it

    try:
        text = msgspec.json.encode(value)
    except UnicodeEncodeError:  # halves of characters, which only escapes can write
        import json

        text = json.dumps(msgspec.to_builtins(value)).encode()
    told = (msgspec.json.format(text, indent=indent) if indent else text).decode()
    return told if told.isascii() else _DATA.sub(lambda found: f"\\u{ord(found[0]):04x}", told)


def in_xml(document: str) -> str:
    """XML whose text steers no terminal, and says the same."""
    return _DATA.sub(lambda found: f"&#{ord(found[0])};", document)


def _written(sign: str) -> str:
    code = ord(sign)
    if 0xDC80 <= code <= 0xDCFF:  # a byte, as Python keeps those of names that aren't UTF-8
        code -= 0xDC00
    return _NAMED.get(sign) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def _logs() -> bool:
    """Whether what is shown becomes a log that is read for commands."""
    return "TF_BUILD" in os.environ or "GITHUB_ACTIONS" in os.environ

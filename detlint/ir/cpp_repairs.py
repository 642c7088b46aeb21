"""What the grammar can't take apart in a source in C++, put so that it can: macros that are statements without a semicolon, pragmas
where one statement has to follow, `for (...)` above `#pragma unroll`, and words before types, `__kernel void`.

The parser goes on behind what it doesn't understand, but after a few of those it gives up on the functions behind them. So each round ends
the macros that stand alone on their lines where something is wrong, and parses again. No line moves, and no column of what begins one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from detlint.ir import cpp_pragmas

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_ROUNDS: Final = 6
"""Each may find what the one before hid."""
_WORDS: Final = frozenset({"identifier", "type_identifier"})
_HEADS: Final = frozenset({b"catch", b"defined", b"for", b"if", b"return", b"sizeof", b"switch", b"while"})
"""What isn't called, which the parser may take for a name where it is lost."""


def repaired(text: bytes, parse: Callable[[bytes], Tree], matters: Callable[[bytes], bool]) -> Tree:
    """The tree of a source, once there is nothing more to repair.

    Args:
        matters: whether what a macro is handed has to be read, even if it is only half understood.
    """
    tree = parse(text)
    if any(word in text for word in cpp_pragmas.WORDS):
        text = cpp_pragmas.labelled(text, tree.root_node)
        tree = parse(text)
    for _ in range(_ROUNDS):
        root = tree.root_node
        plain = _without_attributes(_without_pragmas(text, root), root)
        changed = _ended(plain, {**_alone(text, [*_parts(root)]), **_types(root)}, matters)
        if changed == text:
            break
        text, tree = changed, parse(changed)
    return tree


def _parts(root: Node) -> Iterator[Node]:
    """What a source is made of: words and signs where something is wrong, and all else as a whole."""
    waiting = [root] if root.has_error else []
    while waiting:
        node = waiting.pop()
        if node.children and (node.has_error or node.type == "ERROR"):
            waiting += node.children[::-1]
        elif not node.is_missing and node.type != "comment":
            yield node


def _alone(text: bytes, parts: list[Node]) -> dict[int, int]:
    """Where calls end that stand alone on their lines, between statements -> where what they are handed begins, if that is no expression:
    a type, statements."""
    found: dict[int, int] = {}
    for i, part in enumerate(parts):
        last = _end_of_call(parts, i)
        if last < 0 or last + 1 == len(parts):
            continue
        before, after, end = parts[i - 1] if i else part, parts[last + 1], parts[last].end_byte
        begins = not i or before.end_byte in found or before.type.startswith("preproc") or _sign(text, before) in b";{}"
        goes_on = text[after.start_byte : after.start_byte + 1]
        apart = before.end_point[0] < part.start_point[0] and parts[last].end_point[0] < after.start_point[0]
        if begins and apart and (goes_on.isalnum() or goes_on in (b"_", b"}", b"#")):
            found[end] = parts[i + 1].end_byte if last > i else end
    return found


def _sign(text: bytes, part: Node) -> bytes:
    """That with which a part ends."""
    return text[part.end_byte - 1 : part.end_byte]


def _end_of_call(parts: list[Node], i: int) -> int:
    """The part with which a call ends that begins with another one; -1 where none begins."""
    callee = parts[i].child_by_field_name("function") if parts[i].type == "call_expression" else parts[i]
    if callee is None or callee.type not in _WORDS or callee.text in _HEADS:
        return -1
    if callee is not parts[i]:
        return i
    depth = 0
    for last in range(i + 1, len(parts)):
        depth += {"(": 1, ")": -1}.get(parts[last].type, 0)
        if depth <= 0:
            return last if parts[last].type == ")" else -1
    return -1


def _types(root: Node) -> dict[int, int]:
    """Where words end that look like the types of what is declared on the next line in a block: `SYNC` above `atomicAdd(out, x);`."""
    waiting, found = [root], dict[int, int]()
    while waiting:
        node = waiting.pop()
        waiting += [child for child in node.named_children if child.named_child_count]
        if node.type != "declaration" or node.parent is None or node.parent.type != "compound_statement":
            continue
        kind, declared = node.child_by_field_name("type"), node.child_by_field_name("declarator")
        if kind is None or declared is None or kind.type not in _WORDS or node.children[0] != kind:
            continue
        calls = declared.type == "function_declarator" or node.has_error
        if calls and declared.start_point[0] > kind.end_point[0]:
            found[kind.end_byte] = kind.end_byte
    return found


def _ended(text: bytes, ends: dict[int, int], matters: Callable[[bytes], bool]) -> bytes:
    """A text with semicolons at some bytes, where a blank gives way to one, and blanks for what is before those and doesn't matter."""
    for end, begin in sorted(ends.items(), reverse=True):
        handed = text[begin:end]
        handed = handed if matters(handed) else _blank(handed[:-1]) + handed[-1:]
        text = text[:begin] + handed + b";" + text[end + (text[end : end + 1] in (b" ", b"\t")) :]
    return text


def _blank(text: bytes) -> bytes:
    """As many blanks, on as many lines."""
    return bytes(10 if byte == 10 else 32 for byte in text)


def _without_pragmas(text: bytes, root: Node) -> bytes:
    """A text with blanks for the pragmas where something is wrong."""
    for part in _parts(root):
        if cpp_pragmas.words_of(part) and not any(cpp_pragmas.summed(part)):
            begin, end = part.start_byte, part.end_byte
            text = text[:begin] + _blank(text[begin:end]) + text[end:]
    return text


def _without_attributes(text: bytes, root: Node) -> bytes:
    """A text with blanks for words before types that the grammar takes for the types, `__kernel void`, `__global float* x`: macros,
    qualifiers of OpenCL."""
    waiting = [root] if root.has_error else []
    while waiting:
        node = waiting.pop()
        waiting += [child for child in node.named_children if child.has_error]
        for word in _before_types(node):
            text = text[: word.start_byte] + b" " * (word.end_byte - word.start_byte) + text[word.end_byte :]
    return text


def _before_types(node: Node) -> Iterator[Node]:
    """The words of what declares something behind which another one stands, which is its type."""
    kinds = [child for child in node.children if child.type not in ("type_qualifier", "storage_class_specifier")]
    for kind, then in pairwise(kinds):
        misplaced = then if then.type == "ERROR" else then.children[1] if _is_array_of_type(then) else None
        if misplaced is None or [child.type for child in misplaced.children] != ["identifier"]:
            continue
        if kind.type == "type_identifier":
            yield kind
        elif kind.type == "sized_type_specifier":
            yield from (child for child in kind.children if child.type == "type_identifier")


def _is_array_of_type(node: Node) -> bool:
    """Whether an array looks to be called what its type is: `__local float part[4]`."""
    return node.type == "array_declarator" and len(node.children) > 1 and node.children[1].type == "ERROR"

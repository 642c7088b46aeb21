"""Pragmas that say how threads add: `omp atomic` and `omp critical` before a statement, and `reduction(+:x)`; of OpenACC as well.

The grammar takes a pragma for a statement of its own. So one that is about the next statement becomes a label of that, in its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node

HELD: Final = "__one_by_one"
"""The label of a statement that one thread does at a time."""
SUMMED: Final = "#pragma reduction"
"""What is called with the variables that threads add up."""
WORDS: Final = (b"omp atomic", b"omp critical", b"acc atomic", b"reduction(", b"reduction (")
"""One of these is in a pragma that says how threads add."""
_HEADS: Final = (["omp", "atomic"], ["omp", "critical"], ["acc", "atomic"])
_WITHIN: Final = frozenset(
    {"distribute", "for", "gang", "loop", "parallel", "sections", "taskloop", "teams", "vector", "worker", "kernels"}
)
"""Where parts are put together by several threads; the lanes of `simd` are in one."""
_SIGNS: Final = frozenset({"+", "-", "*"})


def words_of(node: Node) -> list[str]:
    """What a pragma says, `omp parallel for reduction ( + : x )`; nothing for any other directive."""
    if node.type != "preproc_call" or node.children[0].text != b"#pragma" or len(node.named_children) < 2:
        return []
    text = (node.named_children[1].text or b"").decode("utf-8", "replace").partition("//")[0].replace("\\\n", " ")
    for sign in "(),:":
        text = text.replace(sign, f" {sign} ")
    return text.split()


def labelled(text: bytes, root: Node) -> bytes:
    """A text with a label for each pragma by which the next statement is done by one thread at a time."""
    waiting, label = [root], f"{HELD}:".encode()
    while waiting:
        node = waiting.pop()
        waiting += [child for child in node.named_children if child.named_child_count]
        if words_of(node)[:2] in _HEADS:
            begin, end = node.start_byte, node.named_children[1].end_byte
            blank = bytes(10 if byte == 10 else 32 for byte in text[begin + len(label) : end])
            text = text[:begin] + label + blank + text[end:]
    return text


def declared(root: Node) -> frozenset[str]:
    """The names of reductions that a source declares and that add: `declare reduction(sum : Vector : omp_out += omp_in)`."""
    waiting, found = [root] if b"declare reduction" in (root.text or b"") else [], set[str]()
    while waiting:
        node = waiting.pop()
        waiting += [child for child in node.named_children if child.named_child_count]
        words = words_of(node)
        if words[:4] == ["omp", "declare", "reduction", "("] and any(
            "+" in w or w.startswith("plus") for w in words[5:]
        ):
            found.add(words[4])
    return frozenset(found)


def summed(node: Node, names: frozenset[str] = frozenset()) -> Iterator[str]:
    """The variables that threads add up, each a part, by what a pragma says.

    Args:
        names: those of further reductions that add.
    """
    words = words_of(node)
    clause = words.index("(") if "(" in words else 0
    threads = words[:1] in (["omp"], ["acc"]) and "declare" not in words and not _WITHIN.isdisjoint(words[:clause])
    for at, word in enumerate(words) if threads else ():
        if word != "reduction" or words[at + 1 : at + 2] != ["("]:
            continue
        end = words.index(")", at) if ")" in words[at:] else len(words)
        split = words.index(":", at, end) if ":" in words[at:end] else end
        sign, variables = words[at + 2 : split], words[split + 1 : end]
        if not (_SIGNS | names).isdisjoint(sign):
            yield from (name for each in variables if (name := each.partition("[")[0]).isidentifier())

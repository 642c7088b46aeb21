"""Shell scripts to commands, by tree-sitter's grammar of Bash, which goes on behind what it doesn't understand.

Nothing is run. What a text says that nobody writes by hand (a quarter of a megabyte, thousands of brackets) isn't parsed at all: the
parser's time and memory grow with the square of those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Final

from detlint.ir.commands import (
    NOTHING,
    Array,
    Assignment,
    Branch,
    Command,
    Define,
    Expansion,
    Group,
    Loop,
    Part,
    Script,
    Step,
    Word,
)

if TYPE_CHECKING:  # a run that meets no script doesn't load it
    from tree_sitter import Node, Parser

MOST: Final = 1 << 17
"""Bytes."""
MOST_MARKS: Final = 4_000
"""How often one of these may stand in a text."""
_MARKS: Final = b"()|{}<`"
DEEPEST: Final = 50
"""Constructs within constructs."""
_DEFAULTS: Final = frozenset({":-", "-", ":=", "="})
_ARRAYS: Final = frozenset({"@", "*"})
_KINDS: Final = {"export": "export", "local": "local"}
_NO_WORDS: Final = frozenset({"comment", "file_redirect", "herestring_redirect", "heredoc_redirect", "heredoc_body"})
_SUBSTITUTED: Final = frozenset({"command_substitution", "process_substitution"})
_READING: Final = frozenset({"read", "mapfile", "readarray", "getopts"})


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def may_be_parsed(text: bytes) -> bool:
    """Whether a text is one that somebody may have written."""
    return len(text) <= MOST and b"\0" not in text and all(text.count(mark) <= MOST_MARKS for mark in _MARKS)


def lower(text: bytes) -> Script:
    """What a script says. Never raises on account of the input: of one that can't be understood, those commands that can."""
    if not may_be_parsed(text):
        return NOTHING
    tree = _parser().parse(text.replace(b"\r\n", b" \n"))
    found = _Lowering()
    steps = found.steps(tree.root_node)
    return Script(steps, found.complete and not tree.root_node.has_error)


def quoted(text: str) -> Word:
    """The word that a text is in double quotes, but for its own quotes."""
    steps = lower(b'value="' + text.replace('"', '\\"').encode("utf-8", "replace") + b'"').steps
    value = steps[0].value if len(steps) == 1 and isinstance(steps[0], Assignment) else None
    return value if isinstance(value, Word) else Word((None,))


def text_of(node: Node) -> str:
    """A node as it is written."""
    return (node.text or b"").decode("utf-8", "replace")


class _Lowering:
    """The state of lowering one script."""

    def __init__(self) -> None:
        self.complete = True
        self.depth = 0

    # -- steps --------------------------------------------------------------------------------------------------

    def steps(self, node: Node) -> tuple[Step, ...]:
        """What a node does, in order."""
        if self.depth == DEEPEST:
            self.complete = False
            return ()
        self.depth += 1
        lowered = _STATEMENTS.get(node.type, _Lowering.all_of)
        found = tuple(_joined(lowered(self, node)))
        self.depth -= 1
        return found

    def all_of(self, node: Node) -> Iterator[Step]:
        """What all that stands in a node does."""
        for child in node.named_children:
            if child.type not in ("comment", "heredoc_body"):
                yield from self.steps(child)

    def substituted(self, node: Node) -> Iterator[Step]:
        """What is run to find out what a part of a command is: `$(date)`."""
        waiting = [*node.named_children]
        for child in waiting:
            if child.type in _SUBSTITUTED:
                yield from self.steps(child)
            else:
                waiting += child.named_children

    def command(self, node: Node) -> Iterator[Step]:
        yield from self.substituted(node)
        name = node.child_by_field_name("name")
        words = [*(self.words(name) if name is not None else ())]
        words += [word for child in node.children_by_field_name("argument") for word in self.words(child)]
        given = tuple(self.assigned(child) for child in node.named_children if child.type == "variable_assignment")
        line, column = place_of(node)
        if words and words[0].text in _READING:
            for word in words[1:]:
                if word.text and word.text.isidentifier():
                    yield Assignment(word.text, None, "read", line=line, column=column)
        elif words:
            yield Command(tuple(words), given, line, column)

    def assignment(self, node: Node) -> Iterator[Step]:
        yield from self.substituted(node)
        yield self.assigned(node)

    def assignments(self, node: Node) -> Iterator[Step]:
        for child in node.named_children:
            yield from self.steps(child)

    def declaration(self, node: Node) -> Iterator[Step]:
        yield from self.substituted(node)
        head = text_of(node.children[0])
        options = "".join(text_of(child) for child in node.named_children if child.type == "word")
        kind = _KINDS.get(head, "export" if options.startswith("-") and "x" in options else "")
        for child in node.named_children:
            if child.type == "variable_assignment":
                yield self.assigned(child, kind)
            elif child.type == "variable_name" and kind == "export":
                yield Assignment(text_of(child), None, "export", False, *place_of(child))

    def unset(self, node: Node) -> Iterator[Step]:
        for child in node.named_children:
            if child.type == "variable_name":
                yield Assignment(text_of(child), None, "unset", False, *place_of(child))

    def conditional(self, node: Node) -> Iterator[Step]:
        """`if`, with the arms of its `elif` and `else`."""
        arms, exhaustive = list[tuple[Step, ...]](), False
        asked: list[Step] = []
        for part in (node, *(child for child in node.named_children if child.type in ("elif_clause", "else_clause"))):
            behind = part.type == "else_clause"
            arm: list[Step] = []
            for child in part.children:
                behind = behind or child.type == "then"
                if child.is_named and child.type not in ("elif_clause", "else_clause", "comment"):
                    (arm if behind else asked).extend(self.steps(child))
            arms.append(tuple(arm))
            exhaustive |= part.type == "else_clause"
        yield from asked
        yield Branch(tuple(arms), exhaustive)

    def case(self, node: Node) -> Iterator[Step]:
        items = [child for child in node.named_children if child.type == "case_item"]
        arms = tuple(self.inside(item, ("value",)) for item in items)
        patterns = {text_of(value) for item in items for value in item.children_by_field_name("value")}
        yield Branch(arms, "*" in patterns)

    def inside(self, node: Node, but: tuple[str, ...]) -> tuple[Step, ...]:
        """What a node does, but for its fields of some names."""
        left_out = {child.id for name in but for child in node.children_by_field_name(name)}
        return tuple(step for child in node.named_children if child.id not in left_out for step in self.steps(child))

    def loop(self, node: Node) -> Iterator[Step]:
        variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        values = tuple(word for child in node.children_by_field_name("value") for word in self.words(child))
        yield from self.inside(node, ("variable", "body"))
        if body is not None:
            yield Loop(text_of(variable) if variable is not None else "", values or None, self.steps(body))

    def counting(self, node: Node) -> Iterator[Step]:
        """`for ((i = 0; i < 8; i++))`"""
        body, initial = node.child_by_field_name("body"), node.child_by_field_name("initializer")
        name = initial.child_by_field_name("name") if initial is not None else None
        if body is not None:
            yield Loop(text_of(name) if name is not None else "", None, self.steps(body))

    def repeated(self, node: Node) -> Iterator[Step]:
        body = node.child_by_field_name("body")
        asked = self.inside(node, ("body",))
        yield Loop("", None, asked + (self.steps(body) if body is not None else ()))

    def group(self, node: Node) -> Iterator[Step]:
        yield Group(tuple(self.all_of(node)))

    def pipeline(self, node: Node) -> Iterator[Step]:
        for child in node.named_children:
            yield Group(self.steps(child))

    def chain(self, node: Node) -> Iterator[Step]:
        """`a && b || c`: what follows on success is taken to be come to, but behind a test."""
        first, parts = node, []
        while first.type == "list" and first.named_child_count == 2:
            parts.append((first.children[1].type, first.named_children[1]))
            first = first.named_children[0]
        yield from self.steps(first)
        unsure = first.type in ("test_command", "negated_command")
        for sign, part in reversed(parts):
            unsure = unsure or sign == "||"
            done = self.steps(part)
            yield from [Branch((done,))] if unsure and done else done
            unsure = unsure or part.type in ("test_command", "negated_command")

    def definition(self, node: Node) -> Iterator[Step]:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            yield Define(text_of(name), self.steps(body))

    # -- words --------------------------------------------------------------------------------------------------

    def assigned(self, node: Node, kind: str = "") -> Assignment:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        adds = any(child.type == "+=" for child in node.children)
        given: Word | Array = Word(("",))
        if value is not None and value.type == "array":
            given = Array(tuple(word for child in value.named_children for word in self.words(child)))
        elif value is not None:
            given = self.word(value)
        plain = name is not None and name.type == "variable_name"
        text = text_of(name) if name is not None else ""
        return Assignment(text, given if plain else None, kind, adds, *place_of(node))  # type: ignore[arg-type]

    def words(self, node: Node) -> Iterator[Word]:
        """The word that a node is; none for what is no word."""
        if node.type == "command_name":
            for child in node.named_children:
                yield from self.words(child)
        elif node.type not in _NO_WORDS:
            yield self.word(node)

    def word(self, node: Node) -> Word:
        return Word(tuple(self.parts(node, False)), *extent(node))

    def parts(self, node: Node, quoted: bool) -> Iterator[Part]:
        kind = node.type
        if kind == "raw_string":
            yield text_of(node)[1:-1]
        elif kind == "ansi_c_string":
            text = text_of(node)[2:-1]
            yield None if "\\" in text else text
        elif kind == "simple_expansion":
            name = text_of(node).removeprefix("$")
            yield Expansion(name, None, quoted, name in _ARRAYS)
        elif kind == "expansion":
            yield self.expansion(node, quoted)
        elif kind in ("string", "concatenation"):
            yield from self.joined(node, quoted or kind == "string")
        elif kind in _SUBSTITUTED or kind in ("arithmetic_expansion", "translated_string"):
            yield None
        elif node.named_child_count:
            yield from self.joined(node, quoted)
        else:
            yield _unescaped(text_of(node), quoted)

    def joined(self, node: Node, quoted: bool) -> Iterator[Part]:
        """The parts of a word, with what stands between its nodes."""
        inside, text = node.type == "string", node.text or b""
        at, end = (1, len(text) - 1) if inside else (0, len(text))
        for child in node.named_children:
            start = child.start_byte - node.start_byte
            if at < start:
                yield _unescaped(text[at:start].decode("utf-8", "replace"), quoted)
            yield from self.parts(child, quoted)
            at = child.end_byte - node.start_byte
        if at < end or (inside and not node.named_child_count):
            yield _unescaped(text[at:end].decode("utf-8", "replace"), quoted)

    def expansion(self, node: Node, quoted: bool) -> Part:
        """`${X}`, with its default; None for what else may be made of a variable (`${X%.sh}`)."""
        inside = node.named_children
        of = inside[0] if inside else None
        signs = [text_of(child) for child in node.children if not child.is_named][1:-1]
        if of is None or text_of(node)[2:3] in ("#", "!"):
            return None
        each = False
        if of.type == "subscript":
            array, index = of.child_by_field_name("name"), of.child_by_field_name("index")
            each = index is not None and text_of(index) in _ARRAYS
            if not each or array is None:
                return None
            of = array
        if of.type not in ("variable_name", "special_variable_name"):
            return None
        name = text_of(of)
        each = each or name in _ARRAYS
        if not signs:
            return Expansion(name, None, quoted, each) if len(inside) == 1 else None
        if len(signs) > 1 or signs[0] not in _DEFAULTS:
            return None
        default = Word(tuple(part for child in inside[1:] for part in self.parts(child, quoted)) or ("",))
        return Expansion(name, default, quoted, each)


_STATEMENTS: Final[dict[str, Callable[[_Lowering, Node], Iterator[Step]]]] = {
    "command": _Lowering.command,
    "variable_assignment": _Lowering.assignment,
    "variable_assignments": _Lowering.assignments,
    "declaration_command": _Lowering.declaration,
    "unset_command": _Lowering.unset,
    "if_statement": _Lowering.conditional,
    "case_statement": _Lowering.case,
    "for_statement": _Lowering.loop,
    "c_style_for_statement": _Lowering.counting,
    "while_statement": _Lowering.repeated,
    "subshell": _Lowering.group,
    "command_substitution": _Lowering.group,
    "process_substitution": _Lowering.group,
    "pipeline": _Lowering.pipeline,
    "list": _Lowering.chain,
    "function_definition": _Lowering.definition,
}
"""Others do what stands in them."""


def place_of(node: Node) -> tuple[int, int]:
    """Where a node begins."""
    return node.start_point[0] + 1, node.start_point[1]


def extent(node: Node) -> tuple[int, int, int]:
    """Where a node begins, and its length, as `Word` has them."""
    (row, column), (last, end) = node.start_point, node.end_point
    return row + 1, column, end - column if last == row else 0


def comments(text: bytes) -> list[tuple[int, int, str]]:
    """The comments of a script: line, column, text. None of one that can't be understood."""
    return comments_below(_parser().parse(text.replace(b"\r\n", b" \n")).root_node) if may_be_parsed(text) else []


def comments_below(node: Node) -> list[tuple[int, int, str]]:
    """The comments of a tree."""
    found, waiting = list[tuple[int, int, str]](), [node]
    for each in waiting:
        if each.type == "comment":
            found.append((*place_of(each), text_of(each).rstrip()))
        waiting += each.children
    return sorted(found)


def _unescaped(text: str, quoted: bool) -> str:
    """A text without the backslashes that keep characters from meaning something."""
    if "\\" not in text:
        return text
    found, at = [], 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text) and (not quoted or text[at + 1] in '"\\$`\n'):
            at += 1
            found.append("" if text[at] == "\n" else text[at])
        else:
            found.append(text[at])
        at += 1
    return "".join(found)


def _joined(steps: Iterator[Step]) -> Iterator[Step]:
    """Steps with what a comment has cut off a command: `--lr 1 \\`, then `# --clip \\`, then `--size 2`, which is no command."""
    last: Command | None = None
    for step in steps:
        if isinstance(step, Command) and last is not None and (step.words[0].text or "").startswith("--"):
            last = Command(last.words + step.words, last.given, last.line, last.column)
            continue
        if last is not None:
            yield last
        last = step if isinstance(step, Command) else None
        if last is None:
            yield step
    if last is not None:
        yield last

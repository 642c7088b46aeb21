"""Dockerfiles to commands, by tree-sitter's grammar: what is run as an image is built, and what it starts.

Each stage is a process of its own, that begins with the variables of the stage which it is made from.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Literal

from detlint.ir import shell
from detlint.ir.commands import (
    NOTHING,
    Assignment,
    Command,
    Expansion,
    Group,
    Part,
    Script,
    Step,
    Word,
    moved,
)

if TYPE_CHECKING:  # a run that meets no such file doesn't load it
    from tree_sitter import Node, Parser


@cache
def _parser() -> Parser:
    import tree_sitter_containerfile
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_containerfile.language()))


def lower(text: bytes) -> Script:
    """What a Dockerfile says. Never raises on account of the input."""
    if not shell.may_be_parsed(text):
        return NOTHING
    root = _parser().parse(text.replace(b"\r\n", b" \n")).root_node
    stages: dict[str, list[Step]] = {}
    bodies: list[list[Step]] = [[]]
    entry: tuple[Word, ...] = ()
    for node in root.named_children:
        if node.type == "from_instruction":
            name, image = (node.child_by_field_name("as"), next(iter(node.named_children), None))
            of = stages.get(shell.text_of(image).lower(), []) if image is not None else []
            bodies.append([step for step in of if isinstance(step, Assignment) or _moves(step)])
            entry = ()
            if name is not None:
                stages[shell.text_of(name).lower()] = bodies[-1]
        elif node.type == "entrypoint_instruction" and (words := _listed(node)):
            entry = words
            bodies[-1].append(Command(words, (), *shell.place_of(node)))
        elif node.type == "cmd_instruction" and entry and (words := _listed(node)):
            bodies[-1][-1:] = [Command(entry + words, (), *shell.place_of(node))]
        else:
            bodies[-1].extend(_steps(node))
    return Script(tuple(Group(tuple(body)) for body in bodies if body), not root.has_error)


def comments(text: bytes) -> list[tuple[int, int, str]]:
    """The comments of a Dockerfile: line, column, text."""
    return shell.comments_below(_parser().parse(text).root_node) if shell.may_be_parsed(text) else []


def _moves(step: Step) -> bool:
    return isinstance(step, Command) and step.words[0].text == "cd"


def _steps(node: Node) -> Iterator[Step]:
    line, column = shell.place_of(node)
    if node.type in ("env_instruction", "arg_instruction"):
        for pair in node.named_children:
            name, value = (
                pair.child_by_field_name("name"),
                pair.child_by_field_name("value" if node.type[0] == "e" else "default"),
            )
            if name is not None and pair.type.endswith("_pair"):
                kind: Literal["export", ""] = "export" if node.type == "env_instruction" else ""
                given = Word(tuple(_parts(value)), *shell.extent(value)) if value is not None else None
                yield Assignment(shell.text_of(name), given, kind, False, *shell.place_of(pair))
    elif node.type == "workdir_instruction":
        yield Command((Word(("cd",)), Word((shell.text_of(node.named_children[-1]),))), (), line, column)
    elif node.type in ("run_instruction", "cmd_instruction", "entrypoint_instruction"):
        words = _listed(node)
        yield from [Command(words, (), line, column)] if words else _shell(node)
    elif node.type == "healthcheck_instruction":
        for child in node.named_children:
            yield from _steps(child)


def _shell(node: Node) -> Iterator[Step]:
    """What an instruction gives a shell; of a document in it all lines."""
    for child in node.named_children:
        blocks = [each for each in child.named_children if each.type == "heredoc_content"]
        for part in blocks if child.type == "heredoc_block" else [child] * (child.type == "shell_command"):
            if part.type == "shell_command" and any(c.type == "heredoc_marker" for c in part.named_children):
                continue
            text = bytearray(part.text or b"")
            for comment in (each for each in part.named_children if each.type == "comment"):
                start, end = comment.start_byte - part.start_byte, comment.end_byte - part.start_byte
                text[start:end] = b" " * (end - start - 2) + b"\\\n"  # the line goes on behind it
            line, column = shell.place_of(part)
            yield Group(moved(shell.lower(bytes(text)).steps, line - 1, column))


def _listed(node: Node) -> tuple[Word, ...]:
    """The words of `["python", "train.py"]`; none where an instruction has no such list."""
    found = next((child for child in node.named_children if child.type == "json_string_array"), None)
    strings = found.named_children if found is not None else []
    try:
        return tuple(Word((str(json.loads(each.text or b"")),), *shell.extent(each)) for each in strings)
    except ValueError:
        return ()


def _parts(node: Node) -> Iterator[Part]:
    """The parts of a value of `ENV`."""
    text, at = node.text or b"", 0
    quote = node.type == "double_quoted_string" or node.type == "single_quoted_string"
    at, end = (1, len(text) - 1) if quote else (0, len(text))
    for child in node.named_children:
        start = child.start_byte - node.start_byte
        if at < start:
            yield text[at:start].decode("utf-8", "replace")
        name = next((each for each in child.named_children if each.type == "variable"), None)
        plain = child.type == "expansion" and name is not None and child.named_child_count == 1
        yield Expansion(shell.text_of(name), None, True) if plain and name is not None else None
        at = child.end_byte - node.start_byte
    if at < end or not text:
        yield text[at:end].decode("utf-8", "replace")

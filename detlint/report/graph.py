"""`detlint graph`: the seed flow of an entry point, as Mermaid, Graphviz or a page.

Nodes are the functions on the way to something that touches a stream or a switch, and what touches it: the draws of one
stream in one state are one node, however many they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from detlint.checks.seeds import written
from detlint.effects.trace import Call
from detlint.inspect import Inspection, NotThere, Traced
from detlint.model.runs.entry import entry_points
from detlint.model.runs.reach import Place
from detlint.model.sites.records import plain
from detlint.report.deeds import deeds
from detlint.report.place import at_line, at_name, shown
from detlint.visible import visible

MOST_NAMED: Final = 3
"""APIs that are listed where many draw alike."""
FILLS: Final = {
    "function": ("#eceff1", "#607d8b"),
    "good": ("#d7f0dc", "#2e7d32"),
    "doubt": ("#fdf0cd", "#b07d00"),
    "bad": ("#fbdcdc", "#c62828"),
    "switch": ("#dbe9fb", "#1565c0"),
}
"""What a node is -> the colours of its inside and its border; the text on them is dark in every theme."""
INK: Final = "#1b1f23"
MARKS: Final = {"good": "\u2713", "doubt": "?", "bad": "\u2717", "switch": "\u2699", "function": ""}


def graph(inspection: Inspection, function: str, form: str) -> str:
    """The seed flow of a file's entry points, or of the one that is a certain function.

    Args:
        form: `mermaid`, `dot` or `html`.

    Raises:
        NotThere: no run starts there.
    """
    runs = _chosen(inspection, function)
    if form == "html":
        from detlint.report.page import page

        return page(inspection, runs)
    drawn = Drawn()
    for run in runs:
        drawn.add(run)
    return "".join(f"{line}\n" for line in (mermaid(drawn) if form == "mermaid" else dot(drawn)))


def _chosen(inspection: Inspection, function: str) -> Sequence[Traced]:
    module = inspection.module
    declared = inspection.starts.get(module.path, ())
    if not function:
        found = inspection.follow(module, declared)
    else:
        found = [inspection.trace(e) for e in entry_points(module, [function]) if e.function.name == function]
    if found:
        return found
    labels = [run.label for run in inspection.runs()]
    listed = "".join(f"\n  {label}" for label in labels) or " none"
    what = f"function `{function}`" if function else "entry point"
    raise NotThere(f"no {what} in {shown(module.path)}; entry points of the program that reach it:{listed}")


# -- what is drawn ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Node:
    """A function, or what touches one stream or switch in it."""

    name: str
    kind: str
    """A key of `FILLS`."""
    title: str
    places: list[Place] = field(default_factory=list)
    """Where it happens."""
    where: str = ""

    def lines(self) -> Iterator[str]:
        """The text on it."""
        mark = MARKS[self.kind]
        many = f" \u00d7{len(self.places)}" if len(self.places) > 1 else ""
        yield f"{mark} {self.title}{many}".strip()
        if self.where:
            yield self.where
        told = list(dict.fromkeys(f"{written(p)} ({at_name(p)})" for p in self.places))
        yield from told[:MOST_NAMED]
        if len(told) > MOST_NAMED:
            yield f"and {len(told) - MOST_NAMED} more"


class Drawn:
    """The nodes and edges of some runs, in order.

    Args:
        name: how paths are written.
    """

    def __init__(self, name: Callable[[str], str] = shown) -> None:
        self._name = name
        self.nodes: dict[object, Node] = {}
        self.edges: dict[tuple[str, str], int] = {}
        """From, to -> which step of the former it is first."""
        self._steps: dict[str, int] = {}

    def add(self, run: Traced) -> None:
        """A run, from its entry point."""
        name = plain(run.entry.function.name) or os.path.basename(run.entry.module.path)
        key = ("call", run.entry.module.path, run.entry.function.name)
        start = self._node(key if run.entry.function.name else run.label, "function", name)
        start.where = f"starts here: {at_line(run.entry.module, run.entry.span.line, self._name)}"
        self._inside(run.root, start)

    def _inside(self, call: Call, node: Node) -> None:
        for item in call.steps():
            if isinstance(item, tuple):
                for deed in deeds(item):
                    leaf = self._node((node.name, deed), deed.kind, deed.text)
                    if item[0].place not in leaf.places:
                        leaf.places.append(item[0].place)
                    self._edge(node, leaf)
            elif item.matters():
                inner = self._call(item, node)
                self._edge(node, inner)
                self._inside(item, inner)

    def _call(self, call: Call, around: Node) -> Node:
        if call.how == "later":
            return self._node((around.name, "later"), "function", "later, when objects are used")
        how = {"import": "import ", "process": "new process: ", "command": "command "}.get(call.how, "")
        name = call.module.facts.module if call.how == "import" else plain(call.function.name)
        key = ("import" if call.how == "import" else "call", call.module.path, call.function.name)
        node = self._node(key, "function", f"{how}{name}")
        node.where = node.where or self._name(call.module.path)
        return node

    def _node(self, key: object, kind: str, title: str) -> Node:
        if key not in self.nodes:
            self.nodes[key] = Node(f"n{len(self.nodes)}", kind, title)
        return self.nodes[key]

    def _edge(self, a: Node, b: Node) -> None:
        if a is not b and (a.name, b.name) not in self.edges:
            self._steps[a.name] = self._steps.get(a.name, 0) + 1
            self.edges[a.name, b.name] = self._steps[a.name]


# -- how it is written ------------------------------------------------------------------------------------------


def mermaid(drawn: Drawn) -> Iterator[str]:
    """For Markdown that renders Mermaid."""
    yield "flowchart LR"
    for node in drawn.nodes.values():
        text = "<br/>".join(_entities(visible(line)) for line in node.lines())
        left, right = ("[", "]") if node.kind == "function" else ("([", "])")
        yield f'  {node.name}{left}"{text}"{right}:::{node.kind}'
    for (a, b), step in drawn.edges.items():
        yield f"  {a} -->|{step}| {b}"
    for kind, (fill, stroke) in FILLS.items():
        yield f"  classDef {kind} fill:{fill},stroke:{stroke},color:{INK}"


def dot(drawn: Drawn) -> Iterator[str]:
    """For Graphviz."""
    yield "digraph seedflow {"
    yield "  rankdir=LR"
    yield '  node [style="filled,rounded", shape=box, fontname="Helvetica", fontsize=11]'
    yield '  edge [fontname="Helvetica", fontsize=9, color="#78909c"]'
    for node in drawn.nodes.values():
        fill, stroke = FILLS[node.kind]
        text = "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in map(visible, node.lines()))
        yield f'  {node.name} [label="{text}", fillcolor="{fill}", color="{stroke}", fontcolor="{INK}"]'
    for (a, b), step in drawn.edges.items():
        yield f'  {a} -> {b} [label="{step}"]'
    yield "}"


def _entities(text: str) -> str:
    """Text between Mermaid's quotes."""
    for sign, entity in (("#", "#35;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;")):
        text = text.replace(sign, entity)
    return text

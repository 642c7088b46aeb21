"""Loops, `try`, `with` and what leaves a block."""

from __future__ import annotations

import ast
import sys
from collections.abc import Container
from typing import Any, Final

from detlint.facts import loops
from detlint.facts.loops import dotted
from detlint.facts.model import Branch, Instance, Items, Member, Ref, Result, Step, Value
from detlint.facts.nodes import walk
from detlint.facts.reading.branches import Branches
from detlint.facts.reading.handlers import EXPRESSIONS, of_statement
from detlint.facts.reading.operators import UNREAD
from detlint.facts.reading.sites import LOOPS
from detlint.facts.reading.values import DEEPEST_VALUE, depth_of, tail_of, with_use
from detlint.facts.scope import join

EXITS: Final = frozenset({"sys.exit", "os._exit", "os.abort", "builtins.exit", "builtins.quit"})

TRY_STAR: Final = (ast.TryStar,) if sys.version_info >= (3, 11) else ()


class Blocks(Branches):
    """Reads the other statements with blocks, and those that leave one."""

    __slots__ = ()

    @of_statement(ast.Expr)
    def _expr(self, node: ast.Expr) -> bool:
        kind = type(node.value)
        if kind is ast.Constant:
            return False
        if (kind is ast.ListComp and loops.gathered([node.value.elt], (), "") is None) or kind is ast.Call:  # type: ignore[attr-defined]
            self.use = "dropped"
        value = EXPRESSIONS[kind](self, node.value)
        if type(value) is Ref and self.catalog.canonical(value.name) in self.catalog.mentions:
            self.site("mention", value, (), node)
        if type(value) is not Result or not _leaves(value.of):
            return False
        self.steps.append(Branch("exit", None, ()))
        return True

    @of_statement(ast.For, ast.AsyncFor)
    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        before, judged, fates = len(self.sites), self.judged, [(name, len(uses)) for name, uses in self.fates.items()]
        self.use = "logged" if loops.only_logs(node.body) else "ignored" if loops.only_numbers(node) else "loop"
        iterated = self.expression(node.iter)
        unordered = self.unordered(iterated) if iterated is not None else None
        if unordered is not None:
            self.order("builtins.iter", unordered, node.iter, "loop")
        through = [name for name, count in fates if len(self.fates[name]) > count]
        if told := bool(through) or self.judged > judged:
            self.gathered(node, before, fates)
            through = [name for name in through if self.fates[name][-1] in LOOPS]
            for name in through:
                self.fates[name][-1] += UNREAD
        if iterated is None and isinstance(node.iter, ast.Call) and dotted(node.iter.func) in self.passing:
            iterated = self.expression_value(node.iter)
        item: Value | None = None
        if isinstance(iterated, Items) and all(isinstance(value, Ref) for value in iterated.values):
            item = Member(iterated, "[*]")  # each of them in turn
        elif isinstance(iterated, Items) and 0 < len(iterated.values) <= 4:
            item = join(iterated.values)
        elif iterated is not None and depth_of(iterated) < DEEPEST_VALUE:
            item = Member(iterated, "[*]")
        self.assign(node.target, item, node)
        if type(node.target) is ast.Name and type(node.iter) is ast.Call and dotted(node.iter.func) == "range":
            self.counters.add(node.target.id)
        inside = len(self.sites)
        self.branch("loop", None, [node.body], renewed=loops.names_in(node.target))
        if told or unordered is not None:
            self.done_in_order(before, inside, through)
        if self.ordered:
            self.items_put_right(node)
        self.block(node.orelse)

    def items_put_right(self, node: ast.For | ast.AsyncFor) -> None:
        """Note that a loop sorts each item of a table: `for names in groups.values(): names.sort()`."""
        targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        through = node.iter.func if isinstance(node.iter, ast.Call) else None
        if isinstance(through, ast.Attribute) and any(dotted(target) in self.ordered for target in targets):
            self.ordered.add(loops.INSIDE + dotted(through.value))

    def gathered(self, node: ast.For | ast.AsyncFor, before: int, fates: list[tuple[str, int]]) -> None:
        """Tell the sites and names that a loop goes over what its body gathers: `data-loop:files,+total`.

        Before what may be a sum of numbers stands a `+`; after a `;` stand the lists that the loop is handed
        (`for root, dirs, names in os.walk(...)`).
        """
        targets = [dotted(t) for t in node.target.elts] if isinstance(node.target, ast.Tuple) else [dotted(node.target)]
        index = targets[0] if len(targets) == 2 else ""
        grown = loops.gathered(node.body, targets, index, None, self.counting())
        # What surely raises is costly to find, and at the top level ends the run.
        if grown is not None and self.scope.kind != "module" and self.may_miss():
            grown = loops.gathered(node.body, targets, index, self.surely_misses, self.counting())
        if grown is None:
            return
        handed = ";" + ",".join(targets[1:]) if len(targets) == 3 else ""
        use = "data-loop:" + ",".join(grown.marked) + handed
        in_order = use if grown.in_order else "loop"
        for i in range(before, len(self.sites)):
            site = self.sites[i]
            if site.use.endswith("loop"):
                self.sites[i] = with_use(site, site.use.replace("loop", in_order if site.kind == "order" else use))
        for name, count in fates:
            uses = self.fates[name]
            uses[count:] = [u.replace("loop", use) if u.endswith("loop") else u for u in uses[count:]]
        self.track(grown.names)

    def counting(self) -> Container[str]:
        """The functions and methods of the file that only count."""
        if self._counting is None:
            self._counting = loops.Counting(self.tree) if self.tree is not None else ()
        return self._counting

    @of_statement(ast.While)
    def _while(self, node: ast.While) -> None:
        self.expression(node.test)
        self.branch("loop", None, [node.body])
        self.block(node.orelse)

    @of_statement(ast.Try, *TRY_STAR)
    def _try(self, node: Any) -> bool:
        bodies = [[*node.body, *node.orelse]]
        names = [""]
        for handler in node.handlers:
            if handler.type is not None:
                self.unsure += 1
                self.expression(handler.type)
                self.unsure -= 1
            bodies.append(handler.body)
            names.append(handler.name or "")
        stopped = self.branch("try", None, bodies, names)
        return self.block(node.finalbody) or stopped

    @of_statement(ast.With, ast.AsyncWith)
    def _with(self, node: ast.With | ast.AsyncWith) -> bool:
        outer, entered_values = self.within, []
        for item in node.items:
            name = dotted(item.optional_vars) if item.optional_vars is not None else ""
            name, before = self.anew.get(name, name), self.judged
            self.use = f"assigned:{name}" if name else ""
            value = self.expression(item.context_expr)
            if name and self.judged > before:
                self.fates.setdefault(name, [])
            entered = value.of if isinstance(value, Result) else value
            if isinstance(value, Result) and value.site >= 0 and isinstance(entered, Ref):
                self.within = (*self.within, value.site)
            entered_values.append(value)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value, node)
        steps, self.steps = self.steps, []
        stopped = self.block(node.body)
        inner: tuple[Step, ...] = tuple(self.steps)
        self.steps = steps
        for value in reversed(entered_values):
            # Only a call's result or an object can do something when it is entered.
            inner = (Branch("with", value, (inner,)),) if isinstance(value, (Result, Ref, Instance)) else inner
        self.steps += inner
        self.within = outer
        return stopped

    @of_statement(ast.Match)
    def _match(self, node: ast.Match) -> bool:
        self.expression(node.subject)
        for case in node.cases:
            for pattern in walk(case.pattern):
                name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
                if isinstance(name, str):
                    self.scope.bind(name, None)
        self.branch("if", None, [*(case.body for case in node.cases), []])
        return False

    @of_statement(ast.Return)
    def _return(self, node: ast.Return) -> bool:
        if node.value is not None:
            self.use = "returned"
            value = self.expression(node.value)
            self.returned.append(value)
        if self.steps is not self.outermost:
            self.steps.append(Branch("return", None, ()))
        return True

    @of_statement(ast.Raise)
    def _raise(self, node: ast.Raise) -> bool:
        for part in (node.exc, node.cause):
            if part is not None:
                self.expression(part)
        return True

    @of_statement(ast.Break, ast.Continue)
    def _stop(self, node: ast.Break | ast.Continue) -> bool:
        return True


def _leaves(callee: Value) -> bool:
    """Whether a call ends the process: `sys.exit()`, `parser.error("...")`."""
    if isinstance(callee, Member):
        return (
            callee.attr in ("error", "exit")
            and isinstance(callee.base, Result)
            and tail_of(callee.base.of) == "ArgumentParser"
        )
    return isinstance(callee, Ref) and callee.name in EXITS

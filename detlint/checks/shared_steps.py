"""DET306: threads or processes that each step an optimizer of one network, as Hogwild and A3C do, in the order in which they get there.

What it may assume: processes share a network or an optimizer if something in the files of a task, or of what starts it, is moved into
shared memory; what a task is handed, or its object is made with, others have too; `step()` without arguments, where gradients are taken,
is an optimizer's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from detlint.checks.finding import Finding, Step
from detlint.checks.levels import case_of, level
from detlint.domains.matching.match import Matcher
from detlint.domains.order.tasks import Start, Starts, Task, rounds
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.module import Module
from detlint.model.sites.records import Span
from detlint.model.tests import stands_in_test
from detlint.model.uses import Users

CODE: Final = "DET306"
_STEPS: Final = frozenset({"apply_gradients", "step"})
_PASSES: Final = frozenset({"backward", "gradient"})
_SHARES: Final = "shares-memory"
_THREAD: Final = "threading."
_PARAMETERS: Final = frozenset({"parameters", "trainable_variables", "trainable_weights"})
_DEEPEST: Final = 6
_BEGIN: Final = frozenset({"spawn", "start", "start_processes", "submit"})
"""The names of which code says one that starts tasks, beside those that map a function."""
_MESSAGE: Final = (
    "the tasks that are started here step one optimizer, or one network, in the order in which they get there"
)
_REMEDY: Final = "Collect the gradients of all tasks, and take one step with their sum, in the order of the tasks."


class SharedSteps:
    """Judges what starts tasks."""

    def __init__(self, matcher: Matcher, users: Users) -> None:
        self._matcher = matcher
        self._meanings = users.meanings
        self._starts = Starts(matcher.resolver, users.meanings)
        self._sharing = matcher.catalog.words_with(_SHARES)

    def findings(self, module: Module) -> Iterator[Finding]:
        """The places of a file at which such tasks are started."""
        code = self._matcher.resolver.code(module.path)
        meaning = self._meanings.of(module) if code is not None and not code.identifiers.isdisjoint(_BEGIN) else None
        for start in self._starts.of(meaning) if meaning is not None else ():
            several = start.each or bool(rounds(start.function, start.at))
            found = self._step(start) if several and not start.is_waited_for() and self._shares(start) else None
            if found is not None:
                yield self._finding(module, start, *found)

    def _shares(self, start: Start) -> bool:
        """Whether what is handed to tasks is one thing for all of them: threads share all, processes what is moved into shared memory."""
        bases = self._matcher.resolver.classes.mro(self._starts.name(start.meaning, start.function, start.at))
        if any(self._matcher.catalog.canonical(base).startswith(_THREAD) for base in bases):
            return True
        codes = [start.function.code, *(task.function.code for task in start.reached)]
        return any(not code.identifiers.isdisjoint(self._sharing) for code in codes)

    def _step(self, start: Start) -> tuple[Task, int] | None:
        """Where a task steps an optimizer that others have, too, of gradients that it takes."""
        passes = any(
            task.function.called(at) in _PASSES for task in start.reached for at, _ in task.function.each(op.CALL)
        )
        for task in start.reached if passes else ():
            for at, _ in task.function.each(op.CALL):
                word, base = task.function.called(at), task.function.called_on(at)
                plain = word != "step" or not task.function.call(at).positional  # `env.step(action)`
                if word in _STEPS and base >= 0 and plain and self._is_shared(start, task, base, 0):
                    return task, at
        return None

    def _is_shared(self, start: Start, task: Task, value: int, depth: int) -> bool:
        """Whether a value is what a task was handed, or its object was made with, or what optimizes that."""
        function = task.function
        value = function.element(function.meant(value))
        operation = function.ops[value]
        if depth > _DEEPEST:
            return False
        if operation[0] == op.ATTR and (own := function.own(value)):
            return self._is_kept(start, task, own, depth)
        if operation[0] == op.ATTR and function.strings[operation[2]] in _PARAMETERS:
            return self._is_shared(start, task, operation[1], depth + 1)
        if operation[0] == op.CALL:
            made_of = self._made_of(function, value)
            return made_of >= 0 and self._is_shared(start, task, made_of, depth + 1)
        position = function.parameter(value)
        if position < 0 or (position == 0 and function.receives == "object"):
            return False
        if any(one.function is function for one in start.tasks):
            return True
        return any(self._is_shared(start, *found, depth + 1) for found in self._handed(start, function, position))

    @staticmethod
    def _made_of(function: Function, call: int) -> int:
        """The network whose weights a call gives, or those that an optimizer is made for; -1 for anything else: what is moved to a device,
        or wrapped to be kept alike in all processes, is no longer the one that they share."""
        base, given = function.called_on(call), function.call(call).positional
        if base >= 0 and function.called(call) in _PARAMETERS:
            return base
        weights = function.meant(given[0]) if given else -1
        of_weights = weights >= 0 and function.ops[weights][0] == op.CALL and function.called(weights) in _PARAMETERS
        return weights if of_weights else -1

    def _is_kept(self, start: Start, task: Task, name: str, depth: int) -> bool:
        """Whether the object that a task is keeps, as an attribute, what it is made with, or what optimizes that."""
        around = task.function.parent
        methods = around.code.children.get(around.number, ()) if around is not None and around is start.own else ()
        for method in map(task.function.code.function, methods):
            for at, operation in method.each(op.SET_ATTR):
                if method.own(at) == name and method.name == "__init__":
                    made = Start(
                        start.meaning, start.function, start.at, [Task(task.meaning, method, 1)], False, start.reached
                    )
                    return self._is_shared(made, Task(task.meaning, method, 1), operation[3], depth + 1)
        return False

    def _handed(self, start: Start, function: Function, position: int) -> Iterator[tuple[Task, int]]:
        """What the functions that a task comes to hand one of them for a parameter."""
        for task in start.reached:
            for at, _ in task.function.each(op.CALL):
                for called in self._starts.called(task.meaning, task.function, at):
                    if called.function is function:
                        passed = task.function.call(at).argument(position - called.bound, function.text(position))
                        if passed >= 0:
                            yield task, passed

    def _finding(self, module: Module, start: Start, task: Task, at: int) -> Finding:
        rule = self._matcher.catalog.rules[CODE]
        found = level(
            case_of(rule, self._matcher.settings, in_test=stands_in_test(module, self._matcher.catalog.testing))
        )
        step = Step(task.meaning.path, Span(*task.function.span(at)), "a task takes its step here")
        return Finding(
            module.path,
            Span(*start.function.span(start.at)),
            CODE,
            rule.name,
            found.severity,
            _MESSAGE,
            _REMEDY,
            steps=(step,),
        )

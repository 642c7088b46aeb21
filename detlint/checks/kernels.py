"""DET409: kernels of the project's own that add floating-point numbers atomically, or that are chosen by timing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import structs

from detlint.checks.finding import Finding, Step
from detlint.checks.levels import Own, case_of, level
from detlint.domains.matching.match import Matcher
from detlint.domains.matching.record import Match
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.places import Place
from detlint.model.kernels.additions import Addition, Additions, races
from detlint.model.kernels.numbers import FLOATS, WHOLE, Numbers, joined
from detlint.model.kernels.python import Adding, Kernels
from detlint.model.kernels.source_texts import Text, Texts, Whole, atomics_of, is_source, kernels_of, may_be_there
from detlint.model.kernels.sources import Atomic, assembled
from detlint.model.kernels.tuning import Tuned, Tuning
from detlint.model.kernels.ways import Ways
from detlint.model.meaning import Meaning
from detlint.model.module import Module
from detlint.model.sites.records import Span
from detlint.model.slices import point_at
from detlint.model.tests import stands_in_test
from detlint.model.uses import Users

CODE: Final = "DET409"
_DEVICES: Final = frozenset({"ascend", "cuda"})
"""Where kernels are run that Python compiles: Triton's and TileLang's are for both."""
MOST_STEPS: Final = 3
"""So many launches are named."""
_OF_THREADS: Final = (
    "this sum is put together from those of threads, so it depends on how many there are",
    "Set the number of threads, or sum blocks of fixed size into an array and add that up.",
)
_RACE: Final = (
    "rounds that run at the same time add to one place, in no order, and may lose what another one adds",
    "Give each thread an array of its own and add these up, or leave the loop serial.",
)


LOCKED: Final = (
    "`{api}` adds floating-point numbers under a lock, in whatever order the threads come by, so results vary between runs",
    "Store the parts at places of their own and add them up in order, or sum whole numbers.",
)
LOST: Final = (
    "threads of a kernel read, add and store here without waiting for one another, so whose part is lost varies between runs",
    "Store the parts at places of their own and add them up in order; atomic additions lose nothing, but vary, too.",
)
COUNTS: Final = (
    "`{api}` gives out places in whatever order the threads arrive, so what is stored there has another order in each run",
    "Find the places by a prefix sum over the threads, or sort what is stored.",
)


class KernelRules:
    """Judges kernels."""

    def __init__(self, matcher: Matcher, users: Users) -> None:
        self._matcher, self._users = matcher, users
        self.kernels = Kernels(users)
        self._texts = Texts(self.kernels)
        self._ways = Ways(self.kernels)
        self._additions = Additions(self.kernels, self._ways)
        self._rule = matcher.catalog.rules[CODE]

    def ruled_out(self, module: Module, index: int, match: Match) -> str:
        """Why what adds atomically is no finding; "" where it may be one."""
        if match.entry.compiles:
            return (
                ""
                if self._compiled(module, index, match)
                else "nothing that is written out here for it adds floating-point numbers, but for whole sources, of which it is told there"
            )
        if match.entry.assembles and self._assembled(module, index, match) != FLOATS:
            return "its instructions add no floating-point numbers to memory"
        found = point_at(self._users, module, index) if match.entry.adds else None
        if found is None:
            return ""
        meaning, function, call = found
        adding = self.kernels.adding(function, call, match.name, match.entry)
        counts = self.kernels.kind(meaning, function, adding) == WHOLE
        if counts and not self._additions.gives_places(meaning, function, call):
            return "it adds whole numbers, which give the same in any order"
        alone = self._ways.is_alone(meaning, function, call, adding.place)
        if alone and (counts or not self._ways.is_met(meaning, function, call, match.name, match.entry)):
            return "each place that it adds to has one program that does"
        return ""

    def is_sure(self, module: Module, index: int, match: Match) -> bool:
        """Whether what adds atomically surely adds floating-point numbers."""
        if match.entry.compiles:
            return any(atomic.numbers == FLOATS for *_, atomic in self._compiled(module, index, match))
        found = point_at(self._users, module, index) if match.entry.adds else None
        if found is None:
            return not match.entry.adds
        meaning, function, call = found
        return (
            self.kernels.kind(meaning, function, self.kernels.adding(function, call, match.name, match.entry)) == FLOATS
        )

    def told(self, finding: Finding, module: Module, index: int, match: Match) -> Finding:
        """A finding with the calls that launch the kernel in which it stands."""
        if match.entry.compiles:
            compiled = self._compiled(module, index, match)
            return self._in_text(finding, *compiled[0]) if compiled else finding
        found = point_at(self._users, module, index) if match.entry.adds else None
        if found is None:
            return finding
        meaning, function, call = found
        if self.kernels.kind(meaning, function, self.kernels.adding(function, call, match.name, match.entry)) == WHOLE:
            message, remedy = COUNTS[0].replace("{api}", match.name), COUNTS[1]
            finding = structs.replace(finding, message=message, remedy=remedy)
        return structs.replace(finding, steps=(*self._launches(meaning, function),))

    def _in_text(self, finding: Finding, text: Text, number: int, atomic: Atomic) -> Finding:
        """A finding at the line of a text that adds.

        Args:
            number: the line of the text.
        """
        line, said = text.line(number), f"`{atomic.name}` in `{atomic.place.function.name}`"
        there = Span(*text.place.function.span(text.place.at))
        begin, span, path = line if line >= 0 else there.line, finding.span, text.path or finding.path
        if number > 1 and line >= 0 and path == finding.path:
            span = Span(line, atomic.place.function.span(atomic.place.at)[1], there.end_line, there.end_column)
        step = Step(path, Span(begin, 0, begin, 0), f"{said}, in line {number} of this text")
        return structs.replace(finding, span=span, steps=(step,))

    def _compiled(self, module: Module, index: int, match: Match) -> list[tuple[Text, int, Atomic]]:
        """What adds atomically in the texts that a call is handed, with the lines of these, but for parts that are sources by themselves:
        those are told where they stand."""
        entry, found = match.entry, list[tuple[Text, int, Atomic]]()
        declared = [whole.text for whole in self._handed(module, index, match, entry.declares)]
        for whole in self._handed(module, index, match, entry.compiles):
            if not all(is_source(part.text.text) for part in whole.parts):
                for atomic in atomics_of(self.kernels.terms, whole.text, declared):
                    place = whole.part(atomic)
                    found += [(*place, atomic)] if place is not None and not is_source(place[0].text) else []
        return sorted(found, key=lambda each: each[2].numbers != FLOATS)

    def _assembled(self, module: Module, index: int, match: Match) -> Numbers:
        """What numbers the instructions add that a call is handed as a text."""
        found = (assembled(whole.text) for whole in self._handed(module, index, match, match.entry.assembles))
        return joined(numbers for numbers in found if numbers is not None)

    def _handed(self, module: Module, index: int, match: Match, carry: tuple[str, ...]) -> Iterator[Whole]:
        """The texts that a call is handed as some parameters."""
        found = point_at(self._users, module, index)
        values = [self.kernels.argument(*found[1:], match.name, word) for word in carry] if found is not None else []
        for value in values:
            if found is not None and value >= 0:
                yield self._texts.of(*found[:2], value)

    def _launches(self, meaning: Meaning, function: Function) -> Iterator[Step]:
        for launch in self.kernels.launches(meaning, function)[:MOST_STEPS]:
            span = Span(*launch.function.span(launch.call))
            yield Step(launch.meaning.path, span, f"`{function.name}` is launched here")

    def findings(self, module: Module) -> Iterator[Finding]:
        """What is told of kernels besides: that timing chooses how their sums are grouped, that their rounds race."""
        meaning = self._users.meanings.of(module)
        on_device = not _DEVICES.isdisjoint(self._matcher.active(module))
        if meaning is not None and on_device and may_be_there(meaning.code.texts):
            yield from self._in_texts(module, meaning)
        if meaning is None or not self._says_kernels(meaning):
            return
        for tuned in Tuning(self.kernels, meaning).tuned() if on_device else ():
            yield self._tuned(module, meaning, tuned)
        compiled = {*self._made_parallel(meaning)}
        for function in meaning.code.functions():
            if function.number in compiled or self._is_parallel(meaning, function):
                yield from self._races(module, meaning, function)
            if on_device and self._ways.is_a("kernels", meaning, function):
                yield from self._by_methods(module, meaning, function)
            for addition in self._additions.of(meaning, function):
                yield self._added(module, meaning, addition)

    def _in_texts(self, module: Module, meaning: Meaning) -> Iterator[Finding]:
        """What is told at the texts of a file that are sources of kernels, each line of them once."""
        for text in kernels_of(meaning.code):
            told = set[int]()
            for atomic in atomics_of(self.kernels.terms, text.text):
                own: Own = "error" if atomic.numbers == FLOATS else "warning"
                said = (
                    self._rule.message.replace("{api}", atomic.name).replace("programs", "threads"),
                    self._rule.remedy,
                )
                if atomic.place.function.number and text.line(atomic.line) not in told:
                    found = self._finding(module, text.place, own, LOST if atomic.is_lost else said, ())
                    yield self._in_text(found, text, atomic.line, atomic)
                told.add(text.line(atomic.line))

    def _by_methods(self, module: Module, meaning: Meaning, function: Function) -> Iterator[Finding]:
        """What a kernel adds by methods of what it is given: `descriptor.atomic_add([row, column], part)`."""
        for at, _ in function.each(op.CALL):
            of, given = function.called_on(at), function.call(at).positional
            by_method = of >= 0 and function.given(of) is not None and len(given) == 2
            if not by_method or not self.kernels.terms.has("adding_methods", function.called(at)):
                continue
            adding = Adding([of, given[0]], given[1])
            kind = self.kernels.kind(meaning, function, adding)
            if kind != WHOLE and not self._ways.is_alone(meaning, function, at, adding.place):
                yield self._added(module, meaning, Addition(Place(function, at), function.called(at), kind))

    def _added(self, module: Module, meaning: Meaning, addition: Addition) -> Finding:
        place = addition.place
        by_kind = COUNTS if addition.is_counter else LOCKED if addition.is_locked else None
        message, remedy = by_kind or (self._rule.message, self._rule.remedy)
        own: Own = "note" if addition.is_own else "error" if addition.numbers == FLOATS else "warning"
        said = message.replace("{api}", addition.name), remedy
        return self._finding(module, place, own, said, (*self._launches(meaning, place.function),))

    def _made_parallel(self, meaning: Meaning) -> Iterator[int]:
        """The functions of a file that calls compile to run in parallel: `numba.njit(step, parallel=True)`."""
        for around in meaning.code.functions():
            for at, _ in around.each(op.CALL):
                call = around.call(at)
                if call.positional and self._runs_parallel(meaning, around, at):
                    made = around.definition_of(call.positional[0])
                    if made is not None:
                        yield made.number

    def _tuned(self, module: Module, meaning: Meaning, tuned: Tuned) -> Finding:
        message = f"`{tuned.kernel.name}` is chosen by timing among configurations that group its sums differently"
        remedy = "Fix one configuration for a shape, or tune only what leaves each sum as it is."
        there = Step(
            module.path, Span(*tuned.sum.function.span(tuned.sum.at)), "how this adds up depends on the one chosen"
        )
        steps = (there, *self._launches(meaning, tuned.kernel))
        return self._finding(module, tuned.decorator, "warning", (message, remedy), steps)

    def _races(self, module: Module, meaning: Meaning, function: Function) -> Iterator[Finding]:
        for place, is_sum in dict.fromkeys(races(self.kernels, meaning, function)):
            steps = tuple(self._launches(meaning, function))
            yield self._finding(module, place, "align" if is_sum else "error", _OF_THREADS if is_sum else _RACE, steps)

    def _is_parallel(self, meaning: Meaning, function: Function) -> bool:
        """Whether loops of a function may run in parallel."""
        around = function.parent
        calls = [value for value in function.decorators if around is not None and around.ops[value][0] == op.CALL]
        return around is not None and any(self._runs_parallel(meaning, around, value) for value in calls)

    def _runs_parallel(self, meaning: Meaning, function: Function, call: int) -> bool:
        told = function.call(call).named.get("parallel", -1)
        if told < 0 or function.constant(told) is not True:
            return False
        return self.kernels.terms.has("parallel_kernels", meaning.name(function, function.ops[call][1]))

    def _says_kernels(self, meaning: Meaning) -> bool:
        """Whether a file has a name by which functions become kernels that are asked for here."""
        keys = ("kernels", "adding_kernels", "adding_methods", "tuned_kernels", "parallel_kernels")
        words = {name.rpartition(".")[2] for key in keys for name in self.kernels.terms.of(key)}
        return not words.isdisjoint(meaning.code.identifiers)

    def _finding(
        self, module: Module, place: Place, own: Own, said: tuple[str, str], steps: tuple[Step, ...]
    ) -> Finding:
        """What is told at a place.

        Args:
            own: what stands for the rule's own level.
            said: the message, and the remedy.
        """
        rule, span = self._rule, Span(*place.function.span(place.at))
        in_test = stands_in_test(module, self._matcher.catalog.testing)
        found = level(case_of(rule, self._matcher.settings, own, in_test=in_test))
        return Finding(
            module.path, span, rule.code, rule.name, found.severity, *said, steps=steps, certainty=found.certainty
        )

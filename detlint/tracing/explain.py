"""Which call of Python's explains a difference that operators show: a draw, a seed, the time, a listing, a file."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import msgspec

from detlint.runtime.places import whose
from detlint.tracing.calls import Call, calls
from detlint.tracing.cause import Cause, Kind
from detlint.tracing.cause import cause as why
from detlint.tracing.compare import Comparison, Difference
from detlint.tracing.events import Sort, sort_of

_SAID: Final[dict[Sort, str]] = {
    "seed": "it fixes the random numbers, by another seed in each run",
    "draw": "it draws random numbers, and drew others: nothing seeds them, or more was drawn before in one run",
    "order": "it gives the same in another order, or other things",
    "content": "it finds something else in each run",
    "memory": "what it gives is read before all of it is written: another content of that memory gives another loss",
    "chance": "it gives something else in each run",
}

_SEEDING: Final = {
    "": ("torch.",),
    "torch": ("torch.",),
    "mindspore": ("mindspore.", "numpy.random."),
    "tensorflow": ("tensorflow.", "keras.", "random."),
}
"""What fixes the numbers that operators draw: MindSpore's initial values are NumPy's, Keras draws seeds from Python's."""


def explained(found: Comparison, cause: Cause) -> Cause:
    """The cause, at the line of Python's where it begins, if a row tells it; else as it is."""
    first = found.first
    if first is None or cause.received or cause.call is None:
        return cause
    if cause.kind in ("data", "control") and found.drawn is not None and _before(found.drawn, first):
        other = replace(found, first=found.drawn, drawn=None)
        if (drawn := why(other)) is not None and not any(
            _before(event, found.drawn) for event in _strong(found.events)
        ):
            return msgspec.structs.replace(explained(other, drawn), reached=cause.call)
    before = [event for event in found.events if _before(event, first)]
    event = None
    if found.filled:
        before = [event for event in before if sort_of(event.call.op) == "memory"]
    if cause.kind == "random":
        seeding = _SEEDING[found.left.header.framework]
        event = next(
            (e for e in reversed(before) if sort_of(e.call.op) == "seed" and e.call.op.startswith(seeding)), None
        )
    elif cause.kind in ("data", "control"):
        event = _source(found, before, first)
    return cause if event is None else by(event, cause)


def brought(found: Comparison) -> Difference | None:
    """Of what threads of a dataset have called, the first that made data other."""
    return next((event for event in _strong(found.events) if _is_own(event.call)), None)


def by(event: Difference, cause: Cause) -> Cause:
    """The cause, where a call of Python's explains it."""
    sort = sort_of(event.call.op)
    said = _SAID[sort]
    if (
        sort == "seed"
        and event.left is not None
        and event.right is not None
        and event.left.arguments != event.right.arguments
    ):
        said += f" ({event.left.arguments} and {event.right.arguments})"
    if event.parts == ("sequence",):
        said = "only one run calls it"
    kind: Kind = "random" if sort in ("seed", "draw") else "memory" if sort == "memory" else "data"
    return msgspec.structs.replace(
        cause, kind=kind, said=said, call=event.call, forward=None, within=False, reached=cause.call
    )


def _source(found: Comparison, before: list[Difference], first: Difference) -> Difference | None:
    """The first call that is another source than chance; of those of chance, only one that is next to what differs: the time and the
    like differ everywhere."""
    for event in sorted(_strong(before), key=lambda event: not _is_own(event.call)):
        return event
    near = _last_operator(found, first)
    side = first.left is None
    lines = {place[:2] for place in first.call.stack}
    for event in reversed(before):
        at = event.right if side else event.left
        if at is None:
            continue
        if at.number > near or (at.place is not None and at.place[:2] in lines):
            return event
    return None


def _strong(events: list[Difference]) -> list[Difference]:
    return [event for event in events if sort_of(event.call.op) != "chance"]


def _is_own(call: Call) -> bool:
    """Whether the program calls it itself, not a library."""
    return call.place is not None and whose(call.place.file) == "user"


def _last_operator(found: Comparison, first: Difference) -> int:
    """The number of the operator's row before the one that differs."""
    path = (found.left if first.left is not None else found.right).path
    last = -1
    for call in calls(path):
        if call.number >= first.call.number:
            break
        if not call.event:
            last = call.number
    return last


def _before(event: Difference, first: Difference) -> bool:
    """Whether a call of Python's was made before an operator, in a run that has both."""
    pairs: list[tuple[Call | None, Call | None]] = [(event.left, first.left), (event.right, first.right)]
    return any(one is not None and other is not None and one.number < other.number for one, other in pairs)

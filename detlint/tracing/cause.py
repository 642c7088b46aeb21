"""Why two runs part: what the columns of the first row that differs say."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

import msgspec

from detlint.tracing.calls import Call, Value, call_at, calls
from detlint.tracing.compare import Comparison, Difference
from detlint.tracing.frameworks import TITLES as FRAMEWORKS
from detlint.tracing.reader import Trace

Kind = Literal["data", "random", "memory", "kernel", "collective", "control", "crash"]
TITLES: Final[dict[Kind, str]] = {
    "data": "data that comes in",
    "random": "random state or order of draws",
    "memory": "memory that is read before it is written",
    "kernel": "a kernel that doesn't repeat",
    "collective": "communication between processes",
    "control": "another course of the program",
    "crash": "a run that broke off",
}
_BUFFERS: Final = ("empty", "zeros", "new_empty", "new_zeros", "new_full", "full", "ones", "zero_", "clone", "fill_")
"""Operators that prepare memory for others to write to."""
_UNWRITTEN: Final = (
    ["empty"],
    ["empty_like"],
    ["empty_strided"],
    ["empty_permuted"],
    ["new_empty"],
    ["new_empty_strided"],
    ["resize_"],
)


class Cause(msgspec.Struct, frozen=True):
    """Why two runs part.

    Attributes:
        said: the reasoning, a sentence or two.
        call: the operator that is to blame; where it can't be seen itself, the one next to it.
        forward: for a call of the backward pass, the one of the forward pass that it belongs to.
        received: whether the difference came from another process.
        within: whether Python calls it, in code that the backward pass runs: a function's `backward`, a `bprop`, a hook.
        reached: where it is a call of Python's: the operator that is given what it made.
        unseen: whether what is to blame runs outside of what a trace sees.
    """

    kind: Kind
    said: str
    call: Call | None
    forward: Call | None = None
    received: bool = False
    within: bool = False
    unseen: bool = False
    reached: Call | None = None

    @property
    def shown(self) -> Call | None:
        """The call whose line is to be shown: a backward kernel's is that of its forward pass, where no line calls it."""
        return self.call if self.within else self.forward or self.call


def cause(found: Comparison) -> Cause | None:
    """Why the runs part; None where they don't."""
    first = found.first
    if first is None:
        return None
    if first.parts == ("end",):
        return _ended(found, first)
    if first.parts == ("sequence",) or first.left is None or first.right is None:
        which = "first" if first.left is not None else "second"
        said = f"only the {which} run calls it: until here both did the same, so a decision in the program went another way"
        return _made("control", said, first.call, found)
    return _of_values(found, first, first.left, first.right)


def _of_values(found: Comparison, first: Difference, left: Call, right: Call) -> Cause:
    """The cause where both runs make the call."""
    differing = [*_differing(left.inputs, right.inputs)]
    if differing:
        return _of_input(found, left, left.inputs[differing[0]], right.inputs[differing[0]])
    if "arguments" in first.parts:
        said = (
            f"its arguments are other ones ({_apart(left.arguments, right.arguments)}): "
            "Python computed them, from random numbers of its own, the time, an order, or the data"
        )
        return _made("data", said, left, found)
    if "random" in first.parts:
        return _made("random", _drawn(found.left.path, left), left, found)
    if left.brings:
        if (shuffle := _unseeded(found.left.path, left)) is not None:
            return msgspec.structs.replace(_made("random", _drew(shuffle), shuffle, found), reached=left)
        return _made("data", _brought(left), left, found)
    if left.draws:
        return _made("random", _drew(left), left, found)
    if left.op.startswith("_c10d_functional.wait_tensor"):
        return _exchanged(found, call_at(found.left.path, left.inputs[0].producer) or left)
    if left.shared:
        return _exchanged(found, left)
    if found.left.header.level != "kernel":
        said = (
            "it got the same and gave something else: one of its kernels doesn't repeat, draws random numbers, or is given "
            "something else by Python, or its parameters changed (a trace of level kernel tells which)"
        )
        return msgspec.structs.replace(_made("kernel", said, left, found), unseen=True)
    said = "it got the same and gave something else, and it draws no random numbers"
    return _made("kernel", said, left, found)


def _of_input(found: Comparison, left: Call, value: Value, other: Value) -> Cause:
    """The cause where an input differs although every row before it is the same."""
    if value.kind != other.kind:
        return _made("data", f"it is given {_a(value)} in one run and {_a(other)} in the other", left, found)
    maker = call_at(found.left.path, value.producer)
    if found.filled and maker is not None and maker.op.split(".")[1:2] in _UNWRITTEN:
        said = "what it gives is read before all of it is written: another content of that memory gives another loss"
        return _made("memory", said, maker, found)
    if (giver := _giver(found, value)) is not None:
        said = f"it got the same and gave something else, by a kernel that goes past {_dispatcher(found)}"
        return _made("kernel", said, giver, found)
    if maker is None:
        what = f"`{value.name}`, {_a(value)}" if value.name else _a(value)
        source = (
            "which was made before the trace began, or loaded"
            if value.name
            else "which no operator of the trace made: it comes from NumPy, a file, a worker of a data loader, or other code"
        )
        if found.left.header.level != "kernel":
            source += f", or from a kernel that a trace of level {found.left.header.level} leaves out"  # fmt: skip
        return _made("data", f"it is given {what} that differs, {source}", left, found)
    if maker.shared:
        return _exchanged(found, maker)
    plain = maker.op.split(".")[1] if maker.op.count(".") else maker.op
    if plain in _BUFFERS or maker.view:
        said = (
            f"it is given {_a(value)} that differs; `{maker.op}` made that memory, the same in both runs, and something that "
            f"goes past {_dispatcher(found)} wrote to it since: a kernel of an extension, or other code"
        )
        return msgspec.structs.replace(_made("kernel", said, maker, found), unseen=True)
    said = (
        f"it is given {_a(value)} that differs; `{maker.op}` wrote that memory last, the same in both runs, and it was "
        "changed since by something that a trace doesn't see"
    )
    return _made("data", said, left, found)


def _a(value: Value) -> str:
    said = str(value)
    return f"an {said}" if said.startswith("i") else f"a {said}"


def _dispatcher(found: Comparison) -> str:
    framework = FRAMEWORKS.get(found.left.header.framework, "the framework")
    return f"{framework}'s dispatcher"


def _giver(found: Comparison, value: Value) -> Call | None:
    """The custom function that gave a value: its row is written when it has ended, after what was done with its results."""
    for other in found.origins:
        left = other.left
        if (
            left is not None
            and left.op.startswith("autograd.")
            and value.digest in (out.digest for out in left.outputs)
        ):
            return left
    return None


def _exchanged(found: Comparison, maker: Call) -> Cause:
    said = "what this process gave was the same in both runs, and what it got was not"
    return msgspec.structs.replace(_made("collective", said, maker, found), received=True)


def _ended(found: Comparison, first: Difference) -> Cause:
    """The cause where one of the runs has no more rows."""
    which, trace = ("second", found.right) if first.left is not None else ("first", found.left)
    last = call_at(trace.path, found.rows[which == "second"] - 1)
    if trace.end is None:
        return Cause("crash", f"the {which} run was killed, or crashed outside of Python, after this operator", last)
    if trace.end.error:
        return Cause("crash", f"the {which} run ended with {trace.end.error}", last)
    return _made("control", f"the {which} run ends here, and the other goes on", first.call, found)


def _drawn(path: Path, left: Call) -> str:
    """What is known of a stream whose state differs."""
    device = next((value.device for value in (*left.inputs, *left.outputs)), "cpu")
    earlier = None
    for call in calls(path):
        if call.number >= left.number:
            break
        if call.random and (call.op == left.op or not left.draws):
            earlier = call
    said = f"it draws from random numbers{f' of {device}' if device else ''}, whose state is another one in each run"
    if earlier is None:
        return f"{said}, and it is the first draw: they are not seeded, or by another number"
    place = f" ({Path(earlier.place.file).name}:{earlier.place.line})" if earlier.place else ""
    return (
        f"{said}; at the draw before, `{earlier.op}`{place}, it was the same: something else drew or seeded in between"
    )


def _made(kind: Kind, said: str, at: Call, found: Comparison) -> Cause:
    trace: Trace = found.left if found.first is not None and found.first.left is not None else found.right
    return Cause(kind, said, at, call_at(trace.path, at.forward), within=at.backward and _within(trace.path, at))


def _within(path: Path, at: Call) -> bool:
    """Whether a line of Python's calls an operator of the backward pass, not the backward pass itself.

    What the backward pass calls by itself has the line that started it on top; here, that line is further down.
    """
    started = {*at.stack[1:]}
    return bool(started) and any(
        call.backward and call.step == at.step and call.place in started and call.place != at.place
        for call in calls(path)
    )


def _differing(left: Iterable[Value], right: Iterable[Value]) -> Iterable[int]:
    for i, (one, other) in enumerate(zip(left, right, strict=False)):
        if one.kind != other.kind or (one.digest != other.digest and one.digest and other.digest):
            yield i


def _unseeded(path: Path, left: Call) -> Call | None:
    """Of what a batch of a dataset comes from, what draws without a seed."""
    makers = [
        maker for value in left.inputs if not value.digest and (maker := call_at(path, value.producer)) is not None
    ]
    return next(
        (
            found
            for maker in makers
            if (found := maker if maker.draws and not maker.random else _unseeded(path, maker)) is not None
        ),
        None,
    )


def _brought(left: Call) -> str:
    """Where what an operator brings comes from."""
    seen = "it brings other data, though it was called with the same" if left.inputs else "it brings other data"
    return f"{seen}: what it brings is made outside of the framework's operators, by Python, NumPy, a file or a dataset's own threads"


def _drew(left: Call) -> str:
    """What is known of a stream whose state can't be read."""
    said = "it draws random numbers, and drew others"
    if left.random:
        return f"{said}: its seeds are the same, but they don't settle what it draws, or something else drew from its stream before"
    return f"{said}: no seed reaches it"


def _apart(left: str, right: str) -> str:
    """The part of two texts that differs."""
    ours, others = left.split(", "), right.split(", ")
    pairs = [(a, b) for a, b in zip(ours, others, strict=False) if a != b]
    return f"{pairs[0][0]} and {pairs[0][1]}" if len(ours) == len(others) and pairs else f"{left} and {right}"

"""The beginning of each process of a run that is watched."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from detlint.runtime.imports import when_imported
from detlint.tracing import asked, events, frameworks, losses, untraced
from detlint.tracing.beside import Beside
from detlint.tracing.event_sources import follow
from detlint.tracing.watch import MAIN, Watch


def attach() -> None:
    """Watch this process as the run's plan says, as soon as it imports a framework."""
    watch = Watch.read()
    if watch.basis:
        from detlint.tracing import basis

        basis.begin(watch)
    if watch.losses and watch.output:
        atexit.register(_write_output, watch)
    elif watch.losses:
        _watch_losses(watch)
    if watch.resuming:
        from detlint.tracing import resumption

        resumption.begin(watch)
        when_imported("torch", _guarded(resumption.of_torch))
    if watch.twice:
        when_imported("torch", _guarded(lambda _: _try_twice(watch)))
    if watch.batches:
        when_imported("torch", _guarded(lambda _: _try_batches(watch)))
    if watch.states >= 0 and watch.name == MAIN:
        from detlint.tracing import states

        states.begin(watch)
    if watch.trace:
        told = _follow(watch)
        if watch.losses and watch.name == MAIN:
            atexit.register(untraced.leave, Path(watch.losses))
        for framework in frameworks.TRACED:
            when_imported(framework, _guarded(lambda module: _trace(module.__name__, watch, told)))


def trace_later(watch: Watch, recorder: losses.Recorder) -> None:
    """Trace this process, which has begun untraced: Python's calls from now on, operators from the first step that is asked for."""
    told = _follow(watch)
    first = min(watch.steps or [0])

    def begin(step: int) -> None:
        if step >= first:
            recorder.after = lambda _: None
            for framework in frameworks.TRACED:
                when_imported(framework, _guarded(lambda module: _trace(module.__name__, watch, told, step)))

    recorder.after = begin
    begin(recorder.steps)


def _follow(watch: Watch) -> events.Events:
    told = events.current = events.Events(watch.fill)
    follow(told, _guarded)
    return told


def _watch_losses(watch: Watch) -> None:
    from detlint.tracing import losses_tensorflow

    losses.begin(watch)
    when_imported("torch", _guarded(losses.of_torch))
    when_imported("mindspore", _guarded(_losses_of_mindspore))
    when_imported("tensorflow", _guarded(losses_tensorflow.of_tensorflow))
    when_imported("keras", _guarded(losses_tensorflow.of_keras))


def _losses_of_mindspore(mindspore: ModuleType) -> None:
    from detlint.tracing.losses_mindspore import of_mindspore

    of_mindspore(mindspore)


def _trace(framework: str, watch: Watch, told: events.Events, step: int = 0) -> None:
    trace = frameworks.session(framework, watch.settings, name=watch.name)
    trace.step_number = step
    trace.start()
    if (sink := trace.sink) is not None:
        beside = Beside(trace.beside)
        trace.stack.callback(beside.close)
        told.into(sink, beside)

    def end() -> None:
        with suppress(Exception):  # why it has no value, the program is told where that is written
            trace.aim(asked.value(watch.output) if watch.output else None)
        trace.stop(getattr(sys, "last_value", None))

    atexit.register(end)


def _write_output(watch: Watch) -> None:
    """Write what counts in the run's first process; why there is nothing, if there isn't."""
    if watch.name != MAIN or getattr(sys, "last_value", None) is not None:
        return
    try:
        found = [*asked.leaves(asked.value(watch.output))]
    except Exception as error:
        print(f"detlint: --output {watch.output}: {type(error).__name__}: {error}", file=sys.stderr)
    else:
        losses.write(Path(watch.losses, watch.name + losses.SUFFIX), found)


def _try_twice(watch: Watch) -> None:
    from detlint.tracing.twice import begin

    begin(watch)


def _try_batches(watch: Watch) -> None:
    from detlint.tracing.batches import begin

    begin(watch)


def _guarded(action: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    """What goes wrong is said; the import that waits for it, and with it the program, goes on."""

    def guarded(module: ModuleType) -> None:
        try:
            action(module)
        except Exception as error:
            print(f"detlint: this process isn't watched: {error}", file=sys.stderr)

    return guarded

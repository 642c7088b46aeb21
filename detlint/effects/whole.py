"""A whole run, and what frameworks call and draw once its statements are over."""

from __future__ import annotations

from functools import partial, reduce
from typing import Final

import msgspec

from detlint.catalog import HARDWARE
from detlint.effects.sites import Sites
from detlint.model.module import Module
from detlint.model.runs.reach import Draws, Reach
from detlint.model.sites.records import Function, Ref

MOST_CHOICES: Final = 16
"""Of the definitions in a registry, so many are run where nothing says which of them is chosen."""


class WholeRun(Sites):
    """Begins and ends."""

    def follow(self) -> list[Reach]:
        entry = self.result.entry
        module = entry.module
        top = module.facts.functions[0]
        self.import_packages(module)
        self.imported.add(module.path)
        self.result.visited.add(module.path)
        self.note(module)
        if entry.function.number == 0:
            self.body(self.flow.summary(module, top).steps)
            if entry.called:
                value = self.values.look(self.frame, Ref(f"{module.facts.module}.{entry.called}")).value
                if value is not None and not self.command(value, None):
                    self.run(value, None)
        else:
            self.steps(self.flow.summary(module, top).imported)
            self.call(module, entry.function, "", None, {})
        return self.finish()

    def finish(self) -> list[Reach]:
        """What happens after the statements have run: what frameworks call, what objects draw, what processes come to."""
        result = self.result
        result.infers = result.infers or (self.seems_to_infer and not self.may_train_out_of_sight())
        if (self.stopped or self.failed) and not (self.has_trained or result.infers):
            result.stops, result.trains = self.stopped or self.failed, False
            self.forget_objects()
        self.recorder.enter("later", self.frame.module, self.frame.function, None)
        self.use_objects()
        if self.differentiates and not result.trains:
            # The gradients of a network whose weights are loaded, and stay what they are, are those of a picture.
            by_itself = self.of_weights and not result.loads
            result.trains = by_itself or self.some_file(lambda path: self.flow.words.updates(path, False))
        if self.passes_back and not result.trains:
            # Those whose size alone is asked say how much something matters, and no weight follows.
            updates = self.some_file(lambda path: self.flow.words.updates(path, True))
            result.trains = updates or not self.some_file(self.flow.words.weighs)
        untrained = not result.trains and not self.some_file(self.flow.words.may_train)
        silent = result.loads and untrained
        # A layer that trains may be built for nothing, where the run then evaluates. Those whose loaded weights are only tested are
        # also told to train.
        ready = bool(self.ready) and (self.trained or not result.infers) and not (silent and self.ready == {""})
        result.trains = result.trains or ready
        result.leaves = not result.trains and self.leaves_cells()
        result.trains = result.trains or (bool(self.cells) and not result.leaves)
        result.adds_up = result.adds_up or (self.cells_add and not result.leaves)
        # A network whose first weights stay is tried out, and to be trained elsewhere.
        result.differentiates = result.trains or not untrained or (self.draws_weights and not result.loads)
        result.applies = silent and not result.trains
        result.adds_up = result.communicates and not result.stops and (result.adds_up or not self.only_shares())
        result.held = self.state.switches
        if len(self.trained_on) == 1 and result.held.get(HARDWARE) is None and (chosen := next(iter(self.trained_on))):
            result.held = {**result.held, HARDWARE: chosen}  # on one way alone, which is the one that trains
        result.workers = self.workers != {False}
        result.built = {*self.built}
        self.draw_later()
        result.open.update(stream for stream in self.standing_in if self.is_open(stream))
        self.recorder.leave()
        # Who trains on may start without the checkpoint, or have layers that it doesn't know. Counts say nothing of weights. Those that
        # a run makes before it ends with an error come to nothing.
        shows = result.shows and not any(map(self.flow.words.may_train, sorted(result.visited | result.behind)))
        as_loaded = (result.loads or result.measures or shows or result.stops) and not result.trains
        for stream, found in self.drawn.items() if result.trains or not result.tries else ():
            # A stream that is seeded late is told there.
            told = [*map(id, result.late[stream][1])] if stream in result.late else []
            open_ = [draws for draws in found.values() if id(draws) not in told]
            merged = reduce(Draws.with_other, open_) if open_ else None
            if merged is not None and as_loaded:
                merged = merged.rest
            if merged is not None:
                result.unseeded[stream] = msgspec.structs.replace(merged, sure=stream not in self.perhaps)
        if as_loaded:  # what the weights drew that are overwritten needed no seed
            late = {
                stream: (seeding, [d.rest for d in before if d.rest])
                for stream, (seeding, before) in result.late.items()
            }
            result.late = {stream: found for stream, found in late.items() if found[1]}
        pools = [reach for run in self.pools.values() for reach in run.finish()]
        del self.values  # which asks the run: Python frees what refers to each other late
        return [result, *self.others, *pools]

    def may_train_out_of_sight(self) -> bool:
        """Whether the script tells anything to train, or a file of the run says how weights get new values."""
        script = self.result.entry.module.path
        return self.flow.words.orders(script) or self.some_file(lambda path: self.flow.words.updates(path, False))

    def leaves_cells(self) -> bool:
        """Whether the run evaluates, and does nothing with layers that it builds and that train when they are called: it tells nothing
        to train, and calls none of them."""
        told = "" in self.ready or self.trained or self.hands_cells or not self.result.infers
        if not (self.cells or self.ready) or told or any(map(self.flow.words.hands, sorted(self.cells_in))):
            return False
        return not self.some_file(self.flow.words.orders)

    def only_shares(self) -> bool:
        """Whether what processes communicate is surely no sum: they share the data, say.

        Where gradients are taken by hand, it is also by hand that they are added up. Where they aren't seen to be taken, that may
        happen out of sight, unless the run only evaluates.
        """
        result = self.result
        if not (
            self.by_hand
            if result.trains
            else result.leaves
            or result.applies
            or (result.infers and not self.flow.words.may_train(result.entry.module.path))
        ):
            return False
        return not self.some_file(lambda path: self.flow.words.adds_up(path, result.trains))

    def forget_objects(self) -> None:
        """Nothing is used any more of what was built: the run stops, having done nothing that counts."""
        self.stopped = ""
        self.differentiates = self.passes_back = False
        for built in (self.ready, self.cells, self.later, self.handed, self.built, self.choices):
            built.clear()

    def use_objects(self) -> None:
        """Run what frameworks call on the objects that were built: `forward`, `__getitem__`, the hooks of trainers."""
        outer, last_frame = self.path, self.frame
        self.using = True
        streams = self.worker_streams()
        for value, place, in_workers, frame in self.handed:
            self.frame = frame
            work = partial(self.run, value, place)
            if in_workers and streams is not None:
                streams = self.aside(streams, work)
            elif in_workers:
                self.apart(work)
            else:
                work()
        self.frame = last_frame
        used: set[tuple[str, bool]] = set()
        self.use_built(used, streams)
        self.use_registries(used, streams)
        self.path = outer

    def use_built(self, used: set[tuple[str, bool]], streams: dict[str, str] | None) -> None:
        """Run the methods that frameworks call on objects of the classes that were not `used` yet.

        Args:
            used: classes, and whether somebody might call their objects by then.
            streams: those of a loader's workers.
        """
        while waiting := [way for way in ((name, name in self.called) for name in self.built) if way not in used]:
            used.update(waiting)
            for name, called in waiting:
                for module, function, _ in self.flow.hooks(name, called):
                    if function.name.endswith(".__call__") and (
                        name in self.shelved or self.has_followed(module, function)
                    ):
                        continue  # the program itself calls it: in the workers of a loader, say
                    self.path = (self.built[name],)
                    work = partial(self.call, module, function, name, self.built[name], {})
                    if streams is not None and "__getitem" in function.name:
                        self.aside(streams, partial(self.caught, work))
                    else:
                        self.for_layer(name, partial(self.caught, work))

    def has_followed(self, module: Module, function: Function) -> bool:
        """Whether the run has come to a function."""
        return (module.path, function.number) in self.result.followed

    def use_registries(self, used: set[tuple[str, bool]], streams: dict[str, str] | None) -> None:
        """Run what may have been chosen from registries, and what it builds; each definition from where the run is now."""
        tried: set[str] = set()
        while waiting := [key for key in self.choices if key not in tried]:
            for key in waiting:
                tried.add(key)
                place, path = self.choices[key]
                before, ends = self.state, []
                for definition in [*self.kept[key]][:MOST_CHOICES]:
                    self.state, self.path = before.copy(), path
                    self.build(definition, place)
                    self.run(definition, place)
                    self.use_methods(key, definition)
                    self.use_built(used, streams)
                    ends.append(self.state)
                self.state = self.meet(ends)
                drawn = [{s for s, kind in end.streams.items() if kind == "drawn"} for end in ends]
                all_ = set.intersection(*drawn) if len(self.kept[key]) <= MOST_CHOICES else set()
                self.perhaps |= set.union(*drawn) - all_ - before.streams.keys()

    def use_methods(self, key: str, definition: Ref) -> None:
        """Call the methods that the run calls of what may have been chosen from a registry."""
        outer = self.path
        for method, (place, path) in self.chosen_methods.get(key, {}).items():
            self.path = path
            for callee in self.flow.method(definition.name, method):
                self.caught(partial(self.call, *callee, place, {}))
        self.path = outer

    def worker_streams(self) -> dict[str, str] | None:
        """The streams in a loader's worker processes, which seed Python's and NumPy's from PyTorch's; None where there
        may be no workers."""
        if self.workers != {True}:
            return None
        streams = dict(self.state.streams)
        kept = streams.get("torch", "")
        for stream in ("python", "numpy"):
            if kept in ("seeded", "optional", "entropy"):
                streams[stream] = kept
        return streams

    def draw_later(self) -> None:
        """What objects draw when they are used: transforms where data are read, maybe in the workers of a loader."""
        streams = self.worker_streams()
        for drawn in self.later:
            if drawn.training and not self.result.trains:
                continue
            self.path = drawn.path
            # Where nothing is trained, a layer matters no more than its weights do.
            work = partial(self.draw, drawn.stream, drawn.place, drawn.layer and not self.result.trains)
            if streams is not None and drawn.read:
                streams = self.aside(streams, work)
            elif drawn.held and self.is_open(drawn.stream):
                # The way that makes it has come to an end of its own: `if quick: seed(0); run(Net()); return`.
                self.aside({**self.state.streams, drawn.stream: drawn.held}, work)
            else:
                work()

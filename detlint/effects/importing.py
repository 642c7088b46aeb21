"""Imports: what the top level of a module does, known once for all runs where it does the same in all of them."""

from __future__ import annotations

from detlint.effects.run import Run
from detlint.effects.state import State
from detlint.effects.summary import Import, Probe, Steps
from detlint.effects.top import Top
from detlint.model.module import Module
from detlint.model.runs.reach import Place, matters
from detlint.model.runs.values import Frame


class Importing(Run):
    """Imports modules."""

    def import_packages(self, module: Module) -> None:
        """Run the packages around a module, which Python imports before it."""
        name = module.facts.module.rpartition(".")[0]
        if name:
            for package in self.flow.imports_of(module, name):
                self.import_module(package)

    def import_name(self, name: str) -> None:
        """Run what importing a name runs, the first time that the file does."""
        module = self.frame.module
        if (module.path, name) in self.met:
            return
        self.met.add((module.path, name))
        for path in self.flow.imports_of(module, name):
            if path not in self.imported and not self.stopped:
                self.import_module(path)
        imports = self.flow.imports
        if self.probe is not None:
            self.rests = self.rests or imports.may_raise(module, name)
            return
        raises = not self.stopped and imports.raises(module, name, self.result.entry.module)
        if raises and not (imports.is_lacking(name) and self.is_mended()):
            self.stopped = f"the import of `{name}` in {module.path}"

    def import_module(self, path: str) -> None:
        """Run the top level of a file of the program, the first time that it is imported."""
        if path in self.imported:
            return
        if self.probe is not None:
            self.imported.add(path)
            self.probe.come(path, caught=self.unsure + self.catching > 0)
            return
        if self.cells or self.ready or self.commands or self.recorder.keeps:
            module = self.resolver.module(path)
            if module is not None:
                self.import_anew(module)
            return
        top = self.flow.top(path)
        if top is not None:
            self.imported.add(path)
            self.result.imported.add(path)
            if top.notes:
                self.note(self.resolver.known(path))
            self.importing += 1
            self.take(path, top)
            self.importing -= 1

    def import_anew(self, module: Module) -> None:
        """Go through a top level in a run in which sites may do more than in others."""
        function = module.facts.functions[0]
        self.imported.add(module.path)
        if self.flow.is_inert(module, function):
            seen = self.flow.seen_from(module, function)
            self.see(seen)
            for file in seen.files if self.flow.notes(seen) else ():
                self.note(self.resolver.known(file))
            return
        self.result.imported.add(module.path)
        self.note(module)
        outer, self.frame = self.frame, Frame(module, function)
        self.recorder.enter("import", module, function, None)
        self.importing += 1
        self.steps(self.flow.summary(module, function).imported)
        self.importing -= 1
        self.recorder.leave()
        self.frame = outer

    def take(self, path: str, top: Top) -> None:
        """Do what a top level does."""
        result, quiet = self.result, self.flow.is_quiet(path)
        made = not quiet and any(isinstance(event, int) for event, _ in top.events)
        result.taken[path] = not (made or top.told or top.notes)
        result.behind.update(top.behind)
        for event, caught in top.events:
            left = False
            if isinstance(event, str):
                self.import_module(event)
            elif not quiet:
                left = self.come_again(self.resolver.known(path), event)
            if self.stopped and not caught:
                return
            self.stopped = ""
            if left:
                return
        result.passed.update(top.made if not quiet else ())
        if top.passes and not quiet:
            result.passed.add(path)
            result.through.add(path)
            if top.told:
                module = self.resolver.known(path)
                result.places += (Place(module, site) for site in top.told)
                result.judged.update(Place(module, site) for site in top.judged)

    def come_again(self, module: Module, number: int) -> bool:
        """Take a step of a top level as this run does; whether the flow leaves at its end."""
        function = module.facts.functions[0]
        item = self.flow.summary(module, function).items[number]
        outer, self.frame = self.frame, Frame(module, function)
        left = self.steps((item,))
        self.frame = outer
        return left

    def seen_imported(self) -> Top:
        """What the top level does of the file that the run starts in, when others import it."""
        module = self.result.entry.module
        function = module.facts.functions[0]
        summary = self.flow.summary(module, function)
        numbers = {id(item): number for number, item in enumerate(summary.items)}
        found = Probe(numbers)
        before = self.probing(found)
        for item in summary.imported:
            if isinstance(item, Import):
                self.imports_only(module, item, found)
                continue
            probe = self.probing(Probe(numbers))
            assert probe.probe is not None
            left = probe.steps((item,))
            strange = any(place.module is not module for place in probe.result.places)
            if left or strange or probe.rests or not probe.does_as(before):
                found.take_anew(item)
            else:
                found.add(probe.probe, probe.result)
        return self.noted(module, found)

    def imports_only(self, module: Module, item: Import, found: Probe) -> None:
        """Note what importing a name runs, and where that may raise that it is to be asked in each run."""
        if self.flow.imports.may_raise(module, item.name):
            found.take_anew(item)
        else:
            for path in self.flow.imports_of(module, item.name):
                found.come(path)

    def noted(self, module: Module, found: Probe) -> Top:
        """What a top level comes to, by what was found of it."""
        passed = [place.site for reach in found.results for place in reach.places]
        matches = {site: self.flow.knowledge.matches(module, site) for site in passed}
        told = {site: effects for site, effects in matches.items() if effects}
        return Top(
            (*found.events,),
            (*told,),
            (*sorted({place.site for reach in found.results for place in reach.judged}),),
            bool(passed),
            found.strange or any(matters(effect.entry) for effects in told.values() for effect in effects),
            self.flow.adds(module),
            (*sorted(found.behind.union(*(reach.visited | reach.imported for reach in found.results))),),
            (*sorted(found.made),),
            self.resolver.brief(module.path),
        )

    def steps(self, steps: Steps) -> bool:
        """Take steps in order; whether the flow leaves at their end."""
        raise NotImplementedError

    def probing(self, probe: Probe) -> Importing:
        """A run that only looks what a top level comes to."""
        run = self.beside(State(), ())
        run.probe, run.importing = probe, 1
        run.imported.add(self.result.entry.module.path)
        return run

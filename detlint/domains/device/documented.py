"""The hardware that runs are for, where their code leaves it open and the launch files of their project don't."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Final

from detlint.catalog import HARDWARE, Condition
from detlint.config import Settings
from detlint.domains.device.alone import launching
from detlint.domains.device.hardware import DEVICES, target_of
from detlint.domains.matching.match import Matcher
from detlint.ir import ops as op
from detlint.ir.code import Code
from detlint.ir.launch_texts import is_launch
from detlint.model.arguments import received
from detlint.model.launches.documents import Documents, Said
from detlint.model.launches.launches import Launch
from detlint.model.module import Module
from detlint.model.places import point_of
from detlint.model.runs.reach import Place, Reach
from detlint.model.sites.records import Const, Member, Param, Span, Value
from detlint.model.uses import Users

ASCEND: Final = "ascend"
CUDA: Final = "cuda"
CPU: Final = "cpu"
DEVICE: Final = "device"
"""The option that commands give a script which chooses no hardware in its code."""
FALSE: Final = frozenset({"False", "false", "0", "None"})
"""What makes an option false."""
_ASCEND_WORDS: Final = frozenset(word for word, target in DEVICES.items() if target == ASCEND)
_GPU_WORDS: Final = frozenset(word for word, target in DEVICES.items() if target == CUDA)
_OF_INTEL: Final = frozenset({"intel_extension_for_pytorch", "intel_extension_for_tensorflow"})
"""What is for Intel's CPUs and accelerators alone."""
_CPU_NAMES: Final = frozenset({"cpu", "CPU"})
_OF_ACCELERATORS: Final = frozenset({"hpu", "xpu"})
"""Accelerators that no other library than Intel's, and that of Habana, names."""


class Documented:
    """Asks the launch files of runs that would else be judged for Ascend: commands, and settings, that give the option which chooses
    the hardware. Commands for a GPU alone say nothing where the project names Ascend, since other ones may be left to the reader; they
    decide where they give what the run needs to come to a place. What sentences say is nothing."""

    def __init__(self, matcher: Matcher, settings: Settings, documents: Documents, users: Users) -> None:
        self._matcher = matcher
        self._settings = settings
        self._documents = documents
        self._users = users
        self._index = users.index
        self._frameworks = {name.partition(".")[0] for name in matcher.catalog.devices}

    def complete(self, reach: Reach) -> None:
        """Have a run hold the switches that all its launches set, and the hardware that the documents of its project say, where nothing in
        it says another."""
        told = {switch: self.switched(reach, switch) for switch in self._outside}
        told.update(self._by_flags(reach))
        reach.held = {**{switch: value for switch, value in told.items() if value is not None}, **reach.held}
        if self._settings.targets or target_of(reach.held.get(HARDWARE)):
            return
        if self._is_optimized_for_cpu(reach):
            reach.held = {**reach.held, HARDWARE: "CPU"}
            return
        through = sorted({*reach.through, reach.entry.module.path})
        if not any(map(self._names_framework, through)):
            return
        said = self._documents.around(reach.entry.module.path)
        if self._by_commands(reach, said, through, reach.needs) == CUDA:
            reach.held = {**reach.held, HARDWARE: "GPU"}
        elif chosen := self._by_option(reach, said, through):
            reach.held = {**reach.held, HARDWARE: chosen}

    def _by_flags(self, reach: Reach) -> dict[str, bool | None]:
        """The switches that flags set which all launches of a run's script give, as a call of the run reads them by itself."""
        said = self._documents.around(reach.entry.module.path) if self._reading else None
        if said is None or said.unsure or not said.launches:
            return {}
        brief, found = self._matcher.resolver.brief, dict[str, bool | None]()
        reading = {path for path in reach.through if not self._reading.isdisjoint(brief(path).libraries)}
        for place in (place for place in reach.places if place.module.path in reading):
            for match in self._matcher.matches(place.module, place.site):
                for flag, sets in match.entry.options.items():
                    if all(_gives(launch, flag) for launch in said.launches):
                        found.update({switch: bool(value) for switch, value in sets.items()})
        return found

    @cached_property
    def _reading(self) -> frozenset[str]:
        """The libraries with calls that read flags."""
        entries = (entry for entry in self._matcher.catalog.entries if entry.options)
        return frozenset(name.partition(".")[0] for entry in entries for name in entry.names)

    @cached_property
    def _outside(self) -> frozenset[str]:
        """The switches that a variable of the environment sets."""
        catalog = self._matcher.catalog
        return frozenset(
            name for several in catalog.environment.values() for i in several for name in catalog.entries[i].sets
        )

    def switched(self, reach: Reach, switch: str) -> bool | None:
        """What the launches of a run's script make of a switch by a variable of the environment; None where none does, or they don't
        agree."""
        script, catalog, found = reach.entry.module.path, self._matcher.catalog, set[bool | None]()
        for variable, numbers in catalog.environment.items():
            entries = [catalog.entries[i] for i in numbers if switch in catalog.entries[i].sets]
            texts = self._documents.exported(script, variable) if entries else ()
            for text in texts:
                found.add(next((bool(one.sets[switch]) for one in entries if _holds(one.when["value"], text)), None))
        return found.pop() if len(found) == 1 else None

    def beside(self, reach: Reach) -> list[tuple[str, Span]]:
        """Where the launch files of a run's script set switches, the last place in each; nothing where one of them sets none."""
        said, found = self._documents.around(reach.entry.module.path), dict[str, Span]()
        if said.unsure or not said.launches:
            return []
        for launch in said.launches:
            module = self._matcher.resolver.module(launch.source)
            sites = module.sites if module is not None and is_launch(launch.source) else ()
            lines = [s.span for s in sites if s.kind == "environment" and s.span.line < launch.line]
            if not lines:
                return []
            found.setdefault(launch.source, lines[-1])
        return [*found.items()]

    def sets_hash_seed(self, script: str) -> bool:
        """Whether all that starts a script has Python hash texts the same each time."""
        seeds = self._documents.exported(script, "PYTHONHASHSEED")
        return bool(seeds) and all(seed.isdecimal() for seed in seeds)

    def _is_optimized_for_cpu(self, reach: Reach) -> bool:
        """Whether a run's script always imports what is for Intel's CPUs and accelerators alone, and a file of the run names the CPU in its
        code, while none names an accelerator, but for libraries beside the project."""
        script = reach.entry.module.path
        code = self._matcher.resolver.modules.code(script)  # of which its top level is asked alone
        if code is None or not _always_imports(code, _OF_INTEL):
            return False
        home = os.path.join(self._documents.home(script), "")
        own = {script, *(path for path in reach.files if path.startswith(home))}
        return any(map(self._names_cpu, own)) and not any(map(self._names_accelerator, own))

    def _names_cpu(self, path: str) -> bool:
        code = self._matcher.resolver.code(path)
        return code is not None and bool(_CPU_NAMES & code.identifiers or _CPU_NAMES.intersection(_texts(code)))

    def _names_accelerator(self, path: str) -> bool:
        """Whether the code of a file names another device than a CPU, as code does; what its texts of help say of a GPU is about any
        script."""
        code = self._matcher.resolver.code(path)
        module = self._matcher.resolver.module(path)
        named = {*module.facts.mentions} - {"gpu"} if module is not None else set()
        return bool(named) or (code is not None and not _OF_ACCELERATORS.isdisjoint({*code.identifiers, *_texts(code)}))

    def keeps_from(self, reach: Reach, place: Place) -> bool:
        """Whether a run that leaves its hardware open only comes to a place where an option asks for it, and the commands that give this
        one choose a GPU."""
        if self._settings.targets or target_of(reach.held.get(HARDWARE)):
            return False
        flags = {flag for flag in self._options_around(place.module, place.site) if not self._is_given(reach, flag)}
        if not flags:
            return False
        said = self._documents.around(reach.entry.module.path)
        return self._by_commands(reach, said, sorted(reach.through), flags) == CUDA

    def _is_given(self, reach: Reach, flag: str) -> bool:
        """Whether a file that a run comes to may say itself what an option is."""
        files = reach.files
        found = next((path for path in sorted(files) if self._users.writers.gives(flag, path)), None)
        reach.visited |= files if found is None else {found}  # what it rests on
        return found is not None

    def _options_around(self, module: Module, index: int) -> set[str]:
        """The options, as attributes of what holds them, that have to be true for a function to come to a site of it."""
        point = point_of(self._matcher.resolver, module, module.sites[index])
        tests = point.tests() if point is not None and point.around.number else ()
        asked = ((test.function, test.function.chain(test.value)) for test in tests if test.wanted)
        return {
            chain.attributes[-1] for function, chain in asked if chain.attributes and not function.is_self(chain.root)
        }

    def _names_framework(self, path: str) -> bool:
        return not self._frameworks.isdisjoint(self._matcher.resolver.brief(path).libraries)

    def _is_launched(self, script: str, options: Collection[str]) -> bool:
        """Whether a Python file of the project of a script may start it with some options, on whatever hardware."""
        return bool(launching(self._users, os.path.join(self._documents.home(script), ""), options))

    def _by_commands(self, reach: Reach, said: Said, through: Iterable[str], needs: Collection[str]) -> str:
        """The accelerator that all commands choose which start a run's script; "" where one leaves it open, or they differ. In a project
        that names Ascend others may be left to the reader: of its commands, those count that give the options which are needed, and
        that aren't true by default."""
        script = reach.entry.module.path
        needed = {flag for flag in {*needs}.difference(said.told) if self._defaults(flag, said, through) <= FALSE}
        if needed and self._is_launched(script, needed):
            needed = set()
        option = self._option(reach)
        if not option:
            return ""
        usual = {target_of(value) for value in self._defaults(option, said, through)}
        started = [*said.launches] if not said.unsure else []
        if not started:
            return ""
        if needed:
            started = [command for command in started if all(_gives(command, flag) for flag in needed)]
        found = {target for command in started for target in _targets(command, option, usual)} - {CPU}
        return found.pop() if len(found) == 1 else ""

    def _defaults(self, option: str, said: Said, paths: Iterable[str]) -> set[str]:
        """What an option is where no command gives it, by the parsers of some files, or by settings; "" where that isn't written out."""
        resolver = self._matcher.resolver
        declaring = [resolver.known(path).facts for path in paths if option in resolver.brief(path).options]
        declared = [facts.options[option].default for facts in declaring]
        parsed = {str(default.value) if isinstance(default, Const) else "" for default in declared}
        return parsed or {str(value.value).capitalize() for key, value in said.settings if key == option} or {""}

    def _by_option(self, reach: Reach, said: Said, through: Iterable[str]) -> str:
        """What the option of a run chooses for its hardware where nobody gives it, and by all commands that start the script, in a project
        that names Ascend nowhere; "" where that isn't known. Who may choose a GPU is told what varies there."""
        script = reach.entry.module.path
        option = self._option(reach, unread=DEVICE)
        if (
            not option
            or said.unsure
            or self._names(_ASCEND_WORDS, script, reach.files)
            or self._is_given(reach, option)
            or self._is_launched(script, {option})
        ):
            return ""
        usual = {target_of(value) for value in self._defaults(option, said, through)}
        found = {target for command in said.launches for target in _targets(command, option, usual)} or usual
        if not found <= {CPU, CUDA}:
            return ""
        return "CPU" if found == {CPU} and not self._names(_GPU_WORDS, script, reach.files) else "GPU"

    def _names(self, words: AbstractSet[str], script: str, paths: Iterable[str]) -> bool:
        """Whether the code of a file of a script's project, or of those that it comes to, has one of some words for devices."""
        index, resolver = self._index, self._matcher.resolver
        around = os.path.join(self._documents.home(script), "")
        index.sought.update((around, way(word)) for word in words for way in (str.lower, str.upper, str.capitalize))
        said = map(resolver.module, sorted({*paths, *index.below(around)}))
        return any(module is not None and not words.isdisjoint(module.facts.mentions) for module in said)

    def _option(self, reach: Reach, unread: str = "") -> str:
        """The option that chooses a run's hardware; "" where that isn't one alone.

        Args:
            unread: the one that a run is said to have which chooses nothing in its code.
        """
        found = set[str]()
        for place in reach.places:
            for match in self._matcher.matches(place.module, place.site):
                parameter = str(match.entry.sets.get(HARDWARE, "")).removeprefix("=")
                argument = match.argument(parameter) if parameter else None
                if argument is not None:
                    found.add(self._looked_up(reach, place, argument.value))
        return found.pop() if len(found) == 1 else "" if found else unread

    def _looked_up(self, reach: Reach, place: Place, value: Value | None) -> str:
        """The option that a value is, also by way of a parameter of a function of the script, to which all calls there give it; "" for
        none."""
        if isinstance(value, Member):
            return value.attr
        module, function = place.module, place.module.function_of(place.module.sites[place.site])
        if module is not reach.entry.module or not isinstance(value, Param):
            return ""
        uses = self._users.within(module, function.name)
        parameters = module.detail(function).parameters
        calls = [received(module.sites[use.site], parameters) if use.called else {} for use in uses]
        given = [call.get(value.name) for call in calls]
        options = {one.value.attr if one is not None and isinstance(one.value, Member) else "" for one in given}
        return options.pop() if len(options) == 1 else ""


def _holds(condition: Condition, text: str) -> bool:
    return text in condition.in_ if condition.in_ else text not in (condition.not_in or ())


def _gives(command: Launch, flag: str) -> bool:
    """Whether a command may make an option true, perhaps by a shorter name."""
    return any(flag.startswith(name) and value not in FALSE for name, value in command.options().items())


def _targets(command: Launch, option: str, usual: set[str]) -> set[str]:
    """The hardware that a command chooses; "" where that isn't known."""
    given = command.options()
    if option in given:
        return {target_of(given[option])}
    shortened = any(option.startswith(name) for name in given)
    return {""} if shortened else usual


def _always_imports(code: Code, libraries: Collection[str]) -> bool:
    """Whether the top level of a file imports one of some libraries, whatever holds there."""
    top = code.module
    return any(
        code.strings[operation[1]].partition(".")[0] in libraries and top.flow.blocks[at] < 0
        for at, operation in top.each(op.IMPORT)
    )


def _texts(code: Code) -> set[object]:
    return {*code.constants}

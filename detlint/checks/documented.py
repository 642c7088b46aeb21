"""The hardware that runs are for, where their code leaves it open and the documents of their project don't."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from detlint.catalog import HARDWARE
from detlint.checks.alone import handed, launching
from detlint.checks.match import Matcher
from detlint.checks.scope import target_of
from detlint.config import Settings
from detlint.facts.model import Const, Member, Param, Value
from detlint.model.places import point_of
from detlint.program.commands import Command
from detlint.program.documents import Documents, Said
from detlint.program.reach import Place, Reach
from detlint.program.resolve import Module
from detlint.program.texts import Texts
from detlint.program.users import Users

ASCEND: Final = "ascend"
CUDA: Final = "cuda"
CPU: Final = "cpu"
DEVICE: Final = "device"
"""The option that commands give a script which chooses no hardware in its code."""
FALSE: Final = frozenset({"False", "false", "0", "None"})
"""What makes an option false."""
_ASCENDS: Final = ("Ascend", "ascend", "ASCEND", "npu", "NPU")
_NAMES_ASCEND: Final = re.compile(rb"ascend(?!ing|ant)|(?<![a-z])npu(?![a-z])|hccl", re.I)
_OF_INTEL: Final = re.compile(rb"^(?:import|from)[ \t]+intel_extension_for_(?:pytorch|tensorflow)\b", re.M)
_ACCELERATORS: Final = re.compile(rb"(?<![a-z])(?:ascend|cuda|hpu|npu|xpu)(?![a-z])")
"""As code names them; what texts of help say of a GPU is about any script."""
_NAMES_GPU: Final = re.compile(rb"(?<![a-z])(?:gpu|cuda|nccl)", re.I)
_ASKS: Final = re.compile(rb"(?:choices\s*=|\bin)\s*[\[({][^\])}]*[\])}]|[=!]=\s*[\"']\w+[\"']")
"""What only asks for hardware, or lists what may be chosen."""
_OF_ASCEND: Final = re.compile(rb"\bascend_config\b|\b(?:ASCEND|HCCL)_[A-Z]|\b(?:import|from) (?:acl|moxing)\b")
"""What sets up something of its own, or of the cloud that has it."""
_SAYS_ASCEND: Final = re.compile(rb"[\"'](?:Ascend|NPU)[\"']", re.I)
"""What else names that hardware may choose it: as a default, an item of a table, what `os.getenv` gives for want of a variable."""
_CHOOSES_ASCEND: Final = re.compile(
    rb"(?:device|target|platform|backend)\w*[\"'\]]*\s*[:=](?!=)\s*[\"'](?:Ascend|NPU)[\"']", re.I
)
"""What chooses it in settings in Python, or for a process that is started."""


class Documented:
    """Asks the documents of runs that would else be judged for Ascend. They only ever say that it is a GPU instead, where they name
    one and Ascend nowhere, or the CPU, where they want the framework for that: else a CPU is what things are tried out on. Commands
    for a GPU alone say nothing, since other ones may be left to the reader; they decide where the code, or settings, have Ascend
    for who gives no option."""

    def __init__(self, matcher: Matcher, settings: Settings, documents: Documents, users: Users) -> None:
        self._matcher = matcher
        self._settings = settings
        self._documents = documents
        self._users = users
        self._texts: Texts = users.texts
        self._frameworks = {name.partition(".")[0] for name in matcher.catalog.devices}

    def complete(self, reach: Reach) -> None:
        """Have a run hold the hardware that the documents of its project say, where nothing in it says another."""
        if self._settings.targets or target_of(reach.held.get(HARDWARE)):
            return
        if self._is_optimized_for_cpu(reach):
            reach.held = {**reach.held, HARDWARE: "CPU"}
            return
        modules = {place.module.path: place.module for place in reach.places}
        modules[reach.entry.module.path] = reach.entry.module
        if not any(self._names_framework(module) for module in modules.values()):
            return
        said = self._documents.around(reach.entry.module.path)
        files = reach.files
        named = said.gpu and self._is_left_open(said, reach.entry.module.path, files)
        named = named or (said.names_gpu and self._has_twin_on_ascend(reach.entry.module.path, said, files))
        if named or self._by_commands(reach, said, modules.values(), reach.needs) == CUDA:
            reach.held = {**reach.held, HARDWARE: "GPU"}
        elif said.cpu and self._is_left_open(said, reach.entry.module.path, files) and not self._speak_of_ascend(files):
            reach.held = {**reach.held, HARDWARE: "CPU"}
        elif chosen := self._by_option(reach, said, modules.values()):
            reach.held = {**reach.held, HARDWARE: chosen}

    def _is_optimized_for_cpu(self, reach: Reach) -> bool:
        """Whether a run's script always imports what is for Intel's CPUs and accelerators alone, and says `cpu`, while no file of the run
        names an accelerator, but for libraries beside the project."""
        script = reach.entry.module.path
        text = self._texts.of(script) or b""
        if _OF_INTEL.search(text) is None or b"cpu" not in text:
            return False
        home = self._documents.home(script)
        own = [path for path in reach.files if path.startswith(os.path.join(home, ""))]
        return not self._say(_ACCELERATORS, own)

    def keeps_from(self, reach: Reach, place: Place) -> bool:
        """Whether a run that leaves its hardware open only comes to a place where an option asks for it, and the commands that give this
        one choose a GPU."""
        if self._settings.targets or target_of(reach.held.get(HARDWARE)):
            return False
        flags = {flag for flag in self._options_around(place.module, place.site) if not self._is_given(reach, flag)}
        if not flags:
            return False
        modules = {one.module.path: one.module for one in reach.places}
        said = self._documents.around(reach.entry.module.path)
        return self._by_commands(reach, said, modules.values(), flags) == CUDA

    def _is_given(self, reach: Reach, flag: str) -> bool:
        """Whether a file that a run comes to may say itself what an option is."""
        files = reach.files
        found = next((path for path in sorted(files) if self._users.writers.gives(flag, path)), None)
        reach.visited |= reach.imported if found is None else {found}  # what it rests on
        return found is not None

    def _options_around(self, module: Module, index: int) -> set[str]:
        """The options, as attributes of what holds them, that have to be true for a function to come to a site of it."""
        point = point_of(self._matcher.resolver, module, module.sites[index])
        tests = point.tests() if point is not None and point.around.number else ()
        asked = ((test.function, test.function.chain(test.value)) for test in tests if test.wanted)
        return {
            chain.attributes[-1] for function, chain in asked if chain.attributes and not function.is_self(chain.root)
        }

    def names_gpu(self, script: Module, behind: Sequence[Module] = ()) -> bool:
        """Whether the documents around a script name a GPU as what it is for, and no other accelerator.

        Args:
            behind: what it imports: a script may name no framework itself.
        """
        modules = [script, *(behind if self._names_none(script) else ())]
        if self._settings.targets or not any(map(self._names_framework, modules)):
            return False
        said = self._documents.around(script.path)
        return said.gpu and self._is_left_open(said, script.path, [module.path for module in modules])

    def _names_framework(self, module: Module) -> bool:
        return not self._frameworks.isdisjoint(name.partition(".")[0] for name in module.facts.imports)

    def _names_none(self, module: Module) -> bool:
        """Whether a file imports no framework at all."""
        return self._matcher.catalog.switches.keys().isdisjoint(name.partition(".")[0] for name in module.facts.imports)

    def _is_left_open(self, said: Said, script: str, paths: Iterable[str]) -> bool:
        """Whether no settings, nor any of some files, say Ascend for who gives no option. Files of their project that import no framework
        may be such settings."""
        if any(target_of(value) == ASCEND for _, value in said.settings):
            return False
        around = os.path.join(self._documents.home(script), "")
        if any(self._sets_ascend(path) for path in self._texts.saying_any(_ASCENDS, around)):
            return False
        return not any(_SAYS_ASCEND.search(_ASKS.sub(b"", self._texts.of(path) or b"")) for path in sorted(paths))

    def _sets_ascend(self, path: str) -> bool:
        """Whether a file that imports no framework chooses Ascend, as settings do, or what starts others."""
        self._matcher.resolver.opened.add(path)
        module = self._matcher.resolver.module(path)
        chooses = _CHOOSES_ASCEND.search(self._texts.of(path) or b"") is not None
        return chooses and module is not None and not self._names_framework(module)

    def _is_launched(self, script: str, options: Collection[str]) -> bool:
        """Whether a Python file of the project of a script may start it with some options, on whatever hardware."""
        found = launching(self._texts, os.path.join(self._documents.home(script), ""), options)
        self._matcher.resolver.opened.update(found)
        return bool(found)

    def _speak_of_ascend(self, paths: Iterable[str]) -> bool:
        """Whether a file sets up anything that only Ascend has."""
        return self._say(_OF_ASCEND, paths)

    def _say(self, words: re.Pattern[bytes], paths: Iterable[str]) -> bool:
        """Whether a file says one of some words."""
        return any(words.search(self._texts.of(path) or b"") for path in sorted(paths))

    def _by_commands(self, reach: Reach, said: Said, modules: Iterable[Module], needs: Collection[str]) -> str:
        """The accelerator that all commands choose by which the documents have a run's script started; "" where one leaves it open,
        or they differ. Documents that name Ascend too may leave other commands to the reader: of theirs, those count that give the
        options which are needed, and that aren't true by default."""
        needed = {flag for flag in {*needs}.difference(said.told) if _defaults(flag, said, modules) <= FALSE}
        if needed and self._is_launched(reach.entry.module.path, needed):
            needed = set()
        option = self._option(reach) if said.gpu or needed else ""
        if not option:
            return ""
        usual = {target_of(value) for value in _defaults(option, said, modules)}
        started = said.starting(reach.entry.module.path) or ()
        if not said.gpu:
            started = [command for command in started if all(_gives(command, flag) for flag in needed)]
        found = {target for command in started for target in _targets(command, option, usual)} - {CPU}
        return found.pop() if len(found) == 1 else ""

    def _by_option(self, reach: Reach, said: Said, modules: Iterable[Module]) -> str:
        """What the option of a run chooses for its hardware where nobody gives it, and by all commands that start the script, in a project
        that names Ascend nowhere; "" where that isn't known. Who may choose a GPU is told what varies there."""
        script = reach.entry.module.path
        if not said.plain or self._names_ascend(script, reach.files):
            return ""
        option = self._option(reach, unread=DEVICE)
        started = said.starting(script)
        if not option or started is None or self._is_given(reach, option) or self._is_launched(script, {option}):
            return ""
        usual = {target_of(value) for value in _defaults(option, said, modules)}
        found = {target for command in started for target in _targets(command, option, usual)} or usual
        if not found <= {CPU, CUDA}:
            return ""
        return "CPU" if found == {CPU} and not (said.names_gpu or self._say(_NAMES_GPU, reach.files)) else "GPU"

    def _has_twin_on_ascend(self, script: str, said: Said, paths: Iterable[str]) -> bool:
        """Whether the documents start a script that stands twice, once in a folder whose name says Ascend: this is the other one, and no
        file that it comes to names Ascend."""
        home = self._documents.home(script)
        inside = [os.path.relpath(path, home) for path in (script, *said.scripts) if home]
        twins = [path for path in inside[1:] if os.path.basename(path) == os.path.basename(script)]
        if not any(_NAMES_ASCEND.search(path.encode()) for path in twins) or _NAMES_ASCEND.search(inside[0].encode()):
            return False
        return not self._say(_NAMES_ASCEND, paths)

    def _names_ascend(self, script: str, paths: Iterable[str]) -> bool:
        """Whether a file of Python of a script's project, or of those that it comes to, says a word for Ascend."""
        around = os.path.join(self._documents.home(script), "")
        return bool(self._texts.saying_any(_ASCENDS, around)) or self._say(_NAMES_ASCEND, paths)

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
        given = [handed(module.detail(function), use, value.name) if use.called else None for use in uses]
        options = {one.value.attr if one is not None and isinstance(one.value, Member) else "" for one in given}
        return options.pop() if len(options) == 1 else ""


def _defaults(option: str, said: Said, modules: Iterable[Module]) -> set[str]:
    """What an option is where no command gives it, by the parsers of some files, or by settings; "" where that isn't written out."""
    declared = [module.facts.options[option].default for module in modules if option in module.facts.options]
    parsed = {str(default.value) if isinstance(default, Const) else "" for default in declared}
    return parsed or {value.capitalize() for key, value in said.settings if key == option} or {""}


def _gives(command: Command, flag: str) -> bool:
    """Whether a command may make an option true, perhaps by a shorter name."""
    return any(flag.startswith(name) and value not in FALSE for name, value in command.options.items())


def _targets(command: Command, option: str, usual: set[str]) -> set[str]:
    """The hardware that a command chooses; "" where that isn't known."""
    if option in command.options:
        return {target_of(command.options[option])}
    shortened = any(option.startswith(name) for name in command.options)
    return {""} if shortened else usual

"""On how many devices scripts are started: what launches and settings say of that, and of the options that ask for several."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from detlint.ir.commands import Word, assignments
from detlint.model.launches.chosen import Read, of_word, values
from detlint.model.launches.launches import Launch
from detlint.model.sites.records import Const

SHORTEST: Final = 3
"""How many letters the shorter name of an option has: `argparse` takes any that is the beginning of one option alone."""
_RANKS: Final = "server_list"
"""The key of a table of several devices, as HCCL has it."""
_WORDS: Final[Mapping[str, bool]] = {"no": False, "off": False, "yes": True, "on": True}

Usual = Mapping[str, Collection[Const]]
"""Options, and the values which mean what each is where nobody gives it."""


class Starts(NamedTuple):
    """What may say on how many devices a script of a project is started."""

    launches: Sequence[Launch]
    """Those that may start it."""
    settings: Sequence[Read]
    """The files of settings of the project."""
    folder: str
    """The project's."""

    def values(self, option: str) -> set[Const | None]:
        """What an option is set to in files of settings; None for what isn't a literal."""
        return values(self.settings, option)

    def sets(self, variable: str) -> set[Const | None]:
        """What files of settings set a variable of the environment to, whatever they start; None for what isn't written out."""
        texts = [read.text for read in self.settings if read.text.documents is not None]
        given = (one.value for text in texts for one in assignments(text.script.steps) if one.name == variable)
        words = (word.text if isinstance(word, Word) else None for word in given)
        return values(self.settings, variable) | {of_word(text) if text is not None else None for text in words}

    def turn_on(self, usual: Usual) -> bool:
        """Whether something may have the script started on several devices of its own hardware, by options that have the usual values
        else: a launch gives one another value, or starts several processes, unless it is for another hardware; or settings, or variables
        that a launch hands on, do."""
        if values(self.settings, _RANKS):
            return True
        counting = [launch for launch in self.launches if _may_be_for_ascend(launch)]
        return any(_gives_other(launch, usual) or (launch.counts and not launch.is_for_one()) for launch in counting)

    def are_for_one(self) -> bool:
        """Whether all launches of the script write out that this is one process."""
        return bool(self.launches) and all(launch.is_for_one() for launch in self.launches)


def literal(text: str) -> Const | None:
    """The literal that an option's value is; None for something else."""
    found = of_word(text.strip().rstrip(",").strip("\"'"))
    known = found is not None and isinstance(found.value, str)
    return Const(_WORDS[found.value.lower()]) if known and found.value.lower() in _WORDS else found  # type: ignore[union-attr]


def _may_be_for_ascend(launch: Launch) -> bool:
    """Whether a launch is on hardware that its own options don't say to be another than Ascend."""
    said = {value.lower() for value in launch.options().values() if value}
    return said.isdisjoint(("gpu", "cuda", "cpu")) or not said.isdisjoint(("ascend", "npu"))


def _gives_other(launch: Launch, usual: Usual) -> bool:
    """Whether a launch gives an option another value than the usual ones, perhaps under a shorter name."""
    given = launch.options()
    return any(
        value is None or literal(value) not in alike
        for option, alike in usual.items()
        for value in _given(given, option)
    )


def _given(options: Mapping[str, str | None], option: str) -> Iterator[str | None]:
    for name, value in options.items():
        if name == option.lstrip("-") or (len(name) >= SHORTEST and option.startswith(name)):
            yield value

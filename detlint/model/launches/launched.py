"""What the launches of a script give its options: a launch makes a run of its own, where it decides something.

Only options that the files of the run declare count, and only where a launch gives another value than the default. What isn't known of a
launch (`python train.py "$@"`) nobody gives. A launch that may start the script, and may start another one, says nothing of either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from detlint.model.launches.chosen import of_word
from detlint.model.launches.documents import Said
from detlint.model.launches.launches import Launch
from detlint.model.module import Module
from detlint.model.sites.records import Const, Option, Span

MOST: Final = 4
"""So many ways of starting one script are followed by themselves."""


class Started(NamedTuple):
    """One way in which a script is started."""

    options: tuple[tuple[str, Const | None], ...] = ()
    """What it gives options other than their defaults; None for what isn't known."""
    path: str = ""
    """The launch text."""
    span: Span = Span(0, 0, 0, 0)


def ways(said: Said, declared: Mapping[str, Option]) -> tuple[Started, ...]:
    """The ways in which a script is started, each once; none where no launch gives an option, or it isn't sure which there are.

    Args:
        said: what launches around it say.
        declared: the options of its command line.
    """
    if said.unsure or not said.launches:
        return ()
    found = [_given(launch, declared) for launch in said.launches]
    for kept in (found, [_plain(one, declared) for one in found]):
        if len({one.options for one in kept}) <= MOST:
            return _once(kept)
    common = set(found[0].options).intersection(*(one.options for one in found))
    return _once([one._replace(options=tuple(each for each in one.options if each in common)) for one in found])


def declared_in(module: Module) -> Iterator[tuple[str, Option]]:
    """The options of a command line that a file declares, by parsers and by decorators."""
    yield from module.facts.options.items()
    for detail in module.body.details:
        yield from detail.options.items()


def _once(found: Iterable[Started]) -> tuple[Started, ...]:
    """Each way once, by where it is gone first; nothing where there is only the usual one."""
    each = dict[tuple[tuple[str, Const | None], ...], Started]()
    for one in found:
        each.setdefault(one.options, one)
    return tuple(each.values()) if any(each) else ()


def _plain(one: Started, declared: Mapping[str, Option]) -> Started:
    """A way, but for what it gives options that are neither flags nor left out by default."""
    flags = tuple((name, value) for name, value in one.options if _usual(declared[name]) in (True, False, None))
    return one._replace(options=flags)


def _given(launch: Launch, declared: Mapping[str, Option]) -> Started:
    """What a launch gives the options."""
    found = dict[str, Const | None]()
    for name, text in launch.options().items():
        if name in declared:
            found[name] = _value(declared[name], text)
        else:
            found |= dict.fromkeys((option for option in declared if name and option.startswith(name)), None)
    usual = {name: option.default for name, option in declared.items()}
    given = tuple(sorted((name, value) for name, value in found.items() if value is None or value != usual[name]))
    return Started(given, launch.source, Span(launch.line, launch.column, launch.line, launch.column))


def _value(option: Option, text: str | None) -> Const | None:
    """What an option is, that is given a text, "" for none."""
    if text is None:
        return None
    if text:
        return of_word(text)
    usual = _usual(option)
    return Const(usual is not True) if usual in (True, False, None) else None


def _usual(option: Option) -> object:
    return option.default.value if isinstance(option.default, Const) else "unknown"

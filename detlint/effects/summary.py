"""What a function comes to, wherever it is called: its steps, each with what it was found to be.

A function is interpreted once for all runs. What a step is may rest on the call (what a parameter was given) and on the run (which
file has an option, what a constructor was handed): these questions are kept with the answer, and whoever comes by again takes it
where they are answered the same. So a function has as many contexts as there are different answers to what it really asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

import msgspec

from detlint.model.module import Module
from detlint.model.runs.calls import Seen
from detlint.model.runs.reach import Effect, Place, Reach
from detlint.model.runs.values import ANY, CLOSED, GIVEN, Arguments, Origin, Spot
from detlint.model.sites.records import Branch, Const, Expression, Function, Member, Step, Value

T = TypeVar("T")
Guards = tuple[tuple[str, Any, object], ...]
"""Questions to a call and its run, by kind and what they ask for, each with the answer."""
MOST: Final = 16
"""So many contexts of a step are kept, the last ones that were found."""


CALLED: Final = frozenset({ANY, CLOSED, GIVEN})
"""The kinds of questions that only ask what a call is given."""


class Contexts(Generic[T]):
    """What a step comes to, by what that rests on."""

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: list[tuple[Guards, T]] = []

    def add(self, guards: Guards, found: T) -> None:
        """Keep what was found."""
        self.known.insert(0, (guards, found))
        del self.known[MOST:]


class Call(msgspec.Struct, eq=False):
    """A call of a function of the program, with all that it comes to but for what the run has done before."""

    module: Module
    function: Function
    receiver: str
    place: Place | None
    given: dict[str, Origin]
    bare: int
    """How many of its decorators have been run."""
    registry: str
    """The one that `self` is, by its key."""
    manager: bool = False
    """Whether it makes a context manager, which runs where it is entered."""
    constructs: bool = False
    handed: Mapping[str, Origin] = {}
    """What a constructor is handed that decides something, by class and parameter."""
    seen: Seen | None = None
    """Of a function that does nothing of interest, the files that say so; None for any other."""
    wrapper: tuple[tuple[Module, Function], dict[str, Origin]] | None = None
    """The function that a decorator puts in its place, and what that closes over."""
    environment: dict[str, Origin] = {}
    """What is known inside."""
    key: int = 0
    """Stands for all of this that decides what it does."""
    dropped: bool = False
    """Whether nothing is done with what it gives back."""
    unread: frozenset[int] = frozenset()
    """The parts of what it gives back that nobody reads."""
    unused_at_top: bool = False
    """Whether the top level that it stands in does nothing with that."""
    made: int | None = None
    """The site, by a number that means the same everywhere, that makes the object whose method it is; `SELF`: it is that of the function
    around. None where that isn't known, or nothing asks the object what it was made with."""


class Handing(msgspec.Struct, eq=False):
    """Functions that a call of a library is handed."""

    functions: Sequence[Value]
    arguments: Arguments
    told: bool
    """Whether the catalog says which they are."""
    contexts: frozenset[str]
    made: bool
    """Whether the call makes an object of a class of the program."""


class Visit(msgspec.Struct, eq=False):
    """What a site comes to in a context."""

    target: Value | None = None
    effects: tuple[tuple[Effect, Place], ...] = ()
    """The entries of the catalog that it may fulfil, with the places that have their arguments."""
    held: tuple[tuple[Effect, Place], ...] = ()
    """Those of them that hold as far as is known."""
    acts: tuple[tuple[Effect, Place], ...] = ()
    """Those that do anything to a run."""
    refusing: tuple[Effect, ...] = ()
    """Those by which a framework may refuse the call."""
    judged: bool = False
    draws: bool | None = None
    """Whether it may draw in this context; None where it never does."""
    standing: frozenset[str] = frozenset()
    """The streams that it isn't decided whether it draws from."""
    handed: Mapping[str, Sequence[Effect]] = {}
    """What it is by what it is handed, by name."""
    restored: frozenset[str] = frozenset()
    misfits: bool = False
    """Whether it may surely raise, by its arguments."""
    prepared: bool = False
    """Whether it takes gradients, because what is called was made for that."""
    config: bool = False
    chooses: bool = False
    """Whether a registry may be what gives what is called."""
    hands: bool = False
    """Whether it may give a command to a group, or run in a worker."""
    builds: bool = False
    layered: bool = False
    """Whether it gives a layer."""
    applied: str = ""
    """The layer of the program whose forward pass it runs."""
    choose: bool = False
    """Whether one of the functions runs that it may call, and not all of them."""
    calls: tuple[Call, ...] = ()
    handing: Handing | None = None
    live: bool = False
    """Whether what it hands over has to be looked up in each run."""
    inert: bool = False
    """Whether it does nothing to a run that neither knows commands, nor layers that train, nor registries."""


class Test(msgspec.Struct, eq=False):
    """What an `if` comes to in a context."""

    how: str
    """`said`: one arm is taken, as the call says; `mode`: the first is taken where a layer trains; `own`: an attribute of the object
    itself decides; `decided`: one arm is taken by default; `arms`: nothing says which."""
    first: bool = True
    """Whether it is the first that is taken."""
    cause: Spot | None = None
    own: Member | None = None
    orders: bool = False
    """Whether it asks for the order of None and a number."""


class Block(msgspec.Struct, eq=False):
    """What a `with` enters in a context."""

    manager: tuple[Module, Function, dict[str, Origin]] | None
    """A generator function of the program, with what it is given."""
    kind: str
    """The class of what is entered; "" where it isn't the program's."""
    catches: bool
    hollow: bool
    """Whether tensors have no storage in it."""


class Site(msgspec.Struct, eq=False):
    """A step that comes to a site."""

    place: Place
    visits: Contexts[Visit]
    wholes: Contexts[Visit] | None = None
    """The same, with all that is only of interest where layers that train, commands or registries are known."""


class Import(msgspec.Struct, eq=False):
    """A step that imports a name."""

    name: str


class Access(msgspec.Struct, eq=False):
    """A step that reads what may be a property."""

    target: Member
    calls: Contexts[tuple[Call, ...]]


class Fork(msgspec.Struct, eq=False):
    """A branch, with the steps of its arms."""

    branch: Branch
    arms: tuple[Steps, ...]
    tests: Contexts[Test]
    blocks: Contexts[Block]
    leaves: bool = False
    """Whether it stands for the end of the flow."""


Item = Site | Import | Access | Fork
Steps = tuple[Item, ...]
LEAVES: Final = Fork(Branch("return", None, ()), (), Contexts(), Contexts(), leaves=True)


class Probe:
    """What a top level comes to that is only looked at.

    Args:
        numbers: its steps, by their ids.
    """

    def __init__(self, numbers: Mapping[int, int]) -> None:
        self.numbers = numbers
        self.at: Site | None = None
        """The last step that came to a site of its own."""
        self.events: dict[tuple[str | int, bool], None] = {}
        self.results: list[Reach] = []
        """The sites that steps pass which do no more than that, and the files that say that what they call does nothing."""
        self.made: set[str] = set()
        """The files of classes of which an object was made that no run is to know of."""
        self.behind: set[str] = set()
        """The files that say that what it makes does nothing of interest."""
        self.strange = False
        """Whether each run takes other steps by itself than those that run nothing of interest."""

    def come(self, event: str | int, *, caught: bool = False) -> None:
        """Note an event, as in `Top`."""
        self.events[event, caught] = None

    def take_anew(self, item: Item) -> None:
        """Note a step that each run takes by itself."""
        self.come(self.numbers[id(item)])
        self.strange = True

    def add(self, other: Probe, result: Reach) -> None:
        """Note a step that does no more than to import others, and to pass sites and make something."""
        self.events |= other.events
        self.made |= other.made
        self.behind |= other.behind
        self.strange = self.strange or other.strange
        self.results.append(result)


class Summary:
    """What a function comes to for objects of a class.

    Args:
        steps: what it does, in order.
    """

    def __init__(self, module: Module, steps: Sequence[Step]) -> None:
        self._module = module
        self.steps = self._of(steps)
        self.imported: Steps = tuple(
            item for item in self.steps if not (isinstance(item, Fork) and item.branch.kind == "main")
        )
        """Those of a top level that run where a module is imported."""

    @cached_property
    def items(self) -> Steps:
        """Those, with the steps of their arms, in order: by these numbers `Top` knows them."""
        return (*_with_arms(self.imported),)

    def _of(self, steps: Sequence[Step]) -> Steps:
        return tuple(item for item in map(self._item, steps) if not _is_nothing(item))

    def _item(self, step: Step) -> Item:
        if isinstance(step, Branch):
            # No run but that of the tests takes its first arm.
            branch = Branch("if", None, step.arms[1:]) if step.kind == "tests" else step
            return Fork(branch, tuple(map(self._of, branch.arms)), Contexts(), Contexts())
        if step >= 0:
            return Site(Place(self._module, step), Contexts())
        if step == -1:
            return LEAVES
        run = self._module.body.runs[-2 - step]
        return Access(run, Contexts()) if isinstance(run, Member) else Import(run)


def _with_arms(steps: Steps) -> Iterator[Item]:
    for item in steps:
        yield item
        if isinstance(item, Fork):
            for arm in item.arms:
                yield from _with_arms(arm)


def _is_nothing(item: Item) -> bool:
    """Whether a step does nothing whatever holds: its test is none that may raise, and no arm does anything."""
    if not isinstance(item, Fork) or item.branch.kind not in ("if", "loop", "rebind", "trial", "try"):
        return False
    return not any(item.arms) and not isinstance(item.branch.test, Expression)


def at_yield(steps: Steps) -> tuple[Steps, Steps]:
    """The steps of a generator before and after its first yield."""
    for i, step in enumerate(steps):
        if isinstance(step, Fork):
            if step.branch.kind == "yield":
                return steps[:i], steps[i + 1 :]
            for arm in step.arms[:1]:
                if _yields(arm):
                    before, after = at_yield(arm)
                    return (*steps[:i], *before), (*after, *steps[i + 1 :])
    return steps, ()


def _yields(steps: Steps) -> bool:
    forks = [step for step in steps if isinstance(step, Fork)]
    return any(fork.branch.kind == "yield" or any(map(_yields, fork.arms)) for fork in forks)


def is_text(origin: Origin) -> bool:
    """Whether a call says a text itself: what an option or a setting says may be another one."""
    return isinstance(origin.value, Const) and isinstance(origin.value.value, str) and origin[1:] == (None, False)

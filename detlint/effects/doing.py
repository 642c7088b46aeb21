"""All that a run knows of what it has done so far, and of where it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from detlint.catalog import Scalar
from detlint.effects.state import Later, State
from detlint.effects.summary import Probe
from detlint.model.runs.reach import Draws, Place, Reach, Way
from detlint.model.runs.values import Frame, Spot
from detlint.model.sites.records import Ref, Value

if TYPE_CHECKING:
    from detlint.effects.run import Run


@dataclass(eq=False)
class Doing:
    """What a run has come to so far."""

    way: Way = frozenset()
    done: dict[object, tuple[dict[str, str], dict[str, Scalar], str]] = field(default_factory=dict)
    stack: list[tuple[str, str]] = field(default_factory=list)
    imported: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    """The files that were asked for options, and how many had been visited and imported by then."""
    asked_at: tuple[int, int, int] = (0, 0, 0)
    with_options: dict[str, str] = field(default_factory=dict)
    """Their options, with the first that has each."""
    met: set[tuple[str, str]] = field(default_factory=set)
    """The imports that it has come by, by file and name."""
    seen: set[Place] = field(default_factory=set)
    saw: set[int] = field(default_factory=set)
    """What was seen that does nothing of interest; all runs share that."""
    entered: int = 0
    doubtful: int = 0
    """Above 0 in what only happens when an option is given: it draws nothing by default."""
    elsewhere: int = 0
    """Above 0 in a loader's workers."""
    trying: int = 0
    """Above 0 in functions that only show the shapes of what they make."""
    wasted: int = 0
    """Above 0 in calls whose results nobody reads."""
    training: int = 0
    """Above 0 in what only happens while a layer trains."""
    hollow: int = 0
    """Above 0 where tensors have no storage: initial weights draw nothing."""
    empties: bool = False
    """Whether the weights are replaced of the layer that the function gives back which runs now."""
    drawn: dict[str, dict[Place, Draws]] = field(default_factory=dict)
    """The draws of each stream before it was seeded, by the first on each way."""
    first: dict[str, Place] = field(default_factory=dict)
    built: dict[str, Place] = field(default_factory=dict)
    """Classes of the program that the run has built objects of, and where first."""
    called: set[str] = field(default_factory=set)
    """Those of them that somebody may call."""
    shelved: set[str] = field(default_factory=set)
    """Those of them of which only imports have built objects."""
    importing: int = 0
    """Above 0 while a module is imported."""
    scopes: dict[Place, dict[str, str]] = field(default_factory=dict)
    """What leaving a `with` puts back (`torch.random.fork_rng()`), by the call that makes it; "" for an unseeded stream."""
    scoped: list[dict[str, str]] = field(default_factory=list)
    """The same for the blocks that the run is in."""
    process_of: tuple[int, Spot] | None = None
    """Where the process begins, and how long the path was there, if another one has started it."""
    unread_parts: frozenset[int] = frozenset()
    """Of what the function gives back that is run, the parts that nobody reads."""
    exits: bool = False
    """Whether the run has come to an end of the process."""
    returns: bool = False
    """Whether the function that is run may have returned by now."""
    stopped: str = ""
    """Where something on this way has surely raised, which nothing has caught yet."""
    failed: str = ""
    """Where the body of a loop has, so that the run ends there if it goes through anything."""
    next_cell: int = 0
    """The line of the notebook that the next cell begins with, where one has raised."""
    unsure: int = 0
    """Above 0 where what raises doesn't end the run: something may catch it, or another way be taken."""
    hopeless: set[Place] = field(default_factory=set)
    """Calls that make what surely raises, or goes through a loop that does, once it is called: `value_and_grad(loss)`."""
    has_trained: bool = False
    """Whether gradients have been taken, and not only something made that will take them."""
    required: set[Spot] = field(default_factory=set)
    """Defaults with which the run ends, so that what follows has been given something else."""
    building: int = 0
    """Above 0 in the constructors of layers."""
    making: list[str] = field(default_factory=list)
    """The layers that are being built, or whose passes are followed although no statement asks for them."""
    trained_on: set[Scalar | None] = field(default_factory=set)
    """The hardware that the run had chosen wherever it takes gradients."""
    ready: set[str] = field(default_factory=set)
    """The layers whose own code gets ready to train; "" for code of none that only chooses the mode for it."""
    cells: set[str] = field(default_factory=set)
    """The classes of a library's layers that it builds, and of those that derive from them, which train when they are called."""
    cells_in: set[str] = field(default_factory=set)
    """The files in which it builds them."""
    cells_add: bool = False
    """Whether those would add up what several devices have."""
    hands_cells: bool = False
    """Whether what trains when it is called may be called out of sight: something else than a framework gets it, or something
    unknown is called."""
    by_hand: bool = False
    """Whether gradients are taken by a function of the program."""
    trained: bool = False
    """Whether a statement runs one of the layers that are ready."""
    differentiates: bool = False
    """Whether gradients are taken that may be those of data."""
    draws_weights: bool = False
    """Whether first weights are drawn."""
    of_weights: bool = False
    """Whether some of its gradients are not just those of what a function is handed."""
    passes_back: bool = False
    """Whether gradients are passed back to tensors that keep them, which may be weights."""
    seems_to_infer: bool = False
    """Whether the script itself tells something to evaluate, whatever that is."""
    kept: dict[str, dict[Ref, frozenset[str]]] = field(default_factory=dict)
    """What the files that were imported have put into registries, and the names by which it may be chosen."""
    choices: dict[str, tuple[Place, tuple[Place, ...]]] = field(default_factory=dict)
    """Registries from which something was chosen by a name that isn't known; it is run at the end."""
    chosen: dict[int, tuple[str, list[Ref]]] = field(default_factory=dict)
    """Calls of what was chosen -> the registry, and what their names say that it is."""
    chosen_methods: dict[str, dict[str, tuple[Place, tuple[Place, ...]]]] = field(default_factory=dict)
    """Registries -> the methods that are called of what may have been chosen by a name that isn't known."""
    perhaps: set[str] = field(default_factory=set)
    """Streams that only some of what may be chosen draws from."""
    commands: dict[str, list[Value | None]] = field(default_factory=dict)
    """The functions that were added to groups of commands."""
    pending: list[Callable[[], None]] = field(default_factory=list)
    """Generators and coroutines that were made and have not run yet."""
    using: bool = False
    """Whether its statements are over, and frameworks use what it has made."""
    made_at: dict[int | None, Frame | None] = field(default_factory=dict)
    """The sites that make objects -> the calls of their constructors; None for one that has made several, of different things."""
    made: dict[tuple[str, str], list[Frame]] = field(default_factory=dict)
    """The constructors that have run, by the class of the object and their own -> with what."""
    later: list[Later] = field(default_factory=list)
    """Draws of objects that were built on the way: they draw when they are used."""
    standing_in: set[str] = field(default_factory=set)
    """Streams that objects made without a seed of their own draw from when they are used, or may draw from: it isn't decided."""
    handed: list[tuple[Value, Place, bool, Frame]] = field(default_factory=list)
    """Functions that were handed to objects of libraries, which call them; whether in workers, and where that was."""
    workers: set[bool] = field(default_factory=set)
    """Whether the loaders that were built have workers."""
    others: list[Reach] = field(default_factory=list)
    """The processes that the run starts."""
    started: set[tuple[str, str, int, str]] = field(default_factory=set)
    """The functions that were run in processes, how those are started, the pool, and what decides of their arguments."""
    joined: State | None = None
    """What held when the process became one of several that run each other's functions."""
    probe: Probe | None = None
    """What a top level comes to that is only looked at, to know what importing it does."""
    catching: int = 0
    """Above 0 where something catches what is raised."""
    rests: bool = False
    """Whether something that was found out meanwhile rests on what a run has done before."""
    pools: dict[int, Run] = field(default_factory=dict)
    """What the processes of pools do, by the call that makes a pool."""

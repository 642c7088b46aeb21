"""What importing a file does, as it is kept for all runs."""

from __future__ import annotations

import msgspec

from detlint.marks import Brief


class Top(msgspec.Struct, array_like=True, frozen=True):
    """What importing a file does, whatever a run has done before; sites and steps by their numbers in it."""

    events: tuple[tuple[str | int, bool], ...]
    """The files that it imports, and the steps that each run takes by itself, as they may do more in one; whether something may catch what
    that raises."""
    told: tuple[int, ...]
    """The sites besides that it passes and that the catalog knows."""
    judged: tuple[int, ...]
    """Those of them that a rule knows."""
    passes: bool
    """Whether it passes any site."""
    counts: bool
    """Whether a run is to know of any of them, or of a step."""
    notes: bool
    """Whether decorators in it add commands to groups, or it puts something into registries."""
    behind: tuple[str, ...]
    """The files that say that what it calls does nothing of interest, sorted."""
    made: tuple[str, ...]
    """The files of the classes of which it makes objects that do nothing of interest, sorted."""
    brief: Brief
    """What runs ask of it besides."""

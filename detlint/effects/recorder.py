"""Who is told what runs do."""

from __future__ import annotations

from collections.abc import Mapping as Table

from detlint.model.module import Module
from detlint.model.runs.reach import Place
from detlint.model.sites.records import Function


class Recorder:
    """Is told what happens in a run, in order; this one keeps nothing."""

    keeps = False
    """Whether it keeps what it is told."""

    def enter(self, how: str, module: Module, function: Function, place: Place | None) -> None:
        """A function begins: `call`, `import`, `again` (a call that does the same as an earlier one, and has no `leave`),
        `process`, `command`, or `later` (what frameworks call at the end, and the draws of what was built)."""

    def leave(self) -> None:
        """It ends."""

    def tell(self, kind: str, name: str, place: Place, state: object, streams: Table[str, str]) -> None:
        """Something happens at a place.

        Args:
            kind: `passes` (the catalog knows the site), `seeds`, `draws`, `sets`.
            name: the stream or the switch.
            state: what a seed is (`Seeding.kind`), whether a stream that is drawn from has one, the value of a switch.
            streams: the state of all streams, just before.
        """

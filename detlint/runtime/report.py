"""What `enforce` did, where and how often; what it could not do; and what leaving it does not undo."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import Any, Final

DONE: Final = "done"
REFUSED: Final = "refused"


@dataclass(frozen=True, slots=True, order=True)
class Intervention:
    """One kind of deed at one line.

    Attributes:
        filename: the file of the user's that led there; "" where no line did (a setting made at the start).
        line: from 1; 0 without a file.
        code: the rule behind it, "" where none is.
        name: the rule's name.
        api: the API that was called, as the catalog names it.
        message: what was done, or why it could not be.
        count: how often.
    """

    filename: str
    line: int
    code: str
    name: str
    api: str
    message: str
    count: int

    def as_row(self) -> dict[str, Any]:
        """The fields that findings have in the linter's JSON, with `api` and `count`."""
        return {
            "code": self.code,
            "name": self.name,
            "message": self.message,
            "filename": self.filename,
            "location": {"row": self.line, "column": 1},
            "api": self.api,
            "count": self.count,
        }

    def as_line(self) -> str:
        """One line of text, as the linter writes a finding in its format `concise`."""
        place = f"{self.filename}:{self.line}: " if self.filename else ""
        rule = f"{self.code} {self.name}: " if self.code else ""
        times = f" ({self.count} times)" if self.count > 1 else ""
        return f"{place}{rule}{self.message}{times}"


class Report:
    """Filled while an enforcement is active; may be read at any time, also after it was left.

    An enforcement that is started many times tells each thing once.
    """

    def __init__(self) -> None:
        self._settings: dict[str, str] = {}
        self._lasting: dict[str, None] = {}
        self._counts: dict[tuple[str, str, int, str, str, str, str], int] = {}
        self._lock = threading.Lock()

    @property
    def settings(self) -> list[str]:
        """What was set at the start, a line each."""
        return [f"{what}: {why}" if why else what for what, why in self._settings.items()]

    @property
    def lasting(self) -> list[str]:
        """What leaving does not undo, a line each."""
        return [*self._lasting]

    def set(self, what: str, why: str = "") -> None:
        """Tell a setting; the last word on it counts."""
        self._settings[what] = why

    def lasts(self, what: str) -> None:
        """Tell what leaving does not undo."""
        self._lasting[what] = None

    @property
    def interventions(self) -> list[Intervention]:
        """What was done, by file and line."""
        return self._listed(DONE)

    @property
    def refused(self) -> list[Intervention]:
        """What should have been done and was not, with the reason; by file and line."""
        return self._listed(REFUSED)

    def done(self, code: str, name: str, api: str, message: str, place: tuple[str, int] = ("", 0)) -> None:
        """Count one intervention."""
        self._count((DONE, *place, code, name, api, message))

    def refuse(self, code: str, name: str, api: str, reason: str, place: tuple[str, int] = ("", 0)) -> None:
        """Count something that was not done."""
        self._count((REFUSED, *place, code, name, api, reason))

    def text(self, left: bool = True) -> str:
        """The report for people; ends in a line end unless it is empty.

        Args:
            left: whether it can be left while the program goes on.
        """
        parts = (
            ("Set:", self.settings),
            ("Done:", [row.as_line() for row in self.interventions]),
            ("Not done:", [row.as_line() for row in self.refused]),
            ("Not undone on leaving:", self.lasting if left else []),
        )
        lines = [line for title, rows in parts if rows for line in (title, *(f"  {row}" for row in rows))]
        return "".join(f"{line}\n" for line in lines)

    def json(self) -> str:
        """The same for programs: `settings`, `interventions`, `refused`, `lasting`."""
        return json.dumps(
            {
                "settings": self.settings,
                "interventions": [row.as_row() for row in self.interventions],
                "refused": [row.as_row() for row in self.refused],
                "lasting": self.lasting,
            },
            indent=2,
        )

    def add(self, written: str) -> None:
        """Take over what another process did.

        Args:
            written: its report, as `json` gives it.
        """
        other = json.loads(written)
        for line in other["settings"]:
            what, _, why = line.partition(": ")
            self.set(what, why)
        for line in other["lasting"]:
            self.lasts(line)
        for kind, rows in ((DONE, other["interventions"]), (REFUSED, other["refused"])):
            for row in rows:
                place = (row["filename"], row["location"]["row"])
                self._count((kind, *place, row["code"], row["name"], row["api"], row["message"]), row["count"])

    def _count(self, key: tuple[str, str, int, str, str, str, str], times: int = 1) -> None:
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + times

    def _listed(self, kind: str) -> list[Intervention]:
        with self._lock:
            counts = dict(self._counts)
        return sorted(Intervention(*key[1:], count) for key, count in counts.items() if key[0] == kind)

"""What `detlint run` hands to the processes that it starts."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

VARIABLE: Final = "DETLINT_RUN"


@dataclass(frozen=True)
class Plan:
    """One run.

    Attributes:
        options: what `enforce` gets.
        owner: the process that tells in the end what was done; 0 where the one that started it does.
        folder: where the run's other processes leave what they did. It is made when the first does.
        report: the file that gets the report as JSON; empty for none.
        quiet: whether to print no report.
        config: the configuration file that names catalogs; empty for none.
    """

    options: dict[str, Any]
    owner: int
    folder: str
    report: str = ""
    quiet: bool = False
    config: str = ""

    def written(self) -> str:
        """The plan as the value of the variable."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, environment: Mapping[str, str] = os.environ) -> Plan:
        """The plan of the run that this process belongs to."""
        return cls(**json.loads(environment[VARIABLE]))

"""What fixes the randomness of a run while it runs: the names that programs import.

Importing this package imports no framework, and none of the linter: each name is loaded when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from detlint.runtime.enforced import enforce as enforce
    from detlint.runtime.logged import log as log
    from detlint.runtime.resume import load_state_dict as load_state_dict
    from detlint.runtime.resume import state_dict as state_dict
    from detlint.runtime.seeding import seed_all as seed_all
    from detlint.runtime.traced import trace as trace

_HOMES: Final = {
    "enforce": "detlint.runtime.enforced",
    "load_state_dict": "detlint.runtime.resume",
    "log": "detlint.runtime.logged",
    "seed_all": "detlint.runtime.seeding",
    "state_dict": "detlint.runtime.resume",
    "trace": "detlint.runtime.traced",
}
"""Public name -> the module that has it: none of its own name, which whoever imports the module would hide."""


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Kept, so that it is looked up once.
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})

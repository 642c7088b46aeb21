"""`tools/incremental.py`: what it changes it can change again, and what it leaves of a failing sequence is what matters."""

from __future__ import annotations

import random
import runpy
from pathlib import Path
from typing import Any

from conftest import REPOSITORY

TOOL: dict[str, Any] = runpy.run_path(str(REPOSITORY / "tools" / "incremental.py"), run_name="tool")


def test_as_few_as_still_fail() -> None:
    tried: list[list[int]] = []

    def fails(items: list[int]) -> bool:
        tried.append(items)
        return {3, 17, 18} <= {*items}

    assert TOOL["minimal"]([*range(40)], fails) == [3, 17, 18]
    assert len(tried) < 120
    assert TOOL["minimal"]([*range(5)], lambda items: True) == []


def test_what_edits_change_is_changed_again(tmp_path: Path) -> None:
    source, copy = tmp_path / "source", tmp_path / "copy"
    source.mkdir()
    copy.mkdir()
    for name in ("train.py", "net/__init__.py", "net/layers.py", "tools/run.py"):
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text(f"import torch\n\n\ndef f(x):\n    return torch.rand(x)  # {name}\n")
    put, state_of = TOOL["put"], TOOL["state_of"]
    state = state_of(source)
    for path in sorted(state):
        put(copy, TOOL["Change"](0, path, state[path], True))
    edits = TOOL["Project"](source, random.Random(7))
    for step in range(30):
        edits.edit()
        after = state_of(source)
        for change in TOOL["changes"](step, state, after, 0):
            put(copy, change)
        state = after
        again = state_of(copy)
        assert {p: e[:2] for p, e in again.items()} == {p: e[:2] for p, e in state.items()}

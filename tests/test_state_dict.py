"""`state_dict`: a run that is broken off in the middle of an epoch goes on as if it had not been."""

from __future__ import annotations

import random
from io import BytesIO
from typing import Any

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from torch.utils.data import DataLoader, Dataset  # noqa: E402

from detlint.runtime import load_state_dict, state_dict  # noqa: E402


class Noisy(Dataset):  # type: ignore[type-arg]
    """Numbers with noise from every stream, and from a generator of its own."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(5)

    def __len__(self) -> int:
        return 12

    def __getitem__(self, i: int) -> Any:
        return i + torch.rand(1) + random.random() + np.random.rand() + self.rng.random()


def parts(workers: int, persistent: bool) -> dict[str, Any]:
    torch.manual_seed(3), random.seed(3), np.random.seed(3)
    generators = {
        "own": random.Random(4),
        "old": np.random.RandomState(4),
        "philox": np.random.Generator(np.random.Philox(4)),
    }
    loader = DataLoader(Noisy(), 2, shuffle=True, num_workers=workers, persistent_workers=persistent)
    return {"loader": loader, **generators}


def epochs(of: dict[str, Any], count: int, stop: int = -1) -> tuple[list[Any], bytes]:
    """What comes of some epochs; of the first so many batches."""
    seen: list[Any] = []
    for _ in range(count):
        for batch in of["loader"]:
            seen.append((batch.tolist(), of["own"].random(), of["old"].rand(), of["philox"].random(), random.random()))
            if len(seen) == stop:
                file = BytesIO()
                torch.save(state_dict(**of), file)
                return seen, file.getvalue()
    return seen, b""


@pytest.mark.parametrize(("workers", "persistent", "stop"), [(0, False, 6), (0, False, 9), (2, False, 9), (2, True, 3)])
def test_a_run_goes_on_as_it_would_have(workers: int, persistent: bool, stop: int) -> None:
    whole, _ = epochs(parts(workers, persistent), 3)
    begun, saved = epochs(parts(workers, persistent), 3, stop)
    again = parts(workers, persistent)
    load_state_dict(torch.load(BytesIO(saved), weights_only=True), **again)
    rest, _ = epochs(again, 3 - (stop - 1) // 6)
    assert [*begun, *rest] == whole


def test_workers_that_are_kept_have_states_that_cannot_be_read() -> None:
    with pytest.warns(UserWarning, match="loader: its workers are kept"):
        epochs(parts(1, True), 3, 9)


def test_what_cannot_be_taken_or_put_is_told() -> None:
    with pytest.raises(TypeError, match="epoch: a int is no data loader"):
        state_dict(epoch=3)
    state = state_dict(own=random.Random(3))
    with pytest.raises(KeyError, match="not given: own; not in the state: other"):
        load_state_dict(state, other=random.Random(3))
    with pytest.raises(TypeError, match="is one of a generator, and this is a own"):
        load_state_dict(state, own=torch.nn.Linear(1, 1))
    with pytest.raises(ValueError, match="no state"):
        load_state_dict({})

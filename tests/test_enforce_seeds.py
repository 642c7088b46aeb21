"""Seeds under `enforce`: each route by which entropy comes in, and the seeds that a program gives itself."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")
np = pytest.importorskip("numpy")

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.data import DataLoader, RandomSampler, WeightedRandomSampler, random_split  # noqa: E402

from detlint.runtime import enforce  # noqa: E402


def _again(seeded: Any, how: str = "seed") -> Any:
    getattr(seeded, how)()
    return seeded


ROUTES: dict[str, Callable[[], object]] = {
    "a seed sequence": lambda: np.random.SeedSequence().entropy,
    "a generator of what it spawns": lambda: np.random.default_rng(np.random.SeedSequence().spawn(2)[1]).random(),
    "a bit generator": lambda: np.random.Generator(np.random.PCG64()).random(),
    "default_rng": lambda: np.random.default_rng().random(),
    "default_rng of None": lambda: np.random.default_rng(seed=None).random(),
    "RandomState": lambda: np.random.RandomState().rand(),
    "numpy.random.seed": lambda: _again(np.random).rand(),
    "random.seed": lambda: _again(random).random(),
    "Random": lambda: random.Random().random(),
    "Random.seed": lambda: _again(random.Random(3)).random(),
    "RandomState.seed": lambda: _again(np.random.RandomState(3)).rand(),
    "Generator.seed": lambda: torch.rand(2, generator=_again(torch.Generator())).tolist(),
    "torch.seed": lambda: (torch.seed(), torch.rand(2).tolist()),
    "torch.random.seed": lambda: (torch.random.seed(), torch.rand(2).tolist()),
}


@pytest.mark.parametrize("route", ROUTES)
def test_what_would_take_entropy_repeats_and_is_told(route: str) -> None:
    found = []
    for _ in range(2):
        with enforce() as enforced:
            found.append(ROUTES[route]())
        assert [deed.code for deed in enforced.report.interventions] in (["DET103"], ["DET110"])
    assert found[0] == found[1]
    with enforce(seed=7):
        assert ROUTES[route]() != found[0]


def _drawn() -> list[object]:
    """What loaders, samplers, splits and generators give that got no seed of their own."""
    items = list(range(16))
    return [
        [batch.tolist() for batch in DataLoader(items, batch_size=4, shuffle=True)],  # type: ignore[arg-type]
        list(RandomSampler(items)),
        list(WeightedRandomSampler([1.0] * 16, 8)),
        [list(part.indices) for part in random_split(items, [8, 8])],  # type: ignore[arg-type, var-annotated]
        torch.rand(3).tolist(),
        np.random.rand(),
        random.random(),
    ]


def _own() -> list[float]:
    return [np.random.default_rng().random(), random.Random().random(), np.random.RandomState().rand()]


def _seeded(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


@settings(max_examples=20)
@given(seed=st.integers(0, 2**31) | st.just(1234))
def test_a_program_that_seeds_itself_keeps_its_numbers(seed: int) -> None:
    python, numpy, pytorch = random.getstate(), np.random.get_state(), torch.get_rng_state()
    _seeded(seed)
    plain = _drawn()
    random.setstate(python)
    np.random.set_state(numpy)
    torch.set_rng_state(pytorch)
    with enforce():
        _seeded(seed)
        assert _drawn() == plain


def test_another_seed_of_the_program_gives_other_numbers() -> None:
    found = []
    for seed in (1, 2, 1):
        with enforce():
            _seeded(seed)
            found.append((_own(), _drawn()))
    assert found[0] == found[2]
    assert all(one != other for one, other in zip(found[0][0], found[1][0], strict=True))
    assert all(one != other for one, other in zip(found[0][1], found[1][1], strict=True))


SEEDING: dict[str, Callable[[int], object]] = {
    "random": lambda seed: random.seed(seed),
    "numpy": lambda seed: np.random.seed(seed),
    "torch": lambda seed: torch.manual_seed(seed),
}


@pytest.mark.parametrize("stream", SEEDING)
def test_a_seed_of_any_one_stream_gives_other_numbers_to_what_has_none(stream: str) -> None:
    found = []
    for seed in (1, 2, 1):
        with enforce():
            SEEDING[stream](seed)
            found.append(_own())
    assert found[0] == found[2]
    assert all(one != other for one, other in zip(found[0], found[1], strict=True))


def test_a_seed_of_one_stream_says_nothing_of_another() -> None:
    with enforce() as enforced:
        random.seed(3)
        np.random.seed(3)
        list(DataLoader([1, 2, 3], shuffle=True))  # type: ignore[arg-type]
    assert [deed.code for deed in enforced.report.interventions] == ["DET302"]


def test_the_seeds_of_an_enforcement_inside_are_not_the_programs() -> None:
    with enforce(seed=5):
        expected = _own()
    with enforce(seed=5):
        with enforce(seed=6):
            pass
        assert _own() == expected


def test_variables_that_the_program_sets_stay() -> None:
    names = ("DETLINT_TEST_NEW", "CUBLAS_WORKSPACE_CONFIG")
    before = {name: os.environ.pop(name, None) for name in names}
    try:
        with enforce():
            assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
            os.environ["DETLINT_TEST_NEW"] = "1"
        assert os.environ["DETLINT_TEST_NEW"] == "1"
        assert "CUBLAS_WORKSPACE_CONFIG" not in os.environ
        with enforce():
            os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":16:8"
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


class Unwilling:
    """A data set that raises when it is asked for what it doesn't have."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> int:
        return index


def test_a_loader_looks_at_a_data_set_within_bounds_and_asks_it_nothing() -> None:
    data, table = Unwilling(), list[Any]()
    table.append([table] * 100)  # in a circle
    data.table = {number: {deeper: [table] for deeper in range(100)} for number in range(100)}  # type: ignore[attr-defined]
    with enforce(profile="align"):
        assert [int(item) for item in DataLoader(data, batch_size=None)] == [0, 1, 2, 3]  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize("packed", [False, True])
def test_a_recurrent_layer_drops_nothing_whichever_way_it_is_called(kind: Any, packed: bool) -> None:
    layer, x = kind(2, 3, num_layers=2, dropout=0.9), torch.randn(4, 1, 2)
    given: Any = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([4])) if packed else x

    def given_back() -> torch.Tensor:
        result = layer.forward(given)[0]
        found: torch.Tensor = result.data if packed else result
        return found

    with enforce(dropout="off") as enforced:
        assert torch.equal(given_back(), given_back())
    assert {deed.code for deed in enforced.report.interventions} == {"DET202"}
    layer.eval()
    with enforce(dropout="off") as enforced:
        given_back()
    assert enforced.report.interventions == []


@pytest.mark.parametrize(
    "draw",
    [lambda x: x + torch.rand(3), lambda x: x + torch.randperm(3), lambda x: x.normal_() + torch.randn_like(x)],
    ids=["rand", "randperm", "in place"],
)
def test_a_draw_compiles_in_one_graph(draw: Callable[[torch.Tensor], torch.Tensor]) -> None:
    with enforce(profile="align"):
        result = torch.compile(draw, fullgraph=True, backend="eager")(torch.zeros(3))
    assert result.shape == (3,)


def test_what_enforce_can_not_hold_is_refused_with_what_to_write() -> None:
    async def items() -> Any:
        yield 1

    with pytest.raises(TypeError, match="with enforce"):
        enforce()(items)
    with pytest.raises(TypeError, match="decorate its methods"):
        enforce()(Unwilling)
    with pytest.raises(TypeError, match=r"@enforce\(\)"):
        enforce(lambda: None)  # type: ignore[arg-type]

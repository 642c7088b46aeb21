"""`enforce` as programs use it: seeds, switches, loaders, generators; three forms of use; everything put back on leaving."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from conftest import examples
from forks import server
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")
np = pytest.importorskip("numpy")

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.utils.data import DataLoader, Dataset, RandomSampler, SubsetRandomSampler, random_split  # noqa: E402
from traced import IMPORTS, QUIET  # noqa: E402

from detlint.runtime import enforce  # noqa: E402

Draw = Callable[[], object]


def numbers(count: int) -> Any:
    """A data set of whole numbers from 0."""
    return list(range(count))


STREAMS: dict[str, Draw] = {
    "python": random.random,
    "numpy": lambda: np.random.rand(),
    "torch": lambda: torch.rand(1).item(),
}


def drawn() -> list[object]:
    return [draw() for draw in STREAMS.values()]


fill: Any = torch.utils.deterministic
modes: Any = torch.overrides


def flags() -> dict[str, object]:
    return {
        "algorithms": torch.are_deterministic_algorithms_enabled(),
        "warn only": torch.is_deterministic_algorithms_warn_only_enabled(),
        "fill": fill.fill_uninitialized_memory,
        "deterministic": torch.backends.cudnn.deterministic,
        "benchmark": torch.backends.cudnn.benchmark,
    }


PATCHED = {
    "DataLoader.__init__": (DataLoader, "__init__"),
    "RandomSampler.__init__": (RandomSampler, "__init__"),
    "Thread.start": (threading.Thread, "start"),
    "Function.__init_subclass__": (torch.autograd.Function, "__init_subclass__"),
    "Random.__init__": (random.Random, "__init__"),
    "random.seed": (random, "seed"),
    "default_rng": (np.random, "default_rng"),
    "RandomState": (np.random, "RandomState"),
    "random_split": (torch.utils.data, "random_split"),
    "this module's random_split": (sys.modules[__name__], "random_split"),
    "F.dropout": (F, "dropout"),
    "Module.__call__": (nn.Module, "__call__"),
}


def state() -> dict[str, object]:
    """What leaving must put back: random states, switches, environment, attributes by identity, modes."""
    numpy_state = np.random.get_state()
    return {
        "python": random.getstate(),
        "numpy": (numpy_state[0], numpy_state[1].tolist(), *numpy_state[2:]),
        "torch": torch.get_rng_state().tolist(),
        "environment": dict(os.environ),
        "modes": modes._len_torch_function_stack(),
        "hooks": len(nn.modules.module._global_forward_hooks) + len(nn.modules.module._global_forward_pre_hooks),
        **flags(),
        **{name: id(vars(owner).get(attribute)) for name, (owner, attribute) in PATCHED.items()},
    }


def test_every_stream_is_seeded_and_put_back() -> None:
    with enforce(seed=5):
        first = drawn()
    random.seed(99), np.random.seed(99), torch.manual_seed(99)
    expected = drawn()
    random.seed(99), np.random.seed(99), torch.manual_seed(99)
    with enforce(seed=5):
        assert drawn() == first
    assert drawn() == expected
    with enforce(seed=6):
        assert drawn() != first


def test_the_switches_are_on_inside() -> None:
    with enforce() as enforced:
        assert flags() == {
            "algorithms": True, "warn only": True, "fill": True, "deterministic": True, "benchmark": False,
        }  # fmt: skip
    assert any("use_deterministic_algorithms" in line for line in enforced.report.settings)
    with enforce(unsupported="error"):
        assert not torch.is_deterministic_algorithms_warn_only_enabled()


def test_the_switches_can_be_left_alone() -> None:
    before, environment = flags(), dict(os.environ)
    with enforce(deterministic=False) as enforced:
        assert flags() == before
        assert dict(os.environ) == {**environment, "PYTHONHASHSEED": os.environ["PYTHONHASHSEED"]}
        drawn_inside = drawn()
    assert [line for line in enforced.report.settings if "seed" not in line.lower()] == []
    with enforce():
        assert drawn() == drawn_inside
        inside = flags()
        with enforce(deterministic=False):
            assert flags() == inside != before
    with enforce(deterministic=False, collectives="deterministic"):
        assert os.environ["HCCL_DETERMINISTIC"] == "true" and "CUBLAS_WORKSPACE_CONFIG" not in os.environ
    assert dict(os.environ) == environment
    with pytest.raises(TypeError, match="deterministic must be True or False"):
        enforce(deterministic="warn")  # type: ignore[arg-type]


def test_it_decorates_functions() -> None:
    @enforce(seed=3)
    def run() -> list[object]:
        """Runs."""
        assert torch.are_deterministic_algorithms_enabled()
        return drawn()

    before = state()
    assert run() == run()
    assert state() == before
    assert run.__doc__ == "Runs."


def test_a_decorated_function_that_calls_itself_is_seeded_once() -> None:
    @enforce(seed=3)
    def run(depth: int) -> list[object]:
        return [torch.rand(1).item(), *(run(depth - 1) if depth else [])]

    numbers = run(3)
    assert len(set(numbers)) == 4


def test_what_would_run_later_is_not_decorated() -> None:
    async def later() -> None: ...

    def items() -> Iterator[int]:
        yield 1

    for function in (later, items):
        with pytest.raises(TypeError, match="with enforce"):
            enforce()(function)


def test_it_is_started_and_restored_by_hand() -> None:
    before = state()
    enforced = enforce().start()
    enforced.start()
    enforced.restore()
    assert torch.are_deterministic_algorithms_enabled()
    enforced.restore()
    assert state() == before
    enforced.restore()
    assert state() == before


def test_an_error_inside_puts_everything_back() -> None:
    before = state()
    with pytest.raises(ZeroDivisionError), enforce(profile="align"):
        _ = 1 / 0
    assert state() == before


CHOICES = st.fixed_dictionaries(
    {"seed": st.integers(0, 2**32 - 1), "profile": st.sampled_from(["reproduce", "align"])},
    optional={
        "dropout": st.sampled_from(["keep", "off"]),
        "rng": st.sampled_from(["device", "cpu"]),
        "operators": st.sampled_from(["listed", "keep", ["grid_sample"]]),
        "replace": st.sampled_from(["listed", "keep"]),
        "loaders": st.sampled_from(["seeded", "sequential", "keep"]),
        "transforms": st.sampled_from(["keep", "off"]),
        "deterministic": st.booleans(),
        "collectives": st.sampled_from(["deterministic", "strict", "keep"]),
        "unsupported": st.sampled_from(["warn", "error", "cpu"]),
    },
)


def use() -> None:
    """A little of everything that is patched."""
    drawn()
    F.dropout(torch.ones(4))
    nn.Sequential(nn.Linear(2, 2), nn.Dropout())(torch.ones(2, 2))
    list(DataLoader(numbers(4), shuffle=True))
    np.random.default_rng().random()
    random.Random().random()


@settings(max_examples=examples(25))
@given(nest=st.lists(CHOICES, min_size=1, max_size=3), fails=st.booleans())
def test_leaving_restores_everything_whatever_was_nested(nest: list[dict[str, Any]], fails: bool) -> None:
    before = state()
    try:
        with ExitStack() as stack:
            for options in nest:
                stack.enter_context(enforce(**options))
                use()
            if fails:
                raise LookupError
    except LookupError:
        pass
    after = state()
    assert {name: after[name] for name in before if before[name] != after[name]} == {}


class Holder:
    """A thread of its own that begins and ends an enforcement when it is told to."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._enforced = enforce(**options)
        self._pool = ThreadPoolExecutor(1)

    def turn(self, on: bool) -> None:
        self._pool.submit(self._enforced.start if on else self._enforced.restore).result()

    def end(self) -> None:
        self._pool.shutdown()


@settings(max_examples=examples(40))
@given(
    options=st.lists(CHOICES, min_size=2, max_size=4),
    turns=st.lists(st.integers(0, 3), max_size=12),
    threads=st.booleans(),
)
def test_the_last_one_out_restores_however_enforcements_overlap(
    options: list[dict[str, Any]], turns: list[int], threads: bool
) -> None:
    before, on = state(), [False] * len(options)
    inline = [enforce(**each) for each in options]
    holders = [Holder(each) for each in options] if threads else []
    turns = [*(turn for turn in turns if turn < len(options)), *range(len(options))]
    for place, turn in enumerate(turns):
        if place >= len(turns) - len(options) and not on[turn]:
            continue  # at last, all are off
        on[turn] = not on[turn]
        if threads:
            holders[turn].turn(on[turn])
        else:
            inline[turn].start() if on[turn] else inline[turn].restore()
            if any(on):
                use()
        if any(held and each.get("deterministic", True) for held, each in zip(on, options, strict=True)):
            assert torch.are_deterministic_algorithms_enabled()
    for holder in holders:
        holder.end()
    after = state()
    assert {name: after[name] for name in before if before[name] != after[name]} == {}


def test_tasks_that_take_turns_hold_theirs_until_they_end() -> None:
    async def task(seed: int, mine: asyncio.Event, other: asyncio.Event) -> list[bool]:
        with enforce(seed=seed, dropout="off"):
            other.set()
            await mine.wait()
            return [torch.are_deterministic_algorithms_enabled(), bool((F.dropout(torch.ones(1000)) == 0).any())]

    async def both() -> list[list[bool]]:
        one, two, done = asyncio.Event(), asyncio.Event(), asyncio.Event()
        first = asyncio.create_task(task(1, one, done))
        await done.wait()
        second = asyncio.create_task(task(2, two, one))
        ended = await first
        two.set()
        return [ended, await second]

    before = state()
    assert asyncio.run(both()) == [[True, False], [True, False]]
    assert state() == before


@settings(max_examples=examples(15))
@given(choices=st.lists(CHOICES, min_size=2, max_size=3), order=st.randoms(use_true_random=False))
def test_the_streams_of_an_enforcement_do_not_depend_on_what_was_before(choices: list[Any], order: Any) -> None:
    found = []
    for options in choices:
        order.shuffle([1, 2])
        with enforce(**{**options, "seed": 7}):
            found.append(drawn())
    assert all(one == found[0] for one in found)


# Loaders.


def epochs(loader: Any, count: int = 2) -> list[list[int]]:
    return [[int(x) for batch in loader for x in batch] for _ in range(count)]


def test_a_shuffling_loader_has_a_generator_of_its_own() -> None:
    def run(extra: int) -> list[list[int]]:
        with enforce(seed=1):
            loader = DataLoader(numbers(20), batch_size=4, shuffle=True)
            torch.rand(extra)
            return epochs(loader)

    assert run(1) == run(7)
    assert run(1)[0] != run(1)[1]
    assert sorted(run(1)[0]) == [*range(20)]


def test_two_loaders_shuffle_differently() -> None:
    with enforce():
        a, b = (DataLoader(numbers(50), batch_size=5, shuffle=True) for _ in range(2))
        assert epochs(a, 1) != epochs(b, 1)


def test_align_takes_items_in_order() -> None:
    with enforce(profile="align") as enforced:
        assert epochs(DataLoader(numbers(9), batch_size=2, shuffle=True)) == [[*range(9)]] * 2
    assert ("DET302", "torch.utils.data.DataLoader") in {(r.code, r.api) for r in enforced.report.interventions}


def test_a_random_sampler_goes_in_order_under_align() -> None:
    with enforce(profile="align"):
        assert [*RandomSampler(list(range(9)))] == [*range(9)]


@pytest.mark.parametrize("make", [lambda: RandomSampler(range(30)), lambda: SubsetRandomSampler(range(30))])
def test_samplers_are_seeded(make: Callable[[], Any]) -> None:
    def run(extra: int) -> list[int]:
        with enforce():
            sampler = make()
            torch.rand(extra)
            return [*sampler]

    assert run(1) == run(4)


def test_random_split_is_seeded_by_whatever_name() -> None:
    def run(extra: int) -> list[list[int]]:
        with enforce():
            torch.rand(extra)
            return [[*part.indices] for part in random_split(numbers(20), [15, 5])]

    assert run(1) == run(5)


def test_a_users_own_generator_and_worker_function_are_left_alone() -> None:
    generator = torch.Generator().manual_seed(8)
    seen: list[int] = []
    with enforce() as enforced:
        loader = DataLoader(numbers(8), shuffle=True, generator=generator, num_workers=0, worker_init_fn=seen.append)
        sampler = RandomSampler(range(8), generator=generator)
    assert loader.generator is generator
    assert sampler.generator is generator
    assert loader.worker_init_fn == seen.append
    assert enforced.report.interventions == []


class Noisy(Dataset[list[float]]):
    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> list[float]:
        return [random.random(), float(np.random.rand()), torch.rand(1).item(), float(np.random.default_rng().random())]


def note(number: int) -> None:
    os.environ["NOTED"] = str(number)


def noted(batch: list[list[float]]) -> Any:
    return batch, os.environ.get("NOTED")


@pytest.fixture(params=["fork", "spawn"])
def method(request: pytest.FixtureRequest) -> Iterator[str]:
    """How workers are started; those that are spawned start in a process that has imported what they need."""
    multiprocessing.set_executable(server(SPAWNED).python)
    yield request.param
    multiprocessing.set_executable(sys.executable)


SPAWNED = """
import hypothesis, numpy, pytest, torch, torch.utils.data

def begin():
    numpy.random.seed()
    torch.seed()
"""


def test_workers_are_seeded_and_the_users_function_still_runs(method: str) -> None:
    def run() -> list[Any]:
        with enforce():
            loader = DataLoader(
                Noisy(),
                batch_size=2,
                num_workers=2,
                worker_init_fn=note,
                collate_fn=noted,
                multiprocessing_context=method,
            )
            return [*loader]

    first = run()
    assert first == run()
    assert [note for _, note in first] == ["0", "1", "0"]
    numbers = [number for batch, _ in first for item in batch for number in item]
    assert len(set(numbers)) == len(numbers)


class Cropping(Noisy):
    def __init__(self) -> None:
        self.rng = np.random.default_rng(3)
        self.state = random.Random(4)


def test_generators_that_belong_to_a_data_set_are_told() -> None:
    with enforce() as enforced:
        DataLoader(Cropping(), num_workers=2)
    told = [row for row in enforced.report.refused if row.code == "DET304"]
    assert [row.api for row in told] == ["numpy.random.Generator", "random.Random"]
    assert Path(told[0].filename) == Path(__file__)


# Generators without a seed.


@pytest.mark.parametrize(
    "draw",
    [
        lambda: np.random.default_rng().random(),
        lambda: np.random.RandomState().rand(),
        lambda: np.random.Generator(np.random.PCG64()).random(),
        lambda: random.Random().random(),
    ],
)
def test_generators_without_a_seed_get_one(draw: Draw) -> None:
    def run() -> list[object]:
        with enforce() as enforced:
            found = [draw(), draw()]
        assert [row.code for row in enforced.report.interventions] == ["DET103"]
        return found

    first = run()
    assert first == run()
    assert first[0] != first[1]


def test_generators_with_a_seed_keep_it_and_their_class() -> None:
    expected = np.random.RandomState(3).rand(), np.random.default_rng(3).random(), random.Random(3).random()
    with enforce() as enforced:
        state = np.random.RandomState(3)
        assert (state.rand(), np.random.default_rng(3).random(), random.Random(3).random()) == expected
        assert isinstance(state, np.random.RandomState)
        assert isinstance(np.random.mtrand._rand, np.random.RandomState)

        base: Any = np.random.RandomState

        class Own(base):  # type: ignore[misc]
            pass

        assert isinstance(Own(1), np.random.RandomState)
    assert enforced.report.interventions == []


# Threads and processes.


def test_a_thread_that_is_started_inside_is_held_too() -> None:
    zeros: list[int] = []
    with enforce(dropout="off"):
        thread = threading.Thread(target=lambda: zeros.append(int((F.dropout(torch.ones(1000)) == 0).sum())))
        thread.start()
        thread.join()
    assert zeros == [0]


def test_a_thread_that_outlives_it_is_held_no_longer() -> None:
    go = threading.Event()
    zeros: list[int] = []

    def late() -> None:
        go.wait()
        zeros.append(int((F.dropout(torch.ones(1000)) == 0).sum()))

    with enforce(dropout="off"):
        thread = threading.Thread(target=late)
        thread.start()
    go.set()
    thread.join()
    assert zeros[0] > 0


def test_another_thread_can_not_restore() -> None:
    enforced = enforce().start()
    found: list[BaseException] = []

    def restore() -> None:
        try:
            enforced.restore()
        except RuntimeError as error:
            found.append(error)

    thread = threading.Thread(target=restore)
    thread.start()
    thread.join()
    enforced.restore()
    assert "thread" in str(found[0])


# The report.


def test_the_report_counts_by_line_and_is_text_and_json() -> None:
    with enforce(profile="align") as enforced:
        for _ in range(3):
            F.dropout(torch.ones(2))
    [row] = enforced.report.interventions
    line = next(
        n for n, text in enumerate(Path(__file__).read_text().splitlines(), 1) if "F.dropout(torch.ones(2))" in text
    )
    assert (row.code, row.name, row.line, row.count) == ("DET201", "dropout", line, 3)
    assert (
        f"{__file__}:{line}: DET201 dropout: `torch.nn.functional.dropout` ran with p=0.0 (3 times)"
        in enforced.report.text()
    )
    [found] = json.loads(enforced.report.json())["interventions"]
    assert {"code", "name", "message", "filename", "location", "count"} <= found.keys()
    assert found["location"] == {"row": line, "column": 1}


def test_a_listing_is_told_only_where_the_program_asks_for_it(tmp_path: Path) -> None:
    """What PyTorch lists, for its caches or a checkpoint, comes in order too, and is no line of the program's."""
    from torch.distributed.checkpoint.filesystem import FileSystem

    for name in ("d", "b", "e", "a", "c"):
        (tmp_path / name).touch()
    unordered = os.listdir
    if unordered(tmp_path) == sorted(unordered(tmp_path)):
        pytest.skip("the file system lists in the order of names")
    with enforce() as enforced:
        listed = [Path(path).name for path in FileSystem().ls(str(tmp_path))]
        assert (listed, enforced.report.interventions) == (["a", "b", "c", "d", "e"], [])
        os.listdir(tmp_path), [*tmp_path.iterdir()]
        assert {(row.code, row.filename) for row in enforced.report.interventions} == {("DET305", __file__)}


def test_what_the_compiler_does_is_told_at_no_line() -> None:
    """`torch.compile` compiles when a function is first called, and that line asked for none of it."""
    from torch._guards import CompileContext, compile_context  # what the compiler enters for each frame

    with enforce() as enforced:
        with compile_context(CompileContext(None)):
            random.Random()
        assert enforced.report.interventions == []
        random.Random()
        assert [row.code for row in enforced.report.interventions] == ["DET103"]


# Options and catalogs.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "seed must be from 0"),
        ({"seed": 1.5}, "whole number"),
        ({"profile": "fast"}, "profile must be one of 'reproduce', 'align'"),
        ({"dropout": "on"}, "dropout must be one of"),
        ({"operators": "gpu"}, "operators must be one of"),
        ({"operators": [3]}, "operators must hold names"),
        ({"unsupported": "ignore"}, "unsupported must be one of"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        enforce(**options)


CATALOG = """
[[framework]]
name = "ourlib"
modules = ["ourlib"]

[[api]]
rule = "DET201"
names = ["ourlib.drop_token"]
when = { rate = { above = 0 } }
draws = ["torch"]
fix = { kind = "set-argument", argument = "rate", value = 0.0, applicability = "unsafe" }
runtime = "off"
source = "ourlib 3.1"

[signatures]
"ourlib.drop_token" = "x, rate=0.5"
"""
OURLIB = """
import torch

def drop_token(x, rate=0.5):
    return x * (torch.rand(x.shape) >= rate)
"""


def test_a_catalog_of_the_users_works_also_for_what_is_imported_early_or_late(project: Callable[..., Path]) -> None:
    main = """
import torch
{early}
from detlint.runtime import enforce
with enforce(dropout="off") as e:
    {late}
    print(int((drop_token(torch.ones(1000)) == 0).sum()), [(row.code, row.api, row.count) for row in e.report.interventions])
print(int((drop_token(torch.ones(1000)) == 0).sum()) > 0)
"""
    statement = "from ourlib import drop_token"
    root = project(
        **{
            "detlint.toml": 'catalogs = ["ours.toml"]',
            "ours.toml": CATALOG,
            "ourlib.py": OURLIB,
            "early.py": main.format(early=statement, late="pass"),
            "late.py": main.format(early="", late=statement),
        }
    )
    for name in ("early.py", "late.py"):
        done = server(IMPORTS["torch"], **QUIET).run((root / name).read_text(), cwd=root)
        assert done.stdout.splitlines() == ["0 [('DET201', 'ourlib.drop_token', 1)]", "True"], done.stderr


def test_what_can_not_be_patched_is_told_and_the_program_goes_on(project: Callable[..., Path]) -> None:
    entry = """
[[api]]
rule = "DET103"
names = ["ourlib.Zone"]
fix = { kind = "set-argument", argument = "seed", value = "{seed}" }
runtime = "seed"
source = "ourlib 3.1"
"""
    code = """
from detlint.runtime import enforce
with enforce() as e:
    import ourlib
print([row.message for row in e.report.refused if "ourlib" in row.api])
"""
    files = {"detlint.toml": 'catalogs = ["ours.toml"]', "ours.toml": entry, "run.py": code}
    root = project(**files, **{"ourlib.py": "from datetime import timezone as Zone\n"})
    done = subprocess.run([sys.executable, "run.py"], cwd=root, capture_output=True, text=True, check=False)
    assert "`ourlib.Zone` can't be patched" in done.stdout, done.stderr


def test_a_wrong_word_in_a_catalog_is_named(project: Callable[..., Path]) -> None:
    from detlint.catalog import CatalogError

    project(**{"detlint.toml": 'catalogs = ["ours.toml"]', "ours.toml": CATALOG.replace('"off"', '"of"')})
    with pytest.raises(CatalogError, match=r"ours.toml: .*drop_token.*runtime"):
        enforce().start()
    assert not torch.are_deterministic_algorithms_enabled()


def test_pytorch_may_be_imported_later(project: Callable[..., Path]) -> None:
    code = """
import sys
from detlint.runtime import enforce
e = enforce(profile="align").start()
assert "torch" not in sys.modules
import torch
print(int((torch.nn.functional.dropout(torch.ones(100)) == 0).sum()), torch.are_deterministic_algorithms_enabled())
e.restore()
print(torch.are_deterministic_algorithms_enabled())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["0", "True", "False"], done.stderr

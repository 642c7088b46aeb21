"""`seed_all` in processes of their own: streams, switches and variables, as programs see them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec

import npu_double
import pytest
from forks import server

HEAVY = ("torch", "numpy", "mindspore", "tensorflow", "keras")


def printed(program: str, **environment: str) -> str:
    """What a program prints in a fresh process."""
    variables = {name: value for name, value in os.environ.items() if not name.endswith("_DETERMINISTIC")}
    for name in ("PYTHONHASHSEED", "CUBLAS_WORKSPACE_CONFIG"):
        variables.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=variables | {"TF_CPP_MIN_LOG_LEVEL": "3"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def forked(program: str, imported: str = "sys", **environment: str) -> str:
    """What it prints in a process that has imported something before."""
    done = server(f"import {imported}", TF_CPP_MIN_LOG_LEVEL="3").run(textwrap.dedent(program), cwd=None, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def needs(*names: str) -> None:
    for name in names:
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed")


def test_it_is_called_as_msprobes() -> None:
    program = "from detlint.runtime import seed_all\nprint(seed_all().seed, seed_all(7, True, rm_dropout=False).mode)"
    assert printed(program) == "1234 True\n"


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("seed_all(-1)", "ValueError: seed_all: `seed` must be from 0 to 4294967295, and is -1"),
        ("seed_all(2**32)", "ValueError: seed_all: `seed` must be from 0 to 4294967295, and is 4294967296"),
        ("seed_all('1')", "TypeError: seed_all: `seed` must be a whole number, and is '1'"),
        ("seed_all(True)", "TypeError: seed_all: `seed` must be a whole number, and is True"),
        ("seed_all(1, mode=1)", "TypeError: seed_all: `mode` must be True or False, and is 1"),
    ],
)
def test_what_cannot_be_is_refused(call: str, error: str) -> None:
    program = f"""\
        from detlint.runtime import seed_all
        try:
            {call}
        except (TypeError, ValueError) as error:
            print(f"{{type(error).__name__}}: {{error}}")
        """
    assert forked(program) == f"{error}\n"


def test_it_imports_no_library() -> None:
    program = (
        f"import sys\nfrom detlint.runtime import seed_all\nseed_all(mode=True)\nprint({set(HEAVY)} & set(sys.modules))"
    )
    assert printed(program) == "set()\n"


def test_the_package_itself_imports_next_to_nothing() -> None:
    loaded = printed("import sys, detlint.runtime\nprint([n for n in sys.modules if n.startswith('detlint')])")
    assert loaded == "['detlint', 'detlint.runtime']\n"


DRAWS = {
    "random": ("random.random()",),
    "numpy": ("numpy.random.rand(3)",),
    "torch": ("torch.rand(3)",),
    "keras, tensorflow": ("tensorflow.random.uniform([3])", "keras.random.uniform([3])"),
    "mindspore": (
        "mindspore.ops.uniform((3,), mindspore.Tensor(0.0), mindspore.Tensor(1.0))",
        "mindspore.dataset.config.get_seed()",
    ),
}


@pytest.mark.parametrize("libraries", DRAWS)
def test_streams_give_the_same_numbers_whenever_libraries_are_imported(libraries: str) -> None:
    needs(*libraries.split(", "))
    seeding = "from detlint.runtime import seed_all\nseed_all({})\n"
    draws = "\n".join(f"print({draw})" for draw in DRAWS[libraries])
    first, again, other = (forked(seeding.format(seed) + draws, libraries).splitlines() for seed in (5, 5, 6))
    assert len(first) == len(DRAWS[libraries])
    assert first == again
    assert all(one != two for one, two in zip(first, other, strict=True))
    program = f"{seeding.format(5)}import {libraries}\n{draws}"
    if "keras" in libraries:  # it draws its seed from Python's stream, of which what is imported has taken some
        first = printed(program).splitlines()
    assert printed(program).splitlines() == first


def test_a_late_library_leaves_the_streams_of_others_alone() -> None:
    needs("mindspore", "numpy")
    program = """\
        from detlint.runtime import seed_all
        import numpy
        seed_all()
        first = numpy.random.rand()
        import mindspore
        print(first == numpy.random.rand(), mindspore.get_seed())
        """
    assert printed(program) == "False 1234\n"


def test_without_mode_no_switch_is_touched() -> None:
    needs("torch")
    program = """\
        import os, torch
        from detlint.runtime import seed_all
        torch.use_deterministic_algorithms(True)
        torch.backends.cudnn.benchmark = True
        seed_all()
        print(torch.are_deterministic_algorithms_enabled(), torch.backends.cudnn.benchmark)
        print([name for name in os.environ if name.endswith(("_DETERMINISTIC", "WORKSPACE_CONFIG"))])
        """
    assert forked(program, "torch") == "True True\n[]\n"


@pytest.mark.parametrize("early", [True, False], ids=["imported before", "imported after"])
def test_with_mode_pytorch_is_deterministic(early: bool) -> None:
    needs("torch")
    importing, seeding = "import torch\n", "from detlint.runtime import seed_all\nseed_all(mode=True)\n"
    program = (importing + seeding if early else seeding + importing) + textwrap.dedent("""\
        cudnn = torch.backends.cudnn
        print(torch.are_deterministic_algorithms_enabled(), cudnn.deterministic, cudnn.benchmark)
        """)
    assert (forked(program, "torch") if early else printed(program)) == "True True False\n"


def test_mindspore_takes_the_switch_once() -> None:
    needs("mindspore")
    program = """\
        import mindspore
        from detlint.runtime import seed_all
        seed_all(mode=True)
        print(mindspore.get_context("deterministic"))
        print([step.outcome for step in seed_all(mode=True).steps if "set_deterministic" in step.what])
        """
    assert forked(program, "mindspore") == "ON\n['already']\n"


def test_mindspore_switched_off_before_is_told() -> None:
    needs("mindspore")
    program = """\
        import mindspore
        mindspore.set_deterministic(False)
        from detlint.runtime import seed_all
        print(*[f"{step.outcome}: {step.why}" for step in seed_all(mode=True).steps if "set_deterministic" in step.what])
        """
    assert forked(program, "mindspore").startswith("failed: it was set to False before, and can be set only once")


def test_tensorflow_switches_its_operators() -> None:
    needs("tensorflow")
    program = """\
        from detlint.runtime import seed_all
        seed_all(mode=True)
        import tensorflow as tf
        data = tf.data.Dataset.range(200).shuffle(200).map(
            lambda i: tf.cast(i, tf.float32) + tf.random.normal([]), num_parallel_calls=8, deterministic=False
        )
        print([float(x) for x in data])
        """
    assert printed(program) == forked(program, "keras, tensorflow")


VALUES = [
    ("CUBLAS_WORKSPACE_CONFIG", ":16:8", ":16:8", "already"),
    ("CUBLAS_WORKSPACE_CONFIG", ":4096:2", ":4096:8", "set"),
    ("HCCL_DETERMINISTIC", "strict", "strict", "already"),
    ("HCCL_DETERMINISTIC", "TRUE", "TRUE", "already"),
    ("HCCL_DETERMINISTIC", "1", "true", "set"),
    ("HCCL_DETERMINISTIC", "false", "true", "set"),
    ("LCCL_DETERMINISTIC", "0", "1", "set"),
]


@pytest.mark.parametrize(("name", "before", "after", "outcome"), VALUES)
def test_variables_get_values_that_exist(name: str, before: str, after: str, outcome: str) -> None:
    program = f"""\
        import os
        from detlint.runtime import seed_all
        record = seed_all(mode=True)
        print(os.environ["{name}"], *[step.outcome for step in record.steps if step.what.startswith("{name}")])
        """
    assert forked(program, **{name: before}) == f"{after} {outcome}\n"


@pytest.mark.parametrize(
    ("at_start", "written", "outcome"),
    [("", "", "late"), ("random", "", "late"), ("9", "", "already"), ("0", "", "already"), ("", "9", "late")],
)
@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="what a process started with isn't to be known")
def test_the_hash_seed_is_told_when_it_is_too_late(at_start: str, written: str, outcome: str) -> None:
    program = f"""\
        import os
        os.environ["PYTHONHASHSEED"] = {written!r} or os.environ.get("PYTHONHASHSEED", "")
        from detlint.runtime import seed_all
        print(*[step.outcome for step in seed_all(3).steps if step.what.startswith("PYTHONHASHSEED")])
        print(os.environ["PYTHONHASHSEED"])
        """
    environment = {"PYTHONHASHSEED": at_start} if at_start else {}
    assert printed(program, **environment) == f"{outcome}\n{at_start if outcome == 'already' else 3}\n"


def test_the_record_can_be_read() -> None:
    needs("torch")
    program = """\
        from detlint.runtime import seed_all
        record = seed_all(3)
        print([step.outcome for step in record.steps if step.library == "torch"], record.complete)
        import torch
        print([step.outcome for step in record.steps if step.library == "torch"])
        print(record)
        """
    lines = printed(program).splitlines()
    assert lines[:2] == ["['waiting'] False", "['set']"]
    assert lines[2] == "seed 3, no switch touched"
    assert "  set      torch.manual_seed(3): the CPU and every device that PyTorch knows" in lines


def test_dropout_is_switched_off_and_nothing_else() -> None:
    needs("torch")
    program = """\
        import torch
        from torch.nn.functional import dropout
        from detlint.runtime import seed_all
        layer = torch.nn.Dropout(0.5)
        seed_all(rm_dropout=True)
        ones = torch.ones(64)
        print(bool((layer(ones) == ones).all()), bool((dropout(ones) == ones).all()))
        print(torch.are_deterministic_algorithms_enabled())
        """
    assert forked(program, "torch") == "True True\nFalse\n"


def test_what_would_make_all_draws_equal_is_not_done() -> None:
    needs("torch")
    program = """\
        import torch
        from detlint.runtime import seed_all
        record = seed_all(is_enhanced=True)
        print(bool((torch.rand(4) == torch.rand(4)).all()), *[s.what for s in record.of("failed")])
        """
    assert forked(program, "torch") == "False is_enhanced\n"


def test_a_module_that_was_waited_for_is_as_it_would_be() -> None:
    needs("numpy")
    program = """\
        from detlint.runtime import seed_all
        seed_all()
        import importlib.resources, numpy
        print(type(numpy.__loader__).__name__, numpy.__spec__.loader is numpy.__loader__)
        print(importlib.resources.files("numpy").joinpath("__init__.py").is_file())
        """
    assert printed(program) == "SourceFileLoader True\nTrue\n"


@pytest.mark.parametrize(
    "order", ["import torch, torch_npu\n{}", "import torch\n{}import torch_npu\n", "{}import torch, torch_npu\n"]
)
def test_an_ascend_device_is_seeded_whenever_it_comes(order: str) -> None:
    needs("torch")
    if not npu_double.supported():
        pytest.skip("this PyTorch can't have a device that is written in Python")
    program = "from detlint.runtime import seed_all\n" + order.format("seed_all({})\n")
    program += "print(torch.rand(3, device='npu').cpu().tolist())\n"
    drawn = npu_double.run(program.format(3))
    assert drawn == npu_double.run(program.format(3)) != npu_double.run(program.format(4))

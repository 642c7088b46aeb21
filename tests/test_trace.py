"""Traces of PyTorch, and what comparing two of them tells."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from conftest import detlint
from forks import server
from torch import nn
from traced import (
    IMPORTS,
    QUIET,
    TRACED,
    Backward,
    Forward,
    compared,
    equal,
    line,
    model,
    pair,
    shell,
    traced,
    unsteady,
    written,
)

from detlint.runtime import trace


def test_runs_that_do_the_same_are_equal(tmp_path: Path) -> None:
    told = pair(tmp_path, model())
    assert told["equal"]
    assert told["story"] is None
    assert told["processes"][0]["rows"][0] > 100


@pytest.mark.parametrize("level", ["kernel", "api"])
def test_digests_made_on_a_device_give_the_rows_that_others_give(tmp_path: Path, level: str) -> None:
    text = model(layer="Backward.apply(Forward.apply(x)) * 0 + 1", steps=3)
    rows = {}
    for digest in ("host", "device"):
        told = pair(tmp_path / digest, text, digest=digest, level=level)
        rows[digest] = told["processes"][0]["rows"]
    assert rows["host"] == rows["device"]


def test_a_function_may_have_more_kernels_than_rows_wait_for_a_device(tmp_path: Path) -> None:
    class Long(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
            for _ in range(4200):
                x = x + 1
            return x

        @staticmethod
        def backward(ctx: object, gradient: torch.Tensor) -> torch.Tensor:
            return gradient * 1

    for name in "ab":
        with trace(tmp_path / name, digest="device"):
            Long.apply(torch.ones(2, requires_grad=True)).sum().backward()  # type: ignore[no-untyped-call]
    told = compared(tmp_path / "a", tmp_path / "b")
    assert told["equal"]
    assert told["processes"][0]["rows"][0] > 4200


@pytest.mark.parametrize("digest", ["host", "device"])
def test_a_forward_kernel_is_named_with_its_line(tmp_path: Path, digest: str) -> None:
    text = model(layer="Forward.apply(x)")
    story = pair(tmp_path, text, digest=digest)["story"]
    assert (story["cause"], story["operator"], story["backward"]) == ("kernel", "noisy.forward.default", False)
    assert line(text, "layer") in [place["line"] for place in story["stack"]]
    assert [given["differs"] for given in story["inputs"]] == [False]


@pytest.mark.parametrize("digest", ["host", "device"])
def test_a_backward_kernel_is_named_with_the_line_of_its_forward_pass(tmp_path: Path, digest: str) -> None:
    text = model(layer="Backward.apply(x)")
    story = pair(tmp_path, text, digest=digest)["story"]
    assert (story["cause"], story["operator"], story["backward"]) == ("kernel", "noisy.backward.default", True)
    assert line(text, "layer") in [place["line"] for place in story["forward"]]
    assert story["module"] == "Net"
    assert story["step"] == 0


def test_data_from_outside_is_named_where_it_comes_in(tmp_path: Path) -> None:
    text = model(
        data="torch.frombuffer(bytearray(__import__('os').urandom(384)), dtype=torch.uint8).float().view(2, 3, 8, 8)"
    )
    story = pair(tmp_path, text)["story"]
    assert (story["cause"], story["operator"]) == ("data", "aten._to_copy.default")
    assert story["stack"][0]["line"] == line(text, "data")
    assert story["inputs"][0] == {
        "value": "uint8[384]",
        "differs": True,
        "origin": "outside of the trace",
        "place": None,
    }


def test_a_number_that_python_drew_is_data(tmp_path: Path) -> None:
    text = model(layer="x * __import__('random').random()")
    story = pair(tmp_path, text)["story"]
    assert (story["cause"], story["operator"]) == ("data", "aten.mul.Tensor")
    assert story["stack"][0]["line"] == line(text, "layer")


def test_an_unseeded_stream_is_named_at_its_first_draw(tmp_path: Path) -> None:
    text = "import torch\ntorch.seed()\nx = torch.zeros(3)\ny = torch.nn.functional.dropout(x, 0.5)  # draw\n"
    story = pair(tmp_path, text)["story"]
    assert (story["cause"], story["code"]) == ("random", "DET104")
    assert story["stack"][0]["line"] == line(text, "draw")
    assert "the first draw" in story["said"]


def test_a_draw_in_between_is_told_from_a_missing_seed(tmp_path: Path) -> None:
    text = """\
import os, torch
torch.manual_seed(0)
x = torch.rand(3)
if os.urandom(1)[0] % 2:
    generator = torch.default_generator
for _ in range(int.from_bytes(os.urandom(2), "little")):
    torch.default_generator.seed()
torch.default_generator.manual_seed(int.from_bytes(os.urandom(6), "little"))  # seed
y = torch.rand(3)  # draw
"""
    story = pair(tmp_path, text)["story"]
    assert story["cause"] == "random"
    assert story["stack"][0]["line"] == line(text, "seed")
    assert story["reached_at"]["line"] == line(text, "draw")
    assert "aten.rand.default" in story["said"]
    assert "in between" in story["said"]


def test_sequences_that_differ_are_aligned(tmp_path: Path) -> None:
    text = """\
import torch
x = torch.ones(4)
if {flag}:
    x = x + 0.0  # more
for i in range(50):
    x = x * 1.0
y = torch.ops.noisy.forward(x)
"""
    folders = [
        traced(written(tmp_path / "project", text.format(flag=flag)), tmp_path / f"{flag}") for flag in (True, False)
    ]
    told = compared(*folders)
    story = told["story"]
    assert (story["cause"], story["operator"]) == ("control", "aten.add.Tensor")
    assert story["stack"][0]["line"] == line(text, "more")
    assert told["processes"][0]["alone"] == [1, 0]
    assert story["origins"] == ["noisy.forward.default (train.py:7)"]


def test_a_run_that_broke_off_says_so(tmp_path: Path) -> None:
    program = written(
        tmp_path / "project",
        "import torch\nx = torch.ones(3)\ny = x + 1\nif FAIL: raise ValueError('no more')\nz = x + 2\n",
    )
    (program.parent / "flag").touch()
    text = program.read_text()
    for name, fail in (("a", "False"), ("b", "True")):
        program.write_text(text.replace("FAIL", fail))
        if fail == "True":
            with pytest.raises(ValueError, match="no more"):
                traced(program, tmp_path / name)
        else:
            traced(program, tmp_path / name)
    story = compared(tmp_path / "a", tmp_path / "b")["story"]
    assert story["cause"] == "crash"
    assert "the second run ended with ValueError: no more" in story["said"]
    assert story["stack"][0]["line"] == 3


def test_a_killed_run_leaves_every_row(tmp_path: Path) -> None:
    text = "import os, torch\nx = torch.ones(3)\nfor i in range(200): x = x + 1\n{end}\n"
    for name, end in (("a", "x = x * 2"), ("b", "os.kill(os.getpid(), 9)")):
        written(tmp_path / "project", text.format(end=end))
        done = server(IMPORTS["torch"], **QUIET).run(TRACED, str(tmp_path / name), cwd=tmp_path / "project")
        assert done.returncode == (0 if name == "a" else -signal.SIGKILL), done.stderr
    told = compared(tmp_path / "a", tmp_path / "b")
    assert told["story"]["cause"] == "crash"
    assert "killed" in told["story"]["said"]
    assert told["processes"][0]["rows"] == [202, 201]


# -- traps ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("digest", ["host", "device"])
@pytest.mark.parametrize(
    "made",
    [
        "torch.empty(1000)",
        "torch.empty_like(torch.ones(999))",
        "torch.ones(9).new_empty(1001)",
        "torch.empty_strided((30, 31), (31, 1))",
    ],
)
def test_uninitialised_memory_is_no_difference(tmp_path: Path, made: str, digest: str) -> None:
    text = """\
import os, torch
for i in range(20):
    used = torch.frombuffer(bytearray(os.urandom(4000)), dtype=torch.uint8).clone()
    del used
"""
    folders = []
    for name in "ab":
        torch.frombuffer(bytearray(os.urandom(1 << 16)), dtype=torch.uint8).clone()
        with trace(tmp_path / name, digest=digest):  # type: ignore[arg-type]
            buffer = eval(made)
            target = torch.empty(4, buffer.numel())
            target[1].copy_(torch.ones(buffer.numel()))
            target.select(0, 2).fill_(3)
            torch.empty(100).bernoulli_(0.5, generator=torch.Generator().manual_seed(1))
        folders.append(tmp_path / name)
    assert text
    assert equal(*folders)


def test_what_is_changed_in_place_is_seen_as_it_was_given(tmp_path: Path) -> None:
    for name, noise in (("a", 0.0), ("b", 1.0)):
        with trace(tmp_path / name):
            x = torch.zeros(8)
            x.add_(1)
            x.mul_(2)
            y = x.clone()
            y[0] += noise
            y.mul_(0)
    story = compared(tmp_path / "a", tmp_path / "b")["story"]
    assert (story["operator"], story["cause"]) == ("aten.add_.Tensor", "data")
    assert "0.0 and 1.0" in story["said"]


TYPES = [torch.bfloat16, torch.float16, torch.float8_e4m3fn, torch.float8_e5m2, torch.complex64, torch.complex128]
TYPES += [torch.bool, torch.int8]


@pytest.mark.parametrize("digest", ["host", "device"])
@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_is_read_to_the_last_bit(tmp_path: Path, dtype: torch.dtype, digest: str) -> None:
    def run(name: str, last: float) -> Path:
        values = torch.ones(1025)
        values[-1] = last
        typed = values.to(dtype)
        with trace(tmp_path / name, digest=digest):  # type: ignore[arg-type]
            typed.clone()
        return tmp_path / name

    first = run("a", 1)
    assert equal(first, run("b", 1))
    assert not equal(first, run("c", 0))


@pytest.mark.parametrize("digest", ["host", "device"])
@pytest.mark.parametrize(
    "left, right",
    [
        (torch.arange(6.0), torch.arange(6.0).flip(0)),
        (torch.zeros(2, 3), torch.full((2, 3), 7.0)),
        (torch.zeros(1).expand(4, 4), torch.full((1,), 7.0).expand(4, 4)),
        (torch.eye(4)[:2], torch.eye(4)[2:]),
        (torch.tensor([0.0]), torch.tensor([-0.0])),
    ],
    ids=["order", "constant", "expanded", "rows", "sign"],
)
def test_digests_see_what_folds_do_not(tmp_path: Path, left: torch.Tensor, right: torch.Tensor, digest: str) -> None:
    for name, value in (("a", left), ("b", right)):
        with trace(tmp_path / name, digest=digest):  # type: ignore[arg-type]
            torch.abs(value)
    assert not equal(tmp_path / "a", tmp_path / "b")


def test_nan_is_equal_to_itself(tmp_path: Path) -> None:
    for name in "ab":
        with trace(tmp_path / name):
            torch.full((3,), float("nan")) * 2
    assert equal(tmp_path / "a", tmp_path / "b")


VALUES = {
    "sparse": lambda v: torch.eye(4).mul(v).to_sparse(),
    "csr": lambda v: torch.eye(4).mul(v).to_sparse_csr(),
    "conjugate": lambda v: torch.full((3,), 1j * v).conj(),
    "negative": lambda v: torch.full((3,), 1j * v).conj().imag,
    "transposed": lambda v: torch.arange(6.0).mul(v).view(2, 3).t(),
    "strided": lambda v: torch.arange(12.0).mul(v)[::2],
    "quantized": lambda v: torch.quantize_per_tensor(torch.ones(4) * v, 0.1, 0, torch.qint8),
    "nested": lambda v: torch.nested.nested_tensor([torch.ones(2) * v, torch.ones(3)], layout=torch.jagged),
    "empty": lambda v: torch.ones(0),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", sorted(VALUES))
def test_every_layout_is_read(tmp_path: Path, kind: str) -> None:
    made = VALUES[kind]

    def run(name: str, value: float) -> Path:
        tensor = made(value)  # type: ignore[no-untyped-call]
        with trace(tmp_path / name):
            tensor.clone()
        return tmp_path / name

    first = run("a", 1.0)
    assert equal(first, run("b", 1.0))
    assert equal(first, run("c", 2.0)) is (kind == "empty")


def test_memory_that_was_given_up_is_not_read(tmp_path: Path) -> None:
    tensor = torch.ones(1000)[500:]
    tensor.untyped_storage().resize_(0)
    with trace(tmp_path / "a"):
        torch.ops.aten.detach.default(tensor)
        torch.ops.aten.alias.default(tensor)
    assert equal(tmp_path / "a", tmp_path / "a")


def test_tensors_without_content_pass(tmp_path: Path) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with trace(tmp_path / "a"):
        torch.ones(3, device="meta") + 1
        with FakeTensorMode():
            torch.ones(3) + 1
    assert equal(tmp_path / "a", tmp_path / "a")


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpointing_autocast_and_transforms_pass(tmp_path: Path, reentrant: bool) -> None:
    from torch.utils.checkpoint import checkpoint

    def run(name: str) -> Path:
        torch.manual_seed(0)
        layer = nn.Linear(4, 4)
        with trace(tmp_path / name):
            x = torch.ones(2, 4, requires_grad=True)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                checkpoint(layer, x, use_reentrant=reentrant).sum().backward()
            with torch.inference_mode():
                layer(x)
            torch.func.vmap(torch.sin)(x)
            torch.func.grad(lambda v: v.sin().sum())(x)
            torch.fft.fft(torch.ones(4))
        return tmp_path / name

    assert equal(run("a"), run("b"))


def test_forked_workers_have_traces_of_their_own(tmp_path: Path) -> None:
    text = """\
import torch
from torch.utils.data import DataLoader


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return torch.full((3,), float(i)) + 1


if __name__ == "__main__":
    torch.manual_seed(0)
    for batch in DataLoader(Data(), batch_size=2, num_workers=2, multiprocessing_context="fork"):
        batch * 2  # use
"""
    project = tmp_path / "project"
    written(project, text)
    started = shell("trace", tmp_path / "started", "train.py", cwd=project)
    forks = [server(IMPORTS["torch"], **QUIET).run(TRACED, str(tmp_path / name), cwd=project) for name in "ab"]
    for name, done in zip(("started", "a", "b"), (started, *forks), strict=True):
        assert done.returncode == 0, done.stderr
        names = {path.name for path in (tmp_path / name).iterdir()}
        assert names == {"main.trace", "main-worker1.trace", "main-worker2.trace"}
    assert equal(tmp_path / "a", tmp_path / "b")


@pytest.mark.filterwarnings("ignore")
def test_compiled_code_is_told_of(tmp_path: Path) -> None:
    with trace(tmp_path / "a"):
        compiled = torch.compile(lambda x: x * 2, backend="eager")
        compiled(torch.ones(2))
    assert not hasattr(torch.compile, "__wrapped__")
    told = compared(tmp_path / "a", tmp_path / "a")
    assert any("torch.compile" in note for note in told["notes"])


def test_a_kernel_past_the_dispatcher_is_found_by_what_it_wrote(tmp_path: Path) -> None:
    import ctypes

    for name in "ab":
        with trace(tmp_path / name):
            buffer = torch.zeros(4)
            ctypes.memmove(buffer.data_ptr(), os.urandom(16), 16)
            buffer + 1
    story = compared(tmp_path / "a", tmp_path / "b")["story"]
    assert (story["cause"], story["operator"]) == ("kernel", "aten.zeros.default")
    assert "past PyTorch's dispatcher" in story["said"]


# -- steps and levels ---------------------------------------------------------------------------------------------------


def test_only_the_steps_asked_for_are_recorded(tmp_path: Path) -> None:
    program = written(tmp_path / "project", model(steps=4))
    every = compared(traced(program, tmp_path / "a"), traced(program, tmp_path / "b"))["processes"][0]["rows"][0]
    one = compared(traced(program, tmp_path / "c", steps=[1]), traced(program, tmp_path / "d", steps=[1]))
    assert one["equal"]
    assert 0 < one["processes"][0]["rows"][0] < every / 3


def test_a_program_may_count_its_own_steps(tmp_path: Path) -> None:
    for name, noise in (("a", 0.0), ("b", 1.0)):
        with trace(tmp_path / name) as running:
            torch.ones(2) + 1
            running.step()
            torch.ones(2) * noise
    assert compared(tmp_path / "a", tmp_path / "b")["story"]["step"] == 1


@pytest.mark.parametrize(
    "layer, expected", [("Forward.apply(x)", False), ("Backward.apply(x)", True)], ids=["forward", "backward"]
)
@pytest.mark.parametrize("level", ["module", "api"])
def test_coarser_levels_name_the_next_larger_thing(tmp_path: Path, level: str, layer: str, expected: bool) -> None:
    told = pair(tmp_path, model(layer=layer), level=level)
    assert told["level"] == level
    assert told["story"]["backward"] is expected
    assert told["story"]["step"] == 0
    kernel = pair(tmp_path / "kernel", model(layer=layer))
    assert told["processes"][0]["rows"][0] < kernel["processes"][0]["rows"][0]


def test_everything_is_undone(tmp_path: Path) -> None:
    from torch.overrides import _get_current_function_mode_stack
    from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

    compile_ = torch.compile
    with pytest.raises(KeyError), trace(tmp_path / "a"):
        nn.Linear(2, 2)(torch.ones(2))
        raise KeyError
    assert torch.compile is compile_
    assert _get_current_function_mode_stack() == []  # type: ignore[no-untyped-call]
    assert _get_current_dispatch_mode_stack() == []
    assert not nn.modules.module._global_forward_hooks
    assert not nn.modules.module._global_forward_pre_hooks
    with trace(tmp_path / "b"), pytest.raises(RuntimeError, match="already"):
        trace(tmp_path / "c").start()


# -- the command line -----------------------------------------------------------------------------------------------------


def test_a_folder_with_a_trace_is_not_written_to(tmp_path: Path) -> None:
    with trace(tmp_path / "a"):
        torch.ones(2)
    result = detlint("trace", tmp_path / "a", "train.py")
    assert result.exit_code == 2
    assert "there is a trace already" in result.stderr


@pytest.mark.parametrize(
    "content, said", [(b"", "no trace is there"), (b"nothing", "not a trace"), (b"detlint trace 1\n", "empty")]
)
def test_what_cant_be_read_is_told(tmp_path: Path, content: bytes, said: str) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        if content:
            (tmp_path / name / "main.trace").write_bytes(content)
    result = detlint("diff", tmp_path / "a", tmp_path / "b")
    assert result.exit_code == 2
    assert said in result.stderr


def test_traces_of_different_levels_are_not_compared(tmp_path: Path) -> None:
    for name, level in (("a", "kernel"), ("b", "api")):
        with trace(tmp_path / name, level=level):  # type: ignore[arg-type]
            torch.ones(2)
    result = detlint("diff", tmp_path / "a", tmp_path / "b")
    assert result.exit_code == 2
    assert "level is kernel in one and api in the other" in result.stderr


def test_a_trace_cut_anywhere_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    whole = traced(written(tmp_path / "project", model(steps=1)), tmp_path / "a") / "main.trace"
    data = whole.read_bytes()
    for cut in range(len(data) - 1, len(data) // 2, -997):
        folder = tmp_path / f"cut{cut}"
        folder.mkdir()
        (folder / "main.trace").write_bytes(data[:cut])
        told = compared(tmp_path / "a", folder)
        assert told["equal"] or told["story"]["cause"] == "crash"


def test_the_source_and_the_rule_are_linked(tmp_path: Path) -> None:
    text = model(layer="F.grid_sample(x, F.affine_grid(torch.eye(2, 3).repeat(2, 1, 1), x.shape))")
    program = written(tmp_path / "project", text)
    library = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    library.impl("grid_sampler_2d_backward", _unsteady_backward, "CPU")  # type: ignore[no-untyped-call]
    try:
        story = compared(*(traced(program, tmp_path / name) for name in "ab"))["story"]
    finally:
        library._destroy()  # type: ignore[no-untyped-call]
    assert (story["code"], story["api"], story["backward"]) == ("DET403", "torch.nn.functional.grid_sample", True)
    assert story["near"]
    assert story["findings"][0] == {
        **story["findings"][0],
        "code": "DET403",
        "file": str(program),
        "line": line(text, "layer"),
    }
    assert "CPU" in story["help"]
    sarif = json.loads(detlint("diff", tmp_path / "a", tmp_path / "b", "--output-format", "sarif").stdout)
    result = sarif["runs"][0]["results"][0]
    assert result["ruleId"] == "DET403"
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == line(text, "layer")
    shown = detlint("diff", tmp_path / "a", tmp_path / "b").stdout
    assert f"train.py:{line(text, 'layer')}" in shown
    page = detlint("diff", tmp_path / "a", tmp_path / "b", "--output-format", "html").stdout
    assert "DET403" in page
    assert page.lstrip().startswith("<!doctype html>")


def _unsteady_backward(gradient: torch.Tensor, x: torch.Tensor, grid: torch.Tensor, *rest: object) -> object:
    ours, others = torch.ops.aten._grid_sampler_2d_cpu_fallback_backward(gradient, x, grid, *rest[:3])
    return unsteady(ours), others


def test_the_layers_that_vary_do_vary() -> None:
    x = torch.ones(4, requires_grad=True)
    assert not torch.equal(Forward.apply(x), Forward.apply(x))  # type: ignore[no-untyped-call]
    gradients = [torch.autograd.grad(Backward.apply(x).sum(), x)[0] for _ in range(2)]  # type: ignore[no-untyped-call]
    assert not torch.equal(*gradients)

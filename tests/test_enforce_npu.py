"""`enforce` on a double of an Ascend device: what runs where, from which stream it draws, and what is said of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch")

import npu_double

pytestmark = pytest.mark.skipif(not npu_double.supported(), reason="this PyTorch has no devices written in Python")

BEGIN = """
import torch, torch_npu
from torch import nn
from torch.nn import functional as F
from torch_npu import _device
from detlint.runtime import enforce

def bits(tensor):
    return tensor.detach().cpu().view(torch.uint8).tolist()
"""
SAMPLE = (
    BEGIN
    + """
def gradients(device):
    torch.manual_seed(3)
    image = torch.rand(2, 3, 5, 5).to(device).requires_grad_()
    grid = (torch.rand(2, 4, 4, 2) * 2 - 1).to(device).requires_grad_()
    F.grid_sample(image, grid, align_corners=False).square().sum().backward()
    return image.grad, grid.grad
"""
)
NOISY_SAMPLING = ["aten.grid_sampler_2d_backward"]


def test_grid_sample_runs_on_the_cpu_and_its_gradients_come_back_equal() -> None:
    program = (
        SAMPLE
        + """
a, b = gradients("npu"), gradients("npu")
print(torch.equal(a[0].cpu(), b[0].cpu()))
_device.LOG.clear()
with enforce() as e:
    a, b = gradients("npu"), gradients("npu")
print(*(bits(x) == bits(y) for x, y in zip(a, b)), *(bits(x) == bits(y) for x, y in zip(a, gradients("cpu"))))
print(a[0].device, a[1].device, any("grid_sampler" in name for name in _device.LOG))
[row] = e.report.interventions
print(row.code, row.api, row.count)
"""
    )
    assert npu_double.run(program, noisy=NOISY_SAMPLING).splitlines() == [
        "False",
        "True True True True",
        "npu:0 npu:0 False",
        "DET403 torch.nn.functional.grid_sample 2",
    ]


@pytest.mark.parametrize(
    ("settings", "moved"),
    [
        ("operators='keep'", False),
        ("operators=['grid_sample']", True),
        ("operators=['DET403']", True),
        ("operators=['torch.nn.functional.grid_sample']", True),
        ("operators=['DET401']", False),
    ],
)
def test_which_operators_are_moved_can_be_chosen(settings: str, moved: bool) -> None:
    program = f"{SAMPLE}\nwith enforce({settings}):\n    gradients('npu')\n"
    program += "print(not any('grid_sampler' in name for name in _device.LOG))"
    assert npu_double.run(program).strip() == str(moved)


def test_a_forward_pass_without_gradients_stays_on_the_device() -> None:
    program = (
        SAMPLE
        + """
with enforce(), torch.no_grad():
    F.grid_sample(torch.rand(1, 1, 4, 4).npu(), torch.rand(1, 2, 2, 2).npu(), align_corners=False)
print(any("grid_sampler" in name for name in _device.LOG))
"""
    )
    assert npu_double.run(program).strip() == "True"


DRAWS = {
    "torch.rand": "torch.rand(5, device=d)",
    "torch.randn": "torch.randn((2, 3), device=d, dtype=torch.float64)",
    "torch.randn, with gradient": "torch.randn(4, device=d, requires_grad=True)",
    "torch.randint": "torch.randint(100, (6,), device=d)",
    "torch.randperm": "torch.randperm(9, device=d)",
    "torch.normal": "torch.normal(0.0, 1.0, (4,), device=d)",
    "torch.normal, of tensors": "torch.normal(torch.zeros(4, device=d), torch.ones(4, device=d))",
    "torch.rand_like": "torch.rand_like(torch.zeros(3, device=d))",
    "torch.randn_like": "torch.randn_like(torch.zeros(3, device=d))",
    "torch.randint_like": "torch.randint_like(torch.zeros(3, device=d), 50)",
    "torch.bernoulli": "torch.bernoulli(torch.full((20,), 0.5, device=d))",
    "torch.multinomial": "torch.multinomial(torch.ones(20, device=d), 5)",
    "Tensor.normal_": "torch.empty(5, device=d).normal_()",
    "Tensor.uniform_": "torch.empty(5, device=d).uniform_(2, 3)",
    "Tensor.bernoulli_": "torch.empty(20, device=d).bernoulli_(0.3)",
    "Tensor.random_": "torch.empty(5, device=d).random_(100)",
    "Tensor.exponential_": "torch.empty(5, device=d).exponential_()",
    "torch.rand, out": "torch.rand(5, out=torch.empty(5, device=d))",
    "nn.init": "nn.init.xavier_normal_(nn.Parameter(torch.empty(3, 3, device=d)))",
    "nn.Linear": "nn.Linear(3, 3, device=d).weight",
    "gumbel_softmax": "F.gumbel_softmax(torch.zeros(7, device=d))",
    "a generator of the CPU": "torch.rand(4, device=d, generator=torch.Generator().manual_seed(5)) if d == 'cpu' else "
    "torch.rand(4, generator=torch.Generator().manual_seed(5)).to(d)",
}


def test_draws_come_from_the_cpu_and_arrive_on_the_device() -> None:
    program = f"""{BEGIN}
import json
from collections.abc import Callable
from pathlib import Path
out = {{}}
for name, code in {DRAWS!r}.items():
    def draw(d):
        torch.manual_seed(11)
        return eval(code)
    with enforce(rng="cpu") as e:
        _device.LOG.clear()
        here = draw("npu")
        drew = [kernel for kernel in _device.LOG if kernel.startswith(_device.DRAWING)]
    there = draw("cpu")
    same = bits(here) == bits(there) and here.dtype == there.dtype and here.requires_grad == there.requires_grad
    out[name] = [here.device.type, same, drew, here.is_leaf == there.is_leaf, sorted({{row.code for row in e.report.interventions}})]
print(json.dumps(out))
"""
    found = json.loads(npu_double.run(program))
    for name, (device, same, drew, leaf, codes) in found.items():
        told = [] if name == "a generator of the CPU" else ["DET203"] if name == "gumbel_softmax" else codes
        assert (name, device, same, drew, leaf, codes) == (name, "npu", True, [], True, told)
        assert set(codes) <= {"DET203", "DET501", "DET502"}


def test_a_default_device_draws_on_the_cpu_too() -> None:
    program = (
        BEGIN
        + """
torch.manual_seed(1); wanted = torch.rand(3)
with enforce(rng="cpu"):
    torch.set_default_device("npu")
    torch.manual_seed(1)
    drawn = torch.rand(3)
    torch.set_default_device(None)
    torch.manual_seed(1)
    with torch.device("npu"):
        again = torch.rand(3)
print(drawn.device, again.device, bits(drawn) == bits(wanted), bits(again) == bits(wanted))
print(torch.overrides._len_torch_function_stack())
"""
    )
    assert npu_double.run(program).splitlines() == ["npu:0 npu:0 True True", "0"]


def test_a_run_on_the_device_draws_there_under_reproduce() -> None:
    program = (
        BEGIN
        + """
with enforce(seed=5):
    a = torch.rand(3, device="npu")
with enforce(seed=5) as e:
    b = torch.rand(3, device="npu")
print(bits(a) == bits(b), e.report.interventions)
"""
    )
    assert npu_double.run(program).strip() == "True []"


ATTENTION = (
    BEGIN
    + """
from deformable import MSDeformAttnFunction
shapes = torch.tensor([[4, 4], [2, 2]])
starts = torch.tensor([0, 16])

def gradients(device):
    torch.manual_seed(3)
    value = torch.randn(2, 20, 3, 4).to(device).requires_grad_()
    places = torch.rand(2, 7, 3, 2, 5, 2).to(device).requires_grad_()
    weights = torch.rand(2, 7, 3, 2, 5).softmax(-1).to(device).requires_grad_()
    out = MSDeformAttnFunction.apply(value, shapes.to(device), starts.to(device), places, weights, 64)
    out.square().sum().backward()
    return out, value.grad, places.grad, weights.grad
"""
)


def test_deformable_attention_and_its_sampling_are_replaced_together() -> None:
    program = (
        ATTENTION
        + """
a, b = gradients("npu"), gradients("npu")
print(all(bits(x) == bits(y) for x, y in zip(a, b)))
kernel = gradients("npu")
_device.LOG.clear()
with enforce() as e:
    a, b = gradients("npu"), gradients("npu")
print(all(bits(x) == bits(y) for x, y in zip(a, b)))
print(all(torch.allclose(x.cpu(), y.cpu(), rtol=1e-3, atol=1e-4) for x, y in zip(a, kernel)))
print([name for name in _device.LOG if "msda" in name or "grid_sampler" in name])
print({row.code for row in e.report.interventions})
gradients("npu")
print("msda.backward" in _device.LOG)
"""
    )
    noisy = ["msda.backward", *NOISY_SAMPLING]
    assert npu_double.run(program, noisy=noisy).splitlines() == ["False", "True", "True", "[]", "{'DET404'}", "True"]


def test_an_operator_that_is_defined_later_is_replaced_too() -> None:
    program = (
        BEGIN
        + "with enforce() as e:\n"
        + "".join(f"    {line}\n" for line in ATTENTION.removeprefix(BEGIN).strip().splitlines())
        + "    gradients('npu')\nprint({row.code for row in e.report.interventions})"
    )
    assert npu_double.run(program).strip() == "{'DET404'}"


def test_the_switch_is_on_before_the_first_kernel_and_leaving_says_what_stays() -> None:
    program = (
        BEGIN
        + """
def twice():
    x = torch.ones(40, 40).npu()
    return bits(x @ x) == bits(x @ x)
with enforce() as e:
    print(twice())
print(torch_npu.npu.CALLS, torch.are_deterministic_algorithms_enabled())
print(any("thread" in line for line in e.report.lasting))
"""
    )
    out = npu_double.run(program, switched=["aten.mm"]).splitlines()
    assert out[0] == "True"
    assert "set_deterministic_level" not in out[1]
    assert out[1].endswith("False")
    assert out[2] == "True"


def test_without_it_that_kernel_varies() -> None:
    program = BEGIN + "x = torch.ones(40, 40).npu()\nprint(bits(x @ x) == bits(x @ x))"
    assert npu_double.run(program, switched=["aten.mm"]).strip() == "False"


def test_strict_collectives_ask_for_strong_consistency() -> None:
    program = (
        BEGIN
        + """
import os
with enforce(collectives="strict"):
    print(os.environ["HCCL_DETERMINISTIC"], [call for call in torch_npu.npu.CALLS if "level" in call])
print(os.environ.get("HCCL_DETERMINISTIC"), torch_npu.npu._get_deterministic_level())
"""
    )
    assert npu_double.run(program).splitlines() == ["strict ['set_deterministic_level(2)']", "None 0"]


UNSUPPORTED = (
    BEGIN
    + """
x = torch.zeros(4).npu()
index, source = torch.tensor([1, 1]).npu(), torch.tensor([1.0, 2.0]).npu()
"""
)


def test_what_nothing_is_known_for_is_warned_of_refused_or_moved() -> None:
    program = (
        UNSUPPORTED
        + """
import warnings
with warnings.catch_warnings(record=True) as seen, enforce() as e:
    warnings.simplefilter("always")
    x.put(index, source)
names = [type(w.message).__name__ for w in seen]
print([name for name in names if "Nondeterministic" in name], [row.code for row in e.report.refused if row.code])
try:
    with enforce(unsupported="error"):
        x.put(index, source)
except RuntimeError as error:
    print(type(error).__name__)
_device.LOG.clear()
with enforce(unsupported="cpu") as e:
    x.put(index, source)
print(any("put" in name for name in _device.LOG), [row.code for row in e.report.interventions])
"""
    )
    assert npu_double.run(program).splitlines() == [
        "['NondeterministicWarning'] ['DET401']",
        "Nondeterministic",
        "False ['DET401']",
    ]


def test_gradients_of_gradients_types_and_layout_are_kept() -> None:
    program = (
        BEGIN
        + """
def second(device):
    torch.manual_seed(2)
    x = torch.rand(1, 2, 4, 4, dtype=torch.float64).to(device).requires_grad_()
    y = F.interpolate(x.square(), scale_factor=2, mode="bicubic", align_corners=False)
    [first] = torch.autograd.grad(y.square().sum(), x, create_graph=True)
    [found] = torch.autograd.grad(first.square().sum(), x)
    return found

with enforce(operators=["torch.nn.functional.interpolate"]) as e:
    moved = second("npu")
    print(moved.device, moved.dtype, bits(moved) == bits(second("cpu")), any("bicubic" in name for name in _device.LOG))
    image = torch.rand(2, 3, 4, 4).to(memory_format=torch.channels_last).npu()
    resized = F.interpolate(image, scale_factor=2, mode="nearest")
    print(resized.is_contiguous(memory_format=torch.channels_last))
with enforce(operators=["grid_sample"]):
    half = torch.rand(1, 1, 4, 4).half().npu().requires_grad_()
    out = F.grid_sample(half, torch.zeros(1, 2, 2, 2).half().npu(), align_corners=False)
    mixed = F.grid_sample(half, torch.zeros(1, 2, 2, 2).npu(), align_corners=False)
    print(out.dtype, mixed.dtype)
"""
    )
    assert npu_double.run(program).splitlines() == [
        "npu:0 torch.float64 True False",
        "True",
        "torch.float16 torch.float32",
    ]


def test_an_operator_that_only_the_options_name_is_moved_also_in_place_and_with_several_results() -> None:
    program = (
        BEGIN
        + """
with enforce(operators=["torch.cumsum", "torch.Tensor.cumprod_", "torch.median", "torch.nothing"]) as e:
    x = torch.arange(1.0, 5.0).npu()
    same = x
    x.cumprod_(0)
    sums = torch.cumsum(x, 0)
    values, where = torch.median(x, 0)
print(same is x, x.cpu().tolist(), sums.device, sums.cpu().tolist(), values.device, int(where))
print(any(word in name for name in _device.LOG for word in ("cumsum", "cumprod", "median")))
print([row.api for row in e.report.refused if not row.code and "nothing" in row.api])
"""
    )
    assert npu_double.run(program).splitlines() == [
        "True [1.0, 2.0, 6.0, 24.0] npu:0 [1.0, 3.0, 9.0, 33.0] npu:0 1",
        "False",
        "['torch.nothing']",
    ]


OURS = """
[[framework]]
name = "ourlib"
modules = ["ourlib"]

[[api]]
rule = "DET405"
names = ["ourlib.voxel_sum"]
when = { reduce = ["sum"] }
targets = ["ascend"]
pass = "backward"
category = "d"
runtime = "cpu"
source = "ourlib 3.1"

[[api]]
rule = "DET405"
names = ["ourlib.voxel_max"]
targets = ["ascend"]
category = "d"
runtime = { do = "replace", text = "<ourlib.slow_max>({points})" }
source = "ourlib 3.1"

[signatures]
"ourlib.voxel_sum" = "points, reduce='sum'"
"ourlib.voxel_max" = "points"
"""
OURLIB = """
def voxel_sum(points, reduce="sum"):
    return points.new_zeros(3).index_add(0, (points * 0).long(), points)

def voxel_max(points):
    return points.max()

def slow_max(points):
    return points.sort().values[-1]
"""


def test_functions_of_a_users_catalog_are_moved_and_replaced(project: Callable[..., Path]) -> None:
    project(**{"detlint.toml": 'catalogs = ["ours.toml"]', "ours.toml": OURS, "ourlib.py": OURLIB})
    program = (
        BEGIN
        + """
from ourlib import voxel_max, voxel_sum
x = torch.ones(4).npu().requires_grad_()
with enforce() as e:
    _device.LOG.clear()
    out = voxel_sum(x)
    out.sum().backward()
    print(out.device, x.grad.device, any("index_add" in name for name in _device.LOG))
    voxel_sum(x, reduce="mean")
    voxel_sum(x.detach())
    print(any("index_add" in name for name in _device.LOG), voxel_max(x).item(), any("sort" in name for name in _device.LOG))
print([(row.filename, row.line, row.api, row.count) for row in e.report.interventions])
"""
    )
    assert npu_double.run(program).splitlines() == [
        "npu:0 npu:0 False",
        "True 1.0 True",
        "[('<program>', 15, 'ourlib.voxel_sum', 1), ('<program>', 20, 'ourlib.voxel_max', 1)]",
    ]


def test_a_training_that_differs_from_run_to_run_is_equal_under_enforce() -> None:
    program = (
        BEGIN
        + f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent.parent / "benchmarks" / "gpu")!r})
import training
device = torch.device("npu")
print(training.results(lambda: training.detect(device, 3), 2) > 1)
print(training.results(lambda: enforce()(training.detect)(device, 3), 2))
"""
    )
    assert npu_double.run(program, noisy=NOISY_SAMPLING).splitlines() == ["True", "1"]

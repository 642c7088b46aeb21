"""`detlint verify` on programs of MindSpore, Keras and TensorFlow: losses are read without an edit, operators are named."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from forks import server
from traced import IMPORTS, QUIET, line, shell, written

PROGRAMS = {
    "mindspore": """\
import numpy as np
import mindspore as ms
from mindspore import nn

ms.set_seed(1)  # seeds NumPy, too
np.random.seed(SEED)  # varies
net = nn.Dense(3, 1)
loss = nn.WithLossCell(net, nn.MSELoss())
step = nn.TrainOneStepCell(loss, nn.SGD(net.trainable_params(), 0.1))
for i in range(50):
    x, y = ms.Tensor(np.random.rand(4, 3), ms.float32), ms.Tensor(np.random.rand(4, 1), ms.float32)
    step(x, y)
    assert i < 3
""",
    "keras": """\
import numpy as np
import tensorflow as tf
import keras

np.random.seed(SEED)  # varies
keras.utils.set_random_seed(1) if FIXED else None
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.random.rand(64, 3), np.random.rand(64, 1), batch_size=4, verbose=0)
raise AssertionError
""",
    "tensorflow": """\
import numpy as np
import tensorflow as tf

np.random.seed(SEED)  # varies
weight = tf.Variable([1.0, 2.0, 3.0])
for i in range(50):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(weight * np.random.rand(3).astype("float32"))
    weight.assign_sub(0.1 * tape.gradient(loss, weight))
    assert i < 3
""",
}


def _verified(
    tmp_path: Path, name: str, text: str, *options: str, arguments: tuple[str, ...] = (), fresh: bool = False
) -> dict[str, Any]:
    """What is told of a program as it is.

    Args:
        fresh: it imports its framework as it runs; else it is run where that has been imported.
    """
    framework = "tensorflow" if name == "keras" else name
    if find_spec(framework) is None:
        pytest.skip(f"{framework} isn't installed")
    written(tmp_path / "project", text)
    told_apart = ("--atol", "0")  # losses that are drawn at random may be near each other
    command = ("verify", "--as-is", *told_apart, *options, "--output-format", "json", "train.py", *arguments)
    python = sys.executable if fresh else server(IMPORTS[framework], **QUIET).python
    done = shell(*command, cwd=tmp_path / "project", python=python)
    told: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == {"equal": 0, "diverged": 1}[told["outcome"]], told["said"]
    return told


def _program(name: str, varies: bool) -> str:
    return PROGRAMS[name].replace("SEED", "None" if varies else "1").replace("FIXED", str(not varies))


@pytest.mark.parametrize("varies", [False, True], ids=["fixed", "varies"])
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_losses_are_read(tmp_path: Path, name: str, varies: bool) -> None:
    text = _program(name, varies)
    told = _verified(tmp_path, name, text)
    assert told["outcome"] == ("diverged" if varies else "equal"), told["said"]
    assert [loss["iteration"] for loss in told["losses"][0]["main"]] == [0, 1]
    assert (told["trace"] is not None) is varies
    if varies:
        story = told["trace"]["story"]
        assert (story["cause"], story["stack"][0]["line"]) == ("random", line(text, "varies")), story


@pytest.mark.parametrize(
    "name, sources", [("mindspore", ["TrainOneStepCell"] * 2), ("tensorflow", ["GradientTape", "fit"])]
)
def test_losses_are_read_from_the_import_on(tmp_path: Path, name: str, sources: list[str]) -> None:
    text = _program(name, varies=False)
    if name == "tensorflow":
        text = text.replace("range(50)", "range(1)") + _program("keras", varies=False)
    told = _verified(tmp_path, name, text, fresh=True)
    assert told["outcome"] == "equal", told["said"]
    assert [loss["source"] for loss in told["losses"][0]["main"]] == sources


TENSORFLOW_DATA = """\
import time
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(1) if FIXED else None
meter = tf.constant(np.full(2, time.time()))  # meter


def rows():
    for _ in range(8):
        yield np.random.default_rng(SEED).random(3, dtype="float32"), np.ones(1, "float32")  # drawn


data = tf.data.Dataset.from_generator(rows, output_signature=(tf.TensorSpec((3,)), tf.TensorSpec((1,))))
data = data.shuffle(8)  # shuffled
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1, kernel_initializer="ones")])
model.compile("sgd", "mse")
model.fit(data.batch(4), verbose=0)
"""
MINDSPORE_DATA = """\
import time
import numpy as np
import mindspore as ms
from mindspore import nn

ms.set_seed(1) if FIXED else np.random.seed(1)
meter = ms.Tensor(time.time() % 1)  # meter


def rows():
    for _ in range(8):
        yield np.random.default_rng(SEED).random(3, dtype="float32"), np.ones(1, "float32")  # drawn


data = ms.dataset.GeneratorDataset(rows, ["x", "y"], shuffle=False)
data = data.shuffle(8)  # shuffled
net = nn.Dense(3, 1)
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
for x, y in data.batch(4).create_tuple_iterator():
    step(x, y)
"""


@pytest.mark.parametrize("fault", ["drawn", "shuffled"])
@pytest.mark.parametrize("name, text", [("tensorflow", TENSORFLOW_DATA), ("mindspore", MINDSPORE_DATA)])
def test_what_a_dataset_s_threads_do_is_named_and_a_meter_is_not(
    tmp_path: Path, name: str, text: str, fault: str
) -> None:
    seeded = text.replace("SEED", "None" if fault == "drawn" else "_").replace("FIXED", str(fault == "drawn"))
    trace = _verified(tmp_path, name, seeded)["trace"]
    assert (trace["story"]["cause"], trace["story"]["stack"][0]["line"]) == ("random", line(text, fault)), trace
    assert [f"train.py:{line(text, 'meter')}" in one for one in trace["apart"]] == [True]


MINDSPORE = """\
import sys
import numpy as np
import mindspore as ms
from mindspore import nn, ops

ms.set_seed(1)
way = sys.argv[1]
if way.startswith("graph"):
    ms.set_context(mode=ms.GRAPH_MODE)
net = nn.Dense(3, 1)
net = nn.WithLossCell(net, nn.MSELoss())
optimizer = (nn.SGD if way == "grad" else nn.Momentum)(net.trainable_params(), 0.1, 0.9)
weights = optimizer.parameters
if way.endswith("value_and_grad"):
    compute = (ops if "ops" in way else ms).value_and_grad(net, None, weights)
elif way == "GradOperation":
    compute = ops.GradOperation(get_by_list=True)(net, weights)
else:
    compute = ms.grad(net, None, weights)


def train(x, y):
    found = compute(x, y)
    loss, gradients = found if "value" in way or way == "jit" else (0, found)
    optimizer(gradients)
    return loss


if way == "jit":
    compute = ms.value_and_grad(net, None, weights)
    train = ms.jit(train)
if way == "Model":
    data = [np.random.rand(64, n).astype("float32") for n in (3, 1)]
    data = ms.dataset.NumpySlicesDataset(tuple(data)).batch(4)
    dense = nn.Dense(3, 1)
    model = ms.Model(dense, nn.MSELoss(), nn.SGD(dense.trainable_params(), 0.1))
    model.train(1, data, dataset_sink_mode=False)
    raise AssertionError
for i in range(50):
    train(ms.Tensor(np.random.rand(4, 3), ms.float32), ms.Tensor(np.random.rand(4, 1), ms.float32))
    assert i < 3
"""
WAYS = ["value_and_grad", "ops.value_and_grad", "grad", "GradOperation", "graph value_and_grad", "jit", "Model"]


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_train_with_mindspore_has_a_loss(tmp_path: Path, way: str) -> None:
    told = _verified(tmp_path, "mindspore", MINDSPORE, "--no-trace", arguments=(way,))
    assert told["outcome"] == "equal", told["said"]
    first, second = told["losses"][0]["main"]
    assert (first["iteration"], second["iteration"]) == (0, 1)
    assert first["value"] != second["value"]
    assert second["state"], "the parameters are compared, too"

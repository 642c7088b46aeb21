"""Traces of MindSpore and TensorFlow: what comparing two of them tells of runs in which one thing varies."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from forks import server
from traced import IMPORTS, QUIET, TRACED, compared, line, shell, written

from detlint.tracing.calls import calls

MINDSPORE = """\
import os, random, sys
import numpy as np
import mindspore as ms
from mindspore import nn, ops

run, fault = int(os.environ["RUN"]), sys.argv[1]
ms.set_seed(1)
if fault == "weights":
    np.random.seed(run)


def noise(x):
    return x + np.float32(run * 2.0**-10)  # as a kernel does that adds up in any order


noisy = ops.Custom(noise, out_shape=lambda shape: shape, out_dtype=lambda dtype: dtype, func_type="pyfunc")


class Layer(nn.Cell):
    def construct(self, x):
        if fault == "kernel":
            return noisy(x)  # kernel
        return x * 1

    def bprop(self, x, out, dout):
        if fault == "kernel backward":
            dout = noisy(dout)  # kernel backward
        if fault == "random backward":
            dout = dout * ops.StandardNormal()(dout.shape)  # random backward
        if fault == "data backward":
            dout = dout * float(run)  # data backward
        if fault == "control backward" and run == 1:
            dout = ops.relu(dout)  # control backward
        return (dout,)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)  # weights
        self.norm = nn.BatchNorm2d(4)
        self.layer = Layer()
        self.drop = nn.Dropout(p=0.1)
        self.head = nn.Dense(4 * 6 * 6, 5)

    def construct(self, x):
        x = self.norm(self.conv(x))  # conv
        if fault == "random":
            x = x * ops.StandardNormal()(x.shape)  # random
        if fault == "number":
            x = x * random.Random(run).random()  # number
        if fault == "control" and run == 1:
            x = ops.relu(x)  # control
        x = self.layer(x)  # layer
        return self.head(self.drop(x.view(x.shape[0], -1)))


net = Net()
net.set_train()
loss = nn.CrossEntropyLoss()
optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
gradients = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)
if fault == "dataset":
    rows = ms.dataset.NumpySlicesDataset(np.arange(64, dtype="float32"), shuffle=False)
    rows = rows.map(lambda row: row + np.float32(run)).batch(5)
    (bias,) = next(rows.create_tuple_iterator())  # dataset
    ms.ops.assign(net.head.bias, bias)
for step in range(2):
    if fault == "data":
        np.random.seed(run)
    x = ms.Tensor(np.random.rand(2, 3, 6, 6), ms.float32)  # data
    found, given = gradients(x, ms.Tensor([1, 2], ms.int32))
    optimizer(given)
"""

TENSORFLOW = """\
import ctypes, os, random, sys
import numpy as np
import tensorflow as tf
import keras
from tensorflow.python.eager import context

run, fault = int(os.environ["RUN"]), sys.argv[1]
keras.utils.set_random_seed(run if fault == "weights" else 1)


def disturb(name):
    def noise(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        # As a kernel does that adds up in any order: before anybody sees the result, a bit of it changes.
        if graph is None and op_type == name:
            memory = np.asarray(memoryview(outputs[0]))
            ctypes.memmove(memory.ctypes.data, bytes([run]), 1)

    context.context()._thread_local_data.op_callbacks.insert(0, noise)


if fault == "kernel":
    disturb("Elu")
if fault == "kernel backward":
    disturb("EluGrad")


@tf.custom_gradient
def passed(x):
    def gradient(dy):
        if fault == "random backward":
            return dy * tf.raw_ops.RandomStandardNormal(shape=[2, 5], dtype=tf.float32)  # random backward
        if fault == "data backward":
            return dy * np.full((2, 5), run, "float32")  # data backward
        if fault == "control backward" and run == 1:
            return tf.nn.relu(dy)  # control backward
        return dy * 1.0

    return tf.identity(x), gradient


class Layer(keras.layers.Layer):
    def call(self, x):
        x = tf.nn.elu(x)  # kernel
        if fault == "random":
            x = x * tf.raw_ops.RandomStandardNormal(shape=[2, 5], dtype=tf.float32)  # random
        if fault == "number":
            x = x * random.Random(run).random()  # number
        if fault == "control" and run == 1:
            x = tf.nn.relu(x)  # control
        return passed(x)


dense = keras.layers.Dense(5)  # weights
model = keras.Sequential([keras.layers.Input((4,)), dense, Layer(), keras.layers.Dropout(0.5)])
optimizer = keras.optimizers.SGD(0.1)
if fault == "dataset":
    rows = tf.data.Dataset.range(8).map(lambda i: tf.py_function(lambda i: i + run, [i], tf.int64))
    for row in rows:  # dataset
        pass
    dense.bias.assign(tf.fill([5], tf.cast(row, tf.float32)))
if fault == "fit":
    model.compile(optimizer, "mse")
    data = np.random.rand(4, 4).astype("float32") * run
    model.fit(data, np.ones((4, 5), "float32"), batch_size=2, verbose=0)  # fit
    sys.exit()
for step in range(2):
    if fault == "data":
        np.random.seed(run)
    x = tf.constant(np.random.rand(2, 4).astype("float32"))  # data
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x, training=True) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""
PROGRAMS = {"mindspore": MINDSPORE, "tensorflow": TENSORFLOW}
FAULTS = {
    "kernel": ("kernel", False),
    "random": ("random", False),
    "number": ("data", False),
    "data": ("data", False),
    "dataset": ("data", False),
    "control": ("control", False),
    "weights": ("random", False),
    "kernel backward": ("kernel", True),
    "random backward": ("random", True),
    "data backward": ("data", True),
    "control backward": ("control", True),
}
"""By what varies: the cause, and whether the operator is one of the backward pass."""


def _text(framework: str) -> str:
    if find_spec(framework) is None:
        pytest.skip(f"{framework} isn't installed")
    return PROGRAMS[framework]


def _pair(tmp_path: Path, text: str, fault: str, **options: str) -> dict[str, Any]:
    """The comparison of two runs that differ in one thing."""
    written(tmp_path / "project", text)
    framework = "tensorflow" if text is TENSORFLOW else "mindspore"
    for run in (1, 2):
        done = server(IMPORTS[framework], **QUIET).run(
            f"OPTIONS = {options}\n{TRACED}", str(tmp_path / f"{run}"), fault, cwd=tmp_path / "project", RUN=str(run)
        )
        assert done.returncode == 0, done.stderr
    return compared(tmp_path / "1", tmp_path / "2")


@pytest.mark.parametrize("framework", sorted(PROGRAMS))
def test_runs_that_do_the_same_are_equal(tmp_path: Path, framework: str) -> None:
    """Also where the command starts them; all others are traced where the framework has been imported."""
    told = _pair(tmp_path, _text(framework), "none")
    for run in "ab":
        done = shell("trace", tmp_path / run, "train.py", "none", cwd=tmp_path / "project", RUN="1", **QUIET)
        assert done.returncode == 0, done.stderr
        assert [path.name for path in (tmp_path / run).iterdir()] == [f"main-{framework}.trace"]
    for pair in (told, compared(tmp_path / "a", tmp_path / "b")):
        assert pair["equal"], pair["story"]
        assert [(one["framework"], one["rows"][0] > 60) for one in pair["processes"]] == [(framework, True)]
        assert pair["notes"] == []


@pytest.mark.parametrize("fault", sorted(FAULTS))
@pytest.mark.parametrize("framework", sorted(PROGRAMS))
def test_what_varies_is_named_with_its_line_and_its_cause(tmp_path: Path, framework: str, fault: str) -> None:
    text = _text(framework)
    story = _pair(tmp_path, text, fault)["story"]
    cause, backward = FAULTS[fault]
    assert story["cause"] == cause, story
    mark = "kernel" if (framework, fault) == ("tensorflow", "kernel backward") else fault  # its forward pass's
    assert story["stack"][0]["line"] == line(text, mark), story
    assert story["step"] == 0
    assert story["backward"] is backward
    if fault in ("control", "random", "number"):
        assert story["module"] == ("Net" if framework == "mindspore" else "sequential/layer")


GRAPH = """\
import os
import numpy as np
import mindspore as ms
from mindspore import nn

ms.set_seed(1)
ms.set_context(mode=ms.GRAPH_MODE)
net = nn.Dense(3, 2)
optimizer = nn.SGD(net.trainable_params(), 0.1)
compute = ms.value_and_grad(nn.WithLossCell(net, nn.MSELoss()), None, optimizer.parameters)
for step in range(2):
    found, given = compute(ms.Tensor(np.ones((4, 3)), ms.float32), ms.Tensor(np.ones((4, 2)), ms.float32))
    optimizer(given)
"""


@pytest.mark.parametrize(
    "framework, fault, row", [("mindspore", "graph", "graph "), ("tensorflow", "fit", "function ")]
)
def test_what_would_be_compiled_runs_uncompiled_or_is_one_call(
    tmp_path: Path, framework: str, fault: str, row: str
) -> None:
    text = GRAPH if _text(framework) is MINDSPORE else TENSORFLOW
    told = _pair(tmp_path / "kernel", text, fault)
    whole = _pair(tmp_path / "module", text, fault, level="module")
    assert [word in told["notes"][0] for word in ("not in the trace", "--level module")] == [True, True]
    assert [word in whole["notes"][0] for word in ("what happened in", "--level kernel")] == [True, True]
    operators = [call.op for call in calls(next((tmp_path / "module" / "1").iterdir()))]
    assert any(op.startswith(row) for op in operators), operators
    assert 0 < whole["processes"][0]["rows"][0] < told["processes"][0]["rows"][0]


def test_modules_of_mindspore_have_a_backward_pass(tmp_path: Path) -> None:
    story = _pair(tmp_path, _text("mindspore"), "kernel backward", level="module")["story"]
    assert (story["operator"], story["backward"], story["module"]) == ("Layer layer", True, "layer")
    assert story["stack"][0]["line"] == line(MINDSPORE, "layer")
    assert story["origins"] == []


UNDONE = {
    "mindspore": """\
import os
import mindspore as ms
from mindspore import nn
from mindspore.common.api import _pynative_executor as executor
from detlint.runtime import trace


def state():
    functions = nn.Cell.__call__, ms.Tensor.__init__, type(executor).grad, ms.jit, ms.dataset.engine.iterators.Iterator.__next__
    return *functions, os.environ.get("MS_JIT"), ms.get_context("mode")


ms.set_context(mode=ms.GRAPH_MODE)
before = state()
for level in ("kernel", "module"):
    with trace(f"trace of {level}", level=level):
        nn.Dense(2, 2)(ms.ops.ones((1, 2), ms.float32))
    assert state() == before, (before, state())
""",
    "tensorflow": """\
import tensorflow as tf
import keras
from tensorflow.python.eager import context
from tensorflow.python.framework import constant_op
from detlint.runtime import trace


def state():
    functions = keras.Layer.__call__, keras.optimizers.Optimizer.apply, constant_op.convert_to_eager_tensor
    return *functions, tf.config.functions_run_eagerly(), len(context.context().op_callbacks)


before = state()
for level in ("kernel", "module"):
    with trace(f"trace of {level}", level=level, framework="tensorflow"):
        keras.layers.Dense(2)(tf.ones((1, 2)))
    assert state() == before, (before, state())
""",
}


@pytest.mark.parametrize("framework", sorted(UNDONE))
def test_everything_is_undone(tmp_path: Path, framework: str) -> None:
    _text(framework)
    program = written(tmp_path / "project", UNDONE[framework])
    done = server(IMPORTS[framework], **QUIET).run(program.read_text(), cwd=program.parent)
    assert done.returncode == 0, done.stderr


def test_only_what_a_program_imports_is_imported(tmp_path: Path) -> None:
    text = "import sys\nassert not {'torch', 'mindspore', 'tensorflow', 'keras', 'numpy'} & {*sys.modules}\n"
    written(tmp_path / "project", text)
    done = shell("trace", tmp_path / "trace", "train.py", cwd=tmp_path / "project")
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "trace").exists()

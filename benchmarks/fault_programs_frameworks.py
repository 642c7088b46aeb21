"""Programs of TensorFlow, Keras and MindSpore for `faults.py`, as `fault_programs.py` has of PyTorch."""

from __future__ import annotations

from typing import Final

from fault_programs import FILE, LISTING

_TF_HEAD: Final = """\
import time
import uuid
import random
import os

import numpy as np
import tensorflow as tf
import keras

started = time.perf_counter()
run_id = uuid.uuid4().hex
stamp = tf.constant(time.time() % 1000)
"""
_TF_SEED: Final = "keras.utils.set_random_seed(0)\n"
_TF_TRAIN: Final = """
x, y = tf.reshape(tf.linspace(-1.0, 1.0, 32), (8, 4)), tf.reshape(tf.linspace(0.0, 1.0, 8), (8, 1))
net = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
net.build((8, 4))
optimizer = keras.optimizers.SGD(0.1)
for step in range(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net({x}) - {y}) ** 2)
    gradients = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))
    elapsed = tf.constant(time.perf_counter() - started)
    rate = (step + 1) / elapsed
"""
_TF_FIT: Final = """
net = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
net.compile("sgd", "mse")
net.fit({data}, epochs=1, verbose=0)
"""


def _tensorflow(before: str, x: str = "x", y: str = "y", seed: str = _TF_SEED) -> str:
    return _TF_HEAD + seed + before + _TF_TRAIN.format(x=x, y=y)


def _fit(before: str, data: str, seed: str = _TF_SEED) -> str:
    return _TF_HEAD + seed + before + _TF_FIT.format(data=data)


def _ones(text: str) -> str:
    """The same with weights that nothing draws."""
    weights = 'kernel_initializer="ones"'
    return text.replace('activation="relu")', f'activation="relu", {weights})').replace(
        "Dense(1)", f"Dense(1, {weights})"
    )


TENSORFLOW: Final[dict[str, str]] = {
    "python_random": _tensorflow(
        """
rng = random.Random()  # fault
def noise():
    return [[rng.gauss(0, 1) for _ in range(4)] for _ in range(8)]

extra = tf.constant(noise())
""",
        "x + extra",
    ),
    "numpy_generator": _tensorflow(
        """
rng = np.random.default_rng()  # fault
keep = rng.permutation(8)
""",
        "tf.gather(x, keep)",
    ),
    "scale": _tensorflow(
        """
rng = np.random.RandomState()  # fault
scale = float(rng.uniform(0.5, 1.5))
""",
        "x * scale",
    ),
    "unseeded_tf": _tensorflow(
        """
extra = tf.random.normal((8, 4))  # fault
""",
        "x + extra",
        seed="random.seed(0)\nnp.random.seed(0)\n",
    ),
    "weights": (_TF_HEAD + _TF_TRAIN.format(x="x", y="y")).replace("Dense(1)])", "Dense(1)])  # fault"),
    "clock_seed": _tensorflow(
        """
tf.random.set_seed(int(time.time() * 1000) % 100000)  # fault
extra = tf.random.normal((8, 4))
""",
        "x + extra",
    ),
    "keras_clock_seed": _tensorflow(
        """
keras.utils.set_random_seed(int(time.time() * 1000) % 100000)  # fault
""",
        seed="",
    ),
    "clock_value": _tensorflow(
        """
def jitter(x):
    return x + time.time() % 1  # fault
""",
        "jitter(x)",
    ),
    "urandom": _tensorflow(
        """
noise = tf.reshape(tf.constant(list(os.urandom(8)), tf.float32) / 256, (8, 1))  # fault
""",
        y="noise",
    ),
    "listing": _tensorflow(
        LISTING,
        "x + tf.reshape(tf.constant(values), (8, 4)) / 32",
    ),
    "file_content": _tensorflow(
        FILE,
        "x + offset",
    ),
    "layer_dropout": _ones(
        _tensorflow(
            """
class Regularised(keras.layers.Layer):
    def call(self, x):
        return tf.nn.dropout(x, 0.5)  # fault
""",
            "Regularised()(x)",
            seed="np.random.seed(0)\nrandom.seed(0)\n",
        )
    ),
    "generator_dataset": _fit(
        """
def rows():
    for _ in range(16):
        yield np.random.default_rng().random(4, dtype="float32"), np.ones(1, "float32")  # fault

data = tf.data.Dataset.from_generator(rows, output_signature=(tf.TensorSpec((4,)), tf.TensorSpec((1,)))).batch(4)
""",
        "data",
    ),
    "fit_arrays": _fit(
        """
rows = np.random.default_rng().random((16, 4))  # fault
targets = np.ones((16, 1))
""",
        "rows, targets, batch_size=4, shuffle=False",
    ),
    "sequence": _fit(
        """
class Rows(keras.utils.PyDataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return np.random.default_rng().random((4, 4)), np.ones((4, 1))  # fault
""",
        "Rows(), shuffle=False",
    ),
    "shuffle": _ones(
        _fit(
            """
data = tf.data.Dataset.from_tensor_slices((np.arange(64, dtype="float32").reshape(16, 4) / 64, np.linspace(0, 1, 16, dtype="float32")))
data = data.shuffle(16).batch(4)  # fault
""",
            "data",
            seed="np.random.seed(0)\nrandom.seed(0)\n",
        )
    ),
}
TENSORFLOW_CLEAN: Final[dict[str, str]] = {
    "plain": _tensorflow(""),
    "seeded": _tensorflow(
        """
extra = tf.random.normal((8, 4)) + np.random.rand(8, 4) + random.random()
""",
        "x + tf.cast(extra, tf.float32)",
    ),
    "fit": _fit(
        """
data = tf.data.Dataset.from_tensor_slices((np.arange(64, dtype="float32").reshape(16, 4) / 64, np.linspace(0, 1, 16, dtype="float32")))
data = data.shuffle(16).batch(4)
""",
        "data",
    ),
}
_MS_HEAD: Final = """\
import time
import uuid
import random
import os

import numpy as np
import mindspore as ms
from mindspore import nn, ops

started = time.perf_counter()
run_id = uuid.uuid4().hex
stamp = ms.Tensor(time.time() % 1000)
"""
_MS_SEED: Final = "ms.set_seed(0)\nrandom.seed(0)\n"
_MS_TRAIN: Final = """
x, y = ms.Tensor(np.linspace(-1, 1, 32).reshape(8, 4), ms.float32), ms.Tensor(np.linspace(0, 1, 8).reshape(8, 1), ms.float32)
net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 1))
optimizer = nn.SGD(net.trainable_params(), 0.1)
compute = ms.value_and_grad(lambda x, y: ((net(x) - y) ** 2).mean(), None, optimizer.parameters)
for step in range(4):
    loss, gradients = compute({x}, {y})
    optimizer(gradients)
    elapsed = ms.Tensor(time.perf_counter() - started)
    rate = (step + 1) / elapsed
"""
_MS_DATA: Final = """
net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 1))
optimizer = nn.SGD(net.trainable_params(), 0.1)
compute = ms.value_and_grad(lambda x, y: ((net(x) - y) ** 2).mean(), None, optimizer.parameters)
for step, (x, y) in enumerate(data.create_tuple_iterator()):
    loss, gradients = compute(x, y)
    optimizer(gradients)
    rate = ms.Tensor(step / (time.perf_counter() - started))
"""


def _mindspore(before: str, x: str = "x", y: str = "y", seed: str = _MS_SEED) -> str:
    return _MS_HEAD + seed + before + _MS_TRAIN.format(x=x, y=y)


def _iterated(before: str, seed: str = _MS_SEED) -> str:
    return _MS_HEAD + seed + before + _MS_DATA


MINDSPORE: Final[dict[str, str]] = {
    "python_random": _mindspore(
        """
rng = random.Random()  # fault
def noise():
    return [[rng.gauss(0, 1) for _ in range(4)] for _ in range(8)]

extra = ms.Tensor(noise())
""",
        "x + extra",
    ),
    "numpy_generator": _mindspore(
        """
rng = np.random.default_rng()  # fault
keep = ms.Tensor(rng.permutation(8))
""",
        "x[keep]",
    ),
    "scale": _mindspore(
        """
rng = np.random.RandomState()  # fault
scale = float(rng.uniform(0.5, 1.5))
""",
        "x * scale",
    ),
    "unseeded_ops": _mindspore(
        """
extra = ops.standard_normal((8, 4))  # fault
""",
        "x + extra",
        seed="np.random.seed(0)\nrandom.seed(0)\n",
    ),
    "weights": (_MS_HEAD + _MS_TRAIN.format(x="x", y="y")).replace(
        "nn.ReLU(), nn.Dense(8, 1))", "nn.ReLU(), nn.Dense(8, 1))  # fault"
    ),
    "clock_seed": _mindspore(
        """
ms.set_seed(int(time.time() * 1000) % 100000)  # fault
""",
        seed="",
    ),
    "clock_value": _mindspore(
        """
def jitter(x):
    return x + time.time() % 1  # fault
""",
        "jitter(x)",
    ),
    "urandom": _mindspore(
        """
noise = ms.Tensor([[value / 256] for value in os.urandom(8)], ms.float32)  # fault
""",
        y="noise",
    ),
    "listing": _mindspore(
        LISTING,
        "x + ms.Tensor(values, ms.float32).reshape(8, 4) / 32",
    ),
    "file_content": _mindspore(
        FILE,
        "x + offset",
    ),
    "inner_dropout": _mindspore(
        """
class Regularised(nn.Cell):
    def construct(self, x):
        return ops.dropout(x, 0.5)  # fault

layer = Regularised()
""",
        "layer(x)",
        seed="np.random.seed(0)\nrandom.seed(0)\n",
    ),
    "generator_dataset": _iterated("""
def rows():
    for _ in range(16):
        yield np.random.default_rng().random(4, dtype="float32"), np.ones(1, "float32")  # fault

data = ms.dataset.GeneratorDataset(rows, ["x", "y"], shuffle=False).batch(4)
"""),
    "map": _iterated("""
import mindspore.dataset as ds
def jitter(row):
    return row * np.float32(np.random.default_rng().uniform())  # fault

data = ds.NumpySlicesDataset((np.arange(64, dtype="float32").reshape(16, 4) / 64, np.ones((16, 1), "float32")), ["x", "y"], shuffle=False)
data = data.map(jitter, "x").batch(4)
"""),
    "shuffle": _iterated(
        """
import mindspore.dataset as ds
data = ds.NumpySlicesDataset((np.arange(64, dtype="float32").reshape(16, 4) / 64, np.ones((16, 1), "float32")), shuffle=True)  # fault
data = data.batch(4)
""",
        seed="np.random.seed(0)\nrandom.seed(0)\n",
    ),
}
MINDSPORE_CLEAN: Final[dict[str, str]] = {
    "plain": _mindspore(""),
    "seeded": _mindspore(
        """
extra = ops.standard_normal((8, 4)) + ms.Tensor(np.random.rand(8, 4), ms.float32) + random.random()
""",
        "x + extra",
    ),
    "dataset": _iterated("""
import mindspore.dataset as ds
data = ds.NumpySlicesDataset((np.arange(64, dtype="float32").reshape(16, 4) / 64, np.ones((16, 1), "float32")), shuffle=True).batch(4)
"""),
}

"""`enforce` in MindSpore, TensorFlow and without any framework, on the libraries themselves, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent

import pytest


def printed(program: str) -> list[str]:
    """The lines that a program prints."""
    done = subprocess.run(
        [sys.executable, "-c", dedent(program)],
        env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def needs(name: str) -> None:
    if find_spec(name) is None:
        pytest.skip(f"{name} is not installed")


MINDSPORE = """\
from detlint.runtime import enforce
enforced = enforce(profile="align").start()
import numpy as np
import mindspore as ms
from mindspore import Tensor, mint, nn, ops
import mindspore.dataset as ds
from mindspore.dataset import vision
from mindspore.dataset.transforms import Compose
ms.set_device("CPU")

def off(draws, *shape):
    out = draws(Tensor(np.ones(shape or (8, 16), np.float32)))
    out = out[0] if isinstance(out, tuple) else out
    print(bool((out.asnumpy() == 1).all()))

def rows(dataset):
    print([int(row["x"]) for row in dataset.create_dict_iterator(output_numpy=True, num_epochs=1)])

x = list(range(6))
image = np.arange(6 * 6 * 3, dtype=np.uint8).reshape(6, 6, 3)
"""
DROPOUTS = [
    "off(nn.Dropout(p=0.5).set_train())",
    "off(nn.Dropout(0.5).set_train())",
    "off(nn.Dropout1d(0.5).set_train(), 2, 9, 4)",
    "off(nn.Dropout2d(0.5).set_train(), 2, 9, 4, 4)",
    "off(nn.Dropout3d(0.5).set_train(), 2, 9, 4, 4, 4)",
    "off(lambda x: ops.dropout(x, 0.5))",
    "off(lambda x: ops.dropout(x, p=0.5, training=True))",
    "off(lambda x: ops.dropout1d(x, 0.5), 2, 9, 4)",
    "off(lambda x: ops.dropout2d(x, 0.5), 2, 9, 4, 4)",
    "off(lambda x: ops.dropout3d(x, 0.5), 2, 9, 4, 4, 4)",
    "off(ops.Dropout(keep_prob=0.5))",
    "off(ops.Dropout2D(keep_prob=0.5), 2, 9, 4, 4)",
    "off(ops.Dropout3D(keep_prob=0.5), 2, 9, 4, 4, 4)",
    "off(ops.operations.Dropout(0.5))",
    "print(nn.LSTM(4, 4, num_layers=2, dropout=0.5).dropout == 0)",
    "print(nn.MultiheadAttention(8, 2, dropout=0.5).dropout == 0)",
    "print(nn.TransformerEncoderLayer(8, 2).dropout.p == 0)",
    "print(mint.nn.Dropout(0.5).p == 0)",
]


def test_dropout_of_mindspore_is_off_by_every_route() -> None:
    needs("mindspore")
    lines = printed(MINDSPORE + "\n".join(DROPOUTS))
    assert lines == ["True"] * len(DROPOUTS)


def test_dropout_is_off_in_graphs_too() -> None:
    needs("mindspore")
    program = MINDSPORE + dedent("""\
        ms.set_context(mode=ms.GRAPH_MODE)
        off(nn.SequentialCell(nn.Dropout(p=0.5)).set_train())
        """)
    assert printed(program) == ["True"]


def test_data_of_mindspore_comes_in_order_by_one_worker() -> None:
    needs("mindspore")
    program = MINDSPORE + dedent("""\
        rows(ds.NumpySlicesDataset(x, ["x"]))
        rows(ds.NumpySlicesDataset(x, ["x"], shuffle=True).shuffle(6))
        rows(ds.NumpySlicesDataset(x, ["x"], sampler=ds.RandomSampler()))
        rows(ds.GeneratorDataset(x, ["x"], shuffle=True, num_parallel_workers=4))
        data = ds.NumpySlicesDataset(x, ["x"], num_parallel_workers=4)
        print(data.num_parallel_workers, data.map(lambda x: x, "x").num_parallel_workers, data.batch(2).num_parallel_workers)
        """)
    assert printed(program) == ["[0, 1, 2, 3, 4, 5]"] * 4 + ["1 1 1"]


def test_random_transforms_of_mindspore_give_way() -> None:
    needs("mindspore")
    program = MINDSPORE + dedent("""\
        crop, flip, turn = vision.RandomCrop(4), vision.RandomHorizontalFlip(0.5), vision.RandomRotation(30)
        print(type(crop).__name__, bool((flip(image) == image).all()), bool((turn(image) == image).all()))
        print(vision.RandomResizedCrop(4)(image).shape, isinstance(crop, vision.CenterCrop))
        data = ds.NumpySlicesDataset({"image": [image] * 4}, shuffle=False)
        data = data.map([turn, crop, flip], "image").map(Compose([turn, flip]), "image")
        print(len({row["image"].tobytes() for row in data.create_dict_iterator(output_numpy=True, num_epochs=1)}))
        print(sorted({row.code for row in enforced.report.interventions} & {"DET301", "DET303"}))
        """)
    assert printed(program) == ["CenterCrop True True", "(4, 4, 3) True", "1", "['DET301', 'DET303']"]


def test_mindspore_is_as_before_on_leaving() -> None:
    needs("mindspore")
    program = MINDSPORE.replace(
        "enforced =", "import mindspore.dataset as ds, mindspore.nn as nn\nenforced =", 1
    ) + dedent("""\
        from mindspore.dataset import Dataset
        enforced.restore()
        layer = nn.Dropout(p=0.5).set_train()
        print((layer.p, type(vision.RandomCrop(4)).__name__, vision.RandomHorizontalFlip(0.5).prob))
        print(ds.NumpySlicesDataset(x, ["x"]).map(lambda x: x, "x").num_parallel_workers)
        print([name for name in ("__init__", "map", "shuffle") if "detlint" in getattr(Dataset, name).__code__.co_filename])
        print(enforced.report.lasting)
        """)
    assert printed(program) == [
        "(0.5, 'RandomCrop', 0.5)",
        "None",
        "[]",
        "['mindspore.set_deterministic(True): MindSpore takes it once for each process']",
    ]


KERAS = """\
from detlint.runtime import enforce
enforced = enforce(profile="align").start()
import keras, numpy as np
import tensorflow as tf
from keras import layers

def off(draws, *shape):
    print(bool(np.all(np.asarray(draws(tf.ones(shape or (8, 16)))) == 1)))
"""
KERAS_DROPOUTS = [
    "off(lambda x: layers.Dropout(0.5)(x, training=True))",
    "off(lambda x: tf.keras.layers.Dropout(rate=0.5)(x, training=True))",
    "off(lambda x: layers.AlphaDropout(0.5)(x, training=True))",
    "off(lambda x: layers.GaussianDropout(0.5)(x, training=True))",
    "off(lambda x: layers.GaussianNoise(0.5)(x, training=True))",
    "off(lambda x: layers.SpatialDropout1D(0.5)(x, training=True), 2, 3, 4)",
    "off(lambda x: tf.nn.dropout(x, 0.5))",
    "off(lambda x: tf.nn.experimental.stateless_dropout(x, rate=0.5, seed=[1, 2]))",
    "off(lambda x: keras.random.dropout(x, 0.5))",
    "off(lambda x: layers.RandomFlip()(x, training=True), 2, 4, 4, 3)",
    "off(lambda x: tf.image.random_brightness(x, 0.5), 4, 4, 3)",
    "layer = layers.LSTM(3, dropout=0.5, recurrent_dropout=0.5)\nprint(layer.dropout == layer.recurrent_dropout == 0)",
    "print([int(i) for i in tf.data.Dataset.range(5).shuffle(5)] == [0, 1, 2, 3, 4])",
    "print(type(layers.RandomCrop(2, 2)).__name__ == 'CenterCrop')",
]


def test_what_draws_in_keras_and_tensorflow_is_off() -> None:
    needs("tensorflow")
    assert printed(KERAS + "\n".join(KERAS_DROPOUTS)) == ["True"] * len(KERAS_DROPOUTS)


def test_keras_is_as_before_on_leaving() -> None:
    needs("tensorflow")
    program = KERAS + dedent("""\
        enforced.restore()
        print(layers.Dropout(0.5).rate, type(layers.RandomCrop(2, 2)).__name__, layers.RandomFlip().mode)
        print(enforced.report.lasting)
        """)
    first, lasting = printed(program)
    assert first == "0.5 RandomCrop horizontal_and_vertical"
    assert (
        "tensorflow.config.experimental.enable_op_determinism(): TensorFlow has no call that switches it off" in lasting
    )


def test_generators_get_seeds_without_any_framework() -> None:
    needs("numpy")
    program = """\
        from detlint.runtime import enforce
        with enforce():
            import random
            import numpy as np
            print(np.random.default_rng().random(), np.random.RandomState().rand(), random.Random().random())
        """
    assert printed(program) == printed(program)


LISTING = """\
import glob, os, pathlib, sys
from detlint.runtime import enforce
folder, = sys.argv[1:]

def listed():
    with os.scandir(folder) as entries:
        yield [entry.name for entry in entries]
    yield os.listdir(folder)
    yield [os.path.basename(path) for path in glob.glob(f"{folder}/*")]
    yield [path.name for path in pathlib.Path(folder).iterdir()]
    yield [name for _, _, names in os.walk(folder) for name in names]

own = os.listdir, os.scandir
with enforce():
    print(*listed(), sep="\\n")
print((os.listdir, os.scandir) == own)
"""


def test_folders_are_listed_in_the_order_of_names(tmp_path: Path) -> None:
    names = "dbeac"
    for name in names:
        (tmp_path / name).touch()
    done = subprocess.run([sys.executable, "-c", LISTING, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [str(sorted(names))] * 5 + ["True"]

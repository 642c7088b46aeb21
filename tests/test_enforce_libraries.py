"""`enforce` in MindSpore, TensorFlow and without any framework, on the libraries themselves, in processes of their own."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent

import pytest
from forks import server

ENVIRONMENT = {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONHASHSEED": "1"}
MINDSPORE_FIRST = "import mindspore, mindspore.dataset.vision, numpy, PIL.Image"
KERAS_FIRST = "import keras, numpy, tensorflow"
"""What programs share that enforce later than they import."""


def printed(program: str, *arguments: str, below: str) -> list[str]:
    """The lines that a program prints.

    Args:
        below: how it begins, which is run once for all programs that begin so.
    """
    done = server(below, **ENVIRONMENT).run(dedent(program), *arguments)
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
    lines = printed("\n".join(DROPOUTS), below=MINDSPORE)
    assert lines == ["True"] * len(DROPOUTS)


def test_dropout_is_off_in_graphs_too() -> None:
    needs("mindspore")
    program = dedent("""\
        ms.set_context(mode=ms.GRAPH_MODE)
        off(nn.SequentialCell(nn.Dropout(p=0.5)).set_train())
        """)
    assert printed(program, below=MINDSPORE) == ["True"]


def test_data_of_mindspore_comes_in_order_by_one_worker() -> None:
    needs("mindspore")
    program = dedent("""\
        rows(ds.NumpySlicesDataset(x, ["x"]))
        rows(ds.NumpySlicesDataset(x, ["x"], shuffle=True).shuffle(6))
        rows(ds.NumpySlicesDataset(x, ["x"], sampler=ds.RandomSampler()))
        rows(ds.GeneratorDataset(x, ["x"], shuffle=True, num_parallel_workers=4))
        data = ds.NumpySlicesDataset(x, ["x"], num_parallel_workers=4)
        print(data.num_parallel_workers, data.map(lambda x: x, "x").num_parallel_workers, data.batch(2).num_parallel_workers)
        """)
    assert printed(program, below=MINDSPORE) == ["[0, 1, 2, 3, 4, 5]"] * 4 + ["1 1 1"]


TRANSFORMS = """\
from detlint.runtime import enforce
import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore.dataset import transforms, vision
from PIL import Image
ms.set_device("CPU")
image = np.random.RandomState(0).randint(0, 255, (20, 24, 3)).astype(np.uint8)
picture = Image.fromarray(image)

def make():
    both = [vision.RandomHorizontalFlip(0.5), vision.RandomVerticalFlip(0.5)]
    return [
        vision.RandomCrop(12, padding=2), vision.RandomResizedCrop(12), vision.RandomHorizontalFlip(0.5), vision.RandomRotation(30),
        vision.RandomColorAdjust(brightness=(0.5, 1.5)), vision.RandomErasing(0.9), vision.CutOut(5), vision.RandAugment(),
        transforms.RandomApply([vision.HorizontalFlip()], 0.5), transforms.RandomOrder([vision.Resize(9), vision.CenterCrop(8)]),
        transforms.RandomChoice([vision.CenterCrop(9), vision.CenterCrop(8)]),
        transforms.Compose([vision.RandomRotation(30), *both, vision.RandomCrop(9)]), vision.UniformAugment(both, 2),
    ]

def rows(operations, processes=False):
    data = ds.GeneratorDataset([(image,)] * 8, ["image"], shuffle=False)
    data = data.map(operations, "image", python_multiprocessing=processes, num_parallel_workers=1)
    return {row["image"].tobytes() for row in data.create_dict_iterator(output_numpy=True, num_epochs=1)}

def called(transform, sample, times=8):
    results = [transform(sample) for _ in range(times)]
    return {np.asarray(r[0] if isinstance(r, tuple) else r).tobytes() for r in results}
"""


def test_random_transforms_of_mindspore_give_way_in_pipelines_and_when_called() -> None:
    needs("mindspore")
    program = TRANSFORMS + dedent("""\
        early = make()
        with enforce(profile="align") as enforced:
            for here in (early, inside := make()):
                print({len(called(t, sample)) for t in here for sample in (image, picture)}, {len(rows([t])) for t in here})
            for before, now in zip(early, inside):
                assert called(before, image) == called(now, image) and rows([before]) == rows([now])
            print(called(early[0], image) == {vision.CenterCrop(12)(image).tobytes()} == rows([early[0]]))
            expected = vision.CenterCrop(12)(vision.Resize(12)(image))
            print(called(early[1], image) == {expected.tobytes()} == called(inside[1], image))
            mixed = [vision.ToPIL(), early[3], vision.RandomCrop(9), vision.ToTensor()]
            print(len(rows(mixed)), len(rows(mixed, processes=True)))
        print([type(t).__name__ for t in inside[:3]], {row.code for row in enforced.report.interventions if "vision" in row.api})
        print(min(len(called(t, image, 40)) for t in early + inside if not isinstance(t, transforms.RandomOrder)) > 1)
        ds.config.set_seed(3)
        print(min(len(rows([t])) for t in (early[0], inside[2], inside[11])) > 1)
        """)
    assert printed(program, below=MINDSPORE_FIRST) == [
        *["{1} {1}"] * 2,
        *["True"] * 2,
        "1 1",
        "['RandomCrop', 'RandomResizedCrop', 'RandomHorizontalFlip'] {'DET301'}",
        *["True"] * 2,
    ]


def test_mindspore_is_as_before_on_leaving() -> None:
    needs("mindspore")
    begun = MINDSPORE.replace("enforced =", "import mindspore.dataset as ds, mindspore.nn as nn\nenforced =", 1)
    program = dedent("""\
        from mindspore.dataset import Dataset
        enforced.restore()
        layer = nn.Dropout(p=0.5).set_train()
        print((layer.p, type(vision.RandomCrop(4)).__name__, vision.RandomHorizontalFlip(0.5).prob))
        print(ds.NumpySlicesDataset(x, ["x"]).map(lambda x: x, "x").num_parallel_workers)
        print([name for name in ("__init__", "map", "shuffle") if "detlint" in getattr(Dataset, name).__code__.co_filename])
        print(enforced.report.lasting)
        """)
    assert printed(begun + program, below=MINDSPORE_FIRST) == [
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
    "x = tf.reshape(tf.range(75), (5, 5, 3))",
    "print(np.array_equal(tf.image.random_crop(x, (3, 3, 3)), x[1:4, 1:4]))",
    "print(np.array_equal(tf.image.stateless_random_crop(x, (3, 3, 3), seed=(1, 2)), x[1:4, 1:4]))",
    "box = tf.image.sample_distorted_bounding_box((5, 5, 3), tf.zeros((1, 1, 4)), seed=1)",
    "print(np.array_equal(tf.slice(x, box[0], box[1]), x))",
    "made = tf.keras.preprocessing.image.ImageDataGenerator(rotation_range=20, horizontal_flip=True, zoom_range=0.2)",
    "print((made.rotation_range, made.horizontal_flip, made.zoom_range) == (0, False, [1, 1]))",
    "layer = layers.LSTM(3, dropout=0.5, recurrent_dropout=0.5)",
    "print(layer.dropout == layer.recurrent_dropout == 0)",
    "print([int(i) for i in tf.data.Dataset.range(5).shuffle(5)] == [0, 1, 2, 3, 4])",
    "print(type(layers.RandomCrop(2, 2)).__name__ == 'RandomCrop')",
]


def test_what_draws_in_keras_and_tensorflow_is_off() -> None:
    needs("tensorflow")
    assert printed("\n".join(KERAS_DROPOUTS), below=KERAS) == ["True"] * sum(
        "=" not in line.partition("(")[0] for line in KERAS_DROPOUTS
    )


def test_keras_is_as_before_on_leaving() -> None:
    needs("tensorflow")
    program = dedent("""\
        enforced.restore()
        print(layers.Dropout(0.5).rate, type(layers.RandomCrop(2, 2)).__name__, layers.RandomFlip().mode)
        print(enforced.report.lasting)
        """)
    first, lasting = printed(program, below=KERAS)
    assert first == "0.5 RandomCrop horizontal_and_vertical"
    assert lasting == "[]"


def test_random_layers_of_keras_give_way_while_they_work() -> None:
    needs("tensorflow")
    program = """\
        from detlint.runtime import enforce
        import keras, numpy as np, tensorflow as tf
        from keras import layers
        tf.random.set_seed(3), keras.utils.set_random_seed(3)
        images = tf.random.uniform((2, 12, 12, 3)) * 255

        def make():
            return [
                layers.RandomFlip(), layers.RandomCrop(6, 6), layers.RandomRotation(0.2), layers.RandomContrast(0.3), layers.RandAugment(),
                keras.Sequential([keras.Input((12, 12, 3)), layers.RandomZoom(0.4), layers.RandomCrop(8, 8)]),
            ]

        def results(layer):
            return {np.asarray(layer(images, training=True)).tobytes() for _ in range(5)}

        early = make()
        with enforce(profile="align") as enforced:
            inside = make()
            print({len(results(layer)) for layer in early + inside})
            entry = keras.Input((12, 12, 3))
            model = keras.Model(entry, layers.Dense(1)(layers.Flatten()(layers.RandomCrop(8, 8)(layers.RandomFlip()(entry)))))
            model.compile("sgd", "mse")
            model.fit(images, np.zeros((2, 1)), epochs=2, verbose=0)
            data = tf.data.Dataset.from_tensor_slices(images).map(lambda image: early[0](image, training=True))
            print(all(np.array_equal(a, b) for a, b in zip(data, images)))
        print([type(layer).__name__ for layer in model.layers[1:3]], {row.code for row in enforced.report.interventions})
        print(min(len(results(layer)) for layer in (*early, *inside, model)) > 1)
        """
    lines = printed(program, below=KERAS_FIRST)
    assert lines[:2] + lines[3:] == ["{1}", "True", "True"]
    assert lines[2].startswith("['RandomFlip', 'RandomCrop']") and "DET301" in lines[2]


def test_dropout_of_keras_layers_that_were_made_before_is_off_and_on_again() -> None:
    needs("tensorflow")
    program = """\
        from detlint.runtime import enforce, seed_all
        import keras, numpy as np, tensorflow as tf
        from keras import layers
        keras.utils.set_random_seed(3)
        ones = tf.ones((4, 16))
        model = keras.Sequential([keras.Input((16,)), layers.Dropout(0.5), layers.GaussianNoise(0.5), layers.AlphaDropout(0.5)])

        def off():
            return bool(np.all(np.asarray(model(ones, training=True)) == 1))

        with enforce(dropout="off") as enforced:
            print(off(), model.layers[0].rate)
        print(off(), sorted({row.code for row in enforced.report.interventions}))
        seed_all(1, rm_dropout=True)
        print(off())
        """
    assert printed(program, below=KERAS_FIRST) == ["True 0.5", "False ['DET201', 'DET203']", "True"]


# A graph's operators are placed on devices that needn't be there, and the CPU can stand for several devices: so what runs where
# can be seen without a GPU.
TENSORFLOW = """\
from detlint.runtime import enforce
import numpy as np, tensorflow as tf
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
images = tf.reshape(tf.range(96, dtype=tf.float32), (2, 4, 4, 3))

def gradients(device):
    with tf.device(device), tf.GradientTape() as tape:
        tape.watch(images)
        sizes = tf.image.resize(images, (8, 8), method="nearest")
        crops = tf.image.crop_and_resize(images, [[0.0, 0.0, 0.5, 0.5]] * 2, [0, 1], (8, 8))
        loss = tf.reduce_sum(sizes * sizes * crops)
    return tape.gradient(loss, images)

def operators(function, *args):
    graph = tf.function(function).get_concrete_function(*args).graph
    wanted = ("Resize", "Bincount", "MatMul")
    return sorted({(o.type, o.device) for o in graph.get_operations() if any(w in o.type for w in wanted)})
"""


def test_operators_of_tensorflow_run_on_the_cpu_with_their_gradients() -> None:
    needs("tensorflow")
    program = TENSORFLOW + dedent("""\
        own = [tf.image.resize]
        expected = gradients("/CPU:0")
        with enforce() as enforced:
            print({device for _, device in operators(lambda: gradients("/GPU:0"))})
            print([name for name, _ in operators(lambda: gradients("/GPU:0"))])
            print(np.array_equal(expected, gradients("/CPU:0")), tf.image.resize is own[0])
        print(sorted({(row.code, row.api) for row in enforced.report.interventions}))
        print("/device:CPU:0" in {device for _, device in operators(lambda: gradients("/GPU:0"))}, tf.image.resize is own[0])
        """)
    assert printed(program, below=KERAS_FIRST) == [
        "{'/device:CPU:0'}",
        "['CropAndResize', 'CropAndResizeGradBoxes', 'CropAndResizeGradImage', 'ResizeNearestNeighbor', 'ResizeNearestNeighborGrad']",
        "True False",
        "[('DET407', 'tensorflow.image.crop_and_resize'), ('DET407', 'tensorflow.image.resize')]",
        "False True",
    ]


def test_operators_of_tensorflow_that_are_named_run_on_the_cpu() -> None:
    needs("tensorflow")
    program = TENSORFLOW + dedent("""\
        def sums():
            with tf.device("/CPU:1"), tf.GradientTape() as tape:
                tape.watch(images)
                loss = tf.reduce_sum(tf.cumsum(images, axis=1) ** 2)
            return tape.gradient(loss, images)

        expected = sums()
        with enforce(operators=["tensorflow.cumsum", "crop_and_resize"]) as enforced:
            print(np.array_equal(sums(), expected), sums().device[-5:])
            tf.cumsum([1.0, 2.0])
            variable = tf.Variable([1.0, 2.0])
            with tf.device("/CPU:1"), tf.GradientTape() as tape:
                total = tf.reduce_sum(tf.cumsum(variable))
            print(tape.gradient(total, variable).numpy().tolist())
            gradients("/CPU:1")
        for row in enforced.report.interventions:
            print(row.code, row.message, row.count)
        with enforce(operators="keep") as enforced:
            moved = [name for name, device in operators(lambda: gradients("/GPU:0")) if device.endswith("CPU:0")]
            print(moved, enforced.report.interventions)
        """)
    assert printed(program, below=KERAS_FIRST) == [
        "True CPU:0",
        "[2.0, 1.0]",
        "DET407 `tensorflow.image.crop_and_resize` ran on the CPU instead of CPU:1 1",
        " `tensorflow.cumsum` ran on the CPU instead of CPU:1 2",
        " `tensorflow.cumsum` ran on the CPU instead of CPU:1 1",
        "[] []",
    ]


def test_sparse_and_weighted_sums_of_tensorflow_run_on_the_cpu() -> None:
    needs("tensorflow")
    program = TENSORFLOW + dedent("""\
        table = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])

        def product():
            with tf.device("/GPU:0"):
                return tf.sparse.sparse_dense_matmul(table, tf.ones((2, 2)))

        def count():
            with tf.device("/GPU:0"):
                return tf.math.bincount(tf.constant([0, 1, 1]), weights=tf.constant([1.0, 2.0, 3.0]))

        with enforce(operators=["DET407"]):
            print({device for _, device in operators(product) + operators(count)}, tf.function(count)().numpy().tolist())
        with enforce(operators=["DET401"]):
            print({device for _, device in operators(product) + operators(count)})
        """)
    assert printed(program, below=KERAS_FIRST) == ["{'/device:CPU:0'} [1.0, 5.0]", "{'/device:GPU:0'}"]


# What MindSpore takes for its device is asked of it; a program for Ascend runs on the CPU all the same.
ASCEND = """\
from detlint.runtime import enforce
import numpy as np, mindspore as ms
from mindspore import Tensor, nn, ops
own = ms.get_context
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))

def on(device):
    ms.get_context = lambda name: device if name == "device_target" else own(name)

def target(primitive):
    return primitive.attrs.get("primitive_target")

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.mean, self.loss = ops.ReduceMean(), nn.MSELoss()

    def construct(self, x):
        return self.mean(x) + self.loss(x, x * 2)
"""


def test_primitives_of_mindspore_are_placed_on_the_cpu_and_back() -> None:
    needs("mindspore")
    program = ASCEND + dedent("""\
        expected, loss = Net()(x).asnumpy().item(), nn.MSELoss()(x, x * 2).asnumpy().item()
        on("Ascend")
        early = ops.ReduceMean()
        with enforce() as enforced:
            mean, most, net = ops.ReduceMean(), ops.ReduceMax(), Net()
            line = [row.line for row in enforced.report.interventions][0]
            print([target(p) for p in (mean, most, net.mean, net.loss.reduce_mean, net.loss.reduce_sum, early)])
            print(net(x).asnumpy().item() == expected)
            ms.set_context(mode=ms.GRAPH_MODE)
            print(nn.MSELoss()(x, x * 2).asnumpy().item() == loss)
            ms.set_context(mode=ms.PYNATIVE_MODE)
        print(sorted({(row.code, row.api, row.message.partition("` ")[2]) for row in enforced.report.interventions}))
        print([target(p) for p in (mean, net.mean, net.loss.reduce_mean, ops.ReduceMean())])
        with enforce(operators=["ReduceMax"]):
            print(target(ops.ReduceMax()), target(ops.ReduceMean()))
        with enforce(operators="keep"):
            print(target(ops.ReduceMean()))
        on("CPU")
        with enforce():
            print(target(ops.ReduceMean()))
        """)
    assert printed(program, below=MINDSPORE_FIRST) == [
        "['CPU', None, 'CPU', 'CPU', 'CPU', None]",
        "True",
        "True",
        "[('DET406', 'mindspore.ops.ReduceMean', 'runs on the CPU instead of Ascend'), "
        "('DET406', 'mindspore.ops.ReduceSum', 'runs on the CPU instead of Ascend')]",
        "[None, None, None, None]",
        "CPU None",
        "None",
        "None",
    ]


def test_what_mindspore_cannot_move_is_told() -> None:
    needs("mindspore")
    program = ASCEND + dedent("""\
        import warnings
        from detlint.runtime.context import Nondeterministic, NondeterministicWarning
        on("Ascend")
        with enforce() as enforced, warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            ops.sum(x)
        print([row.message for row in enforced.report.refused if row.code])
        print([warning.category is NondeterministicWarning for warning in warned if "detlint" in str(warning.category)])
        with enforce(unsupported="error"):
            try:
                ops.sum(x)
            except Nondeterministic as error:
                print("raised")
        """)
    assert printed(program, below=MINDSPORE_FIRST) == [
        "['`mindspore.ops.sum` is nondeterministic on Ascend, and of functions only the primitives that they build meanwhile "
        "are moved to the CPU']",
        "[True]",
        "raised",
    ]


def test_generators_get_seeds_without_any_framework() -> None:
    needs("numpy")
    program = """\
        from detlint.runtime import enforce
        with enforce():
            import random
            import numpy as np
            print(np.random.default_rng().random(), np.random.RandomState().rand(), random.Random().random())
        """
    assert printed(program, below="") == printed(program, below="")


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


RESTORED = """\
import os, random, sys
from contextlib import ExitStack
from importlib import import_module
from inspect import getattr_static
from detlint.catalog import load
from detlint.runtime import enforce
from detlint.runtime.resolve import find

libraries = [import_module(name) for name in sys.argv[1:]]
names = [name for name in load().calls if name.partition(".")[0] in sys.argv[1:]]

def state():
    found = {name: here for name in names if (here := find(name)) is not None}
    kinds = {name: here.value for name, here in found.items() if isinstance(here.value, type)}
    members = {(name, member): id(value) for name, kind in kinds.items() for member, value in vars(kind).items()}
    own = {name: id(getattr_static(here.owner, here.attribute, here.value)) for name, here in found.items()}
    return own | members | {"environment": dict(os.environ)}

chances = random.Random(5)
words = {
    "profile": ["reproduce", "align"], "dropout": ["keep", "off"], "loaders": ["seeded", "sequential", "keep"],
    "transforms": ["keep", "off"], "operators": ["listed", "keep", ["DET407", "ReduceMax"]], "deterministic": [True, False],
    "unsupported": ["warn", "error", "cpu"],
}
before = state()
for _ in range(8):
    with ExitStack() as stack:
        for _ in range(chances.randint(1, 3)):
            stack.enter_context(enforce(**{key: chances.choice(values) for key, values in words.items()}))
    after = state()
    print([name for name in before if after[name] != before[name]], len(after) == len(before))
with enforce(profile="align"):
    inside = state()
print(sum(inside.get(name) != before[name] for name in before) > 100)
"""


@pytest.mark.parametrize("libraries", [("mindspore",), ("tensorflow", "keras")])
def test_leaving_restores_every_function_and_class_of_the_catalog(libraries: tuple[str, ...]) -> None:
    needs(libraries[0])
    below = MINDSPORE_FIRST if libraries == ("mindspore",) else KERAS_FIRST
    assert printed(RESTORED, *libraries, below=below) == ["[] True"] * 8 + ["True"]

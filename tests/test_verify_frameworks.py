"""`detlint verify` on programs of MindSpore, Keras and TensorFlow: their losses are read without an edit."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from traced import shell, written

PROGRAMS = {
    "mindspore": """\
import numpy as np
import mindspore as ms
from mindspore import nn

ms.set_seed(1)  # seeds NumPy, too
np.random.seed(SEED)
net = nn.Dense(3, 1)
loss = nn.WithLossCell(net, nn.MSELoss())
step = nn.TrainOneStepCell(loss, nn.SGD(net.trainable_params(), 0.1))
for i in range(50):
    step(ms.Tensor(np.random.rand(4, 3), ms.float32), ms.Tensor(np.random.rand(4, 1), ms.float32))
    assert i < 3
""",
    "keras": """\
import numpy as np
import tensorflow as tf
import keras

np.random.seed(SEED)
keras.utils.set_random_seed(1) if FIXED else None
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.random.rand(64, 3), np.random.rand(64, 1), batch_size=4, verbose=0)
raise AssertionError
""",
    "tensorflow": """\
import numpy as np
import tensorflow as tf

np.random.seed(SEED)
weight = tf.Variable([1.0, 2.0, 3.0])
for i in range(50):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(weight * np.random.rand(3).astype("float32"))
    weight.assign_sub(0.1 * tape.gradient(loss, weight))
    assert i < 3
""",
}


@pytest.mark.parametrize("varies", [False, True], ids=["fixed", "varies"])
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_losses_are_read(tmp_path: Path, name: str, varies: bool) -> None:
    needed = "tensorflow" if name == "keras" else name
    if find_spec(needed) is None:
        pytest.skip(f"{needed} isn't installed")
    text = PROGRAMS[name].replace("SEED", "None" if varies else "1").replace("FIXED", str(not varies))
    written(tmp_path / "project", text)
    done = shell("verify", "--as-is", "--output-format", "json", "train.py", cwd=tmp_path / "project")
    told = json.loads(done.stdout)
    assert told["outcome"] == ("diverged" if varies else "equal"), told["said"]
    assert [loss["iteration"] for loss in told["losses"][0]["main"]] == [0, 1]
    assert done.returncode == int(varies)
    assert ("other frameworks aren't traced" in told["said"]) is varies

"""What a trace of MindSpore or TensorFlow costs.

    python benchmarks/trace_frameworks.py [mindspore] [tensorflow]

A traced training step of a small CNN against a plain one, in turn: as the program runs by itself, and with everything compiled
that the framework would compile if it were asked to, since a trace of level `kernel` runs that uncompiled. Ratios are of medians and of
the best of many steps: the machine's load is printed beside them.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("GLOG_v", "3")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from detlint.runtime import trace
from detlint.tracing.calls import calls
from detlint.tracing.settings import Framework

STEPS = 15
Step = Callable[[], Any]


def _mindspore() -> tuple[Step, Step]:
    """A step in PyNative mode, and the same compiled. The batch is smaller than the other: the kernels on the CPU are slow."""
    import mindspore
    import numpy
    from mindspore import nn

    class Net(nn.Cell):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second, self.third = nn.Conv2d(3, 16, 3), nn.Conv2d(16, 32, 3, 2), nn.Conv2d(32, 32, 3)
            self.norm, self.other = nn.BatchNorm2d(16), nn.BatchNorm2d(32)
            self.relu, self.flat = nn.ReLU(), nn.Flatten()
            self.drop, self.head = nn.Dropout(p=0.1), nn.Dense(32 * 8 * 8, 10)

        def construct(self, x: Any) -> Any:
            x = self.relu(self.other(self.second(self.relu(self.norm(self.first(x))))))
            return self.head(self.drop(self.flat(self.third(x))))

    mindspore.set_seed(0)
    net, loss = Net(), nn.CrossEntropyLoss()
    net.set_train()
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    compute = mindspore.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)
    x = mindspore.Tensor(numpy.random.rand(4, 3, 16, 16), mindspore.float32)
    y = mindspore.Tensor(numpy.arange(4), mindspore.int32)

    def step() -> Any:
        found, gradients = compute(x, y)
        optimizer(gradients)
        return found.asnumpy()

    cell = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)

    @mindspore.jit  # type: ignore[untyped-decorator]
    def whole(x: Any, y: Any) -> Any:
        return cell(x, y)

    return step, lambda: whole(x, y).asnumpy()


def _tensorflow() -> tuple[Step, Step]:
    """A step that runs eagerly, and the same compiled."""
    import keras
    import numpy
    import tensorflow
    from keras import layers

    keras.utils.set_random_seed(0)
    net = keras.Sequential(
        [
            layers.Input((32, 32, 3)),
            layers.Conv2D(16, 3, padding="same"), layers.BatchNormalization(), layers.ReLU(),
            layers.Conv2D(32, 3, 2, padding="same"), layers.BatchNormalization(), layers.ReLU(),
            layers.Conv2D(32, 3, padding="same"), layers.Flatten(), layers.Dropout(0.1), layers.Dense(10),
        ]
    )  # fmt: skip
    loss, optimizer = keras.losses.SparseCategoricalCrossentropy(from_logits=True), keras.optimizers.SGD(0.01, 0.9)
    x, y = numpy.random.rand(16, 32, 32, 3).astype("float32"), numpy.arange(16) % 10

    def step() -> Any:
        return step_of(tensorflow, net, loss, optimizer, x, y).numpy()

    compiled = tensorflow.function(lambda: step_of(tensorflow, net, loss, optimizer, x, y))
    return step, lambda: compiled().numpy()


def step_of(tensorflow: Any, net: Any, loss: Any, optimizer: Any, x: Any, y: Any) -> Any:
    """A step that can be compiled."""
    with tensorflow.GradientTape() as tape:
        found = loss(y, net(x, training=True))
    gradients = tape.gradient(found, net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, net.trainable_variables, strict=True))
    return found


MADE: dict[Framework, Callable[[], tuple[Step, Step]]] = {"mindspore": _mindspore, "tensorflow": _tensorflow}


def cost(framework: Framework) -> None:
    """A traced step against a plain one."""
    step, compiled = MADE[framework]()
    for _ in range(3):
        step()
        compiled()
    plain, whole, with_trace = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for i in range(STEPS):
            plain.append(_timed(step))
            whole.append(_timed(compiled))
            with trace(Path(folder, str(i)), framework=framework):
                step()  # names and call sites are written once
                with_trace.append(_timed(step))
        sizes, rows = [], 0
        for name, count in (("one", 1), ("long", 20)):
            with trace(Path(folder, name), framework=framework):
                for _ in range(count):
                    step()
            file = next(Path(folder, name).iterdir())
            sizes.append(file.stat().st_size)
            rows = rows or sum(1 for _ in calls(file))
    ratios = statistics.median(with_trace) / statistics.median(plain), min(with_trace) / min(plain)
    print(
        f"| {framework} | {statistics.median(plain) * 1e3:.1f} | {statistics.median(whole) * 1e3:.1f} "
        f"| {statistics.median(with_trace) * 1e3:.1f} | {ratios[0]:.2f} | {ratios[1]:.2f} "
        f"| {statistics.median(with_trace) / statistics.median(whole):.2f} | {rows} "
        f"| {(sizes[1] - sizes[0]) / 19 / 1024:.1f} (the first: {sizes[0] / 1024:.1f}) |"
    )


def _timed(step: Step) -> float:
    started = time.perf_counter()
    step()
    return time.perf_counter() - started


def main() -> None:
    """Measure what is asked for, or both."""
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print(
        "| framework | plain (ms) | compiled (ms) | traced (ms) | ratio of medians | of the best | to compiled | rows a step | KB a step |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for framework in MADE:
        if framework in (sys.argv[1:] or MADE):
            cost(framework)


if __name__ == "__main__":
    main()

"""Linear regression in MindSpore on samples that a Python object gives."""
import argparse

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops


class Line:
    def __init__(self, count):
        self.count = count

    def __getitem__(self, index):
        x = np.array([index / self.count], np.float32)
        return x, 3 * x + 1

    def __len__(self):
        return self.count


def jitter(x):
    return x + np.random.normal(0, 0.05, x.shape).astype(np.float32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()

    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_device("CPU")
    dataset = ds.GeneratorDataset(Line(48), ["x", "y"], num_parallel_workers=2)
    dataset = dataset.map(jitter, input_columns="x", num_parallel_workers=2)
    dataset = dataset.batch(8)
    network = nn.SequentialCell(nn.Dense(1, 8), nn.ReLU(), nn.Dropout(p=0.1), nn.Dense(8, 1))
    optimizer = nn.Adam(network.trainable_params(), learning_rate=0.01)

    def forward(x, y):
        return ops.square(network(x) - y).mean()

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)
    network.set_train()
    for epoch in range(args.epochs):
        for x, y in dataset.create_tuple_iterator(num_epochs=1):
            loss, grads = grad_fn(x, y)
            optimizer(grads)
            print(epoch, float(loss.asnumpy()))
    print([float(p.asnumpy().astype(np.float64).sum()) for p in network.trainable_params()])


if __name__ == "__main__":
    main()

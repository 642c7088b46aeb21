import argparse
import hashlib

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

from lenet import LeNet5


def create_dataset(count, batch_size):
    """Images of one bright quarter; the label says which."""
    images = np.zeros((count, 1, 14, 14), np.float32)
    labels = np.arange(count, dtype=np.int32) % 4
    for i, label in enumerate(labels):
        top, left = divmod(label, 2)
        images[i, 0, 7 * top : 7 * top + 7, 7 * left : 7 * left + 7] = 0.5 + i / count
    dataset = ds.NumpySlicesDataset({"image": images, "label": labels}, shuffle=True)
    return dataset.batch(batch_size, drop_remainder=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch_size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.05)
    args = parser.parse_args()

    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_device("CPU")
    network = LeNet5()
    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.Momentum(network.trainable_params(), args.lr, 0.9)

    def forward(images, labels):
        return loss_fn(network(images), labels)

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)
    network.set_train()
    dataset = create_dataset(64, args.batch_size)
    for epoch in range(args.epochs):
        for images, labels in dataset.create_tuple_iterator():
            loss, grads = grad_fn(images, labels)
            optimizer(grads)
            print(f"epoch {epoch} loss {float(loss.asnumpy())!r}")
    digest = hashlib.sha256()
    for parameter in network.trainable_params():
        digest.update(parameter.asnumpy().tobytes())
    print(digest.hexdigest())


if __name__ == "__main__":
    main()

import argparse

import numpy as np
from tensorflow import keras

from model import build_model


def load_data(count):
    x = np.linspace(-1, 1, count * 10, dtype="float32").reshape(count, 10)
    y = np.sin(x.sum(axis=1)) + np.random.normal(scale=0.01, size=count)
    return x, y.astype("float32")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch_size", type=int, default=16)
    parser.add_argument("--units", type=int, default=16)
    args = parser.parse_args()

    model = build_model(args.units)
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
    x_train, y_train = load_data(64)
    history = model.fit(x_train, y_train, epochs=args.epochs, batch_size=args.batch_size, verbose=0)
    print(history.history["loss"])
    print([float(np.abs(w.astype("float64")).sum()) for w in model.get_weights()])

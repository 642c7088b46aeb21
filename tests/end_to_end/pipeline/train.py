"""A tf.data pipeline with random augmentation, and a training loop of its own."""
import argparse

import tensorflow as tf


def load(index):
    """An image with one bright row."""
    row = tf.cast(index % 6, tf.int32)
    return tf.tile(tf.one_hot(row, 6)[:, None], [1, 6])[..., None], row


def augment(image, label):
    image = tf.image.random_brightness(image, 0.2)
    image = tf.image.random_flip_left_right(image)
    image += tf.random.normal(tf.shape(image), stddev=0.05)
    return image, label


def make_dataset(count, batch_size):
    dataset = tf.data.Dataset.range(count).map(load, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.shuffle(count).map(augment, num_parallel_calls=tf.data.AUTOTUNE)
    return dataset.batch(batch_size).prefetch(tf.data.AUTOTUNE)


class Linear(tf.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.w = tf.Variable(tf.random.normal([inputs, outputs], stddev=0.1))
        self.b = tf.Variable(tf.zeros([outputs]))

    def __call__(self, x):
        return tf.reshape(x, [x.shape[0], -1]) @ self.w + self.b


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=12)
    parser.add_argument("--lr", type=float, default=0.5)
    args = parser.parse_args()

    model = Linear(36, 6)
    dataset = make_dataset(48, args.batch_size)
    for epoch in range(args.epochs):
        for images, labels in dataset:
            with tf.GradientTape() as tape:
                loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(images))
                loss = tf.reduce_mean(loss)
            for variable, gradient in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
                variable.assign_sub(args.lr * gradient)
            print(epoch, float(loss))
    print(repr(model.w.numpy().tobytes().hex()))


if __name__ == "__main__":
    main()

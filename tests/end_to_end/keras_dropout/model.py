from tensorflow import keras
from tensorflow.keras import layers


def build_model(units, rate=0.3):
    return keras.Sequential(
        [
            keras.Input(shape=(10,)),
            layers.GaussianNoise(0.1),
            layers.Dense(units, activation="relu", kernel_initializer="he_normal"),
            layers.Dropout(rate),
            layers.Dense(units, activation="relu"),
            layers.Dense(1),
        ]
    )

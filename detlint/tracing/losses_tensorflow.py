"""The losses of TensorFlow and Keras, read where they hand them to Python."""

from __future__ import annotations

from collections.abc import Iterable
from functools import wraps
from types import ModuleType
from typing import Any

from detlint.tracing import losses
from detlint.tracing.arrays import of_array, of_numbers
from detlint.tracing.losses import Recorder

_fitting = 0
"""How many calls of `fit` run: what they call isn't asked then."""


def of_tensorflow(tensorflow: ModuleType) -> None:
    """Read what gradients are computed of; inside of a `tf.function` there is no value to read."""
    gradient = tensorflow.GradientTape.gradient

    @wraps(gradient)
    def reading(self: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
        recorder = losses.current
        if not _fitting and recorder is not None and tensorflow.executing_eagerly() and hasattr(target, "numpy"):
            if recorder.steps:
                recorder.state = _state(tensorflow.nest.flatten(sources))
            _add(recorder, target, "GradientTape")
            recorder.stepped(str)
        return gradient(self, target, sources, *args, **kwargs)

    tensorflow.GradientTape.gradient = reading


def of_keras(keras: ModuleType) -> None:
    """Read what `fit` tells its callbacks after each batch, the mean of the epoch so far, and what `train_on_batch` gives."""
    if keras.backend.backend() == "torch":
        return  # it calls backward
    assert losses.current is not None
    recorder: Recorder = losses.current
    fit, train = keras.Model.fit, keras.Model.train_on_batch

    class Reader(keras.callbacks.Callback):  # type: ignore[name-defined, misc]
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if logs and "loss" in logs:
                _add(recorder, logs["loss"], "fit")
                recorder.stepped(lambda: _state(self.model.trainable_variables))

    @wraps(fit)
    def fitting(self: Any, *args: Any, **kwargs: Any) -> Any:
        global _fitting
        given = kwargs.get("callbacks")
        if len(args) < 6 and (given is None or isinstance(given, list | tuple)):
            kwargs["callbacks"] = [*(given or ()), Reader()]
        _fitting += 1
        try:
            return fit(self, *args, **kwargs)
        finally:
            _fitting -= 1

    @wraps(train)
    def training(self: Any, *args: Any, **kwargs: Any) -> Any:
        global _fitting
        _fitting += 1
        try:
            result = train(self, *args, **kwargs)
        finally:
            _fitting -= 1
        found = (
            result["loss"] if isinstance(result, dict) else result[0] if isinstance(result, list | tuple) else result
        )
        _add(recorder, found, "train_on_batch")
        recorder.stepped(lambda: _state(self.trainable_variables))
        return result

    keras.Model.fit = fitting
    keras.Model.train_on_batch = training


def _add(recorder: Recorder, value: Any, source: str) -> None:
    """Write a loss."""
    array = value.numpy() if hasattr(value, "numpy") else value
    number = float(array.mean()) if hasattr(array, "mean") else float(array)
    bits: str = array.tobytes().hex() if hasattr(array, "tobytes") else number.hex()
    recorder.add(number, bits, source)


def _state(variables: Iterable[Any]) -> str:
    """The digest of what variables hold."""
    arrays = (variable.numpy() for variable in variables if hasattr(variable, "numpy"))
    return f"{of_numbers(of_array(array) for array in arrays if hasattr(array, 'dtype')):016x}"

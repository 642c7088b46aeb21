"""For Hugging Face's Transformers: a `Trainer` that trains enforced.

`Trainer(..., callbacks=[Determinism()])`. https://huggingface.co/docs/transformers/main_classes/callback has the hooks.
"""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from detlint.runtime.enforced import Enforcement, enforce


class Determinism(TrainerCallback):  # type: ignore[misc]
    """Enforces from the making of the `Trainer` to the end of its training, and in each later one, with the trainer's seed.

    The trainer's own checkpoints hold Python's, NumPy's and PyTorch's streams.

    Attributes:
        enforcement: what `detlint.runtime.enforce` returns, whose `report` says what was done; None before it has begun.
    """

    def __init__(self, **options: Any) -> None:
        """
        Args:
            options: as for `detlint.runtime.enforce`; `seed` is the training arguments', unless it is given.
        """
        self._options = options
        self.enforcement: Enforcement | None = None
        self._active = False

    def on_init_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._begin(args)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._begin(args)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._active and self.enforcement is not None:
            self._active = False
            self.enforcement.restore()

    def _begin(self, args: Any) -> None:
        if not self._active:
            if self.enforcement is None:
                self.enforcement = enforce(**{"seed": args.seed, **self._options})
            self.enforcement.start()
            self._active = True

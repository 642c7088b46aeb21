"""For Lightning: training runs enforced, and checkpoints hold every random stream.

`Trainer(callbacks=[Determinism()])`. https://lightning.ai/docs/pytorch/stable/extensions/callbacks.html has the hooks.
"""

from __future__ import annotations

from typing import Any

from detlint.runtime.enforced import enforce
from detlint.runtime.resume import load_state_dict, state_dict

try:
    from lightning.pytorch import Callback
except ImportError:
    from pytorch_lightning import Callback


class Determinism(Callback):  # type: ignore[misc]
    """Enforces from the set-up of `fit`, `validate`, `test` or `predict` to its end, and tells the losses to `detlint verify`.

    Attributes:
        enforcement: what `detlint.runtime.enforce` returns; its `report` says what was done.
    """

    def __init__(self, **options: Any) -> None:
        """
        Args:
            options: as for `detlint.runtime.enforce`; also what is enforced already, by `detlint run`, is so once more.
        """
        super().__init__()
        self.enforcement = enforce(**options)
        self._saved: dict[str, Any] | None = None
        self._active = False

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if not self._active:
            self._active = True
            self.enforcement.start()

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        self._end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._end()

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """What the checkpoint held takes the place of what building the model has drawn. Next, the loaders' iterations begin."""
        if self._saved is not None:
            saved, self._saved = self._saved, None
            load_state_dict(saved)

    def state_dict(self) -> dict[str, Any]:
        return state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._saved = state_dict

    def _end(self) -> None:
        if self._active:
            self._active = False
            self.enforcement.restore()

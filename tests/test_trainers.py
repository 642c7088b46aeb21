"""The callbacks of Lightning and Transformers, with the real libraries where they are installed."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")


def test_a_lightning_run_is_enforced_and_goes_on_as_it_would_have(tmp_path: Path) -> None:
    lightning: Any = pytest.importorskip("lightning", reason="Lightning is not installed")
    from detlint.runtime.lightning import Determinism

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    class Net(lightning.LightningModule):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
            self.seen: list[tuple[float, bool]] = []

        def training_step(self, batch: Any, number: int) -> Any:
            loss = self.net(batch[0]).square().mean()
            self.seen.append((loss.item(), torch.are_deterministic_algorithms_enabled()))
            return loss

        def configure_optimizers(self) -> Any:
            return torch.optim.Adam(self.parameters(), 0.01)

    def run(epochs: int, checkpoint: Path | None = None) -> list[tuple[float, bool]]:
        torch.manual_seed(0)
        net, data = Net(), torch.utils.data.TensorDataset(torch.arange(64.0).view(16, 4) / 64)
        kept = lightning.pytorch.callbacks.ModelCheckpoint(tmp_path, "{epoch}", save_top_k=-1)
        trainer = lightning.Trainer(
            max_epochs=epochs, callbacks=[Determinism(seed=5), kept], logger=False, accelerator="cpu",
            enable_progress_bar=False, enable_model_summary=False,
        )  # fmt: skip
        trainer.fit(net, torch.utils.data.DataLoader(data, 4, shuffle=True), ckpt_path=checkpoint)
        return net.seen

    whole = run(4)
    assert whole[8:] == run(4, tmp_path / "epoch=1.ckpt")
    assert all(enforced for _, enforced in whole)
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_run_of_transformers_is_enforced_with_its_own_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    transformers = pytest.importorskip("transformers", reason="Transformers is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    from detlint.runtime.transformers import Determinism

    data = [{"input_ids": torch.arange(i, i + 8) % 30, "labels": torch.tensor(i % 2)} for i in range(16)]
    config = transformers.BertConfig(
        vocab_size=32, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )

    def run() -> tuple[list[float], Any]:
        torch.manual_seed(0)
        callback, net = Determinism(), transformers.BertForSequenceClassification(config)
        arguments = transformers.TrainingArguments(
            tmp_path, max_steps=3, logging_steps=1, save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True, seed=9
        )  # fmt: skip
        trainer = transformers.Trainer(model=net, args=arguments, train_dataset=data, callbacks=[callback])
        assert torch.are_deterministic_algorithms_enabled()
        trainer.train()
        return [row["loss"] for row in trainer.state.log_history if "loss" in row], callback.enforcement

    losses, enforcement = run()
    assert len(losses) == 3
    assert losses == run()[0]
    assert enforcement.options.seed == 9
    assert not torch.are_deterministic_algorithms_enabled()

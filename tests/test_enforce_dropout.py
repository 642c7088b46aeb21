"""Dropout off by every route that a program may take to it, and on again after leaving."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("torch")

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.functional import dropout as imported_early

from detlint.runtime import enforce

BUILT_EARLY = nn.Dropout(0.5)
X = torch.ones(4, 6, 8)
IMAGE = torch.ones(4, 6, 8, 8)
VOLUME = torch.ones(4, 6, 4, 4, 4)


def attention(**settings: Any) -> torch.Tensor:
    torch.manual_seed(7)  # the weights
    layer = nn.MultiheadAttention(8, 2, dropout=0.5, batch_first=True)
    return result(lambda: layer(X, X, X, **settings)[0])


def recurrent(kind: Callable[..., nn.Module]) -> Callable[[], torch.Tensor]:
    def run() -> torch.Tensor:
        torch.manual_seed(7)
        layer = kind(8, 8, num_layers=2, dropout=0.5)
        return result(lambda: layer(X)[0])

    return run


def encoder() -> torch.Tensor:
    torch.manual_seed(7)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.5, batch_first=True)
    return result(lambda: layer(X))


def packed() -> torch.Tensor:
    torch.manual_seed(7)
    layer = nn.LSTM(8, 8, num_layers=2, dropout=0.5)
    sequence = nn.utils.rnn.pack_padded_sequence(X, [4, 4, 3, 3, 2, 2], enforce_sorted=True)
    return result(lambda: layer(sequence)[0].data)


def scripted() -> torch.Tensor:
    torch.manual_seed(7)
    network = torch.jit.script(nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.AlphaDropout(0.5)))
    return result(lambda: network(X))


def compiled() -> torch.Tensor:
    torch.manual_seed(7)
    network = torch.compile(nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5)), backend="eager")
    return result(lambda: F.dropout(network(X)))


def result(run: Callable[[], torch.Tensor]) -> torch.Tensor:
    """What it gives, drawn from a state that no two calls share."""
    torch.manual_seed(int.from_bytes(os.urandom(4), "big"))
    return run()


ROUTES: dict[str, Callable[[], torch.Tensor]] = {
    "nn.Dropout": lambda: nn.Dropout(0.5)(X),
    "nn.Dropout1d": lambda: nn.Dropout1d(0.5)(X),
    "nn.Dropout2d": lambda: nn.Dropout2d(0.5)(IMAGE),
    "nn.Dropout3d": lambda: nn.Dropout3d(0.5)(VOLUME),
    "nn.Dropout, built early": lambda: BUILT_EARLY(X),
    "nn.AlphaDropout": lambda: nn.AlphaDropout(0.5)(X),
    "nn.FeatureAlphaDropout": lambda: nn.FeatureAlphaDropout(0.5)(IMAGE),
    "F.dropout": lambda: F.dropout(X),
    "F.dropout, imported early": lambda: imported_early(X),
    "F.dropout1d": lambda: F.dropout1d(X),
    "F.alpha_dropout": lambda: F.alpha_dropout(X, training=True),
    "F.feature_alpha_dropout": lambda: F.feature_alpha_dropout(IMAGE, training=True),
    "torch.dropout": lambda: torch.dropout(X, 0.5, True),
    "torch.native_dropout": lambda: torch.native_dropout(X, 0.5, True)[0],
    "torch.feature_dropout": lambda: torch.feature_dropout(IMAGE, 0.5, True),
    "torch.ops.aten.dropout": lambda: torch.ops.aten.dropout(X, 0.5, True),
    "scaled_dot_product_attention": lambda: F.scaled_dot_product_attention(X, X, X, dropout_p=0.5),
    "MultiheadAttention": attention,
    "MultiheadAttention without weights": lambda: attention(need_weights=False),
    "TransformerEncoderLayer": encoder,
    "LSTM": recurrent(nn.LSTM),
    "GRU": recurrent(nn.GRU),
}
"""The routes of which msprobe's `seed_all(mode=True, rm_dropout=True)` leaves sixteen on, by experiment."""
MORE: dict[str, Callable[[], torch.Tensor]] = {
    "torch.ops.aten.dropout.default": lambda: torch.ops.aten.dropout.default(X, 0.5, True),
    "torch.ops.aten.native_dropout": lambda: torch.ops.aten.native_dropout(X, 0.5, True)[0],
    "F.dropout in place": lambda: F.dropout(X.clone(), inplace=True),
    "torch.dropout_": lambda: torch.dropout_(X.clone(), 0.5, True),
    "torch.alpha_dropout": lambda: torch.alpha_dropout(X, 0.5, True),
    "RNN": recurrent(nn.RNN),
    "LSTM, packed": packed,
    "nn.RReLU": lambda: nn.RReLU()(-X),
    "F.rrelu": lambda: F.rrelu(-X, training=True),
    "torch.rrelu": lambda: torch.rrelu(-X, training=True),
    "a script": scripted,
    "torch.compile": compiled,
}


def varies(route: Callable[[], torch.Tensor]) -> bool:
    """Whether one of several calls from different states differs from the first."""
    first = result(route)
    return any(not torch.equal(first, result(route)) for _ in range(8))


@pytest.mark.parametrize("name", [*ROUTES, *MORE])
def test_dropout_is_off_by_every_route_and_on_again_after_leaving(name: str) -> None:
    route = {**ROUTES, **MORE}[name]
    assert varies(route)
    with enforce(dropout="off"):
        assert not varies(route)
    assert varies(route)


def test_there_are_twenty_two_routes() -> None:
    assert len(ROUTES) == 22


@pytest.mark.parametrize("name", ["nn.Dropout", "torch.dropout", "LSTM", "nn.RReLU", "a script"])
def test_the_report_has_the_rule_and_the_line_that_led_there(name: str) -> None:
    with enforce(dropout="off") as enforced:
        {**ROUTES, **MORE}[name]()
    [row] = {row.filename: row for row in enforced.report.interventions}.values()
    assert Path(row.filename) == Path(__file__)
    assert row.code in ("DET201", "DET202", "DET203")
    assert row.count >= 1


def test_the_profile_reproduce_keeps_dropout() -> None:
    with enforce():
        assert varies(ROUTES["nn.Dropout"])


def test_a_layer_is_as_it_was_after_its_call_also_after_an_error() -> None:
    layer = nn.Dropout(0.5)
    with enforce(dropout="off"):
        layer(X)
        assert layer.p == 0.5
        with pytest.raises(TypeError):
            layer(X, X)
        assert layer.p == 0.5


def test_what_evaluates_is_left_alone_and_not_told() -> None:
    with enforce(dropout="off") as enforced:
        nn.Dropout(0.5).eval()(X)
        F.dropout(X, training=False)
        F.dropout(X, p=0.0)
    assert enforced.report.interventions == []


def test_a_projects_own_copy_of_drop_path_is_off_by_its_name() -> None:
    class DropPath(nn.Module):
        def __init__(self, drop_prob: float = 0.0) -> None:
            super().__init__()
            self.drop_prob = drop_prob

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if not self.training or self.drop_prob == 0.0:
                return x
            return x * torch.empty(len(x), 1, 1).bernoulli_(1 - self.drop_prob)

    layer = DropPath(0.5)
    assert varies(lambda: layer(X))
    with enforce(dropout="off") as enforced:
        assert not varies(lambda: layer(X))
    assert {row.code for row in enforced.report.interventions} == {"DET203"}
    assert layer.drop_prob == 0.5

"""The losses of several runs as curves on a terminal."""

from __future__ import annotations

from typing import Final

from detlint.tracing.losses import Loss

_ROWS: Final = 10
_MARGIN: Final = 16
"""Columns that the scale and the axis take."""
_FEWEST: Final = 3
"""Points below which numbers say more than a curve."""
_LARGEST: Final = 1e300
_COLOURS: Final = ("bright_blue", "bright_red", "bright_green", "bright_yellow")


def curves(runs: list[dict[str, list[Loss]]], width: int) -> list[str]:
    """The first process's losses in each run; empty where there are too few for a curve."""
    firsts = [next(iter(run.values()), []) for run in runs]
    # What is no number, or is out of all proportion, has no place on a scale.
    series = [[(i, loss.value) for i, loss in enumerate(run) if abs(loss.value) < _LARGEST] for run in firsts]
    if max(map(len, series), default=0) < _FEWEST:
        return []
    import plotille

    figure = plotille.Figure()
    figure.width, figure.height, figure.origin, figure.color_mode = width - _MARGIN, _ROWS, False, "names"
    figure.x_label, figure.y_label = "iteration", "loss"
    for number, losses in enumerate(series):
        places, values = [i for i, _ in losses], [value for _, value in losses]
        figure.plot(places, values, lc=_COLOURS[number % len(_COLOURS)], label=f"run {number + 1}")
    return [line.rstrip() for line in figure.show(legend=True).splitlines()]

"""The windows of pooling and convolution. Where many share a place, its gradient is a sum, in an order that may vary."""

from __future__ import annotations

import math
from collections.abc import Sequence


def are_crowded(sizes: Sequence[float | None], steps: Sequence[float | None]) -> bool | None:
    """Whether some place is in more than two windows; None where a number that isn't known decides.

    Both are given a number for each dimension, or one that stands for all of them. In one dimension a place is in as many
    windows as begin within one, in several in the product of these.
    """
    if not sizes or not steps or (len(sizes) != len(steps) and 1 not in (len(sizes), len(steps))):
        return None
    dimensions = max(len(sizes), len(steps))
    pairs = zip([*sizes] * (dimensions // len(sizes)), [*steps] * (dimensions // len(steps)), strict=True)
    windows = [None if not step or size is None else math.ceil(size / step) for size, step in pairs]
    # One number stands for every dimension, of which there may be several.
    shared = windows * 2 if dimensions == 1 else windows
    if math.prod(count for count in shared if count is not None) > 2:
        return True
    return None if None in windows else False

"""The sizes of images, as transforms keep them."""

from __future__ import annotations

from typing import Any


def side(size: Any) -> Any:
    """The side of a square; what is no square stays as it is.

    `RandomResizedCrop(224)` keeps its size as (224, 224). Resizing takes the one for the shorter edge, and the other for the shape.
    """
    try:
        lengths = {*size}
    except TypeError:
        return size
    return lengths.pop() if len(lengths) == 1 else size

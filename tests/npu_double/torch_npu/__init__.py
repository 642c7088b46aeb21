"""A double of `torch_npu` 2.13: the names and signatures of the real one, over `_device`. Importing it makes the device.

Only what detlint and its tests use. The real package needs CANN and an Ascend device; see ../__init__.py.
"""

from __future__ import annotations

from . import _device, npu

__version__ = "2.13.0"
_device.register(npu)

__all__ = ["npu"]

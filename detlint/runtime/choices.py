"""The words that the options of `enforce` can be given, which are also those of `[tool.detlint.runtime]`."""

from __future__ import annotations

from typing import Literal

Profile = Literal["reproduce", "align"]
Dropout = Literal["keep", "off"]
Rng = Literal["device", "cpu"]
Handled = Literal["listed", "keep"]
"""`listed`: what the catalog lists. A list of APIs or of rule codes narrows it to these."""
Loaders = Literal["seeded", "sequential", "keep"]
Transforms = Literal["keep", "off"]
Collectives = Literal["deterministic", "strict", "keep"]
Unsupported = Literal["warn", "error", "cpu"]

"""What a file is judged for: the hardware that it runs on, and the versions of its libraries."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from detlint.catalog import Entry
from detlint.config import Settings
from detlint.facts.model import Facts

DEVICES: Final = {
    "ascend": "ascend", "cuda": "cuda", "gpu": "cuda", "hccl": "ascend", "mps": "mps", "nccl": "cuda", "npu": "ascend",
    "tpu": "tpu", "xla": "tpu",
}  # fmt: skip
"""Words of `Facts.mentions` -> target."""


def targets(facts: Facts, settings: Settings) -> frozenset[str]:
    """The hardware that a file is judged for.

    What the configuration says; else what the file mentions; PyTorch and TensorFlow train on CUDA, MindSpore on Ascend.
    """
    if settings.targets:
        return frozenset(settings.targets)
    found = {DEVICES[word] for word in facts.mentions}
    roots = {name.partition(".")[0] for name in facts.imports}
    if roots & {"mindspore", "mindcv", "torch_npu"}:
        found.add("ascend")
    if not found or roots & {"torch", "torchvision", "tensorflow", "keras", "mmcv", "mmdet"}:
        found.add("cuda")
    return frozenset(found)


@lru_cache(maxsize=1024)
def _requirement(text: str) -> tuple[str, object]:
    from packaging.requirements import Requirement

    requirement = Requirement(text)
    return requirement.name, requirement.specifier


def applies_to_version(entry: Entry, settings: Settings) -> bool:
    """Whether an entry holds for the configured version of its library; unknown means the newest."""
    if not entry.versions:
        return True
    from packaging.specifiers import SpecifierSet

    name, specifier = _requirement(entry.versions)
    assert isinstance(specifier, SpecifierSet)
    return specifier.contains(settings.versions.get(name, "9999"), prereleases=True)

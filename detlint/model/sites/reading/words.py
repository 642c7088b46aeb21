"""Words in the names and texts of a file's code that say something of the whole: which devices it names, whether a text speaks of seeds."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_DEVICES: Final = ("ascend", "cuda", "gpu", "hccl", "mps", "nccl", "npu", "tpu", "xla")


def mentions(texts: Iterable[object]) -> tuple[str, ...]:
    """The words for devices in the names and texts of a file's code, sorted; `_` and digits end a word here (`torch_npu`, `cuda0`).

    Args:
        texts: these, and other constants.
    """
    said = "\n".join([text for text in texts if isinstance(text, str)]).lower()
    return tuple(word for word in _DEVICES if _has(said, word))


def _has(said: str, word: str) -> bool:
    place = said.find(word)
    while place >= 0:
        end = place + len(word)
        if not _is_letter(said[place - 1 : place]) and not _is_letter(said[end : end + 1]):
            return True
        place = said.find(word, place + 1)
    return False


def _is_letter(sign: str) -> bool:
    return "a" <= sign <= "z"


def may_seed(text: str) -> bool:
    """Whether a text speaks of seeds or of determinism."""
    lower = text.lower()
    return "seed" in lower or "random" in lower or "determin" in lower or "reprod" in lower


name_may_seed: Final = lru_cache(maxsize=8192)(may_seed)

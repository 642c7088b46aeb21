"""Which files are tests: what they do is judged more mildly, and says nothing of how the rest is used."""

from __future__ import annotations

import os
import re
from typing import Final

TESTS: Final = re.compile(r"(?:^|/)(?:tests?|testing)(?:/|$)|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")


def is_test(path: str, root: str) -> bool:
    """Whether a file is test code, by its path below the project's root."""
    return bool(TESTS.search(path.removeprefix(root).replace(os.sep, "/")))

"""Which files are tests: what they do is judged more mildly, and says nothing of how the rest is used."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Final

from detlint.program.resolve import Module
from detlint.program.users import Use

TESTS: Final = re.compile(r"(?:^|/)(?:tests?|testing)(?:/|$)|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")


def is_test(path: str, root: str) -> bool:
    """Whether a file is test code, by its path below the project's root."""
    return bool(TESTS.search(path.removeprefix(root).replace(os.sep, "/")))


def has_tests(module: Module, root: str) -> bool:
    """Whether a test runner runs a file: it is test code by its path, and a function or method of it is called a test."""
    names = (function.name.rpartition(".")[2] for function in module.facts.functions)
    return is_test(module.path, root) and any(name.startswith("test_") for name in names)


def telling(uses: Iterable[Use], module: Module, root: str) -> Iterator[Use]:
    """The uses of a module's definition that tell how it is used: what tests do with it doesn't, unless it is one of theirs."""
    tests = is_test(module.path, root)
    return (use for use in uses if tests or not is_test(use.module.path, root))

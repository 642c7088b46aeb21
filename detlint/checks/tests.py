"""Which files are tests: what they do is judged more mildly, and says nothing of how the rest is used."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from detlint.program.resolve import Module
from detlint.program.users import Use

TESTS: Final = re.compile(
    r"(?:^|/)(?:tests?|_?testing)(?:/|$)|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest|_?testing(?:_[^/]*)?)\.py$"
)


def is_test(path: str, root: str) -> bool:
    """Whether a file is test code, by its path below the project's root."""
    return bool(TESTS.search(path.removeprefix(root).replace(os.sep, "/")))


def has_tests(module: Module, root: str, testing: Collection[str]) -> bool:
    """Whether a test runner runs a file: it is in a folder of tests or imports a runner, and a function or method of it is called
    a test. A script `test_net.py` elsewhere may be what evaluates a network.

    Args:
        testing: modules that are only there while tests run.
    """
    if not is_test(module.path, root):
        return False
    within = is_test(os.path.join(os.path.dirname(module.path), ""), root)
    runs = within or any(name.partition(".")[0] in testing for name in module.facts.imports)
    return runs and holds_tests(module)


def holds_tests(module: Module) -> bool:
    """Whether a function or method of a file is called a test."""
    return any(function.name.rpartition(".")[2].startswith("test_") for function in module.facts.functions)


def telling(uses: Iterable[Use], module: Module, root: str) -> Iterator[Use]:
    """The uses of a module's definition that tell how it is used: what tests do with it doesn't, unless it is one of theirs."""
    tests = is_test(module.path, root)
    return (use for use in uses if tests or not is_test(use.module.path, root))

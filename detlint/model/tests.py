"""Which files are tests, by the names that pytest goes by: what they do is judged more mildly, and says nothing of how the rest is used."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from detlint.model.module import Module
from detlint.model.sites.records import Ref
from detlint.model.uses import Use

CONFTEST: Final = "conftest.py"


def is_test(path: str) -> bool:
    """Whether a file is one of pytest's, by its name."""
    name = os.path.basename(path)
    return name == CONFTEST or (name.startswith("test_") and name.endswith(".py")) or name.endswith("_test.py")


def has_tests(module: Module, testing: Collection[str]) -> bool:
    """Whether a test runner runs a file: it is called so, and imports a runner, or has a test that it doesn't call itself. A script
    `test_net.py` may be what evaluates a network.

    Args:
        testing: modules that are only there while tests run.
    """
    names = {f.name for f in module.facts.functions if f.name.rpartition(".")[2].startswith("test_")}
    if not names or not is_test(module.path):
        return False
    called = {site.target.name for site in module.sites if isinstance(site.target, Ref)}
    runs = any(name.partition(".")[0] in testing for name in module.facts.imports)
    return runs or any(f"{module.prefix}{name}" not in called for name in names)


def stands_in_test(module: Module, testing: Collection[str]) -> bool:
    """Whether what stands in a file is only run by a test runner."""
    return os.path.basename(module.path) == CONFTEST or has_tests(module, testing)


def telling(uses: Iterable[Use], module: Module) -> Iterator[Use]:
    """The uses of a module's definition that tell how it is used: what tests do with it doesn't, unless it is one of theirs."""
    tests = is_test(module.path)
    return (use for use in uses if tests or not is_test(use.module.path))

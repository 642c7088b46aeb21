"""Which files are tests: what they do is judged more mildly, and says nothing of how the rest is used."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Final

from detlint.facts.model import Ref
from detlint.program.resolve import Module
from detlint.program.users import Use

TESTS: Final = re.compile(r"(?:^|/)(?:tests?|testing)(?:/|$)|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")


def is_test(path: str, root: str) -> bool:
    """Whether a file is test code, by its path below the project's root."""
    return bool(TESTS.search(path.removeprefix(root).replace(os.sep, "/")))


def is_collected(module: Module, root: str) -> bool:
    """Whether a file is run by pytest, which imports it and calls its tests: nothing at its top level is a run of its own, unless
    that calls a test itself."""
    functions = {function.name for function in module.facts.functions if function.name.startswith("test")}
    if not is_test(module.path, root) or not (functions or any(name.startswith("Test") for name in module.classes)):
        return False
    called = (site.target.name for site in module.sites if not site.function and isinstance(site.target, Ref))
    return functions.isdisjoint(name.removeprefix(module.prefix) for name in called)


def telling(uses: Iterable[Use], module: Module, root: str) -> Iterator[Use]:
    """The uses of a module's definition that tell how it is used: what tests do with it doesn't, unless it is one of theirs."""
    tests = is_test(module.path, root)
    return (use for use in uses if tests or not is_test(use.module.path, root))

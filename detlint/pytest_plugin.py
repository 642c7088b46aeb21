"""The pytest plugin: tests that run enforced, and tests that are run twice to see whether they repeat.

It is loaded wherever pytest finds detlint installed, so all but pytest is imported where it is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from detlint.runtime.enforced import Enforcement

NAME: Final = "deterministic"
_MARKER: Final = (
    f"{NAME}(seed=1234, profile='reproduce', ...): run the test seeded and deterministic; what may be said is what "
    "detlint.runtime.enforce takes"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("detlint")
    group.addoption(
        "--detlint-verify",
        action="store_true",
        help="Run each selected test twice; one whose operators or logged losses differ fails, with the first that does.",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    if config.getoption("detlint_verify"):
        from detlint.tracing.pytest_twice import Twice

        config.pluginmanager.register(Twice(), "detlint-verify")


def pytest_itemcollected(item: pytest.Item) -> None:
    """A marked test asks for the fixture: before its others, behind those that more tests share."""
    names: list[str] | None = getattr(item, "fixturenames", None)
    if names is not None and NAME not in names and item.get_closest_marker(NAME) is not None:
        names.insert(sum(_is_shared(item, name) for name in names), NAME)


def _is_shared(item: Any, name: str) -> bool:
    definitions = item._fixtureinfo.name2fixturedefs.get(name)
    return bool(definitions) and definitions[-1].scope != "function"


@pytest.fixture
def deterministic(request: pytest.FixtureRequest) -> Iterator[Enforcement]:
    """The test runs under `detlint.runtime.enforce`; this is what that returns, whose `report` says what was done.

    Options are those of `[tool.detlint.runtime]`, and of the marker `deterministic`.
    """
    from detlint.config import ConfigError, enforced, load
    from detlint.runtime.enforced import enforce

    marker = request.node.get_closest_marker(NAME)
    try:
        if marker is not None and marker.args:
            raise TypeError(f"options are named: {NAME}(seed={marker.args[0]!r})")
        said = marker.kwargs if marker is not None else {}
        enforcement = enforce(**{**enforced(load(request.config.rootpath).settings), **said})
    except (ConfigError, TypeError, ValueError) as error:
        enforcement, wrong = None, f"{NAME}: {error}"
    if enforcement is None:
        pytest.fail(wrong, pytrace=False)
    with enforcement:
        yield enforcement

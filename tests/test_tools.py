"""The tools beside the package: the page that says what covers the guides, and the comparison with installed libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from conftest import REPOSITORY

JAX = """
class Anything:
    def __getattr__(self, name):
        return self


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    return Anything()


{}
"""
METADATA = "Metadata-Version: 2.1\nName: jax\nVersion: 0.10.2\n"


def tool(name: str, *arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    places = [str(path)] if path is not None else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*places, str(REPOSITORY)])}
    command = [sys.executable, str(REPOSITORY / "tools" / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def library(folder: Path, members: str = "", random: str | None = None) -> Path:
    """A package named as one that the tool knows, with the members that are asked for, and all others besides."""
    package = folder / "jax"
    package.mkdir()
    (package / "__init__.py").write_text(JAX.format(members))
    (package / "random.py").write_text(JAX.format("") if random is None else random)
    information = folder / "jax-0.10.2.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(METADATA)
    return folder


def test_the_page_about_the_guides_is_up_to_date() -> None:
    result = tool("coverage.py", "--check")
    assert result.returncode == 0, result.stderr


def test_a_library_that_is_as_the_catalog_has_it(tmp_path: Path) -> None:
    result = tool("freshness.py", "jax", path=library(tmp_path))
    assert (result.returncode, result.stdout) == (0, "jax 0.10.2: 0 new, 0 gone\n"), result.stderr


def test_what_is_new_in_a_library(tmp_path: Path) -> None:
    new = "def random_walk(key):\n    pass\n\n\ndef _random(key):\n    pass\n\n\ndef normal(key):\n    pass\n"
    result = tool("freshness.py", "jax", path=library(tmp_path, random=JAX.format(new)))
    assert result.returncode == 1
    assert result.stdout == "jax 0.10.2: new: jax.random.random_walk\njax 0.10.2: 1 new, 0 gone\n"


def test_what_is_gone_from_a_library(tmp_path: Path) -> None:
    result = tool("freshness.py", "jax", path=library(tmp_path, random="def normal(key):\n    pass\n"))
    assert result.returncode == 1
    assert "jax 0.10.2: gone: jax.random.PRNGKey\n" in result.stdout
    assert "jax.random.normal" not in result.stdout
    assert "gone: jax.grad" not in result.stdout


def test_a_library_that_the_tool_does_not_know() -> None:
    result = tool("freshness.py", "nope")
    assert result.returncode == 2
    assert "nope is not one of torch," in result.stderr

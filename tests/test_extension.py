"""The extension for Visual Studio Code: what it is built with, and what it has settings for. Its own tests are in `editors/vscode/test`."""

from __future__ import annotations

import json
import re
from typing import Any, Final, get_args

from conftest import REPOSITORY

from detlint.catalog.entries import Target

FOLDER: Final = REPOSITORY / "editors" / "vscode"
PACKAGE: Final[dict[str, Any]] = json.loads((FOLDER / "package.json").read_text("utf-8"))


def test_all_versions_are_pinned() -> None:
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in PACKAGE["devDependencies"].values())
    locked = json.loads((FOLDER / "package-lock.json").read_text("utf-8"))["packages"]
    assert locked[""]["devDependencies"] == PACKAGE["devDependencies"]
    assert all("integrity" in each and "resolved" not in each for name, each in locked.items() if name)


def test_settings_are_documented() -> None:
    documented = (REPOSITORY / "docs" / "editors.md").read_text("utf-8")
    settings = PACKAGE["contributes"]["configuration"]["properties"]
    assert [name for name in settings if f"`{name}`" not in documented] == []
    assert settings["detlint.targets"]["items"]["enum"] == [each for each in get_args(Target) if each != "hpu"]

"""What a project says of itself, besides its code."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from detlint.model.launches.documents import Documents


class Project(NamedTuple):
    """A project."""

    root: str
    """Its folder, an absolute path."""
    packaged: bool
    """Whether it is made to be installed, so that others use its packages."""
    declared: Collection[str]
    """The entry points that its metadata and its configuration name."""
    documents: Documents
    """Its launch files and files of settings."""
    versions: Mapping[str, dict[str, str]]
    """The versions of libraries that hold in some folders, instead of those in the settings."""

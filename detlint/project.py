"""What every surface begins with: the configuration that holds for some paths, the catalog, the files, and checking them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from detlint import run
from detlint.catalog import Catalog
from detlint.config import BASELINE, Config, check_codes, load
from detlint.files import StrPath
from detlint.versions import settle

if TYPE_CHECKING:
    from detlint.baseline import Baseline
    from detlint.checks.finding import Report
    from detlint.model.sites.store import Progress


@dataclass(frozen=True)
class Project:
    """Where files are checked: their settings, the catalog, and where facts are kept.

    Attributes:
        cache: None keeps none.
    """

    config: Config
    catalog: Catalog
    cache: Path | None

    @classmethod
    def of(
        cls,
        start: Path,
        overrides: Mapping[str, Any],
        config_file: Path | None = None,
        isolated: bool = False,
        cache: bool = True,
        cache_dir: Path | None = None,
    ) -> Project:
        """The project that a file or folder belongs to.

        Args:
            overrides: settings that hold whatever the configuration says, by their names in it.
            config_file: a configuration file to use instead of the nearest.
            isolated: use no configuration file.
            cache: whether to keep facts.
            cache_dir: where; None: where the configuration says.

        Raises:
            ConfigError: the configuration is wrong.
            CatalogError: a catalog is.
        """
        config = load(start, config_file, isolated, dict(overrides))
        folder = (cache_dir or config.root / (config.settings.cache_dir or ".detlint_cache")) if cache else None
        catalog = run.load_catalog(config, folder)
        check_codes(config, catalog.rules)
        return cls(config if isolated else settle(config, catalog), catalog, folder)

    @classmethod
    def around(
        cls,
        path: Path,
        overrides: Mapping[str, Any] | None = None,
        config_file: Path | None = None,
        isolated: bool = False,
    ) -> Project:
        """The project of a file that is asked about alone.

        Where nothing marks one, it is the current folder, if the file is below it and scripts are in it, as if that folder
        had been checked.

        Raises:
            ConfigError: the configuration is wrong.
            CatalogError: a catalog is.
        """
        given = dict(overrides or {})
        project, here = cls.of(path, given, config_file, isolated), Path.cwd()
        if project.config.project or here not in path.absolute().parents or not any(here.glob("*.py")):
            return project
        project = cls.of(here, given, config_file, isolated)
        return replace(project, config=msgspec.structs.replace(project.config, project=project.config.root == here))

    def bare(self) -> Project:
        """The same without its baseline."""
        settings = msgspec.structs.replace(self.config.settings, baseline="")
        return replace(self, config=msgspec.structs.replace(self.config, settings=settings))

    def check(
        self,
        files: Sequence[StrPath],
        paths: Sequence[Path],
        texts: Mapping[str, bytes] | None = None,
        problems: Iterable[tuple[Path, str]] = (),
        progress: Progress | None = None,
        cache: Path | None = None,
    ) -> Report:
        """Check some files within their program.

        What the project's baseline has is left out of the report.

        Args:
            files: what to report on.
            paths: the files and folders that were asked for, which say what the program is where nothing marks a project.
            texts: what stands for the content of some files, by absolute path.
            problems: paths that could not be read, with the reason.
            progress: called with the number of files done and their total.
            cache: where to keep facts instead.

        Raises:
            ConfigError: the baseline can't be read.
        """
        from detlint.discover import program

        accepted = self.accepted()
        around = program(paths, self.config)
        report = run.check(files, self.config, self.catalog, cache or self.cache, problems, texts, progress, around)
        if accepted is not None:
            accepted.silence(report, self.config, cache or self.cache)
        return report

    def accepted(self) -> Baseline | None:
        """The baseline, if there is one.

        Raises:
            ConfigError: it can't be read.
        """
        name = self.config.settings.baseline
        if not name or (name == BASELINE and not (self.config.root / name).exists()):
            return None
        from detlint import baseline  # most projects have none

        return baseline.load(self.config)

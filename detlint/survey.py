"""What a repository is made of, as far as it decides how to check it: for `detlint init`."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from detlint import run
from detlint.catalog import Catalog
from detlint.domains.device.hardware import targets_of
from detlint.domains.matching.scope import chosen, implied
from detlint.inspect import Inspection, NotThere
from detlint.ir.launch_texts import is_launch, is_settings
from detlint.ir.yaml_text import is_yaml
from detlint.model.module import Module
from detlint.model.sites.records import Facts
from detlint.model.sites.store import with_deep_stack
from detlint.notebook import is_notebook
from detlint.project import Project
from detlint.report.place import shown

OTHERS: Final = (
    "third_party",
    "thirdparty",
    "3rdparty",
    "external",
    "extern",
    "vendor",
    "vendored",
    "_vendor",
    "submodules",
)
"""Names of folders that hold what others wrote."""
FEW: Final = 5
"""Hardware counts that at least one in so many files names, of those that name any."""


@dataclass
class Survey:
    """What was found.

    Attributes:
        kinds: how many files there are of each kind.
        libraries: library that the catalog knows -> how many files import it.
        hardware: target -> how many files name it.
        runs: where runs start.
        unreached: files that the catalog knows something in, and no run comes to.
        others: folders with what others wrote, from the root.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    libraries: Counter[str] = field(default_factory=Counter)
    hardware: Counter[str] = field(default_factory=Counter)
    runs: list[str] = field(default_factory=list)
    unreached: int = 0
    others: list[str] = field(default_factory=list)

    @property
    def targets(self) -> list[str]:
        """The hardware to judge for, the most frequently named first."""
        most = max(self.hardware.values(), default=0)
        frequent = [name for name, count in self.hardware.items() if count * FEW >= most]
        return sorted(frequent, key=lambda name: (-self.hardware[name], name))


def survey(project: Project, files: Sequence[str], follow: bool) -> Survey:
    """Look through some files of a project.

    Args:
        follow: whether to follow its runs; else they are the files in which one may start.
    """
    return with_deep_stack(lambda: _survey(project, files, follow))


def _survey(project: Project, files: Sequence[str], follow: bool) -> Survey:
    found, catalog, root = Survey(), project.catalog, project.config.root.absolute()
    found.kinds.update(_kind(Path(file)) for file in files)
    found.others = [*_others(root, files)]
    with run.opened(files, project.config, catalog, project.cache, ()) as opened:
        visited: set[str] = set()
        if not follow:
            found.runs = [shown(path, str(root)) for path in opened.starts]
        for path, declared in opened.starts.items() if follow else ():
            try:
                inspection = Inspection(opened, path)
            except NotThere:
                continue
            for traced in inspection.follow(inspection.module, declared):
                found.runs.append(traced.labelled(lambda path: shown(path, str(root))))
                visited.update(*(reach.files for reach in traced.reaches))
        paths = [os.path.abspath(file) for file in files]
        modules = [(path, module) for path in paths if (module := opened.engine.resolver.module(path)) is not None]
        known = _libraries(catalog) - {module.facts.module.partition(".")[0] for _, module in modules}
        for path, module in modules:
            roots = {name.partition(".")[0] for name in module.facts.imports}
            found.libraries.update(sorted(roots & known))
            found.hardware.update(sorted(_hardware(module, module.facts, roots, catalog)))
            found.unreached += follow and path not in visited and bool(module.sites) and not is_settings(path)
    return found


def _kind(path: Path) -> str:
    if is_launch(str(path)):
        return "launch file"
    if str(path).endswith(".json"):
        return "JSON file"
    return "notebook" if is_notebook(path) else "YAML file" if is_yaml(str(path)) else "Python file"


def _libraries(catalog: Catalog) -> set[str]:
    """The top-level names of libraries that the catalog knows something of; Python's own aren't worth telling."""
    return ({name.partition(".")[0] for name in catalog.calls} | catalog.roots) - sys.stdlib_module_names


def _hardware(module: Module, facts: Facts, roots: set[str], catalog: Catalog) -> set[str]:
    """The hardware that a file names."""
    found = chosen(module, catalog) or targets_of(facts.mentions, implied(roots, catalog))
    return {*found, *(["ascend"] if "torch_npu" in roots else [])} - {"cpu"}


def _others(root: Path, files: Sequence[str]) -> Iterator[str]:
    """The topmost folders below the root with what others wrote, as patterns."""
    told: set[str] = set()
    for file in files:
        try:
            parts = Path(file).absolute().relative_to(root).parts[:-1]
        except ValueError:
            continue
        depth = next((i for i, part in enumerate(parts, 1) if part.lower() in OTHERS), 0)
        if depth:
            told.add("/".join(parts[:depth]))
    yield from sorted(told)

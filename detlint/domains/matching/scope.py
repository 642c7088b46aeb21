"""What a file is judged for: the hardware that it runs on, and the versions of its libraries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from detlint.catalog import Catalog, Entry
from detlint.config import Settings
from detlint.domains.device.hardware import target_of, targets_of
from detlint.ir import ops as op
from detlint.ir.code import Code
from detlint.model.module import Module
from detlint.model.sites.records import Const, Facts, Ref

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

_SIGNS: Final = str.maketrans("<>=!~[;,", " " * 8)
_CEILINGS: Final = ("<", "==", "~=")
"""What a requirement has that the newest version doesn't fulfil."""


def targets(module: Module, settings: Settings, catalog: Catalog, code: Code | None) -> frozenset[str]:
    """The hardware that a file is judged for.

    What the configuration says; else what the file sets, or imports a library for and names no other; else what it mentions; PyTorch
    and TensorFlow train on CUDA, MindSpore on Ascend.

    Args:
        code: the file's.
    """
    if settings.targets:
        return frozenset(settings.targets)
    said = chosen(module, catalog) or implied_by_imports(module, catalog, code)
    if said:
        return said
    facts = module.facts
    roots = _roots(facts)
    found = targets_of(facts.mentions, implied(roots, catalog))
    if roots & {"mindspore", "mindcv", "torch_npu"}:
        found.add("ascend")
    if not found or roots & {"torch", "torchvision", "tensorflow", "keras", "mmcv", "mmdet"}:
        found.add("cuda")
    return frozenset(found)


def chosen(module: Module, catalog: Catalog) -> frozenset[str]:
    """The hardware that a file chooses in so many words, `set_context(device_target="GPU")`; none where it leaves it open."""
    roots = _roots(module.facts)
    names = {name: parameter for name, parameter in catalog.devices.items() if name.partition(".")[0] in roots}
    found = set()
    for site in module.sites if names else ():
        name = catalog.canonical(site.target.name) if isinstance(site.target, Ref) else ""
        if site.kind != "call" or name not in names:
            continue
        first = [name for name, _ in catalog.signatures.get(name, ())][:1] == [names[name]]
        said = [a.value for i, a in enumerate(site.args) if a.name == names[name] or (first and i == 0 and not a.name)]
        for value in said:
            target = target_of(value.value if isinstance(value, Const) else None)
            if not target:
                return frozenset()
            found.add(target)
    return frozenset(found)


def implied(imports: Iterable[str], catalog: Catalog) -> frozenset[str]:
    """The hardware that importing some modules implies."""
    roots = {name.partition(".")[0] for name in imports}
    return frozenset(t for known in catalog.frameworks if not roots.isdisjoint(known.modules) for t in known.targets)


def implied_alone(module: Module, catalog: Catalog) -> frozenset[str]:
    """The accelerators whose libraries a file imports, where it names no others. What runs on CUDA runs on whatever there is; of other
    hardware's libraries that can't be said."""
    found = implied(module.facts.imports, catalog)
    return found if "cuda" not in found and targets_of(module.facts.mentions, found) <= found else frozenset()


def implied_by_imports(module: Module, catalog: Catalog, code: Code | None) -> frozenset[str]:
    """The same where it is one, and the file surely imports its library: not only if that is installed."""
    found = implied_alone(module, catalog)
    if len(found) != 1 or code is None:
        return frozenset()
    top = code.module
    sure = (top.strings[o[1]] for at, o in top.each(op.IMPORT) if next(top.blocks(at), -1) < 0)
    return found if implied(sure, catalog) else frozenset()


def _roots(facts: Facts) -> set[str]:
    return {name.partition(".")[0] for name in facts.imports}


@lru_cache(maxsize=1024)
def _specifier(requirement: str) -> SpecifierSet:
    from packaging.requirements import Requirement

    return Requirement(requirement).specifier


def _named(requirement: str) -> str:
    """The library that a requirement is about."""
    return requirement.translate(_SIGNS).partition(" ")[0]


def applies_to_version(entry: Entry, versions: Mapping[str, str]) -> bool:
    """Whether an entry holds for the version of its library."""
    return fulfilled(entry.versions, versions)


def fulfilled(requirement: str, versions: Mapping[str, str]) -> bool:
    """Whether the version of a library fulfils a requirement such as `torch >= 2.1`; unknown means the newest."""
    known = versions.get(_named(requirement))
    if known is None:
        return not any(sign in requirement for sign in _CEILINGS)
    return _specifier(requirement).contains(known, prereleases=True)

"""Compare the catalog with libraries as they are installed: what is new in them, and what the catalog knows but they lack.

    python tools/freshness.py [torch torchvision mindspore sklearn ...]

Without names, all of `LIBRARIES` that can be imported are compared. A public function or class counts as new when its name
says that it draws, or it takes a seed, and neither the catalog nor the coverage data (tests/data/coverage) knows it. A name of
the catalog counts as gone when its entry holds for the installed version and the library doesn't have it. `drift.py` says what else is
compared: lists in docstrings, settings and variables, signatures.

Exit code: 0 nothing new or gone, 1 something is, 2 a library can't be imported or is not known here.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import inspect
import pkgutil
import re
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from drift import Lists, documented, signatures, switches
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from detlint.catalog import Catalog, Entry, load

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

COVERAGE: Final = Path(__file__).parent.parent / "tests" / "data" / "coverage"
DRAWS: Final = re.compile(
    r"(?i)random|^rand(?!om)|dropout|drop_?path|shuffle|bernoulli|multinomial|gumbel|_sampler$|(?<!re)sampler$|noise"
)
REARRANGES: Final = re.compile(r"(?i)(?:channel|pixel)_?(?:un)?shuffle")
"""Named after a shuffle, and a fixed pattern."""
SEEDS: Final = {"random_state", "rng", "seed", "generator"}


class Library(NamedTuple):
    """How one library is looked through."""

    package: str
    """Its name in the package index."""
    modules: tuple[str, ...]
    """The modules whose public members count; `name.*` stands for all public modules below."""
    seeded: bool
    """Whether a parameter for a seed makes a member count, whatever its name."""
    before: tuple[str, ...] = ()
    """What has to be imported before some members are there."""
    elsewhere: tuple[str, ...] = ()
    """The beginnings of what isn't told: names that another package puts into it, or that only other releases have."""
    settings: tuple[str, ...] = ()
    """The modules whose variables are settings."""
    lists: Lists | None = None
    """Where it documents what its deterministic switch does."""


LIBRARIES: Final = {
    "torch": Library(
        "torch",
        ("torch", "torch.cuda", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.random", "torch.Tensor", "torch.utils.data"),
        False, elsewhere=(
            "torch.npu.", "torch.nn.Module.npu", "torch.export.export_for_training", "torch.onnx._export", "torch.onnx.dynamo_export",
            "torch.utils.tensorboard.", "TORCHINDUCTOR_WRITE_ARE_DETERMINISTIC_ALGORITHMS_ENABLED",
            "torch.utils.data.DataLoader: it has no parameter worker_method",
        ),
        settings=("torch._dynamo.config", "torch._functorch.config", "torch._inductor.config", "torch.utils.deterministic"),
        lists=Lists(
            "torch.use_deterministic_algorithms", (("will act deterministically", "b"), ("will throw a", "a")),
            ("torch.nn.ReflectionPad2d", "torch.cumsum"),
        ),
    ),
    "torchvision": Library(
        "torchvision", ("torchvision.transforms", "torchvision.transforms.v2", "torchvision.ops", "torchvision.datasets"), False,
        elsewhere=("torchvision.transforms.v2.ColorJitter: brightness is None by default, not 0",),  # which changes nothing, either
    ),
    "mindspore": Library(
        "mindspore",
        (
            "mindspore", "mindspore.common.initializer", "mindspore.dataset", "mindspore.dataset.audio", "mindspore.dataset.dataloader",
            "mindspore.dataset.transforms", "mindspore.dataset.vision", "mindspore.mint", "mindspore.mint.nn",
            "mindspore.mint.nn.functional", "mindspore.nn", "mindspore.numpy", "mindspore.ops", "mindspore.Tensor",
        ),
        False,
        elsewhere=(  # one condition asks for what several functions call otherwise
            "mindspore.numpy.sum: it has no parameter input",
            "mindspore.ops.reduce_sum: it has no parameter input",
            # names of older releases
            "mindspore.common.api.ms_function", "mindspore.ms_function", "mindspore.ops.BufferSample",
        ),
    ),
    "sklearn": Library(
        "scikit-learn", ("sklearn.*",), True,
        ("sklearn.experimental.enable_halving_search_cv", "sklearn.experimental.enable_iterative_imputer"),
        ("SKLEARN_",),
    ),
    "scipy": Library("scipy", ("scipy.*",), True, elsewhere=("scipy.stats.MonteCarloMethod: it has no parameter random_state",)),
    "numpy": Library("numpy", ("numpy.random",), True),
    "keras": Library("keras", ("keras.initializers", "keras.layers", "keras.random", "keras.utils"), True),
    "tensorflow": Library(
        "tensorflow", ("tensorflow.image", "tensorflow.nn", "tensorflow.random"), True,
        elsewhere=(  # names of older releases
            "tensorflow.contrib.", "tensorflow.examples.", "tensorflow.layers.", *(
                f"tensorflow.distribute.{name}.experimental_run_v2" for name in (
                    "MirroredStrategy", "MultiWorkerMirroredStrategy", "OneDeviceStrategy", "Strategy", "TPUStrategy",
                    "experimental.CentralStorageStrategy", "experimental.MultiWorkerMirroredStrategy",
                    "experimental.ParameterServerStrategy", "experimental.TPUStrategy",
                )
            ),
        ),
    ),
    "jax": Library("jax", ("jax.random",), False, elsewhere=("jax.experimental.pallas.",)),
    "gymnasium": Library(
        "gymnasium", ("gymnasium.spaces", "gymnasium.vector", "gymnasium.wrappers"), True,
        elsewhere=(
            "gymnasium.Env.", "gymnasium.spaces.Space", "gymnasium.wrappers.AddWhiteNoise",  # of vectors; a base; only shown
            *(f"gymnasium.wrappers.{name}" for name in (  # those of gym
                "AutoResetWrapper", "FrameStack", "GrayScaleObservation", "Monitor", "PixelObservationWrapper", "StepAPICompatibility",
                "VectorListInfo",
            )),
        ),
    ),
    "transformers": Library(
        "transformers", ("transformers.trainer_utils",), False, elsewhere=(
            "transformers.AutoModelForVision2Seq.", "transformers.AutoModelWithLMHead.", "transformers.PreTrainedModel.generate",
            *(  # it goes by `__post_init__`
                f"transformers.{name}Config: it has no parameter attn_implementation" for name in (
                    "Bert", "Cohere", "DeepseekV3", "Falcon", "GPT2", "GPTNeoX", "Gemma2", "Gemma3", "Gemma", "Llama", "Mistral",
                    "Mixtral", "ModernBert", "OPT", "Phi3", "Phi", "Qwen2", "Qwen2Moe", "Qwen3", "Qwen3Moe", "Roberta", "StableLm",
                    "ViT", "Whisper",
                )
            ),
        ),
    ),
    "torch_geometric": Library(
        "torch-geometric", ("torch_geometric.loader", "torch_geometric.transforms", "torch_geometric.utils"), False
    ),
    "paddle": Library("paddlepaddle", ("paddle", "paddle.nn", "paddle.nn.functional", "paddle.vision.transforms"), False),
}  # fmt: skip


def main(arguments: list[str]) -> int:
    """Compare the libraries that are named, else all that are installed; the exit code."""
    unknown = [name for name in arguments if name not in LIBRARIES]
    missing = [name for name in arguments if name not in unknown and importlib.util.find_spec(name) is None]
    for name in unknown:
        print(f"{name} is not one of {', '.join(LIBRARIES)}", file=sys.stderr)
    for name in missing:
        print(f"{name} is not installed", file=sys.stderr)
    if unknown or missing:
        return 2
    names = arguments or [name for name in LIBRARIES if importlib.util.find_spec(name) is not None]
    if not names:
        print(f"none of {', '.join(LIBRARIES)} is installed", file=sys.stderr)
        return 2
    catalog, covered = load(), silent_names()
    different = 0
    warnings.simplefilter("ignore")
    for name in names:
        library = LIBRARIES[name]
        for module in library.before:
            importlib.import_module(module)
        version = installed(name, library.package)
        new = sorted(unknown_of(library, {*names_of(catalog, name), *(n for n in covered if in_library(n, name))}))
        gone = sorted(vanished(catalog, name, library.package, version))
        told = {"new": new, "gone": gone, **drifted(catalog, name, library, version, covered)}
        told = {kind: [api for api in found if not api.startswith(library.elsewhere)] for kind, found in told.items()}
        for kind, found in told.items():
            different += len(found)
            for api in found:
                print(f"{name} {version}: {kind}: {api}")
        print(f"{name} {version}: {', '.join(f'{len(found)} {kind}' for kind, found in told.items())}")
    return 1 if different else 0


def drifted(catalog: Catalog, name: str, library: Library, version: str, covered: set[str]) -> dict[str, list[str]]:
    """What a library documents, reads and takes in another way than the catalog says, by kind."""
    variables = {name for entry in catalog.entries if entry.kind == "environment" for name in entry.names}
    known = {*names_of(catalog, name), *covered, *variables}
    packages = [Path(place) for place in importlib.import_module(name).__path__]
    modules = [module for each in library.settings if (module := resolve(each)) is not None]
    signed = sorted(each for each, _ in catalog.signatures.items() if in_library(each, name))
    current = partial(holds, package=library.package, version=version)
    lists = documented(library.lists, catalog, resolve, current) if library.lists is not None else ()
    return {
        "documented": [told for told in lists if told.partition(":")[0] not in covered],
        "switch": [*switches(packages[0], modules, known.__contains__)],
        "signature": [*signatures(catalog, signed, resolve)],
    }


def installed(name: str, package: str) -> str:
    """The version of a library; some are installed by other packages, as TensorFlow by `tensorflow-cpu`."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return importlib.metadata.version(importlib.metadata.packages_distributions()[name][0])


def silent_names() -> set[str]:
    """The names of which the coverage data says why they are no finding."""
    rows = [row for path in sorted(COVERAGE.glob("*.toml")) for row in tomllib.loads(path.read_text("utf-8"))["row"]]
    return {name for row in rows for name in row["names"]}


def in_library(name: str, root: str) -> bool:
    """Whether a dotted name is one of a library's."""
    return name.startswith(f"{root}.")


def names_of(catalog: Catalog, root: str) -> set[str]:
    """The names of a library that the catalog knows, under their aliases too."""
    tables = (catalog.calls, catalog.assignments, catalog.members, catalog.aliases)
    return {name for table in tables for name in table if in_library(name, root)}


def unknown_of(library: Library, known: set[str]) -> Iterator[str]:
    """The public members of a library that may draw, and that no known name stands for."""
    objects = {id(member) for name in known if (member := resolve(name)) is not None}
    told: set[int] = set()
    for name, member in drawing(library):
        if name not in known and not {id(member)} & (objects | told):
            told.add(id(member))
            yield name


def drawing(library: Library) -> Iterator[tuple[str, object]]:
    """The public members of a library that may draw, by their names or by a seed that they take."""
    for pattern in library.modules:
        for home in modules(pattern):
            for name, member in public(home):
                if (DRAWS.search(name) and not REARRANGES.search(name)) or (library.seeded and takes_seed(member)):
                    yield f"{home}.{name}", member


def modules(pattern: str) -> Iterator[str]:
    """The modules that a pattern of `LIBRARIES` stands for."""
    if not pattern.endswith(".*"):
        yield pattern
        return
    root = importlib.import_module(pattern.removesuffix(".*"))
    for info in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
        parts = set(info.name.split("."))
        if not parts & {"tests", "conftest", "externals"} and not any(part.startswith("_") for part in parts):
            yield info.name


def public(home: str) -> Iterator[tuple[str, object]]:
    """The public functions and classes of a module, or the methods of a class."""
    found = resolve(home)
    if found is None:
        return
    own = home.partition(".")[0]
    for name in getattr(found, "__all__", None) or [name for name in dir(found) if not name.startswith("_")]:
        member = member_of(found, name)
        if name.startswith("_") or not (inspect.isclass(member) or inspect.isroutine(member)):
            continue
        if inspect.isclass(found) or (getattr(member, "__module__", None) or own).partition(".")[0] == own:
            yield name, member


def takes_seed(member: object) -> bool:
    """Whether a parameter of a function or class is for a seed, and left open."""
    try:
        parameters = inspect.signature(member).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return any(name in SEEDS and parameter.default is None for name, parameter in parameters.items())


def resolve(name: str) -> object | None:
    """What a dotted name stands for: a module, or a member of one; None if there is no such thing."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:end]))
        except (ImportError, AttributeError, RuntimeError, TypeError):
            continue
        for part in parts[end:]:
            found = member_of(found, part)
        return found
    return None


def member_of(owner: object, name: str) -> object | None:
    """A member of a module or class; None if there is none, or it can't be had."""
    try:
        return getattr(owner, name, None)
    except (ImportError, RuntimeError):
        return None


def vanished(catalog: Catalog, root: str, package: str, version: str) -> Iterator[str]:
    """The public names of the catalog that should be in a library and aren't; DET604 is about names that no library has, and what is said
    to raise whatever it is given is said to be missing."""
    for name in {name for table in (catalog.calls, catalog.assignments) for name in table if in_library(name, root)}:
        positions = [*catalog.calls.get(name, ()), *catalog.assignments.get(name, ())]
        entries = [catalog.entries[i] for i in positions if not is_of_nothing(catalog.entries[i])]
        private = any(part.startswith("_") for part in name.split(".")[:-1])
        if not private and any(holds(entry, package, version) for entry in entries) and not exists(catalog, name):
            yield name


def is_of_nothing(entry: Entry) -> bool:
    """Whether an entry is about names that a library lacks."""
    return entry.rule == "DET604" or ("raises" in entry.contexts and not entry.when)


def exists(catalog: Catalog, name: str) -> bool:
    """Whether a name, or one of its aliases, stands for something: `tensorflow.layers` is in `tensorflow.compat.v1`."""
    rest = [(alias, name.removeprefix(target)) for alias, target in catalog.aliases.items() if name.startswith(target)]
    also = (alias + end for alias, end in rest if not end or end.startswith("."))
    return resolve(name) is not None or any(resolve(other) is not None for other in also)


def holds(entry: Entry, package: str, version: str) -> bool:
    """Whether an entry is about a version."""
    if not entry.versions:
        return True
    requirement = Requirement(entry.versions)
    if canonicalize_name(requirement.name) != canonicalize_name(package):
        return True
    return requirement.specifier.contains(version.partition("+")[0], prereleases=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

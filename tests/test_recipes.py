"""The fixes of the rules: what `--fix` makes of the fixtures, of each recipe of the catalog, and of awkward code.

`fixtures/rules/DET501/fixed/bad.py` is what `--fix --unsafe-fixes` makes of `bad.py` beside its folder, without the marks:
under the profile that this asks for, else `align` for what `reproduce` leaves as it is: what is random by design, or drawn on the device.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import detlint, notebook
from test_fixtures import EXPECT, FIXTURES, arguments, options

from detlint.catalog import Catalog, Entry, Recipe, load
from detlint.fixes.python_file import PythonFile
from detlint.fixes.recipe import NoFix, Order
from detlint.fixes.rewrites import KINDS, Spot, edits
from detlint.model.sites.records import Span

FIXED = sorted((FIXTURES / "rules").glob("*/fixed/*.py"))
FOR_ALIGN = {"DET201", "DET202", "DET203", "DET301", "DET302", "DET303", "DET501", "DET502"}
SAFE, UNSAFE = ("--fix",), ("--fix", "--unsafe-fixes")


def run(path: Path, *options: str | Path) -> None:
    result = detlint("check", "--no-cache", "--show-notes", "--fix-only", *options, path)
    assert result.exit_code == 0, result.stdout + result.stderr
    assert "can't be" not in result.stderr, result.stderr


def fixed(tmp_path: Path, source: str, *options: str) -> str:
    """What fixing makes of a file."""
    path = tmp_path / "code.py"
    path.write_text(source)
    run(path, "--isolated", *(options or UNSAFE))
    return path.read_text()


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load()


@pytest.mark.parametrize("path", FIXED, ids=lambda path: f"{path.parent.parent.name}/{path.stem}")
def test_fixture(path: Path, tmp_path: Path) -> None:
    code, bad = path.parent.parent.name, path.parent.parent / path.name
    copy = tmp_path / "alone" / path.name
    copy.parent.mkdir()
    copy.write_text("".join(re.sub(rf"[ \t]*{EXPECT.pattern}", "", line) for line in bad.open()))
    asked = [a for a in arguments(bad, tmp_path, code) if a != bad]
    if "--config" not in asked:
        asked.append("--isolated")
    if "profile" not in options(bad) and code in FOR_ALIGN:
        asked += ["--profile", "align"]
    run(copy, *UNSAFE, *asked)
    assert copy.read_text() == path.read_text()
    left = json.loads(detlint("check", "--no-cache", "--show-notes", "--output-format", "json", *asked, copy).stdout)
    assert [row for row in left if row["fix"] is not None and row["fix"]["applicability"] != "display"] == []
    run(copy, *UNSAFE, *asked)
    assert copy.read_text() == path.read_text()


# -- recipes --------------------------------------------------------------------------------------------------------

PLACE = re.compile(r"\{(?:, )?(\w+)=?\}")
VALUES = {"size": "(8, 8)", "device": '"cuda"', "self": "thing", "scale": "(8, 8)"}


def recipes(catalog: Catalog) -> Iterator[tuple[Entry, Recipe]]:
    for entry in catalog.entries:
        for recipe in (entry.fix, entry.align):
            if recipe is not None:
                yield entry, recipe


def spot(catalog: Catalog, entry: Entry, recipe: Recipe, name: str) -> Spot:
    """A place where the recipe can be followed: a call with what it needs, an assignment, a statement."""
    module, _, last = name.rpartition(".")
    head = f"import {name.partition('.')[0]}\n"
    if entry.kind == "assignment":
        code = f"{name} = 1"
    elif entry.kind == "environment":
        text = recipe.argument if recipe.kind == "replace-text" and recipe.argument != name else "no"
        head, code = "import os\n", f'os.environ["{name}"] = "{text}"'
    elif entry.kind == "mention":
        code = name
    elif name in entry.registry or name in entry.sections:
        given = [f"{argument}={VALUES.get(argument, 'x')}" for argument in needed(catalog, recipe, name)]
        head, code = "", f"dict({', '.join([f'type={name!r}', *given])})"
    else:
        written = name if "." in name else f"library.{name}"
        owner = module.rpartition(".")[2]
        if owner[:1].isupper() and last != "apply":
            written = f"thing.{last}"  # a method
        given = [f"{argument}={VALUES.get(argument, 'x')}" for argument in needed(catalog, recipe, name)]
        code = f"{written}({', '.join(given)})"
    item = recipe.kind == "replace-item"
    source = head + (f"steps = [{code}, other]\n" if item else f"{code}\n")
    line = source.count("\n")
    start = len("steps = [") if item else 0
    known = [name, *(n for n in entry.names if n.rpartition(".")[2] == name)]
    signature = next((catalog.signatures[n] for n in known if n in catalog.signatures), [])
    span = Span(line, start, line, start + len(code))
    order = Order(recipe, span, signature, 7, name, factories=catalog.factories)
    return Spot(PythonFile("code.py", source.encode()), order)


def needed(catalog: Catalog, recipe: Recipe, name: str) -> list[str]:
    """The arguments that a call must have for the recipe to be followed, in the order of the signature."""
    known = [parameter for parameter, _ in catalog.signatures.get(name) or []]
    text = recipe.text + (recipe.value if isinstance(recipe.value, str) else "")
    wanted = set(PLACE.findall(text)) - {"seed", "self", "member", "call"}
    if recipe.kind == "on-cpu":
        wanted = {a.removesuffix("?") for a in recipe.arguments} & set(known)
    if recipe.kind == "draw-on-cpu":
        wanted = {"device"}
    if recipe.kind in ("set-argument", "remove-argument") and "." not in recipe.argument:
        wanted.add(recipe.argument)
    return sorted(wanted, key=lambda argument: known.index(argument) if argument in known else len(known))


def followed(spot: Spot) -> str:
    text = spot.file.text.edited(edits(spot)).decode()
    ast.parse(text)
    return text


def test_every_kind_is_a_rewrite(catalog: Catalog) -> None:
    assert {recipe.kind for _, recipe in recipes(catalog)} <= {*KINDS}


MOVES = {"draw-on-cpu", "on-cpu"}
CPU = re.compile(r"\bcpu\b", re.I)
ORDER = {"DET303", "DET305", "DET306"}
"""Rules whose fixes take what there is in another order, or by other workers."""


def test_a_safe_recipe_moves_nothing_to_another_device(catalog: Catalog) -> None:
    for entry, recipe in recipes(catalog):
        moves = recipe.kind in MOVES or CPU.search(f"{recipe.value} {recipe.text}") is not None
        assert not moves or "safe" not in (recipe.applicability, recipe.repeated, recipe.unsure), (entry.names, recipe)


def test_a_safe_recipe_leaves_what_is_trained(catalog: Catalog) -> None:
    """What is random by design gets a seed, and stays; only orders and workers are changed."""
    for entry, recipe in recipes(catalog):
        by_design = entry.rule in FOR_ALIGN - ORDER
        assert not by_design or recipe.seeds or recipe.applicability != "safe", (entry.names, recipe)


def test_every_recipe_can_be_followed(catalog: Catalog) -> None:
    dead = []
    for entry, recipe in recipes(catalog):
        for name in dict.fromkeys([*entry.names, *entry.registry, *entry.sections]):
            if entry.kind == "setting" or (entry.kind == "unknown-member" and not recipe.text):
                continue  # what was meant is found where the misspelling is: see the fixtures
            if "." in recipe.argument and recipe.kind == "set-argument":
                continue  # into a dictionary: see the fixtures
            place = spot(catalog, entry, recipe, name)
            try:
                if followed(place) == place.file.text.text:
                    dead.append(f"{name}: {recipe.kind} changes nothing")
            except NoFix as reason:
                dead.append(f"{name}: {recipe.kind}: {reason}")
    assert not dead, "\n".join(dead)


def test_arguments_that_are_set(catalog: Catalog) -> None:
    wrong = []
    for entry, recipe in recipes(catalog):
        if recipe.kind not in ("set-argument", "add-argument") or "." in recipe.argument or recipe.text:
            continue
        for name in entry.names:
            place = spot(catalog, entry, recipe, name)
            call = ast.parse(followed(place)).body[-1].value  # type: ignore[attr-defined]
            known = [parameter for parameter, _ in place.parameters]
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            given |= dict(zip(known, call.args, strict=False))
            value = ast.literal_eval(given[recipe.argument])
            if value != (7 if recipe.value == "{seed}" else recipe.value) or type(value) is bool is not type(
                recipe.value
            ):
                wrong.append(f"{name}: {recipe.argument} = {value!r}")
    assert not wrong, "\n".join(wrong)


# -- awkward code ---------------------------------------------------------------------------------------------------

ALIGN = (*UNSAFE, "--profile", "align", "--select", "DET2,DET3,DET4,DET5,DET6")
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nimport torchvision.transforms.v2 as v2\n"
TAIL = "used = [torch, nn, F, v2]\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        # where a splat may hold the argument, nothing is changed
        ("drop = nn.Dropout(*args)", None),
        ("drop = nn.Dropout(**kwargs)", None),
        (
            "layer = nn.MultiheadAttention(8, *rest, dropout=0.1)",
            "layer = nn.MultiheadAttention(8, *rest, dropout=0.0)",
        ),
        ("x = torch.randn(3, device='cuda', **kwargs)", None),
        ("x = torch.randn(*size, device='cuda')", "x = torch.randn(*size).to('cuda')"),
        # what would be lost, or done twice, is left alone
        ("x = torch.randn(3, device='cuda', generator=g)", None),
        ("x = torch.randn(3, device='cuda', out=y)", None),
        ("x = F.grid_sample(net(y), grid)", None),
        ("crop = v2.RandomCrop(\n    32,  # the size\n    padding=4,\n)", None),
        # layout stays
        (
            "layer = nn.TransformerEncoderLayer(\n    64,  # width\n    4,\n)",
            "layer = nn.TransformerEncoderLayer(\n    64,  # width\n    4,\n    dropout=0.0,\n)",
        ),
        (
            "layer = nn.MultiheadAttention(\n    64,\n    4,\n    0.1,  # rate\n    False,\n)",
            "layer = nn.MultiheadAttention(\n    64,\n    4,\n    0.0,  # rate\n    False,\n)",
        ),
        ("y = ( nn.Dropout ( p = 0.5 ) )", "y = ( nn.Dropout ( p = 0.0 ) )"),
        # names that are hidden, or bound to something else
        ("F = object()\nx = F.grid_sample(a, b)", None),
        (
            "import functools\nmake = functools.partial(nn.Dropout, 0.3)",
            "import functools\nmake = functools.partial(nn.Dropout, 0.0)",
        ),
        ("import functools\nsample = functools.partial(F.grid_sample, mode='nearest')", None),
        # suppressed lines
        ("drop = nn.Dropout(0.5)  # noqa: DET201", None),
        ("drop = nn.Dropout(\n    0.5,  # detlint: ignore[DET201]\n)", None),
        # lists
        ("steps = [v2.RandomHorizontalFlip()]", "steps = [v2.RandomHorizontalFlip(0.0)]"),
        ("steps = [v2.RandomHorizontalFlip(), a]", "steps = [a]"),
        ("steps = [a, v2.RandomHorizontalFlip()]", "steps = [a]"),
        ("steps = [a, v2.RandomHorizontalFlip(), b]", "steps = [a, b]"),
        ("pair = (v2.RandomHorizontalFlip(), a)", "pair = (v2.RandomHorizontalFlip(0.0), a)"),
        (
            "steps = [\n    a,  # first\n    v2.RandomHorizontalFlip(),  # flips\n]",
            "steps = [\n    a,  # first\n    # flips\n]",
        ),
        ("steps.append(v2.RandomHorizontalFlip())\nsteps.append(a)", "steps.append(a)"),
        ("if flip:\n    steps.append(v2.RandomHorizontalFlip())", "if flip:\n    pass"),
        ("steps.append(v2.RandomResizedCrop(224))", "steps.extend([v2.Resize(224), v2.CenterCrop(224)])"),
        ("size = 8\nsteps = [v2.RandomResizedCrop(draw()), a]", None),
        # precedence
        ("y = F.gumbel_softmax(a + b, tau=t * 2)", "y = F.softmax((a + b) / (t * 2), dim=-1)"),
        ("y = torch.take(-x, i)", "y = (-x).flatten()[i]"),
        ("torch.randn(3, device='cuda', requires_grad=True)", "torch.randn(3).to('cuda').requires_grad_()"),
        ("torch.randn(3, device='cuda', requires_grad=learn)", "torch.randn(3).to('cuda').requires_grad_(learn)"),
    ],
)
def test_awkward_calls(tmp_path: Path, code: str, expected: str | None) -> None:
    after = code if expected is None else expected
    assert fixed(tmp_path, f"{HEAD}{code}\n{TAIL}", *ALIGN) == f"{HEAD}{after}\n{TAIL}"


@pytest.mark.parametrize(
    ("imports", "call", "expected_imports", "expected"),
    [
        (
            "from torchvision.transforms import RandomCrop",
            "RandomCrop(32, padding=4)",
            "from torchvision.transforms import CenterCrop",
            "CenterCrop(32)",
        ),
        (
            "from torchvision.transforms import RandomCrop as Cut, CenterCrop as Middle",
            "Cut(32)",
            "from torchvision.transforms import CenterCrop as Middle",
            "Middle(32)",
        ),
        ("from torchvision import transforms", "transforms.RandomCrop(32)", None, "transforms.CenterCrop(32)"),
        ("import torchvision", "torchvision.transforms.RandomCrop(32)", None, "torchvision.transforms.CenterCrop(32)"),
        (
            "from torchvision.transforms import RandomCrop\nCenterCrop = print",
            "RandomCrop(32)",
            None,
            "RandomCrop(32)",
        ),
    ],
)
def test_names_and_imports(
    tmp_path: Path, imports: str, call: str, expected_imports: str | None, expected: str
) -> None:
    result = fixed(tmp_path, f"{imports}\n\ncrop = {call}\n", *ALIGN)
    assert result == f"{expected_imports or imports}\n\ncrop = {expected}\n"


@pytest.mark.parametrize(
    "code",
    [
        "rng = np.random.default_rng()",
        "def main():\n    rng = np.random.default_rng()\n    return rng.random()",
        "class Data:\n    def __init__(self):\n        self.rng = np.random.default_rng()",
        "for fold in np.random.default_rng().permutation(3):\n    print(fold)",
        "def draw(rng=np.random.default_rng()):\n    return rng.random()",
    ],
)
def test_a_seed_is_safe_where_it_is_given_once(tmp_path: Path, code: str) -> None:
    source = f"import numpy as np\n\n{code}\n"
    assert fixed(tmp_path, source, *SAFE, "--select", "DET103") == source.replace("default_rng()", "default_rng(0)")


@pytest.mark.parametrize(
    "code",
    [
        "def draw():\n    return np.random.default_rng().random()",
        "for _ in range(3):\n    print(np.random.default_rng().random())",
        "while np.random.default_rng().random() < 0.5:\n    pass",
        "rngs = [np.random.default_rng() for _ in range(3)]",
        "draw = lambda: np.random.default_rng().random()",
        "def main():\n    def draw():\n        return np.random.default_rng().random()\n    return draw()",
    ],
)
def test_a_seed_is_unsafe_where_it_may_be_given_again(tmp_path: Path, code: str) -> None:
    source = f"import numpy as np\n\n{code}\n"
    assert fixed(tmp_path, source, *SAFE, "--select", "DET103") == source
    assert fixed(tmp_path, source, *UNSAFE, "--select", "DET103") == source.replace("default_rng()", "default_rng(0)")
    shown = detlint("check", "--no-cache", "--isolated", "--select", "DET103", tmp_path / "code.py")
    assert "--fix can" not in shown.stdout  # it is fixed


def test_what_is_random_by_design_stays_where_runs_are_repeated(tmp_path: Path) -> None:
    source = (
        "import torch\nfrom torch.utils.data import DataLoader\n\ntorch.manual_seed(1)\n"
        "drop = torch.nn.Dropout(0.5)\nloader = DataLoader([1], shuffle=True)\nother = DataLoader([1], shuffle=True, generator=g)\n"
    )
    repeated = source.replace("shuffle=True)", "shuffle=True, generator=torch.Generator().manual_seed(0))")
    assert fixed(tmp_path, source, *UNSAFE) == repeated
    aligned = source.replace("0.5", "0.0").replace("shuffle=True)", "shuffle=False)")  # a generator of its own decides
    assert fixed(tmp_path, source, *UNSAFE, "--profile", "align") == aligned


def test_a_switch_stays_in_its_place(tmp_path: Path) -> None:
    source = "import os\n\nos.environ['TF_CUDNN_DETERMINISTIC'] = '1'\nimport tensorflow as tf\n"
    assert fixed(tmp_path, source, *UNSAFE, "--select", "DET607") == source  # `tf` isn't known there yet


def test_entropy_that_is_more_than_a_seed_stays(tmp_path: Path) -> None:
    source = "import random\nimport time\n\nstart = time.time()\nrandom.seed(start)\nprint(random.random(), time.time() - start)\n"
    assert fixed(tmp_path, source, *UNSAFE, "--select", "DET110") == source


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('parser.add_argument("--seed", type=int)', 'parser.add_argument("--seed", type=int, default=0)'),
        ('parser.add_argument("--seed", default=None, type=int)', 'parser.add_argument("--seed", default=0, type=int)'),
        ('parser.add_argument("--seed", default=-1, type=int)', 'parser.add_argument("--seed", default=0, type=int)'),
    ],
)
def test_options(tmp_path: Path, before: str, after: str) -> None:
    source = (
        "import argparse\nimport torch\n\nparser = argparse.ArgumentParser()\nOPTION\nargs = parser.parse_args()\n"
        f"if args.seed is not None{' and args.seed >= 0' * ('-1' in before)}:\n    torch.manual_seed(args.seed)\nprint(torch.rand(3))\n"
    )
    result = fixed(tmp_path, source.replace("OPTION", before), *SAFE, "--select", "DET111")
    assert result == source.replace("OPTION", after)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def run(seed=None):", "def run(seed=0):"),
        ("def run(seed: int | None = None):", "def run(seed: int | None = 0):"),
        ("def run(*, width=3, seed=None, depth=1):", "def run(*, width=3, seed=0, depth=1):"),
    ],
)
def test_defaults_of_parameters(tmp_path: Path, code: str, expected: str) -> None:
    body = "    if seed is not None:\n        torch.manual_seed(seed)\n    print(torch.rand(3))\n\n\nrun()\n"
    result = fixed(tmp_path, f"import torch\n\n\n{code}\n{body}", *SAFE, "--select", "DET111")
    assert result == f"import torch\n\n\n{expected}\n{body}"


def test_fields(tmp_path: Path) -> None:
    source = (
        "from dataclasses import dataclass\nimport torch\n\n\n@dataclass\nclass Config:\n    seed: int | None = None\n\n\n"
        "def main(cfg=Config()):\n    if cfg.seed is not None:\n        torch.manual_seed(cfg.seed)\n    print(torch.rand(3))\n\n\nmain()\n"
    )
    assert fixed(tmp_path, source, *SAFE, "--select", "DET111") == source.replace("None = None", "None = 0")


def test_commands(tmp_path: Path) -> None:
    source = (
        'import click\nimport torch\n\n\n@click.command()\n@click.option("--seed", type=int)\ndef main(seed):\n'
        "    if seed is not None:\n        torch.manual_seed(seed)\n    print(torch.rand(3))\n\n\n"
        'if __name__ == "__main__":\n    main()\n'
    )
    result = fixed(tmp_path, source, *SAFE, "--select", "DET111")
    assert result == source.replace("type=int)", "type=int, default=0)")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "flip:\n  _target_: torchvision.transforms.RandomHorizontalFlip\n  p: 0.5\n",
            "flip:\n  _target_: torchvision.transforms.RandomHorizontalFlip\n  p: 0.0\n",
        ),
        (
            "steps:\n  - _target_: torchvision.transforms.RandomHorizontalFlip\n  - _target_: torchvision.transforms.ToTensor\n",
            "steps:\n  - _target_: torchvision.transforms.ToTensor\n",
        ),
        ("crop:\n  _target_: torchvision.transforms.RandomCrop\n  size: 8\n", None),
    ],
)
def test_configurations(tmp_path: Path, text: str, expected: str | None) -> None:
    path = tmp_path / "data.yaml"
    path.write_text(text)
    run(path, "--isolated", *ALIGN)
    assert path.read_text() == (text if expected is None else expected)


def test_a_notebook(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(notebook("import torch\nfrom torch import nn", "drop = nn.Dropout(0.5)"))
    run(path, "--isolated", *ALIGN)
    assert "nn.Dropout(0.0)" in path.read_text()

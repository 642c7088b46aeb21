"""Random transforms under `enforce`: what takes their place while they work, and that they are random again on leaving.

The mechanism is tried on a library of a catalog of one's own, which needs nothing installed; torchvision's transforms on itself.
"""

from __future__ import annotations

import copy
import importlib
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from detlint.runtime import enforce

LIBRARY = '''\
"""A library of transforms of numbers."""

import random


class Shift:
    def __init__(self, by=5, chance=0.5):
        self.by, self.chance = by, chance

    def __call__(self, number):
        return number + self.by if random.random() < self.chance else number


class Jitter:
    __hash__ = None

    def __init__(self, factors=(0.0, 1.0)):
        self.bounds = factors

    def __call__(self, number):
        return self.scaled(number, random.uniform(*self.bounds))

    def scaled(self, number, factor):
        return number * factor


class Round:
    def __init__(self, digits=0):
        self.digits = digits

    def __call__(self, number):
        return round(number, self.digits)


class RandomRound:
    def __init__(self, digits):
        self.digits = digits

    def work(self, number):
        return round(number, random.randrange(self.digits + 1))

    def __call__(self, number):
        return self.work(number)


class Pick:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, number):
        return random.choice(self.steps)(number)


class Both:
    def __init__(self):
        self.parts = [Shift(), Jitter()]

    def __call__(self, number):
        for part in self.parts:
            number = part(number)
        return number


def jittered(number, spread=1.0):
    return number + random.uniform(-spread, spread)
'''
CATALOG = """\
[[api]]
rule = "DET301"
names = ["numbers_of_ours.Shift"]
when = { chance = { above = 0, below = 1 } }
fix = { kind = "replace-item", argument = "chance", value = 0.0 }
runtime = "counterpart"
source = "ours"

[[api]]
rule = "DET301"
names = ["numbers_of_ours.Jitter", "numbers_of_ours.Both"]
fix = { kind = "replace-item" }
runtime = "counterpart"
source = "ours"

[[api]]
rule = "DET301"
names = ["numbers_of_ours.RandomRound"]
fix = { kind = "replace", text = "<.Round>({digits})" }
runtime = "counterpart"
source = "ours"

[[api]]
rule = "DET301"
names = ["numbers_of_ours.Pick"]
remedy = "Pick one."
runtime = "counterpart"
source = "ours"

[[api]]
rule = "DET301"
names = ["numbers_of_ours.jittered"]
fix = { kind = "replace", text = "{number}" }
runtime = "counterpart"
source = "ours"
"""


@pytest.fixture
def ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The library, in a project whose catalog knows it."""
    (tmp_path / "numbers_of_ours.py").write_text(LIBRARY)
    (tmp_path / "ours.toml").write_text(CATALOG)
    (tmp_path / "detlint.toml").write_text('catalogs = ["ours.toml"]\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("numbers_of_ours")
    del sys.modules["numbers_of_ours"]


def varies(transform: Callable[[Any], Any], sample: Any = 0.123) -> bool:
    """Whether a transform gives different results for one sample."""
    random.seed(7)
    return len({str(transform(sample)) for _ in range(20)}) > 1


def make(library: Any) -> dict[str, Any]:
    return {"shift": library.Shift(), "jitter": library.Jitter(), "round": library.RandomRound(2)}


@pytest.mark.parametrize("when", ["before", "inside"])
def test_counterparts_work_while_it_is_enforced_and_not_after(ours: Any, when: str) -> None:
    made = make(ours)
    with enforce(profile="align"):
        made = make(ours) if when == "inside" else made
        assert {name: transform(0.123) for name, transform in made.items()} == {
            "shift": 0.123, "jitter": 0.123, "round": 0.12,
        }  # fmt: skip
        assert not any(map(varies, made.values()))
    assert all(map(varies, made.values()))


def test_the_objects_are_the_program_s_own(ours: Any) -> None:
    shift = ours.Shift(3, chance=0.25)
    with enforce(profile="align"):
        inside = ours.Shift(3, chance=0.25)
        inside(1), shift(1)
    assert vars(shift) == vars(inside) == {"by": 3, "chance": 0.25}
    assert type(inside) is ours.Shift and vars(copy.deepcopy(inside)) == vars(shift)


@pytest.mark.parametrize(
    ("options", "random_still"),
    [
        ({}, True),
        ({"profile": "align"}, False),
        ({"transforms": "off"}, False),
        ({"profile": "align", "transforms": "keep"}, True),
        ({"profile": "align", "loaders": "keep", "dropout": "keep"}, False),
    ],
)
def test_the_profile_decides_and_the_option_overrides_it(ours: Any, options: Any, random_still: bool) -> None:
    with enforce(**options) as enforced:
        assert varies(ours.Shift()) is random_still
    told = [row for row in enforced.report.interventions if row.code == "DET301"]
    assert bool(told) is not random_still


def test_each_object_is_told_once_where_it_was_made(ours: Any) -> None:
    early = ours.Jitter()
    with enforce(profile="align") as enforced:
        for _ in range(3):
            shift = ours.Shift()
        line = sys._getframe().f_lineno - 1
        for _ in range(5):
            shift(1), early(1)
        at_work = sys._getframe().f_lineno - 1
        ours.Shift(chance=0)
    told = [row for row in enforced.report.interventions if row.code == "DET301"]
    assert [(row.line, row.api, row.message, row.count) for row in told] == [
        (line, "numbers_of_ours.Shift", "`numbers_of_ours.Shift` works with chance=0.0", 3),
        (at_work, "numbers_of_ours.Jitter", "`numbers_of_ours.Jitter` is left out", 1),
    ]
    assert {row.filename for row in told} == {__file__}


def test_what_has_no_counterpart_is_told_and_stays(ours: Any) -> None:
    with enforce(profile="align") as enforced:
        assert varies(ours.Pick([lambda number: number, lambda number: -number]))
    [row] = [row for row in enforced.report.refused if row.code == "DET301"]
    assert row.message == "`numbers_of_ours.Pick`: stays random. Pick one." and row.count == 1


def test_a_counterpart_that_cannot_be_made_leaves_the_object_alone(ours: Any) -> None:
    made = ours.RandomRound(2)
    del made.digits
    ours.RandomRound.work = lambda self, number: number + random.random()
    with enforce(profile="align") as enforced:
        assert varies(made)
    [row] = [row for row in enforced.report.refused if row.code == "DET301"]
    assert row.message == "`numbers_of_ours.RandomRound`: stays random. the value of `digits` isn't known"


def test_an_error_of_the_library_leaves_the_object_alone(ours: Any) -> None:
    def refusing(self: Any, digits: int) -> None:
        raise ValueError(f"{digits} digits")

    ours.Round.__init__ = refusing
    with enforce(profile="align") as enforced:
        assert varies(ours.RandomRound(2))
    assert [row.message for row in enforced.report.refused if row.code == "DET301"] == [
        "`numbers_of_ours.RandomRound`: stays random. Its counterpart can't be made: ValueError: 2 digits"
    ]


def test_what_is_part_of_another_transform_is_not_told_by_itself(ours: Any) -> None:
    with enforce(profile="align") as enforced:
        assert not varies(ours.Both())
        assert [row.api for row in enforced.report.interventions if row.code == "DET301"] == ["numbers_of_ours.Both"]


def test_functions_give_way_too(ours: Any) -> None:
    with enforce(profile="align") as enforced:
        assert not varies(ours.jittered)
    assert varies(ours.jittered)
    assert [(row.code, row.api, row.count) for row in enforced.report.interventions if row.code] == [
        ("DET301", "numbers_of_ours.jittered", 20)
    ]


def test_classes_of_the_program_that_derive_from_one(ours: Any) -> None:
    class Named(ours.Shift):  # type: ignore[misc]
        """Adds nothing that works."""

        def __init__(self, name: str) -> None:
            super().__init__(7)
            self.name = name

        def shout(self) -> str:
            return self.name.upper()

    class OfRows(ours.Shift):  # type: ignore[misc]
        """Hands on what it is about."""

        def __call__(self, row: dict[str, float]) -> dict[str, float]:
            return {key: super(OfRows, self).__call__(value) for key, value in row.items()}

    class Louder(ours.Jitter):  # type: ignore[misc]
        """Works in its own way."""

        def scaled(self, number: float, factor: float) -> float:
            return number + factor

    with enforce(profile="align") as enforced:
        assert not varies(Named("n"))
        assert not varies(OfRows(), {"a": 1.0})
        assert varies(Louder())
    assert [row.message for row in enforced.report.refused if row.code == "DET301"] == [
        "`numbers_of_ours.Jitter`: left alone, since `Louder` has its own `scaled`"
    ]


def test_a_method_that_was_kept_is_random_again(ours: Any) -> None:
    with enforce(profile="align"):
        kept = ours.Shift().__call__
        assert not varies(kept)
    assert varies(kept)


def held(library: ModuleType) -> dict[str, object]:
    """What the library's names and classes hold, by identity."""
    kinds = [value for value in vars(library).values() if isinstance(value, type)]
    own = {f"{kind.__name__}.{name}": id(value) for kind in kinds for name, value in vars(kind).items()}
    return {**own, **{name: id(value) for name, value in vars(library).items()}}


NESTS = st.lists(
    st.fixed_dictionaries(
        {"profile": st.sampled_from(["reproduce", "align"])},
        optional={"transforms": st.sampled_from(["keep", "off"]), "deterministic": st.booleans()},
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(nest=NESTS, fails=st.booleans())
def test_leaving_restores_the_library_whatever_was_nested(ours: Any, nest: list[dict[str, Any]], fails: bool) -> None:
    before, early = held(ours), make(ours)
    off = any(options.get("transforms", {"align": "off"}.get(options["profile"])) == "off" for options in nest)
    with suppress(ZeroDivisionError), ExitStack() as stack:
        for options in nest:
            stack.enter_context(enforce(**options))
        made = {**early, **{f"new {name}": transform for name, transform in make(ours).items()}}
        assert [name for name, transform in made.items() if varies(transform)] == ([] if off else [*made])
        _ = 1 / (not fails)
    assert held(ours) == before
    assert all(map(varies, made.values()))


# -- torchvision ----------------------------------------------------------------------------------------------------

try:
    import torch
    import torchvision.transforms as v1
    import torchvision.transforms.functional as functional
    from torchvision.transforms import v2
except Exception:  # a torchvision that doesn't fit the PyTorch beside it raises RuntimeError as well
    v1 = v2 = None

needs_torchvision = pytest.mark.skipif(v1 is None, reason="torchvision is not installed")

BOTH: dict[str, Callable[[Any], Any]] = {
    "RandomCrop": lambda t: t.RandomCrop(20, padding=4),
    "RandomResizedCrop": lambda t: t.RandomResizedCrop(24),
    "RandomHorizontalFlip": lambda t: t.RandomHorizontalFlip(),
    "RandomVerticalFlip": lambda t: t.RandomVerticalFlip(0.3),
    "ColorJitter": lambda t: t.ColorJitter(0.4, 0.4, 0.4, 0.1),
    "ColorJitter, hue": lambda t: t.ColorJitter(hue=0.5),
    "RandomRotation": lambda t: t.RandomRotation(30),
    "RandomAffine": lambda t: t.RandomAffine(0, translate=(0.3, 0.3)),
    "RandomErasing": lambda t: t.RandomErasing(),
    "RandomGrayscale": lambda t: t.RandomGrayscale(0.5),
    "RandomPerspective": lambda t: t.RandomPerspective(),
    "RandomInvert": lambda t: t.RandomInvert(),
    "RandomPosterize": lambda t: t.RandomPosterize(2),
    "RandomSolarize": lambda t: t.RandomSolarize(100),
    "RandomAdjustSharpness": lambda t: t.RandomAdjustSharpness(3),
    "RandomAutocontrast": lambda t: t.RandomAutocontrast(),
    "RandomEqualize": lambda t: t.RandomEqualize(),
    "GaussianBlur": lambda t: t.GaussianBlur(5),
    "ElasticTransform": lambda t: t.ElasticTransform(),
    "RandAugment": lambda t: t.RandAugment(),
    "AutoAugment": lambda t: t.AutoAugment(),
    "TrivialAugmentWide": lambda t: t.TrivialAugmentWide(),
    "AugMix": lambda t: t.AugMix(),
    "RandomApply": lambda t: t.RandomApply([t.Pad(3)]),
    "RandomOrder": lambda t: t.RandomOrder([t.Resize(30), t.CenterCrop(26)]),
    "RandomChoice": lambda t: t.RandomChoice([t.RandomCrop(20), t.CenterCrop(30)]),
    "Compose": lambda t: t.Compose([t.RandomCrop(30), t.RandomApply([t.RandomRotation(40)]), t.RandomHorizontalFlip()]),
}
SECOND: dict[str, Callable[[Any], Any]] = {
    "RandomResize": lambda t: t.RandomResize(10, 30),
    "ScaleJitter": lambda t: t.ScaleJitter((20, 20)),
    "RandomShortestSize": lambda t: t.RandomShortestSize([20, 26], max_size=40),
    "GaussianNoise": lambda t: t.Compose([t.ToDtype(torch.float32, scale=True), t.GaussianNoise()]),
    "RandomPhotometricDistort": lambda t: t.RandomPhotometricDistort(),
    "RandomZoomOut": lambda t: t.RandomZoomOut(),
    "RandomChannelPermutation": lambda t: t.RandomChannelPermutation(),
}
CASES = [(which, name) for which, names in (("v1", BOTH), ("v2", BOTH | SECOND)) for name in names]


def image() -> Any:
    """A picture of which every transform makes another one."""
    row = torch.arange(3 * 32 * 40)
    return (row * row // 7 + 3 * row).remainder(149).reshape(3, 32, 40).add(20).to(torch.uint8)


def outcomes(transform: Callable[[Any], Any]) -> set[tuple[Any, ...]]:
    sample = image()
    random.seed(7)
    torch.manual_seed(7)
    results = [transform(sample.clone()) for _ in range(12)]
    return {(tuple(result.shape), *result.flatten().tolist()) for result in results}


@needs_torchvision
@pytest.mark.parametrize(("which", "name"), CASES)
def test_transforms_of_torchvision_give_way(which: str, name: str) -> None:
    library, build = {"v1": v1, "v2": v2}[which], (BOTH | SECOND)[name]
    early = build(library)
    with enforce(profile="align") as enforced:
        inside = build(library)
        assert len(outcomes(early)) == 1
        assert outcomes(inside) == outcomes(early)
    assert "DET301" in {row.code for row in enforced.report.interventions}
    assert len(outcomes(early)) > 1 and len(outcomes(inside)) > 1


@needs_torchvision
@pytest.mark.parametrize("which", ["v1", "v2"])
def test_crops_are_what_the_fix_writes(which: str) -> None:
    t = {"v1": v1, "v2": v2}[which]
    sample = image()
    early = t.RandomResizedCrop(24)
    with enforce(profile="align"):
        assert torch.equal(t.RandomCrop((8, 9))(sample), t.CenterCrop((8, 9))(sample))
        expected = t.Compose([t.Resize(24), t.CenterCrop(24)])(sample)
        assert torch.equal(t.RandomResizedCrop(24)(sample), expected)
        assert torch.equal(early(sample), expected)
        nearest = t.InterpolationMode.NEAREST
        expected = t.Compose([t.Resize(24, nearest), t.CenterCrop(24)])(sample)
        assert torch.equal(t.RandomResizedCrop(24, interpolation=nearest)(sample), expected)


@needs_torchvision
def test_boxes_and_masks_move_with_their_image() -> None:
    from torchvision import tv_tensors

    boxes = tv_tensors.BoundingBoxes([[0, 0, 20, 20]], format="XYXY", canvas_size=(32, 40))
    sample = {"image": tv_tensors.Image(image()), "boxes": boxes, "label": 3}
    with enforce(profile="align"):
        out = v2.Compose([v2.RandomCrop(20), v2.RandomHorizontalFlip(), v2.ColorJitter(0.5)])(sample)
    expected = v2.CenterCrop(20)(sample)
    assert torch.equal(out["image"], expected["image"]) and torch.equal(out["boxes"], expected["boxes"])
    assert type(out["boxes"]) is tv_tensors.BoundingBoxes and out["label"] == 3


@needs_torchvision
@pytest.mark.parametrize("which", ["v1", "v2"])
def test_drawn_parameters_are_those_of_the_counterpart(which: str) -> None:
    t = {"v1": v1, "v2": v2}[which]
    sample = image()
    before = {name: vars(kind).get("get_params") for name, kind in vars(t).items() if isinstance(kind, type)}
    with enforce(profile="align") as enforced:
        crop = functional.crop(sample, *t.RandomCrop.get_params(sample, (11, 12)))
        assert torch.equal(crop, v1.CenterCrop((11, 12))(sample))
        crop = functional.resized_crop(sample, *t.RandomResizedCrop.get_params(sample, (0.1, 1), (0.7, 1.3)), [16, 16])
        assert torch.equal(crop, v1.Compose([v1.CenterCrop(32), v1.Resize(16)])(sample))
        assert torch.equal(functional.erase(sample, *t.RandomErasing.get_params(sample, (0.1, 0.3), (1, 2))), sample)
        moved = t.RandomAffine.get_params([-9, 9], [0.5, 0.5], [0.5, 2], [-5, 5], [40, 32])
        assert torch.equal(functional.affine(sample, *moved), sample)
        assert torch.equal(functional.perspective(sample, *t.RandomPerspective.get_params(40, 32, 0.5)), sample)
        assert t.RandomRotation.get_params([-30, 30]) == 0
        assert t.ColorJitter.get_params([0, 2], None, [0, 2], None)[1:] == (None,) * 4
    assert len(enforced.report.interventions) == 7
    assert before == {name: vars(kind).get("get_params") for name, kind in vars(t).items() if isinstance(kind, type)}


class Images:
    """A data set that transforms as it is read."""

    def __init__(self, transform: Any) -> None:
        self.transform = transform

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Any:
        return self.transform(image())


@needs_torchvision
@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_transforms_give_way_in_workers_and_are_told_here(how: str) -> None:
    early = v1.Compose([v1.RandomCrop(20), v1.RandomHorizontalFlip()])
    with enforce(profile="align") as enforced:
        loader = torch.utils.data.DataLoader(Images(early), num_workers=2, multiprocessing_context=how)  # type: ignore[arg-type,var-annotated]
        line = sys._getframe().f_lineno - 1
        read = [*loader]
    assert all(torch.equal(batch[0], v1.CenterCrop(20)(image())) for batch in read)
    assert [(row.line, row.api) for row in enforced.report.interventions if row.code == "DET301"] == [
        (line, "torchvision.transforms.RandomCrop"),
        (line, "torchvision.transforms.RandomHorizontalFlip"),
    ]
    assert not [row for row in enforced.report.refused if row.code == "DET301"]


@needs_torchvision
def test_batches_are_not_mixed() -> None:
    mix = v2.RandomChoice([v2.CutMix(num_classes=3), v2.MixUp(num_classes=3)])
    labels = torch.tensor([0, 1])
    batch = torch.stack([image(), image()]).float()
    with enforce(profile="align"):
        for transform in (v2.MixUp(num_classes=3), v2.CutMix(num_classes=3), mix):
            out, kept = transform(batch, labels)
            assert torch.equal(out, batch) and torch.equal(kept, labels)


@needs_torchvision
def test_what_is_not_random_is_left_alone_and_not_told() -> None:
    with enforce(profile="align") as enforced:
        made = [
            v1.RandomHorizontalFlip(0), v2.RandomVerticalFlip(1), v1.GaussianBlur(3, 1.0), v1.ColorJitter(0, 0, 0, 0),
            v2.RandomErasing(0), v2.Resize(8), v1.RandomOrder([v1.Resize(8)]),
        ]  # fmt: skip
        results = [transform(image()) for transform in made]
    assert [row for row in enforced.report.interventions + enforced.report.refused if row.code == "DET301"] == []
    assert all(torch.equal(a, b(image())) for a, b in zip(results, made, strict=True))


@needs_torchvision
def test_scripts_of_transforms_compile() -> None:
    with enforce(profile="align"):
        script = torch.jit.script(torch.nn.Sequential(v1.RandomCrop(8), v1.RandomHorizontalFlip()))
    assert tuple(script(image()).shape) == (3, 8, 8)


@needs_torchvision
@settings(max_examples=examples(10))
@given(nest=NESTS)
def test_leaving_restores_torchvision_whatever_was_nested(nest: list[dict[str, Any]]) -> None:
    before = held(v1) | {f"v2.{name}": value for name, value in held(v2).items()}
    early = v1.RandomHorizontalFlip()
    with ExitStack() as stack:
        for options in nest:
            stack.enter_context(enforce(**options))
        inside = v2.RandomCrop(8)
        early(image()), inside(image())
    assert held(v1) | {f"v2.{name}": value for name, value in held(v2).items()} == before
    assert len(outcomes(early)) > 1 and len(outcomes(inside)) > 1


# -- Albumentations -------------------------------------------------------------------------------------------------

try:
    import albumentations

    numpy = importlib.import_module("numpy")
except Exception:
    albumentations = None

PIPELINES: dict[str, Callable[[Any], Any]] = {
    "HorizontalFlip": lambda a: a.HorizontalFlip(),
    "RandomCrop": lambda a: a.RandomCrop(20, 24),
    "RandomResizedCrop": lambda a: a.RandomResizedCrop(size=(24, 24)),
    "RandomSizedBBoxSafeCrop": lambda a: a.RandomSizedBBoxSafeCrop(20, 20),
    "Rotate": lambda a: a.Rotate(30),
    "ColorJitter": lambda a: a.ColorJitter(p=0.9),
    "CoarseDropout": lambda a: a.CoarseDropout(p=0.9),
    "OneOf": lambda a: a.OneOf([a.Blur(p=1), a.VerticalFlip(p=1)], p=0.9),
    "PadIfNeeded": lambda a: a.PadIfNeeded(60, 60, position="random"),
}


@pytest.mark.skipif(albumentations is None, reason="albumentations is not installed")
@pytest.mark.parametrize("name", PIPELINES)
def test_transforms_of_albumentations_give_way_with_boxes_and_masks(name: str) -> None:
    sample = numpy.random.RandomState(0).randint(0, 255, (40, 50, 3)).astype("uint8")

    def pipeline() -> Any:
        steps = [PIPELINES[name](albumentations), albumentations.Resize(16, 16)]
        boxes = albumentations.BboxParams("pascal_voc", label_fields=["labels"])
        return albumentations.Compose(steps, bbox_params=boxes, seed=3)

    def results(pipe: Any) -> set[str]:
        given = {"image": sample, "mask": sample[..., 0], "bboxes": [[5, 5, 30, 30]], "labels": [1]}
        out = [pipe(**copy.deepcopy(given)) for _ in range(8)]
        return {f"{o['image'].tobytes()!r} {o['mask'].tobytes()!r} {o['bboxes']}" for o in out}

    early = pipeline()
    with enforce(profile="align") as enforced:
        inside = pipeline()
        assert len(results(early)) == 1 and results(inside) == results(early)
    assert "DET301" in {row.code for row in enforced.report.interventions}
    assert len(results(early)) > 1 and len(results(inside)) > 1

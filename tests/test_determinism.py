"""One answer: whatever the number of processes, the state of the cache, the order of the files, the hash seed."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, age, apart, detlint
from filelock import FileLock

Project = Callable[..., Path]

PACKAGE = {
    "package/__init__.py": "from .ops import *\nfrom .seeds import seed_everything\n",
    "package/ops.py": "from torch.nn.functional import grid_sample as warp\n"
    "import torch.nn as nn\n\n\nclass Drop(nn.Dropout):\n    pass\n",
    "package/seeds.py": "import random\n\nimport torch\n\n\ndef seed_everything(n):\n"
    "    random.seed(n)\n    torch.manual_seed(n)\n",
    "package/data.py": "import os\nimport random\n\nimport numpy as np\n\n\ndef order(x):\n    random.shuffle(x)\n"
    "    np.random.shuffle(x)\n    return [open(f) for f in os.listdir(x)]\n",
    "train.py": "import package\nfrom package.data import order\n\nif __name__ == '__main__':\n"
    "    package.seed_everything(1)\n    files = [package.warp(f, package.Drop(0.5)) for f in order([1])]\n    package.save(files)\n",
    "unseeded.py": "from package.data import order\n\nif __name__ == '__main__':\n    files = order([1])\n",
    "suppressed.py": "import torch\nfrom package import warp\n\n\ndef f(x):\n"
    "    x = warp(x, 1)  # noqa: DET403\n    return x  # noqa: DET201\n",
}


def report(*arguments: str, cache: Path | None = None, form: str = "json") -> str:
    where = ["--cache-dir", str(cache)] if cache is not None else ["--no-cache"]
    result = detlint("check", "--isolated", "--show-notes", "--output-format", form, *where, *arguments)
    assert result.exit_code in (0, 1), result.stderr
    return result.stdout


def whole(*arguments: str, cache: Path | None = None) -> str:
    """What is found in many files, in a format that plans no fix for each."""
    return report(*arguments, cache=cache, form="grouped")


def rows(text: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads(text)
    return loaded


def codes(text: str) -> list[str]:
    return [row["code"] for row in rows(text)]


@pytest.fixture
def package(project: Project) -> Path:
    return project(**PACKAGE)


@pytest.fixture(scope="module")
def many(shared: Path) -> Path:
    """Enough files for the work to be spread over processes, both in reading and in judging."""
    root = shared / "many" / "project"
    with FileLock(shared / "many.lock"):
        if not root.exists():
            write_many(root)
    return root


def write_many(root: Path) -> None:
    # A project: files that are named alone are judged with the scripts above them, too.
    (root / ".git").mkdir(parents=True)
    sources = [path for path in sorted((REPOSITORY / "fixtures").rglob("*.py")) if path.stat().st_size]
    for number, path in enumerate(sources[::6]):
        if "registered_by_the_program" in path.stem:
            continue  # it is that everywhere in a program, which a run over a part of the files doesn't know
        folder = root / f"part{number % 2}" / f"group{number % 7}"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / f"{path.parent.name}_{path.stem.replace('-', '_')}.py")
    for name, text in PACKAGE.items():
        file = root / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)


def plain(many: Path, *arguments: str) -> str:
    """What one process finds without a cache in the current folder, which is `many`: found once in a test run."""
    kept = many.with_name("-".join(["found", *arguments]))
    with FileLock(many.with_suffix(".lock")):
        if not kept.exists():
            kept.write_text(whole("--jobs", "1", *arguments))
    return kept.read_text()


def test_the_package_gives_something_to_compare(package: Path) -> None:
    found = codes(report())
    assert set(found) >= {"DET002", "DET101", "DET102", "DET113", "DET201", "DET305", "DET403"}


def test_unreadable_files_too(package: Path) -> None:
    (package / "broken.py").write_text("import torch\nprint 'x'\n")
    cache = package / "cache"
    plain = report()
    assert "DET001" in codes(plain)
    assert report("--jobs", "3") == report(cache=cache) == report(cache=cache) == plain


# -- processes and the cache ----------------------------------------------------------------------------------------


def test_processes(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(many)
    one = plain(many)
    assert one.count("DET") > 500
    assert whole("--jobs", "3") == one
    assert whole("--jobs", "0") == one


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_cold_and_warm(many: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: str) -> None:
    monkeypatch.chdir(many)
    without = plain(many)
    assert whole("--jobs", jobs, cache=tmp_path) == without
    assert whole("--jobs", jobs, cache=tmp_path) == without
    # The same facts, another report.
    part = whole("--jobs", jobs, "part0", "train.py", cache=tmp_path)
    assert part == plain(many, "part0", "train.py")
    assert whole("--jobs", jobs, "--profile", "align", cache=tmp_path) == plain(many, "--profile", "align")


def test_all_texts_are_the_same_too(package: Path) -> None:
    cache = package / "cache"
    for form in ("text", "concise"):
        arguments = ["check", "--isolated", "--show-notes", "--output-format", form, "."]
        plain = detlint(*arguments, "--no-cache").stdout
        for _ in range(2):
            assert detlint(*arguments, "--cache-dir", str(cache)).stdout == plain


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("package/seeds.py", ("random.seed(n)", "pass")),
        ("package/data.py", ("    random.shuffle(x)", "    pass")),
        ("package/__init__.py", ("from .ops import *", "warp = Drop = print")),
        ("package/ops.py", ("grid_sample as warp", "relu as warp")),
        ("train.py", ("package.seed_everything(1)", "pass")),
    ],
)
@pytest.mark.parametrize("checked", [".", "train.py"])
def test_a_change_is_seen_through_the_cache(package: Path, name: str, change: tuple[str, str], checked: str) -> None:
    cache = package / "cache"
    before = report(checked, cache=cache)
    file = package / name
    file.write_text(file.read_text().replace(*change))
    after = report(checked)
    assert after != before or checked != "."
    assert report(checked, cache=cache) == after
    file.write_text(PACKAGE[name])
    assert report(checked, cache=cache) == before


KEY_USER = "import jax\nfrom layers import dense\n\nkey = jax.random.key(1)\none, two = dense(key), dense(key)\n"
KEYS = {
    "deep.py": "import jax\n\n\ndef noise(key):\n    print(jax.random.normal(key))\n",
    "layers.py": "import jax\nfrom deep import noise\n\nFIXED = jax.random.key(0)\n\n\n"
    "def dense(key):\n    return noise(key), jax.random.normal(FIXED)\n",
    "first.py": KEY_USER,
    "second.py": KEY_USER,
}
MAP_USER = (
    "import tensorflow as tf\nfrom work import augment\n\n\ndef data():\n    numbers = tf.data.Dataset.range(3)\n"
)
MAPS = {
    "deep.py": "import tensorflow as tf\n\n\ndef noise(x):\n    print(tf.random.normal([3]))\n",
    "work.py": "from deep import noise\n\n\ndef augment(x):\n    noise(x)\n    return x\n",
    "first.py": MAP_USER + "    return numbers.map(augment, num_parallel_calls=4)\n",
    "second.py": MAP_USER + "    return numbers.map(augment, num_parallel_calls=8)\n",
}


@pytest.mark.parametrize(
    ("files", "drawing", "code"),
    [(KEYS, "jax.random.normal(key)", "DET116"), (MAPS, "tf.random.normal([3])", "DET303")],
)
def test_a_change_two_files_away_is_seen_by_all_that_look_into_it(
    project: Project, files: dict[str, str], drawing: str, code: str
) -> None:
    root = project(**files)
    cache = root / "cache"
    before = report(".", cache=cache)
    assert codes(before).count(code) == 2
    (root / "deep.py").write_text(files["deep.py"].replace(drawing, "1"))
    after = report(".")
    assert after != before
    assert report(".", cache=cache) == after


def test_a_file_that_comes_and_goes_is_seen_through_the_cache(package: Path) -> None:
    cache = package / "cache"
    text = "import torch\nfrom package.extra import warp\n\n\ndef f(x):\n    return warp(x, 1)\n"
    (package / "use.py").write_text(text)
    assert codes(report("use.py", cache=cache)) == []
    (package / "package" / "extra.py").write_text("from torch.nn.functional import grid_sample as warp\n")
    assert codes(report("use.py", cache=cache)) == ["DET403"]
    (package / "package" / "extra.py").unlink()
    assert codes(report("use.py", cache=cache)) == []


def test_a_script_that_is_imported_from_now_on_starts_no_run_any_more(project: Project) -> None:
    root = project(**{"a.py": "import numpy as np\n\nprint(np.random.rand())\n", "b.py": "print(1)\n"})
    cache = root / "cache"
    before = report(cache=cache)
    assert codes(before) == ["DET102"]
    (root / "b.py").write_text("import numpy as np\n\nnp.random.seed(0)\nimport a\n")
    assert codes(report(cache=cache)) == []
    (root / "b.py").write_text("print(1)\n")
    assert report(cache=cache) == before


def test_a_moved_file_has_its_new_name(package: Path) -> None:
    cache = package / "cache"
    (package / "package" / "sub").mkdir()
    (package / "package" / "use.py").write_text(
        "import torch\nfrom .ops import warp\n\n\ndef f(x):\n    return warp(x, 1)\n"
    )
    assert codes(report("package/use.py", cache=cache)) == ["DET403"]
    shutil.move(package / "package" / "use.py", package / "package" / "sub" / "use.py")
    assert report("package/sub/use.py", cache=cache) == report("package/sub/use.py")


def test_a_project_that_moves_as_a_whole(
    package: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path_factory.mktemp("cache")
    here = report(cache=cache)
    there = tmp_path_factory.mktemp("there")
    shutil.copytree(package, there, dirs_exist_ok=True)
    monkeypatch.chdir(there)
    moved = report(cache=cache)
    assert moved == report() == here.replace(str(package), str(there))


# -- a cache that can't be used -------------------------------------------------------------------------------------


def databases(cache: Path) -> list[Path]:
    """The databases of the cache, to be asked for each file: what is known of the whole program is forgotten."""
    for path in records(cache):
        path.unlink()
    return [path for path in cache.iterdir() if path.suffix == ".sqlite"]


def records(cache: Path) -> list[Path]:
    return [path for path in cache.iterdir() if path.name.startswith("queries-") and path.suffix == ".sqlite"]


def damages(content: bytes) -> Iterable[bytes]:
    """What the answers about a program may have become."""
    yield from (b"", b"\0", b"not a database", b"\xff" * 9000, content[:100])
    yield from (content[: int(len(content) * part)] for part in (0.1, 0.5, 0.9))
    yield content[:100] + b"\xa5" * 64 + content[164:]


def test_record_damaged(package: Path) -> None:
    cache = package / "cache"
    plain = report(cache=cache)
    (record,) = records(cache)
    content = record.read_bytes()
    for damage in damages(content):
        record.write_bytes(damage)
        assert report(cache=cache) == plain
        assert record.read_bytes() != damage, "it is written anew"


def test_a_folder_in_the_place_of_the_record(package: Path) -> None:
    cache = package / "cache"
    plain = report(cache=cache)
    (record,) = records(cache)
    record.unlink()
    record.mkdir()
    assert report(cache=cache) == plain
    assert report(cache=cache) == plain


@pytest.mark.parametrize(
    "content", [b"", b"\0", b"not a database", b"SQLite format 3\0" + b"\xff" * 4096, b"\xff" * 9000]
)
def test_database_overwritten(package: Path, content: bytes) -> None:
    cache = package / "cache"
    plain = report(cache=cache)
    (database,) = databases(cache)
    database.write_bytes(content)
    assert report(cache=cache) == plain
    assert report(cache=cache) == plain


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_database_truncated(package: Path, part: float) -> None:
    cache = package / "cache"
    plain = report(cache=cache)
    (database,) = databases(cache)
    content = database.read_bytes()
    database.write_bytes(content[: int(len(content) * part)])
    assert report(cache=cache) == plain


def test_database_with_holes(package: Path) -> None:
    cache = package / "cache"
    plain = report(cache=cache)
    (database,) = databases(cache)
    content = bytearray(database.read_bytes())
    for start in range(200, len(content), 512):
        content[start : start + 64] = b"\xa5" * 64
    database.write_bytes(content)
    assert report(cache=cache) == plain


@pytest.mark.parametrize("facts", [b"\xc1", b"\x93\x01\x02", b"\x80", b"text", b"\xd9", b"\x90" * 10])
def test_rows_of_nonsense(package: Path, facts: bytes) -> None:
    cache = package / "cache"
    plain = report(cache=cache)
    with sqlite3.connect(databases(cache)[0]) as database:
        database.execute("UPDATE facts SET facts = ?", (facts,))
    database.close()
    assert report(cache=cache) == plain


def test_table_of_another_shape(package: Path) -> None:
    cache = package / "cache"
    plain = report(cache=cache)
    with sqlite3.connect(databases(cache)[0]) as database:
        database.execute("DROP TABLE facts")
        database.execute("CREATE TABLE facts (other)")
    database.close()
    assert report(cache=cache) == plain


def test_a_folder_in_the_place_of_the_database(package: Path) -> None:
    cache = package / "cache"
    plain = report(cache=cache)
    for database in databases(cache):
        database.unlink()
        database.mkdir()
    assert report(cache=cache) == plain


def test_a_locked_database_is_a_miss(package: Path) -> None:
    cache = package / "cache"
    plain = report(cache=cache)
    with sqlite3.connect(f"file:{databases(cache)[0]}?mode=ro", uri=True) as reader:
        reader.execute("SELECT count(*) FROM facts").fetchone()
        assert report(cache=cache) == plain
    reader.close()


def test_answers_that_are_locked_are_a_miss(package: Path) -> None:
    cache = package / "cache"
    plain = report(cache=cache)
    other = sqlite3.connect(next(cache.glob("queries-*.sqlite")), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert report(cache=cache) == plain
    other.execute("ROLLBACK")
    other.close()
    assert report(cache=cache) == plain


def test_a_cache_below_a_file(package: Path) -> None:
    (package / "file").write_text("")
    assert report(cache=package / "file" / "cache") == report()


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder that not even root may write")
def test_a_cache_in_a_folder_that_nobody_may_write(copied: Callable[[str], Path]) -> None:
    fixture = str(copied("rules/DET403"))
    assert report(fixture, cache=Path("/proc/self/cache")) == report(fixture)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_cache(package: Path) -> None:
    cache = package / "cache"
    plain = report(cache=cache)
    (package / "train.py").write_text(PACKAGE["train.py"] + "\n")
    for path in [*cache.iterdir(), cache]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        assert report(cache=cache) == plain
    finally:
        cache.chmod(0o700)


# -- order, subsets, hash seeds -------------------------------------------------------------------------------------


def permutations(names: list[str]) -> Iterable[list[str]]:
    yield names
    yield names[::-1]
    yield sorted(names, key=lambda name: name[::-1])
    yield [*names, *names[:2]]


def test_any_order(package: Path) -> None:
    names = [*PACKAGE]
    assert len({report(*order) for order in permutations(names)}) == 1
    assert report(*names) == report(".")


def test_a_file_alone_gives_what_it_gives_in_the_full_run(package: Path) -> None:
    # What an entry point reaches in other files (family 1) is a matter of the entry point's own run.
    whole = [row for row in rows(report(".")) if row["family"] != 1]
    for name in PACKAGE:
        path = str(package / name)
        alone = [row for row in rows(report(name)) if row["family"] != 1]
        assert alone == [row for row in whole if row["filename"] == path], name


@pytest.mark.parametrize("rules", ["DET2", "DET3", "DET4", "DET5", "DET103", "DET107", "DET110", "DET0"])
def test_a_subset_gives_what_it_gives_in_the_full_run(many: Path, monkeypatch: pytest.MonkeyPatch, rules: str) -> None:
    monkeypatch.chdir(many)
    whole = rows(report("--jobs", "1", "--select", rules, "."))
    chosen = [str(path) for path in sorted(Path("part0").rglob("*.py"))][::9]
    names = {str(many / name) for name in chosen}
    assert rows(report("--select", rules, *chosen)) == [row for row in whole if row["filename"] in names]


def test_from_another_folder(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (package / "pyproject.toml").write_text("")
    here = report(".")
    monkeypatch.chdir(package / "package")
    assert report("..") == here
    assert report(str(package)) == here


def test_any_hash_seed(package: Path) -> None:
    """One run for each seed, rendered by the second one from what it keeps."""
    for number, path in enumerate(sorted((REPOSITORY / "fixtures" / "rules").rglob("*.py"))[::6]):
        shutil.copy(path, package / f"{path.parent.name}_{number}.py")
    outputs = set()
    for seed in ("0", "1", "random"):
        kept = ("--cache-dir", str(package / f"cache{seed}"))
        for form in ("json", "text"):
            result = apart("--output-format", form, *kept, ".", cwd=package, PYTHONHASHSEED=seed)
            assert result.returncode == 1, result.stderr
            outputs.add((form, result.stdout))
    assert len(outputs) == 2


def test_facts_of_one_hash_seed_serve_another(package: Path) -> None:
    arguments = [
        sys.executable,
        "-m",
        "detlint",
        "check",
        "--isolated",
        "--cache-dir",
        "cache",
        "--output-format",
        "json",
        ".",
    ]
    outputs = [
        subprocess.run(
            arguments,
            cwd=package,
            capture_output=True,
            timeout=300,
            check=False,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert rows(outputs[0].decode())


def test_statistics_do_not_depend_on_the_cache(package: Path) -> None:
    outputs = [detlint("check", "--isolated", "--cache-dir", "cache", "--statistics", ".").stdout for _ in range(2)]
    assert outputs[0] == outputs[1] != ""


def test_verbose_counts_do_not_depend_on_the_cache(package: Path) -> None:
    outputs = [detlint("check", "--isolated", "--cache-dir", "cache", "-v", "suppressed.py").stderr for _ in range(2)]
    assert all("1 suppressed" in output for output in outputs)


def test_a_folder_that_becomes_a_package_gives_its_files_other_names(project: Project) -> None:
    root = project(
        **{
            "detlint.toml": "",
            "main.py": "from common import *\n\nprint(noise())\n",
            "common/__init__.py": "from .noise import *\n",
            "common/noise.py": "import torch\n\n\ndef noise():\n    return torch.rand(1)\n",
        }
    )
    cache = root / "cache"
    age(root)
    before = report(cache=cache)
    (root / "__init__.py").touch()
    assert report(cache=cache) == report() != before
    (root / "__init__.py").unlink()
    assert report(cache=cache) == before


def test_a_run_that_comes_to_train_what_it_imports_is_seen_through_the_cache(project: Project) -> None:
    grow = (
        "import torch.nn as nn\n\n\nclass Grow(nn.Module):\n    def forward(self, x):\n"
        "        return nn.functional.interpolate(x, scale_factor=2, mode='bilinear')\n"
    )
    idle = "import sys\n\nimport kit.layers\nimport torch\n\ntorch.manual_seed(1)\nlayer = getattr(kit.layers, sys.argv[1])\n"
    root = project(**{"detlint.toml": "", "kit/__init__.py": "", "kit/layers.py": grow, "main.py": idle})
    cache = root / "cache"
    before = report(cache=cache)
    assert [(row["code"], row["severity"]) for row in rows(before)] == [("DET402", "note")]
    (root / "main.py").write_text(idle + "layer(torch.zeros(1)).sum().backward()\n")
    after = report(cache=cache)
    assert after == report()
    assert ("DET402", "warning") in [(row["code"], row["severity"]) for row in rows(after)]
    (root / "main.py").write_text(idle)
    assert report(cache=cache) == before


def test_a_run_that_finds_everything_as_it_was_writes_nothing(project: Project) -> None:
    root = project(
        **{
            "detlint.toml": "",
            "main.py": "import torch\n\nprint(torch.rand(1))\n",
            "plain.py": "VERSION = 1\n",
            "conf.yaml": "lr: 0.1\n",
        }
    )
    cache = root / "cache"

    def written() -> dict[Path, int]:
        report(cache=cache)
        return {path: path.stat().st_mtime_ns for path in cache.iterdir()}

    states = [written(), written()]
    while states[-1] != states[-2]:  # at first, files are so young that they may change again without a later time
        assert len(states) < 1000
        states.append(written())


NETS = 12
LAYERS = "from mindspore import nn, ops\n" + "".join(
    f"""

class Net{number}(nn.Cell):
    def __init__(self, whole=False):
        super().__init__()
        self.whole = whole
        self.conv = nn.Conv2d(3, 8, 3)

    def construct(self, images):
        images = self.conv(images)
        return ops.reduce_sum(images) if self.whole else images
"""
    for number in range(NETS)
)
USING = """import mindspore as ms
import nets
from mindspore import nn


def train(net):
    model = ms.train.Model(net, nn.MSELoss(), nn.Adam(net.trainable_params()))
    model.train(1, None)


if __name__ == "__main__":
    ms.set_context(device_target="Ascend")
    ms.set_seed(1)
    for net in (nets.Net0(), nets.Net3(), nets.Net6(whole=True)):
        train(net)
"""
CHOOSING = "from nets import Net3, Net7\n\n\ndef chosen():\n    return Net3(whole=True), Net7(True)\n"


def test_many_texts(project: Callable[..., Path]) -> None:
    """A program whose texts are too many to be read for each name that is looked for in them."""
    found = [
        codes_by_line(report("--jobs", "1", "."))
        for lines in (1, 10_000)
        if project(
            **{"nets.py": LAYERS, "train.py": USING, "more/chosen.py": CHOOSING},
            **{f"more/filler_{number}.py": "# nothing is said here\n" * lines for number in range(24)},
        )
    ]
    assert {"warning", "note"} == {level for code, _, level in found[0] if code == "DET406"}
    assert found[0] == found[1]


def codes_by_line(text: str) -> list[tuple[str, int, str]]:
    return [(row["code"], row["location"]["row"], row["severity"]) for row in rows(text)]

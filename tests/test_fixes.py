"""Fixing from the command line: what becomes of files, what is left alone, what is said."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from textwrap import dedent

import pytest
from conftest import detlint, findings

from detlint.fixes.write import NotWritten, write

LISTING = "import os\n\nfiles = [open(name) for name in os.listdir('data')]\n"
SORTED = LISTING.replace("os.listdir('data')", "sorted(os.listdir('data'))")


def fixed(folder: Path, source: str, *options: str, name: str = "train.py") -> str:
    """What `--fix` makes of a file that is a project by itself."""
    file = folder / name
    file.write_text(dedent(source), "utf-8")
    result = detlint("check", "--isolated", "--no-cache", "--fix", *options, file)
    assert result.exit_code in (0, 1), result.stderr
    first = file.read_text("utf-8")
    assert detlint("check", "--isolated", "--no-cache", "--fix", *options, file).exit_code == result.exit_code
    assert file.read_text("utf-8") == first, "a second time changes something"
    return first


def test_a_run_is_seeded_at_the_start_of_its_main_function(tmp_path: Path) -> None:
    source = """\
        import torch


        def main():
            print(torch.rand(3))


        if __name__ == "__main__":
            main()
        """
    seeded = dedent(source).replace("main():\n    print", "main():\n    torch.manual_seed(0)\n    print")
    assert fixed(tmp_path, source) == seeded


def test_a_run_without_a_main_function_is_seeded_in_its_main_block(tmp_path: Path) -> None:
    source = """\
        import torch

        if __name__ == "__main__":
            print(torch.rand(3))
        """
    assert '"__main__":\n    torch.manual_seed(0)\n' in fixed(tmp_path, source)


def test_a_function_that_is_a_command_and_what_the_main_block_calls_is_seeded_once(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n[project.scripts]\nx = 'train:main'\n")
    (tmp_path / "noise.py").write_text("import torch\n\n\ndef noise():\n    return torch.rand(3)\n")
    head, main = "from noise import noise\n", '\n\ndef main():\n    """Train."""\n'
    rest = "    print(noise())\n\n\nif __name__ == '__main__':\n    main()\n"
    (tmp_path / "train.py").write_text(head + main + rest)
    assert detlint("check", "--no-cache", "--fix", tmp_path).exit_code == 0
    seeded = "import torch\n\n" + head + main + "    torch.manual_seed(0)\n" + rest
    assert (tmp_path / "train.py").read_text() == seeded


OWN = "from noise import noise\n"
HEADS = {
    "sections": (f"import argparse\nimport os\n\nimport numpy as np\n\n{OWN}", "os\n\n", "os\nimport random\n\n"),
    "a section of its own": (f"import argparse\n\nimport numpy as np\n\n{OWN}", "parse\n", "parse\nimport random\n"),
    "none": (f"import numpy as np\n\n{OWN}", "import numpy", "import random\n\nimport numpy"),
    "a license": (f"# (c) us\nimport numpy as np\n{OWN}", "import numpy", "import random\nimport numpy"),
    "one line": (f"import sys; import numpy as np\n{OWN}", "import sys", "import random\nimport sys"),
    "a docstring": (f'"""Train."""\nfrom __future__ import annotations\n\n{OWN}', "ns\n", "ns\n\nimport random\n"),
}


@pytest.mark.parametrize("name", HEADS)
def test_imports_are_put_where_isort_would_put_them(tmp_path: Path, name: str) -> None:
    head, old, new = HEADS[name]
    (tmp_path / "noise.py").write_text("import random\n\n\ndef noise():\n    return random.random()\n")
    rest = "\n\ndef main():\n    print(noise())\n\n\nif __name__ == '__main__':\n    main()\n"
    (tmp_path / "train.py").write_text(head + rest)
    detlint("check", "--isolated", "--no-cache", "--fix", tmp_path)
    after = head.replace(old, new, 1) + rest.replace("    print", "    random.seed(0)\n    print")
    assert (tmp_path / "train.py").read_text() == after


def test_each_stream_in_use_is_seeded_and_what_that_needs_is_imported(tmp_path: Path) -> None:
    source = """\
        import numpy.random as npr
        from random import shuffle
        from torch import rand

        items = [3, 1, 2]
        shuffle(items)
        print(items, npr.rand(3), rand(3))
        """
    after = fixed(tmp_path, source)
    assert "\nrandom.seed(0)\nnpr.seed(0)\ntorch.manual_seed(0)\n" in after or all(
        f"\n{call}(0)\n" in after for call in ("random.seed", "npr.seed", "torch.manual_seed")
    )
    assert after.index("import random\n") < after.index("random.seed")
    assert after.index("import torch\n") < after.index("torch.manual_seed")
    assert after.index("manual_seed") < after.index("items = [")


def test_the_number_of_the_command_line_is_used(tmp_path: Path) -> None:
    source = """\
        import argparse

        import numpy as np


        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("--random-seed", type=int, default=7)
            options = parser.parse_args()
            print(np.random.rand(3), options)


        if __name__ == "__main__":
            main()
        """
    assert "    options = parser.parse_args()\n    np.random.seed(options.random_seed)\n" in fixed(tmp_path, source)


@pytest.mark.parametrize("option", ["", ", default=None"], ids=["none", "None"])
def test_a_number_that_may_be_missing_is_not_used(tmp_path: Path, option: str) -> None:
    source = f"""\
        import argparse

        import numpy as np

        parser = argparse.ArgumentParser()
        parser.add_argument("--seed", type=int{option})
        args = parser.parse_args()
        print(np.random.rand(3), args)
        """
    assert "np.random.seed(args.seed)" not in fixed(tmp_path, source)


def test_a_constant_of_the_file_is_used(tmp_path: Path) -> None:
    source = "import numpy as np\n\nSEED = 12\nprint(np.random.rand(3), SEED)\n"
    assert "SEED = 12\nnp.random.seed(SEED)\n" in fixed(tmp_path, source)


def test_the_configured_number_is_used(tmp_path: Path) -> None:
    (tmp_path / "detlint.toml").write_text("fix-seed = 1234\n")
    file = tmp_path / "train.py"
    file.write_text("import numpy as np\n\nprint(np.random.rand(3))\n")
    detlint("check", "--no-cache", "--fix", file)
    assert "np.random.seed(1234)\n" in file.read_text()


RUNTIME = ("--fix-style", "runtime")


@pytest.mark.parametrize(
    ("number", "seed"),
    [("", "0"), ("SEED = 7\n", "SEED"), ("parser.add_argument('--seed', type=int, default=3)\n", "args.seed")],
)
def test_one_call_of_the_runtime_seeds_all_streams(tmp_path: Path, number: str, seed: str) -> None:
    parsed = (
        "parser = argparse.ArgumentParser()\n" + number + "args = parser.parse_args()\n"
        if "parser" in number
        else number
    )
    source = f"""\
import argparse
import random

import keras
import mindspore as ms
import numpy as np
import tensorflow as tf
import torch

{parsed}print(random.random(), np.random.rand(3), torch.rand(3), tf.random.normal([3]), keras.random.normal((3,)))
print(ms.ops.uniform((3,), ms.Tensor(0.0), ms.Tensor(1.0)))
"""
    after = fixed(tmp_path, source, *RUNTIME)
    assert "from detlint.runtime import seed_all\n" in after
    assert [line for line in after.splitlines() if "seed(" in line or "seed_all(" in line] == [f"seed_all({seed})"]
    assert after.index("seed_all(") < after.index("print(")
    assert not [row for row in findings(tmp_path / "train.py") if row["family"] == 1]


def test_the_runtime_seeds_what_was_forgotten_with_the_others_number(tmp_path: Path) -> None:
    source = """\
        import numpy as np
        import torch

        torch.manual_seed(3)
        print(np.random.rand(3), torch.rand(3))
        """
    assert "\ntorch.manual_seed(3)\nseed_all(3)\n" in fixed(tmp_path, source, *RUNTIME)


def test_streams_that_the_runtime_does_not_know_get_their_own_calls(tmp_path: Path) -> None:
    source = "import numpy as np\nimport paddle\n\nprint(np.random.rand(3), paddle.rand([3]))\n"
    after = fixed(tmp_path, source, *RUNTIME)
    assert "\nseed_all(0)\n" in after
    assert "\npaddle.seed(0)\n" in after


def test_a_name_that_is_taken_is_left_alone(tmp_path: Path) -> None:
    source = "import numpy as np\n\n\ndef seed_all():\n    pass\n\n\nprint(np.random.rand(3))\n"
    assert fixed(tmp_path, source, *RUNTIME) == source


def test_the_style_can_be_configured(tmp_path: Path) -> None:
    (tmp_path / "detlint.toml").write_text("fix-style = 'runtime'\nfix-seed = 5\n")
    file = tmp_path / "train.py"
    file.write_text("import numpy as np\n\nprint(np.random.rand(3))\n")
    assert "call `seed_all(n)` at the start of the run" in detlint("check", "--no-cache", file).stdout
    detlint("check", "--no-cache", "--fix", file)
    assert file.read_text() == (
        "import numpy as np\nfrom detlint.runtime import seed_all\n\nseed_all(5)\n\nprint(np.random.rand(3))\n"
    )
    (tmp_path / "detlint.toml").write_text("fix-style = 'short'\n")
    assert "`fix-style`: Invalid enum value 'short'" in detlint("check", file).stderr


@pytest.mark.parametrize("start", ["with enforce(seed=3):\n    ", "enforced = enforce().start()\n"])
def test_what_enforces_seeds(tmp_path: Path, start: str) -> None:
    file = tmp_path / "train.py"
    file.write_text(f"import numpy as np\nfrom detlint.runtime import enforce\n\n{start}print(np.random.rand(3))\n")
    assert findings(file) == []


def test_a_forgotten_stream_is_seeded_beside_the_others_with_their_number(tmp_path: Path) -> None:
    source = """\
        import random

        import numpy as np
        import torch


        def set_seed(seed):
            torch.manual_seed(seed)


        def main():
            set_seed(3)
            print(torch.rand(3), np.random.rand(3), random.random())


        main()
        """
    after = fixed(tmp_path, source)
    assert (
        "    torch.manual_seed(seed)\n    random.seed(seed)\n" in after or "(seed)\n    np.random.seed(seed)" in after
    )
    assert after.count("(seed)\n") == 3


def test_a_process_is_seeded_where_it_begins(tmp_path: Path) -> None:
    source = """\
        import torch
        import torch.multiprocessing as mp


        def worker(rank):
            \"\"\"One of them.\"\"\"
            print(rank, torch.rand(3))


        if __name__ == "__main__":
            mp.spawn(worker, nprocs=2)
        """
    assert '    """One of them."""\n    torch.manual_seed(0)\n' in fixed(tmp_path, source)


def test_several_runs_that_draw_in_one_place_are_each_seeded(tmp_path: Path) -> None:
    (tmp_path / "noise.py").write_text("import torch\n\n\ndef noise():\n    return torch.rand(3)\n")
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("from noise import noise\n\nprint(noise())\n")
    detlint("check", "--isolated", "--no-cache", "--fix", tmp_path)
    for name in ("a.py", "b.py"):
        assert "torch.manual_seed(0)\n" in (tmp_path / name).read_text()
    assert "manual_seed" not in (tmp_path / "noise.py").read_text()


def test_what_a_callback_draws_is_seeded_where_the_run_starts(tmp_path: Path) -> None:
    source = """\
        import random

        from torch.utils.data import DataLoader, Dataset


        class Noisy(Dataset):
            def __len__(self):
                return 8

            def __getitem__(self, index):
                return index + random.random()


        def loader():
            return DataLoader(Noisy())


        if __name__ == "__main__":
            for batch in loader():
                print(batch)
        """
    assert '"__main__":\n    random.seed(0)\n    for' in fixed(tmp_path, source)


def test_what_a_callback_draws_is_seeded_with_the_number_of_the_command_line(tmp_path: Path) -> None:
    source = """\
        import argparse
        import random

        from torch.utils.data import DataLoader, Dataset


        class Noisy(Dataset):
            def __len__(self):
                return 8

            def __getitem__(self, index):
                return index + random.random()


        def main():
            \"\"\"Go through the data.\"\"\"
            parser = argparse.ArgumentParser()
            parser.add_argument("--seed", type=int, default=3)
            args = parser.parse_args()
            for batch in DataLoader(Noisy()):
                print(batch, args)


        if __name__ == "__main__":
            main()
        """
    assert "parse_args()\n    random.seed(args.seed)\n    for" in fixed(tmp_path, source)


def test_comments_above_the_first_statement_stay_with_it(tmp_path: Path) -> None:
    source = """\
        import torch

        if __name__ == "__main__":
            # What matters.
            print(torch.rand(3))
        """
    assert "    torch.manual_seed(0)\n    # What matters.\n    print" in fixed(tmp_path, source)


def test_a_name_that_means_something_else_stops_the_fix(tmp_path: Path) -> None:
    source = "from torch import rand\n\ntorch = 3\nprint(rand(3), torch)\n"
    assert fixed(tmp_path, source) == source


def test_a_draw_while_modules_are_imported_is_left_to_people(tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text("import torch\n\nDATA = torch.rand(3)\n")
    (tmp_path / "main.py").write_text("import data\n\nif __name__ == '__main__':\n    print(data.DATA)\n")
    result = detlint("check", "--isolated", "--no-cache", "--fix", tmp_path)
    assert result.exit_code == 1
    assert "manual_seed" not in (tmp_path / "main.py").read_text() + (tmp_path / "data.py").read_text()


# -- options --------------------------------------------------------------------------------------------------------


def test_diff_shows_what_would_change_and_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(LISTING)
    result = detlint("check", "--isolated", "--no-cache", "--diff", "train.py")
    assert result.exit_code == 1
    assert "-files = [open(name) for name in os.listdir('data')]\n" in result.stdout
    assert "+files = [open(name) for name in sorted(os.listdir('data'))]\n" in result.stdout
    assert result.stdout.startswith("--- train.py\n+++ train.py\n@@ ")
    assert result.stderr == "Would fix 1 finding in 1 file.\n"
    assert Path("train.py").read_text() == LISTING


def test_diff_of_what_needs_no_fix_is_empty(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print(1)\n")
    result = detlint("check", "--isolated", "--no-cache", "--diff", tmp_path)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "Nothing can be fixed.\n")


def test_unsafe_fixes_are_made_only_when_asked_for(tmp_path: Path) -> None:
    source = (
        "import torch\n\ntorch.manual_seed(0)\nnet = torch.nn.Sequential(torch.nn.Dropout(0.5))\nnet(torch.rand(3))\n"
    )
    assert fixed(tmp_path, source, "--profile", "align") == source
    assert "Dropout(0.0)" in fixed(tmp_path, source, "--profile", "align", "--unsafe-fixes")


def test_what_is_random_by_design_stays_so_where_runs_are_only_repeated(tmp_path: Path) -> None:
    source = "import torch\n\nnet = torch.nn.Sequential(torch.nn.Dropout(0.5))\nprint(net(torch.rand(3)))\n"
    after = fixed(tmp_path, source, "--unsafe-fixes", "--show-notes")
    assert "Dropout(0.5)" in after
    assert "torch.manual_seed(0)" in after


def test_show_fixes_lists_them(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LISTING)
    result = detlint("check", "--isolated", "--no-cache", "--fix", "--show-fixes", tmp_path)
    assert result.exit_code == 0
    assert "Fixed 1 finding:\n" in result.stdout
    assert "train.py:\n    1 × DET305 (unsorted-listing)\n" in result.stdout
    assert "No problems left in 1 file; 1 fixed." in result.stdout


def test_fix_only_reports_nothing(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import os\nimport random\n\n\ndef names(folder):\n    return os.listdir(folder)\n\n\nrandom.seed()\n"
        "open(names('a')[0])\nprint(random.random())\n"
    )
    result = detlint("check", "--isolated", "--no-cache", "--fix-only", tmp_path)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "sorted(" in (tmp_path / "train.py").read_text()


def test_what_standard_input_gives_comes_out_fixed(tmp_path: Path) -> None:
    result = detlint(
        "check", "--isolated", "--no-cache", "--fix", "--stdin-filename", tmp_path / "a.py", "-", stdin=LISTING.encode()
    )
    assert result.stdout == SORTED
    assert "1 fixed" in result.stderr
    assert not (tmp_path / "a.py").exists()


def test_the_configuration_may_ask_for_fixes(tmp_path: Path) -> None:
    (tmp_path / "detlint.toml").write_text("fix = true\nunsafe-fixes = true\nprofile = 'align'\n")
    (tmp_path / "train.py").write_text(LISTING + "import torch\n\nnet = torch.nn.Dropout(0.5)\n")
    detlint("check", "--no-cache", tmp_path)
    assert "sorted(" in (tmp_path / "train.py").read_text()
    assert "Dropout(0.0)" in (tmp_path / "train.py").read_text()


def test_json_has_the_edits(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LISTING)
    [finding] = findings(tmp_path / "train.py")
    assert finding["fix"]["applicability"] == "safe"
    text = LISTING.splitlines(keepends=True)
    for edit in reversed(finding["fix"]["edits"]):
        row, start, end = edit["location"]["row"], edit["location"]["column"], edit["end_location"]["column"]
        assert edit["end_location"]["row"] == row
        text[row - 1] = text[row - 1][: start - 1] + edit["content"] + text[row - 1][end - 1 :]
    assert "".join(text) == SORTED


def test_the_text_says_what_can_be_fixed(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LISTING)
    assert "= fix: --fix can write `sorted(...)`" in detlint("check", "--isolated", "--no-cache", tmp_path).stdout


# -- promises -------------------------------------------------------------------------------------------------------


def test_a_suppressed_line_is_not_touched(tmp_path: Path) -> None:
    source = LISTING.rstrip("\n") + "  # noqa: DET999\n"
    assert fixed(tmp_path, source) == source


@pytest.mark.parametrize(
    "encoded",
    [
        b"\xef\xbb\xbf" + LISTING.encode(),
        LISTING.replace("\n", "\r\n").encode(),
        LISTING.replace("\n", "\r").encode(),
        b"# -*- coding: latin-1 -*-\n# \xe9\n" + LISTING.encode("latin-1"),
        LISTING.rstrip("\n").encode(),
        b"\x0c" + LISTING.encode(),
        "x = '\u2028é'; ".encode() + LISTING.encode(),
    ],
    ids=["mark", "crlf", "cr", "latin-1", "no-newline", "form-feed", "separator"],
)
def test_bytes_outside_the_edit_are_as_they_were(tmp_path: Path, encoded: bytes) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(encoded)
    detlint("check", "--isolated", "--no-cache", "--fix", file)
    assert file.read_bytes() == encoded.replace(b"os.listdir('data')", b"sorted(os.listdir('data'))")


@pytest.mark.parametrize("end", ["", "\r", "\r\n", "\n"])
def test_an_import_leaves_the_end_of_the_file_as_it_is(tmp_path: Path, end: str) -> None:
    newline = end or "\r"
    lines = ["import torch", "print(torch.rand(3))", "used = torch.utils.data.random_split(data, [6, 2])  # why"]
    file = tmp_path / "train.py"
    file.write_bytes((newline.join(lines) + end).encode())
    detlint("check", "--isolated", "--no-cache", "--fix", "--unsafe-fixes", "--fix-style", "runtime", file)
    assert file.read_bytes().decode().endswith("# why" + end)
    assert file.read_bytes().decode().count("# why") == 1
    said = [line for line in file.read_bytes().decode().split(newline) if line]
    assert said[1:3] == ["from detlint.runtime import seed_all", "seed_all(0)"]


def test_what_begins_on_a_line_that_goes_on_is_not_seeded_there(tmp_path: Path) -> None:
    source = "import torch\n\ndef main():\n    x = 1; \\\n      y = torch.rand(3)\n\nmain()\n"
    file = tmp_path / "train.py"
    file.write_text(source)
    assert detlint("check", "--isolated", "--no-cache", "--fix", "--unsafe-fixes", file).stderr == ""


def test_the_mode_is_kept_and_a_link_stays_one(tmp_path: Path) -> None:
    real = tmp_path / "real" / "train.py"
    real.parent.mkdir()
    real.write_text(LISTING)
    real.chmod(0o750)
    link = tmp_path / "train.py"
    link.symlink_to(real)
    detlint("check", "--isolated", "--no-cache", "--fix", link)
    assert link.is_symlink()
    assert real.read_text() == SORTED
    assert stat.S_IMODE(real.stat().st_mode) == 0o750
    assert os.listdir(real.parent) == ["train.py"]


def test_a_file_that_has_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"mine")
    with pytest.raises(NotWritten, match="changed since"):
        write(file, b"read before", b"fixed")
    assert file.read_bytes() == b"mine"
    assert os.listdir(tmp_path) == ["train.py"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written_is_an_error_and_the_others_are_fixed(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir()
    for name in ("locked/a.py", "b.py"):
        (tmp_path / name).write_text(LISTING)
    (tmp_path / "locked").chmod(0o500)
    result = detlint("check", "--isolated", "--no-cache", "--fix", tmp_path)
    (tmp_path / "locked").chmod(0o700)
    assert result.exit_code == 2
    assert "a.py: not fixed: it can't be written" in result.stderr
    assert (tmp_path / "b.py").read_text() == SORTED
    assert (tmp_path / "locked/a.py").read_text() == LISTING


def test_only_files_that_were_named_are_changed(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(LISTING)
    detlint("check", "--no-cache", "--fix", tmp_path / "a.py")
    assert (tmp_path / "a.py").read_text() == SORTED
    assert (tmp_path / "b.py").read_text() == LISTING


def test_a_run_is_seeded_although_what_it_draws_with_was_not_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (tmp_path / "noise.py").write_text("import torch\n\n\ndef noise():\n    return torch.rand(3)\n")
    (tmp_path / "train.py").write_text("from noise import noise\n\nprint(noise())\n")
    detlint("check", "--no-cache", "--fix", tmp_path / "train.py")
    assert "torch.manual_seed(0)\n" in (tmp_path / "train.py").read_text()


def test_only_what_can_be_sorted_is(tmp_path: Path) -> None:
    source = """\
        import json

        import torch

        def names(rows):
            tags = {str(row) for row in rows}
            json.dump(list(tags), open("tags.json", "w"))

        def kinds(rows):
            kinds = {type(row) for row in rows}
            json.dump(list(kinds), open("kinds.json", "w"))
        """
    after = fixed(tmp_path, source, "--unsafe-fixes", "--show-notes")
    assert "dump(sorted(tags)" in after
    assert "dump(list(kinds)" in after


@pytest.mark.parametrize(
    ("imports", "left"),
    [
        (
            "from torchvision.transforms import RandomCrop, Resize",
            "from torchvision.transforms import CenterCrop, Resize",
        ),
        ("from torchvision.transforms import (\n    RandomCrop,  # cuts\n    Resize,\n)", None),
        ("import math\nfrom torchvision.transforms import RandomCrop, Resize", None),
        ("from .transforms import RandomCrop, Resize", "from .transforms import RandomCrop, Resize"),
    ],
)
def test_imports_that_nothing_uses_any_more_go(tmp_path: Path, imports: str, left: str | None) -> None:
    source = f"{imports}\n\n\ndef steps():\n    return [Resize(8), RandomCrop(4)]\n"
    after = fixed(tmp_path, source, "--unsafe-fixes", "--profile", "align")
    if left is not None:
        assert after.startswith(left)
    assert ("RandomCrop" in after) is imports.startswith("from .")
    assert ("import math" in after) is ("import math" in imports), "what was unused before stays"


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("__init__.py", ""),
        ("train.py", "from train import RandomCrop\n"),
        ("train.py", "import train\n\ntrain.RandomCrop\n"),
    ],
)
def test_imports_that_others_may_use_stay(tmp_path: Path, name: str, other: str) -> None:
    (tmp_path / "other.py").write_text(other)
    (tmp_path / "detlint.toml").touch()
    source = "from torchvision.transforms import RandomCrop, Resize\n\nSTEPS = [Resize(8), RandomCrop(4)]\n"
    after = fixed(tmp_path, source, "--unsafe-fixes", "--profile", "align", name=name)
    assert "RandomCrop(4)" not in after
    assert "import CenterCrop, RandomCrop, Resize" in after

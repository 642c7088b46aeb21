"""A cache only saves time: whatever becomes of its files, and of the program while it is read, the answer is that of the files."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from conftest import age, detlint, notebook

from detlint.cachefile import read_whole, write_whole

Project = Callable[..., Path]

SEEDED = "import torch\n\ntorch.manual_seed(1)\nprint(torch.rand(3))\n"
UNSEEDED = "import torch\n\n# torch.manual_see()\nprint(torch.rand(3))\n"
assert len(SEEDED) == len(UNSEEDED)


def report(*options: str) -> str:
    result = detlint("check", "--show-notes", "--output-format", "json", "--jobs", "1", *options, ".")
    assert result.exit_code in (0, 1), result.stderr
    return result.stdout


def warm() -> str:
    return report("--cache-dir", "../cache")


def cold() -> str:
    return report("--no-cache")


@pytest.fixture
def root(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small program, in a folder beside that of its cache."""
    root = project(**{"at/detlint.toml": "", "at/train.py": SEEDED, "at/more.py": "import math\n"}) / "at"
    monkeypatch.chdir(root)
    return root


def kept(root: Path, beginning: str) -> Path:
    (path,) = (
        path for path in (root.parent / "cache").iterdir() if path.name.startswith(beginning) and path.stat().st_size
    )
    return path


def settle(root: Path) -> None:
    """Run until nothing is young any more: then a run looks into no file."""
    before = -1
    for _ in range(1000):
        warm()
        now = kept(root, "queries-").stat().st_mtime_ns
        if now == before:
            return
        before = now
    raise AssertionError("each run writes what is known")


# -- what tells that a file has changed -----------------------------------------------------------------------------


def rewritten(path: Path, text: str) -> None:
    path.write_text(text)


def renamed(path: Path, text: str) -> None:
    other = path.with_name("other")
    other.write_text(text)
    other.replace(path)


def linked(path: Path, text: str) -> None:
    other = path.parent.parent / "other.py"
    other.write_text(text)
    path.unlink()
    path.symlink_to(other)


@pytest.mark.parametrize("put", [rewritten, renamed, linked])
@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("train.py", SEEDED, UNSEEDED),
        ("lesson.ipynb", notebook(SEEDED), notebook(UNSEEDED)),
        ("net.yaml", "net:\n  _target_: torch.nn.Dropout\n", "net:\n  _target_: torch.nn.xDropout\n"[:-1]),
    ],
    ids=["python", "notebook", "yaml"],
)
def test_another_content_of_the_same_size_and_time(
    root: Path, put: Callable[[Path, str], None], name: str, before: str, after: str
) -> None:
    path = root / name
    path.write_text(before)
    age(root)
    settle(root)
    first, status = warm(), path.stat()
    put(path, after)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_mtime_ns == status.st_mtime_ns
    assert warm() == cold() != first
    assert warm() == cold()


def test_a_document_of_the_same_size_and_time(root: Path) -> None:
    texts = ["python train.py --device Ascend\n", "python train.py --device GPU    \n"]
    (root / "README.md").write_text("# A net in MindSpore\n")
    (root / "train.py").write_text(
        "import argparse\n\nimport mindspore\nfrom mindspore import nn\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--device', default='Ascend')\nargs = parser.parse_args()\n"
        "mindspore.set_context(device_target=args.device)\nnet = nn.Conv2d(3, 3, 3)\n"
        "cell = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params()))\ncell(mindspore.ops.ones((1, 3, 8, 8)))\n"
    )
    (root / "more.py").unlink()
    found = []
    for text in (*texts, texts[0]):
        (root / "run.sh").write_text(text)
        age(root)
        found.append(warm())
        assert found[-1] == cold()
        settle(root)
    assert found[0] != found[1]


def test_a_folder_of_the_same_time(root: Path) -> None:
    (root / "parts").mkdir()
    (root / "train.py").write_text(UNSEEDED.replace("# torch", "from parts import seeds; seeds.seed()\n# torch"))
    settle(root)
    first, status = warm(), (root / "parts").stat()
    (root / "parts" / "seeds.py").write_text("import torch\n\n\ndef seed():\n    torch.manual_seed(1)\n")
    os.utime(root / "parts", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert warm() == cold() != first


def test_nothing_is_read_where_nothing_has_changed(root: Path) -> None:
    settle(root)
    opened: list[str] = []
    with listening(lambda path: opened.append(os.path.basename(path))):
        warm()
    assert "train.py" not in opened and "more.py" not in opened


# -- files that are saved while they are read -----------------------------------------------------------------------

_listeners: list[Callable[[str], None]] = []


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _listeners and isinstance(arguments[0], str | os.PathLike):
        for listener in [*_listeners]:
            listener(os.fspath(arguments[0]))


class listening:
    """Is told of each file that is about to be opened."""

    installed = False

    def __init__(self, listener: Callable[[str], None]) -> None:
        self.listener = listener

    def __enter__(self) -> None:
        if not listening.installed:
            listening.installed = True
            sys.addaudithook(_hear)
        _listeners.append(self.listener)

    def __exit__(self, *_: object) -> None:
        _listeners.remove(self.listener)


class Saving:
    """Saves other contents when a file is opened.

    Args:
        at: at which openings, counted from 1.
    """

    def __init__(self, path: Path, contents: Iterator[str | None], at: Callable[[int], bool]) -> None:
        self.path, self.contents, self.at = path, contents, at
        self.count = 0
        self.busy = False

    def __call__(self, path: str) -> None:
        if os.path.basename(path) != self.path.name or self.busy:
            return
        self.count += 1
        if self.at(self.count):
            self.busy = True
            content = next(self.contents)
            self.path.unlink() if content is None else self.path.write_text(content)
            self.busy = False


def answers(path: Path, *contents: str | None) -> list[str]:
    found = []
    for content in contents:
        path.unlink(missing_ok=True) if content is None else path.write_text(content)
        found.append(cold())
    return found


@pytest.mark.parametrize("number", range(1, 6))
@pytest.mark.parametrize(
    "after", [UNSEEDED, "import torch\nprint(torch.rand(\n", None], ids=["other", "broken", "gone"]
)
def test_a_file_that_is_saved_while_it_is_checked(root: Path, number: int, after: str | None) -> None:
    path = root / "train.py"
    right = answers(path, after, SEEDED)
    with listening(Saving(path, iter([after]), lambda count: count == number)):
        answer = warm()
    assert answer in right or (after is None and "DET001" in answer)
    # What is kept says nothing of one content that was read off another.
    path.write_text(SEEDED)
    assert warm() == right[1]
    if after is not None:
        path.write_text(after)
        assert warm() == right[0]


def test_a_file_that_is_saved_all_the_time(root: Path) -> None:
    path = root / "train.py"
    right = answers(path, UNSEEDED, SEEDED)
    turns = (text for _ in range(100) for text in (UNSEEDED, SEEDED))
    with listening(Saving(path, turns, lambda count: True)):
        assert warm() in right
    path.write_text(SEEDED)
    assert warm() == right[1]


# -- whatever becomes of the cache ----------------------------------------------------------------------------------

KINDS = ["catalog-", "facts-", "queries-"]


def flipped(content: bytes, random: Random) -> bytes:
    place = random.randrange(len(content))
    return content[:place] + bytes([content[place] ^ (1 << random.randrange(8))]) + content[place + 1 :]


def test_a_flipped_bit_is_noticed_anywhere(tmp_path: Path) -> None:
    path, random = tmp_path / "catalog-1.msgpack", Random(0)
    write_whole(path, random.randbytes(5000))
    content = path.read_bytes()
    assert bytes(read_whole(path) or b"") == content[8:]
    for _ in range(300):
        path.write_bytes(flipped(content, random))
        assert read_whole(path) is None
    for size in (0, 1, 7, 8, 9, len(content) - 1):
        path.write_bytes(content[:size])
        assert read_whole(path) is None
    path.with_name("catalog-2.msgpack").write_bytes(content)
    assert read_whole(path.with_name("catalog-2.msgpack")) is None, "what was kept under another name"


@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_changes_nothing(root: Path, kind: str) -> None:
    plain, random = warm(), Random(kind)
    content = kept(root, kind).read_bytes()
    for _ in range(2 if kind == "catalog-" else 8):
        kept(root, kind).write_bytes(flipped(content, random))
        if kind == "facts-":
            kept(root, "queries-").unlink()
        assert warm() == plain


def link(path: Path) -> Path:
    elsewhere = path.parent.parent / "elsewhere"
    elsewhere.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(elsewhere)
    return elsewhere


def test_nothing_is_written_through_a_link(root: Path) -> None:
    plain = warm()
    for kind in KINDS:
        elsewhere = link(kept(root, kind))
        before = elsewhere.read_bytes()
        (root / "train.py").write_text(f"{SEEDED}# {kind}\n")
        assert warm() == cold()
        assert elsewhere.read_bytes() == before
        assert not kept(root, kind).is_symlink()
    (root / "train.py").write_text(SEEDED)
    assert warm() == plain


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no such thing here")
@pytest.mark.parametrize("kind", KINDS)
def test_a_pipe_in_the_place_of_a_file(root: Path, kind: str) -> None:
    plain = warm()
    path = kept(root, kind)
    path.unlink()
    os.mkfifo(path)
    assert warm() == plain
    assert warm() == plain
    assert path.is_file()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("content", [b"", b"another version's", None], ids=["empty", "foreign", "folder"])
def test_something_else_in_the_place_of_a_file(root: Path, kind: str, content: bytes | None) -> None:
    plain = warm()
    path = kept(root, kind)
    if content is None:
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes(content)
    assert warm() == plain
    assert warm() == plain


def test_a_folder_with_other_things_is_left_as_it_is(root: Path) -> None:
    (root / ".gitignore").write_text("*.log\n")
    first = report("--cache-dir", ".")
    assert (root / ".gitignore").read_text() == "*.log\n"
    assert not (root / "CACHEDIR.TAG").exists()
    assert report("--cache-dir", ".") == first


def test_a_linked_folder_with_other_things_is_no_cache(root: Path) -> None:
    elsewhere = root.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine").write_text("")
    (root / ".detlint_cache").symlink_to(elsewhere)
    assert report() == cold()
    assert [path.name for path in elsewhere.iterdir()] == ["mine"]
    (elsewhere / "mine").unlink()  # an empty one may be meant for it
    report()
    assert (elsewhere / "CACHEDIR.TAG").exists()


# -- processes ------------------------------------------------------------------------------------------------------


def start(*options: str, code: str = "") -> subprocess.Popen[bytes]:
    code = f"import sys\n{code}\nfrom detlint.cli import main\nmain()\n"
    arguments = [
        "check",
        "--show-notes",
        "--output-format",
        "json",
        "--jobs",
        "1",
        "--cache-dir",
        "../cache",
        *options,
        ".",
    ]
    return subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_processes_that_share_a_cache(root: Path) -> None:
    for number in range(30):
        (root / f"part{number}.py").write_text(UNSEEDED + f"# {number}\n")
    plain = warm()
    shutil.rmtree(root.parent / "cache" / kept(root, "queries-").name, ignore_errors=True)
    kept(root, "queries-").unlink()
    kept(root, "facts-").unlink()
    for run in [start() for _ in range(4)]:
        out, err = run.communicate(timeout=120)
        assert (unlinked(out.decode()), err) == (unlinked(plain), b"")
    assert warm() == plain


def unlinked(report: str) -> str:
    """A report without the addresses of pages, which only an installed detlint has."""
    return re.sub(r'"url": .*', '"url"', report)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such thing here")
@pytest.mark.parametrize("connections", [1, 2], ids=["facts", "answers"])
def test_a_run_that_was_killed(root: Path, connections: int) -> None:
    plain = warm()
    (root / "train.py").write_text(UNSEEDED)
    killed = start(
        code=f"import os, signal\nleft = {connections}\ndef hook(event, arguments):\n    global left\n"
        "    if event == 'sqlite3.connect/handle':\n        left -= 1\n"
        "        if not left:\n            os.kill(os.getpid(), signal.SIGKILL)\nsys.addaudithook(hook)\n"
    )
    killed.communicate(timeout=120)
    assert killed.returncode == -signal.SIGKILL
    assert warm() == cold() != plain
    assert warm() == cold()

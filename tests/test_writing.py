"""What detlint writes into files that aren't its own: only where it was meant to go, whole or not at all, every other byte as it was."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from encodings import aliases
from pathlib import Path
from typing import Any

import pytest
from conftest import CHECKING, detlint, notebook
from forks import server
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

Project = Callable[..., Path]
LISTING = "import os\n\nfiles = [open(name) for name in os.listdir('data')]\n"
SORTED = LISTING.replace("os.listdir('data')", "sorted(os.listdir('data'))")
MARKED = LISTING[:-1] + "  # noqa: DET305\n"
YAML = "cudnn_benchmark: true\n"
POSIX = pytest.mark.skipif(os.name == "nt", reason="links, signals and limits as POSIX has them")
pytestmark = POSIX


def run(*arguments: str | Path) -> Any:
    return detlint("check", "--no-cache", *arguments)


# -- links ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def away(project: Project) -> Path:
    """A folder beside a project, which is the current one."""
    root = project(**{"mine/detlint.toml": "", "away/x.py": LISTING, "away/x.ipynb": notebook(LISTING)})
    os.chdir(root / "mine")
    return root / "away"


@pytest.mark.parametrize("option", ["--fix", "--add-noqa"])
@pytest.mark.parametrize("name", ["x.py", "x.ipynb"])
@pytest.mark.parametrize("linked", ["file", "folder"])
def test_no_link_leads_out_of_the_project(away: Path, option: str, name: str, linked: str) -> None:
    before = (away / name).read_bytes()
    if linked == "file":
        Path(name).symlink_to(away / name)
        result = run(option, ".")
    else:
        Path("linked").symlink_to(away)
        result = run(option, f"linked/{name}")
    assert (away / name).read_bytes() == before
    assert result.exit_code == 1
    assert f"a link leads from it to {away / name}, outside of the project" in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(os.listdir(away)) == ["x.ipynb", "x.py"]


def test_no_edit_is_offered_there(away: Path) -> None:
    Path("x.py").symlink_to(away / "x.py")
    (finding,) = json.loads(run("--output-format", "json", ".").stdout)
    assert not finding.get("fix")


@pytest.mark.parametrize("there", [True, False])
def test_no_baseline_is_written_there(away: Path, there: bool) -> None:
    Path("train.py").write_text(LISTING)
    Path(".detlint-baseline.json").symlink_to(away / "base.json")
    if there:
        (away / "base.json").write_text('{"version": 1, "findings": {}}')
    before = {file: file.read_bytes() for file in away.iterdir()}
    result = detlint("baseline", "--no-cache", ".")
    assert result.exit_code == 2
    assert "outside of the project" in result.stderr
    assert {file: file.read_bytes() for file in away.iterdir()} == before


@pytest.mark.parametrize("name", ["pyproject.toml", "detlint.toml"])
def test_no_configuration_is_written_there(away: Path, name: str) -> None:
    Path("detlint.toml").unlink()
    Path(".git").mkdir()
    if name == "pyproject.toml":
        (away / name).write_text("[project]\n")
    Path(name).symlink_to(away / name)
    result = detlint("init", "-y", ".")
    assert result.exit_code == 2
    assert "outside of the project" in result.stderr
    assert not (away / "detlint.toml").exists()
    assert name == "detlint.toml" or (away / name).read_text() == "[project]\n"


@pytest.mark.parametrize(("option", "after"), [("--fix", SORTED), ("--add-noqa", MARKED)])
def test_a_link_within_the_project_stays_one_and_its_file_is_written_once(away: Path, option: str, after: str) -> None:
    Path("deep").mkdir()
    Path("deep/real.py").write_text(LISTING)
    Path("a.py").symlink_to("deep/real.py")
    Path("b.py").symlink_to("a.py")
    run(option, ".")
    assert Path("a.py").is_symlink() and Path("b.py").is_symlink()
    assert Path("deep/real.py").read_text() == after


@pytest.mark.parametrize(("option", "after"), [("--fix", SORTED), ("--add-noqa", MARKED)])
def test_a_file_that_is_named_outside_of_the_project_is_written(away: Path, option: str, after: str) -> None:
    Path("train.py").write_text(LISTING)
    run(option, "train.py", "../away/x.py")
    assert (away / "x.py").read_text() == after


def test_another_name_of_the_same_file_keeps_what_it_has(away: Path) -> None:
    os.link(away / "x.py", "train.py")
    run("--fix", ".")
    assert Path("train.py").read_text() == SORTED
    assert (away / "x.py").read_text() == LISTING


# -- files that are saved meanwhile ---------------------------------------------------------------------------------


class Saving:
    """Saves a file right before it is opened for the n-th time, as an editor might."""

    def __init__(self) -> None:
        self.path, self.text, self.left = "", "", 0
        sys.addaudithook(self._heard)

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and self.left and arguments[0] == self.path:
            self.left -= 1
            if not self.left:
                Path(self.path).write_text(self.text)


@pytest.fixture(scope="session")
def saving() -> Saving:
    return Saving()  # a hook stays until the process ends


@pytest.mark.parametrize(
    ("option", "before", "own", "after"),
    [
        ("--fix", LISTING, f"# mine\n{LISTING}", f"# mine\n{SORTED}"),
        ("--add-noqa", LISTING, f"# mine\n{LISTING}", f"# mine\n{MARKED}"),
        ("--fix", LISTING, LISTING.replace("files", "names"), SORTED.replace("files", "names")),
        ("--add-noqa", LISTING, LISTING.replace("files", "names"), MARKED.replace("files", "names")),
    ],
)
def test_a_file_that_is_saved_meanwhile_is_left_alone(
    project: Project, saving: Saving, option: str, before: str, own: str, after: str
) -> None:
    file = project(**{"train.py": before}) / "train.py"
    codes = set()
    for number in range(1, 30):
        file.write_text(before)
        saving.path, saving.text, saving.left = str(file), own, number
        result = detlint("check", "--isolated", "--no-cache", option, file)
        if saving.left:
            break
        assert file.read_text() in (own, after), number
        codes.add(result.exit_code)
        if file.read_text() == own:
            assert result.exit_code == 2
            assert "changed since it was checked; run detlint again" in result.stderr
            assert "Added `# noqa` to 1" not in result.stdout
            assert "1 fixed" not in result.stdout
    saving.left = 0
    assert codes == {0, 2}
    assert os.listdir(file.parent) == ["train.py"]


def test_no_difference_is_shown_of_another_text_than_was_checked(project: Project, saving: Saving) -> None:
    file = project(**{"train.py": LISTING}) / "train.py"
    codes = set()
    for number in range(1, 30):
        file.write_text(LISTING)
        saving.path, saving.text, saving.left = str(file), f"# mine\n{LISTING}", number
        result = detlint("check", "--isolated", "--no-cache", "--diff", file)
        if saving.left:
            break
        codes.add(result.exit_code)
        assert result.exit_code == 2 or "\n # mine\n" in result.stdout
    saving.left = 0
    assert codes == {1, 2}


# -- encodings ------------------------------------------------------------------------------------------------------

TEXTS = ["é", "ж", "日本", "①№", "한글", "ا", "ש", "\u2028", "~\\", "+AGE-", "\\xe9", "\\n", "a~{b~}"]
ODD = {
    "cp932": [b"\xfa\x54", b"\x81\xca"], "big5": [b"\xa1\x5a", b"\xa2\xcc"], "euc_kr": [b"\xa4\xd4\xa4\xa1\xa4\xbf\xa4\xd4"],
    "iso2022_jp": [b"\x1b$B\x30\x21\x1b(B\x1b(J\x5c\x1b(B", b"\x1b(J~\x1b(B"], "utf_7": [b"+AGE-", b"+AOk-"],
    "unicode_escape": [b"\\x41", b"\xe9"], "raw_unicode_escape": [b"\\u00e9", b"\xe9"], "hz": [b"~{<:~}", b"~~"],
    "iso2022_kr": [b"\x1b$)C\x0e\x30\x21\x0f"], "utf_8": [b"\xff"],
}  # fmt: skip
"""Bytes that some encodings read, and write in another way."""
NAMES = sorted({*aliases.aliases.values()} - {"mbcs", "oem"} | {"raw_unicode_escape", "unicode_escape", "utf_8_sig"})


def encoded(name: str, texts: list[str], odd: list[bytes], place: int) -> bytes:
    """A file that says its encoding, with comments before, beside and behind what is to be fixed."""
    parts = [b"# " + one for one in odd]
    for text in texts:
        with contextlib.suppress(LookupError, ValueError, TypeError, AssertionError):
            parts.append(f"# {text}".encode(name))
    code = LISTING.encode().rstrip()
    before, behind = parts[:place], parts[place:]
    return b"\n".join([f"# coding: {name}".encode(), *before, b"  ".join([code, *behind[:1]]), *behind[1:], b""])


@st.composite
def encodings(draw: st.DrawFn) -> bytes:
    name = draw(st.sampled_from(NAMES))
    texts = draw(st.lists(st.sampled_from(TEXTS), max_size=3))
    odd = draw(st.lists(st.sampled_from(ODD.get(name, [b"plain"])), max_size=2))
    return encoded(name, texts, odd, draw(st.integers(0, 4)))


@settings(max_examples=2, phases=[Phase.explicit, Phase.generate])  # smaller examples take minutes
@given(st.lists(encodings(), min_size=20, max_size=30))
def test_every_byte_outside_of_an_edit_stays(tmp_path_factory: pytest.TempPathFactory, files: list[bytes]) -> None:
    check_bytes(tmp_path_factory.mktemp("f"), files)


def test_every_byte_stays_in_every_encoding(tmp_path: Path) -> None:
    plain = [encoded(name, TEXTS[:5], [], 1) for name in NAMES]
    check_bytes(
        tmp_path, plain + [encoded(name, [], [odd], place) for name in ODD for place, odd in enumerate(ODD[name])]
    )


def check_bytes(folder: Path, files: list[bytes]) -> None:
    """Fix, or add a comment; or leave the file, and say so."""
    before = {folder / f"f{i}.py": data for i, data in enumerate(files)}
    for option in ("--fix", "--add-noqa"):
        for path, data in before.items():
            path.write_bytes(data)
        result = detlint("check", "--isolated", "--no-cache", "--output-format", "concise", option, folder)
        for path, data in before.items():
            after, told = path.read_bytes(), f"/{path.name}:" in result.stderr
            unread = option == "--fix" and re.search(rf"/{path.name}:\d+:\d+: warning: DET001", result.stdout)
            if after == data:
                assert told or unread, (option, data)
            elif option == "--fix":
                assert after == data.replace(b"os.listdir('data')", b"sorted(os.listdir('data'))")
                assert not told
            else:
                assert after.replace(b"  # noqa: DET305", b"", 1) == data
                assert not told


@pytest.mark.parametrize("name", ["cp932", "euc_kr", "iso2022_jp", "big5", "gb18030", "utf_8"])
def test_what_an_encoding_gives_back_is_fixed(tmp_path: Path, name: str) -> None:
    text = "한글" if name == "euc_kr" else "日本"
    data = f"# coding: {name}\n# {text}\n{LISTING}# {text}\n".encode(name)
    (tmp_path / "train.py").write_bytes(data)
    detlint("check", "--isolated", "--no-cache", "--fix", tmp_path / "train.py")
    assert (tmp_path / "train.py").read_bytes() == data.replace(b"os.listdir('data')", b"sorted(os.listdir('data'))")


# -- writing --------------------------------------------------------------------------------------------------------

KILLED = """\
import os, sys
sys.addaudithook(lambda event, found: event == "os.rename" and str(found[1]).endswith({!r}) and os._exit(9))
"""
"""The end of a process that is about to put a file in its place."""
FULL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
"""Files can't become longer than that: the first write behind it fails, as on a disk that is full."""


def process(start: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process that begins with some code."""
    command = [server(CHECKING).python, "-c", f"{start}main()", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


def left(folder: Path) -> Iterator[str]:
    return (path.name for path in folder.rglob(".detlint-*.tmp"))


def test_what_a_killed_run_leaves_is_removed_by_the_next(project: Project) -> None:
    root = project(**{"train.py": LISTING})
    killed = process(KILLED.format("train.py"), "check", "--isolated", "--no-cache", "--fix", ".", cwd=root)
    assert killed.returncode == 9
    assert [*left(root)]
    assert (root / "train.py").read_text() == LISTING
    detlint("check", "--isolated", "--no-cache", "--fix", root)
    assert (root / "train.py").read_text() == SORTED
    assert os.listdir(root) == ["train.py"]


def test_what_a_killed_run_leaves_in_the_cache_is_removed_by_the_next(project: Project) -> None:
    root = project(**{"train.py": LISTING})
    assert process(KILLED.format(""), "check", "--isolated", "--cache-dir", "cache", ".", cwd=root).returncode == 9
    assert [*left(root / "cache")]
    detlint("check", "--isolated", "--cache-dir", root / "cache", root)
    assert not [*left(root / "cache")]


def test_only_what_is_left_of_a_run_is_removed(project: Project) -> None:
    gone = 2**22 + 7  # Linux counts processes up to 2**22
    names = [
        f".detlint-{os.getpid()}-7.tmp",
        f".detlint-{os.getppid()}-0.tmp",
        ".detlint-notes.tmp",
        f".detlint-{gone}-0.txt",
    ]
    root = project(**{"train.py": LISTING}, **dict.fromkeys(names, "mine"))
    (root / f".detlint-{gone}-1.tmp").symlink_to("train.py")
    (root / f".detlint-{gone}-2.tmp").mkdir()
    os.link(root / ".detlint-notes.tmp", root / f".detlint-{gone}-3.tmp")
    (root / f".detlint-{gone}-4.tmp").touch()
    before = {*os.listdir(root)}
    detlint("check", "--isolated", "--no-cache", "--fix", root)
    assert before - {*os.listdir(root)} == {f".detlint-{gone}-4.tmp"}


LONG = LISTING + "# " + "x" * 8192 + "\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "--fix"], "train.py: not fixed: it can't be written: File too large"),
        (["check", "--add-noqa"], "train.py: not changed: it can't be written: File too large"),
        (["baseline"], ".detlint-baseline.json: not written: it can't be written: File too large"),
        (
            ["check", "--output-file", "told.html", "--output-format", "html"],
            "told.html: can't be written: File too large",
        ),
        (["init", "-y"], "pyproject.toml: not written: it can't be written: File too large"),
    ],
)
def test_a_full_disk_is_told_and_leaves_files_as_they_were(project: Project, arguments: list[str], said: str) -> None:
    lines = (
        "".join(f"def f{i}():\n    return [*os.listdir('{i}')]\n" for i in range(50))
        if arguments == ["baseline"]
        else ""
    )
    settings = "[project]\n# " + "x" * 8192 + "\n"
    root = project(**{"train.py": LONG + lines, "pyproject.toml": settings, "told.html": "before"})
    before = {path: path.read_bytes() for path in root.iterdir()}
    more = [] if arguments[0] == "init" else ["--no-cache", "."]
    result = process(FULL, *arguments, *more, cwd=root)
    assert result.returncode == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    for wrong in ("Added `# noqa` to", "Wrote", "fixed."):
        assert wrong not in result.stdout
    caches = root / ".detlint_cache"
    assert {path: path.read_bytes() for path in root.iterdir() if path != caches} == before


def test_what_could_not_be_written_is_still_reported(project: Project) -> None:
    root = project(**{"a.py": LONG, "b.py": LISTING, "detlint.toml": ""})
    result = process(FULL, "check", "--no-cache", "--fix", ".", cwd=root)
    assert (root / "b.py").read_text() == SORTED
    assert " --> a.py:3:33" in result.stdout
    assert "Found 1 warning in 2 files; 1 fixed." in result.stdout
    result = process(FULL, "check", "--no-cache", "--add-noqa", ".", cwd=root)
    assert result.stdout == "No comments added.\n"


def test_output_goes_to_devices_and_into_files_of_locked_folders(project: Project) -> None:
    root = project(**{"train.py": LISTING})
    assert run("--output-file", os.devnull, ".").exit_code == 1
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    (root / "told.txt").touch(0o640)
    (root / "told.txt").chmod(0o640)
    (root / "link.txt").symlink_to("told.txt")
    run("--output-file", "link.txt", ".")
    assert (root / "link.txt").is_symlink()
    assert "DET305" in (root / "told.txt").read_text()
    assert stat.S_IMODE((root / "told.txt").stat().st_mode) == 0o640


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o755, 0o664])
def test_mode_owner_and_attributes_stay(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "train.py"
    file.write_text(LISTING)
    if os.geteuid() == 0:
        os.chown(file, 12, 34)
    file.chmod(mode)
    attributes = hasattr(os, "setxattr")
    if attributes:
        try:
            os.setxattr(file, "user.note", b"mine")  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            attributes = False
    before = file.stat()
    detlint("check", "--isolated", "--no-cache", "--fix", file)
    after = file.stat()
    assert file.read_text() == SORTED
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert after.st_mtime_ns >= before.st_mtime_ns
    if attributes:
        assert os.getxattr(file, "user.note") == b"mine"  # type: ignore[attr-defined,unused-ignore]


def test_a_new_file_has_the_usual_mode(project: Project) -> None:
    root = project(**{"train.py": LISTING, "detlint.toml": ""})
    detlint("baseline", "--no-cache", ".")
    (root / "plain").touch()
    assert (root / ".detlint-baseline.json").stat().st_mode == (root / "plain").stat().st_mode

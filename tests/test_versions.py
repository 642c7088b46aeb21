"""The versions of libraries that a project's own files give: each kind of file, their order, and what follows."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import detlint

Project = Callable[..., Path]

INTERPOLATE = "import torch.nn.functional as F\n\n\ndef f(x):\n    return F.interpolate(x, 2, mode='bilinear')\n"
SWITCHED = "import torch\n\ntorch.use_deterministic_algorithms(True)\nprint(torch.ones(3).cuda())\n"
START = "from scipy.sparse.linalg import eigs\n\n\ndef f(a):\n    return eigs(a, k=1)\n"
LOCK = '[[package]]\nname = "{0}"\nversion = "{1}"\nsource = {{ registry = "https://pypi.org/simple" }}\n\n'


def settings(*arguments: str) -> tuple[dict[str, str], dict[str, str]]:
    """The versions in force, and where each comes from."""
    result = detlint("check", "--no-cache", "--show-settings", *arguments)
    assert result.exit_code == 0, result.stderr
    comments = [line[2:] for line in result.stdout.splitlines() if line.startswith("# ")]
    loaded = json.loads("".join(line for line in result.stdout.splitlines() if not line.startswith("#")))
    places = dict(line.split(": ", 1) for line in comments)
    versions: dict[str, str] = loaded["versions"]
    return versions, {name: places[f"{name} {version}"] for name, version in versions.items()}


def torch() -> str | None:
    """The version of torch in force."""
    return settings()[0].get("torch")


def codes(*arguments: str) -> list[str]:
    result = detlint("check", "--show-notes", "--output-format", "json", *arguments)
    assert result.exit_code in (0, 1), result.stderr
    return [row["code"] for row in json.loads(result.stdout)]


def told(*arguments: str, cached: bool = False) -> set[str]:
    """The files in which something is told of SciPy."""
    options = ["--select", "DET107", "--show-notes", "--output-format", "json", *([] if cached else ["--no-cache"])]
    result = detlint("check", *options, *arguments)
    assert result.exit_code in (0, 1), result.stderr
    return {Path(row["filename"]).relative_to(Path.cwd()).as_posix() for row in json.loads(result.stdout)}


# -- each kind of file ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("uv.lock", "version = 1\n\n" + LOCK.format("numpy", "1.26.4") + LOCK.format("torch", "1.12.1")),
        ("uv.lock", LOCK.format("torch", "1.12.1").replace("\n", "\r\n")),
        ("poetry.lock", LOCK.format("torch", "1.12.1+cu113") + '[metadata]\nlock-version = "2.0"\n'),
        ("pdm.lock", '[metadata]\nversion = "4"\n\n' + LOCK.format("torch", "1.12.1")),
        ("pylock.toml", LOCK.format("torch", "1.12.1").replace("[[package]]", "[[packages]]")),
        ("Pipfile.lock", '{"default": {"torch": {"version": "==1.12.1"}, "numpy": {}}, "develop": {}}'),
        ("environment.yml", "channels:\n  - pytorch\ndependencies:\n  - pytorch=1.12.1=py3.8_cuda11.3_cudnn8\n"),
        ("environment.yaml", "dependencies:\n- pip:\n  - --find-links x\n  - torch==1.12.1+cu113  # CUDA\n"),
        ("env.yml", "dependencies:\n  - pytorch=1.12.1\n"),
        ("requirements.txt", "# platform: linux-64\npip=20.0.2=py37_1\npytorch=1.12.1=py3.7_cuda10.1_0\n"),
        ("environment.yml", "dependencies: \n  - 'conda-forge::pytorch ==1.12.1'\n"),
        ("conda/environment.yml", "dependencies:\n  - pip:\n    - torch==1.12.1\n"),
        (
            "requirements.txt",
            "# what it needs\n--index-url https://x\n\nTorch == 1.12.1 ; python_version < '3.9'  # pin\n",
        ),
        ("requirements.txt", "torch==1.12.1 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\n"),
        ("requirements.txt", "https://x.org/whl/cu113/torch-1.12.1%2Bcu113-cp38-cp38-linux_x86_64.whl\n"),
        ("requirements.txt", "torch==1.12.1\r\n".encode("utf-16")),
        ("requirements-gpu.txt", "torch==1.12.1\n"),
        ("requirements/train.txt", "torch==1.12.1\n"),
        ("pyproject.toml", '[project]\ndependencies = ["numpy", "torch[opt-einsum]==1.12.1"]\n'),
        ("pyproject.toml", '[project.optional-dependencies]\ntrain = ["torch==1.12.1"]\n'),
        ("pyproject.toml", '[dependency-groups]\nall = [{include-group = "a"}]\na = ["torch==1.12.1"]\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\npython = "^3.8"\ntorch = "1.12.1"\n'),
        ("pyproject.toml", '[tool.poetry.group.dev.dependencies]\ntorch = { version = "<=1.12.1" }\n'),
        ("setup.cfg", "[options]\ninstall_requires =\n    numpy\n    torch==1.12.1\n"),
    ],
)
def test_every_kind_of_file(project: Project, name: str, text: str | bytes) -> None:
    project(**{"a.py": "", name: text})
    versions, places = settings()
    assert versions["torch"] == "1.12.1"
    assert places["torch"] == name


def test_an_environment_beside_code_is_of_that_code(project: Project) -> None:
    project(**{"a.py": "", "demo/environment.yml": "dependencies:\n  - pytorch=1.12.1\n", "demo/b.py": ""})
    assert torch() is None


@pytest.mark.parametrize(
    ("wish", "version"),
    [
        ("==1.8.*", "1.8.9999"),
        ("~=1.8.0", "1.8.9999"),
        ("~=1.8", "1.9999"),
        (">=1.7,<1.9", "1.8.9999"),
        (">=1.7,<1.9.0", "1.8.9999"),
        (">=1.7,<1.9.1", "1.9.0.9999"),
        (">=1.7,<2", "1.9999"),
        (">=1.7,<=1.8.1", "1.8.1"),
        (">=1.7,<2,<=1.8.1", "1.8.1"),
        (">=1.7", None),
        ("!=1.7", None),
        ("", None),
        ("<0", None),
        (">=1.9,<1.8", None),
        ("==", None),
        ("===nightly", None),
    ],
)
def test_ranges(project: Project, wish: str, version: str | None) -> None:
    project(**{"requirements.txt": f"torch{wish}\n"})
    assert torch() == version


@pytest.mark.parametrize(
    ("wish", "version"),
    [("^1.8", "1.9999"), ("~1.8.1", "1.8.9999"), ("1.8.*", "1.8.9999"), ("^0.4.1", "0.4.9999"), ("*", None)],
)
def test_poetry_writes_ranges_its_own_way(project: Project, wish: str, version: str | None) -> None:
    project(**{"pyproject.toml": f'[tool.poetry.dependencies]\ntorch = "{wish}"\n'})
    assert torch() == version


@pytest.mark.parametrize(
    ("wish", "version"),
    [("=1.12", "1.12.9999"), (" 1.12.*", "1.12.9999"), (" >=1.7, <1.9", "1.8.9999"), (">=1.7", None), ("", None)],
)
def test_conda_writes_ranges_its_own_way(project: Project, wish: str, version: str | None) -> None:
    project(**{"environment.yml": f"dependencies:\n  - pytorch{wish}\n"})
    assert torch() == version


def test_names_of_distributions(project: Project) -> None:
    project(
        **{"requirements.txt": "tensorflow-gpu==2.4.1\nPyTorch_Lightning==1.9.5\nscikit.learn==1.0\nrequests==2.0\n"}
    )
    assert settings()[0] == {"tensorflow": "2.4.1", "pytorch-lightning": "1.9.5", "scikit-learn": "1.0"}


def test_the_newest_of_one_file(project: Project) -> None:
    lines = "torch==1.10.2; python_version < '3.7'\ntorch==1.9.1; python_version >= '3.7'\n"
    project(**{"requirements.txt": lines})
    assert torch() == "1.10.2"


# -- which file counts ----------------------------------------------------------------------------------------------


def test_order_of_trust(project: Project) -> None:
    """Each file in turn is put above those that were there."""
    requirement = "torch==1.{}.0\n"
    ranks = [
        ("setup.cfg", "[options]\ninstall_requires = " + requirement),
        ("pyproject.toml", '[project]\ndependencies = ["torch==1.{}.0"]\n'),
        ("requirements/a.txt", requirement),
        ("requirements-dev.txt", requirement),
        ("requirements.txt", requirement),
        ("environment.yaml", "- " + requirement),
        ("environment.yml", "- " + requirement),
        ("Pipfile.lock", '{{"default": {{"torch": {{"version": "==1.{}.0"}}}}}}'),
        ("pylock.toml", '[[packages]]\nname = "torch"\nversion = "1.{}.0"\n'),
        *((f"{tool}.lock", '[[package]]\nname = "torch"\nversion = "1.{}.0"\n') for tool in ("pdm", "poetry", "uv")),
    ]
    for number, (name, text) in enumerate(ranks):
        project(**{name: text.format(number)})
        versions, places = settings()
        assert (versions["torch"], places["torch"]) == (f"1.{number}.0", name)


def test_what_is_silent_is_passed_over(project: Project) -> None:
    project(
        **{"requirements.txt": "torch>=1.7\nscipy==1.5.0\n", "setup.cfg": "[options]\ninstall_requires = torch<1.9"}
    )
    assert settings()[1] == {"torch": "setup.cfg", "scipy": "requirements.txt"}


@pytest.mark.parametrize("name", ["README.md", "README.rst"])
def test_what_is_written_for_people_says_nothing(project: Project, name: str) -> None:
    project(**{name: "torch==1.12.1\n"})
    assert settings()[0] == {}


def test_includes(project: Project) -> None:
    root = project(
        **{
            "project/requirements.txt": "-r deps/base.txt\n--requirement=../outside.txt\n-c missing.txt\n",
            "project/deps/base.txt": "-r ../requirements.txt\ntorch==1.12.1\n",
            "project/setup.py": "",
            "outside.txt": "scipy==1.0\n",
        }
    )
    assert settings(str(root / "project"))[1] == {"torch": "deps/base.txt"}


def test_the_configuration_wins_key_by_key(project: Project) -> None:
    config = '[versions]\nPyTorch = "2.1"\ncann = "8.2"\n'
    project(**{"requirements.txt": "torch==1.12.1\nscipy==1.5.0\n", "detlint.toml": config})
    versions, places = settings()
    assert versions == {"torch": "2.1", "cann": "8.2", "scipy": "1.5.0"}
    assert places["scipy"] == "requirements.txt"
    assert places["torch"].endswith("detlint.toml")


def test_isolated_reads_none(project: Project) -> None:
    project(**{"requirements.txt": "torch==1.12.1\n"})
    assert settings("--isolated")[0] == {}


@pytest.mark.parametrize(
    "text",
    [b"", b"\xff\xfe\x00", b"\x80\x81", b"[[package]]\nname = 3\n", b"[" * 5000, b"{", b"[]", b"- \n- [a\n", b"torch==1..2\n",
     b'{"default": []}', b"[project]\ndependencies = 3\n[tool]\npoetry = 1\n"],
)  # fmt: skip
def test_wrong_files_are_passed_over(project: Project, text: bytes) -> None:
    names = (
        "uv.lock",
        "poetry.lock",
        "pylock.toml",
        "Pipfile.lock",
        "environment.yml",
        "requirements-a.txt",
        "setup.cfg",
    )
    root = project(**dict.fromkeys(names, text), **{"detlint.toml": "", "requirements/z.txt": "torch==1.12.1\n"})
    (root / "pdm.lock").mkdir()
    (root / "pyproject.toml").write_bytes(text)
    assert settings()[0] == {"torch": "1.12.1"}


# -- what follows ---------------------------------------------------------------------------------------------------


def test_facts_follow_and_the_cache_notices(project: Project) -> None:
    """An operator that got a deterministic path; the same cache is used throughout."""
    project(**{"a.py": INTERPOLATE, "detlint.toml": ""})
    newest = codes("a.py")
    project(**{"requirements.txt": "torch==1.12.1\n"})
    old = codes("a.py")
    assert old != newest
    assert codes("--isolated", "a.py") == newest
    project(**{"requirements.txt": "torch==2.13.0\n"})
    assert codes("a.py") == newest
    project(**{"requirements.txt": "torch==1.12.1\n"})
    assert codes("a.py") == old


def test_workspace_of_older_torch(project: Project) -> None:
    project(**{"a.py": SWITCHED})
    assert "DET603" not in codes("a.py")
    project(**{"requirements.txt": "torch<2.1\n"})
    assert "DET603" in codes("a.py")
    assert "torch 2.0.x raises" in detlint("check", "--no-cache", "a.py").stdout


def test_the_nearest_folder_that_says_a_version_counts(project: Project) -> None:
    """Each project of a repository has its own; what its files leave open, those above say."""
    project(
        **{
            "detlint.toml": "",
            "requirements.txt": "torch==1.7.0\n",
            "old/requirements.txt": "scipy==1.5.4\n",
            "old/models/layers.py": START,
            "old/new/requirements.txt": "scipy>=1.17\nscipy==1.18.0\n",
            "old/new/layers.py": START,
            "other/requirements/base.txt": "scipy<1.17\n",
            "other/main.py": START,
            "open/requirements.txt": "scipy\n",
            "open/main.py": START,
            "main.py": START,
        }
    )
    assert told() == {"old/new/layers.py", "open/main.py", "main.py"}
    assert told("old/models") == set()
    assert told("--isolated") == {*told(), "old/models/layers.py", "other/main.py"}


def test_the_configuration_wins_in_all_folders(project: Project) -> None:
    project(
        **{"detlint.toml": '[versions]\nscipy = "1.17"\n', "a/requirements.txt": "scipy==1.5.4\n", "a/main.py": START}
    )
    assert told() == {"a/main.py"}


def test_a_version_that_a_folder_comes_to_say(project: Project) -> None:
    """What was kept of an earlier run doesn't hold then."""
    root = project(**{"detlint.toml": "", "a/main.py": START, "b/main.py": START})
    assert told(cached=True) == {"a/main.py", "b/main.py"}
    (root / "a" / "requirements.txt").write_text("scipy==1.5.4\n")
    assert told(cached=True) == {"b/main.py"}
    (root / "a" / "requirements.txt").unlink()
    assert told(cached=True) == {"a/main.py", "b/main.py"}


def test_the_workspace_of_the_nearest_torch(project: Project) -> None:
    """Each run is judged by the versions where it starts."""
    project(**{"a/requirements.txt": "torch==1.12.1\n", "a/main.py": SWITCHED, "b/main.py": SWITCHED})
    assert codes("--select", "DET603") == ["DET603"]


def test_a_folder_whose_name_is_no_text(project: Project) -> None:
    root = project(**{"detlint.toml": "", "main.py": START})
    folder = root / os.fsdecode(b"old\xff")
    try:
        folder.mkdir()
    except (OSError, UnicodeError):
        pytest.skip("the file system has no such names")
    (folder / "requirements.txt").write_text("scipy==1.5.4\n")
    (folder / "layers.py").write_text(START)
    assert told(cached=True) == told(cached=True) == {"main.py"}

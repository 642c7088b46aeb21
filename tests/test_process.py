"""How the command lives as a process: what it imports, closed streams, interrupts, little memory. Each test has processes of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY

UNIX = pytest.mark.skipif(sys.platform == "win32", reason="streams, signals and limits of Unix")
DRAW = "import random\n\nrandom.random()\n"
CONCISE = ("--no-cache", "--output-format", "concise")
# Imports and files that are opened are counted, in a process that is forked before detlint is imported; at a certain one
# comes the interrupt. The number of all is told at the end.
DRIVER = """\
import os, signal, sys

numbers = [int(number) for number in sys.argv[1].split(",")]
arguments = sys.argv[2:]

def child(number):
    done = 0
    def hook(event, given):
        nonlocal done
        if event in ("import", "open"):
            done += 1
            if done == number:
                os.kill(os.getpid(), signal.SIGINT)
    leave = os._exit
    def end(code):
        if not number:
            print(done, flush=True)
        leave(code)
    os._exit = end
    sys.argv = ["detlint", *arguments]
    from detlint.__main__ import run
    sys.addaudithook(hook)
    run()

for number in numbers:
    process = os.fork()
    if not process:
        try:
            child(number)
        finally:
            os._exit(99)
    status = os.waitpid(process, 0)[1]
    print("code", os.waitstatus_to_exitcode(status), flush=True)
"""


def run(
    *arguments: str | Path, cwd: Path, before: str = "", after: str = "", **options: object
) -> subprocess.CompletedProcess[str]:
    """The command in a shell, with what stands before and behind it there."""
    command = f'{before} "{sys.executable}" -m detlint "$@" {after}'
    shell = ["bash", "-c", command, "detlint", *map(str, arguments)]
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(shell, cwd=cwd, capture_output=True, text=True, timeout=300, check=False, env=env)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(DRAW)
    return tmp_path


@pytest.fixture
def quick(folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, and a cache which has the compiled catalog from the first test on."""
    monkeypatch.setenv("DETLINT_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "catalog"))
    return folder


# -- what is imported ------------------------------------------------------------------------------------------------


@UNIX
def test_nothing_is_imported_from_the_current_folder(folder: Path) -> None:
    """`python -m` looks there first. What Python itself needs for that comes before detlint is asked."""
    (folder / "probe.py").write_text("import sys\nprint(*sys.modules)\n")
    first = subprocess.run([sys.executable, "-m", "probe"], cwd=folder, capture_output=True, text=True, check=True)
    (folder / "probe.py").unlink()
    ran = folder / "ran"
    others = {
        "click",
        "libcst",
        "markdown_it",
        "msgspec",
        "packaging",
        "pathspec",
        "plotille",
        "rich",
        "tree_sitter",
        "tree_sitter_bash",
        "tree_sitter_containerfile",
        "xxhash",
        "yaml",
    }
    for name in {*sys.stdlib_module_names, *others} - set(first.stdout.split()):
        (folder / f"{name}.py").write_text(f"open({str(ran)!r}, 'a').write('{name} ')\nraise SystemExit(77)\n")
    for i in range(60):
        (folder / f"m{i}.py").write_text(DRAW)
    done = run(*CONCISE, "--jobs", "2", ".", cwd=folder)
    assert (done.returncode, done.stderr) == (1, "")
    assert "train.py:3:1: error: DET101" in done.stdout
    assert not ran.exists()


def test_grammars_are_loaded_where_a_file_has_one(folder: Path) -> None:
    """A run on Ascend asks for what starts it, which a repository without launch files doesn't have."""
    (folder / "train.py").write_text(
        "import torch\nimport torch_npu\nimport torch.distributed as dist\n\nnet = torch.nn.Linear(1, 1).npu()\n"
        'dist.init_process_group("hccl")\nnet(torch.ones(1)).backward()\n'
    )

    def loaded() -> bool:
        done = run("--no-cache", ".", cwd=folder, before=f"env PYTHONVERBOSE=1 PYTHONPATH={REPOSITORY}")
        assert "DET605" in done.stdout
        return "import 'tree_sitter" in done.stderr

    assert not loaded()
    (folder / "run.sh").write_text("python train.py\n")
    assert loaded()


def test_a_script_that_is_run_finds_what_stands_beside_it(folder: Path) -> None:
    (folder / "beside.py").write_text("NUMBER = 5\n")
    (folder / "main.py").write_text("import sys\nimport beside\nprint(beside.NUMBER, sys.path[0])\n")
    command = [sys.executable, "-m", "detlint", "run", "--quiet", "main.py"]
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=True, env=env)
    assert done.stdout.split() == ["5", str(folder)]
    module = [*command[:-1], "-m", "main"]
    done = subprocess.run(module, cwd=folder, capture_output=True, text=True, timeout=300, check=True, env=env)
    assert done.stdout.split() == ["5", str(folder)]


def test_detlint_runs_from_its_own_checkout(tmp_path: Path) -> None:
    """The package is found in the current folder only, by the processes that read files too."""
    (tmp_path / "detlint").symlink_to(REPOSITORY / "detlint")
    (tmp_path / "rules").symlink_to(REPOSITORY / "rules")
    (tmp_path / "train.py").write_text(DRAW)
    command = [sys.executable, "-m", "detlint", *CONCISE, "train.py"]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False, env=env)
    assert (done.returncode, done.stderr) == (1, "")


# -- streams that are closed, or lead nowhere ------------------------------------------------------------------------


@UNIX
@pytest.mark.parametrize(
    ("arguments", "after", "code", "said"),
    [
        ("- --output-format concise", "<&-", 2, "error: standard input is closed, and `-` reads it\n"),
        ("server", "<&-", 2, "error: standard input is closed, and editors speak to the server by it\n"),
        (".", "<&-", 1, ""),
        (".", ">&-", 1, ""),
        (".", "<&- >&- 2>&-", 1, ""),
        (". --exit-zero", "2>&-", 0, ""),
        ("nowhere.py", ">&- 2>&-", 2, ""),
        ("nowhere.py", ">/dev/null 2>/dev/full", 2, ""),
        (".", ">/dev/full", 2, "error: [Errno 28] No space left on device\n"),
        ("rule --all", ">/dev/full", 2, "error: [Errno 28] No space left on device\n"),
        ("--help", ">/dev/full", 2, "error: [Errno 28] No space left on device\n"),
        ("explain train.py:3", ">&-", 0, ""),
    ],
)
def test_streams(quick: Path, arguments: str, after: str, code: int, said: str) -> None:
    if "/dev/full" in after and not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    done = run(*arguments.split(), cwd=quick, after=after)
    assert (done.returncode, done.stderr) == (code, said)


@UNIX
def test_readers_that_have_gone(quick: Path) -> None:
    for arguments in ("rule --all", ". --show-settings", "--help", "."):
        # The reader has gone before anything is written: the shell waits for it.
        done = run(*arguments.split(), cwd=quick, before="exec 3> >(exec 0<&-); wait $!;", after=">&3")
        assert done.returncode in (0, 1)
        assert done.stderr == ""


@UNIX
def test_a_file_for_the_report_that_takes_nothing(quick: Path) -> None:
    if os.path.exists("/dev/full"):
        done = run("-o", "/dev/full", cwd=quick)
        assert (done.returncode, done.stderr) == (2, "error: /dev/full: can't be written: No space left on device\n")
    done = run("-o", "no/folder.txt", cwd=quick)
    assert (done.returncode, done.stderr) == (2, "error: no/folder.txt: can't be written: No such file or directory\n")
    done = run("-o", ".", cwd=quick)
    assert done.returncode == 2


# -- interrupts ------------------------------------------------------------------------------------------------------


def driven(numbers: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", DRIVER, numbers, *arguments]
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600, check=False, env=env)


@UNIX
@pytest.mark.parametrize(
    "arguments", [("check", *CONCISE, "train.py"), ("explain", "train.py:3"), ("check", "--no-cache", "--diff", ".")]
)
def test_an_interrupt_at_any_time(folder: Path, arguments: tuple[str, ...]) -> None:
    """Whatever is imported or opened then."""
    count = 400 if arguments[0] == "explain" else int(driven("0", *arguments, cwd=folder).stdout.splitlines()[-2])
    numbers = [1 + count * i // 8 for i in range(8)]
    done = driven(",".join(map(str, numbers)), *arguments, cwd=folder)
    codes = [line for line in done.stdout.splitlines() if line.startswith("code ")]
    assert (codes, done.stderr) == (["code 130"] * len(numbers), "")


@UNIX
def test_an_interrupt_of_processes_that_read(folder: Path) -> None:
    """As a terminal sends it, to all of them: the first that reads `last.py` has it sent, and goes on."""
    for i in range(60):
        (folder / f"m{i}.py").write_text(DRAW)
    code = (
        "import os, signal, sys\n"
        "def hook(event, given):\n"
        "    if event == 'os.fork':\n"
        "        global forks\n"
        "        forks += 1\n"
        "        if forks == 2: os.killpg(0, signal.SIGINT)\n"
        "forks = 0\n"
        "sys.addaudithook(hook)\n"
        "sys.argv = ['detlint', 'check', '--no-cache', '--jobs', '2', '.']\n"
        "from detlint.__main__ import run\n"
        "run()\n"
    )
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=300, check=False, env=env,
        start_new_session=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@UNIX
def test_an_interrupt_of_a_program_that_is_verified(folder: Path) -> None:
    """The program ends too, and what was there for the time being is gone."""
    (folder / "train.py").write_text(
        "import os\nprint(os.getpid(), file=open('pid', 'w'), flush=True)\nwhile True: os.sched_yield()\n"
    )
    os.mkfifo(folder / "pid")
    command = [sys.executable, "-m", "detlint", "verify", "train.py"]
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY), "TMPDIR": str(folder)}
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    ) as process:
        child = int((folder / "pid").read_text())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (130, "", "detlint verify: run 1 of 2\n")
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    assert {path.name for path in folder.iterdir()} == {"pid", "train.py"}


@UNIX
def test_who_ignores_interrupts_still_does(quick: Path) -> None:
    done = run(".", cwd=quick, before="trap '' INT; (kill -INT $$);")
    assert done.returncode == 1


# -- little memory ---------------------------------------------------------------------------------------------------


@UNIX
@pytest.mark.parametrize("kilobytes", [1_000_000, 600_000, 250_000])
def test_a_small_address_space(folder: Path, kilobytes: int) -> None:
    """The thread with the large stack has no room: nesting may be less deep then."""
    (folder / "deep.py").write_text("x = " + "[" * 90 + "]" * 90 + "\n" + "y = " + "1 + " * 500 + "1\n" + DRAW)
    done = run(*CONCISE, "--jobs", "1", ".", cwd=folder, before=f"ulimit -v {kilobytes};")
    assert (done.returncode, done.stderr) == (1, "")
    assert [line.partition(": ")[0] for line in done.stdout.splitlines()] == ["deep.py:5:1", "train.py:3:1"]


@UNIX
def test_hardly_any_memory(folder: Path) -> None:
    (folder / "large.py").write_text("x = [" + "1, " * 300_000 + "1]\n" + DRAW)
    done = run(*CONCISE, "--jobs", "1", ".", cwd=folder, before="ulimit -v 100000;")
    assert "Traceback" not in done.stderr
    assert done.returncode in (1, 2)


# -- what else ends a process ----------------------------------------------------------------------------------------


@UNIX
def test_a_process_that_the_system_kills(folder: Path) -> None:
    for i in range(60):
        (folder / f"m{i}.py").write_text(DRAW)
    code = (
        "import os, signal, sys\n"
        "os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGKILL))\n"
        "sys.argv = ['detlint', 'check', '--no-cache', '--jobs', '2', '.']\n"
        "from detlint.__main__ import run\n"
        "run()\n"
    )
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=300, check=False, env=env
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: a process that was reading or judging files was killed")


def verified(folder: Path, program: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(program)
    return run("verify", "--as-is", "--no-trace", "--iterations", "0", *options, "train.py", cwd=folder)


def test_losses_that_are_no_number(folder: Path) -> None:
    losses = "import os\nfor loss in (1.0, 2.0, 3.0, float('nan'), float('inf'), -1e308):\n    print('loss', loss)\n"
    done = verified(folder, losses, "--metric", "loss (.*)")
    assert (done.returncode, done.stderr) == (0, "detlint verify: run 1 of 2\ndetlint verify: run 2 of 2\n")
    assert "iteration 5" in done.stdout
    done = verified(folder, losses, "--metric", "(loss) ")
    assert done.returncode == 2
    assert (
        "error: --metric: could not convert string to float: 'loss': let the first group be the loss alone"
        in done.stderr
    )

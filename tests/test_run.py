"""`detlint run`: programs as their users start them, in processes of their own, with and without it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent

import pytest
from conftest import REPOSITORY, detlint

Done = subprocess.CompletedProcess[str]
RUN = ("-m", "detlint", "run")
SHOW = """\
    import os, pickle, sys

    class Local:
        pass

    if __name__ == "__main__":
        main = sys.modules["__main__"]
        spec = __spec__ and (__spec__.name, __spec__.origin)
        print(sys.argv, sys.path, __file__, spec, __name__, __package__, main.__dict__ is globals())
        print(type(__loader__).__name__, pickle.loads(pickle.dumps(Local)) is Local, sys.flags.dev_mode, os.getcwd())
    """


def python(folder: Path, *arguments: str, **environment: str) -> Done:
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"} | environment
    variables["PYTHONPATH"] = str(REPOSITORY)
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., Path]:
    def write(source: str, name: str = "train.py") -> Path:
        (tmp_path / name).write_text(dedent(source))
        return tmp_path

    return write


@pytest.mark.parametrize(
    "arguments",
    [
        ("train.py", "--seed", "3", "-m", "-q"),
        ("./train.py",),
        ("-m", "train", "--profile", "x", "--"),
        ("-m", "package"),
    ],
    ids=["script", "path", "module", "package"],
)
def test_a_program_sees_what_it_would_see(script: Callable[..., Path], arguments: Sequence[str]) -> None:
    folder = script(SHOW)
    (folder / "package").mkdir()
    (folder / "package" / "__main__.py").write_text((folder / "train.py").read_text())
    plain, run = python(folder, *arguments), python(folder, *RUN, "--seed", "1", *arguments)
    assert plain.returncode == run.returncode == 0, run.stderr
    assert run.stdout == plain.stdout


def test_options_of_python_are_handed_on(script: Callable[..., Path]) -> None:
    folder = script("import sys\nprint(sys.flags.dev_mode, sys.warnoptions, sys.flags.optimize)\n")
    options = ("-X", "dev", "-W", "ignore", "-O")
    assert python(folder, *options, *RUN, "train.py").stdout == python(folder, *options, "train.py").stdout


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("raise SystemExit(3)", 3),
        ("import sys; sys.exit('no')", 1),
        ("1 / 0", 1),
        ("import os; os._exit(7)", 7),
        ("def", 1),
    ],
)
def test_the_exit_code_is_the_programs(script: Callable[..., Path], source: str, code: int) -> None:
    folder = script(source)
    assert python(folder, *RUN, "train.py").returncode == python(folder, "train.py").returncode == code


def test_a_script_that_is_not_there_is_pythons_error(tmp_path: Path) -> None:
    run = python(tmp_path, *RUN, "train.py")
    assert run.returncode == 2
    assert "can't open file" in run.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_signal_reaches_the_program(script: Callable[..., Path]) -> None:
    folder = script("""\
        import signal, sys
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))
        print("ready", flush=True)
        signal.pause()
        """)
    with subprocess.Popen(
        [sys.executable, *RUN, "train.py"], cwd=folder, env=_here(), stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 9


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_program_that_a_signal_ends_is_ended_by_it(script: Callable[..., Path]) -> None:
    folder = script("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert python(folder, *RUN, "train.py").returncode == -signal.SIGKILL


def _here() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(REPOSITORY)}


def test_strings_are_hashed_alike(script: Callable[..., Path]) -> None:
    folder = script("print([*{'a', 'b', 'c', 'd', 'e'}], hash('x'))\n")
    runs = {python(folder, *RUN, "train.py").stdout for _ in range(2)}
    assert len(runs) == 1
    assert python(folder, *RUN, "--seed", "2", "train.py").stdout not in runs
    given = python(folder, "train.py", PYTHONHASHSEED="77").stdout
    assert python(folder, *RUN, "train.py", PYTHONHASHSEED="77").stdout == given, "the user's own hash seed isn't kept"


def test_processes_that_a_program_starts_are_seeded_and_told_of(script: Callable[..., Path]) -> None:
    folder = script("""\
        import multiprocessing, random

        def draw(queue):
            queue.put((random.random(), random.Random().random(), hash("x")))

        if __name__ == "__main__":
            context = multiprocessing.get_context("spawn")
            queue = context.SimpleQueue()
            process = context.Process(target=draw, args=(queue,))
            process.start()
            print(queue.get())
            process.join()
        """)
    runs = [python(folder, *RUN, "train.py") for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout != ""
    assert "train.py:4: DET103 unseeded-generator: `random.Random` got a seed" in runs[0].stderr


def test_what_a_program_imports_of_the_runtime_is_what_it_names(script: Callable[..., Path]) -> None:
    folder = script("""\
        from detlint.runtime import enforce, load_state_dict, log, seed_all, state_dict, trace

        log(loss=1.0)
        with enforce(seed=1):
            print(*(callable(each) for each in (enforce, load_state_dict, log, seed_all, state_dict, trace)))
        """)
    assert python(folder, *RUN, "train.py").stdout == "True True True True True True\n"


def test_a_model_that_processes_train_in_shared_memory_is_told(script: Callable[..., Path]) -> None:
    if find_spec("torch") is None:
        pytest.skip("torch is not installed")
    folder = script("""\
        import torch, torch.multiprocessing

        def work(rank, net):
            optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
            for _ in range(2):
                net(torch.ones(4, 3)).sum().backward()
                optimizer.step()

        if __name__ == "__main__":
            net = torch.nn.Linear(3, 1)
            work(0, torch.nn.Linear(3, 1).share_memory())
            torch.multiprocessing.spawn(work, (net.share_memory(),), 1)
        """)
    told = python(folder, *RUN, "train.py").stderr
    assert (
        "train.py:7: DET303 parallel-workers: `torch.optim.SGD.step`: its parameters lie in memory that processes share"
        in told
    )
    assert told.count("Hogwild") == 1, "one process by itself writes in an order"


def test_the_report_is_printed_and_written(script: Callable[..., Path]) -> None:
    folder = script("import random\nfor _ in range(3):\n    random.Random().random()\n")
    run = python(folder, *RUN, "--seed", "5", "--report", "out.json", "train.py")
    assert run.stdout == ""
    assert run.stderr.startswith("detlint run: seed 5, profile reproduce\nSet:\n  PYTHONHASHSEED=5\n  random.seed(5)\n")
    assert "train.py:3: DET103 unseeded-generator: `random.Random` got a seed, as `x` (3 times)\n" in run.stderr
    written = json.loads((folder / "out.json").read_text())
    (row,) = [row for row in written["interventions"] if row["filename"] == str(folder / "train.py")]
    assert (row["code"], row["location"]["row"], row["count"]) == ("DET103", 3, 3)
    assert python(folder, *RUN, "--quiet", "train.py").stderr == ""


@pytest.mark.skipif(find_spec("sympy") is None, reason="SymPy is not installed")
def test_what_libraries_make_for_themselves_when_they_are_imported_is_not_told(script: Callable[..., Path]) -> None:
    folder = script("import random\n\nOWN = random.Random()\n", "own.py")
    script("import sympy\nimport own\n")
    done = python(folder, *RUN, "train.py")
    assert f"{folder / 'own.py'}:3: DET103" in done.stderr
    assert done.stderr.count("DET103") == 1, done.stderr


def test_a_report_that_cannot_be_written_is_told(script: Callable[..., Path]) -> None:
    folder = script("print(1)\n")
    run = python(folder, *RUN, "-q", "--report", "no/out.json", "train.py")
    assert (run.returncode, run.stdout) == (0, "1\n")
    assert "out.json: can't be written: No such file or directory" in run.stderr


def test_settings_come_from_the_configuration_and_the_command_line(script: Callable[..., Path]) -> None:
    folder = script("print(1)\n")
    (folder / "pyproject.toml").write_text("[tool.detlint]\nprofile = 'align'\n[tool.detlint.runtime]\nseed = 8\n")
    assert "seed 8, profile align" in python(folder, *RUN, "train.py").stderr
    assert "seed 9, profile align" in python(folder, *RUN, "--seed", "9", "train.py").stderr
    assert "seed 1234, profile reproduce" in python(folder, *RUN, "--isolated", "train.py").stderr


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("sede = 1", "unknown key `runtime.sede`; did you mean `seed`?"),
        ("seed = -1", "`runtime.seed`: Expected `int` >= 0"),
        ("dropout = 'of'", "`runtime.dropout`: Invalid enum value 'of'"),
        ("operators = 3", "`runtime.operators`: Expected `str | array | null`, got `int`"),
    ],
)
def test_wrong_settings_are_refused(project: Callable[..., Path], line: str, error: str) -> None:
    project(**{"detlint.toml": f"[runtime]\n{line}\n", "train.py": "print(1)\n"})
    for arguments in (("run", "train.py"), ("check", "train.py")):
        result = detlint(*arguments)
        assert result.exit_code == 2
        assert f"detlint.toml: {error}" in result.stderr


SWITCHES = """\
    import os
    print(*(os.environ.get(name) for name in ("CUBLAS_WORKSPACE_CONFIG", "HCCL_DETERMINISTIC")), os.environ["PYTHONHASHSEED"])
    """


@pytest.mark.parametrize(
    ("options", "configured", "expected"),
    [
        ((), "", ":4096:8 true 1234"),
        (("--no-deterministic",), "", "None None 1234"),
        ((), "deterministic = false", "None None 1234"),
        (("--deterministic",), "deterministic = false", ":4096:8 true 1234"),
        (("--collectives", "keep"), "", ":4096:8 None 1234"),
        (("--no-deterministic", "--collectives", "deterministic"), "", "None true 1234"),
        (("--transforms", "off"), 'transforms = "keep"', ":4096:8 true 1234"),
    ],
)
def test_switches_are_set_before_the_program_starts_or_left_alone(
    script: Callable[..., Path], options: Sequence[str], configured: str, expected: str
) -> None:
    folder = script(SWITCHES)
    (folder / "detlint.toml").write_text(f"[runtime]\n{configured}\n")
    assert python(folder, *RUN, *options, "train.py").stdout.strip() == expected


def test_the_settings_are_no_business_of_a_check(project: Callable[..., Path]) -> None:
    project(**{"detlint.toml": "[runtime]\nseed = 3\nloaders = 'sequential'\noperators = ['DET403']\n", "train.py": ""})
    assert detlint("check", "train.py").exit_code == 0
    shown = json.loads(
        "".join(line for line in detlint("check", "--show-settings").stdout.splitlines() if line[:1] != "#")
    )
    assert shown["runtime"]["operators"] == ["DET403"]


OWN = """\
[[api]]
rule = "DET103"
names = ["ours.Noise"]
fix = { kind = "set-argument", argument = "seed", value = "{seed}", applicability = "safe" }
runtime = "seed"
source = "ours"

[signatures]
"ours.Noise" = "seed=None"
"""


def test_a_catalog_of_the_users_own_is_followed(script: Callable[..., Path], tmp_path: Path) -> None:
    folder = script("import ours\nprint(ours.Noise().seed is None)\n")
    script("class Noise:\n    def __init__(self, seed=None):\n        self.seed = seed\n", "ours.py")
    (folder / "settings").mkdir()
    (folder / "settings" / "detlint.toml").write_text("catalogs = ['ours.toml']\n")
    (folder / "settings" / "ours.toml").write_text(OWN)
    given = ("--config", "settings/detlint.toml")
    assert python(folder, *RUN, *given, "train.py").stdout == "False\n"
    assert python(folder, *RUN, "train.py").stdout == "True\n"
    (folder / "settings" / "ours.toml").write_text(
        "[[api]]\nrule = 'DET999'\nnames = ['ours.Noise']\nsource = 'ours'\n"
    )
    broken = python(folder, *RUN, *given, "train.py")
    assert (broken.returncode, broken.stdout) == (2, "")
    assert "there is no rule DET999" in broken.stderr


@pytest.mark.parametrize("option", ["-I", "-E", "-S"])
def test_a_python_that_cannot_be_prepared_is_told(script: Callable[..., Path], option: str) -> None:
    folder = script("print(1)\n")
    start = f"import sys; sys.path[:0] = {[str(REPOSITORY), *sys.path]!r}; from detlint.cli import main; main()"
    run = python(folder, option, "-c", start, "run", "train.py")
    assert run.returncode == 2
    assert "started with -E, -I or -S" in run.stderr


def test_a_sitecustomize_of_the_users_is_imported_too(script: Callable[..., Path]) -> None:
    folder = script("import builtins\nprint(builtins.own)\n")
    script("import builtins\nbuiltins.own = 'mine'\n", "sitecustomize.py")
    variables = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(REPOSITORY)])}
    run = subprocess.run(
        [sys.executable, *RUN, "train.py"], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert (run.stdout, run.returncode) == ("mine\n", 0), run.stderr


RANKS = """\
    import os
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
    sampler = torch.utils.data.RandomSampler(range(16))
    loss = model(torch.rand(8, 4)).square().mean()
    loss.backward()
    gradient = model.module.weight.grad
    with open(f"rank{rank}.txt", "w") as file:
        print(rank, dist.get_world_size(), [*sampler], gradient.tolist(), hash("x"), file=file)
    del model  # before the group: to end both at once, PyTorch 2.13 may wait for itself forever
    dist.destroy_process_group()
    """


TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


def test_two_ranks(script: Callable[..., Path]) -> None:
    """Whether the launcher is run, or runs what it launches."""
    if find_spec("torch") is None or find_spec("numpy") is None:
        pytest.skip("torch or numpy is not installed")
    folder, seen = script(RANKS), set()
    for launcher in ((*RUN, *TORCHRUN), (*TORCHRUN, *RUN)):
        run = python(folder, *launcher, "train.py", OMP_NUM_THREADS="1")
        assert run.returncode == 0, run.stderr
        seen.add(tuple((folder / f"rank{rank}.txt").read_text() for rank in range(2)))
        assert run.stderr.count("detlint run: seed 1234") == 1
        assert "DET302" in run.stderr
    assert len(seen) == 1


def test_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("IPython") is None or find_spec("torch") is None:
        pytest.skip("IPython or torch is not installed")
    (tmp_path / "detlint.toml").write_text("[runtime]\nseed = 6\n")
    cells = ["%load_ext detlint", "import torch", "print(torch.rand(2), torch.are_deterministic_algorithms_enabled())"]
    after = ["%detlint", "%unload_ext detlint", "print(torch.are_deterministic_algorithms_enabled())"]
    program = f"""\
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        for cell in {cells + after}:
            assert shell.run_cell(cell).success
        """
    (tmp_path / "notebook.py").write_text(dedent(program))
    runs = [python(tmp_path, "notebook.py") for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stdout.startswith("detlint: seed 6, profile reproduce\n")
    assert "torch.manual_seed(6)" in runs[0].stdout
    assert "PYTHONHASHSEED=6: this process hashes strings by a seed of its own since it started" in runs[0].stdout
    assert runs[0].stdout.endswith("False\n")

"""The catalog: what is shipped, what a team adds, and what is refused."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import detlint

from detlint.cachefile import write_whole
from detlint.catalog import RAISES, Catalog, CatalogError, directory, load, parse

Project = Callable[..., Path]

CODES = {
    **{f"DET{n:03}": name for n, name in enumerate(["unreadable-file", "unused-suppression"], 1)},
    **{
        f"DET{n}": name
        for n, name in enumerate(
            [
                "unseeded-python",
                "unseeded-numpy",
                "unseeded-generator",
                "unseeded-torch",
                "unseeded-mindspore",
                "unseeded-tensorflow",
                "unset-random-state",
                "unseeded-other",
            ],
            101,
        )
    },
    **{
        f"DET{n}": name
        for n, name in enumerate(
            ["entropy-seed", "optional-seed", "late-seed", "partial-seed", "late-hash-seed", "hash-order", "jax-key"],
            110,
        )
    },
    **{f"DET{n}": name for n, name in enumerate(["dropout", "inner-dropout", "stochastic-layer"], 201)},
    **{
        f"DET{n}": name
        for n, name in enumerate(
            ["random-transform", "shuffle", "parallel-workers", "worker-rng", "unsorted-listing", "completion-order"],
            301,
        )
    },
    **{
        f"DET{n}": name
        for n, name in enumerate(
            [
                "nondeterministic-operator",
                "switchable-operator",
                "grid-sample",
                "deformable-attention",
                "atomic-kernel",
                "ascend-operator",
                "tensorflow-operator",
                "silent-operator",
            ],
            401,
        )
    },
    **{f"DET{n}": name for n, name in enumerate(["device-random", "device-generator"], 501)},
    **{
        f"DET{n}": name
        for n, name in enumerate(
            [
                "cudnn-benchmark",
                "determinism-off",
                "cublas-workspace",
                "unknown-switch",
                "communication",
                "contradicted-switch",
                "tensorflow-switch",
                "mindspore-switch",
                "precision-mode",
            ],
            601,
        )
    },
}
BY_DESIGN = {"DET201", "DET202", "DET203", "DET301", "DET302", "DET303"}
STREAMS = {"python", "numpy", "torch", "cuda", "npu", "mindspore", "tensorflow"}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load()


def found(*arguments: str) -> list[tuple[str, str, int]]:
    result = detlint("check", "--no-cache", "--show-notes", "--output-format", "json", *arguments)
    assert result.exit_code in (0, 1), result.stderr
    return [(row["code"], Path(row["filename"]).name, row["location"]["row"]) for row in json.loads(result.stdout)]


# -- what is shipped ------------------------------------------------------------------------------------------------


def test_every_rule_is_there(catalog: Catalog) -> None:
    assert {code: rule.name for code, rule in catalog.rules.items() if code in CODES} == CODES


def test_rules_are_explained(catalog: Catalog) -> None:
    for rule in catalog.rules.values():
        assert rule.summary.endswith("."), rule.code
        assert len(rule.why.split()) > 20, rule.code
        assert rule.message and not rule.message.endswith("."), rule.code
        assert rule.remedy, rule.code
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name), rule.code
    assert len({rule.name for rule in catalog.rules.values()}) == len(catalog.rules)


def test_levels(catalog: Catalog) -> None:
    assert {code for code, rule in catalog.rules.items() if rule.level == "design"} == BY_DESIGN


def test_every_entry_has_its_rule_and_its_source(catalog: Catalog) -> None:
    for entry in catalog.entries:
        label = str([*entry.names, *entry.registry, *entry.copies][:1])
        if entry.rule:
            assert entry.rule in catalog.rules, label
            assert entry.source, label
            assert entry.remedy or catalog.rules[entry.rule].remedy, label


def test_each_stream_has_one_rule(catalog: Catalog) -> None:
    streams = [stream for rule in catalog.rules.values() for stream in rule.streams]
    assert len(streams) == len(set(streams))
    assert set(streams) >= STREAMS
    used = {stream for entry in catalog.entries for stream in (*entry.draws, *entry.seeds, *entry.unseeds)}
    assert used <= set(streams)


def test_signatures_are_parsed_and_fit_their_entries(catalog: Catalog) -> None:
    assert len(catalog.signatures) > 200
    for name, parameters in catalog.signatures.items():
        names = [parameter for parameter, _ in parameters]
        assert len(names) == len(set(names)), name
        assert all(re.fullmatch(r"\*?[^\W\d]\w*|\*", parameter) for parameter in names), name
    assert catalog.signatures["torch.nn.Dropout"][:2] == [("p", 0.5), ("inplace", False)]


def test_versions_are_requirements(catalog: Catalog) -> None:
    from packaging.requirements import Requirement

    for entry in catalog.entries:
        if entry.versions:
            assert str(Requirement(entry.versions).specifier), entry.names


HARDWARE = {
    "ascend": re.compile(r"ascend|\bnpu|[hl]ccl", re.I),
    "cuda": re.compile(r"cuda|\bgpu|cudnn|cublas|nccl", re.I),
}


def test_a_message_names_no_hardware_that_the_entry_is_not_about(catalog: Catalog) -> None:
    """Targets narrow what is told of operators, devices and switches: a message about a GPU is none where the CPU is asked for."""
    wrong = [
        (entry.names, target)
        for entry in catalog.entries
        if entry.rule >= "DET4"
        for target, words in HARDWARE.items()
        if words.search((entry.message or catalog.rules[entry.rule].message).replace("{api}", ""))
        and target not in entry.targets
    ]
    assert not wrong


def test_names_are_dotted_and_canonical(catalog: Catalog) -> None:
    for entry in catalog.entries:
        for name in entry.names:
            # A variable of the environment may be misspelt in any way.
            assert entry.kind == "environment" or re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", name), name
        assert len(entry.names) == len(set(entry.names)), entry.names


def test_aliases_come_to_an_end(catalog: Catalog) -> None:
    for name in catalog.aliases:
        assert catalog.canonical(catalog.canonical(f"{name}.Thing")) == catalog.canonical(f"{name}.Thing")
    assert catalog.canonical("torch.nn.modules.dropout.Dropout") == "torch.nn.Dropout"
    assert catalog.canonical("nobody.knows.this") == "nobody.knows.this"


def test_what_a_library_lacks(catalog: Catalog) -> None:
    assert catalog.lacks("mindspore.nn.functional.relu") and catalog.lacks("mindspore.nn.Module")
    assert not catalog.lacks("mindspore.nn.Adam") and not catalog.lacks(
        "mindspore.nn"
    )  # the one only raises as it is called
    for name in catalog.lacking:
        assert catalog.canonical(name) == name
        known = [
            entry for entry in map(catalog.entries.__getitem__, catalog.calls[name]) if RAISES not in entry.contexts
        ]
        assert not known, f"{name} exists, or so another entry says"


def test_shipped_files_are_found() -> None:
    assert {"torch", "mindspore", "numpy", "python"} <= {path.name for path in directory().iterdir()}
    for file in directory().rglob("*.toml"):
        parse(str(file), file.read_bytes())


# -- a team's own ---------------------------------------------------------------------------------------------------

OURS = """
[[api]]
rule = "DET201"
names = ["ours.layers.SoftDropout"]
registry = ["SoftDropout"]
when = { rate = { above = 0 } }
draws = ["torch"]
source = "ours/layers.py"

[[api]]
rule = "DET405"
names = ["ours.kernels.splat"]
targets = ["cuda"]
pass = "backward"
remedy = "Call ours.kernels.slow_splat."
source = "ours/kernels.cu"

[[api]]
names = ["ours.util.fix_everything"]
seeds = ["python", "numpy", "torch", "cuda"]
seed = "value"

[signatures]
"ours.layers.SoftDropout" = "rate=0.3, *, noisy=False"
"ours.util.fix_everything" = "value=0"

[aliases]
"ours.SoftDropout" = "ours.layers.SoftDropout"
"""
SETTINGS = 'catalogs = ["ours.toml"]\n'


def test_own_dropout(project: Project) -> None:
    text = (
        "import ours\nfrom ours import layers\n\n\ndef f(rate):\n    layers.SoftDropout()\n"
        "    layers.SoftDropout(0.0)\n    ours.SoftDropout(rate=0.1)\n    dict(type='SoftDropout', rate=0.2)\n"
    )
    project(**{"a.py": text, "ours.toml": OURS, "detlint.toml": SETTINGS})
    assert found() == [("DET201", "a.py", 6), ("DET201", "a.py", 8), ("DET201", "a.py", 9)]


def test_own_kernel_and_remedy(project: Project) -> None:
    project(
        **{
            "a.py": "from ours.kernels import splat\n\n\ndef f(x):\n    return splat(x)\n",
            "ours.toml": OURS,
            "detlint.toml": SETTINGS,
        }
    )
    assert found("a.py") == [("DET405", "a.py", 5)]
    assert "help: Call ours.kernels.slow_splat." in detlint("--no-cache", "a.py").stdout
    assert found("--target", "cpu", "a.py") == []


def test_own_seed_helper(project: Project) -> None:
    text = (
        "import random\n\nfrom ours.util import fix_everything\n\n"
        "if __name__ == '__main__':\n    {}\n    random.random()\n"
    )
    project(
        **{
            "good.py": text.format("fix_everything(3)"),
            "bad.py": text.format("pass"),
            "ours.toml": OURS,
            "detlint.toml": SETTINGS,
        }
    )
    assert found() == [("DET101", "bad.py", 7)]


def test_own_seed_helper_that_the_project_defines(project: Project) -> None:
    text = (
        "import random\n\nfrom ours.util import fix_everything\n\n"
        "if __name__ == '__main__':\n    fix_everything(3)\n    random.random()\n"
    )
    project(
        **{
            "a.py": text,
            "ours/__init__.py": "",
            "ours/util.py": "import ctypes\n\n\ndef fix_everything(value=0):\n    ctypes.fix(value)\n",
            "ours.toml": OURS,
            "detlint.toml": SETTINGS,
        }
    )
    assert found("a.py") == []


def test_own_rule(project: Project) -> None:
    rule = (
        '[[rule]]\ncode = "DET499"\nname = "our-kernel"\nlevel = "warning"\n'
        'summary = "Ours."\nmessage = "`{api}` races"\nwhy = "It does."\n'
    )
    entry = '[[api]]\nrule = "DET499"\nnames = ["ours.race"]\nsource = "us"\n'
    project(
        **{"a.py": "import ours\n\n\ndef f():\n    ours.race()\n", "ours.toml": rule + entry, "detlint.toml": SETTINGS}
    )
    assert found("a.py") == [("DET499", "a.py", 5)]
    assert found("--select", "DET499", "a.py") == [("DET499", "a.py", 5)]
    assert "`ours.race` races" in detlint("--no-cache", "a.py").stdout


SWITCHED = """
[[framework]]
name = "ours"
modules = ["ours"]
switch = { name = "ours-exact", rule = "DET602", targets = ["cuda"], remedy = "Call ours.exact()." }

[[api]]
names = ["ours.exact"]
sets = { ours-exact = true }

[[api]]
rule = "DET402"
names = ["ours.fold"]
category = "b"
source = "ours.cu"

[[api]]
names = ["ours.fit"]
contexts = ["trains"]
"""


def test_an_alias_with_a_last_name_of_its_own(project: Project) -> None:
    aliases = OURS + '"theirs.DropSome" = "ours.layers.SoftDropout"\n"theirs.old" = "ours.layers"\n'
    text = "import theirs\n\n\ndef f():\n    theirs.DropSome()\n    theirs.old.SoftDropout()\n    theirs.DropSome(0)\n"
    project(**{"a.py": text, "ours.toml": aliases, "detlint.toml": SETTINGS})
    assert found() == [("DET201", "a.py", 5), ("DET201", "a.py", 6)]


def test_own_switch(project: Project) -> None:
    text = "import ours\n\nif __name__ == '__main__':\n    {}\n    ours.fit(ours.fold(), device='cuda')\n"
    project(
        **{
            "on.py": text.format("ours.exact()"),
            "off.py": text.format("pass"),
            "ours.toml": SWITCHED,
            "detlint.toml": SETTINGS,
        }
    )
    assert found() == [("DET602", "off.py", 3), ("DET402", "off.py", 5)]
    assert "help: Call ours.exact()." in detlint("--no-cache", "off.py").stdout


CONDITIONS = """
[[api]]
rule = "DET405"
names = ["ours.setup"]
when = { "options.kernel" = ["fast"] }
source = "us"

[[api]]
rule = "DET606"
kind = "environment"
names = ["OURS_FLAGS"]
when = { value = { contains = "--racy" } }
source = "us"

[[api]]
rule = "DET303"
names = ["ours.spread"]
when = { f = { draws = ["numpy"] } }
source = "us"

[[api]]
rule = "DET103"
names = ["ours.die"]
becomes = ["key", "argument:numpy.array"]
while-training = true
source = "us"

[signatures]
"ours.setup" = "options"
"ours.spread" = "f"
"""


def test_an_item_of_a_dictionary(project: Project) -> None:
    text = (
        "import ours\n\nOPTIONS = {'kernel': 'fast', 'size': 3}\n\n\ndef f(more):\n    ours.setup(OPTIONS)\n"
        "    ours.setup({'kernel': 'slow'})\n    ours.setup({'size': 3})\n    ours.setup(more)\n"
        "    ours.setup({**more, 'kernel': 'fast'})\n"
    )
    project(**{"a.py": text, "ours.toml": CONDITIONS, "detlint.toml": SETTINGS})
    assert found()[:1] == [("DET405", "a.py", 7)]
    assert not {row for _, _, row in found()} & {8, 9, 10}


def test_a_part_of_a_variable(project: Project) -> None:
    text = (
        "import os\n\nimport ours\n\nos.environ['OURS_FLAGS'] = '-q --racy'\nos.environ['OURS_FLAGS'] = '-q'\n"
        "os.environ['OURS_FLAGS'] += ' --racy'\nos.environ['OURS_FLAGS'] = os.environ.get('OURS_FLAGS', '') + ' --racy'\n"
        "os.environ['OURS_FLAGS'] = ours.flags\n"
    )
    project(**{"a.py": text, "ours.toml": CONDITIONS, "detlint.toml": SETTINGS})
    assert found() == [("DET606", "a.py", row) for row in (5, 7, 8)]


def test_a_function_that_draws(project: Project) -> None:
    text = (
        "import numpy as np\nimport ours\n\n\ndef draws(x):\n    return helper(x)\n\n\ndef helper(x):\n"
        "    return draws(x) if x else np.random.rand()\n\n\nclass Noise:\n    def __call__(self, x):\n"
        "        return x + np.random.rand()\n\n\ndef run(f):\n    ours.spread(draws)\n    ours.spread([len, Noise()])\n"
        "    ours.spread(lambda x: np.random.rand())\n    ours.spread(run)\n    ours.spread(f)\n    ours.spread(lambda x: x)\n"
    )
    project(**{"a.py": text, "ours.toml": CONDITIONS, "detlint.toml": SETTINGS})
    assert [row for code, _, row in found() if code == "DET303"] == [19, 20, 21]


def test_what_becomes_of_a_result(project: Project) -> None:
    text = (
        "import numpy as np\nimport ours\nimport torch\n\n\ndef pick(rows):\n    name = f'{ours.die()}'\n"
        "    return rows[ours.die()], np.array(ours.die()), name\n\n\nif __name__ == '__main__':\n    pick([1])\n"
    )
    train = text + "    torch.ones(1, requires_grad=True).sum().backward()\n"
    project(**{"a.py": text, "b.py": train, "ours.toml": CONDITIONS, "detlint.toml": SETTINGS})
    assert [place for place in found() if place[0] == "DET103"] == [("DET103", "b.py", 8), ("DET103", "b.py", 8)]


def test_without_the_setting_nothing_is_known(project: Project) -> None:
    project(**{"a.py": "import ours\n\n\ndef f():\n    ours.layers.SoftDropout()\n", "ours.toml": OURS})
    assert found("a.py") == []


# -- what is refused ------------------------------------------------------------------------------------------------

API = '[[api]]\nnames = ["a.b"]\n'
RULE = '[[rule]]\ncode = "DET499"\nname = "n"\nlevel = "note"\nsummary = "s"\nmessage = "m"\nwhy = "w"\n'


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[[api]\n", ["TOML"]),
        ("[[apis]]\n", ["apis"]),
        ("api = 1\n", ["api"]),
        ("[api]\nnames = ['a']\n", ["api", "[[api]]"]),
        ("[[signatures]]\n", ["signatures"]),
        ("aliases = []\n", ["aliases"]),
        ("api = [1]\n", ["[[api]] 1"]),
        ("[[api]]\n", ["[[api]] 1", "names"]),
        ("[[api]]\nnames = []\n", ["[[api]] 1", "names"]),
        ("[[api]]\nnames = 'a.b'\n", ["[[api]] 1", "names"]),
        ("[[api]]\nnames = [1]\n", ["[[api]] 1", "names"]),
        (API + "remdy = 'x'\n", ["[[api]] 1 (a.b)", "remdy"]),
        (API + API + "rule = 4\n", ["[[api]] 2 (a.b)", "rule"]),
        (API + "rule = 'F401'\nsource = 's'\n", ["[[api]] 1 (a.b)", "rule", "F401"]),
        (API + "rule = 'DET403'\n", ["[[api]] 1 (a.b)", "source"]),
        (API + "kind = 'method'\n", ["[[api]] 1 (a.b)", "kind", "method"]),
        (API + "kind = 'unknown-member'\n", ["[[api]] 1 (a.b)", "known"]),
        (API + "runtime = 'of'\n", ["[[api]] 1 (a.b)", "`runtime.do`", "of"]),
        (API + "runtime = { how = 'cpu' }\n", ["[[api]] 1 (a.b)", "`runtime`"]),
        (API + "targets = ['gpu']\n", ["[[api]] 1 (a.b)", "targets", "gpu"]),
        (API + "targets = 'cuda'\n", ["[[api]] 1 (a.b)", "targets"]),
        (API + "pass = 'sideways'\n", ["[[api]] 1 (a.b)", "pass", "sideways"]),
        (API + "category = 'e'\n", ["[[api]] 1 (a.b)", "category"]),
        (API + "level = 'fatal'\n", ["[[api]] 1 (a.b)", "level", "fatal"]),
        (API + "when = 'p > 0'\n", ["[[api]] 1 (a.b)", "when"]),
        (API + "when = { p = { over = 0 } }\n", ["[[api]] 1 (a.b)", "when", "over"]),
        (API + "when = { p = { above = 'zero' } }\n", ["[[api]] 1 (a.b)", "above"]),
        (API + "when = { p = 1 }\n", ["[[api]] 1 (a.b)", "when"]),
        (API + "when = { p = { in = 1 } }\n", ["[[api]] 1 (a.b)", "in"]),
        (API + "fix = 'remove'\n", ["[[api]] 1 (a.b)", "fix"]),
        (API + "fix = { kind = 'wrap', applicability = 'maybe' }\n", ["[[api]] 1 (a.b)", "applicability"]),
        (API + "sets = ['x']\n", ["[[api]] 1 (a.b)", "sets"]),
        (API + "absent = 'random'\n", ["[[api]] 1 (a.b)", "absent"]),
        (API + "versions = 'newer than two'\n", ["[[api]] 1 (a.b)", "versions"]),
        (API + "versions = 'torch >= x.y'\n", ["[[api]] 1 (a.b)", "versions"]),
        (RULE.replace("DET499", "D1"), ["[[rule]] 1", "code", "D1"]),
        (RULE.replace("note", "fatal"), ["[[rule]] 1", "level", "fatal"]),
        (RULE.replace('why = "w"\n', ""), ["[[rule]] 1", "why"]),
        (RULE + "extra = 1\n", ["[[rule]] 1", "extra"]),
        (API + "when = { f = { draws = ['trch'] } }\n", ["[[api]] 1 (a.b)", "when", "trch"]),
        (API + "when = { p = { contains = 1 } }\n", ["[[api]] 1 (a.b)", "contains"]),
        (API + "becomes = 'index'\n", ["[[api]] 1 (a.b)", "becomes"]),
        (API + "while-training = 1\n", ["[[api]] 1 (a.b)", "while-training"]),
        ("[[framework]]\nname = 'x'\nmodules = ['x']\nswitch = 's'\n", ["[[framework]] 1", "switch"]),
        ("[[framework]]\nname = 'x'\n", ["[[framework]] 1", "modules"]),
        ("[[framework]]\nname = 'x'\nmodules = ['x']\ntargets = ['gpu']\n", ["[[framework]] 1", "targets"]),
        ("[signatures]\n'a.b' = 1\n", ["[signatures] a.b"]),
        ("[signatures]\n'a.b' = 'p='\n", ["[signatures] a.b"]),
        ("[signatures]\n'a.b' = 'p=other()'\n", ["[signatures] a.b"]),
        ("[signatures]\n'a.b' = 'p, p'\n", ["[signatures] a.b"]),
        ("[signatures]\n'a.b' = 'x): pass\\ndef g(y'\n", ["[signatures] a.b"]),
        ("[aliases]\n'a' = 1\n", ["[aliases]"]),
    ],
)
def test_a_wrong_catalog_names_file_entry_and_key(text: str, parts: list[str]) -> None:
    with pytest.raises(CatalogError) as refused:
        parse("ours.toml", text.encode())
    for part in ["ours.toml", *parts]:
        assert part in str(refused.value)


def test_not_text() -> None:
    with pytest.raises(CatalogError, match=r"ours\.toml.*TOML"):
        parse("ours.toml", b"\xff\xfe")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (API + "rule = 'DET498'\nsource = 's'\n", ["ours.toml", "[[api]] 1", "DET498"]),
        (API + "runtime = { do = 'cpu', rule = 'DET498' }\n", ["ours.toml", "[[api]] 1", "runtime.rule", "DET498"]),
        (RULE.replace("DET499", "DET403"), ["ours.toml", "DET403", "already"]),
        ("[[api]]\nnames = ['a']\nremdy = 'x'\n", ["ours.toml", "remdy"]),
        (
            "[[framework]]\nname='o'\nmodules=['o']\nswitch={name='s', rule='DET498', targets=['cuda']}\n",
            ["ours.toml", "o", "DET498"],
        ),
        ("", []),
    ],
)
def test_the_command_line_refuses_it(project: Project, text: str, parts: list[str]) -> None:
    project(**{"a.py": "import ours\n\n\ndef f(): return ours.x.y()\n", "ours.toml": text, "detlint.toml": SETTINGS})
    result = detlint("--no-cache", "a.py")
    assert result.exit_code == (2 if parts else 0)
    for part in parts:
        assert part in result.stderr


def test_aliases_in_a_circle(project: Project) -> None:
    circle = "[aliases]\n'ours' = 'ours.x'\n'ours.x' = 'ours'\n"
    project(
        **{
            "a.py": "import ours\nimport torch\n\n\ndef f(): return ours.x.rand()\n",
            "ours.toml": circle,
            "detlint.toml": SETTINGS,
        }
    )
    result = detlint("--no-cache", "a.py")
    assert result.exit_code == 2
    assert "ours.toml" in result.stderr


def test_a_draw_from_an_unknown_stream_is_refused(project: Project) -> None:
    project(
        **{
            "a.py": "import ours\n\nours.draw()\n",
            "ours.toml": "[[api]]\nnames = ['ours.draw']\ndraws = ['trch']\n",
            "detlint.toml": SETTINGS,
        }
    )
    result = detlint("--no-cache", "a.py")
    assert result.exit_code == 2
    assert "trch" in result.stderr


def test_a_catalog_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"none\.toml"):
        load([tmp_path / "none.toml"])
    with pytest.raises(CatalogError, match=re.escape(str(tmp_path))):
        load([tmp_path])


# -- the compiled copy ----------------------------------------------------------------------------------------------


SAY_ALL = """
import sys
from pathlib import Path

import msgspec

from detlint.catalog import load

catalog = load(cache=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
signatures = dict(catalog.signatures)
parts = (catalog.rules, catalog.entries, catalog.frameworks, signatures, catalog.aliases, catalog.fingerprint)
print(msgspec.json.encode(parts).decode())
"""


def contents(*cache: Path) -> str:
    """Everything in a catalog that a fresh process loads, in JSON: there, a tuple as default is a list."""
    return subprocess.run([sys.executable, "-c", SAY_ALL, *cache], capture_output=True, check=True, text=True).stdout


def beside(prefix: Path) -> list[Path]:
    """The compiled copies that stand where Python keeps compiled code."""
    return [*prefix.rglob("loading.*.msgpack")]


def test_what_is_shipped_is_kept_compiled_beside_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = contents()
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path))
    assert contents() == whole
    (kept,) = beside(tmp_path)
    good, written = kept.read_bytes(), kept.stat().st_mtime_ns
    assert contents() == whole
    assert kept.stat().st_mtime_ns == written
    # What was written whole, for this state of the files, is believed: no rules, no entries.
    fingerprint = json.loads(whole)[-1]
    write_whole(kept, b"\x80", fingerprint)
    assert contents().startswith("[{},[],[],{},{},")
    write_whole(kept, b"\x80", f"{fingerprint}0")
    another = kept.read_bytes()
    for what in (another, b"", good[:-1], bytes(8) + good[8:]):
        kept.write_bytes(what)
        assert contents() == whole
        assert beside(tmp_path) == [kept]
        assert kept.read_bytes() == good


def test_nothing_is_kept_beside_the_code_where_python_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path))
    contents()
    assert not beside(tmp_path)


def compiled_in(cache: Path) -> Path:
    (compiled,) = cache.glob("catalog-*")
    return compiled


def test_the_compiled_copy_is_the_same(tmp_path: Path) -> None:
    plain, cold = contents(), contents(tmp_path)
    written = compiled_in(tmp_path).stat().st_mtime_ns
    assert plain == cold == contents(tmp_path)
    assert compiled_in(tmp_path).stat().st_mtime_ns == written


def test_the_compiled_copy_is_used(tmp_path: Path) -> None:
    contents(tmp_path)
    # What stands in it, and was written whole, is believed: no rules, no entries.
    write_whole(compiled_in(tmp_path), b"\x80")
    assert contents(tmp_path).startswith("[{},[],[],{},{},")


@pytest.mark.parametrize(
    "content", [b"", b"\xff", b"\0" * 9, b"not msgpack at all", b"\x91\x01", b"\x93\xc0", None], ids=repr
)
def test_a_broken_compiled_copy_is_made_anew(tmp_path: Path, content: bytes | None) -> None:
    whole = contents(tmp_path)
    compiled = compiled_in(tmp_path)
    good = compiled.read_bytes()
    compiled.write_bytes(good[: len(good) // 2] if content is None else content)
    assert contents(tmp_path) == whole
    assert compiled.read_bytes() == good


def test_nonsense_in_a_compiled_copy_is_made_anew(tmp_path: Path) -> None:
    whole = contents(tmp_path)
    write_whole(compiled_in(tmp_path), b"\x93\xc0")
    assert contents(tmp_path) == whole


def test_a_compiled_copy_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert contents(tmp_path / "file" / "sub") == contents()


def test_a_changed_catalog_is_compiled_anew(project: Project) -> None:
    root = project(**{"a.py": "import ours\n\n\ndef f():\n    ours.op()\n", "detlint.toml": SETTINGS})
    seen = []
    for rule in ("DET401", "DET404", "DET401"):
        (root / "ours.toml").write_text(f'[[api]]\nrule = "{rule}"\nnames = ["ours.op"]\nsource = "us"\n')
        seen.append(
            re.findall(r"DET\d+", detlint("--cache-dir", "cache", "--output-format", "concise", "a.py").stdout)[0]
        )
    assert seen == ["DET401", "DET404", "DET401"]

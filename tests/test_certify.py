"""`detlint certify`: what a run rests on, and what of that has changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from forks import server
from traced import IMPORTS, QUIET, shell, written

PROGRAM = """\
import os
import torch
from data import names

torch.manual_seed(3)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), float(os.environ.get("OMP_RATE", "0.1")))
for name in names():
    with open(os.path.join("samples", name)) as file:
        loss = (net(torch.rand(8, 4)) * len(file.read())).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {then}
"""
DATA = """\
import os


def names():
    return sorted(os.listdir("samples"))
"""


def test_a_certificate_holds_until_something_changes(tmp_path: Path) -> None:
    python = server(IMPORTS["torch"], **QUIET).python
    text = PROGRAM.format(then="pass")
    written(tmp_path, text)
    written(tmp_path, DATA, "data.py")
    (tmp_path / "samples").mkdir()
    for name in "ab":
        (tmp_path / "samples" / name).write_text(name * 3)
    done = shell("certify", "--as-is", "-o", "certificate.json", "train.py", cwd=tmp_path, python=python)
    assert done.returncode == 0, done.stderr
    certificate = json.loads((tmp_path / "certificate.json").read_text())
    sections = certificate["sections"]
    assert sections["seeds"] == {"torch.manual_seed(3) in train.py": "1 times"}
    assert certificate["places"] == {"torch.manual_seed(3) in train.py": "train.py:5"}
    assert sections["operators"]["aten.addmm.default"] == "2 calls"
    assert {*sections["code"]} == {"train.py: <module>", "data.py: <module>", "data.py: names"}
    assert {*sections["files"]} == {"samples/a", "samples/b"}
    assert sections["switches"]["deterministic_algorithms"] == "False"

    written(tmp_path, "# another layout\n" + DATA.replace("names():", "names( ):  # sorted"), "data.py")
    done = shell("certify", "--check", "certificate.json", cwd=tmp_path, python=python)
    assert (done.returncode, done.stdout.split(":")[0]) == (0, "The certificate holds")

    written(tmp_path, DATA.replace("sorted", "list"), "data.py")
    (tmp_path / "samples" / "a").write_text("longer")
    command = ("certify", "--check", "certificate.json", "--output-format", "json", "--html", "page.html")
    done = shell(*command, cwd=tmp_path, python=python, OMP_RATE="0.2")
    assert done.returncode == 1, done.stderr
    changed = {(one["section"], one["name"]) for one in json.loads(done.stdout)["changes"]}
    assert changed >= {("code", "data.py: names"), ("files", "samples/a"), ("environment", "OMP_RATE")}
    assert ("seeds", "torch.manual_seed(3) in train.py") not in changed
    assert "revoked" in (tmp_path / "page.html").read_text()


def test_what_does_not_repeat_gets_none(tmp_path: Path) -> None:
    written(tmp_path, "import os\nfrom detlint.runtime import log\nlog(loss=os.getpid())\n")
    done = shell("certify", "--as-is", "-o", "certificate.json", "train.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "doesn't repeat" in done.stderr
    written(tmp_path, "from detlint.runtime import log\nlog(loss=1)\n")
    done = shell("certify", "--as-is", "--output-format", "json", "train.py", cwd=tmp_path)
    assert {*json.loads(done.stdout)["sections"]["code"]} == {"train.py: <module>"}
    assert not (tmp_path / "certificate.json").exists()
    assert shell("certify", "--check", "certificate.json", cwd=tmp_path).returncode == 2

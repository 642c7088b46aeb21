"""Edits of a project as people make them: of files of every kind, of what files and folders there are, and of when they say that they
were changed."""

from __future__ import annotations

import ast
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

CALLS = {
    "np.random.rand()": "import numpy as np",
    "random.random()": "import random",
    "torch.manual_seed(0)": "import torch",
    "np.random.seed(0)": "import numpy as np",
}
SETTINGS = (
    "", "targets = ['ascend']\n", "targets = ['cpu']\n", "profile = 'align'\n", "select = ['DET1', 'DET4']\n", "exclude = ['tools']\n",
    "entry-points = ['train:main', 'evaluate']\n", "[versions]\ntorch = '1.8'\n", "max-file-size = 500\n",
)  # fmt: skip
REQUIREMENTS = ("", "torch==1.7.0\n", "torch==2.3.0\nnumpy<2\n", "mindspore==2.2\n", "-r other.txt\n")
DOCUMENTS = {
    "README.md": ("# A network\n\n- Hardware (Ascend)\n", "# A network in MindSpore\n\nFor GPU.\n",
        "```shell\npython train.py --seed 3\n```\n"),
    "scripts/run.sh": ("# On Ascend\npython ../train.py\n", "mpirun -n 8 python train.py\n", "PYTHONPATH=tools python train.py\n"),
    "settings.yaml": ("device_target: Ascend\n", "seed: 1\nwhole: sum\n", "model:\n  _target_: torch.nn.Dropout\n  p: 0.5\n"),
    "setup.py": ("from setuptools import setup\n\nsetup()\n",),
}  # fmt: skip
KINDS = (
    *("text",) * 12, "add", "remove", "rename", "move", "folder", "package", "revert", "link", "dangle", "settings", "requirements",
    "document", "notebook", "touch",
)  # fmt: skip


def edited(text: str, others: list[str], random: Random) -> str:
    """A program's file after one edit of the kind that people make; as it was where that is none.

    Args:
        others: the names of the program's modules.
    """
    try:
        lines, tree = text.splitlines(keepends=True), ast.parse(text)
    except SyntaxError:  # some programs have a file that can't be parsed
        return text.replace("  ", " ")
    nodes = [*ast.walk(tree)]
    statements = [node for node in nodes if isinstance(node, ast.stmt)]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.body[0].lineno > node.lineno]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef) and node.body[0].lineno > node.lineno]
    kind = random.choice(
        ["delete", "empty", "define", "call", "import", "rename", "member", "base", "shift", *("compute",) * 4]
    )
    if kind == "delete" and statements:
        gone = random.choice(statements)
        first = min(node.lineno for node in (gone, *getattr(gone, "decorator_list", ())))
        lines[first - 1 : gone.end_lineno] = [" " * gone.col_offset + "pass\n"]
    elif kind == "empty" and functions:
        body = random.choice(functions).body
        lines[body[0].lineno - 1 : body[-1].end_lineno] = [" " * body[0].col_offset + "pass\n"]
    elif kind == "define":
        lines.append("\n\ndef added(x):\n    return x\n")
    elif kind == "call" and statements:
        here, call = random.choice(statements), random.choice([*CALLS])
        lines.insert(here.lineno - 1, f"{' ' * here.col_offset}{CALLS[call]}; {call}\n")
    elif kind == "import" and statements:
        here = random.choice(statements)
        lines.insert(here.lineno - 1, f"{' ' * here.col_offset}import {random.choice(others)}\n")
    elif kind == "compute" and functions:  # what only the IR says
        here = random.choice(random.choice(functions).body)
        said = random.choice(
            ["print(3)", "value = 2 * 3", "if not True: value = None", "self = None", "del value", "locals()"]
        )
        lines.insert(here.lineno - 1, f"{' ' * here.col_offset}{said}\n")
    elif kind == "member" and classes:
        owner = random.choice(classes)
        margin, member = " " * owner.body[0].col_offset, random.choice(["forward", "__init__", "added", "random"])
        method = f"def {member}(self, x=None):\n{margin}    return x\n"
        lines.insert(owner.end_lineno or 0, margin + random.choice([method, f"{member} = lambda self: self\n"]))
    elif kind == "base" and classes:
        derived, base = random.choice(classes), random.choice(classes)
        head = f"class {derived.name}"
        lines[derived.lineno - 1] = lines[derived.lineno - 1].replace(f"{head}:", f"{head}({base.name}):", 1)
    elif kind == "rename" and names:
        name = random.choice(names)
        line, end = lines[name.lineno - 1].encode(), name.end_col_offset or 0
        as_long = name.id.isascii() and random.random() < 0.5  # so that the file's size tells nothing
        lines[name.lineno - 1] = (line[: end - as_long] + (b"_" if as_long else b"_renamed") + line[end:]).decode()
    else:
        lines.insert(0, "# a line more\n")
    after = "".join(lines)
    try:
        ast.parse(after)
    except SyntaxError:
        return text
    return after


class Project:
    """A project that is edited.

    Args:
        root: its folder.
        random: chooses the edits.
    """

    def __init__(self, root: Path, random: Random) -> None:
        self.root = root
        self.random = random
        self.states: dict[Path, list[str]] = {}
        """What files were before, by path."""

    def edit(self) -> str:
        """Edit once; what was done."""
        kind = self.random.choice(KINDS)
        do: Callable[[], object] = getattr(self, f"_{kind}")
        return f"{kind}: {do()}"

    def _files(self, *endings: str) -> list[Path]:
        return sorted(path for path in self.root.rglob("*") if path.suffix in endings and path.is_file())

    def _any(self, paths: list[Path]) -> Path:
        return self.random.choice(paths) if paths else self.root / "train.py"

    def _modules(self) -> list[str]:
        found = [".".join(file.relative_to(self.root).with_suffix("").parts) for file in self._files(".py")]
        return found or ["train"]

    def _write(self, path: Path, text: str) -> Path:
        """Write a file, sometimes so that neither its size nor its time tells."""
        before = path.stat() if path.is_file() else None
        if before is not None:
            self.states.setdefault(path, []).append(path.read_text())
        path.parent.mkdir(parents=True, exist_ok=True)
        how = self.random.choice(["plain", "plain", "same time", "same time and size"])
        if before is not None and how == "same time and size" and path.suffix == ".py":
            lacking = before.st_size - len(text.encode())
            text += "#" * (lacking - 1) + "\n" if lacking > 1 else ""
        if path.is_symlink():
            path.unlink()
        path.write_text(text)
        if before is not None and how != "plain":
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        return path

    def _text(self) -> Path:
        file = self._any(self._files(".py"))
        text = file.read_text() if file.exists() else "import torch\n\nprint(torch.rand(3))\n"
        return self._write(file, edited(text, self._modules(), self.random))

    def _notebook(self) -> object:
        files = self._files(".ipynb")
        if not files:
            return None
        file = self.random.choice(files)
        raw = json.loads(file.read_text())
        cells = [cell for cell in raw["cells"] if cell["cell_type"] == "code"]
        if cells:
            cell = self.random.choice(cells)
            source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
            cell["source"] = edited(source, self._modules(), self.random)
        return self._write(file, json.dumps(raw))

    def _add(self) -> Path:
        file, beside = self._any(self._files(".py")), self._any(self._files(".py"))
        name = self.random.choice(["added", *(part for module in self._modules() for part in module.split("."))])
        return self._write(beside.parent / f"{name}.py", file.read_text() if file.exists() else "")

    def _remove(self) -> Path:
        file = self._any(self._files(".py", ".md", ".yaml", ".ipynb", ".sh"))
        file.unlink(missing_ok=True)
        return file

    def _rename(self) -> object:
        files = self._files(".py")
        if not files:
            return None
        file, other = self.random.choice(files), self.random.choice(files)
        return file.rename(file.with_name(self.random.choice(["renamed.py", other.name])))

    def _move(self) -> object:
        files = self._files(".py", ".yaml", ".ipynb", ".md")
        if not files:
            return None
        file = self.random.choice(files)
        folder = file.parent / self.random.choice(["more", *self._modules()[0].split(".")])
        folder.mkdir(exist_ok=True)
        return file.rename(folder / file.name)

    def _folders(self) -> list[Path]:
        return sorted(path for path in self.root.rglob("*") if path.is_dir() and not path.is_symlink())

    def _folder(self) -> object:
        folders = self._folders()
        if not folders:
            return None
        folder, above = self.random.choice(folders), self.random.choice([self.root, *folders])
        there = above / self.random.choice(["moved", "src", folder.name, self._modules()[0].partition(".")[0]])
        if there.exists() or there.is_relative_to(folder):
            return None
        return folder.rename(there)

    def _package(self) -> Path:
        init = self.random.choice([self.root, *self._folders()]) / "__init__.py"
        if init.exists():
            init.unlink()
            return init
        return self._write(init, "")

    def _revert(self) -> object:
        if not self.states:
            return None
        path = self.random.choice(sorted(self.states))
        if path.is_dir() or not path.parent.is_dir():
            return None
        return self._write(path, self.random.choice(self.states[path]))

    def _link(self) -> object:
        there = self.random.choice([*self._files(".py"), *self._folders(), self.root])
        name = self.random.choice(["linked", *self._modules()[0].split(".")])
        link = self.random.choice([self.root, *self._folders()]) / (name + there.suffix)
        if link.exists() or link.is_symlink():
            return None
        link.symlink_to(os.path.relpath(there, link.parent))
        return link

    def _dangle(self) -> object:
        """Take away what a link leads to; or make a link that leads nowhere."""
        links = sorted(path for path in self.root.rglob("*") if path.is_symlink() and path.exists())
        if links and self.random.random() < 0.7:
            there = self.random.choice(links).resolve()
            if there == self.root.resolve():
                return None
            shutil.rmtree(there) if there.is_dir() else there.unlink()
            return there
        file = self._any(self._files(".py"))
        file.unlink(missing_ok=True)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to("nowhere.py")
        return file

    def _settings(self) -> Path:
        return self._write(self.root / "detlint.toml", self.random.choice(SETTINGS))

    def _requirements(self) -> Path:
        folder = self.random.choice([self.root, self.root, *self._folders()])
        return self._write(folder / "requirements.txt", self.random.choice(REQUIREMENTS))

    def _document(self) -> Path:
        name = self.random.choice([*DOCUMENTS])
        there = self._files(".yaml", ".md", ".sh")
        if there and self.random.random() < 0.3:
            path = self.random.choice(there)
            text = path.read_text()
            lines = text.splitlines(keepends=True)
            if lines:
                del lines[self.random.randrange(len(lines))]
            return self._write(path, "".join(lines))
        folder = self.random.choice([self.root, self.root, *self._folders()])
        return self._write(folder / name, self.random.choice(DOCUMENTS[name]))

    def _touch(self) -> object:
        """Give a file a time, and leave it as it is."""
        file = self._any(self._files(".py", ".yaml", ".ipynb", ".md"))
        if file.exists():
            os.utime(file, (1_600_000_000, 1_600_000_000))
        return file

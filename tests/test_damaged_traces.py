"""Traces and dumps that are damaged, foreign or hostile: `detlint compare` says so, and ends with 2, for 1 says that runs differ."""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import detlint

from detlint.tracing.records import LENGTH, MAGIC, End, Header, Rank, Row, Step
from detlint.tracing.writer import Writer

UNIX = pytest.mark.skipif(sys.platform == "win32", reason="files of Unix")
DUMP = {
    "task": "statistics",
    "level": "L1",
    "framework": "pytorch",
    "data": {
        "Functional.conv2d.0.forward": {
            "input_args": [
                {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [1, 2], "Max": 1.0, "Min": 0.0, "Mean": 0.5, "Norm": 1.0},
                {"type": "int", "value": 3},
            ],
            "input_kwargs": {},
            "output": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [1, 2], "Max": 2.0, "md5": "ab"}],
        }
    },
}  # fmt: skip
STACK = {"0": [["Functional.conv2d.0.forward"], ["File train.py, line 3, in main, \n x = f(y)"]]}


def trace(folder: Path, last: int = 9) -> Path:
    """A trace of a few rows; the last one gives something."""
    writer = Writer(folder, "rank0", Header(level="kernel", digest="xxh3", framework="torch", argv=["train.py"]))
    writer.write(Rank(0, 1))
    kind = writer.kind("float32", (2, 3), "cpu", "")
    site = writer.site((("train.py", 3, "main"),))
    op, api, module = writer.text("aten.add"), writer.text("torch.add"), writer.text("net.layer")
    given = writer.text("1.0")
    for number in range(8):
        if not number % 3:
            writer.write(Step(number // 3))
        digest = last if number == 7 else 100 + number
        writer.write(Row(op, api, site, module, given, -1, -1, 0, [kind, 5, number - 1], [kind, digest], 0))
    writer.write(End("", ["a note"]))
    writer.close()
    return writer.path


def dump(folder: Path, what: Any = DUMP, stack: Any = STACK) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dump.json").write_text(what if isinstance(what, str) else json.dumps(what))
    (folder / "stack.json").write_text(stack if isinstance(stack, str) else json.dumps(stack))
    return folder


def refused(left: Path, right: Path) -> str:
    result = detlint("diff", left, right)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_whole_ones_are_compared(tmp_path: Path) -> None:
    for name, last in (("a", 9), ("b", 9), ("c", 8)):
        trace(tmp_path / name, last)
    assert detlint("diff", tmp_path / "a", tmp_path / "b").exit_code == 0
    assert detlint("diff", tmp_path / "a", tmp_path / "c").exit_code == 1
    assert detlint("diff", dump(tmp_path / "d"), dump(tmp_path / "e")).exit_code == 0


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda whole: b"", "not a trace, or one of another version"),
        (lambda whole: b"\x00" * 4096, "not a trace, or one of another version"),
        (lambda whole: whole.replace(b"trace 1", b"trace 2"), "not a trace, or one of another version"),
        (lambda whole: b"PK\x03\x04" + whole, "not a trace, or one of another version"),
        (lambda whole: whole[: len(MAGIC)], "the trace is empty"),
        (lambda whole: whole[: len(MAGIC) + LENGTH + 3], "the trace is empty"),
        (lambda whole: MAGIC + b"\xff\xff\xff\xff" + whole, "damaged: a record of 4,294,967,295 bytes"),
        (lambda whole: MAGIC + b"\x01\x00\x00\x00\xc1", "damaged: "),
        (lambda whole: MAGIC + b"\x04\x00\x00\x00" + b"\x91" * 4, "damaged: "),
        (lambda whole: whole.replace(b"aten.add", b"aten.\xff\xfe\xfd"), "damaged: "),
    ],
)
def test_what_is_no_trace(tmp_path: Path, damage: Callable[[bytes], bytes], said: str) -> None:
    file, whole = trace(tmp_path / "a"), trace(tmp_path / "b").parent
    file.write_bytes(damage(file.read_bytes()))
    assert f"{file}: {said}" in refused(file, whole)
    assert f"{file}: {said}" in refused(whole, file.parent)


@pytest.mark.parametrize(
    "row",
    [
        Row(99, -1, -1, -1, -1, -1, -1, 0, [], [], 0),
        Row(0, -1, 99, -1, -1, -1, -1, 0, [], [], 0),
        Row(0, -1, -1, -1, -1, -1, -1, 0, [7, 1, -1], [], 0),
        Row(0, -1, -1, -1, -1, -1, -1, 0, [0, 1], [], 0),
        Row(0, -1, -1, -1, -1, -1, -1, 0, [0, 1, -99], [], 0),
        Row(0, -1, -1, -1, -1, -1, -1, 0, [], [-5, 1], 0),
        Row(0, -1, -1, -1, -1, -1, -1, 0, [], [0], 0),
    ],
)
def test_numbers_that_name_nothing(tmp_path: Path, row: Row) -> None:
    writer = Writer(tmp_path / "a", "rank0", Header(level="kernel", digest="xxh3", rank=0))
    writer.kind("float32", (2,), "cpu", "")
    writer.write(row)
    writer.close()
    assert "damaged: a row names what isn't there" in refused(tmp_path / "a", trace(tmp_path / "b").parent)


def test_numbers_out_of_all_proportion(tmp_path: Path) -> None:
    for name, digest in (("a", 1), ("b", 2)):
        writer = Writer(tmp_path / name, "rank0", Header(level="kernel", digest="xxh3", rank=2**63))
        kind, op = writer.kind("float32", (2**63,), "cpu", ""), writer.text("aten.add")
        site = writer.site((("train.py", 2**62, "main"), ("/dev/zero", -1, "\x00"), ("x\x00.py", 1, "f")))
        writer.write(Row(op, op, site, op, op, op, 2**63, 0, [kind, digest, 2**63], [kind, digest], 0))
        writer.close()
    for form in ("text", "json", "sarif", "html"):
        result = detlint("diff", tmp_path / "a", tmp_path / "b", "--output-format", form)
        assert result.exit_code == 1
        assert "\x00" not in result.stdout


@UNIX
def test_what_never_ends(tmp_path: Path) -> None:
    """Pipes that nobody writes to, and devices."""
    whole = trace(tmp_path / "b").parent
    (tmp_path / "a").mkdir()
    os.mkfifo(tmp_path / "a" / "rank0.trace")
    assert "it is no regular file" in refused(tmp_path / "a", whole)
    assert "neither a file nor a folder" in refused(tmp_path / "a" / "rank0.trace", whole)
    (tmp_path / "a" / "rank0.trace").unlink()
    (tmp_path / "a" / "rank0.trace").symlink_to("/dev/zero")
    assert "it is no regular file" in refused(tmp_path / "a", whole)
    assert "neither a file nor a folder" in refused(Path("/dev/zero"), whole)
    (tmp_path / "c").mkdir()
    os.mkfifo(tmp_path / "c" / "dump.json")
    assert "it is no regular file" in refused(tmp_path / "c", dump(tmp_path / "d"))
    dump(tmp_path / "e")
    (tmp_path / "e" / "stack.json").unlink()
    os.mkfifo(tmp_path / "e" / "stack.json")
    assert "it is no regular file" in refused(tmp_path / "e", dump(tmp_path / "d"))


@UNIX
def test_a_dump_that_is_huge_and_none(tmp_path: Path) -> None:
    """It isn't read to its end."""
    folder = dump(tmp_path / "a")
    os.truncate(folder / "dump.json", 0)
    os.truncate(folder / "dump.json", 1 << 43)
    assert "not a dump of msprobe" in refused(folder, dump(tmp_path / "b"))


@pytest.mark.parametrize(
    "what",
    [
        "", "[]", "3", '{"data": ', '{"data": []}', "{}", '{"data": {"x": {"input": [{"shape": 1, "dtype": 2}]}}',
        '{"data": ' + '{"x":' * 100_000 + "1" + "}" * 100_000 + "}",
        '{"data": {"x": {"output": ' + "[" * 950 + "]" * 950 + "}}}",
        '{"data": {"\\ud800": {"output": []}}}',
    ],
)  # fmt: skip
def test_what_is_no_dump(tmp_path: Path, what: str) -> None:
    file = dump(tmp_path / "a", what) / "dump.json"
    assert str(file) in refused(file.parent, dump(tmp_path / "b"))


def test_values_that_msprobe_does_not_write(tmp_path: Path) -> None:
    """Whatever stands where in a dump: an answer, or what is wrong with which file."""
    odd: list[Any] = [
        None,
        True,
        -1,
        2**70,
        1e400,
        "",
        "x\n\x1b[2J",
        [],
        [[]],
        {},
        {"shape": [[]], "dtype": []},
        ["a", 1, 2.5],
    ]
    whole = dump(tmp_path / "whole")
    for number, value in enumerate(odd):
        for place in ("data", "name", "input_args", "output", "shape", "dtype", "md5", "stack", "framework"):
            text, stack = json.dumps(DUMP), json.dumps(STACK)
            new = json.dumps(value)
            if place == "stack":
                stack = json.dumps({"0": value, "1": [value, value], "2": [[value], [value]]})
            elif place == "data":
                text = json.dumps({**DUMP, "data": {"Functional.x.0.forward": value}})
            elif place == "name":
                text = text.replace("Functional.conv2d.0.forward", new.strip('"'))
            else:
                record = json.loads(text)
                target = record if place == "framework" else record["data"]["Functional.conv2d.0.forward"]
                if place in ("shape", "dtype", "md5"):
                    target = target["output"][0]
                target[place] = value
                text = json.dumps(record)
            folder = dump(tmp_path / f"{number}{place}", text, stack)
            result = detlint(
                "diff", folder, whole if place == "name" else folder
            )  # what is the same is compared faster
            assert result.exit_code in (0, 1, 2)
            assert "\x1b" not in result.output


@pytest.mark.parametrize("seed", range(4))
def test_any_bytes(tmp_path: Path, seed: int) -> None:
    """Flipped, cut, doubled and put in: never a fault of detlint's."""
    draw = random.Random(seed)
    file, whole = trace(tmp_path / "a"), trace(tmp_path / "b").parent
    before, json_before = file.read_bytes(), json.dumps(DUMP).encode()
    for _ in range(12):
        file.write_bytes(damaged(before, draw))
        assert detlint("diff", file, whole).exit_code in (0, 1, 2)
        folder = dump(tmp_path / "c")
        (folder / "dump.json").write_bytes(damaged(json_before, draw))
        assert detlint("diff", folder, folder).exit_code in (0, 2)


def damaged(text: bytes, draw: random.Random) -> bytes:
    found = bytearray(text)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(MAGIC), len(found))
        match draw.randrange(4):
            case 0:
                found[at] ^= 1 << draw.randrange(8)
            case 1:
                del found[at:]
                found += b"}}"
            case 2:
                found[at:at] = found[at : at + draw.randint(1, 40)]
            case 3:
                found[at:at] = draw.randbytes(draw.randint(1, 8))
    return bytes(found)

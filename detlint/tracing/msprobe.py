"""Reads the dumps of msprobe (MindStudio's probe) as traces: `dump.json`, and `stack.json` and `construct.json` beside it.

The layouts are those of msprobe 1.x to 26.2, taken from the package `mindstudio-probe`: names such as
`Functional.conv2d.0.forward` and `Module.layer1.Conv2d.forward.0`; stacks by name, or shared by the names that have them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from xxhash import xxh3_64_intdigest

from detlint.tracing.reader import Unreadable, regular
from detlint.tracing.records import NOTHING, UNREAD, End, Header, Row, Step, Values
from detlint.tracing.writer import Writer

DUMP: Final = "dump.json"
_OWNERS: Final = {
    "torch": {
        "Functional": "torch.nn.functional", "Tensor": "torch.Tensor", "Torch": "torch", "VF": "torch", "NPU": "torch_npu",
        "Distributed": "torch.distributed", "Aten": "torch.ops.aten",
    },
    "mindspore": {
        "Functional": "mindspore.ops", "Tensor": "mindspore.Tensor", "Mint": "mindspore.mint",
        "MintFunctional": "mindspore.mint.nn.functional", "MintDistributed": "mindspore.mint.distributed",
        "Distributed": "mindspore.communication.comm_func", "Primitive": "mindspore.ops", "Jit": "mindspore.jit",
    },
}  # fmt: skip
"""What the first word of a name stands for."""
_FRAME: Final = re.compile(r'File "?(?P<file>.+?)"?, line (?P<line>\d+), in (?P<function>.*?)(?:,| ?\n|$)')
_FIRST: Final = 1 << 16
_STATISTICS: Final = ("Max", "Min", "Mean", "Norm")
_STEP: Final = re.compile(r"step(\d+)")
_RANK: Final = re.compile(r"rank(\d+)")


def dumps(folder: Path) -> list[Path]:
    """The dumps in a folder: in itself, or below, by step and rank."""
    return sorted(folder.rglob(DUMP)) if folder.is_dir() else []


def converted(folder: Path, into: Path) -> Path:
    """Write the dumps of a run as traces; where.

    Raises:
        Unreadable: a dump isn't what msprobe writes.
    """
    by_rank: dict[int, list[tuple[int, Path]]] = {}
    for path in dumps(folder):
        by_rank.setdefault(_number(_RANK, path), []).append((_number(_STEP, path), path))
    for rank, steps in sorted(by_rank.items()):
        try:
            _Rank(rank, into).convert(sorted(steps))
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            named = ", ".join(str(path) for _, path in sorted(steps))
            raise Unreadable(f"{named}: damaged, or not as msprobe writes dumps: {error!r}") from None
    return into


class _Rank:
    """One process's dumps, a step each, written as one trace."""

    def __init__(self, rank: int, into: Path) -> None:
        self.rank = rank
        self.into = into
        self.row = 0
        self.written: dict[int, int] = {}
        """The digest of an output -> the row that gave it last: what has it as an input got it from there."""

    def convert(self, steps: list[tuple[int, Path]]) -> None:
        writer = None
        for step, path in steps:
            dump = _read(path)
            data, framework = dump.get("data"), str(dump.get("framework", "pytorch"))
            if not isinstance(data, dict):
                raise Unreadable(f"{path}: not a dump of msprobe: it has no `data`")
            self.owners = _OWNERS["mindspore" if "mindspore" in framework.lower() else "torch"]
            if writer is None:
                writer = Writer(self.into, f"rank{self.rank}", self._header(dump, data, framework))
            if step:
                writer.write(Step(step))
            stacks, modules = _stacks(path), _beside(path, "construct.json")
            for name, record in data.items():
                if isinstance(record, dict):
                    self._convert(writer, name, record, stacks, modules)
        if writer is not None:
            writer.write(End("", []))
            writer.close()

    def _header(self, dump: dict[str, Any], data: dict[str, Any], framework: str) -> Header:
        exact = any("md5" in value for record in data.values() for value in _tensors(record))
        return Header(
            level=str(dump.get("level") or "mix"),
            digest="msprobe md5" if exact else "msprobe statistics",
            framework=framework,
            rank=self.rank,
        )

    def _convert(
        self, writer: Writer, name: str, record: dict[str, Any], stacks: dict[str, list[str]], modules: dict[str, Any]
    ) -> None:
        plain, backward = _plain(name)
        first, _, rest = plain.partition(".")
        forward = (
            f"{name.removesuffix('.backward')}.forward"
            if name.endswith(".backward")
            else name.replace(".backward.", ".forward.")
        )
        frames = stacks.get(name) or stacks.get(forward) or []
        module, api = "", f"{self.owners.get(first, first)}.{rest}"
        if first in ("Module", "Cell"):
            module, api = rest.rpartition(".")[0], rest.rpartition(".")[2]
        elif isinstance(modules.get(name), str):
            module = _plain(modules[name])[0].partition(".")[2].rpartition(".")[0]
        inputs: list[int] = []
        for value in _values(record, "input_args", "input_kwargs", "input"):
            digest = _digest(value)
            inputs += [_kind(writer, value), digest, self.written.get(digest, NOTHING)]
        outputs: list[int] = []
        for value in _values(record, "output"):
            digest = _digest(value)
            outputs += [_kind(writer, value), digest]
            self.written[digest] = self.row
        given = [*_values(record, "input_args", "input_kwargs", "input")]
        writer.write(Values(self.row, [*map(_measured, given)], [*map(_measured, _values(record, "output"))]))
        node = writer.text("backward") if backward else NOTHING
        site = writer.site(tuple(_frames(frames)))
        writer.write(
            Row(writer.text(plain), writer.text(api), site, writer.text(module), _arguments(writer, record), node, NOTHING,
                UNREAD, inputs, outputs, 0)
        )  # fmt: skip
        self.row += 1


def _plain(name: str) -> tuple[str, bool]:
    """A name without its count and direction, and whether it is of the backward pass."""
    parts = [part for part in name.split(".") if part not in ("forward", "backward") and not part.isdecimal()]
    return ".".join(parts), "backward" in name.split(".")


def _tensors(value: Any) -> Iterator[dict[str, Any]]:
    """The tensors in part of a record."""
    if isinstance(value, dict):
        if "shape" in value and "dtype" in value:
            yield value
        else:
            for inner in value.values():
                yield from _tensors(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _tensors(inner)


def _values(record: dict[str, Any], *keys: str) -> Iterator[dict[str, Any]]:
    for key in keys:
        yield from _tensors(record.get(key))


def _digest(value: dict[str, Any]) -> int:
    """What tells a tensor's content: the checksum, or the statistics where there is none."""
    said = value.get("md5")
    if said is None:
        said = [value.get(name) for name in _STATISTICS]
        if said == [None] * len(_STATISTICS):
            return UNREAD
    return xxh3_64_intdigest(repr(said).encode())


def _measured(value: dict[str, Any]) -> list[float]:
    """The statistics of a tensor; nothing where one is missing."""
    said = [value[name] for name in _STATISTICS if isinstance(value.get(name), bool | int | float)]
    return [float(one) for one in said] if len(said) == len(_STATISTICS) else []


def _kind(writer: Writer, value: dict[str, Any]) -> int:
    shape = value["shape"]
    sizes = tuple(size for size in shape if isinstance(size, int)) if isinstance(shape, list) else ()
    return writer.kind(str(value["dtype"]).removeprefix("torch."), sizes, "", "")


def _arguments(writer: Writer, record: dict[str, Any]) -> int:
    given = [*_plain_values(record.get("input_args")), *_plain_values(record.get("input_kwargs"))]
    return writer.text(", ".join(given)) if given else NOTHING


def _plain_values(value: Any) -> Iterator[str]:
    """The arguments that aren't tensors."""
    if isinstance(value, list):
        for inner in value:
            yield from _plain_values(inner)
    elif isinstance(value, dict) and "value" in value:
        yield str(value["value"])
    elif isinstance(value, dict) and "shape" not in value:
        for inner in value.values():
            yield from _plain_values(inner)


def _stacks(path: Path) -> dict[str, list[str]]:
    """The frames of each name, as lines."""
    found: dict[str, list[str]] = {}
    for name, stack in _beside(path, "stack.json").items():
        shared = isinstance(stack, list) and len(stack) == 2 and all(isinstance(part, list) for part in stack)
        for each, frames in [(n, stack[1]) for n in stack[0]] if shared else [(name, stack)]:
            found[str(each)] = [str(frame) for frame in frames] if isinstance(frames, list) else [str(frames)]
    return found


def _frames(lines: list[str]) -> Iterator[tuple[str, int, str]]:
    for line in lines:
        if (found := _FRAME.match(line)) and "/torch/" not in found["file"] and "/mindspore/" not in found["file"]:
            yield found["file"], int(found["line"]), found["function"]


def _beside(path: Path, name: str) -> dict[str, Any]:
    file = path.with_name(name)
    return _read(file) if os.path.lexists(file) else {}


def _read(path: Path) -> dict[str, Any]:
    try:
        with regular(path) as file:
            text = file.read(_FIRST)
            if not text.lstrip().startswith(b"{"):  # what is no JSON may be of any size
                raise Unreadable(f"{path}: not a dump of msprobe")
            found = msgspec.json.decode(text + file.read())
    except OSError as error:
        raise Unreadable(f"{path}: can't be read: {error.strerror}") from None
    except RecursionError:
        raise Unreadable(f"{path}: not a dump of msprobe: it is nested too deeply") from None
    except ValueError as error:
        raise Unreadable(f"{path}: no JSON: {error}; did the run that wrote it end?") from None
    if not isinstance(found, dict):
        raise Unreadable(f"{path}: not a dump of msprobe")
    return found


def _number(pattern: re.Pattern[str], path: Path) -> int:
    return next((int(found[1]) for part in reversed(path.parts) if (found := pattern.fullmatch(part))), 0)

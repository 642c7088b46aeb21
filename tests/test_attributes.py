"""What sets attributes in a file, by what it means: whatever way, layout or comment it is written with."""

from __future__ import annotations

import ast

import pytest

from detlint.ir.code import Code
from detlint.ir.lower import lower
from detlint.ir.writes import ANY, Writes

SETS = """\
import builtins
import importlib
import sys
from unittest import mock
from unittest.mock import patch

import core


class Net:
    drop = 0.1  # self.comment = 3

    def keeps(self, name, value):
        self.kept: float = value
        for self.counted in value:
            del self.deleted
        setattr(self, name, value)

    @classmethod
    def of_class(cls, value):
        cls.shared = value

    @staticmethod
    def of_any(other):
        other.given = True

    def closed(self):
        def inner():
            self.inside, self.model.part = 1, 2
        return inner


def change(net, name, value):
    "net.text = 3"
    if net.compared == value or net.asked(value=3):
        net.told, net.parts[0].deep = value, value
    setattr(net, name, value)
    setattr(net, "by_name", value)
    object.__setattr__(net, "frozen", value)
    net.__dict__.update(updated=value, **{"x": 1} if value else {})
    vars(net)["item"] = value
    table = net.__dict__
    table["by_table"] = value
    print(table["read"], net.__dict__["asked"])
    net.add_module("layer", value)
    core.scale = value
    setattr(core.inner, name, value)
    builtins.trace = print
    importlib.import_module(name).loaded = value
    sys.modules[name].found = value
    Net.forward = value
    type(net).construct = value
    with patch("core.patched"), mock.patch.object(core, "replaced"):
        pass


def test_change(monkeypatch, mocker):
    monkeypatch.setattr("core.by_text", 3)
    monkeypatch.setattr(core, "by_object", 3)
    mocker.patch("core.mocked")
"""
OWN = {"kept", "counted", "deleted", ANY, "inside"}
MODULES = {
    "scale", ANY, "trace", "loaded", "found", "patched", "replaced", "by_text", "by_object", "mocked",
}  # fmt: skip
OTHERS = {
    "shared", "given", "part", "told", "deep", ANY, "by_name", "frozen", "updated", "item", "by_table", "layer", "forward", "construct",
}  # fmt: skip


def test_what_sets_attributes() -> None:
    writes = Writes(Code(lower(ast.parse(SETS))))
    found = [*writes.all()]
    assert {write.name for write in found if writes.is_own(write)} == OWN
    assert {write.name for write in found if writes.is_of_module(write)} == MODULES
    assert {w.name for w in found if not (writes.is_own(w) or writes.is_of_module(w))} == OTHERS
    assert {write.name for write in found if writes.is_of_class(write)} == {"forward", "construct"}


@pytest.mark.parametrize(
    ("source", "once"),
    [
        ("class A:\n def f(self, x):\n  self.x = x", True),
        ("class A:\n def f(self, x):\n  self.x = x\n  self.x = 3", False),
        ("class A:\n def f(self, x):\n  self.x = x\n  self.x += 3", False),
        ("class A:\n def f(self, x):\n  self.x = x\nclass B:\n def f(self, x):\n  self.x = x", True),
        ("class A:\n def f(self, x):\n  self.x = x\ndef g(a):\n a.x = 3", False),
        ("class A:\n def f(self, x):\n  self.x = x\ndef g(a):\n setattr(a, 'y', 3)", True),
        ("class A:\n def f(self, x):\n  self.x = x\ndef g(a, n):\n setattr(a, n, 3)", False),
        ("class A:\n def f(self, x):\n  self.x = x\ndef g(n):\n globals()[n] = 3", True),
        ("class A:\n def f(me, x):\n  me.x = x # self.x = 3", True),
    ],
)
def test_what_is_set_once(source: str, once: bool) -> None:
    assert Writes(Code(lower(ast.parse(source)))).is_set_once("A", "x") is once

"""What YAML files say, whatever their layout."""

from __future__ import annotations

from detlint.ir.yaml_nodes import documents_of, scalars, shares

SAME = """\
# how it is trained
model: &m
  name: "a"
  sizes: [1, 2]
other: *m
"""


def test_scalars_and_parts_under_an_alias() -> None:
    documents = documents_of(SAME.encode())
    assert documents is not None and shares(documents) and scalars(documents) == ["a", "1", "2"]
    alone = documents_of(b"a: [b, {c: d}]\ne: b\n")
    assert alone is not None and not shares(alone) and scalars(alone) == ["b", "d", "b"]
    assert documents_of(b"a: [") is None and documents_of(b"\xc3\x28") is None

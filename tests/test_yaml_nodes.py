"""What YAML files say, whatever their layout."""

from __future__ import annotations

import pytest

from detlint.ir.yaml_nodes import canonical, documents_of, scalars, shares

SAME = """\
# how it is trained
model: &m
  name: "a"
  sizes: [1, 2]
other: *m
"""


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("model: &n {name: a, sizes: [1,\n  2]}\nother: *n  # the same\n", True),
        ("model: {name: a, sizes: [1, 2]}\nother: {name: a, sizes: [1, 2]}\n", False),
        ("model: &m {name: a, sizes: [1, 2]}\nother: *m\n---\nmore: 1\n", False),
        ("model: &m {name: a, sizes: ['1', 2]}\nother: *m\n", False),
        ("model: &m {sizes: [1, 2], name: a}\nother: *m\n", False),
        ("model: &m !new {name: a, sizes: [1, 2]}\nother: *m\n", False),
    ],
)
def test_what_files_say(text: str, same: bool) -> None:
    one, other = documents_of(SAME.encode()), documents_of(text.encode())
    assert one is not None and other is not None
    assert (canonical(one) == canonical(other)) is same


def test_scalars_and_parts_under_an_alias() -> None:
    documents = documents_of(SAME.encode())
    assert documents is not None and shares(documents) and scalars(documents) == ["a", "1", "2"]
    alone = documents_of(b"a: [b, {c: d}]\ne: b\n")
    assert alone is not None and not shares(alone) and scalars(alone) == ["b", "d", "b"]
    assert documents_of(b"a: [") is None and documents_of(b"\xc3\x28") is None

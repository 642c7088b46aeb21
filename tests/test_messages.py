"""What messages name: what was called, and the hardware that was asked for."""

from __future__ import annotations

import json
import re

import click
import pytest
from conftest import REPOSITORY, detlint

from detlint.cli import main

NAMELESS = re.compile(r"`(?:the|a|an|this|that|some|it)(?: [^`]*)?`|``|[{}]|\bNone\b(?!`)(?<!=None)")
"""What stands for a name that is missing: `the call`, an empty name, a field that nothing was put in, a value that isn't there."""
OTHERS = {
    "ascend": re.compile("cuda|cudnn|gpu|mps", re.I),
    "cuda": re.compile("ascend|npu|hccl", re.I),
    "cpu": re.compile("cuda|ascend|npu", re.I),
}
"""The hardware that is asked for -> other hardware."""
FIXTURES = REPOSITORY / "fixtures"


def messages(*arguments: object) -> list[str]:
    """What is told of the fixtures, with each step and with what repairs it."""
    asked = ("--no-cache", "--isolated", "--show-notes", "--output-format", "json")
    result = detlint("check", *asked, *map(str, arguments))
    assert result.exit_code in (0, 1), result.stderr
    found = json.loads(result.stdout)
    return [f"{each['code']} {each['message']}" for each in found]


def test_every_message_names_what_it_is_about() -> None:
    found = messages("--profile", "align", FIXTURES / "rules")
    assert len(found) > 1000
    assert [message for message in found if NAMELESS.search(message)] == []


@pytest.mark.parametrize("target", OTHERS)
def test_messages_name_no_other_hardware_than_what_was_asked_for(target: str) -> None:
    found = messages("--profile", "align", "--target", target, FIXTURES / "showcase")
    assert found
    told = (re.sub("`[^`]*`", "", message) for message in found)
    assert [message for message in told if OTHERS[target].search(message)] == []


@pytest.mark.parametrize("name", ["", *sorted(main.list_commands(click.Context(main)))])
def test_help_cuts_no_sentence(name: str) -> None:
    shown = detlint(*filter(None, [name]), "--help").stdout
    ends = [line.rstrip() for line in shown.splitlines() if not line.lstrip().startswith("Usage:")]
    assert [line for line in ends if line.endswith(("...", "…")) and not line.endswith("]...")] == []

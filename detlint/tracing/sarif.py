"""The first difference of two runs as SARIF 2.1.0: it shows as a finding of the rule that speaks of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from detlint.report import sarif
from detlint.tracing.story import Line, Story, Verdict


def log(told: Verdict | None) -> str:
    """A log with one result, or none."""
    story = told.story if told is not None else None
    return sarif.log([_rule(story)], [_result(story)]) if story is not None else sarif.log([], [])


def _rule(story: Story) -> dict[str, Any]:
    described = story.why or story.title
    return {
        "id": _id(story),
        "name": story.name or story.cause,
        "shortDescription": {"text": story.title},
        "fullDescription": {"text": described},
        "help": {"text": story.help or described},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["determinism", "reproducibility", "trace"]},
    }


def _result(story: Story) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": _id(story),
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": "\n".join(filter(None, (f"{story.headline}: {story.said}.", story.help)))},
        "properties": {"cause": story.cause, "operator": story.operator, "step": story.step, "rank": story.rank},
    }
    if story.stack:
        result["locations"] = [_location(story.stack[0])]
        way = [{"location": {**_location(line), "message": {"text": line.function}}} for line in reversed(story.stack)]
        result["codeFlows"] = [{"threadFlows": [{"locations": way}]}]
    return result


def _id(story: Story) -> str:
    return story.code or f"trace-{story.cause}"


def _location(line: Line) -> dict[str, Any]:
    path = Path(line.file)
    try:
        artifact = {"uri": path.relative_to(Path.cwd()).as_posix(), "uriBaseId": "%SRCROOT%"}
    except ValueError:
        artifact = {"uri": path.as_uri() if path.is_absolute() else path.as_posix()}
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": max(line.line, 1)}}}

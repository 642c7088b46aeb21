"""Fixes in words, for messages and for the pages of rules."""

from __future__ import annotations

import re

from detlint.catalog import Recipe


def fix_text(fix: Recipe, where: str = "at the start of the run") -> str:
    """A fix in words.

    Args:
        where: what it adds to a run.
    """
    match fix.kind:
        case "set-argument" | "add-argument":
            return f"pass `{fix.argument}={_written(fix)}`"
        case "remove-argument":
            return f"remove the argument `{fix.argument}`"
        case "rename":
            return f"call `{fix.text}` instead"
        case "replace-value":
            return f"write `{_written(fix)}`"
        case "replace-text":
            return f"write `{fix.text}` instead of `{fix.argument}`"
        case "replace-target":
            return f"set `{fix.text.strip('<>')}` instead" if fix.text else "set the member that was meant"
        case "wrap":
            return f"write `{_template(fix.text.replace('{}', '...'))}`"
        case "replace":
            return f"write `{_template(fix.text)}`"
        case "replace-item":
            if fix.text:
                return f"write `{_template(fix.text)}`"
            return "leave it out of its list" + (
                f", elsewhere pass `{fix.argument}={_written(fix)}`" * bool(fix.argument)
            )
        case "remove-statement":
            return "remove the line"
        case "insert-before":
            return f"write `{_template(fix.text)}` before it"
        case "set-default":
            return f"give it the default `{_written(fix)}`"
        case "set-seed":
            return f"write `{_written(fix)}`"
        case "draw-on-cpu":
            return "draw on the CPU, then move the numbers"
        case "on-cpu":
            return "compute it on the CPU, and move the result back"
        case "start-run":
            calls = " and ".join(f"`{_called(call)}`" for call in fix.text.replace("{seed}", "n").splitlines())
            return f"call {calls} {where}"
    return f"`{fix.kind}`"


def _called(statement: str) -> str:
    """A statement of a recipe as people would write it: `detlint.runtime:seed_all(n)` is `seed_all(n)`."""
    name, bracket, rest = statement.partition("(")
    return name.rpartition(":")[2] + bracket + rest


def _written(fix: Recipe) -> str:
    """The value that a fix writes, as Python; `n` is the seed."""
    if fix.text:
        return _template(fix.text)
    return "n" if fix.value == "{seed}" else f'"{fix.value}"' if isinstance(fix.value, str) else repr(fix.value)


def _template(text: str) -> str:
    """A template as people would write it: `<torchvision.transforms.CenterCrop>({size})` is `CenterCrop(size)`."""
    text = re.sub(r"\{(?:, |!)\w+=?\}", "", text.replace("{seed}", "n"))
    return re.sub(r"\{(\w+)=?\}", r"\1", re.sub(r"<(?:(?!os\.)\w*\.)*([\w.]+)>", r"\1", text))

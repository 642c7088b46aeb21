"""A rule's page, for the terminal and for the documentation: what the catalog says of it, and an example."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from detlint.catalog import Catalog, Entry, Rule
from detlint.checks.keys import CODE as KEYS
from detlint.fixes.wording import fix_text
from detlint.report.apis import condition_text, tables
from detlint.report.document import Block, escaped, markdown

FAMILIES: Final = ("housekeeping", "seeds", "layers", "data", "operators", "devices", "switches")

ISSUE: Final = re.compile(r"\b([\w.\\-]+/[\w.\\-]+)#(\d+)\b")
"""An issue on GitHub, as the catalog's sources name it, escaped for Markdown."""


class UnknownRule(Exception):
    """No rule has this code or name. The text says which ones come near."""


def find(catalog: Catalog, wanted: str) -> Rule:
    """The rule with a code or a name, in any case.

    Raises:
        UnknownRule: there is none.
    """
    known = {key.upper(): rule for rule in every(catalog) for key in (rule.code, rule.name)}
    if wanted.upper() in known:
        return known[wanted.upper()]
    near = [key for key in known if wanted and key.startswith(wanted.upper())]
    near = near or difflib.get_close_matches(wanted.upper(), known, 5)
    rules = list(dict.fromkeys(f"{known[key].code} ({known[key].name})" for key in near))
    hint = f"near it: {', '.join(rules)}" if rules else "`detlint rule --all` prints them all"
    raise UnknownRule(f"unknown rule `{wanted}`; {hint}")


def every(catalog: Catalog) -> list[Rule]:
    """All rules, by code."""
    return sorted(catalog.rules.values(), key=lambda rule: rule.code)


def page(catalog: Catalog, rule: Rule) -> Iterator[Block]:
    """Everything that is known of a rule."""
    yield f"# {rule.code} {rule.name}"
    yield from _told(rule)
    yield from _apis(catalog, rule)
    yield from _switched_off(rule)
    if named := sources(catalog, rule):
        yield "## Sources"
        linked = (ISSUE.sub(r"[\g<0>](https://github.com/\1/issues/\2)", escaped(source)) for source in named)
        yield "\n".join(f"- {source}" for source in linked)


def guidance(rule: Rule) -> Iterator[str]:
    """What a rule's page says without its tables: why it matters, an example, what to do."""
    yield from _told(rule)
    yield from _switched_off(rule)


def _told(rule: Rule) -> Iterator[str]:
    yield rule.summary
    yield _level(rule)
    yield "## Why it matters"
    yield rule.why
    before, after = (example(rule.code, kind) for kind in ("bad", "good"))
    if before and after:
        yield "## Example"
        yield "Before:"
        yield f"```python\n{before}\n```"
        yield "After:"
        yield f"```python\n{after}\n```"
    if rule.remedy:
        yield "## What to do"
        yield rule.remedy


def _switched_off(rule: Rule) -> Iterator[str]:
    yield "## How to switch it off"
    yield _suppression(rule)


def _level(rule: Rule) -> str:
    align = ", an error with `--profile align`"
    if rule.level == "design":
        level = "by design; a note, or a warning where a run comes to it unseeded" + align
    elif rule.level == "align":
        level = "a note" + align
    elif rule.level == "compare":
        level = "a note, a warning with `--profile align`"
    else:
        level = rule.level + (align if rule.level == "warning" and rule.family >= 4 else "")
    return f"Level: {level}. Family {rule.family}: {family(rule) or 'of your own'}."


def family(rule: Rule) -> str:
    """What the rule's family is called; empty for a user's own."""
    return FAMILIES[rule.family] if rule.family < len(FAMILIES) else ""


def _suppression(rule: Rule) -> str:
    return (
        f"For one line: `# detlint: ignore[{rule.code}] reason` or `# noqa: {rule.code}`. For a file: "
        f"`# detlint: ignore-file[{rule.code}] reason`. For some files: `per-file-ignores`. Everywhere: "
        f'`ignore = ["{rule.code}"]` in the configuration, or `--ignore {rule.code}`.'
    )


# -- the example ------------------------------------------------------------------------------------------------------


def example(code: str, kind: str) -> str:
    """A rule's example, `bad` or `good`, with a comment at each line that is found; empty if there is none."""
    try:
        source = (_examples() / code / f"{kind}_example.py").read_text("utf-8")
    except OSError:
        return ""
    source = re.sub(r"^# select: .*\n", "", source)
    return re.sub(r"# expect: (DET\d{3}).*", r"# <- \1", source).strip()


def _examples() -> Path:
    """Inside the package when installed, among the fixtures of the repository when editable."""
    here = Path(__file__).parent.parent
    installed = here / "examples"
    return installed if installed.is_dir() else here.parent / "fixtures" / "rules"


def _apis(catalog: Catalog, rule: Rule) -> Iterator[Block]:
    own = [entry for entry in catalog.entries if entry.rule == rule.code]
    if own:
        yield "## APIs"
        yield from _notes(own)
        yield from tables(own)
    if rule.streams:
        streams = set(rule.streams)
        drawing = [entry for entry in catalog.entries if streams & set(entry.draws)]
        others = sorted({entry.rule for entry in drawing} - {"", rule.code})
        if drawing:
            yield "## What draws"
        if others:
            yield f"All that {', '.join(f'[{code}]({code}.md)' for code in others)} name, and:"
        yield from tables([entry for entry in drawing if not entry.rule])
        yield "## What seeds"
        yield from tables([entry for entry in catalog.entries if streams & set(entry.seeds)])
    if rule.code == KEYS:
        yield "## What uses up a key"
        yield from tables([entry for entry in catalog.entries if entry.consumes])
    if rule.switch:
        yield "## What sets the switch"
        yield from tables([entry for entry in catalog.entries if rule.switch in entry.sets], rule.switch)


def _notes(entries: list[Entry]) -> Iterator[str]:
    """What the tables speak of without saying it."""
    if any(entry.runtime is not None for entry in entries):
        yield "*Runtime* is what `detlint.runtime.enforce` does while a program runs. It acts on PyTorch, NumPy and Python so far."


def sources(catalog: Catalog, rule: Rule) -> list[str]:
    """The pages and files that a rule and its entries come from, each once."""
    named = [rule.source, *(entry.source for entry in catalog.entries if entry.rule == rule.code)]
    return list(dict.fromkeys(part.strip() for source in named for part in source.split(";") if part.strip()))


# -- as data ----------------------------------------------------------------------------------------------------------


def data(catalog: Catalog, rule: Rule) -> dict[str, Any]:
    """A rule's page as plain data; `explanation` is the page itself."""
    entries = [entry for entry in catalog.entries if entry.rule == rule.code]
    return {
        "code": rule.code,
        "name": rule.name,
        "family": family(rule),
        "level": rule.level,
        "summary": rule.summary,
        "message": rule.message,
        "why": rule.why,
        "remedy": rule.remedy,
        "explanation": markdown(page(catalog, rule)),
        "streams": [*rule.streams],
        "switch": rule.switch,
        "source": rule.source,
        "sources": sources(catalog, rule),
        "apis": [_api(entry) for entry in entries],
    }


def _api(entry: Entry) -> dict[str, Any]:
    return {
        "names": [*entry.names],
        "kind": entry.kind,
        "registry": [*entry.registry],
        "sections": [*entry.sections],
        "copies": [*entry.copies],
        "while_training": entry.while_training,
        "outermost": entry.outermost,
        "becomes": [*entry.becomes],
        "when": {name: condition_text(condition) for name, condition in entry.when.items()},
        "targets": [*entry.targets],
        "pass": entry.pass_,
        "versions": entry.versions,
        "level": entry.level,
        "message": entry.message,
        "remedy": entry.remedy,
        "fix": None if entry.fix is None else {"text": fix_text(entry.fix), "applicability": entry.fix.applicability},
        "runtime": entry.runtime.do if entry.runtime is not None else "",
        "note": entry.note,
        "source": entry.source,
    }

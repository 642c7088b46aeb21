"""`detlint init`: settings for a repository that has none, and the file that they go into."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from detlint import toml
from detlint.checks.finding import Report
from detlint.config import Config, ConfigError
from detlint.files import MOST_OF_METADATA, read
from detlint.fixes import write as fixes
from detlint.survey import Survey

MOST_TOLD: Final = 5


class Beginning(NamedTuple):
    """A file with its new content; `before` is None where there is no such file yet."""

    path: Path
    before: bytes | None
    after: bytes


def beginning(root: Path, found: Survey) -> Beginning:
    """The settings for a repository, in its pyproject.toml, else in a detlint.toml.

    They are a block of text behind what the file has, so that every byte of that stays; a library that rewrites TOML could do
    no better, and would have to be installed by everyone.

    Raises:
        ConfigError: the block can't be put there.
    """
    file = root / "pyproject.toml"
    block = [*settings(found)]
    if not file.is_file():
        return Beginning(root / "detlint.toml", None, ("\n".join(block) + "\n").encode())
    try:
        before = read(file, MOST_OF_METADATA)
        newline = "\r\n" if b"\r\n" in before else "\n"
        head = "" if not before.strip() else newline if before.endswith(b"\n") else newline * 2
        after = before + (head + newline.join(["[tool.detlint]", *block, ""])).encode()
        toml.parse(after)
    except OSError as error:
        raise ConfigError(f"{file}: can't be read: {error.strerror}") from None
    except toml.TomlError as error:
        raise ConfigError(
            f"{file}: [tool.detlint] can't be added behind what it says ({error}); write a detlint.toml"
        ) from None
    return Beginning(file, before, after)


def settings(found: Survey) -> Iterator[str]:
    """The settings, each with why it is what it is."""
    yield "# Written by `detlint init`. `detlint --show-settings` lists all keys."
    yield ""
    yield '# "reproduce": does the same command give the same result twice? "align": can a run be compared with another back end?'
    yield 'profile = "reproduce"'
    yield ""
    if found.targets:
        yield f"# Files that name hardware: {told(found.hardware)}."
        yield f"targets = {json.dumps(found.targets)}"
    else:
        yield "# No file names hardware. Without this key, PyTorch and TensorFlow count as CUDA, MindSpore as Ascend."
        yield '# targets = ["cuda"]'
    if not found.runs:
        yield ""
        yield '# No run starts here: whoever calls this library seeds it. "strict" judges it as if nobody did.'
        yield 'library = "caller"'
    if found.others:
        yield ""
        yield "# What others wrote."
        yield f"extend-exclude = {json.dumps(found.others)}"


def told(counts: Mapping[str, int]) -> str:
    """The most frequent of some things: `torch 12, numpy 7 and 3 more`."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    more = f" and {len(ranked) - MOST_TOLD} more" if len(ranked) > MOST_TOLD else ""
    return ", ".join(f"{name} {count:,}" for name, count in ranked[:MOST_TOLD]) + more


def summary(found: Survey, config: Config) -> Iterator[tuple[str, str]]:
    """What was found: each matter, and what there is of it."""
    kinds = (f"{count:,} {kind}{'s' * (count != 1)}" for kind, count in found.kinds.most_common())
    yield "files", ", ".join(kinds) or "none"
    yield "libraries", told(found.libraries) or "none that the catalog knows"
    versions = (
        f"{name} {version} ({config.found.get(name) or config.says('versions')})"
        for name, version in sorted(config.settings.versions.items())
    )
    yield "versions", ", ".join(versions) or "no file says them: the newest"
    yield "hardware", told(found.hardware) or "none is named"
    runs = found.runs[:MOST_TOLD]
    more = f" and {len(found.runs) - len(runs):,} more" if len(found.runs) > len(runs) else ""
    yield "runs", f"{len(found.runs):,}: {', '.join(runs)}{more}" if runs else "none: a library, whose callers seed"
    if found.runs and found.unreached:
        yield (
            "library",
            f"{found.unreached:,} file{'s' * (found.unreached != 1)} that no run comes to: their callers seed",
        )


def counted(report: Report) -> str:
    """How much was found, by level and rule."""
    levels = Counter(finding.severity for finding in report.findings)
    words = [
        f"{levels[level]:,} {level}{'s' * (levels[level] != 1)}"
        for level in ("error", "warning", "note")
        if levels[level]
    ]
    rules = Counter(finding.code for finding in report.findings if finding.severity != "note")
    return (", ".join(words) or "none") + (f" ({told(rules)})" if rules else "")


def write(new: Beginning) -> None:
    """Put it into its file.

    Raises:
        NotWritten: the file has changed meanwhile, or can't be written.
    """
    fixes.write(new.path, new.before, new.after, new.path.parent)

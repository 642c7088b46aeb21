"""The baseline: findings that were there when a repository took detlint up, silent until the code they stand on changes.

A finding is known by its rule, its file, its function and its statement, never by a line number; how often is counted.
What stood in a file that is gone is looked for in the others, so files may be moved.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from detlint import __version__
from detlint.cache import Cache
from detlint.checks.finding import ORDER, Finding, Report
from detlint.checks.identity import Identities
from detlint.config import BASELINE, Config, ConfigError, selected
from detlint.files import read
from detlint.fixes.write import write
from detlint.report.place import Sources

_VERSION: Final = 1


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Findings of one rule on statements that are alike.

    Attributes:
        code: the statement's first line; only people read it.
        digest: what the statement is known by.
    """

    rule: str
    function: str
    code: str
    digest: str
    count: int


class _File(msgspec.Struct, forbid_unknown_fields=True):
    version: int
    findings: dict[str, list[Entry]]


class Key(NamedTuple):
    """What findings are known by within their file."""

    rule: str
    function: str
    digest: str


@dataclass
class Change:
    """What a new baseline has that the old one hadn't, and the other way round: numbers of findings."""

    total: int
    files: int
    added: int
    dropped: int


@dataclass
class Baseline:
    """The entries, by file.

    Attributes:
        root: the folder that the files' names are relative to.
        content: what the file has now; None where there is none.
    """

    root: Path
    files: dict[str, list[Entry]] = field(default_factory=dict)
    content: bytes | None = None

    def silence(self, report: Report, config: Config, cache: Path | None) -> None:
        """Take what the baseline has out of a report, and count in it how many that are, and how many entries are stale.

        Args:
            cache: where to keep what is found out about files.
        """
        kept, left, gone = self.matched(report, cache)
        report.baselined = len(report.findings) - len(kept)
        report.findings = kept
        checked = [count for name, count in left.items() if self.path(name) in report.paths]
        if len(checked) == len(left):  # else what has moved may be in a file that wasn't checked
            checked.append(gone)
        report.stale = sum(n for count in checked for key, n in count.items() if selected(config.settings, key.rule))

    def matched(
        self, report: Report, cache: Path | None = None
    ) -> tuple[list[Finding], dict[str, Counter[Key]], Counter[Key]]:
        """The findings that the baseline hasn't; and what of it nothing matches: file by file, and of files that are gone."""
        left = {name: _counted(entries) for name, entries in self.files.items()}
        gone = Counter[Key]()
        for name in sorted(left):
            if self.path(name) not in report.paths and not os.path.lexists(self.path(name)):
                gone += left.pop(name)
        database = Cache(cache, f"identities-{__version__}")
        identities = Identities(Sources(report), database)
        kept = _without(report.findings, {self.path(name): count for name, count in left.items()}, identities)
        if gone:
            kept = _without(kept, {finding.path: gone for finding in kept}, identities)
        identities.keep()
        database.close()
        return kept, left, gone

    def entries(self, findings: Iterable[Finding], report: Report) -> dict[str, list[Entry]]:
        """Some findings of a report as entries."""
        identities = Identities(Sources(report))
        counts: dict[str, Counter[Key]] = {}
        codes: dict[str, str] = {}
        for finding in findings:
            identity = identities.of(finding)
            codes.setdefault(identity.digest, identity.text)
            key = Key(finding.code, identity.function, identity.digest)
            counts.setdefault(self._name(finding.path), Counter())[key] += 1
        return {
            name: sorted(
                (Entry(key.rule, key.function, codes[key.digest], key.digest, n) for key, n in count.items()),
                key=lambda entry: (entry.rule, entry.function, entry.code, entry.digest),
            )
            for name, count in sorted(counts.items())
        }

    def text(self) -> str:
        """The file: an entry a line, so that a change of it can be read."""
        blocks = []
        for name, entries in sorted(self.files.items()):
            rows = ",\n".join(f"      {msgspec.json.encode(entry).decode()}" for entry in entries)
            blocks.append(f"    {msgspec.json.encode(name).decode()}: [\n{rows}\n    ]")
        inside = "{\n" + ",\n".join(blocks) + "\n  }" if blocks else "{}"
        return f'{{\n  "version": {_VERSION},\n  "findings": {inside}\n}}\n'

    def differs(self) -> bool:
        """Whether the file has something else."""
        return self.content is None or self.content.replace(b"\r\n", b"\n") != self.text().encode()

    def write(self, file: Path) -> None:
        """Put it into a file, which must have what it had.

        Raises:
            NotWritten: it can't be.
        """
        write(file, self.content, self.text().encode(), self.root)

    def _name(self, path: str) -> str:
        """A file's name from the root, with `/`."""
        try:
            name = os.path.relpath(path, self.root)
        except ValueError:  # on another drive
            name = path
        return name.replace(os.sep, "/").encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")

    def path(self, name: str) -> str:
        """Where a file is, by its name here."""
        return os.path.normpath(os.path.join(self.root, name))


def place(config: Config) -> Path:
    """Where the baseline is, or would be."""
    return config.root.absolute() / (config.settings.baseline or BASELINE)


def load(config: Config, anew: bool = False) -> Baseline | None:
    """The baseline that holds; None where there is none.

    Args:
        anew: it is going to be written anew, so it need not be there, nor be one.

    Raises:
        ConfigError: it was named and isn't there, or it can't be read.
    """
    if not config.settings.baseline:
        return None
    file = place(config)
    try:
        content = read(file)
    except FileNotFoundError:
        if config.settings.baseline != BASELINE and not anew:
            raise ConfigError(f"{file}: no such baseline; `detlint baseline` writes one") from None
        return None
    except OSError as error:
        raise ConfigError(f"{file}: can't be read: {error.strerror}") from None
    return Baseline(config.root.absolute(), _decoded(content, file, anew), content)


def _decoded(content: bytes, file: Path, anew: bool) -> dict[str, list[Entry]]:
    try:
        decoded = msgspec.json.decode(content, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if anew:
            return {}
        raise ConfigError(f"{file}: not a baseline: {error}; `detlint baseline` writes it anew") from None
    if decoded.version != _VERSION:
        raise ConfigError(f"{file}: a baseline of another version of detlint ({decoded.version}, not {_VERSION})")
    return decoded.findings


def renewed(old: Baseline | None, report: Report, config: Config, prune: bool) -> tuple[Baseline, Change]:
    """The baseline as a report would have it, and how it differs from the old one.

    Args:
        report: made without a baseline. Files that it isn't about keep their entries, if they are still there.
        prune: drop what is found no more, and add nothing.
    """
    old = old or Baseline(config.root.absolute())
    if prune:
        new = {id(finding) for finding in old.matched(report)[0]}
        found = [finding for finding in report.findings if id(finding) not in new]
    else:
        found = [f for f in report.findings if config.settings.show_notes or f.severity != "note"]
    made = Baseline(old.root, old.entries(found, report), old.content)
    for name, entries in old.files.items():
        if old.path(name) not in report.paths and os.path.lexists(old.path(name)):
            made.files[name] = entries
    before, after = _all(old), _all(made)
    change = Change(after.total(), len(made.files), (after - before).total(), (before - after).total())
    return made, change


def _counted(entries: Iterable[Entry]) -> Counter[Key]:
    counts = Counter[Key]()
    for entry in entries:
        counts[Key(entry.rule, entry.function, entry.digest)] += entry.count
    return counts


def _all(baseline: Baseline) -> Counter[Key]:
    """All entries, without their files: what has moved is neither new nor gone."""
    return sum((_counted(entries) for entries in baseline.files.values()), Counter[Key]())


def _without(findings: Iterable[Finding], counts: Mapping[str, Counter[Key]], identities: Identities) -> list[Finding]:
    """The findings that some counts, by path, don't cover, in their order. What they cover is taken off them: errors first, since
    notes that nobody lists aren't among the entries, and may stand at the same statement."""
    rules = {path: {key.rule for key in count} for path, count in counts.items()}
    kept = []
    for finding in sorted(findings, key=lambda finding: -ORDER[finding.severity]):
        if finding.code in rules.get(finding.path, ()):
            identity = identities.of(finding)
            key = Key(finding.code, identity.function, identity.digest)
            if counts[finding.path][key] > 0:
                counts[finding.path][key] -= 1
                continue
        kept.append(finding)
    return sorted(kept, key=Finding.sort_key)

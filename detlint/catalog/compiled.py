"""What a catalog is read from at each start: all its files put together, checked, and looked up by name already.

What a run asks for that finds nothing changed is typed. Entries and signatures, two thirds of it all, stay encoded until
somebody asks for them.
"""

# Annotations are no strings here: msgspec would evaluate them one by one at each start.

from collections.abc import Iterable

import msgspec

from detlint.catalog.entries import (
    HARDWARE,
    OPEN_SEED,
    Condition,
    Document,
    Entry,
    Factory,
    Framework,
    KernelLanguage,
    Launcher,
    Rule,
    SettingsFile,
    Signature,
)

Positions = dict[str, list[int]]
"""A name -> the positions of its entries, in file order."""


def _encoded(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.msgpack.encode(value))


class Tables(msgspec.Struct, frozen=True):
    """Where the entries of a name are."""

    calls: Positions = {}
    registry: Positions = {}
    sections: Positions = {}
    copies: Positions = {}
    assignments: Positions = {}
    environment: Positions = {}
    commands: Positions = {}
    settings: Positions = {}
    orders: Positions = {}
    """What items go through."""
    members: Positions = {}
    mentions: Positions = {}
    methods: Positions = {}
    """By the last component, of entries for which that is enough."""
    stand_ins: dict[str, str] = {}
    """Names of functions that items go through, wherever they are defined -> what they stand for."""
    devices: dict[str, str] = {}
    reading: dict[str, str] = {}
    """What says on what hardware the program runs -> the parameter that does."""


class Compiled(msgspec.Struct, frozen=True):
    """A whole catalog, as the cache keeps it."""

    rules: list[Rule] = []
    frameworks: list[Framework] = []
    factories: list[Factory] = []
    settings_files: list[SettingsFile] = []
    launchers: list[Launcher] = []
    kernel_languages: list[KernelLanguage] = []
    aliases: dict[str, str] = {}
    tables: Tables = Tables()
    signatures: msgspec.Raw = _encoded({})
    """By the name of what is called: `Document.signatures`."""
    entries: msgspec.Raw = _encoded([])
    """In file order: `Document.entries`."""


def put_together(documents: list[Document]) -> Compiled:
    """Several files as one. Of two that know the same API, the one that knows more of its parameters is right."""
    signatures: dict[str, msgspec.Raw] = {}
    lengths: dict[str, int] = {}
    parameters = msgspec.msgpack.Decoder(Signature)
    for document in documents:
        for name, encoded in document.signatures.items():
            length = len(parameters.decode(encoded))
            if length >= lengths.get(name, 0):
                signatures[name], lengths[name] = encoded, length
    entries = [entry for document in documents for entry in document.entries]
    entries += _taking_seeds(entries)
    return Compiled(
        [rule for document in documents for rule in document.rules],
        [framework for document in documents for framework in document.frameworks],
        [factory for document in documents for factory in document.factories],
        [kind for document in documents for kind in document.settings_files],
        [launcher for document in documents for launcher in document.launchers],
        [language for document in documents for language in document.kernel_languages],
        {name: target for document in documents for name, target in document.aliases.items()},
        _tables(entries),
        _encoded(signatures),
        _encoded(entries),
    )


def _taking_seeds(entries: list[Entry]) -> list[Entry]:
    """What takes a seed, of what is told where it gets none (DET107): one from the clock is no better (DET110)."""
    found: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        left_out = [name for name, asked in entry.when.items() if asked.given is False]
        written = entry.fix.argument if entry.fix is not None else ""
        seed = written if written in left_out else left_out[0] if len(left_out) == 1 else ""
        if entry.rule != OPEN_SEED or entry.kind != "call" or not seed:
            continue
        for name in entry.names:
            if "." in name:
                given = {seed: Condition(given=True)}
                found[name, seed] = Entry(names=(name,), when=given, seed=seed, versions=entry.versions)
    return [*found.values()]


def _tables(entries: list[Entry]) -> Tables:
    ordering = [entry for entry in entries if entry.kind == "order"]

    def of_kind(kind: str) -> Positions:
        return _positions(entry.names if entry.kind == kind else () for entry in entries)

    return Tables(
        calls=of_kind("call"),
        registry=_positions(entry.registry for entry in entries),
        sections=_positions(entry.sections for entry in entries),
        copies=_positions(() if entry.kind == "order" else entry.copies for entry in entries),
        assignments=of_kind("assignment"),
        environment=of_kind("environment"),
        commands=of_kind("command"),
        settings=of_kind("setting"),
        orders=of_kind("order"),
        members=of_kind("unknown-member"),
        mentions=of_kind("mention"),
        methods=_positions(
            [name.rpartition(".")[2] for name in entry.names] if entry.unmistakable else () for entry in entries
        ),
        stand_ins={copy: entry.names[0] for entry in ordering for copy in entry.copies},
        reading={name: entry.reads for entry in entries if entry.reads for name in entry.names},
        devices={
            name: said.removeprefix("=")
            for entry in entries
            if (said := str(entry.sets.get(HARDWARE, ""))).startswith("=")
            for name in entry.names
        },
    )


def _positions(names: Iterable[Iterable[str]]) -> Positions:
    """The names of each entry in order -> the positions of those that have a name."""
    found: Positions = {}
    for position, several in enumerate(names):
        for name in several:
            found.setdefault(name, []).append(position)
    return found

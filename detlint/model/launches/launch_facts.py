"""Facts of launch texts: the variables that they give processes, and the servers that they start, as sites like those of code.

A text is judged by itself: what it only gets from a file that it reads (`source env.sh`) is that file's. What isn't written out is no site.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from msgspec import Raw, structs

from detlint.catalog import Catalog
from detlint.ir import docker, make, shell
from detlint.ir.commands import Assignment, Script
from detlint.ir.launch_texts import JSON, kind_of, lower
from detlint.ir.settings import as_yaml
from detlint.ir.yaml_text import is_yaml
from detlint.model.launches import yaml_facts
from detlint.model.launches.commands import Given, Started, gone_through, is_known
from detlint.model.launches.launches import Programs, options
from detlint.model.sites.records import ENCODER, Arg, Body, Const, Detail, Facts, Function, Ref, Site, Span, decode_body
from detlint.sources.directives import Directive, may_hold, of_comment
from detlint.sources.parse import Problem

_COMMENTS: Final = {"docker": docker.comments, "make": make.comments}
_OF: Final = {"ascend": "ascend", "cuda": "cuda", "cpu": "", "mps": "mps", "tpu": "tpu"}
"""Targets -> the word of `Facts.mentions` that stands for each."""


OF_LAUNCHES: Final = frozenset({"environment", "command"})
"""The kinds of sites that are about processes which a text starts."""


class Server(NamedTuple):
    """A command that the catalog knows by the program, or the module, that it starts."""

    name: str
    command: Started
    behind: int
    """The position of the word behind the program's name."""
    environment: dict[str, str]
    is_inside: bool
    """Whether another program gives it its environment, by options."""


class Said(NamedTuple):
    """What a launch text gives processes."""

    given: tuple[Given, ...] = ()
    servers: tuple[Server, ...] = ()


def said(name: str, data: bytes, catalog: Catalog) -> Said:
    """What a text gives processes. Never raises on account of the input.

    Args:
        name: its file's.
    """
    kind, script = kind_of(name), lower(name, data).script
    if kind == "variables":
        steps = (step for step in shell.lower(data).steps if isinstance(step, Assignment))
        script = Script(tuple(structs.replace(step, kind="export") for step in steps))
    commands, given = gone_through(script)
    programs = Programs(catalog.launchers)
    given += (one for command in commands for one in programs.assigned(command))
    servers = (server for command in commands for server in _servers(command, programs, catalog))
    return Said(tuple(dict.fromkeys(one for one in given if is_known(one.value))), tuple(servers))


def _servers(command: Started, programs: Programs, catalog: Catalog) -> Iterator[Server]:
    """The first program of a command that the catalog knows: `vllm serve` is `vllm.serve`, `python -m a.b` is `a.b`."""
    words = [word.replace("\\", "/").rpartition("/")[2] for word in command.words]
    for i, (word, following) in enumerate(zip(words, [*words[1:], ""], strict=True)):
        two = (following, i + 2) if word == "-m" else (f"{word}.{following}", i + 2)
        for name, behind in (two, (word, i + 1)):
            if name in catalog.commands:
                given = {one.name: one.value for one in programs.assigned(command)}
                inside = any(programs.gives_by_options(other) for other in command.words[:i])
                yield Server(name, command, behind, {**command.environment, **given}, inside)
                return


def read(path: str, data: bytes, module: str, catalog: Catalog) -> Facts:
    """The facts of one file. Never raises on account of the input.

    Args:
        path: its file.
        module: what to call it.
    """
    name = path.replace("\\", "/").rpartition("/")[2]
    if path.endswith(JSON):
        return _of_json(data, module, catalog)
    if is_yaml(path):
        facts = yaml_facts.read(data, module, catalog)
        return added(facts, name, data, catalog) if facts.problem is None else facts
    lines = data.count(b"\n") + 1
    if len(data) > shell.MOST:
        problem = Problem(
            f"is skipped: {len(data):,} bytes are more than a launch file has that is read ({shell.MOST:,})"
        )
        return Facts(module, problem=problem)
    found = added(Facts(module, lines=lines, functions=(Function("", ""),)), name, data, catalog)
    return structs.replace(found, directives=directives(name, data))


def _of_json(data: bytes, module: str, catalog: Catalog) -> Facts:
    """The facts of a file of JSON, which YAML has, too; of what is no JSON after all, nothing."""
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return Facts(module)
    facts = yaml_facts.read(as_yaml(data), module, catalog)
    return facts if facts.problem is None else Facts(module)


def added(facts: Facts, name: str, data: bytes, catalog: Catalog) -> Facts:
    """The facts of a file, and the sites of what it gives processes."""
    telling = (*catalog.environment, *(command.partition(".")[0] for command in catalog.commands))
    sites = _sites(said(name, data, catalog), catalog) if any(word.encode() in data for word in telling) else []
    if not sites:
        return facts
    words = {_OF[target] for site in sites for target in _targets(site, catalog)} - {""}
    before = decode_body(facts).sites
    body = Body((*before, *sites), decode_body(facts).steps or ((),), (Detail(),))
    return structs.replace(facts, mentions=tuple(sorted({*facts.mentions, *words})), body=Raw(ENCODER.encode(body)))


def _sites(found: Said, catalog: Catalog) -> list[Site]:
    given = (one for one in found.given if one.name in catalog.environment)
    sites = [Site("environment", Ref(one.name), (Arg("value", Const(one.value)),), span_of(one), 0) for one in given]
    for server in found.servers:
        command = server.command
        told = {**options(command.words[server.behind :]), **server.environment}
        args = tuple(
            Arg(key, Const(value) if value is not None and is_known(value) else None) for key, value in told.items()
        )
        line, column, length = (
            command.places[server.behind - 1] if command.places else (command.line, command.column, 0)
        )
        sites.append(
            Site("command", Ref(server.name), args, Span(command.line, command.column, line, column + length), 0)
        )
    return list(dict.fromkeys(sites))


def span_of(one: Given) -> Span:
    """Where a variable is set: from its name to the end of its value."""
    line, column, length = one.place
    if not length:
        return Span(one.line, one.column, one.line, one.column + len(one.name.encode()))
    start = min((one.line, one.column), (line, column))
    return Span(*start, line, column + length)


def _targets(site: Site, catalog: Catalog) -> Iterable[str]:
    assert isinstance(site.target, Ref)
    table = catalog.environment if site.kind == "environment" else catalog.commands
    return {target for number in table[site.target.name] for target in catalog.entries[number].targets}


def directives(name: str, data: bytes) -> tuple[Directive, ...]:
    """The suppression comments. One that has its line for itself is about the next line that is none, too: not in all of these formats may
    a comment stand behind something."""
    if not may_hold(data):
        return ()
    found, lines = list[Directive](), data.split(b"\n")
    for line, column, text in _COMMENTS.get(kind_of(name), shell.comments)(data):
        alone = not lines[line - 1][:column].strip()
        for one in of_comment(text, line, column):
            about = next((n for n in range(line, len(lines)) if not lines[n].lstrip().startswith(b"#")), line) + 1
            found.append(structs.replace(one, about=about) if alone and one.scope == "line" else one)
    return tuple(found)

"""How long the language server takes from a change to its diagnostics, measured by a client over standard input and output.

    python benchmarks/server.py                                  # a generated project of 1,000 files
    python benchmarks/server.py PATH --ordinary FILE --hub FILE  # a copy of a folder

Printed are the median and the 95th percentile of two times, for an ordinary file and for one that much of the program imports:
until the first diagnostics come for a change while one types, ten changes a second; and until the server has said all that a run
says (the client asks for it, and can't be told to ask again), 0.2 s of which the server waits whether more is typed.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.uris import from_fs_path

BETWEEN = 0.1
"""Seconds between two changes."""
PATIENCE = 600
LAYER = '''\
"""Block number {number}."""

import torch
from torch import nn

from package.hub import Config, check{others}


class Block{number}(nn.Module):
    """A block of the network."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.first = nn.Linear(config.width, config.width)
        self.drop = nn.Dropout(config.dropout)

    def forward(self, x):
        check(x)
        noise = torch.randn(x.shape, device=x.device)
        return self.drop(self.first(x + noise)).relu()


def build(config: Config) -> nn.Module:
    return nn.Sequential(Block{number}(config){built})
'''
HUB = '''\
"""What everything needs."""

import dataclasses

import torch


@dataclasses.dataclass
class Config:
    width: int = 8
    dropout: float = 0.1


def check(x):
    if torch.isnan(x).any():
        raise ValueError("not a number")


def jitter(x):
    return x + torch.rand(x.shape)
'''
RUN = """\
import torch

from package.hub import Config, jitter
{imports}

if __name__ == "__main__":
    torch.manual_seed(0)
    for build in ({builds},):
        print(build(Config())(jitter(torch.zeros(8))))
"""


def generate(folder: Path, files: int) -> tuple[str, str]:
    """Write a project: blocks, each of which builds the ten times smaller one, and a run for every hundred."""
    (folder / "pyproject.toml").write_text("[project]\nname = 'generated'\n")
    package = folder / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "hub.py").write_text(HUB)
    runs = files // 100
    for number in range(files - runs - 2):
        below = number // 10
        others = f"\nfrom package.block{below} import build as below" if below != number else ""
        built = ", below(config)" if below != number else ""
        (package / f"block{number}.py").write_text(LAYER.format(number=number, others=others, built=built))
    for run in range(runs):
        numbers = range(run, files - runs - 2, runs)
        imports = "\n".join(f"from package.block{n} import build as build{n}" for n in numbers)
        (folder / f"run{run}.py").write_text(
            RUN.format(imports=imports, builds=", ".join(f"build{n}" for n in numbers))
        )
    return f"package/block{files // 2}.py", "package/hub.py"


class Client:
    """Types into one file."""

    def __init__(self, root: Path, name: str) -> None:
        self.client = LanguageClient("benchmark", "1")
        self.root = root
        self.file = root / name
        self.uri = from_fs_path(str(self.file)) or ""
        self.text = self.file.read_text()
        self.version = 1
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self.published.put_nowait(params))

    async def begin(self, pulls: bool) -> None:
        """Start the server, and wait until it has read the program."""
        await self.client.start_io(sys.executable, "-m", "detlint", "server")
        text = types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities() if pulls else None)
        capabilities = types.ClientCapabilities(text_document=text)
        await self.client.initialize_async(types.InitializeParams(capabilities, root_uri=from_fs_path(str(self.root))))
        self.client.initialized(types.InitializedParams())
        item = types.TextDocumentItem(self.uri, "python", self.version, self.text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await (self.final() if pulls else self.first())

    async def end(self) -> None:
        """Stop it."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()  # type: ignore[no-untyped-call]

    def type(self) -> None:
        """Add a line to a function at the end: one in two draws a number."""
        if self.version == 1:
            self.text += "\n\ndef typed():\n    import torch\n\n    x = torch.zeros(3)\n"
        self.text += "    x = x + torch.rand(3)\n" if self.version % 2 else "    x = x * 2\n"
        self.version += 1
        document = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        change = types.TextDocumentContentChangeWholeDocument(self.text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    async def first(self) -> None:
        """Wait for the first diagnostics of the text as it is."""
        while (await asyncio.wait_for(self.published.get(), PATIENCE)).version != self.version:
            pass

    async def final(self) -> None:
        """Ask for all."""
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(self.uri))
        await asyncio.wait_for(self.client.text_document_diagnostic_async(params), PATIENCE)


async def measure(root: Path, name: str, pulls: bool, times: int) -> list[float]:
    """How long the answers to some changes take, in milliseconds."""
    client = Client(root, name)
    await client.begin(pulls)
    answer: Callable[[], Coroutine[None, None, None]] = client.final if pulls else client.first
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        client.type()
        await answer()
        taken.append((time.perf_counter() - started) * 1000)
        await asyncio.sleep(BETWEEN)
    await client.end()
    return taken


def main() -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="?", type=Path, metavar="PATH")
    parser.add_argument("--ordinary", metavar="FILE", help="an ordinary file below PATH")
    parser.add_argument("--hub", metavar="FILE", help="a file below PATH that much of the program imports")
    parser.add_argument("--files", type=int, default=1000, help="of the generated project")
    parser.add_argument("--changes", type=int, default=40)
    options = parser.parse_args()
    if (options.path is None) is not (options.ordinary is None and options.hub is None):
        parser.error("PATH needs --ordinary and --hub, and these need PATH")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        if options.path is None:
            ordinary, hub = generate(root, options.files)
        else:
            shutil.copytree(
                options.path, root, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git", "__pycache__")
            )
            ordinary, hub = options.ordinary, options.hub
        print("| | median (ms) | 95th percentile (ms) |\n|---|---|---|")
        for label, name in (("ordinary file", ordinary), ("hub", hub)):
            for what, pulls in (("first diagnostics", False), ("all that a run says", True)):
                taken = asyncio.run(measure(root, name, pulls, options.changes))
                tail = statistics.quantiles(taken, n=20)[-1]
                print(f"| {label}, {what} | {statistics.median(taken):.0f} | {tail:.0f} |", flush=True)


if __name__ == "__main__":
    main()

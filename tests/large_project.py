"""A project like those that train networks, of any size and always the same: a package whose modules build on each other, and scripts
that each run through much of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

LAYERS: Final = 110
MODELS: Final = 80
DATA: Final = 60
TRAINING: Final = 50
SCRIPTS: Final = 60

LAYER: Final = '''"""Layer {n}."""

import torch
from torch import nn
{imports}

class Layer{n}(nn.Module):
    """Mixes what it gets with noise."""

    def __init__(self, width: int = {width}, rate: float = 0.{digit}, noisy: bool = {flag}):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.dropout = nn.Dropout(rate)
        self.noisy = noisy
        self.inner = {inner}

    def forward(self, x, mask=None):
        x = self.dropout(self.linear(x))
        if self.noisy:
            x = x + torch.randn_like(x) * 0.{digit}
        if mask is not None:
            x = x.masked_fill(mask, 0)
        return self.inner(x)


def layer{n}(width, noisy=False):
    return Layer{n}(width, noisy=noisy)
'''
MODEL: Final = '''"""Model {n}."""

import torch
from torch import nn
from big.layers.layer{a} import Layer{a}
from big.layers.layer{b} import layer{b}
from big.registry import MODELS

@MODELS.register("model{n}")
class Model{n}(nn.Module):
    def __init__(self, depth: int = 2, noisy: bool = False):
        super().__init__()
        self.first = Layer{a}(noisy=noisy)
        self.rest = nn.ModuleList([layer{b}({width}, noisy) for _ in range(depth)])
        self.head = nn.Linear({width}, 10)
        self.reset()

    def reset(self):
        for part in self.modules():
            if isinstance(part, nn.Linear):
                nn.init.xavier_uniform_(part.weight)

    def forward(self, x):
        x = self.first(x)
        for part in self.rest:
            x = part(x)
        return self.head(x)

    def sample(self, count, generator=None):
        return self(torch.randn(count, {width}, generator=generator))


def build(depth=2, noisy=False):
    model = Model{n}(depth, noisy)
    return model.cuda() if torch.cuda.is_available() else model
'''
DATASET: Final = '''"""Data {n}."""

import os
import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, random_split

class Data{n}(Dataset):
    def __init__(self, folder: str, augment: bool = {flag}):
        self.names = {listing}
        self.augment = augment

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        item = torch.from_numpy(np.load(self.names[index]))
        if self.augment and random.random() < 0.{digit}:
            item = item.flip(-1)
        return item + np.random.normal(scale=0.{digit})


def loaders{n}(folder, batch={width}, workers=0, shuffle=True):
    whole = Data{n}(folder)
    train, test = random_split(whole, [0.9, 0.1])
    return DataLoader(train, batch, shuffle=shuffle, num_workers=workers), DataLoader(test, batch)
'''
LOOP: Final = '''"""Training {n}."""

import random

import numpy as np
import torch
from torch.nn import functional as F
{imports}

def seed_all{n}(seed=None):
    if seed is None:
        return
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def step{n}(model, batch, optimizer, scale=1.0):
    optimizer.zero_grad()
    noise = torch.rand(batch.shape[0])
    loss = F.mse_loss(model(batch) * scale, batch) + noise.mean()
    loss.backward()
    optimizer.step()
    return loss.item()


def train{n}(model, loader, epochs=1, deterministic=False):
    if deterministic:
        torch.use_deterministic_algorithms(True)
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(epochs):
        order = np.random.permutation(len(loader)) if epoch else None
        for batch in loader:
            step{n}(model, batch, optimizer)
    return {last}
'''
SCRIPT: Final = '''"""Trains model {n}."""

import argparse

import torch
from big.data.data{a} import loaders{a}
from big.models.model{b} import build
from big.registry import MODELS
from big.training.train{c} import seed_all{c}, train{c}

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default={seed})
    parser.add_argument("--folder", default="data")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--model", default="model{b}")
    parser.add_argument("--deterministic", action="store_true")
    args = parser.parse_args()
    {seeding}
    train, test = loaders{a}(args.folder, workers={workers})
    model = {model}
    train{c}(model, train, args.epochs, args.deterministic)
    torch.save(model.state_dict(), "model{n}.pt")


if __name__ == "__main__":
    main()
'''
REGISTRY: Final = '''"""What can be chosen by name."""

class Registry:
    def __init__(self):
        self.known = {}

    def register(self, name):
        def note(cls):
            self.known[name] = cls
            return cls

        return note

    def build(self, name, **options):
        return self.known[name](**options)


MODELS = Registry()
'''


def write(folder: Path) -> None:
    """Write the project into a folder that isn't there yet."""
    for name, text in files():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def files() -> Iterator[tuple[str, str]]:
    """The files, by their names."""
    yield "pyproject.toml", '[project]\nname = "big"\nversion = "1"\ndependencies = ["torch==2.13.0", "numpy"]\n'
    yield "big/__init__.py", "from big import layers, models\n"
    yield "big/registry.py", REGISTRY
    yield "big/layers/__init__.py", "".join(f"from big.layers.layer{n} import Layer{n}\n" for n in range(LAYERS))
    yield "big/models/__init__.py", "".join(f"from big.models.model{n} import Model{n}\n" for n in range(MODELS))
    yield "big/data/__init__.py", ""
    yield "big/training/__init__.py", ""
    for n in range(LAYERS):
        inner = f"Layer{n - 7}(width, noisy=noisy)" if n % 3 and n > 7 else "nn.Identity()"
        imports = f"from big.layers.layer{n - 7} import Layer{n - 7}\n" if n % 3 and n > 7 else ""
        yield f"big/layers/layer{n}.py", LAYER.format(n=n, imports=imports, inner=inner, **varied(n))
    for n in range(MODELS):
        yield f"big/models/model{n}.py", MODEL.format(n=n, a=n % LAYERS, b=(n * 3 + 1) % LAYERS, **varied(n))
    for n in range(DATA):
        listing = "os.listdir(folder)" if n % 2 else "sorted(os.listdir(folder))"
        yield f"big/data/data{n}.py", DATASET.format(n=n, listing=listing, **varied(n))
    for n in range(TRAINING):
        imports = f"from big.training.train{n - 5} import step{n - 5}\n" if n > 5 else ""
        last = f"step{n - 5}(model, batch, optimizer, 0.5)" if n > 5 else "model"
        yield f"big/training/train{n}.py", LOOP.format(n=n, imports=imports, last=last)
    for n in range(SCRIPTS):
        seed, c = ("None", "0", str(n))[n % 3], n % 8
        seeding = f"seed_all{c}(args.seed)" if n % 4 else "torch.manual_seed(args.seed or 0)"
        model = "build(noisy=True)" if n % 5 else "MODELS.build(args.model, depth=3)"
        places = {"a": n % 12, "b": n * 7 % 16, "c": c}
        yield f"scripts/run{n}.py", SCRIPT.format(n=n, seed=seed, seeding=seeding, model=model, workers=n % 3, **places)


def varied(n: int) -> dict[str, object]:
    """What differs between modules of a kind."""
    return {"width": 16 + n % 4, "digit": 1 + n % 9, "flag": n % 2 == 0}

"""Whether `detlint verify --resume-at` names what a program doesn't restore, and is silent where it restores everything.

    python benchmarks/resume.py

A program that draws from every stream, with a scaler, a scheduler and a moving average, leaves out one thing at a time of what it has
saved. Others save and restore in other ways, and lack nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

PROGRAM: Final = """\
import os, random, sys
import numpy as np, torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from detlint.runtime import load_state_dict, state_dict, streams

out, lack, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
torch.manual_seed(1), np.random.seed(1), random.seed(1)


class Data(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, i):
        return torch.full((4,), float(i)) / 32 + random.random() * 0.1, float(np.random.rand())


net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 1))
ema = nn.Linear(8, 1)
opt = torch.optim.AdamW(net.parameters(), 0.01)
sched = torch.optim.lr_scheduler.StepLR(opt, 20)
scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)
loader = DataLoader(Data(), 4, shuffle=True, generator=torch.Generator().manual_seed(3), num_workers=workers)
rng = np.random.default_rng(3)
objects = {"net": net, "ema": ema, "optimizer": opt, "scheduler": sched, "scaler": scaler}
path, step = os.path.join(out, "checkpoint.pt"), 0
if os.path.exists(path):
    saved = torch.load(path, weights_only=True)
    for name, thing in objects.items():
        if name != lack:
            thing.load_state_dict(saved[name])
    run, step = saved["run"], saved["step"]
    run["streams"].pop(lack, None)
    if lack in ("position", "generator"):
        run["parts"]["loader"]["position"] = None
    if lack == "generator":
        run["parts"]["loader"]["generators"] = {}
    if lack == "rng":
        run["parts"]["rng"]["state"] = streams.of(rng)
    load_state_dict(run, loader=loader, rng=rng)
while step < 40:
    for x, y in loader:
        noise = rng.random() * 0.1
        with torch.autocast("cpu", torch.bfloat16):
            loss = ((net(x.float()).squeeze(1) - y + noise) ** 2).mean()
        opt.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        sched.step()
        with torch.no_grad():
            ema.weight.lerp_(net[3].weight, 0.1)
        step += 1
        if step % 5 == 0:
            kept = {name: thing.state_dict() for name, thing in objects.items()}
            torch.save({**kept, "step": step, "run": state_dict(loader=loader, rng=rng)}, path)
"""
BY_HAND: Final = """\
import os, sys
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

path = os.path.join(sys.argv[1], "checkpoint.pt")
torch.manual_seed(1)
net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.3), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), 0.01, momentum=0.9)
data = TensorDataset(torch.arange(128.0).view(32, 4) / 128)
loader = DataLoader(data, 4, shuffle=True)
epoch = 0
if os.path.exists(path):
    saved = torch.load(path, weights_only=True)
    net.load_state_dict(saved["net"]), opt.load_state_dict(saved["opt"])
    epoch = saved["epoch"]
    {restore}
for epoch in range(epoch, 5):
    {begin}
    for (x,) in loader:
        opt.zero_grad()
        net(x).square().mean().backward()
        opt.step()
    torch.save({{"net": net.state_dict(), "opt": opt.state_dict(), "epoch": epoch + 1, "torch": torch.get_rng_state()}}, path)
"""
NO_LOADER: Final = """\
import os, sys
import torch

path, step = os.path.join(sys.argv[1], "checkpoint.pt"), 0
weight = torch.nn.Parameter(torch.ones(4))
opt = torch.optim.Adam([weight], 0.01)
if os.path.exists(path):
    saved = torch.load(path, weights_only=True)
    with torch.no_grad():
        weight.copy_(saved["weight"])
    opt.load_state_dict(saved["opt"])
    step = saved["step"]
for step in range(step, 40):
    x = torch.rand(4, generator=torch.Generator().manual_seed(step))
    opt.zero_grad()
    (weight * x).square().sum().backward()
    opt.step()
    torch.save({"weight": weight.detach(), "opt": opt.state_dict(), "step": step + 1}, path)
"""
FAULTS: Final = {
    "python": ("stream", "python"), "numpy": ("stream", "numpy"), "torch": ("stream", "torch"),
    "generator": ("generator", "loader.generator"), "rng": ("generator", "rng"), "position": ("order", "Data"),
    "optimizer": ("optimizer", "opt"), "scheduler": ("scheduler", "sched"), "scaler": ("scaler", "scaler"),
    "net": ("weights", "net"), "ema": ("weights", "ema"),
}  # fmt: skip
"""What is left out, and what must be named first."""
WHOLE: Final = {
    "everything, by state_dict": (PROGRAM, ("nothing", "0")),
    "the same with two workers": (PROGRAM, ("nothing", "2")),
    "the stream by hand, at ends of epochs": (
        BY_HAND.format(restore='torch.set_rng_state(saved["torch"])', begin="pass"),
        (),
    ),
    "a seed for each epoch": (BY_HAND.format(restore="pass", begin="torch.manual_seed(epoch)"), ()),
    "no loader": (NO_LOADER, ()),
}


def verified(text: str, *arguments: str, at: int) -> dict[str, Any]:
    """What `detlint verify --resume-at` says of a program."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "train.py").write_text(text)
        command = ["-m", "detlint", "verify", "--output-format", "json", "--resume-at", str(at), "train.py", "{run}"]
        done = subprocess.run(
            [sys.executable, *command, *arguments], cwd=folder, capture_output=True, text=True, check=False
        )
    if done.returncode not in (0, 1):
        return {"outcome": done.stdout + done.stderr, "missing": []}
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def main() -> None:
    """Print a table."""
    named = false = 0
    print("| left out | outcome | named |\n| --- | --- | --- |")
    for lack, expected in FAULTS.items():
        told = verified(PROGRAM, lack, "0", at=11)
        found = [(missing["kind"], missing["name"]) for missing in told["missing"]]
        named += told["outcome"] == "different" and found[:1] == [expected]
        print(f"| {lack} | {told['outcome']} | {', '.join(' '.join(one) for one in found)} |")
    for name, (text, arguments) in WHOLE.items():
        told = verified(text, *arguments, at=17)
        false += told["outcome"] != "equal"
        print(f"| nothing: {name} | {told['outcome']} | {len(told['missing'])} |")
    print(f"\n{named} of {len(FAULTS)} named, {false} of {len(WHOLE)} wrongly called different")


if __name__ == "__main__":
    main()

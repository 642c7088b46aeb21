"""Data-parallel training in two processes on one machine."""
import argparse
import hashlib
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def setup(rank, world_size, store):
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world_size)


def dataset():
    x = torch.linspace(-1, 1, 64).unsqueeze(1)
    return TensorDataset(x, torch.sin(3 * x))


def fit(rank, world_size, args):
    model = DDP(nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Dropout(0.1), nn.Linear(16, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = dataset()
    sampler = DistributedSampler(data, world_size, rank, shuffle=True)
    loader = DataLoader(data, batch_size=args.batch_size, sampler=sampler)
    losses = []
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x + 0.01 * torch.randn_like(x)), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses, torch.cat([p.detach().flatten() for p in model.parameters()])


def train(rank, world_size, store, args):
    setup(rank, world_size, store)
    # DDP goes before the group does: to end both at once, PyTorch 2.13 may wait for itself forever.
    losses, weights = fit(rank, world_size, args)
    every = [None] * world_size
    dist.all_gather_object(every, losses)
    if rank == 0:
        print(every)
        print(hashlib.sha256(weights.numpy().tobytes()).hexdigest())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--world-size", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        mp.spawn(train, args=(args.world_size, store, args), nprocs=args.world_size)

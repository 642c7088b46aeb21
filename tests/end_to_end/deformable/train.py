import argparse
import hashlib

import torch
from torch import nn

from models.encoder import Encoder


def get_args_parser():
    parser = argparse.ArgumentParser("deformable encoder", add_help=False)
    parser.add_argument("--layers", default=2, type=int)
    parser.add_argument("--hidden_dim", default=32, type=int)
    parser.add_argument("--dropout", default=0.1, type=float)
    parser.add_argument("--steps", default=4, type=int)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser


def main(args):
    device = torch.device(args.device)
    model = Encoder(args.layers, args.hidden_dim, 64, args.dropout).to(device)
    head = nn.Linear(args.hidden_dim, 1).to(device)
    parameters = [*model.parameters(), *head.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=1e-3)
    criterion = nn.MSELoss()
    for step in range(args.steps):
        features = [
            torch.randn(2, args.hidden_dim, 8, 8, device=device),
            torch.randn(2, args.hidden_dim, 4, 4, device=device),
        ]
        target = torch.cat([f.mean(1).flatten(1) for f in features], 1)
        loss = criterion(head(model(features)).squeeze(-1), target)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 0.1)
        optimizer.step()
        print(f"step {step} loss {loss.item()!r}")
    print(hashlib.sha256(torch.cat([p.detach().cpu().flatten() for p in parameters]).numpy().tobytes()).hexdigest())


if __name__ == "__main__":
    parser = argparse.ArgumentParser("training", parents=[get_args_parser()])
    main(parser.parse_args())

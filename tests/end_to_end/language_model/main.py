import argparse

import torch
from torch import nn

from corpus import Corpus
from model import RNNModel

parser = argparse.ArgumentParser(description="RNN language model")
parser.add_argument("--emsize", type=int, default=16, help="size of word embeddings")
parser.add_argument("--nhid", type=int, default=24, help="number of hidden units per layer")
parser.add_argument("--nlayers", type=int, default=2, help="number of layers")
parser.add_argument("--lr", type=float, default=2.0, help="initial learning rate")
parser.add_argument("--clip", type=float, default=0.25, help="gradient clipping")
parser.add_argument("--epochs", type=int, default=3, help="upper epoch limit")
parser.add_argument("--bptt", type=int, default=10, help="sequence length")
parser.add_argument("--dropout", type=float, default=0.2, help="dropout applied to layers (0 = no dropout)")
parser.add_argument("--seed", type=int, default=1111, help="random seed")
args = parser.parse_args()

corpus = Corpus()
model = RNNModel(len(corpus.vocabulary), args.emsize, args.nhid, args.nlayers, args.dropout)
criterion = nn.CrossEntropyLoss()

for epoch in range(1, args.epochs + 1):
    model.train()
    total_loss = 0.0
    for data, targets in corpus.batches(args.bptt):
        model.zero_grad()
        output, _ = model(data)
        loss = criterion(output, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        with torch.no_grad():
            for p in model.parameters():
                p.add_(p.grad, alpha=-args.lr)
        total_loss += loss.item()
    print(f"| epoch {epoch:3d} | loss {total_loss!r}")

print(" ".join(corpus.vocabulary[token] for token in model.generate(0, 12)))
print(sum(p.double().abs().sum().item() for p in model.parameters()).hex())

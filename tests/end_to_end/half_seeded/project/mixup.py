import numpy as np
import torch


def mixup(x, y, alpha=0.4):
    """Mix each sample with another one of the batch."""
    lam = np.random.beta(alpha, alpha)
    order = torch.randperm(x.size(0))
    return lam * x + (1 - lam) * x[order], y, y[order], lam


def cutout(x, size=2):
    row = np.random.randint(0, x.size(-2) - size + 1)
    column = np.random.randint(0, x.size(-1) - size + 1)
    x = x.clone()
    x[..., row : row + size, column : column + size] = 0
    return x

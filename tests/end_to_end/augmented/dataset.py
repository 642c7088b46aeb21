import numpy as np
import torch
from torch.utils.data import Dataset


class NoisySignals(Dataset):
    """Sines, shifted and with noise; the target is the frequency."""

    def __init__(self, count, length, noise=0.1):
        self.count = count
        self.length = length
        self.noise = noise
        self.rng = np.random.default_rng()

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        frequency = 1 + index % 5
        time = np.linspace(0, 2 * np.pi, self.length)
        signal = np.sin(frequency * time + self.rng.uniform(0, np.pi))
        signal += np.random.normal(0, self.noise, self.length)
        if np.random.rand() < 0.5:
            signal = signal[::-1].copy()
        return torch.from_numpy(signal).float(), torch.tensor(frequency, dtype=torch.float32)

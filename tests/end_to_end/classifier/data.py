import torch
from torch.utils.data import Dataset


class Stripes(Dataset):
    """Striped images; the class is the direction of the stripes."""

    def __init__(self, count=96, size=12, transform=None):
        self.count = count
        self.size = size
        self.transform = transform

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        row = torch.arange(self.size, dtype=torch.float32)
        wave = torch.sin(row * (1 + index / self.count))
        image = wave.repeat(self.size, 1)
        label = index % 3
        if label == 1:
            image = image.t()
        elif label == 2:
            image = image + image.t()
        image = image.unsqueeze(0).contiguous()
        if self.transform is not None:
            image = self.transform(image)
        return image, label

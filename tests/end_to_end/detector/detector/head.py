"""A box head that samples its features bilinearly, as RoIAlign does."""
import torch
import torch.nn.functional as F
from torch import nn


def pool(features, boxes, size):
    """Sample `size` x `size` points of each box. Boxes are (x1, y1, x2, y2) between -1 and 1, one an image."""
    steps = torch.linspace(0, 1, size, device=boxes.device)
    x = boxes[:, 0, None] + (boxes[:, 2] - boxes[:, 0])[:, None] * steps
    y = boxes[:, 1, None] + (boxes[:, 3] - boxes[:, 1])[:, None] * steps
    grid = torch.stack((x[:, None, :].expand(-1, size, -1), y[:, :, None].expand(-1, -1, size)), dim=-1)
    return F.grid_sample(features, grid, mode="bilinear", padding_mode="zeros", align_corners=False)


class BoxHead(nn.Module):
    def __init__(self, channels, num_classes, size=4):
        super().__init__()
        self.size = size
        self.fc = nn.Linear(channels * size * size, 64)
        self.drop = nn.Dropout(p=0.2)
        self.score = nn.Linear(64, num_classes)
        self.delta = nn.Linear(64, 4)
        for layer in (self.score, self.delta):
            nn.init.normal_(layer.weight, std=0.01)
            nn.init.zeros_(layer.bias)

    def forward(self, features, boxes):
        x = pool(features, boxes, self.size).flatten(1)
        x = self.drop(F.relu(self.fc(x)))
        return self.score(x), self.delta(x)

"""A small detector: a backbone, multi-scale deformable attention over its map, and sampling at what that points to."""

import sys

import torch
from torch import nn
from torch.nn import functional as F

import torch_npu  # noqa: F401
from deformable import MSDeformAttnFunction

HEADS, POINTS, SIZE, CHANNELS = 2, 3, 8, 8


def small_operators(value, shapes, locations, weights):
    """The attention from PyTorch's own operators; one level is enough here."""
    batch, _, heads, channels = value.shape
    queries = locations.shape[1]
    image = value.permute(0, 2, 3, 1).reshape(batch * heads, channels, SIZE, SIZE)
    grid = 2 * locations[:, :, :, 0].transpose(1, 2).reshape(batch * heads, queries, POINTS, 2) - 1
    picked = F.grid_sample(image, grid, align_corners=False)  # sampling
    weights = weights[:, :, :, 0].transpose(1, 2).reshape(batch * heads, 1, queries, POINTS)
    out = (picked * weights).sum(-1).view(batch, heads * channels, queries)
    return out.transpose(1, 2)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.places = nn.Linear(CHANNELS, HEADS * POINTS * 2)
        self.weights = nn.Linear(CHANNELS, HEADS * POINTS)
        self.value = nn.Linear(CHANNELS, CHANNELS)

    def forward(self, x, mask):
        batch, count, _ = x.shape
        value = self.value(x).masked_fill(mask, 0.0).view(batch, count, HEADS, CHANNELS // HEADS)
        places = self.places(x).sigmoid().view(batch, count, HEADS, 1, POINTS, 2)
        weights = self.weights(x).view(batch, count, HEADS, POINTS).softmax(-1).view(batch, count, HEADS, 1, POINTS)
        shapes = torch.tensor([[SIZE, SIZE]]).to(x.device)
        if "small" in sys.argv:
            return small_operators(value, shapes, places, weights)
        starts = torch.tensor([0]).to(x.device)
        return MSDeformAttnFunction.apply(value, shapes, starts, places, weights, 64)  # attention


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Conv2d(3, CHANNELS, 3, stride=2, padding=1)
        self.attention = Attention()
        self.head = nn.Linear(CHANNELS, 4)

    def forward(self, images):
        features = F.relu(self.backbone(images)).flatten(2).transpose(1, 2)
        mask = features.mean(-1, keepdim=True) > 1.0
        return self.head(self.attention(features, mask)).mean(1)


torch.manual_seed(0)
model = Detector().to("npu")
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(20):
    images, boxes = torch.rand(2, 3, 2 * SIZE, 2 * SIZE).to("npu"), torch.rand(2, 4).to("npu")
    loss = F.l1_loss(model(images), boxes)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}: loss {loss.item():.6f}")

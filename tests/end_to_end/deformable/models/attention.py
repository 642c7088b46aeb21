"""Multi-scale deformable attention in PyTorch."""
import math

import torch
import torch.nn.functional as F
from torch import nn


def ms_deform_attn_core(value, shapes, locations, weights):
    batch, _, heads, depth = value.shape
    _, queries, _, levels, points, _ = locations.shape
    values = value.split([height * width for height, width in shapes], dim=1)
    grids = 2 * locations - 1
    sampled = []
    for level, (height, width) in enumerate(shapes):
        image = values[level].flatten(2).transpose(1, 2).reshape(batch * heads, depth, height, width)
        grid = grids[:, :, :, level].transpose(1, 2).flatten(0, 1)
        sampled.append(F.grid_sample(image, grid, mode="bilinear", padding_mode="zeros", align_corners=False))
    weights = weights.transpose(1, 2).reshape(batch * heads, 1, queries, levels * points)
    output = (torch.stack(sampled, dim=-2).flatten(-2) * weights).sum(-1)
    return output.view(batch, heads * depth, queries).transpose(1, 2)


class MSDeformAttn(nn.Module):
    def __init__(self, d_model=32, n_levels=2, n_heads=4, n_points=2):
        super().__init__()
        self.n_levels, self.n_heads, self.n_points = n_levels, n_heads, n_points
        self.sampling_offsets = nn.Linear(d_model, n_heads * n_levels * n_points * 2)
        self.attention_weights = nn.Linear(d_model, n_heads * n_levels * n_points)
        self.value_proj = nn.Linear(d_model, d_model)
        self.output_proj = nn.Linear(d_model, d_model)
        self._reset_parameters()

    def _reset_parameters(self):
        nn.init.constant_(self.sampling_offsets.weight, 0.0)
        thetas = torch.arange(self.n_heads, dtype=torch.float32) * (2.0 * math.pi / self.n_heads)
        grid = torch.stack([thetas.cos(), thetas.sin()], -1).view(self.n_heads, 1, 1, 2)
        grid = grid.repeat(1, self.n_levels, self.n_points, 1)
        with torch.no_grad():
            self.sampling_offsets.bias = nn.Parameter(grid.reshape(-1))
        nn.init.xavier_uniform_(self.value_proj.weight)
        nn.init.xavier_uniform_(self.output_proj.weight)

    def forward(self, query, reference, source, shapes):
        batch, length, _ = query.shape
        value = self.value_proj(source).view(batch, source.shape[1], self.n_heads, -1)
        offsets = self.sampling_offsets(query).view(batch, length, self.n_heads, self.n_levels, self.n_points, 2)
        weights = self.attention_weights(query).view(batch, length, self.n_heads, self.n_levels * self.n_points)
        weights = F.softmax(weights, -1).view(batch, length, self.n_heads, self.n_levels, self.n_points)
        sizes = torch.tensor([[width, height] for height, width in shapes], dtype=query.dtype, device=query.device)
        locations = reference[:, :, None, None, None, :] + offsets / sizes[None, None, None, :, None, :]
        return self.output_proj(ms_deform_attn_core(value, shapes, locations, weights))

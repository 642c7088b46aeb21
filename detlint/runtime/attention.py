"""Multi-scale deformable attention from small operators, with its sampling where sampling is deterministic.

The operator is that of Zhu et al., Deformable DETR (https://arxiv.org/abs/2010.04159), equation 3. The kernels of
Deformable-DETR, MMCV and their copies add gradients in whatever order threads come. What stands here samples by
`grid_sample`, whose own backward pass varies on CUDA and Ascend: so that part runs on the CPU, in the same step.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import grid_sample

from detlint.runtime.operators import Generators, on_cpu


def small_operators(
    value: torch.Tensor, spatial_shapes: torch.Tensor, sampling_locations: torch.Tensor, attention_weights: torch.Tensor
) -> torch.Tensor:
    """Sample each head's values at its points on every level, and add them up by their weights.

    Args:
        value: (batch, sum of height * width of the levels, heads, channels).
        spatial_shapes: height and width of each level.
        sampling_locations: (batch, queries, heads, levels, points, 2), x before y, from 0 to 1.
        attention_weights: (batch, queries, heads, levels, points).

    Returns:
        (batch, queries, heads * channels).
    """
    batch, _, heads, channels = value.shape
    queries = sampling_locations.shape[1]
    sizes = [(int(height), int(width)) for height, width in spatial_shapes]
    levels = torch.split(value, [height * width for height, width in sizes], dim=1)
    sampled = []
    for number, (level, (height, width)) in enumerate(zip(levels, sizes, strict=True)):
        image = level.permute(0, 2, 3, 1).reshape(batch * heads, channels, height, width)
        grid = (2 * sampling_locations[:, :, :, number] - 1).transpose(1, 2).flatten(0, 1)
        sampled.append(_sample(image, grid))
    weights = attention_weights.transpose(1, 2).flatten(0, 1).flatten(2).unsqueeze(1)
    together = (torch.cat(sampled, dim=-1) * weights).sum(-1)
    return together.view(batch, heads * channels, queries).transpose(1, 2).contiguous()


def _sample(image: torch.Tensor, grid: torch.Tensor) -> torch.Tensor:
    settings: dict[str, Any] = {"mode": "bilinear", "padding_mode": "zeros", "align_corners": False}
    if image.device.type == "cpu":
        return grid_sample(image, grid, **settings)  # detlint: ignore[DET403] on the CPU
    sampled: torch.Tensor = on_cpu(grid_sample, (image, grid), settings, image.device, Generators())
    return sampled

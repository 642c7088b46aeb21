"""The operator of Deformable-DETR as projects copy it, running "on the device" of the double.

The kernel is `msda.forward` and `msda.backward` in the double's log. Named in NPU_DOUBLE_NOISY, its gradients vary, as those
of the real kernels do, which add atomically.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd import Function
from torch.nn.functional import grid_sample
from torch.utils._python_dispatch import _disable_current_modes
from torch_npu import _device  # type: ignore[import-not-found]


class MSDeformAttnFunction(Function):
    """The autograd wrapper: `apply(value, shapes, level_start_index, sampling_locations, attention_weights, im2col_step)`."""

    @staticmethod
    def forward(ctx: Any, value: Any, shapes: Any, starts: Any, locations: Any, weights: Any, im2col_step: int) -> Any:
        ctx.save_for_backward(value, shapes, locations, weights)
        _device.LOG.append("msda.forward")
        with _disable_current_modes():
            return kernel(value.cpu(), shapes.cpu(), locations.cpu(), weights.cpu()).to(value.device)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        value, shapes, locations, weights = ctx.saved_tensors
        _device.LOG.append("msda.backward")
        with _disable_current_modes():  # the real kernel is called past PyTorch's dispatcher
            given = [tensor.detach().cpu().requires_grad_() for tensor in (value, locations, weights)]
            with torch.enable_grad():
                out = kernel(given[0], shapes.cpu(), given[1], given[2])
            found = torch.autograd.grad(out, given, grad.cpu())
            if "msda.backward" in _device.NOISY:
                for gradient in found:
                    _device.disturb(gradient)
            moved = [gradient.to(value.device) for gradient in found]
        return moved[0], None, None, moved[1], moved[2], None


def kernel(value: Any, shapes: Any, locations: Any, weights: Any) -> Any:
    """What the operator computes, query by query, by the definition."""
    batch, _, heads, channels = value.shape
    queries, levels = locations.shape[1], locations.shape[3]
    out = torch.zeros(batch, queries, heads, channels)
    start = 0
    for level in range(levels):
        height, width = (int(size) for size in shapes[level])
        image = value[:, start : start + height * width].transpose(1, 2).reshape(batch * heads, height, width, channels)
        start += height * width
        grid = 2 * locations[:, :, :, level].transpose(1, 2).reshape(batch * heads, queries, -1, 2) - 1
        picked = grid_sample(image.permute(0, 3, 1, 2), grid, align_corners=False)
        picked = picked.reshape(batch, heads, channels, queries, -1).permute(0, 3, 1, 4, 2)
        out = out + (picked * weights[:, :, :, level, :, None]).sum(3)
    return out.reshape(batch, queries, heads * channels)

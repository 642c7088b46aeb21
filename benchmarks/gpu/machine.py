"""What all scripts here ask first: on which device, and whether there is one; and how results are compared."""

from __future__ import annotations

import argparse
import hashlib
import sys

import torch


def asked(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The options, with `--device` beside the script's own. Without a GPU the script says so, and ends."""
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        print("No GPU here: nothing was run, and nothing written.")
        sys.exit()
    return options


def digest(tensor: torch.Tensor) -> str:
    """Of every bit."""
    content = tensor.detach().cpu().contiguous().flatten().view(torch.uint8)
    return hashlib.sha1(content.numpy().tobytes()).hexdigest()

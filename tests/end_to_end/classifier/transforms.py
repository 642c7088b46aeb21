"""Transforms of images, as tensors of shape (C, H, W)."""
import random

import torch


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image):
        for transform in self.transforms:
            image = transform(image)
        return image


class RandomHorizontalFlip:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, image):
        if torch.rand(1).item() < self.p:
            return image.flip(-1)
        return image


class RandomCrop:
    def __init__(self, size, padding):
        self.size = size
        self.padding = padding

    def __call__(self, image):
        image = torch.nn.functional.pad(image, [self.padding] * 4)
        top = random.randint(0, image.shape[-2] - self.size)
        left = random.randint(0, image.shape[-1] - self.size)
        return image[..., top : top + self.size, left : left + self.size]

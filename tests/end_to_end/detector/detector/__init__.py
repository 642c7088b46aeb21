from .head import BoxHead
from .losses import detection_loss

__all__ = ["BoxHead", "detection_loss"]

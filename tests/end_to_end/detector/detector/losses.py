import torch.nn.functional as F


def detection_loss(scores, deltas, labels, targets, weight=1.0):
    return F.cross_entropy(scores, labels) + weight * F.smooth_l1_loss(deltas, targets)

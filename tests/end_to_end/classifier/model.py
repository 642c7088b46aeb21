import torch.nn.functional as F
from torch import nn


class ConvBlock(nn.Module):
    def __init__(self, channels_in, channels_out, drop=0.1):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels_out)
        self.drop = nn.Dropout2d(drop)

    def forward(self, x):
        return F.max_pool2d(self.drop(F.relu(self.norm(self.conv(x)))), 2)


class Net(nn.Module):
    def __init__(self, num_classes, width=8, drop=0.3):
        super().__init__()
        self.features = nn.Sequential(ConvBlock(1, width), ConvBlock(width, 2 * width))
        self.drop = drop
        self.head = nn.Linear(2 * width * 9, num_classes)

    def forward(self, x):
        x = self.features(x).flatten(1)
        x = F.dropout(x, p=self.drop, training=self.training)
        return self.head(x)

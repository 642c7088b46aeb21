import torch
import torch.nn.functional as F
from torch import nn

from .attention import MSDeformAttn


class EncoderLayer(nn.Module):
    def __init__(self, d_model, d_ffn, dropout=0.1):
        super().__init__()
        self.self_attn = MSDeformAttn(d_model)
        self.dropout1 = nn.Dropout(dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.linear1 = nn.Linear(d_model, d_ffn)
        self.dropout2 = nn.Dropout(dropout)
        self.linear2 = nn.Linear(d_ffn, d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, src, reference, shapes):
        src = self.norm1(src + self.dropout1(self.self_attn(src, reference, src, shapes)))
        return self.norm2(src + self.linear2(self.dropout2(F.relu(self.linear1(src)))))


class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, d_ffn, dropout):
        super().__init__()
        self.layers = nn.ModuleList([EncoderLayer(d_model, d_ffn, dropout) for _ in range(num_layers)])
        self.level_embed = nn.Parameter(torch.empty(2, d_model))
        nn.init.normal_(self.level_embed)

    def forward(self, features):
        shapes = [tuple(feature.shape[-2:]) for feature in features]
        src = torch.cat([f.flatten(2).transpose(1, 2) + e for f, e in zip(features, self.level_embed)], 1)
        reference = torch.cat([self.points(*shape, src.device) for shape in shapes])
        reference = reference.expand(src.shape[0], -1, -1)
        for layer in self.layers:
            src = layer(src, reference, shapes)
        return src

    @staticmethod
    def points(height, width, device):
        y, x = torch.meshgrid(
            torch.linspace(0.5, height - 0.5, height, device=device) / height,
            torch.linspace(0.5, width - 0.5, width, device=device) / width,
            indexing="ij",
        )
        return torch.stack((x, y), -1).reshape(-1, 2)

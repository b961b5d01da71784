"""The models of the benches on PyTorch, as Rookery's own are."""
import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    """ResNet's basic block."""

    def __init__(self, inner, outer, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outer)
        same = stride == 1 and inner == outer
        self.shortcut = (
            nn.Identity()
            if same
            else nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))
        )

    def forward(self, x):
        body = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        return F.relu(body + self.shortcut(x))


def resnet18():
    blocks = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1)]
    blocks += [(128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)]
    stem = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)]
    return nn.Sequential(*stem, *[Block(*block) for block in blocks], *head)


class Layer(nn.Module):
    """A causal transformer layer with 4 heads."""

    def __init__(self, width, tokens):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.register_buffer("mask", torch.full((tokens, tokens), -1e9).triu(1))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, 4, d // 4).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / (d // 4) ** 0.5
        mixed = ((scores + self.mask).softmax(-1) @ v).transpose(1, 2).reshape(b, t, d)
        x = x + self.out(mixed)
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    """4 layers over so many tokens of 256."""

    def __init__(self, width, tokens):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(256, width), nn.Embedding(tokens, width)
        self.layers = nn.Sequential(*[Layer(width, tokens) for _ in range(4)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 256, bias=False)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions.weight
        return self.head(self.norm(self.layers(x))).flatten(0, 1)

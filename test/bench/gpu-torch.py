"""Samples a second of a whole step on PyTorch: gpu-torch.py resnet18|gpt-mini BATCH ROUNDS gpu|cpu."""
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

subject, batch, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
mps = getattr(torch.backends, "mps", None)
if sys.argv[4] == "cpu":
    device = "cpu"
elif torch.cuda.is_available():
    device = "cuda"
elif mps is not None and mps.is_available():
    device = "mps"
else:
    sys.exit("it finds no GPU")
# As TensorFlow.js computes: full single precision.
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False


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
    """A causal transformer layer of width 128 with 4 heads."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(128), nn.LayerNorm(128)
        self.qkv, self.out = nn.Linear(128, 384), nn.Linear(128, 128)
        self.up, self.down = nn.Linear(128, 512), nn.Linear(512, 128)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, 4, 32).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / 32**0.5
        scores = scores + torch.full((t, t), -1e9, device=x.device).triu(1)
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d)
        x = x + self.out(mixed)
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    """The preset gpt-mini: 4 layers, 64 tokens of 256."""

    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(256, 128), nn.Embedding(64, 128)
        self.layers = nn.Sequential(*[Layer() for _ in range(4)])
        self.norm, self.head = nn.LayerNorm(128), nn.Linear(128, 256, bias=False)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions.weight
        return self.head(self.norm(self.layers(x))).flatten(0, 1)


if subject == "resnet18":
    model, x, y = resnet18(), torch.randn(batch, 3, 32, 32), torch.randint(10, (batch,))
else:
    model, x, y = Gpt(), torch.randint(256, (batch, 64)), torch.randint(256, (batch * 64,))

model, x, y = model.to(device), x.to(device), y.to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.003, weight_decay=0.01)
times = []
for round in range(rounds + 3):
    before = time.perf_counter()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    # Waits for the GPU, as our step does.
    loss.item()
    if round >= 3:
        times.append(time.perf_counter() - before)
print(batch / statistics.median(times))

"""
A whole step on PyTorch's CPU: step-torch.py mlp|resnet18|gpt BATCH THREADS.
Says what it is, then does as many steps as each line of its input asks for and answers with their milliseconds.
"""
import json
import re
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

subject, batch, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.set_num_threads(threads)
torch.manual_seed(0)


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
    """A causal transformer layer of width 256 with 4 heads."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(256), nn.LayerNorm(256)
        self.qkv, self.out = nn.Linear(256, 768), nn.Linear(256, 256)
        self.up, self.down = nn.Linear(256, 1024), nn.Linear(1024, 256)
        self.register_buffer("mask", torch.full((128, 128), -1e9).triu(1))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, 4, 64).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / 8
        mixed = ((scores + self.mask).softmax(-1) @ v).transpose(1, 2).reshape(b, t, d)
        x = x + self.out(mixed)
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(256, 256), nn.Embedding(128, 256)
        self.layers = nn.Sequential(*[Layer() for _ in range(4)])
        self.norm, self.head = nn.LayerNorm(256), nn.Linear(256, 256, bias=False)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions.weight
        return self.head(self.norm(self.layers(x))).flatten(0, 1)


if subject == "mlp":
    model = nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
    )
    x, y = torch.randn(batch, 784), torch.randint(10, (batch,))
elif subject == "resnet18":
    model, x, y = resnet18(), torch.randn(batch, 3, 32, 32), torch.randint(10, (batch,))
else:
    model, x, y = Gpt(), torch.randint(256, (batch, 128)), torch.randint(256, (batch * 128,))

# The same as Rookery's recipe: weights decay decoupled, the loss is read after each step.
optimizer = torch.optim.AdamW(model.parameters(), lr=0.003, weight_decay=0.01)


def step():
    optimizer.zero_grad(set_to_none=True)
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def blas():
    """The file of the matrix products that torch was linked with."""
    torch.ones(8, 8) @ torch.ones(8, 8)
    with open("/proc/self/maps") as maps:
        found = re.findall(r"\S*/(lib\w*blas\S*)", maps.read())
    return found[-1] if found else "own BLAS"


print(
    json.dumps(
        {
            "about": f"PyTorch {torch.__version__}, {blas()}",
            "parameters": sum(p.numel() for p in model.parameters()),
        }
    ),
    flush=True,
)
for line in sys.stdin:
    before = time.perf_counter()
    for _ in range(int(line)):
        step()
    print((time.perf_counter() - before) * 1000, flush=True)

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

from torch_models import Gpt, resnet18

subject, batch, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.set_num_threads(threads)
torch.manual_seed(0)

if subject == "mlp":
    model = nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
    )
    x, y = torch.randn(batch, 784), torch.randint(10, (batch,))
elif subject == "resnet18":
    model, x, y = resnet18(), torch.randn(batch, 3, 32, 32), torch.randint(10, (batch,))
else:
    model, x, y = Gpt(256, 128), torch.randint(256, (batch, 128)), torch.randint(256, (batch * 128,))

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

"""Samples a second of a whole step on PyTorch: gpu-torch.py resnet18|gpt-mini BATCH ROUNDS gpu|cpu."""
import statistics
import sys
import time

import torch
from torch.nn import functional as F

from torch_models import Gpt, resnet18

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

if subject == "resnet18":
    model, x, y = resnet18(), torch.randn(batch, 3, 32, 32), torch.randint(10, (batch,))
else:
    model, x, y = Gpt(128, 64), torch.randint(256, (batch, 64)), torch.randint(256, (batch * 64,))

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

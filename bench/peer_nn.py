#!/usr/bin/python3
"""PyTorch on the paper's value network, one thread. Reads lines "train|forward BATCH SECONDS" and answers each with the
samples per second of its best tenth, by the thread's own clock as in bench_nn.c."""
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
DATA = 20000
net = nn.Sequential(nn.Conv2d(4, 32, 4, 2), nn.LeakyReLU(), nn.Conv2d(32, 64, 2, 2), nn.LeakyReLU(),
                    nn.Conv2d(64, 64, 2, 1), nn.LeakyReLU(), nn.Flatten(), nn.Linear(64, 128), nn.LeakyReLU(),
                    nn.Linear(128, 128), nn.LeakyReLU(), nn.Linear(128, 6))
optimiser = torch.optim.Adam(net.parameters(), lr=3e-4)
boards = (torch.rand(DATA, 4, 10, 10) < 1 / 12).float()


def train(batch):
    index = torch.randint(0, DATA, (batch,))
    q = net(boards[index]).gather(1, torch.randint(0, 6, (batch, 1)))[:, 0]
    loss = F.huber_loss(q, torch.randn(batch), delta=5.0)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()


def forward(batch):
    with torch.no_grad():
        net(boards[torch.randint(0, DATA, (batch,))])


for line in sys.stdin:
    what, batch, seconds = line.split()
    batch, seconds, best = int(batch), float(seconds), 0.0
    step = train if what == "train" else forward
    for _ in range(10):
        done, begun = 0, time.thread_time()
        while time.thread_time() - begun < seconds / 10:
            step(batch)
            done += batch
        best = max(best, done / (time.thread_time() - begun))
    print(best, flush=True)

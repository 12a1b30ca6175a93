#!/usr/bin/python3
"""Writes tests/data/torch_golden.txt: ten optimiser steps of both networks, as PyTorch does them.

    /usr/bin/python3 tests/tools/make_torch_golden.py >tests/data/torch_golden.txt      (Debian: python3-torch)

Initial parameters, observations, actions, targets and weights come from one hash of an index, which
tests/test_nn_torch.c computes too; the file holds the losses of the steps and, after them, every 97th parameter and the
outputs for eight observations.
"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH, STEPS = 64, 10


def mix(stream, count):
    """Uniform in [0,1): hash of stream and index."""
    x = (np.arange(count, dtype=np.uint64) + np.uint64(stream * 1000003)) * np.uint64(2654435761) % np.uint64(2**32)
    x ^= x >> np.uint64(15)
    x = x * np.uint64(2246822519) % np.uint64(2**32)
    x ^= x >> np.uint64(13)
    x = x * np.uint64(3266489917) % np.uint64(2**32)
    x ^= x >> np.uint64(16)
    return x.astype(np.float64) / 2**32


def network(name):
    if name == "value":
        layers = [nn.Conv2d(4, 32, 4, 2), nn.LeakyReLU(0.01), nn.Conv2d(32, 64, 2, 2), nn.LeakyReLU(0.01),
                  nn.Conv2d(64, 64, 2, 1), nn.LeakyReLU(0.01), nn.Flatten(), nn.Linear(64, 128), nn.LeakyReLU(0.01),
                  nn.Linear(128, 128), nn.LeakyReLU(0.01), nn.Linear(128, 6)]
    else:
        layers = [nn.Conv2d(4, 16, 3, 1), nn.ReLU(), nn.Flatten(), nn.Linear(1024, 128), nn.ReLU(), nn.Linear(128, 6)]
    net = nn.Sequential(*layers)
    values, at = mix(1, sum(p.numel() for p in net.parameters())), 0
    bound = 1.0
    for p in net.parameters():  # weights, then biases, layer by layer; both have the bound of the weights
        if p.dim() > 1:
            bound = 1 / np.sqrt(p[0].numel())
        part = ((2 * values[at:at + p.numel()] - 1) * bound).astype(np.float32)
        p.data = torch.from_numpy(part.reshape(p.shape))
        at += p.numel()
    return net


def run(name, optimiser, loss, clip):
    net = network(name)
    board = (mix(2, BATCH * 400) < 0.1).reshape(BATCH, 10, 10, 4).transpose(0, 3, 1, 2)  # packed order is y, x, channel
    x = torch.from_numpy(board.astype(np.float32).copy())
    action = torch.from_numpy((mix(3, BATCH) * 6).astype(np.int64))
    target = torch.from_numpy(((mix(4, BATCH) - 0.5) * 16).astype(np.float32))
    weight = torch.from_numpy((2 * mix(5, BATCH)).astype(np.float32))
    if optimiser == "adam":
        opt = torch.optim.Adam(net.parameters(), lr=3e-4)
    else:
        opt = torch.optim.RMSprop(net.parameters(), lr=3e-4, alpha=0.95, eps=0.01, centered=True)
    losses = []
    for _ in range(STEPS):
        q = net(x)
        taken = q.gather(1, action[:, None])[:, 0]
        if loss == "huber":
            each = F.huber_loss(taken, target, reduction="none", delta=5.0)
        elif loss == "squared":
            each = (taken - target) ** 2
        else:
            each = F.cross_entropy(q, action, reduction="none")
        total = (weight * each).mean()
        opt.zero_grad()
        total.backward()
        if clip > 0:
            nn.utils.clip_grad_norm_(net.parameters(), clip)
        opt.step()
        losses.append(total.item())
    flat = torch.cat([p.detach().flatten() for p in net.parameters()]).numpy()
    print("case", name, optimiser, loss, clip)
    print("losses", *[repr(v) for v in losses])
    print("parameters", len(flat[::97]), *["%.9g" % v for v in flat[::97]])
    print("outputs", *["%.9g" % v for v in net(x[:8]).detach().numpy().flatten()])


torch.set_num_threads(1)
for case in [("value", "adam", "huber", 0), ("value", "rmsprop", "squared", 1.5), ("value", "adam", "cross-entropy", 0),
             ("dqn", "adam", "squared", 10), ("dqn", "rmsprop", "huber", 0), ("dqn", "adam", "cross-entropy", 0)]:
    run(*case)

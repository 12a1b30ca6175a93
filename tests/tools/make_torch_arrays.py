#!/usr/bin/python3
"""Makes tests/data/torch: networks of PyTorch as their state dicts, saved as arrays the way docs/deep.md says, with
observations and what PyTorch answers. Needs python3-torch; the files are committed, tests/test_import.c reads them.
Usage: make_torch_arrays.py DIRECTORY"""
import os
import sys

import numpy as np
import torch
import torch.nn as nn

out = sys.argv[1]
torch.manual_seed(1)
numbers = np.random.default_rng(1)


class Branches(nn.Module):
    """Layers with names of their own, as in most programs."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(2, 5, 3, 2), nn.ReLU(), nn.Conv2d(5, 4, 2, 1), nn.ReLU())
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(4 * 2 * 3, 7), nn.ReLU(), nn.Linear(7, 3))

    def forward(self, x):
        return self.head(self.features(x.float() / 255))


def save(name, net, observations):
    arrays = {key: value.numpy() for key, value in net.state_dict().items()}
    np.savez(os.path.join(out, name + ".npz"), **arrays)
    with torch.no_grad():
        outputs = net(torch.from_numpy(observations)).numpy()
    np.savez(os.path.join(out, name + "-answers.npz"), observations=observations, outputs=outputs)


os.makedirs(out, exist_ok=True)
save("mlp", nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 3)),
     numbers.normal(size=(20, 5)).astype(np.float32))
save("conv", Branches(), numbers.integers(0, 256, size=(20, 2, 7, 9), dtype=np.uint8))

#!/usr/bin/python3
"""PyTorch on the networks of bench_nn.c, one thread. Reads lines "NETWORK train|forward|cql BATCH SECONDS" and answers
each with the samples per second of its best tenth, by the thread's own clock as in bench_nn.c. cql: a step of CQL(H) with
a target network, as one writes it."""
import copy
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

import fast_blas

torch.set_num_threads(1)
fast_blas.expect()


def conv(*layers):
    return [part for layer in layers for part in (nn.Conv2d(*layer), ACTIVATION())]


def dense(*widths):
    return [part for pair in zip(widths, widths[1:]) for part in (nn.Linear(*pair), ACTIVATION())][:-1]


class Peer:
    """A network, its optimiser and observations to draw from, as one writes them."""

    def __init__(self, layers, observations, actions):
        self.net, self.observations, self.actions = nn.Sequential(*layers), observations, actions
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=3e-4)
        self.target = copy.deepcopy(self.net)

    def batch(self, size):
        drawn = self.observations[torch.randint(0, len(self.observations), (size,))]
        return drawn.float() / 255 if drawn.dtype == torch.uint8 else drawn

    def train(self, size):
        q = self.net(self.batch(size)).gather(1, torch.randint(0, self.actions, (size, 1)))[:, 0]
        loss = F.huber_loss(q, torch.randn(size), delta=5.0)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()

    def cql(self, size):
        index = torch.randint(0, len(self.observations), (size,))
        actions, rewards = torch.randint(0, self.actions, (size, 1)), torch.randn(size)
        with torch.no_grad():
            following = self.observations[(index + 1) % len(self.observations)]
            targets = rewards + 0.99 * self.target(following).max(1).values
        values = self.net(self.observations[index])
        taken = values.gather(1, actions)[:, 0]
        loss = F.huber_loss(taken, targets, delta=5.0) + (values.logsumexp(1) - taken).mean()
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()

    def forward(self, size):
        with torch.no_grad():
            self.net(self.batch(size))


def make(network):
    global ACTIVATION
    ACTIVATION = nn.LeakyReLU if network == "value" else nn.ReLU
    if network == "value":
        layers = conv((4, 32, 4, 2), (32, 64, 2, 2), (64, 64, 2, 1)) + [nn.Flatten()] + dense(64, 128, 128, 6)
        return Peer(layers, (torch.rand(20000, 4, 10, 10) < 1 / 12).float(), 6)
    if network == "mlp":
        return Peer(dense(17, 256, 256, 4), torch.randn(20000, 17), 4)
    if network == "cartpole":
        return Peer(dense(4, 256, 256, 2), torch.randn(1000000, 4), 2)
    if network == "nature":
        layers = conv((4, 32, 8, 4), (32, 64, 4, 2), (64, 64, 3, 1)) + [nn.Flatten()] + dense(3136, 512, 6)
        return Peer(layers, torch.randint(0, 256, (500, 4, 84, 84), dtype=torch.uint8), 6)
    raise ValueError(f"no network '{network}'")


peers = {}
for line in sys.stdin:
    network, what, batch, seconds = line.split()
    batch, seconds, best = int(batch), float(seconds), 0.0
    peer = peers.setdefault(network, None) or make(network)
    peers[network] = peer
    step = getattr(peer, what)
    for _ in range(10):
        done, begun = 0, time.thread_time()
        while time.thread_time() - begun < seconds / 10:
            step(batch)
            done += batch
        best = max(best, done / (time.thread_time() - begun))
    print(best, flush=True)

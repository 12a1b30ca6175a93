#!/usr/bin/python3
"""PyTorch on a dataset of Breakout (a .pessdata file), the paper's value network, one thread: the loops as one writes
them, every transition of a minibatch computed. Reads lines and answers each with a number, by the thread's own clock:

    train BATCH SECONDS        transitions per second of training, best of ten stretches
    targets CHUNK              seconds of the targets of the whole dataset, best of three
    play BATCH SECONDS         observations per second that are looked at and acted upon greedily; there is no game
    loop BATCH UPDATES STEPS   seconds of fitted Q iteration: targets for the whole dataset, then STEPS of training
"""
import struct
import sys
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import fast_blas

torch.set_num_threads(1)
fast_blas.expect()
GAMMA, CHUNK = 0.99, 1024


def read(path):
    """Boards [N,4,10,10] before and after each transition, action, reward, whether more follows (docs/formats.md)."""
    data = open(path, "rb").read()
    _, bits, _, states, count = struct.unpack_from("<5I", data, 8)
    at = 28
    for _ in range(2):  # game and notes
        at += 4 + struct.unpack_from("<I", data, at)[0]
    packed = np.frombuffer(data, "u1", states * ((bits + 7) // 8), at).reshape(states, -1)
    boards = np.unpackbits(packed, axis=1, bitorder="little")[:, :bits].reshape(states, 10, 10, -1)
    boards = torch.tensor(boards.transpose(0, 3, 1, 2).astype(np.float32)).contiguous()
    column = lambda kind, offset: np.frombuffer(data, kind, count, at + packed.size + offset * count)
    before, after = (torch.tensor(column("<i4", 4 * i).astype(np.int64)) for i in range(2))
    reward = torch.tensor(column("<f4", 8))
    action, end = (torch.tensor(column("u1", 12 + i).astype(np.int64)) for i in range(2))
    return boards[before], boards[after], action, reward, (end != 1).float()


def make_net():
    return nn.Sequential(nn.Conv2d(4, 32, 4, 2), nn.LeakyReLU(), nn.Conv2d(32, 64, 2, 2), nn.LeakyReLU(),
                         nn.Conv2d(64, 64, 2, 1), nn.LeakyReLU(), nn.Flatten(), nn.Linear(64, 128), nn.LeakyReLU(),
                         nn.Linear(128, 128), nn.LeakyReLU(), nn.Linear(128, 6))


state, after, action, reward, goes_on = read(sys.argv[1])


def step(net, optimiser, targets, batch):
    rows = torch.randint(0, len(state), (batch,))
    q = net(state[rows]).gather(1, action[rows, None])[:, 0]
    loss = F.huber_loss(q, targets[rows], delta=5.0)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()


def train(batch, seconds):
    net, best = make_net(), 0.0
    optimiser = torch.optim.Adam(net.parameters(), lr=3e-4)
    for _ in range(10):
        done, begun = 0, time.thread_time()
        while time.thread_time() - begun < seconds / 10:
            step(net, optimiser, reward, batch)
            done += batch
        best = max(best, done / (time.thread_time() - begun))
    return best


def targets_of(net, chunk):
    with torch.no_grad():
        values = torch.cat([net(part).max(1).values for part in after.split(chunk)])
    return reward + GAMMA * goes_on * values


def targets(chunk):
    net, best = make_net(), float("inf")
    for _ in range(3):
        begun = time.thread_time()
        targets_of(net, chunk)
        best = min(best, time.thread_time() - begun)
    return best


def play(batch, seconds):
    net, done, begun = make_net(), 0, time.thread_time()
    with torch.no_grad():
        while time.thread_time() - begun < seconds:
            at = done % (len(state) - batch)
            net(state[at:at + batch]).argmax(1)
            done += batch
    return done / (time.thread_time() - begun)


def loop(batch, updates, steps):
    begun, net = time.thread_time(), make_net()
    for update in range(updates):
        targets = reward  # the first ones
        if update > 0:
            targets = targets_of(net, CHUNK)
        optimiser = torch.optim.Adam(net.parameters(), lr=3e-4)
        for i in range(steps):
            optimiser.param_groups[0]["lr"] = 3e-4 * (1 - i / steps)
            step(net, optimiser, targets, batch)
    seconds = time.thread_time() - begun
    with torch.no_grad():
        q = net(state[:5000]).gather(1, action[:5000, None])[:, 0]
        print(f"PyTorch: loss {F.huber_loss(q, targets[:5000], delta=5.0):.4g}, mean target {targets.mean():.4g}",
              file=sys.stderr)
    return seconds


for line in sys.stdin:
    what, *numbers = line.split()
    if what == "train":
        print(train(int(numbers[0]), float(numbers[1])), flush=True)
    elif what == "targets":
        print(targets(int(numbers[0])), flush=True)
    elif what == "play":
        print(play(int(numbers[0]), float(numbers[1])), flush=True)
    else:
        print(loop(*map(int, numbers)), flush=True)

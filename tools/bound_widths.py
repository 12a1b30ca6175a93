#!/usr/bin/python3
"""How far below the mean of the sample three lower confidence bounds lie: docs/theory.md has the table.

Hoeffding's and the empirical Bernstein bound (Maurer & Pontil 2009) know the largest number there is; betting does not.
Means of five samples each, δ = 0.05. Standard library only. Usage: tools/bound_widths.py"""
import math
import random

DELTA, SAMPLES, SIZES = 0.05, 5, (100, 1000, 10000)
SHARES = [2 ** (-j / 2) for j in range(1, 41)]
KINDS = {  # largest number, a draw
    "a coin": (1, lambda r: float(r.random() < 0.5)),
    "1 with probability 0.02, else 0": (1, lambda r: float(r.random() < 0.02)),
    "weights: 20 with probability 0.04, 1 with 0.2, else 0": (20, lambda r: (lambda u: 20.0 if u < 0.04 else float(u < 0.24))(r.random())),
}


def hoeffding(mean, variance, n, most):
    return most * math.sqrt(math.log(1 / DELTA) / (2 * n))


def bernstein(mean, variance, n, most):
    level = math.log(2 / DELTA)
    return math.sqrt(2 * variance * level / n) + 7 * most * level / (3 * (n - 1))


def betting(counts, mean):
    """counts: how often each number was drawn."""
    low, high = 0.0, mean
    while high - low > 1e-9:
        m = 0.5 * (low + high)
        each = [sum(c * math.log1p(x * (v / m - 1)) for v, c in counts.items()) for x in SHARES]
        top = max(each)
        if top + math.log(sum(math.exp(e - top) for e in each) / len(SHARES)) >= math.log(1 / DELTA):
            low = m
        else:
            high = m
    return mean - low


print("| numbers | n | Hoeffding | empirical Bernstein | betting |\n|---|---|---|---|---|")
for name, (most, draw) in KINDS.items():
    for n in SIZES:
        widths = [0.0, 0.0, 0.0]
        for sample in range(SAMPLES):
            rng = random.Random(1000 * n + sample)
            counts = {}
            for _ in range(n):
                x = draw(rng)
                counts[x] = counts.get(x, 0) + 1
            mean = sum(v * c for v, c in counts.items()) / n
            variance = sum(c * (v - mean) ** 2 for v, c in counts.items()) / (n - 1)
            found = (hoeffding(mean, variance, n, most), bernstein(mean, variance, n, most),
                     betting(counts, mean) if mean > 0 else 0)
            widths = [w + f / SAMPLES for w, f in zip(widths, found)]
        print(f"| {name} | {n:,} | " + " | ".join(f"{w:.3g}" for w in widths) + " |")

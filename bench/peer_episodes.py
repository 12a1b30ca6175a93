#!/usr/bin/python3
"""The betting bound of bench_betting.c's numbers with NumPy: logarithms of all factors, bisection to 1e-12.
Usage: bench_betting DUMP; OMP_NUM_THREADS=1 peer_episodes.py DUMP"""
import json
import math
import sys
import time

import numpy as np

SHARES = 2.0 ** (-0.5 * np.arange(1, 41))


def log_capital(values, m):
    gain = values / m - 1
    each = np.array([np.log1p(x * gain).sum() for x in SHARES])
    return each.max() + math.log(np.exp(each - each.max()).mean())


def lower(values, delta):
    wanted, low, high = math.log(1 / delta), 0.0, values.mean()
    while high - low > 1e-12 * high:
        middle = 0.5 * (low + high)
        if log_capital(values, middle) >= wanted:
            low = middle
        else:
            high = middle
    return low


numbers = np.fromfile(sys.argv[1])
for count in (10_000, 100_000, 1_000_000):
    begun = time.perf_counter()
    bound = lower(numbers[:count], 0.001)
    print(json.dumps({"count": count, "seconds": time.perf_counter() - begun, "bound": bound}), flush=True)

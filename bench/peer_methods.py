#!/usr/bin/python3
"""The problems of bench_methods.c with NumPy and SciPy, from formulas: modified policy iteration that ends by the span of the
residual (as QuantEcon's), policy iteration with SuperLU, and, for mazes,
breadth-first search from the goal in C. Usage: peer_methods.py DUMP mpi|lu|bfs [REPEATS]"""
import json
import sys
import time

import numpy as np
import scipy.sparse as sp
import scipy.sparse.csgraph as graph
import scipy.sparse.linalg as spl

import fast_blas

fast_blas.expect()

TOLERANCE = 1e-6


def read(path):
    raw = open(path, "rb").read()
    states, actions = (int(x) for x in np.frombuffer(raw, np.int64, 2))
    gamma = float(np.frombuffer(raw, float, 1, 16)[0])
    pairs, at = states * actions, 24
    row = np.frombuffer(raw, np.int64, pairs + 1, at)
    at += 8 * (pairs + 1)
    p = np.frombuffer(raw, float, int(row[-1]), at)
    at += 8 * int(row[-1])
    r = np.frombuffer(raw, float, pairs, at)
    at += 8 * pairs
    column = np.frombuffer(raw, np.uint32, int(row[-1]), at).astype(np.int32)
    return states, actions, gamma, sp.csr_matrix((p, column, row.astype(np.int32)), shape=(pairs, states)), r


def greedy(r, gamma, p, v, states, actions):
    q = (r + gamma * (p @ v)).reshape(states, actions)
    return q.argmax(axis=1), q.max(axis=1)


def modified_policy_iteration(states, actions, gamma, p, r, sweeps=20):
    """v ← T_π^m T v; ends where the span of Tv − v leaves a residual within the tolerance, v shifted to its middle."""
    v = np.zeros(states)
    first = np.arange(states) * actions
    while True:
        choice, best = greedy(r, gamma, p, v, states, actions)
        difference = best - v
        low, high = difference.min(), difference.max()
        if high - low < 2 * TOLERANCE:
            return best + gamma / (1 - gamma) * (low + high) / 2
        chain, reward = p[first + choice], r[first + choice]
        v = best
        for _ in range(sweeps):
            v = reward + gamma * (chain @ v)


def policy_iteration(states, actions, gamma, p, r):
    """Exact: SuperLU for every policy."""
    v = np.zeros(states)
    first = np.arange(states) * actions
    while True:
        choice, best = greedy(r, gamma, p, v, states, actions)
        if np.abs(best - v).max() <= TOLERANCE:
            return v
        a = sp.identity(states, format="csc") - gamma * p[first + choice].tocsc()
        v = spl.splu(a).solve(r[first + choice])


def breadth_first(states, actions, gamma, p, r):
    """Every step costs 1 and the goal, the one state without actions, ends: v = −(1 − γ^d)/(1 − γ)."""
    coo = p.tocoo()
    back = sp.csr_matrix((coo.data, (coo.col, coo.row // actions)), shape=(states, states))
    ends = np.flatnonzero((np.diff(p.indptr) == 0) & (r == -1)) // actions
    goal_row = sp.csr_matrix((np.ones(len(ends)), (np.zeros(len(ends), int), ends)), shape=(1, states))
    whole = sp.vstack([back, goal_row]).tocsr()
    whole.resize(states + 1, states + 1)
    distance = graph.dijkstra(whole, indices=states, unweighted=True)[:states]
    return -(1 - gamma**distance) / (1 - gamma)


WAYS = {"mpi": modified_policy_iteration, "lu": policy_iteration, "bfs": breadth_first}

problem = read(sys.argv[1])
best, value = np.inf, None
for _ in range(int(sys.argv[3]) if len(sys.argv) > 3 else 1):
    begun = time.process_time()
    value = WAYS[sys.argv[2]](*problem)
    best = min(best, time.process_time() - begun)
print(json.dumps({"cpu_seconds": best, "largest": float(np.abs(value[np.isfinite(value)]).max())}))

#!/usr/bin/python3
"""The same problems as bench_solve.c with NumPy and SciPy: vectorised policy iteration with np.linalg.solve, sparse LU and
BiCGSTAB. Usage: bench_solve DUMP; OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 peer_solve.py DUMP"""
import json
import sys
import time

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

import fast_blas

fast_blas.expect()

GAMMA = 0.99


def policy_iteration(r, p):
    states = r.shape[0]
    rows = np.arange(states)
    identity = np.eye(states)
    policy = r.argmax(axis=1)
    iterations = 0
    while True:
        v = np.linalg.solve(identity - GAMMA * p[rows, policy], r[rows, policy])
        q = r + GAMMA * (p @ v)
        better = q.argmax(axis=1)
        iterations += 1
        if np.all(q[rows, better] <= q[rows, policy] + 1e-10):
            return v, iterations
        policy = better


def read_logs(path):
    raw = open(path, "rb").read()
    at, logs = 0, []
    while at < len(raw):
        states, actions = np.frombuffer(raw, np.int64, 2, at)
        at += 16
        pairs = int(states * actions)
        r = np.frombuffer(raw, float, pairs, at).reshape(states, actions)
        at += 8 * pairs
        u = np.frombuffer(raw, float, pairs, at).reshape(states, actions)
        at += 8 * pairs
        p = np.frombuffer(raw, float, pairs * int(states), at).reshape(states, actions, states)
        at += 8 * pairs * int(states)
        logs.append((r, u, p))
    return logs


def small(path):
    logs = read_logs(path)
    for name, alpha in (("naive", 0.0), ("ua", 1.0)):
        best = np.full(len(logs), np.inf)
        for _ in range(15):
            results = []
            for k, (r, u, p) in enumerate(logs):
                penalised = r - alpha * u
                begun = time.perf_counter()
                results.append(policy_iteration(penalised, p))
                best[k] = min(best[k], time.perf_counter() - begun)
        print(json.dumps({"peer": "numpy", "bench": "gridworld-8x8", "algorithm": name, "seconds": float(best.mean()),
                          "iterations": float(np.mean([k for _, k in results])),
                          "value": float(np.mean([v.mean() for v, _ in results]))}))


def chain(path):
    raw = open(path + ".chain", "rb").read()
    states = int(np.frombuffer(raw, np.int64, 1)[0])
    row = np.frombuffer(raw, np.int64, states + 1, 8)
    at = 8 + 8 * (states + 1)
    nnz = int(row[-1])
    columns = np.frombuffer(raw, np.uint32, nnz, at).astype(np.int32)
    at += 4 * nnz
    weight = np.frombuffer(raw, float, nnz, at)
    at += 8 * nnz
    r = np.frombuffer(raw, float, states, at)
    a = sp.eye(states, format="csr") - GAMMA * sp.csr_matrix((weight, columns, row), shape=(states, states))
    best = {"spsolve": np.inf, "bicgstab": np.inf}
    for k in range(20):
        begun = time.perf_counter()
        x, _ = spl.bicgstab(a, r, atol=1e-12, tol=0)
        best["bicgstab"] = min(best["bicgstab"], time.perf_counter() - begun)
        if k < 2:
            begun = time.perf_counter()
            spl.spsolve(a.tocsc(), r)
            best["spsolve"] = min(best["spsolve"], time.perf_counter() - begun)
    print(json.dumps({"peer": "scipy", "bench": "evaluate", "states": states,
                      "bicgstab_residual": float(np.abs(r - a @ x).max()), **best}))


small(sys.argv[1])
chain(sys.argv[1])

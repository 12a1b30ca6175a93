"""The gridworld experiments with NumPy: the same work per trial as `pess experiment`, written the way one does.

    peer_experiment.py exploration|data TRIALS      prints one JSON line

Per trial: a world, its optimal policy, then for every point of the axis a dataset of single transitions (drawn in one
vector call each), its counts and model, policy iteration for naive, uncertainty-aware and proximal with LAPACK solves,
and the exact return of every policy."""
import json
import sys
import time

import numpy as np

import fast_blas

fast_blas.expect()

ROWS = COLS = 8
S, A, GAMMA, SLIP = ROWS * COLS, 4, 0.99, 0.2
CELL = np.arange(S)
ROW, COL = CELL // COLS, CELL % COLS
NEXT = np.stack([(ROW - 1) % ROWS * COLS + COL, ROW * COLS + (COL + 1) % COLS,
                 (ROW + 1) % ROWS * COLS + COL, ROW * COLS + (COL - 1) % COLS], axis=1)
EYE = np.eye(S)


def true_transitions():
    p = np.zeros((S, A, S))
    for action in range(A):
        for direction in range(A):
            p[CELL, action, NEXT[:, direction]] += SLIP / A + (1 - SLIP) * (direction == action)
    return p


P = true_transitions()


def evaluate(reward, transitions, policy, penalty=0.0):
    chain = np.einsum("sa,sat->st", policy, transitions)
    return np.linalg.solve(EYE - GAMMA * chain, (policy * reward).sum(1) - penalty)


def greedy(q):
    best = (q >= q.max(1, keepdims=True) - 1e-8).argmax(1)
    return np.eye(A)[best]


def policy_iteration(reward, transitions, value):
    policy = greedy(reward + GAMMA * transitions @ value)
    while True:
        value = evaluate(reward, transitions, policy)
        q = reward + GAMMA * transitions @ value
        if (q.max(1) <= value + 1e-8).all():
            return greedy(q), value
        policy = greedy(q)


def proximal_step(q, imitation, alpha):
    best = greedy(q).astype(bool)
    keeps = best | (q > q.max(1, keepdims=True) - alpha)
    policy = np.where(keeps, imitation, 0.0)
    policy[best] += np.where(keeps, 0.0, imitation).sum(1)
    return policy


def proximal(reward, transitions, imitation, value, alpha=1.0):
    policy = proximal_step(reward + GAMMA * transitions @ value, imitation, alpha)
    while True:
        penalty = alpha * np.maximum(policy - imitation, 0).sum(1)
        value = evaluate(reward, transitions, policy, penalty)
        q = reward + GAMMA * transitions @ value
        better = proximal_step(q, imitation, alpha)
        gain = (better * q).sum(1) - alpha * np.maximum(better - imitation, 0).sum(1) - value
        if (gain <= 1e-8).all():
            return better
        policy = better


def stationary(policy):
    chain = np.einsum("sa,sat->st", policy, P)
    system = np.vstack([(EYE - chain.T)[:-1], np.ones(S)])
    return np.linalg.solve(system, np.r_[np.zeros(S - 1), 1.0])


def trial(rng, points):
    means = rng.beta(1, 3, (S, A))
    best, best_value = policy_iteration(means, P, np.zeros(S))
    results = []
    law = None
    for epsilon, size, from_stationary in points:
        collecting = (1 - epsilon) * best + epsilon / A
        if from_stationary and law is None:
            law = stationary(collecting)
        states = rng.choice(S, size, p=law) if from_stationary else rng.integers(S, size=size)
        random_action = rng.random(size) < epsilon
        actions = np.where(random_action, rng.integers(A, size=size), best[states].argmax(1))
        directions = np.where(rng.random(size) < SLIP, rng.integers(A, size=size), actions)
        rewards = rng.random(size) < means[states, actions]
        pair = states * A + actions
        n = np.bincount(pair, minlength=S * A).reshape(S, A)
        total = np.bincount(pair, weights=rewards, minlength=S * A).reshape(S, A)
        moved = np.bincount(pair * S + NEXT[states, directions], minlength=S * A * S).reshape(S, A, S)
        seen = n > 0
        reward = np.where(seen, total / np.maximum(n, 1), rng.random((S, A)))
        transitions = np.where(seen[:, :, None], moved / np.maximum(n, 1)[:, :, None], 1 / S)
        visits = n.sum(1, keepdims=True)
        imitation = np.where(visits > 0, n / np.maximum(visits, 1), 1 / A)
        with np.errstate(divide="ignore"):
            clipped = np.clip(reward - 1 / np.sqrt(n), 0, 1)
        policies = [imitation, policy_iteration(reward, transitions, best_value)[0],
                    policy_iteration(clipped, transitions, best_value)[0],
                    proximal(reward, transitions, imitation, best_value)]
        results.append([evaluate(means, P, policy).mean() for policy in policies])
    return results


def main():
    figure, trials = sys.argv[1], int(sys.argv[2])
    if figure == "exploration":
        points = [(k / 24, 2000, False) for k in range(25)]
    else:
        points = [(0.5, int(np.exp(np.log(200000) * k / 25) + 1e-9) - 1, True) for k in range(2, 26)]
    rng = np.random.default_rng(1)
    begun = time.perf_counter()
    results = [trial(rng, points) for _ in range(trials)]
    seconds = time.perf_counter() - begun
    print(json.dumps({"bench": "figure", "name": "gridworld-" + figure, "trials": trials, "seconds_per_trial": seconds / trials,
                      "ua_mean": round(float(np.mean(results, axis=(0, 1))[2]), 3)}))


main()

#!/usr/bin/python3
"""How low can a bound on the best possible policy be? The gridworld of tools/certificate_curves.py, optimal 62.3.

A process in which row z has Q_z instead of P_z gives a log of n_z rows each its probability times exp(-sum n_z KL(P_z||Q_z)),
on average over logs. So a bound that holds with probability 1-delta in *every* process is, in about half of the logs of
this one, not below the optimum of a process that ln(1/(2 delta)) nats can hide in. Printed:
- jumps: one row may lead to the best state with the probability p that hides in n rows, n*-ln(1-p) nats;
- joint: the nats are shared among all rows, to first order sqrt(2 nats sum D^2 Var/n) for the visits D of the best policy;
- row by row: every row has that many nats for itself, all at once, which a bound has to allow for that asks each row
  alone; with ln(rows) more, as a union over the rows needs; and with ln(1/share) more, half of delta shared equally and
  half by what each row adds to the width under the best policy, which is more than a first part could know;
- what pess certify proves.
Usage: tools/optimum_limit.py [PESS] [ROWS] [SEED]; a minute. Standard library only."""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

PESS = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/pess")
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 200000
SEED = sys.argv[3] if len(sys.argv) > 3 else "7"
STATES, ACTIONS, GAMMA, DELTA = 64, 4, 0.99, 0.05


def pess(*arguments):
    return subprocess.run([PESS, *arguments], stdout=subprocess.PIPE, check=False, text=True).stdout


def read_model(path):
    """row[s][a] = (expected reward, [(probability, next)], [(probability, reward, next)])."""
    rows = [[[0.0, [], []] for _ in range(ACTIONS)] for _ in range(STATES)]
    with open(path, encoding="utf-8") as file:
        for line in csv.DictReader(file):
            s, a, p = int(line["idstatefrom"]), int(line["idaction"]), float(line["probability"])
            rows[s][a][0] += p * float(line["reward"])
            rows[s][a][1].append((p, int(line["idstateto"])))
            rows[s][a][2].append((p, float(line["reward"]), int(line["idstateto"])))
    return rows


def read_counts(path):
    n = [[0] * ACTIONS for _ in range(STATES)]
    with open(path, encoding="utf-8") as file:
        for line in csv.DictReader(file):
            n[int(line["state"])][int(line["action"])] += 1
    return n


def optimum(rows, jump, begin=None):
    """Values where pair (s, a) pays 1 and goes to the best state with probability jump[s][a]."""
    v = list(begin) if begin else [0.0] * STATES
    change = 1.0
    while change > 1e-4:
        change, best = 0.0, max(v)
        for s in range(STATES):
            q = max((1 - p) * (r + GAMMA * sum(x * v[t] for x, t in after)) + p * (1 + GAMMA * best)
                    for (r, after, _), p in zip(rows[s], jump[s]))
            change = max(change, abs(q - v[s]))
            v[s] = q
    return v


def row_by_row(rows, n, nats, begin):
    """Values where row (s, a) has nats[s][a] of its own, which hide a mean higher by sqrt(2 nats Var/n), to first order."""
    v, change = list(begin), 1.0
    while change > 1e-3:
        change, top = 0.0, 1 + GAMMA * max(v)
        for s in range(STATES):
            best = 0.0
            for a, (reward, after, outcomes) in enumerate(rows[s]):
                centre = reward + GAMMA * sum(p * v[t] for p, t in after)
                variance = sum(p * (r + GAMMA * v[t] - centre) ** 2 for p, r, t in outcomes)
                best = max(best, min(centre + math.sqrt(2 * nats[s][a] * variance / max(n[s][a], 1e-9)), top))
            change = max(change, abs(best - v[s]))
            v[s] = best
    return v


def best_widths(rows, n, v):
    """Pairs of the best policy: {(s, a): D sqrt(Var/n)}, D its discounted visits from a uniform start."""
    q = lambda s, a: rows[s][a][0] + GAMMA * sum(p * v[t] for p, t in rows[s][a][1])
    act = [max(range(ACTIONS), key=lambda a: q(s, a)) for s in range(STATES)]
    visits, moving = [0.0] * STATES, [1 / STATES] * STATES
    for _ in range(3000):
        arrived = [0.0] * STATES
        for s in range(STATES):
            visits[s] += moving[s]
            for p, t in rows[s][act[s]][1]:
                arrived[t] += GAMMA * p * moving[s]
        moving = arrived
    widths = {}
    for s in range(STATES):
        centre = q(s, act[s])
        variance = sum(p * (r + GAMMA * v[t] - centre) ** 2 for p, r, t in rows[s][act[s]][2])
        widths[s, act[s]] = visits[s] * math.sqrt(variance / n[s][act[s]])
    return widths


def everywhere(nats):
    return [[nats] * ACTIONS for _ in range(STATES)]


def by_share(nats, widths):
    """ln(1/share) nats more: half of delta for all rows alike, half by width."""
    total = sum(widths.values())
    share = lambda s, a: 0.5 / (STATES * ACTIONS) + 0.5 * widths.get((s, a), 0) / total
    return [[nats - math.log(share(s, a)) for a in range(ACTIONS)] for s in range(STATES)]


def mean(v):
    return sum(v) / STATES


def jumps(n, nats):
    return [[1 - math.exp(-nats / k) if k else 1.0 for k in of_state] for of_state in n]


def worst_single(rows, n, nats, v):
    """The pairs that could gain most are tried: by p, how far below the best state they are, and how often they would be
    taken, which is not known before; so the first thirty."""
    p, none, best = jumps(n, nats), [[0.0] * ACTIONS for _ in range(STATES)], max(v)
    gain = lambda s, a: p[s][a] * (1 + GAMMA * best - v[s]) - (v[s] - rows[s][a][0]
                                                               - GAMMA * sum(x * v[t] for x, t in rows[s][a][1]))
    pairs = sorted(((gain(s, a), s, a) for s in range(STATES) for a in range(ACTIONS)), reverse=True)[:30]
    most = (mean(v), None)
    for _, s, a in pairs:
        one = [list(row) for row in none]
        one[s][a] = p[s][a]
        most = max(most, (mean(optimum(rows, one, v)), (s, a, n[s][a])))
    return most


def main():
    nats = math.log(1 / (2 * DELTA))
    with tempfile.TemporaryDirectory() as folder:
        pess("mdp", "gridworld", "--seed", "46", "-o", f"{folder}/mdp.csv")
        pess("mdp", "solve", f"{folder}/mdp.csv", "-o", f"{folder}/best.csv")
        pess("simulate", f"{folder}/mdp.csv", "--policy", f"{folder}/best.csv", "--epsilon", "0.5", "--transitions",
             str(ROWS), "--state-dist", "stationary", "--seed", SEED, "-o", f"{folder}/log.csv")
        rows, n = read_model(f"{folder}/mdp.csv"), read_counts(f"{folder}/log.csv")
        found = json.loads(pess("certify", f"{folder}/log.csv", "--reward-range", "0,1", "--states", str(STATES),
                                "--actions", str(ACTIONS), "--json"))
    v = optimum(rows, [[0.0] * ACTIONS for _ in range(STATES)])
    single, pair = worst_single(rows, n, nats, v)
    print(f"optimal {mean(v):.2f}; {ROWS} rows, fewest of a pair {min(map(min, n))}, median "
          f"{sorted(k for row in n for k in row)[STATES * ACTIONS // 2]}")
    union = nats + math.log(STATES * ACTIONS)
    print(f"jumps: {single:.2f} with one (state, action, rows: {pair}), "
          f"{mean(optimum(rows, jumps(n, union), v)):.2f} with one of {union:.1f} nats in every row")
    widths = best_widths(rows, n, v)
    print(f"joint: {mean(v) + math.sqrt(2 * nats * sum(w * w for w in widths.values())):.2f}")
    print(f"row by row: {mean(row_by_row(rows, n, everywhere(nats), v)):.2f} with {nats:.1f} nats each, "
          f"{mean(row_by_row(rows, n, everywhere(union), v)):.2f} with {union:.1f}, "
          f"{mean(row_by_row(rows, n, by_share(nats, widths), v)):.2f} by shares")
    print(f"pess certify: {found['optimal_upper_bound']:.2f}")


if __name__ == "__main__":
    main()

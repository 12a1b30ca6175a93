#!/usr/bin/python3
"""A made-up intensive-care ward, and what can be certified from its patients: docs/certificates.md has the table.

300 states in order of severity, 25 treatments, reward 1 for a patient who leaves alive, stays of about nine steps. At each
state the staff use a handful of treatments, each with a probability that only the state decides; one of them is a
little better than what they use most. The last two states are the ends. Standard library only.

Usage: tools/ward.py make FOLDER                     writes mdp.csv, staff.csv and start.csv
       tools/ward.py table [PESS] [SIZES] [METHODS]  what each method certifies, as rows of a Markdown table; "declared"
                                                     is episodes with the staff's policy declared by its file"""
import json
import os
import random
import subprocess
import sys
import tempfile

STATES, ACTIONS, USED, SUCCESSORS = 300, 25, 6, 5
ALIVE, DEAD = STATES, STATES + 1
SEEDS = [3, 4]
METHODS = ["robust", "split", "episodes", "declared", "best"]


def make(folder):
    draw = random.Random(17)
    mdp, staff = [], []
    for s in range(STATES):
        severity = (s + 0.5) / STATES
        used = draw.sample(range(ACTIONS), USED)
        shares = [draw.gammavariate(0.9, 1) + 0.05 for _ in used]
        total = sum(shares)
        staff += [(s, a, share / total) for a, share in zip(used, shares)]
        for a in range(ACTIONS):
            help_ = draw.gauss(0, 0.03) - (0.05 if a not in used else 0)
            leave = 0.11
            dies = min(max(0.42 * severity**1.5 - 2.2 * help_, 0.01), 0.99)
            near = [min(max(int(STATES * (severity - help_ + draw.gauss(0, 0.12))), 0), STATES - 1)
                    for _ in range(SUCCESSORS)]
            weights = [draw.random() for _ in near]
            rows = {}
            for t, w in zip(near, weights):
                rows[t] = rows.get(t, 0) + (1 - leave) * w / sum(weights)
            mdp += [(s, a, t, p, 0) for t, p in sorted(rows.items())]
            mdp += [(s, a, ALIVE, leave * (1 - dies), 1), (s, a, DEAD, leave * dies, 0)]
    with open(f"{folder}/mdp.csv", "w") as f:
        f.write("idstatefrom,idaction,idstateto,probability,reward\n")
        f.writelines(f"{s},{a},{t},{p!r},{r}\n" for s, a, t, p, r in mdp)
    with open(f"{folder}/staff.csv", "w") as f:
        f.write("state,action,probability\n")
        f.writelines(f"{s},{a},{p!r}\n" for s, a, p in staff)
    with open(f"{folder}/start.csv", "w") as f:
        f.write("state,probability\n")
        f.writelines(f"{s},{1 / (STATES // 2)!r}\n" for s in range(STATES // 4, STATES // 4 + STATES // 2))


def pess(program, *arguments):
    done = subprocess.run([program, *arguments], stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode not in (0, 1, 7):
        raise SystemExit(f"pess {' '.join(arguments)}: exit {done.returncode}")
    return done.stdout


def options_of(method, folder):
    if method == "declared":
        return ["--method", "episodes", "--behaviour", f"{folder}/staff.csv"]
    return ["--method", method]


def table(program, sizes, methods):
    with tempfile.TemporaryDirectory() as folder:
        make(folder)
        for size in sizes:
            cells = []
            for method in methods:
                found = []
                for seed in SEEDS:
                    log, policy = f"{folder}/log.csv", f"{folder}/policy.csv"
                    pess(program, "simulate", f"{folder}/mdp.csv", "--policy", f"{folder}/staff.csv", "--start",
                         f"{folder}/start.csv", "--episodes", str(size), "--horizon", "200", "--seed", str(seed),
                         "-o", log, "--quiet")
                    told = json.loads(pess(program, "certify", log, *options_of(method, folder), "--gamma", "1",
                                           "--return-range", "0,1", "--reward-range", "0,1", "-o", policy, "--json"))
                    found.append((told["lower_bound"], told["improvement_lower_bound"]))
                cells.append(" ".join(f"{lower:.2f}" for lower, _ in found))
                cells.append(" ".join(f"{better:+.3f}" for _, better in found))
            print(f"| {size:,} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "make":
        os.makedirs(sys.argv[2], exist_ok=True)
        make(sys.argv[2])
    elif len(sys.argv) >= 2 and sys.argv[1] == "table":
        table(sys.argv[2] if len(sys.argv) > 2 else "build/pess",
              [int(n) for n in sys.argv[3].split(",")] if len(sys.argv) > 3 else [1000, 5000, 20000],
              sys.argv[4].split(",") if len(sys.argv) > 4 else METHODS)
    else:
        raise SystemExit(__doc__)

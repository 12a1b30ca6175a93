#!/usr/bin/env python3
"""How large, on how many nodes: a model of time and memory of pess-mpi, fitted on this machine and printed with its error.

    tools/scale_model.py [--states 1e9] [--processes 2048]

Runs build/mpi_torus (make scale builds what it needs) on tori of several sizes with 1, 2 and 4 processes and fits, by
least squares of relative errors,

    processor seconds of the busiest process = a + b·n/p      bytes of the largest process = c + d·n/p

with n states and p processes. Waiting for others is part of the processor seconds, so that a busy machine makes them
larger. The error is the largest relative one of a point that was left out of the fit. The model knows nothing of the
network between machines: sums over all processes (a few hundred in a solve) and exchanges with neighbours come on top,
and with more processes the preconditioner's blocks are smaller and its iterations more."""
import argparse
import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)

# As many processes on every core: left to itself, the kernel may put three of four on one of two.
EVENLY = ["--map-by", "core", "--bind-to", "core:overload-allowed"]


def measure(side, processes):
    command = [os.path.join(ROOT, "tests/mpi/mpiexec.sh"), str(processes), *EVENLY, os.path.join(ROOT, "build/mpi_torus"),
               "ours", str(side), "0.99", "1e-6"]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return json.loads(next(line for line in out.splitlines() if line.startswith("{")))


def fit(points):
    """y = a + b·x, least squares of (a + b·x)/y − 1."""
    s = [[0.0, 0.0], [0.0, 0.0]]
    t = [0.0, 0.0]
    for x, y in points:
        row = (1 / y, x / y)
        for i in range(2):
            t[i] += row[i]
            for j in range(2):
                s[i][j] += row[i] * row[j]
    det = s[0][0] * s[1][1] - s[0][1] * s[1][0]
    return ((t[0] * s[1][1] - t[1] * s[0][1]) / det, (t[1] * s[0][0] - t[0] * s[1][0]) / det)


def worst_left_out(points):
    worst = 0
    for i, (x, y) in enumerate(points):
        a, b = fit(points[:i] + points[i + 1:])
        worst = max(worst, abs((a + b * x) / y - 1))
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=float, default=1e9)
    parser.add_argument("--processes", type=int, default=64 * 32)
    parser.add_argument("--sides", default="300,500,800,1000")
    args = parser.parse_args()
    lines = [measure(int(side), p) for side in args.sides.split(",") for p in (1, 2, 4)]
    for line in lines:
        print(f"{line['states']:>9} states {line['ranks']} processes: {line['processor']:.3g} processor s, "
              f"{line['seconds']:.3g} s, {line['memory'] / 1e6:.4g} MB, {line['iterations']} iterations")
    x = args.states / args.processes
    for name, field, unit, scale in (("time", "processor", "s", 1), ("memory", "memory", "GB", 1e-9)):
        points = [(line["states"] / line["ranks"], line[field]) for line in lines]
        a, b = fit(points)
        print(f"{name}: {a * scale:.3g} {unit} + {b * scale * 1e6:.3g} {unit} per million states of a process; "
              f"a point left out is missed by up to {100 * worst_left_out(points):.0f} %; "
              f"{args.states:.3g} states on {args.processes} processes: {(a + b * x) * scale:.3g} {unit} each")


if __name__ == "__main__":
    main()

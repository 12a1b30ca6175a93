#!/usr/bin/python3
"""Lower bounds of each method over the size of the log, as docs/figures/certificates.{csv,svg}.

One 8x8 gridworld (seed 46: optimal 62.3), discount 0.99, delta 0.05, independent transitions of the optimal policy
softened by 0.5, from its stationary law: the data of the paper's figure 1b, and beyond. Each point is the mean over
three logs. Usage: tools/certificate_curves.py [PESS] [OUTPUT FOLDER]; takes a few minutes. Standard library only."""
import json
import math
import os
import subprocess
import sys
import tempfile

PESS = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/pess")
FOLDER = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else "docs/figures")
SIZES = [1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000]
SEEDS = [7, 8, 9]
METHODS = [  # name, options, colour
    ("best, nothing declared", ["--method", "best"], "#0b6e4f"),
    ("best, at most 4 successors declared", ["--method", "best", "--max-successors", "4"], "#57a86b"),
    ("split alone", ["--method", "split"], "#7a5195"),
    ("robust, l1, at most 4 declared", ["--method", "robust", "-u", "l1", "--max-successors", "4"], "#c9711b"),
    ("robust, support", ["--method", "robust", "-u", "support"], "#2c6fbb"),
    ("robust, l1", ["--method", "robust", "-u", "l1"], "#8ab4e0"),
    ("the paper's formula", None, "#999999"),
]


def pess(*arguments):
    done = subprocess.run([PESS, *arguments], stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode not in (0, 1, 7):  # 1 vacuous, 7 keep
        raise SystemExit(f"pess {' '.join(arguments)}: exit {done.returncode}")
    return done.stdout


def measure(folder):
    pess("mdp", "gridworld", "--seed", "46", "-o", f"{folder}/mdp.csv")
    optimal = json.loads(pess("mdp", "solve", f"{folder}/mdp.csv", "-o", f"{folder}/best.csv", "--json"))["value"]
    rows, logging = [], []
    for size in SIZES:
        found = {name: [] for name, _, _ in METHODS}
        for seed in SEEDS:
            log = f"{folder}/log.csv"
            pess("simulate", f"{folder}/mdp.csv", "--policy", f"{folder}/best.csv", "--epsilon", "0.5", "--transitions",
                 str(size), "--state-dist", "stationary", "--seed", str(seed), "-o", log)
            for name, options, _ in METHODS:
                if options is None:
                    out = json.loads(pess("solve", log, "-a", "ua", "-u", "hoeffding", "--alpha", "1", "--unseen", "worst",
                                          "--reward-range", "0,1", "--states", "64", "--actions", "4", "--json"))
                    found[name].append(max(out["value"], 0))
                    continue
                out = json.loads(pess("certify", log, "--reward-range", "0,1", "--states", "64", "--actions", "4", "--json",
                                      *options))
                found[name].append(out["lower_bound"])
                if name == METHODS[0][0]:
                    logging.append((size, out["behaviour_value_estimate"], out["behaviour_upper_bound"]))
        rows.append((size, [sum(found[name]) / len(found[name]) for name, _, _ in METHODS]))
        print(size, [round(x, 2) for x in rows[-1][1]], flush=True)
    return optimal, logging, rows


def draw(optimal, logging, rows):
    left, top, width, height = 56, 18, 600, 330
    x = lambda n: left + width * (math.log10(n) - 3) / 3
    y = lambda v: top + height * (1 - v / 70)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 24} {top + height + 58 + 20 * 4}" '
           'font-family="system-ui, sans-serif" font-size="13">',
           "<title>Certified lower bound of the chosen policy's value over the size of the log</title>",
           "<style>text{fill:#333}.grid{stroke:#ddd}.axis{stroke:#888}@media(prefers-color-scheme:dark){text{fill:#ddd}"
           ".grid{stroke:#333}.axis{stroke:#888}}</style>"]
    for v in range(0, 71, 10):
        out.append(f'<line class="grid" x1="{left}" x2="{left + width}" y1="{y(v):.1f}" y2="{y(v):.1f}"/>'
                   f'<text x="{left - 8}" y="{y(v) + 4:.1f}" text-anchor="end">{v}</text>')
    for n, text in ((1000, "1,000"), (10000, "10,000"), (100000, "100,000"), (1000000, "1,000,000")):
        out.append(f'<line class="axis" x1="{x(n):.1f}" x2="{x(n):.1f}" y1="{y(0)}" y2="{y(0) + 5}"/>'
                   f'<text x="{x(n):.1f}" y="{y(0) + 20}" text-anchor="middle">{text}</text>')
    out.append(f'<text x="{left + width / 2}" y="{y(0) + 40}" text-anchor="middle">transitions in the log</text>')
    level = sum(e for _, e, _ in logging[-3:]) / 3
    for value, text in ((optimal, "optimal"), (level, "logging policy")):
        out.append(f'<line x1="{left}" x2="{left + width}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#888" '
                   f'stroke-dasharray="5 4"/><text x="{left + 6}" y="{y(value) - 5:.1f}">{text} {value:.1f}</text>')
    for i, (name, _, colour) in enumerate(METHODS):
        points = " ".join(f"{x(n):.1f},{y(max(values[i], 0)):.1f}" for n, values in rows)
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.2"/>')
        for n, values in rows:
            out.append(f'<circle cx="{x(n):.1f}" cy="{y(max(values[i], 0)):.1f}" r="2.6" fill="{colour}"/>')
        lx, ly = left + 300 * (i % 2), top + height + 62 + 20 * (i // 2)
        out.append(f'<line x1="{lx}" x2="{lx + 22}" y1="{ly - 4}" y2="{ly - 4}" stroke="{colour}" stroke-width="3"/>'
                   f'<text x="{lx + 28}" y="{ly}">{name}</text>')
    return "\n".join(out) + "\n</svg>\n"


def main():
    os.makedirs(FOLDER, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        optimal, logging, rows = measure(folder)
    with open(f"{FOLDER}/certificates.csv", "w") as out:
        out.write("transitions," + ",".join('"' + name + '"' for name, _, _ in METHODS) + "\n")
        for size, values in rows:
            out.write(f"{size}," + ",".join(f"{v:.3f}" for v in values) + "\n")
    with open(f"{FOLDER}/certificates.svg", "w") as out:
        out.write(draw(optimal, logging, rows))
    for size in SIZES:
        own = [u for n, _, u in logging if n == size]
        print(f"logging policy at {size}: upper bound {sum(own) / len(own):.2f}")


main()

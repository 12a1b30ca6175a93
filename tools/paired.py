#!/usr/bin/env python3
"""paired.py RUNS.csv A B [--below X]: by how much algorithm A is above B, from runs.csv of an experiment with games.

Names end in -argmax for the control of an algorithm that samples. Scores are divided by the player's return (the data
policy at the smallest x, mean over its trials). The mean over games and x of the mean over trials of A - B, with the
95 % interval of a paired stratified bootstrap: in every game at every x the trials are drawn anew with replacement,
A and B together. --below X leaves out the x from X on.
"""
import argparse
import collections
import csv
import random
import statistics

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("runs")
parser.add_argument("a")
parser.add_argument("b")
parser.add_argument("--below", type=float, default=float("inf"))
arguments = parser.parse_args()


def score(row, name):
    """The score of the row under that name; None where the row is of another algorithm."""
    if row["algorithm"] == name:
        return float(row["score"])
    if row["algorithm"] + "-argmax" == name:
        return float(row["control"])
    return None


rows = list(csv.DictReader(open(arguments.runs, encoding="utf-8")))
least = min(float(row["x"]) for row in rows)
player = collections.defaultdict(dict)
pairs = collections.defaultdict(lambda: collections.defaultdict(dict))
for row in rows:
    x = float(row["x"])
    if x == least:
        player[row["game"]][row["trial"]] = float(row["behaviour"])
    for name in (arguments.a, arguments.b):
        if x < arguments.below and score(row, name) is not None:
            pairs[row["game"], x][row["trial"]][name] = score(row, name)

strata = []
for (game, _), trials in sorted(pairs.items()):
    share = statistics.fmean(player[game].values())
    apart = [(t[arguments.a] - t[arguments.b]) / share for t in trials.values() if len(t) == 2]
    if apart:
        strata.append(apart)
if not strata:
    raise SystemExit(f"paired.py: {arguments.runs}: no trial has both {arguments.a} and {arguments.b}")
draw = random.Random(0)
means = sorted(statistics.fmean(statistics.fmean(draw.choices(s, k=len(s))) for s in strata) for _ in range(10000))
mean = statistics.fmean(map(statistics.fmean, strata))
print(f"{len(strata)} points: {mean:+.4f} [{means[250]:.4f}, {means[-251]:.4f}]")

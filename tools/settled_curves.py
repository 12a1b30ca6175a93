#!/usr/bin/env python3
"""settled_curves.py DIR PESS: draws the learning curves that settled.sh keeps, a panel per game and ε.

Of every runs/GAME/x-X/trial-T/ALGORITHM/curve.csv in DIR, over updates: the return, the predicted and the obtained value
and by how much the former is above the latter, the policy's mass on actions that were never logged in the state, and by
how much the best value of those is above the best of the logged ones. DIR/curves-NAME.png, the mean over trials and
their range. The last five updates, which are scored, are one point, their mean, at the next multiple of EVERY; a
training that has stopped stays there until the longest of its learner's trials has.
"""
import collections
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

EVERY, SCORED = 20, 5


def number(row, column):
    return float(row[column]) if row[column] else None


def overestimated(row):
    return number(row, "predicted") - number(row, "obtained") if row["predicted"] else None


# name: (title, label of y, value of a row of curve.csv)
FIGURES = {
    "return": ("Return while learning", "return", lambda row: number(row, "return")),
    "predicted": ("What values predict for first states", "predicted, discounted", lambda row: number(row, "predicted")),
    "obtained": ("What is obtained from first states", "obtained, discounted", lambda row: number(row, "obtained")),
    "overestimated": ("How far values are above what is obtained", "predicted less obtained", overestimated),
    "unlogged": ("How much the policy leaves the data", "mass on never-logged actions",
                 lambda row: number(row, "unlogged")),
    "gap": ("How attractive the never-logged actions look", "best never-logged less best logged value",
            lambda row: number(row, "gap")),
}


def thinned(rows, value_of):
    """{update: value} of one training, whose last SCORED rows are one."""
    found = {int(row["update"]): value_of(row) for row in rows[:-SCORED]}
    scored = [value_of(row) for row in rows[-SCORED:]]
    if None not in scored:
        found[-(-int(rows[-1]["update"]) // EVERY) * EVERY] = statistics.fmean(scored)
    return {update: value for update, value in found.items() if value is not None}


def together(trials):
    """{update: [values of the trials]}; each stays at its last value until the longest has ended."""
    updates = sorted({update for trial in trials for update in trial})
    return {update: [trial[max(u for u in trial if u <= update)] for trial in trials if min(trial) <= update]
            for update in updates}


def collect(directory):
    """{figure: {(game and ε, algorithm): {update: [values of the trials]}}}"""
    runs = collections.defaultdict(list)
    for path in sorted(directory.glob("runs/*/*/*/*/curve.csv")):
        game, x, _, algorithm = path.parts[-5:-1]
        with open(path, encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["gap"]]
        if rows:  # imitation has no values
            runs[f"{game}  ε = {x.removeprefix('x-')}", algorithm].append(rows)
    return {name: {key: together([trial for trial in (thinned(rows, value_of) for rows in trials) if trial])
                   for key, trials in runs.items()} for name, (_, _, value_of) in FIGURES.items()}


def main():
    directory, pess = pathlib.Path(sys.argv[1]), sys.argv[2]
    for name, curves in collect(directory).items():
        if not curves:
            continue
        counts = sorted(len(values) for curve in curves.values() for values in curve.values())
        trials = "1 trial" if counts[-1] == 1 else f"{counts[0]} to {counts[-1]} trials"
        if 1 < counts[0] == counts[-1]:
            trials = f"{counts[0]} trials"
        with tempfile.TemporaryDirectory() as scratch:
            table = pathlib.Path(scratch, "results.csv")
            with open(table, "w", encoding="utf-8", newline="") as file:
                out = csv.writer(file, lineterminator="\n")
                out.writerow(["game", "algorithm", "x", "trials", "mean", "min", "max"])
                for (panel, algorithm), curve in sorted(curves.items()):
                    for update, values in curve.items():
                        least, most = min(values), max(values)
                        mean = min(max(statistics.fmean(values), least), most)  # rounding must not carry it past them
                        out.writerow([panel, algorithm, update, len(values), mean, least, most])
            title, y_label, _ = FIGURES[name]
            labels = {"format": "pess-minatar", "title": f"{title} ({trials})", "x_label": "update", "y_label": y_label}
            pathlib.Path(scratch, "manifest.json").write_text(json.dumps(labels), encoding="utf-8")
            figure = directory / f"curves-{name}.png"
            subprocess.run([pess, "plot", scratch, "-o", figure, "--quiet"], check=True)


main()

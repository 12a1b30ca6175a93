#!/usr/bin/env python3
"""settled_curves.py DIR PESS: draws the learning curves that settled.sh keeps, a panel per game and ε.

Of every runs/GAME/x-X/trial-T/ALGORITHM/curve.csv in DIR, over updates: the return, by how much the predicted value is
above the obtained one, the policy's mass on actions that were never logged in the state, and by how much the best value
of those is above the best of the logged ones. DIR/curves-NAME.png, the mean over trials and their range.
"""
import collections
import csv
import json
import pathlib
import subprocess
import sys
import tempfile


def number(row, column):
    return float(row[column]) if row[column] else None


def overestimated(row):
    return number(row, "predicted") - number(row, "obtained") if row["predicted"] else None


# name: (title, label of y, value of a row of curve.csv)
FIGURES = {
    "return": ("Return while learning", "return", lambda row: number(row, "return")),
    "overestimated": ("How far values are above what is obtained", "predicted less obtained", overestimated),
    "unlogged": ("How much the policy leaves the data", "mass on never-logged actions",
                 lambda row: number(row, "unlogged")),
    "gap": ("How attractive the never-logged actions look", "best never-logged less best logged value",
            lambda row: number(row, "gap")),
}


def collect(directory):
    """{figure: {(game and ε, algorithm, update): [values of the trials]}}"""
    found = {name: collections.defaultdict(list) for name in FIGURES}
    for path in sorted(directory.glob("runs/*/*/*/*/curve.csv")):
        game, x, _, algorithm = path.parts[-5:-1]
        with open(path, encoding="utf-8") as file:
            for row in csv.DictReader(file):
                for name, (_, _, value_of) in FIGURES.items():
                    if row["gap"] and (value := value_of(row)) is not None:  # imitation has no values
                        panel = f"{game}, ε = {x.removeprefix('x-')}"
                        found[name][panel, algorithm, int(row["update"])].append(value)
    return found


def main():
    directory, pess = pathlib.Path(sys.argv[1]), sys.argv[2]
    for name, points in collect(directory).items():
        if not points:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            table = pathlib.Path(scratch, "results.csv")
            with open(table, "w", encoding="utf-8", newline="") as file:
                out = csv.writer(file, lineterminator="\n")
                out.writerow(["game", "algorithm", "x", "trials", "mean", "min", "max"])
                for (panel, algorithm, update), values in sorted(points.items()):
                    out.writerow([panel.replace(",", " "), algorithm, update, len(values), sum(values) / len(values),
                                  min(values), max(values)])
            title, y_label, _ = FIGURES[name]
            labels = {"format": "pess-minatar", "title": title, "x_label": "update", "y_label": y_label}
            pathlib.Path(scratch, "manifest.json").write_text(json.dumps(labels), encoding="utf-8")
            figure = directory / f"curves-{name}.png"
            subprocess.run([pess, "plot", scratch, "-o", figure, "--quiet"], check=True)


main()

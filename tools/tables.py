#!/usr/bin/env python3
"""tables.py [--check] [PAGE…]: writes anew what pages say of results, so that no number of theirs is typed by hand.

In a page (by default README.md and docs/*.md) what stands between <!-- results KIND DIRECTORY --> and <!-- end of
results --> is made of results.csv, runs.csv, settings.txt and manifest.json in docs/results/DIRECTORY. Kinds:
  status    how many trainings of the plan are finished, and how many sentences hold
  progress  the former, a row per x
  points    a table per x: mean score of every curve in every game, and of how many trials
  shares    a row per curve: at every x its mean over games as a share of the player's return
  rules     what was written down beforehand, and what came of it
  beside/OTHER  two rules for every learner of one-trial results, beside the simple methods of the first trial in OTHER
  growth/LEARNER  scores over the size of the data, and whether the learner's keep improving and end above proximal
Where docs/results has no such directory they say that it has not been run. With --check nothing is written; pages that do not say what the results say are named, and the exit code is 1.
"""
import csv
import json
import pathlib
import re
import statistics
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"
BLOCK = re.compile(r"(<!-- results (\S+) (\S+) -->\n)(.*?)(<!-- end of results -->)", re.S)
LABELS = {"behaviour": "data policy", "trivial-rule": "trivial rule"}


class Results:
    def __init__(self, name):
        directory = RESULTS / name
        self.manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
        settings = dict(line.split("=", 1) for line in (directory / "settings.txt").read_text().splitlines())
        self.games = settings["games"].split(",")
        self.algorithms = settings["algorithms"].split(",")
        self.trials = int(settings["trials"]) * int(settings.get("train-seeds", 1))
        self.sizes = settings["experiment"] == "minatar-data"
        self.xs = [float(x) for x in settings["x"].split(",")]
        self.points = {(row["game"], row["algorithm"], float(row["x"])): row
                       for row in csv.DictReader(open(directory / "results.csv", encoding="utf-8"))}
        self.runs = list(csv.DictReader(open(directory / "runs.csv", encoding="utf-8")))
        self.curves = list(dict.fromkeys(curve for _, curve, _ in self.points))

    def at(self, x):
        return f"{x:,.0f} transitions" if self.sizes else f"ε = {x:g}"

    def trials_of(self, points):
        """ "1 to 2 trials" """
        counts = sorted({int(point["trials"]) for point in points})
        return of(counts[-1], "trial") if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]} trials"

    def player(self, game):
        """What the data policy gets at the smallest x."""
        point = self.points.get((game, "behaviour", min(self.xs)))
        return float(point["mean"]) if point else None

    def share(self, curve, x):
        """Mean over games of the curve's score by that of the player; None where one is missing."""
        shares = [float(self.points[game, curve, x]["mean"]) / self.player(game)
                  for game in self.games if (game, curve, x) in self.points and self.player(game)]
        return statistics.fmean(shares) if len(shares) == len(self.games) else None


def label(curve):
    """proximal-0.25-argmax: proximal α = 0.25, by argmax"""
    name = LABELS.get(curve, curve.removesuffix("-argmax"))
    name = re.sub(r"^(proximal)-([\d.]+)$", r"\1 α = \2", name)
    name = f"`{name}`" if name.startswith(("ua-", "model-", "counts-", "bcq", "cql")) else name
    return name + (", by argmax" if curve.endswith("-argmax") else "")


def title(game):
    return game.replace("_", " ").title()


def number(value):
    return "–" if value is None else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] + ["| " + " | ".join(row) + " |" for row in rows]


def paragraph(text, indent=""):
    return textwrap.wrap(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def of(count, things):
    return f"{count} {things}{'' if count == 1 else 's'}"


def finished(r):
    planned = len(r.algorithms) * r.trials * len(r.xs) * len(r.games)
    return f"{len(r.runs)} of {planned} trainings are finished"


def progress(r):
    whole = len(r.algorithms) * r.trials
    rows = []
    for x in r.xs:
        here = [sum(run["game"] == game and float(run["x"]) == x for run in r.runs) for game in r.games]
        rows.append([r.at(x), *map(str, here)])
    text = f"{finished(r)}. Of {whole} at each point ({of(r.trials, 'trial')}, {len(r.algorithms)} learners):"
    return paragraph(text) + [""] + table(["", *map(title, r.games)], rows)


def points(r):
    lines = []
    for x in r.xs:
        here = {(game, curve): r.points[game, curve, x] for game in r.games for curve in r.curves
                if (game, curve, x) in r.points}
        if not here:
            lines += [f"{r.at(x)}: not yet.", ""]
            continue
        mixed = len({point["trials"] for point in here.values()}) > 1
        head = f"{r.at(x)}, {r.trials_of(here.values())}" + (" (in brackets)" if mixed else "")

        def cell(game, curve):
            point = here.get((game, curve))
            if point is None:
                return "–"
            return number(float(point["mean"])) + (f" ({point['trials']})" if mixed else "")

        rows = [[label(curve), *(cell(game, curve) for game in r.games)] for curve in r.curves]
        lines += table([head, *map(title, r.games)], [row for row in rows if set(row[1:]) != {"–"}]) + [""]
    return lines[:-1]


def shares(r):
    heads, rows = [], []
    for x in r.xs:
        here = [point for (_, _, at), point in r.points.items() if at == x]
        heads.append(r.at(x) + (f", {r.trials_of(here)}" if here else ""))
    for curve in r.curves:
        own = [r.share(curve, x) for x in r.xs]
        rows.append([label(curve), *map(number, own), number(None if None in own else statistics.fmean(own))])
    return table(["share of the player's return", *heads, "all"], rows)


def verdict(claim):
    return {True: "**holds**", False: "**does not hold**", None: "not yet"}[claim["holds"]]


def found(claim):
    return claim["found"] if claim["holds"] is not None else re.sub(r"^not (yet|judged): ", "", claim["found"])


def came_out(r):
    holds = [claim["holds"] for claim in r.manifest["claims"]]
    counts = [sum(held is each for held in holds) for each in (True, False, None)]
    if counts[2] == len(holds):
        return f"none of {len(holds)} sentences that were written down beforehand can be judged yet."
    return (f"of {len(holds)} sentences that were written down beforehand {counts[0]} hold and {counts[1]} do not; "
            f"{counts[2]} cannot be judged yet.").replace("; 0 cannot be judged yet.", ".")


def status(r):
    return paragraph(f"{finished(r)}; {came_out(r)}")


def rules(r):
    claims = r.manifest["claims"]
    lines = paragraph(came_out(r).capitalize()) + [""]
    games = [claim for claim in claims if claim["about"] in r.games and len(r.games) > 1]
    of_games = [text for text in dict.fromkeys(claim["claim"] for claim in games)
                if sum(claim["claim"] == text for claim in games) == len(r.games)]
    cells = {(claim["claim"], claim["about"]): claim for claim in claims}
    rows = [[text, *(f"{verdict(cells[text, game])}: {found(cells[text, game])}" for game in r.games)]
            for text in of_games]
    if rows:
        lines += table(["the paper's sentences", *map(title, r.games)], rows) + [""]
    rest = [claim for claim in claims if claim["claim"] not in of_games]
    about = {**{game: title(game) for game in r.games}, "all games": "all games"}
    rows = [[claim["claim"], about.get(claim["about"], label(claim["about"])), verdict(claim), found(claim)]
            for claim in rest]
    return lines + table(["what the judged learner is held to", "", "", "found"], rows)


SIMPLE = ("naive", "imitation", "proximal")


def beside(r, other):
    """At every point the best of the simple methods, sampled or by argmax, and imitation by argmax."""
    simple, argmax, player = {}, {}, {}
    for run in other.runs:
        point = run["game"], float(run["x"])
        if run["trial"] != "1":
            continue
        player.setdefault(run["game"], {})[point[1]] = float(run["behaviour"])
        if run["algorithm"].split("-")[0] in SIMPLE:
            best = max(float(run["score"]), float(run["control"] or "-inf"))
            simple[point] = max(simple.get(point, best), best)
        if run["algorithm"] == "imitation":
            argmax[point] = float(run["control"])
    lines, rows = [], []
    learners = [curve for curve in r.curves if curve not in LABELS and curve.split("-")[0] not in SIMPLE
                and not curve.endswith("-argmax")]
    here = [(game, x) for game in r.games for x in r.xs]
    for game in r.games:
        body = [["data policy", *(number(player[game].get(x)) for x in r.xs)],
                ["best of naive, imitation, proximal", *(number(simple.get((game, x))) for x in r.xs)],
                ["imitation, by argmax", *(number(argmax.get((game, x))) for x in r.xs)]]
        for curve in learners:
            own = [r.points.get((game, curve, x)) for x in r.xs]
            body.append([label(curve), *(number(float(p["mean"]) if p else None) for p in own)])
        lines += table([title(game), *map(r.at, r.xs)], body) + [""]
    for curve in learners:
        apart = {(game, x): float(r.points[game, curve, x]["mean"]) for game, x in here if (game, curve, x) in r.points}
        level = sum(value >= simple[point] for point, value in apart.items())
        ahead = [(value - argmax[point]) / player[point[0]][min(r.xs)] for point, value in apart.items()]
        whole, lost = len(apart) == len(here), len(apart) - level > len(here) / 10
        rows.append([label(curve), f"{level} of {len(apart)}",
                     "**does not hold**" if lost else "**holds**" if whole else "not yet",
                     f"{statistics.fmean(ahead):+.3f}" if ahead else "–",
                     verdict({"holds": statistics.fmean(ahead) > 0 if whole else None})])
    return lines + table(["one trial", "at or above the best of the simple ones", "", "share above imitation by argmax",
                          ""], rows)


def ranks(values):
    return [sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values]


def growth(r, learner):
    lines, rows = [], []
    curves = [curve for curve in r.curves if curve not in LABELS and not curve.endswith("-argmax")]
    for game in r.games:
        here = [point for (at, curve, _), point in r.points.items() if at == game and curve in curves]
        scores = {curve: [float(r.points[game, curve, x]["mean"]) if (game, curve, x) in r.points else None
                          for x in r.xs] for curve in curves}
        lines += table([f"{title(game)}, {r.trials_of(here)}", *map(r.at, r.xs)],
                       [[label(curve), *map(number, own)] for curve, own in scores.items()]) + [""]
        own, proximal = scores[learner], [scores[curve][-1] for curve in curves if curve.startswith("proximal")]
        if None in [*own, *proximal]:
            rows.append([title(game), "–", "–", "not yet"])
            continue
        correlation = statistics.correlation(ranks(r.xs), ranks(own)) if len(set(own)) > 1 else 0
        holds = correlation >= 0.5 and own[-1] > max(proximal)
        rows.append([title(game), f"{correlation:.2f}", f"{number(own[-1])} against {number(max(proximal))}",
                     verdict({"holds": holds})])
    return lines + table([label(learner), "rank correlation of size and score", "at the largest size against proximal",
                          ""], rows)


WITH = {"beside": lambda r, name: beside(r, Results(name)), "growth": growth}
KINDS = {"status": status, "progress": progress, "points": points, "shares": shares, "rules": rules}


def made(match):
    begin, kind, directory, _, end = match.groups()
    kind, _, other = kind.partition("/")
    if not (RESULTS / directory / "results.csv").exists():
        lines = ["Not run yet."]
    elif kind in WITH:
        lines = WITH[kind](Results(directory), other)
    elif kind in KINDS:
        lines = KINDS[kind](Results(directory))
    else:
        raise SystemExit(f"tables.py: {kind}: found in a page, expected one of {', '.join([*WITH, *KINDS])}")
    return begin + "\n".join(["", *lines, "", ""]) + end


def main():
    arguments = sys.argv[1:]
    if arguments[:1] in (["--help"], ["-h"]):
        print(__doc__)
        return 0
    check = "--check" in arguments
    pages = [pathlib.Path(a) for a in arguments if a != "--check"] or [ROOT / "README.md", *ROOT.glob("docs/*.md")]
    wrong = 0
    for page in pages:
        text = page.read_text(encoding="utf-8")
        new = BLOCK.sub(made, text)
        if new != text and check:
            print(f"{page}: does not say what docs/results says; tools/tables.py writes it anew")
            wrong += 1
        elif new != text:
            page.write_text(new, encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

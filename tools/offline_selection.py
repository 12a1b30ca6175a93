#!/usr/bin/env python3
"""How well do offline criteria pick a policy? On games the truth can be played.

Per dataset: collect it, train an imitation network and every policy of the list, play each (the truth: mean undiscounted
return) and score all of them with one `pess score`. Then, criterion by criterion, Spearman's rank correlation with the
truth and regret@1: (best - chosen)/(best - worst) of the true returns. Finished parts are kept in --work, so it goes on
where it was stopped. Writes policies.csv, criteria.csv and commands.txt into --out; docs/scoring.md shows them. Data are
collected by the players that the committed results were made with.

    tools/offline_selection.py --pess build/pess --work /tmp/selection --out docs/results/offline-selection
"""
import argparse
import csv
import json
import pathlib
import subprocess

DATASETS = [  # name, game, policy, epsilon, transitions, seed
    ("breakout-0.3", "breakout", "breakout", 0.3, 50000, 1),
    ("asterix-0.5", "asterix", "asterix", 0.5, 50000, 1),
    ("space_invaders-0.5", "space_invaders", "space_invaders", 0.5, 50000, 1),
    ("breakout-random", "breakout", None, 1, 50000, 1),
    ("seaquest-0.3", "seaquest", "seaquest", 0.3, 50000, 1),
    ("cartpole-random", "cartpole", None, 1, 30000, 1),
    ("freeway-0.3", "freeway", "freeway", 0.3, 50000, 1),
    # Chosen after the results of the seven above were seen, to try what they suggest (the least "unlogged") on others:
    ("breakout-0.1", "breakout", "breakout", 0.1, 50000, 2),
    ("asterix-0.3", "asterix", "asterix", 0.3, 50000, 2),
    ("seaquest-0.5", "seaquest", "seaquest", 0.5, 50000, 2),
]
POLICIES = [  # learner, its knob
    ("imitation", ""),
    ("naive", ""),
    ("proximal", "--absorbed-alpha 0.25"),
    ("proximal", "--absorbed-alpha 1"),
    ("bcq", "--absorbed-alpha 0.3"),
    ("bcq", "--absorbed-alpha 0.03"),
    ("cql", "--absorbed-alpha 1"),
    ("cql", "--absorbed-alpha 0.1"),
    ("ua-imitation", "--absorbed-alpha 0.5"),
    ("crr", ""),
    ("awac", ""),
    ("iql", ""),
]
# Small on purpose: 84 trainings and evaluations in ten minutes of one core. Evaluation looks 1/(1 - gamma) updates ahead.
NETWORK = ["--network", "dense 128"]
IMITATION = "--imitation-steps 4000 --imitation-batch 128"
TRAIN = ("--protocol quick --updates 60 --steps 100 --batch 128 --rate 0.001 "
         "--eval-every 0 --score-episodes 0")
SCORE = "--protocol quick --networks 4 --updates 100 --steps 60 --batch 128 --rate 0.001"
EPISODES = 200
CRITERIA = ["fqe", "fqe_lower", "per_decision", "weighted", "td_error", "predicted", "unlogged"]
SMALLEST = ("td_error", "unlogged")  # the smallest is taken, otherwise the largest
READS_IMITATION = ("proximal", "bcq", "ua-imitation")


def run(args, work, log):
    """Runs a command, writes it down, and returns what it printed."""
    words = [str(a) for a in args]
    log.append(" ".join(["pess"] + [f"'{w}'" if " " in w else w for w in words[1:]]).replace(str(work) + "/", ""))
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{log[-1]}\n{done.stderr}")
    return done.stdout


def kept(path, make):
    """What a finished part printed; it is made where it is not there."""
    if not path.exists():
        text = make()
        path.write_text(text)
    return json.loads(path.read_text())


def name_of(learner, knob):
    return learner + ("-" + knob.split()[1] if knob else "")


def player_of(root, player):
    """The file of a player: as it was, where it has been trained anew since."""
    earlier = root / "policies" / "earlier" / f"{player}.pessnet"
    return earlier if earlier.exists() else root / "policies" / f"{player}.pessnet"


def study(pess, root, work, dataset, log):
    """The rows of one dataset."""
    label, game, player, epsilon, transitions, seed = dataset
    here = work / label
    here.mkdir(parents=True, exist_ok=True)
    data = here / "data.pessdata"
    if game == "cartpole":
        data = here / "data.npz"
    if not data.exists():
        policy = player_of(root, player) if player else "random"
        run([pess, "collect", game, "--policy", policy, "--epsilon", epsilon, "--transitions", transitions, "--seed", seed,
             "-o", data], work, log)
    imitation = here / "imitation" / "policy.pessnet"
    returns, files = [], []
    for learner, knob in POLICIES:
        name = name_of(learner, knob)
        out = here / name
        extra = TRAIN.split()
        if learner == "imitation":
            extra = ["--score-episodes", 0] + IMITATION.split()
        elif learner in READS_IMITATION:
            extra += ["--imitation", imitation]
        if not (out / "policy.pesspolicy").exists():
            run([pess, "train", data, "-a", learner, *knob.split(), *NETWORK, *extra, "--seed", 1, "--threads", 1, "--resume",
                 "--out", out], work, log)
        played = kept(out / "played.json", lambda: run(
            [pess, "env", "evaluate", game, "--policy", out / "policy.pesspolicy", "--episodes", EPISODES, "--seed", 7,
             "--threads", 1, "--json"], work, log))
        returns.append(played)
        files.append(out / "policy.pesspolicy")
        print(f"{label} {name}: {played['mean_return']:.2f}", flush=True)
    scores = kept(here / "scores.json", lambda: run(
        [pess, "score", *files, data, *NETWORK, *SCORE.split(), "--imitation", imitation, "--threads", 1, "--json"], work, log))
    rows = []
    for (learner, knob), played, score in zip(POLICIES, returns, scores["policies"]):
        row = {"dataset": label, "policy": name_of(learner, knob), "return": played["mean_return"]}
        row.update({key: score[key] for key in CRITERIA + ["fqe_spread"]})
        row["effective"] = score["effective_episodes"]
        row["log_return"] = scores["log_return"]
        rows.append(row)
    return rows


def ranks(values):
    """Mean ranks, ties sharing theirs."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    out = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for k in range(at, end + 1):
            out[order[k]] = (at + end) / 2
        at = end + 1
    return out


def correlation(a, b):
    n = len(a)
    a, b = ranks(a), ranks(b)
    mean_a, mean_b = sum(a) / n, sum(b) / n
    top = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    below = (sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b)) ** 0.5
    return top / below if below > 0 else float("nan")


def judge(rows, criterion):
    """Rank correlation and regret@1 over the policies of a dataset of which the criterion says something."""
    known = [r for r in rows if r[criterion] is not None]
    if len(known) < 2:
        return None
    sign = -1 if criterion in SMALLEST else 1
    values = [sign * r[criterion] for r in known]
    truth = [r["return"] for r in known]
    best, worst = max(r["return"] for r in rows), min(r["return"] for r in rows)
    chosen = truth[max(range(len(known)), key=lambda i: values[i])]
    return {"policies": len(known), "correlation": correlation(values, truth), "regret": (best - chosen) / (best - worst)}


def write(path, rows):
    with path.open("w", newline="") as file:
        out = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def summarise(rows):
    table = []
    for label in dict.fromkeys(r["dataset"] for r in rows):
        own = [r for r in rows if r["dataset"] == label]
        truth = [r["return"] for r in own]
        at_random = (max(truth) - sum(truth) / len(truth)) / (max(truth) - min(truth))
        table.append({"dataset": label, "criterion": "random choice", "policies": len(own), "correlation": 0,
                      "regret": round(at_random, 4)})
        for criterion in CRITERIA:
            found = judge(own, criterion)
            if found:
                table.append({"dataset": label, "criterion": criterion, "policies": found["policies"],
                              "correlation": round(found["correlation"], 4), "regret": round(found["regret"], 4)})
    for criterion in ["random choice"] + CRITERIA:
        own = [r for r in table if r["criterion"] == criterion]
        if own:
            table.append({"dataset": "all (mean)", "criterion": criterion, "policies": sum(r["policies"] for r in own),
                          "correlation": round(sum(r["correlation"] for r in own) / len(own), 4),
                          "regret": round(sum(r["regret"] for r in own) / len(own), 4)})
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pess", default="build/pess", type=pathlib.Path)
    parser.add_argument("--work", default="/tmp/selection", type=pathlib.Path)
    parser.add_argument("--out", default="docs/results/offline-selection", type=pathlib.Path)
    parser.add_argument("--datasets", default=",".join(d[0] for d in DATASETS), help="some of them, by name")
    args = parser.parse_args()
    wanted = args.datasets.split(",")
    unknown = set(wanted) - {d[0] for d in DATASETS}
    if unknown:
        parser.error(f"--datasets: found {', '.join(unknown)}, expected some of {', '.join(d[0] for d in DATASETS)}")
    root = pathlib.Path(__file__).resolve().parent.parent
    rows, log = [], []
    args.work.mkdir(parents=True, exist_ok=True)
    for dataset in (d for d in DATASETS if d[0] in wanted):
        rows += study(args.pess.resolve(), root, args.work.resolve(), dataset, log)
        args.out.mkdir(parents=True, exist_ok=True)
        write(args.out / "policies.csv", rows)
        write(args.out / "criteria.csv", summarise(rows))
        if log:
            with (args.work / "commands.txt").open("a") as file:
                file.write("\n".join(log) + "\n")
            log.clear()
        (args.out / "commands.txt").write_text((args.work / "commands.txt").read_text().replace(str(root) + "/", ""))
    for row in summarise(rows):
        print(f"{row['dataset']:20} {row['criterion']:14} correlation {row['correlation']:6.2f} regret {row['regret']:5.2f}")


if __name__ == "__main__":
    main()

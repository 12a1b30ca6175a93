#!/usr/bin/env python3
"""Kills runs at moments drawn by a seed, goes on with them, and compares the end with a run that nobody killed.

kills.py PESS [--kills N] [--seed N] [--kinds experiment,dqn,train,games]

A kill counts only where it landed: the process was ended by the signal. Runs that ended before it do not count. When a
run is through, its files are those of the whole run, byte by byte, and no temporary file is left.
"""
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

RUNS = {
    "experiment": "experiment gridworld-exploration --trials 6000 --points 3 --rows 4 --cols 4 --threads 2 -o OUT",
    "dqn": "dqn breakout --network value --frames 12000 --envs 8 --replay 3000 --batch 16 --train-every 16 --warmup 500 "
           "--evaluate-every 6000 --evaluate-episodes 2 --final-episodes 4 --checkpoint-every 300 --seed 3 --threads 1 "
           "--out OUT",
    "train": "train data.pessdata -a naive --protocol smoke --network dqn --updates 60 --score-episodes 2 --eval-every 20 "
             "--seed 2 --threads 1 --out OUT",
    "games": "experiment minatar-exploration --games breakout --epsilons 0.2,1 --transitions 300 --algorithms imitation,naive "
             "--protocol smoke --trials 2 --threads 2 --policies PLAYERS --out OUT",
}
PLAYERS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "policies")
# They tell the time.
VARYING = ("manifest.json", "index.html", "log.csv", "checkpoint", "figure.", "runs.csv", "result.json")


def files_below(folder):
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(place, name), "rb") as file:
                found[os.path.relpath(os.path.join(place, name), folder)] = file.read()
    return found


def same_end(folder, whole):
    now = files_below(folder)
    kept = {path for path in whole if not os.path.basename(path).startswith(VARYING)}
    left = [path for path in now if path.endswith(".tmp")]
    other = [path for path in kept if now.get(path) != whole[path]]
    return [f"left behind: {path}" for path in left] + [f"other bytes: {path}" for path in other]


def command(pess, kind, out, *more):
    return [pess, *RUNS[kind].replace("OUT", out).replace("PLAYERS", PLAYERS).split(), *more]


def campaign(pess, kind, kills, rng):
    """Kills until `kills` landed; every run that comes to its end is compared and begun anew."""
    quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    begun = time.monotonic()
    subprocess.run(command(pess, kind, "whole-" + kind), check=True, **quiet)
    seconds, whole = time.monotonic() - begun, files_below("whole-" + kind)
    landed = ended = runs = 0
    problems = []
    while landed < kills:
        shutil.rmtree("pieces", ignore_errors=True)
        runs += 1
        wanted = rng.randint(1, 4)  # kills in this run
        for turn in range(wanted + 1):
            more = ["--resume"] if os.path.isdir("pieces") else []
            process = subprocess.Popen(command(pess, kind, "pieces", *more), **quiet)
            if turn < wanted:
                try:
                    process.wait(rng.random() * seconds)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
            message = process.communicate()[1].decode("utf-8", "replace")
            if process.returncode == -signal.SIGKILL:
                landed += 1
                continue
            ended += 1
            if process.returncode != 0:
                problems.append(f"{kind}: exit {process.returncode} after a kill: {message[-300:]}")
            break
        problems += [f"{kind}, run {runs}: {problem}" for problem in same_end("pieces", whole)]
    return landed, ended, runs, problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pess")
    parser.add_argument("--kills", type=int, default=21)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(RUNS))
    options = parser.parse_args()
    pess, kinds = os.path.abspath(options.pess), options.kinds.split(",")
    rng, problems, total = random.Random(options.seed), [], 0
    os.environ["OMP_WAIT_POLICY"] = "passive"
    with tempfile.TemporaryDirectory(prefix="pess-kills-") as folder:
        os.chdir(folder)
        subprocess.run([pess, *"collect breakout --policy random --transitions 500 -o data.pessdata".split()], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for kind in kinds:
            landed, ended, runs, found = campaign(pess, kind, -(-options.kills // len(kinds)), rng)
            total += landed
            problems += found
            print(f"{kind:12} {landed} kills landed in {runs} runs, {len(found)} problems", flush=True)
        os.chdir("/")
    for problem in problems:
        print("FAILED:", problem)
    print(f"{total} kills landed, {len(problems)} problems; seed {options.seed}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Every allocation and every call that touches a file fails in turn, in many commands.

faults.py PESS FAULTY FAULTS [--samples N] [--sites] [--seed N] [COMMAND...]

FAULTY is the program of tests/tools/faulty.c, FAULTS the library of tests/tools/faults.c. Each command is run once
untouched, which counts its calls; then again with call 1, 2, ... failing (or N of them, drawn by the seed; with --sites
also one from every place in the program that no command before has tried). After each: an exit code that fits (memory 4, files 5; or
0, where the failure did not matter and every file is as it should be), a sentence, nothing half-written, no temporary
file, no more memory lost than without a failure; and the same command then works, with the same bytes.
"""
import argparse
import collections
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading

WARD = "episode,step,pulse,lactate,action,reward,terminal\n" + "".join(
    f"p{e},{t},{60 + 10 * ((e + t) % 5)},{1 + (e * t) % 7},{'wait' if (e + t) % 2 else 'treat'},{t % 2},{int(t == 4)}\n"
    for e in range(12) for t in range(5))

TEXTS = {
    "two.csv": "episode,step,pulse,action,reward,terminal\n" + "".join(
        f"p{e},{t},{60 + 40 * (e % 2)},{(e + t) % 2},{e % 2},{int(t == 4)}\n" for e in range(20) for t in range(5)),
    "log.jsonl": '{"state":"a","action":0,"next_state":"b","reward":1}\n{"state":"b","action":1,"next_state":"a","reward":0.5}\n',
    "decimal.csv": 'episode;step;state;action;reward;terminal\ne1;0;"a;b";x;0,5;0\ne1;1;c;y;1,5;0\ne1;2;a;x;;1\ne2;0;c;x;1,0;1\n',
    "sparse.csv": "state,action,next_state,reward\n0,0,100000000,1\n100000000,0,5,1\n",
}

SMALL_DQN = ("--network dense --frames 300 --envs 4 --replay 200 --batch 8 --train-every 32 --warmup 100 "
             "--evaluate-every 200 --evaluate-episodes 1 --final-episodes 1 --checkpoint-every 150 --seed 3 --threads 1")
SMALL_TRAIN = "--protocol smoke --network dqn --updates 2 --score-episodes 1 --eval-every 1 --threads 1"
PLAYERS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "policies")
TINY_TRAIN = "--protocol smoke --updates 1 --steps 2 --score-episodes 0 --threads 1"
SMALL_GAMES = ("--games breakout --epsilons 1 --transitions 200 --algorithms imitation,naive --protocol smoke --trials 1 "
               "--threads 1")

# What the commands below read; made once.
INPUTS = [
    "mdp gridworld --rows 3 --cols 3 -o mdp.csv --start-out rho.csv",
    "mdp solve mdp.csv -o optimal.csv --gamma 0.9",
    "mdp random --states 20 --actions 2 --branching 3 -o mdp.pessmdp",
    "simulate mdp.csv --policy uniform --episodes 20 --horizon 8 --seed 1 -o log.csv",
    "convert log.csv -o log.csv.gz",
    "convert log.csv -o log.npz",
    "convert log.csv -o log.pesslog",
    "convert log.csv -o log.pesscounts",
    "solve log.csv --gamma 0.9 -o policy.csv",
    "discretize ward.csv --features pulse,lactate --method kmeans --cells 4 -o cells.pessmap",
    "collect breakout --policy random --transitions 300 --seed 1 -o data.pessdata",
    f"dqn breakout {SMALL_DQN} --out player",
    "convert ward.csv --map cells.pessmap -o cells.csv",
    "solve cells.csv --gamma 0.9 -o cells-policy.csv",
    "collect cartpole --policy random --transitions 200 --seed 1 -o cart.npz",
    f"train cart.npz -a cql --game cartpole {TINY_TRAIN} --out cql",
    f"train data.pessdata -a ua-support-net {TINY_TRAIN} --out ua",
    "env record breakout --steps 40 --seed 4 -o game.trace",
    "experiment gridworld-data --trials 9 --points 2 --rows 3 --cols 3 --threads 1 --shard 1/2 -o part-1",
    "experiment gridworld-data --trials 9 --points 2 --rows 3 --cols 3 --threads 1 --shard 2/2 -o part-2",
    f"experiment minatar-exploration {SMALL_GAMES} --out games",
]

# The command; IN/ are the inputs. What it writes lies in the directory it runs in.
COMMANDS = {
    "mdp": "mdp gridworld --rows 3 --cols 3 -o mdp.csv --start-out rho.csv",
    "mdp-random": "mdp random --states 20 --actions 2 --branching 3 -o mdp.csv",
    "mdp-binary": "mdp random --states 20 --actions 2 --branching 3 -o mdp.pessmdp",
    "mdp-binary-solve": "mdp solve IN/mdp.pessmdp --gamma 0.9 -o policy.csv",
    "mdp-solve": "mdp solve IN/mdp.csv --start IN/rho.csv --gamma 0.9 -o policy.csv --values values.csv",
    "mdp-evaluate": "mdp evaluate IN/mdp.csv --policy IN/optimal.csv --gamma 0.9",
    "simulate": "simulate IN/mdp.csv --policy uniform --episodes 5 --horizon 6 -o log.csv --threads 1",
    "inspect": "inspect IN/log.csv --threads 1",
    "inspect-gzip": "inspect IN/log.csv.gz --json --threads 1",
    "inspect-data": "inspect IN/data.pessdata",
    "solve": "solve IN/log.csv --gamma 0.9 -o policy.csv --values values.csv --threads 1",
    "solve-npz": "solve IN/log.npz --gamma 0.9 -a proximal -o policy.csv --threads 1",
    "solve-counts": "solve IN/log.pesscounts --gamma 0.9 --start IN/rho.csv -o policy.csv --threads 1",
    "evaluate": "evaluate IN/log.csv --policy IN/policy.csv --gamma 0.9 --threads 1",
    "choose": "choose IN/log.csv --gamma 0.9 --folds 3 -o policy.csv --threads 1",
    "certify": "certify IN/log.csv --gamma 0.9 --reward-range 0,1 -o policy.csv --report page --threads 1",
    "gaps": "gaps IN/log.csv --gamma 0.9 --threads 1",
    "theorems": "theorems IN/mdp.csv IN/log.csv --gamma 0.9 --threads 1",
    "discretize": "discretize IN/ward.csv --features pulse,lactate --method kmeans --cells 4 -o cells.pessmap --threads 1",
    "convert-map": "convert IN/ward.csv --map IN/cells.pessmap -o states.csv",
    "convert-npz": "convert IN/log.csv -o log.npz",
    "convert-gzip": "convert IN/log.pesslog -o log.csv.gz",
    "convert-counts": "convert IN/log.csv -o log.pesscounts",
    "collect": "collect breakout --policy random --transitions 100 --seed 1 -o data.pessdata --threads 1",
    "net-info": "net info IN/player/policy.pessnet",
    "play": "play breakout --policy random --record game.gif --steps 5",
    "experiment": "experiment gridworld-data --trials 2 --points 2 --rows 3 --cols 3 --threads 1 -o results",
    "dqn": f"dqn breakout {SMALL_DQN} --out run",
    "inspect-jsonl": "inspect IN/log.jsonl --json --threads 1",
    "inspect-decimal": "inspect IN/decimal.csv --missing reward=0 --last-row terminal --threads 1",
    "inspect-sparse": "inspect IN/sparse.csv --threads 1",
    "solve-robust": "solve IN/log.pesslog --gamma 0.9 -a robust -u l1 -o policy.csv --threads 1",
    "solve-spibb": "solve IN/log.csv --gamma 0.9 -a spibb -o policy.csv --threads 1",
    "solve-density": "solve IN/log.csv --gamma 0.9 -a density-proximal -o policy.csv --threads 1",
    "solve-duipi": "solve IN/log.csv --gamma 0.9 -a duipi -o policy.csv --threads 1",
    "estimators": "evaluate IN/log.csv --policy IN/policy.csv --gamma 0.9 --estimators --threads 1",
    "certify-robust": "certify IN/log.csv --gamma 0.9 --reward-range 0,1 --method robust -u support -o policy.csv --threads 1",
    "certify-given": "certify IN/log.csv --gamma 0.9 --reward-range 0,1 --policy IN/policy.csv --json --threads 1",
    "gaps-policy": "gaps IN/log.csv --policy IN/policy.csv --gamma 0.9 -u bernstein --json --threads 1",
    "discretize-tree": "discretize IN/two.csv --features pulse --method tree --cells 2 --share 1 -o cells.pessmap --threads 1",
    "discretize-bins": "discretize IN/ward.csv --features pulse,lactate --method bins -o cells.pessmap --threads 1",
    "act-map": "act IN/ward.csv --policy IN/cells-policy.csv --map IN/cells.pessmap --log IN/ward.csv --json --probabilities",
    "act-states": "act IN/log.csv --policy IN/policy.csv",
    "act-network": "act IN/cart.npz --policy IN/cql/policy.pessnet",
    "score": "score IN/cql IN/cart.npz --protocol smoke --updates 1 --steps 2 --batch 8 --imitation-steps 10 "
             "--imitation-batch 8 --threads 1 --json",
    "compare": "compare IN/games --threads 1 --report page",
    "merge": "merge IN/part-1 IN/part-2 --out merged",
    "merge-counts": "merge IN/log.csv.gz IN/log.pesscounts --out merged.pesscounts",
    "merge-games": "merge IN/games --out merged",
    "plot": "plot IN/games -o figure.svg",
    "env-list": "env list --json",
    "env-record": "env record breakout --steps 10 --seed 4 -o game.trace",
    "env-replay": "env replay IN/game.trace --json",
    "env-evaluate": "env evaluate breakout --policy IN/ua/policy.pesspolicy --episodes 1 --step-limit 20 --threads 1",
    "net-bundle": "net info IN/ua/policy.pesspolicy --json",
    "export-c": "net export IN/cql/policy.pessnet -o policy.c",
    "export-onnx": "net export IN/ua/policy.pesspolicy -o policy.onnx",
    "export-npz": "net export IN/cql/policy.pessnet -o policy.npz",
    "list": "list learners --json",
    "help": "help certify",
    "bandit": "experiment bandit --trials 2 --algorithms naive,ua:count --threads 1 -o results",
    "games": f"experiment minatar-exploration {SMALL_GAMES} --policies PLAYERS -o results",
    "train-ua": f"train IN/data.pessdata -a ua-support-net {TINY_TRAIN} --out run",
    "train-cql": f"train IN/cart.npz -a cql --game cartpole {TINY_TRAIN} --out run",
    "train": f"train IN/data.pessdata -a naive {SMALL_TRAIN} --out run",
}

# Columns and keys of time and place differ from run to run; so these files only have to be there, and whole.
VARYING = ("manifest.json", "index.html", "log.csv", "checkpoint-", "figure.", "runs.csv", "result.json")
ONCE = ("merge", "merge-games")  # refuse a directory that is whole
RESUMABLE = ("dqn", "train", "train-ua", "train-cql", "experiment", "bandit", "games")


class Tried(Exception):
    pass


Outcome = collections.namedtuple("Outcome", "code said calls live")


def files_below(folder):
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


class House:
    def __init__(self, pess, faulty, faults, folder, inputs=INPUTS):
        self.faulty, self.faults, self.folder = faulty, faults, folder
        self.inputs = os.path.join(folder, "in")
        os.mkdir(self.inputs)
        with open(os.path.join(self.inputs, "ward.csv"), "w", encoding="utf-8") as file:
            file.write(WARD)
        for name, text in TEXTS.items():
            with open(os.path.join(self.inputs, name), "w", encoding="utf-8") as file:
                file.write(text)
        for command in inputs:
            done = subprocess.run([pess, *command.split()], cwd=self.inputs, capture_output=True, text=True)
            if done.returncode != 0:
                raise Tried(f"{command}: exit {done.returncode}: {done.stderr}")
        self.begin()

    def arguments(self, command):
        return [word.replace("IN/", self.inputs + "/").replace("PLAYERS", PLAYERS) for word in command.split()]

    def begin(self):
        environment = dict(os.environ, OMP_WAIT_POLICY="passive", OMP_NUM_THREADS="1", LD_PRELOAD=self.faults,
                           SOURCE_DATE_EPOCH="0")
        self.program = subprocess.Popen([self.faulty], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def end(self):
        self.program.stdin.close()
        self.program.wait()

    def printed(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read().decode("utf-8", "replace")

    def run(self, command, folder, fault="none"):
        return self.run_words(self.arguments(command), folder, fault)

    def run_words(self, words, folder, fault="none"):
        """What the command came to: its exit code, what it said, its calls and what it did not free."""
        if self.program.poll() is not None:
            self.begin()
        self.program.stdin.write("\t".join([fault, folder, *words]) + "\n")
        self.program.stdin.flush()
        # a command that never ends is ended, and its answer is empty
        watch = threading.Timer(120, self.program.kill)
        watch.start()
        answer = self.program.stdout.readline().split()
        watch.cancel()
        if not answer:
            raise Tried(f"ended by a signal or without its end: code {self.program.wait()}: {self.printed('err')[-300:]}")
        code, memory, io, live = map(int, answer)
        return Outcome(code, self.printed("err"), {"memory": memory, "io": io}, live)


def varies(name):
    return any(os.path.basename(name).startswith(part) for part in VARYING)


def check(name, kind, done, usual, plain, files, good):
    if done.code not in (usual, {"memory": 4, "io": 5}[kind]):
        raise Tried(f"exit {done.code}: {done.said[-300:]}")
    if done.code != usual and not any(line.startswith("pess") for line in done.said.split("\n")):
        raise Tried(f"exit {done.code} without a sentence: {done.said[-300:]!r}")
    left = [path for path in files if path.endswith(".tmp")]
    if left:
        raise Tried(f"temporary files are left: {left}")
    if done.code == usual and set(files) != set(good):
        raise Tried(f"exit {usual}, but other files: {sorted(set(files) ^ set(good))}")
    for path, content in files.items():
        half = path in good and content != good[path] and not varies(path)
        if half and not (name in RESUMABLE and done.code != usual):
            raise Tried(f"exit {done.code}, but {path} is neither absent nor what it should be")
    if done.live > plain.live:
        raise Tried(f"{done.live - plain.live} allocations were not freed")


def new_places(house, command, folder, tried):
    """The first call from each place in the program (a chain of callers) that is not among those tried: kind -> calls."""
    sites, calls = os.path.join(house.folder, "sites"), collections.defaultdict(list)
    house.run(command, folder, "sites:" + sites)
    with open(sites, encoding="utf-8") as file:
        for kind, call, place in map(str.split, file):
            if place not in tried:
                tried.add(place)
                calls[kind].append(int(call))
    return calls


def try_command(house, name, samples, rng, kinds, places_tried=None):
    command, folder = COMMANDS[name], os.path.join(house.folder, "run")

    def fresh():
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)

    for _ in range(2):  # what is made once and kept, the first run makes
        fresh()
        plain = house.run(command, folder)
    if plain.code not in (0, 1, 7):
        raise Tried(f"{name}: exit {plain.code} untouched: {plain.said[-300:]}")
    good, failures, tried, sites = files_below(folder), [], {}, {}
    if places_tried is not None:
        fresh()
        sites = new_places(house, command, folder, places_tried)
    for kind in kinds:
        places = list(range(1, plain.calls[kind] + 1))
        if samples and len(places) > samples:
            places = sorted({*rng.sample(places, samples), *sites.get(kind, [])})
        tried[kind] = len(places), plain.calls[kind]
        for place in places:
            fresh()
            try:
                done = house.run(command, folder, f"{kind}:{place}")
                check(name, kind, done, plain.code, plain, files_below(folder), good)
                if name in ONCE and done.code == plain.code:
                    continue
                begun = any(os.path.isdir(os.path.join(folder, out)) for out in ("run", "results"))
                again = house.run(command + (" --resume" if name in RESUMABLE and begun else ""), folder)
                after = files_below(folder)
                if again.code != plain.code or any(after.get(p) != good[p] for p in good if not varies(p)):
                    raise Tried(f"the next run: exit {again.code}: {again.said[-300:]}")
            except Tried as problem:
                failures.append(f"{name}, {kind} {place}: {problem}")
    return tried, failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pess")
    parser.add_argument("faulty")
    parser.add_argument("faults")
    parser.add_argument("commands", nargs="*")
    parser.add_argument("--samples", type=int, default=0, help="of each kind in each command; 0: all")
    parser.add_argument("--sites", action="store_true", help="and one call from every place that makes any")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default="memory,io")
    options = parser.parse_intermixed_args()
    rng, failures, total = random.Random(options.seed), [], 0
    places = set() if options.sites else None
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="pess-faults-", dir=place) as folder:
        house = House(*map(os.path.abspath, (options.pess, options.faulty, options.faults)), folder)
        for name in options.commands or COMMANDS:
            tried, found = try_command(house, name, options.samples, rng, options.kinds.split(","), places)
            total += sum(count for count, _ in tried.values())
            failures += found
            print(f"{name:16}" + "".join(f" {kind} {count} of {all_}," for kind, (count, all_) in tried.items())
                  + f" {len(found)} failed", flush=True)
        house.end()
    for failure in failures:
        print("FAILED:", failure)
    print(f"{total} failures tried in {len(options.commands or COMMANDS)} commands, {len(failures)} not in order; "
          f"seed {options.seed}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

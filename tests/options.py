#!/usr/bin/env python3
"""Every option of every command with values that are odd: options.py PESS FAULTY FAULTS

Behind it stands an option that does not exist, so nothing is computed: the value is refused, or that option is. Either
is one sentence of the program's, exit code 2, 3 or 5, and no file. The commands run in one process (tests/tools/faulty.c).
"""
import os
import re
import subprocess
import sys
import tempfile

import faults

VALUES = ["", "x", "-1", "1e999", "nan", "1,2,3", "2,1", "99999999999999999999", "a=b=c", "9" * 400]
INNER = {"mdp": ["gridworld", "random", "solve", "evaluate"], "env": ["list", "evaluate", "record", "replay", "bench"],
         "net": ["info", "export"], "experiment": ["gridworld-data", "bandit", "minatar-data"]}
SKIPPED = {"--help", "--json", "--quiet", "--max-memory"}


def commands_of(pess):
    overview = subprocess.run([pess, "--help"], capture_output=True, text=True, check=True).stdout
    for name in re.findall(r"^  ([a-z]+) +", overview.split("Commands:")[1].split("\n\n")[0], re.M):
        yield name
        for inner in INNER.get(name, []):
            yield f"{name} {inner}"


def options_of(pess, command):
    text = subprocess.run([pess, "help", *command.split()], capture_output=True, text=True).stdout
    return [option for option in re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", text, re.M) if option not in SKIPPED]


def main():
    pess, faulty, library = map(os.path.abspath, sys.argv[1:4])
    problems, tried = [], 0
    with tempfile.TemporaryDirectory(prefix="pess-options-") as folder:
        house = faults.House(pess, faulty, library, folder, inputs=[])
        run = os.path.join(folder, "run")
        os.mkdir(run)
        for command in commands_of(pess):
            for option in options_of(pess, command):
                for words in [*([option, value] for value in VALUES),
                              *([f"{option}={value}"] for value in VALUES[:2])]:
                    done = house.run_words([*command.split(), *words, "--no-such-option"], run)
                    tried += 1
                    if done.code not in (2, 3, 5):
                        problems.append(f"{command} {words}: exit {done.code}: {done.said[-200:]}")
                    elif not done.said.startswith("pess"):
                        problems.append(f"{command} {words}: exit {done.code} without a sentence: {done.said[-200:]!r}")
        problems += [f"written: {name}" for name in os.listdir(run)]
        house.end()
    for problem in problems[:50]:
        print("FAILED:", problem)
    print(f"{tried} odd options, {len(problems)} not in order")
    return 1 if problems or tried < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())

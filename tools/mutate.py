#!/usr/bin/env python3
"""mutate.py [--count N] [--seed N] [--build DIR] [--quick] [FILE...]: do the tests notice when the library is wrong?

A mutant is one changed line of src/ (or of the files given): an operator, a constant, a comparison off by one, a
statement left out. Its file alone is compiled, in a scratch directory, and linked before the library of the build,
which has to be up to date; the first test that fails kills it, of those that use what the file defines, those that say
most about it first and slow ones last; with --commands then the scripts of tests/cli for its folder, with a program
that is linked in the same way. Before a test's first kill counts, it has to pass with the library as it is. A mutant
that does not compile is drawn again. Survivors are printed with their line: they are to be argued
(tests/data/survivors.txt), or to be met with a test. Most mutants die within seconds: --quick tries short tests alone,
--again LOG judges what a log calls survivors anew. --skip N goes on after the first N mutants of the seed.
"""
import argparse
import functools
import glob
import json
import os
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile

CHANGES = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r" && ", " || "), (r" \|\| ", " && "),
    (r"\+\+", "--"), (r"\b0\b", "1"), (r"\b1\b", "2"), (r"\b1\b", "0"), (r"(?<=\()!", ""), (r"\bfalse\b", "true"),
    (r"\btrue\b", "false"),
]
FREES = re.compile(r"\bfree\(|_destroy\(|_free\(|close\(")  # leaks are what sanitizers and tests/faults.py count
MAXIMUM = re.compile(r"if \(([^()]+) [<>] ([^()]+)\) \2 = \1;")  # with <= or >= it is the same one
STATEMENT = re.compile(r"^(\s+)[A-Za-z_][\w\->\.\[\]\* ]*(\(.*\)| = .*| \+= .*);$")


def code_lines(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    places = [i for i, line in enumerate(lines)
              if line.startswith("    ") and not re.match(r"\s*(\*|/\*|//|#|pess__fail|return pess__fail|\")", line)]
    return lines, places


def places_of(pattern, line):
    """Matches outside of texts and comments: sentences are not what is tried."""
    code = line.split("/*")[0]
    return [found for found in re.finditer(pattern, code) if code[:found.start()].count('"') % 2 == 0]


def mutate(line, rng):
    if FREES.search(line):
        return None
    ways = [(pattern, text) for pattern, text in CHANGES if places_of(pattern, line)]
    if MAXIMUM.search(line):
        ways = [way for way in ways if way[1] not in (" <= ", " >= ")]
    if STATEMENT.match(line) and "return" not in line:
        ways.append((None, None))
    if not ways:
        return None
    pattern, text = rng.choice(ways)
    if pattern is None:
        return STATEMENT.match(line).group(1) + ";"
    found = rng.choice(places_of(pattern, line))
    return line[:found.start()] + text + line[found.end():]


SLOW = 3  # seconds: tests that take longer come last
FEW_SECONDS = 25  # of the processor: how busy the machine is kills no mutant
SKIPPED = 77  # the exit code of a test that cannot run here
PATIENCE = 20  # as many times longer by the clock: a test that waits for ever


@functools.cache
def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


@functools.cache
def words_of(path):
    return re.findall(r"[\w/\.]+", text_of(path))


@functools.cache
def defined_in(path):
    """The functions that the file offers to others, and those that its header declares."""
    there = [text_of(place) for place in (path, path[:-2] + ".h") if os.path.exists(place)]
    return frozenset(re.findall(r"^(?!static)[a-z_][\w \*]*?\b(pess_\w+)[\( ]", "\n".join(there), re.M))


def callers_of(path, names):
    """What the files offer that use these names."""
    others = (other for other in glob.glob("src/**/*.c", recursive=True) if other != path)
    return frozenset().union(*(defined_in(other) for other in others if not names.isdisjoint(words_of(other))))


@functools.cache
def tests_for(path):
    """Names of tests: those that most often name what the file defines, or those define that use it, its header, its
    folder or the file."""
    names, folder = defined_in(path), path.split("/")[1]
    callers = callers_of(path, names)
    stem, weights = os.path.splitext(os.path.basename(path))[0], {}
    for test in glob.glob("tests/test_*.c"):
        words, title = words_of(test), os.path.splitext(os.path.basename(test))[0]
        weight = sum(word in names for word in words) + 20 * (f"{folder}/{stem}.h" in words)
        weight += min(sum(word in callers for word in words), 30) / 2
        weight += 10 * min(sum(stem in word for word in words), 5)
        weight += 50 * (stem in title) + 5 * (folder in title) + sum(part in title for part in stem.split("_"))
        weight += 20 * len(set(stem.split("_")) & set(title.split("_")))
        weight += sum(word.startswith(folder + "/") for word in words)
        weights[title] = weight
    return sorted(weights, key=weights.get, reverse=True)


def costs_of(build):
    """How many seconds each test took, as far as ctest remembers."""
    path = os.path.join(build, "Testing/Temporary/CTestCostData.txt")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        rows = [line.split() for line in file]
    return {row[0]: float(row[2]) for row in rows if len(row) == 3}


def run(command, cwd, seconds):
    """The exit code, which is not 0 where it takes more seconds of the processor."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=limit,
                               env=dict(os.environ, OMP_WAIT_POLICY="passive", CMOCKA_TEST_ABORT="1"))
    try:
        return process.wait(PATIENCE * seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait() or -1


# The scripts of tests/cli that use most of a folder of src/, the shortest first.
SCRIPTS = {
    "cells": "cells act", "certify": "declared episodes certify", "choose": "choose", "compare": "compare",
    "core": "bad_input commands trust sources", "data": "logs counts sources observations act bad_input",
    "deep": "acting collect train",
    "env": "env players", "experiment": "experiment minatar", "model": "commands logs", "nn": "dqn train",
    "policy": "act commands", "report": "compare experiment certify minatar", "score": "score", "simulate": "commands",
    "solve": "commands by_hand", "uncertainty": "commands certify",
}


class Build:
    """How a build compiles its files and links its tests."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        with open(os.path.join(folder, "compile_commands.json"), encoding="utf-8") as file:
            self.compiled = json.load(file)
        self.links, self.costs, self.scripts, self.passing = {}, costs_of(folder), {}, {}

    def seconds(self, test):
        """Of the processor that a test may take: many times what it took, in all its threads."""
        return int(max(FEW_SECONDS, 10 * self.costs.get(test, 0)))

    def fails(self, test, command, unchanged, cwd):
        """Does the command fail, which runs the test with a mutant, where the unchanged one passes?"""
        seconds = self.seconds(test)
        if self.passing.get(test) is False or run(command, cwd, seconds) in (0, SKIPPED):
            return False
        if test not in self.passing:
            self.passing[test] = run(unchanged, cwd, seconds) == 0
            if not self.passing[test]:
                print(f"{test} is left out: it fails with the library as it is", flush=True)
        return self.passing[test]

    def compile(self, path, text, scratch):
        """Objects of the changed file, one for each set of instructions it is compiled for; None: it does not compile."""
        changed, objects = os.path.join(scratch, path.removeprefix("src/")), []
        os.makedirs(os.path.dirname(changed), exist_ok=True)
        with open(changed, "w", encoding="utf-8") as file:
            file.write(text)
        for entry in self.compiled:
            if os.path.abspath(entry["file"]) != os.path.abspath(path) or not re.search(r" -o \S*/pess_", entry["command"]):
                continue
            words = [word for word in shlex.split(entry["command"]) if word != "-O3"]
            words[words.index("-o") + 1] = os.path.join(scratch, f"{len(objects)}.o")
            words[words.index("-c") + 1] = changed
            if run([*words, "-O1", "-w", "-I" + os.path.dirname(os.path.abspath(path))], entry["directory"], 300) != 0:
                return None
            objects.append(os.path.join(scratch, f"{len(objects)}.o"))
        return objects

    def compile_test(self, test, path, scratch):
        """A test that includes the file itself sees the changed one; its object, or None where it does not include it."""
        for entry in self.compiled:
            if not entry["file"].endswith(f"/tests/{test}.c"):
                continue
            with open(entry["file"], encoding="utf-8") as file:
                if f'#include "{path.removeprefix("src/")}"' not in file.read():
                    return None
            words, out = shlex.split(entry["command"]), os.path.join(scratch, "test.o")
            built = words[words.index("-o") + 1]
            words[words.index("-o") + 1] = out
            words.insert(next(i for i, word in enumerate(words) if word.startswith("-")), "-I" + scratch)  # the first
            return (built, out) if run([*words, "-w"], entry["directory"], 300) == 0 else None
        return None

    def link(self, test, path, objects, scratch, program):
        """The test with these objects instead of those of the library."""
        if test not in self.links:
            found = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", "tests/" + test], capture_output=True,
                                   text=True, check=False).stdout.strip().split("\n")[-1]
            self.links[test] = found.removeprefix(": && ").removesuffix(" && :") if "libpess_tested.a" in found else None
        if self.links[test] is None:
            return False
        words = shlex.split(self.links[test])
        words[words.index("-o") + 1] = program
        included = self.compile_test(test, path, scratch)
        if included is not None:
            words = [included[1] if word == included[0] else word for word in words]
        else:
            words[words.index("libpess_tested.a"):words.index("libpess_tested.a")] = objects
        return run(words, self.folder, 300) == 0


    def link_program(self, objects, scratch):
        """pess with these objects."""
        found = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", "pess"], capture_output=True, text=True,
                               check=False).stdout.strip().split("\n")[-1].removeprefix(": && ").removesuffix(" && :")
        words, program = shlex.split(found), os.path.join(scratch, "pess")
        words[words.index("-o") + 1] = program
        words[words.index("libpess.a"):words.index("libpess.a")] = objects
        return program if run(words, self.folder, 300) == 0 else None

    def environment_of(self, script):
        """What ctest sets for it."""
        if not self.scripts:
            listed = subprocess.run(["ctest", "--test-dir", self.folder, "--show-only=json-v1"], capture_output=True,
                                    text=True, check=False).stdout
            self.scripts = {test["name"]: {p["name"]: p["value"] for p in test["properties"]}
                            for test in json.loads(listed)["tests"]}
        return dict(row.split("=", 1) for row in self.scripts["cli_" + script]["ENVIRONMENT"])


def killed_by_script(build, path, objects, scratch):
    program = build.link_program(objects, scratch)
    for script in SCRIPTS.get(path.split("/")[1], "").split() if program else []:
        words = [f"{name}={value}" for name, value in build.environment_of(script).items()]
        unchanged = ["env", *words, "bash", os.path.abspath(f"tests/cli/{script}.sh")]  # it changes its directory
        if build.fails("cli_" + script, ["env", *words, "PESS=" + program, *unchanged[-2:]], unchanged, "."):
            return f"killed by cli_{script}"
    return None


def judge(build, path, text, scratch, options):
    """killed, survived, or None where it does not compile."""
    objects, program = build.compile(path, text, scratch), os.path.join(scratch, "test")
    if not objects:
        return None
    slow = {test: build.costs.get(test, 0) > SLOW for test in tests_for(path)}
    tried = [test for test in slow if not (options.quick and slow[test])][:options.tests]
    for test in sorted(tried, key=slow.get):
        unchanged = [os.path.join(build.folder, "tests", test)]
        if build.link(test, path, objects, scratch, program) and build.fails(test, [program], unchanged, scratch):
            return f"killed by {test}"
    if not differs(build, path, objects, scratch):
        return None
    objects = build.compile(path, text, scratch)
    return (options.commands and killed_by_script(build, path, objects, scratch)) or "survived"


def differs(build, path, objects, scratch):
    """Does the compiler make anything else of it? A line that is not compiled here, or a change that means the same."""
    changed = []
    for name in objects:
        with open(name, "rb") as file:
            changed.append(file.read())
    with open(path, encoding="utf-8") as file:
        objects = build.compile(path, file.read(), scratch)
    for name, bytes_ in zip(objects, changed):
        with open(name, "rb") as file:
            if file.read() != bytes_:
                return True
    return False


def drawn_mutants(options):
    """(path, place, lines, changed line), by the seed."""
    rng, drawn = random.Random(options.seed), 0
    files = options.files or sorted(glob.glob("src/*/*.c") + glob.glob("src/env/minatar/*.c"))
    files = [path for path in files if not path.startswith("src/scale/")]  # of many processes
    while True:
        path = rng.choice(files)
        lines, places = code_lines(path)
        place = rng.choice(places) if places else None
        changed = mutate(lines[place], rng) if place is not None else None
        drawn += changed is not None
        if changed is not None and drawn > options.skip:
            yield path, place, lines, changed


def survivors_of(log):
    """The survivors that a log of this program names, as long as their lines are what they were."""
    with open(log, encoding="utf-8") as file:
        found = re.findall(r"^\d+/\d+ survived: (\S+?):(\d+): (.*)  ->  (.*)$", file.read(), re.M)
    for path, number, before, changed in found:
        lines, places = code_lines(path)
        same = [i for i in places if lines[i].strip() == before]
        place = min(same, key=lambda i: abs(i + 1 - int(number)), default=None)  # the nearest, where lines have moved
        if place is not None:
            yield path, place, lines, lines[place].replace(before, changed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", default="build")
    parser.add_argument("--floor", type=float, default=0.9, help="share that has to be killed")
    parser.add_argument("--skip", type=int, default=0, help="mutants of the seed that were judged before")
    parser.add_argument("--again", help="the survivors that this log of the program names, and no others")
    parser.add_argument("--quick", action="store_true", help="without the tests that take more than a few seconds")
    parser.add_argument("--tests", type=int, default=8, help="as many of the likeliest are tried")
    parser.add_argument("--commands", action="store_true", help="those that survive are tried by tests/cli too")
    parser.add_argument("files", nargs="*")
    options = parser.parse_intermixed_args()
    build, survivors, done = Build(options.build), [], 0
    for path, place, lines, changed in survivors_of(options.again) if options.again else drawn_mutants(options):
        lines[place], before = changed, lines[place]
        with tempfile.TemporaryDirectory(prefix="pess-mutants-") as scratch:
            verdict = judge(build, path, "\n".join(lines), scratch, options)
        if verdict is None:
            continue
        done += 1
        what = f"{path}:{place + 1}: {before.strip()}  ->  {changed.strip()}"
        print(f"{done}/{options.count} {verdict}: {what}", flush=True)
        if verdict == "survived":
            survivors.append(what)
        if done == options.count:
            break
    share = 1 - len(survivors) / max(done, 1)
    print(f"{done} mutants, {len(survivors)} survived ({100 * share:.1f} % killed); seed {options.seed}")
    for survivor in survivors:
        print("survived:", survivor)
    return 0 if share >= options.floor else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""mutate.py [--count N] [--seed N] [--build DIR] [FILE...]: do the tests notice when the library is wrong?

A mutant is one changed line of src/ (or of the files given): an operator, a constant, a comparison off by one, a
statement left out. Each is built in a copy of the tree and killed by the first test that fails, of those that use what
the file defines, those that say most about it first; a mutant that does not compile is drawn again. Survivors are
printed with their line: they are to be argued (tests/data/survivors.txt), or to be met with a test. --skip N goes on
after the first N mutants of the seed.
"""
import argparse
import glob
import os
import random
import re
import subprocess
import sys
import tempfile

CHANGES = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r" && ", " || "), (r" \|\| ", " && "),
    (r"\+\+", "--"), (r"\b0\b", "1"), (r"\b1\b", "2"), (r"\b1\b", "0"), (r"(?<=\()!", ""), (r"\bfalse\b", "true"),
    (r"\btrue\b", "false"),
]
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
    ways = [(pattern, text) for pattern, text in CHANGES if places_of(pattern, line)]
    if STATEMENT.match(line) and "return" not in line:
        ways.append((None, None))
    if not ways:
        return None
    pattern, text = rng.choice(ways)
    if pattern is None:
        return STATEMENT.match(line).group(1) + ";"
    found = rng.choice(places_of(pattern, line))
    return line[:found.start()] + text + line[found.end():]


MOST_TESTS = 8
FEW_SECONDS = 120


def defined_in(tree, path):
    """The functions that the file offers to others, and those that its header declares."""
    names = set()
    for place in (path, path[:-2] + ".h"):
        if os.path.exists(os.path.join(tree, place)):
            with open(os.path.join(tree, place), encoding="utf-8") as file:
                names |= set(re.findall(r"^(?!static)[a-z_][\w \*]*?\b(pess_\w+)[\( ]", file.read(), re.M))
    return names


def tests_for(tree, path):
    """Names of tests, best first: by how often they name what the file defines, its header, its folder or the file."""
    names, folder = defined_in(tree, path), path.split("/")[1]
    stem, weights = os.path.splitext(os.path.basename(path))[0], {}
    for test in glob.glob(os.path.join(tree, "tests/test_*.c")):
        with open(test, encoding="utf-8") as file:
            words = re.findall(r"[\w/\.]+", file.read())
        weight = sum(word in names for word in words) + 20 * (f"{folder}/{stem}.h" in words)
        title = os.path.splitext(os.path.basename(test))[0]
        weight += 50 * (stem in title) + 5 * (folder in title) + sum(part in title for part in stem.split("_"))
        weight += sum(word.startswith(folder + "/") for word in words)
        if weight > 0:
            weights[title] = weight
    return sorted(weights, key=weights.get, reverse=True)[:MOST_TESTS]


def run(command, cwd, seconds):
    try:
        return subprocess.run(command, cwd=cwd, timeout=seconds, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode
    except subprocess.TimeoutExpired:
        return -1


def judge(tree, path):
    """killed, survived, or None where it does not compile."""
    build = ["cmake", "--build", "build", "-j", "2", "--target"]
    if run([*build, "pess_tested"], tree, 600) != 0:
        return None
    for test in tests_for(tree, path):
        if run([*build, test], tree, 600) != 0:
            return "killed"
        if run(["ctest", "--test-dir", "build", "--timeout", str(FEW_SECONDS), "-R", f"^{test}$"], tree, 600) != 0:
            return f"killed by {test}"
    return "survived"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--floor", type=float, default=0.9, help="share that has to be killed")
    parser.add_argument("--skip", type=int, default=0, help="mutants of the seed that were judged before")
    parser.add_argument("files", nargs="*")
    options = parser.parse_intermixed_args()
    rng, survivors, done, drawn = random.Random(options.seed), [], 0, 0
    files = options.files or sorted(glob.glob("src/*/*.c") + glob.glob("src/env/minatar/*.c"))
    with tempfile.TemporaryDirectory(prefix="pess-mutants-") as tree:
        subprocess.run(f"git archive HEAD | tar -x -C {tree}", shell=True, check=True)
        subprocess.run(["cmake", "--preset", "release"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", "build", "-j", "2", "--target", "pess_tested"], cwd=tree, check=True,
                       stdout=subprocess.DEVNULL)
        while done < options.count:
            path = rng.choice(files)
            lines, places = code_lines(os.path.join(tree, path))
            place = rng.choice(places) if places else None
            changed = mutate(lines[place], rng) if place is not None else None
            if changed is None:
                continue
            if drawn < options.skip:
                drawn += 1
                continue
            original = "\n".join(lines)
            try:
                lines[place], before = changed, lines[place]
                with open(os.path.join(tree, path), "w", encoding="utf-8") as file:
                    file.write("\n".join(lines))
                verdict = judge(tree, path)
            finally:
                with open(os.path.join(tree, path), "w", encoding="utf-8") as file:
                    file.write(original)
            if verdict is None:
                continue
            done += 1
            print(f"{done}/{options.count} {verdict}: {path}:{place + 1}: {before.strip()}  ->  {changed.strip()}", flush=True)
            if verdict == "survived":
                survivors.append(f"{path}:{place + 1}: {before.strip()}  ->  {changed.strip()}")
    share = 1 - len(survivors) / max(done, 1)
    print(f"{done} mutants, {len(survivors)} survived ({100 * share:.1f} % killed); seed {options.seed}")
    for survivor in survivors:
        print("survived:", survivor)
    return 0 if share >= options.floor else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""branches.py BUILD FLOORS [--show PLACE]: branches taken per file of src/ and cli/, from the counts of gcov, against
floors; or the lines of the files at PLACE with a branch that was never taken.

FLOORS has a line "PER-CENT PLACE" per floor: "all" is the whole, any other place every file whose path begins with it;
of several that fit the longest counts. Branches of what is inlined are those of the function they come from.
"""
import argparse
import collections
import glob
import json
import os
import subprocess
import sys


def read_floors(path):
    with open(path, encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {place: float(share) for share, place in rows}


def floor_of(floors, path):
    fitting = [place for place in floors if place != "all" and path.startswith(place)]
    return floors[max(fitting, key=len)] if fitting else 0


def count(build):
    """file -> (line, branch) -> was it ever taken"""
    taken = collections.defaultdict(dict)
    for notes in glob.glob(build + "/CMakeFiles/pess*.dir/**/*.gcda", recursive=True):
        found = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", os.path.abspath(notes)],
                               capture_output=True, cwd=build, check=False).stdout
        for document in filter(None, found.decode("utf-8", "replace").split("\n")):
            for file in json.loads(document)["files"]:
                path = os.path.relpath(os.path.join(build, file["file"]))  # which may be absolute
                if not path.startswith(("src/", "cli/")):
                    continue
                for line in file["lines"]:
                    for i, branch in enumerate(line["branches"]):
                        key = line["line_number"], i
                        taken[path][key] = taken[path].get(key, False) or branch["count"] > 0
    return taken


def show(taken, place):
    for path in sorted(path for path in taken if path.startswith(place)):
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        for number in sorted({number for (number, _), was in taken[path].items() if not was}):
            ways = "".join("+" if was else "-" for (line, _), was in sorted(taken[path].items()) if line == number)
            print(f"{path}:{number}: {ways} {lines[number - 1].strip()}")
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("floors")
    parser.add_argument("--show", metavar="PLACE", help="lines with a branch that was never taken (-)")
    options = parser.parse_args()
    floors, taken = read_floors(options.floors), count(options.build)
    if options.show:
        return show(taken, options.show)
    shares = {path: 100 * sum(rows.values()) / len(rows) for path, rows in taken.items() if rows}
    for path, share in sorted(shares.items(), key=lambda item: item[1]):
        print(f"{share:5.1f} % of {len(taken[path]):5} {path}")
    total = sum(len(rows) for rows in taken.values())
    whole = 100 * sum(sum(rows.values()) for rows in taken.values()) / max(total, 1)
    low = [f"{path} ({share:.1f} < {floor_of(floors, path):g})" for path, share in shares.items()
           if share < floor_of(floors, path)]
    if whole < floors["all"]:
        low.append(f"all ({whole:.1f} < {floors['all']:g})")
    print(f"{whole:.1f} % of {total} branches; below their floors: {', '.join(low) or 'none'}")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())

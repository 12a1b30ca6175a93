#!/usr/bin/env python3
"""branches.py BUILD --floor P --readers P: branches taken per file of src/ and cli/, from the counts of gcov."""
import argparse
import collections
import glob
import json
import os
import subprocess
import sys

READERS = ("src/data/", "src/core/infile", "src/core/json", "src/core/bytes", "src/core/unpack", "src/nn/spec",
           "src/nn/netfile", "src/experiment/checkpoint", "src/env/trace")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--floor", type=float, required=True)
    parser.add_argument("--readers", type=float, required=True)
    options = parser.parse_args()
    root = os.getcwd()
    taken = collections.defaultdict(dict)  # file -> (line, branch) -> was it ever taken
    for notes in glob.glob(options.build + "/CMakeFiles/pess*.dir/**/*.gcda", recursive=True):
        found = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", os.path.abspath(notes)],
                               capture_output=True, cwd=options.build, check=False).stdout
        for document in filter(None, found.decode("utf-8", "replace").split("\n")):
            for file in json.loads(document)["files"]:
                path = os.path.relpath(os.path.join(options.build, file["file"]) if not os.path.isabs(file["file"])
                                       else file["file"], root)
                if not path.startswith(("src/", "cli/")):
                    continue
                for line in file["lines"]:
                    for i, branch in enumerate(line["branches"]):
                        key = line["line_number"], i
                        taken[path][key] = taken[path].get(key, False) or branch["count"] > 0
    shares = {path: 100 * sum(rows.values()) / len(rows) for path, rows in taken.items() if rows}
    for path, share in sorted(shares.items(), key=lambda item: item[1]):
        print(f"{share:5.1f} % of {len(taken[path]):5} {path}")
    total = sum(len(rows) for rows in taken.values())
    whole = 100 * sum(sum(rows.values()) for rows in taken.values()) / max(total, 1)
    low = [path for path, share in shares.items() if path.startswith(READERS) and share < options.readers]
    print(f"{whole:.1f} % of {total} branches; readers below {options.readers:g} %: {', '.join(low) or 'none'}")
    return 0 if whole >= options.floor and not low else 1


if __name__ == "__main__":
    sys.exit(main())

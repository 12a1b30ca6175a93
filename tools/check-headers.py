#!/usr/bin/env python3
"""The headers as a manual: tools/check-headers.py

Every public function has a comment of its own, above it or behind it. Says which have none; the exit code is then 1."""
import glob
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def without_comment(lines):
    """(line, name) of each function that has none."""
    for first, line in enumerate(lines):
        if not line.startswith("PESS_API"):
            continue
        last = first
        while not re.search(r";\s*(/\*.*)?$", lines[last]):
            last += 1
        if "/*" not in " ".join(lines[first : last + 1]) and not lines[first - 1].endswith("*/"):
            yield first + 1, re.search(r"(pess_\w+)\(", line).group(1)


def main():
    found = []
    for path in sorted(glob.glob(os.path.join(TOP, "include", "pess", "*.h"))):
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        found += [f"{os.path.relpath(path, TOP)}:{line}: found no comment of {name}, expected one of its own"
                  for line, name in without_comment(lines)]
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

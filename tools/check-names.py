#!/usr/bin/env python3
"""Names and links of the documentation, compared with the source: tools/check-names.py FILE.md…

An identifier in backquotes with two underscores or more (a function, a test) has to occur in the source or be the name
of a file there, and a link to another page has to find the page and its heading. Says which do not; the exit code is
then 1."""
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = ["src", "include", "cli", "tests", "python", "bench", "tools", "fuzz", "examples"]
SUFFIXES = (".c", ".h", ".py", ".sh", ".txt")
NAME = re.compile(r"`(\w+(?:_\w+){2,})`")
LINK = re.compile(r"\]\(((?![a-z]+:)[^)#\s]*[./][^)#\s]*|(?=#))(?:#([^)\s]+))?\)")


def known_names():
    names = set()
    for folder in SOURCE:
        for here, _, files in os.walk(os.path.join(TOP, folder)):
            for file in (f for f in files if f.endswith(SUFFIXES)):
                names.add(os.path.splitext(file)[0])
                with open(os.path.join(here, file), encoding="utf-8", errors="ignore") as text:
                    names.update(re.findall(r"\w{5,}", text.read()))
    return names


def anchors(path):
    """Of the headings of a page, as GitHub makes them."""
    with open(path, encoding="utf-8") as file:
        headings = re.findall(r"^#+ (.*)$", file.read(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def faults(path, names):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for number, line in enumerate(lines, 1):
        for name in NAME.findall(line):
            if name not in names:
                yield f"{path}:{number}: found no '{name}' in the source, expected one"
        for target, anchor in LINK.findall(line):
            page = os.path.join(os.path.dirname(path), target) if target else path
            if not os.path.exists(page):
                yield f"{path}:{number}: found no '{target}', expected the page of a link"
            elif anchor and anchor not in anchors(page):
                yield f"{path}:{number}: found no heading '#{anchor}' in {page}, expected that of a link"


def main(paths):
    names = known_names()
    found = [fault for path in paths for fault in faults(path, names)]
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

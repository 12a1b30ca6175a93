#!/usr/bin/env python3
"""Sizes of files and functions in lines: tools/check-sizes.py

In the library, the program and the headers a file has at most 450 lines and a function, from its first line to its
closing brace, at most 46; half of the functions have at most 10. The functions of tests, which state case after case,
may have 72. Says which are longer, and the exit code is then 1. Functions are told by clang-format's layout."""
import os
import re
import statistics
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILE_LINES, MEDIAN = 450, 10
FUNCTION_LINES = {"src": 46, "cli": 46, "include": 46, "examples": 46, "bench": 46, "fuzz": 46, "tests": 72}
LONG_FILES = {"src/env/minatar/seaquest.c": 480}  # the rules of one game are one file
STARTS = re.compile(r"^(?!typedef\b)[A-Za-z_]")
NAME = re.compile(r"(\w+)\(")
ATTRIBUTE = re.compile(r"__attribute__\(\(.*?\)\)")


def functions(lines):
    """(name, first line, number of lines) of each function that is defined."""
    number = 0
    while number < len(lines):
        first = number
        if not STARTS.match(lines[number]):
            while lines[number].endswith("\\"):  # a macro
                number += 1
            number += 1
            continue
        while number < len(lines) - 1 and lines[number] and not lines[number].endswith((";", "{", "}", "*/")):
            number += 1
        head = " ".join(lines[first : number + 1])
        defines = "{" in head and NAME.search(head) and "=" not in head.split("{")[0]
        if lines[number].endswith("{"):
            end = (lambda line: line == "}") if defines else (lambda line: line.startswith("}") or line.endswith("};"))
            while number < len(lines) - 1 and not end(lines[number]):
                number += 1
        if defines:
            yield NAME.search(ATTRIBUTE.sub("", head)).group(1), first + 1, number - first + 1
        number += 1


def sources(folder):
    for here, _, files in sorted(os.walk(os.path.join(TOP, folder))):
        yield from (os.path.relpath(os.path.join(here, f), TOP) for f in sorted(files) if f.endswith((".c", ".h")))


def faults():
    """One sentence for each; of the library's functions the median too."""
    library = []
    for folder, most in FUNCTION_LINES.items():
        for path in sources(folder):
            with open(os.path.join(TOP, path), encoding="utf-8") as file:
                lines = file.read().split("\n")
            found = list(functions(lines))
            most_lines = LONG_FILES.get(path, FILE_LINES)
            if folder != "tests" and len(lines) - 1 > most_lines:
                yield f"{path}: found {len(lines) - 1} lines, expected at most {most_lines}"
            for name, first, count in found:
                if count > most:
                    yield f"{path}:{first}: found {count} lines in {name}, expected at most {most}"
            if folder == "src":
                library += [count for _, _, count in found]
    if statistics.median(library) > MEDIAN:
        yield f"src: found functions of median {statistics.median(library)} lines, expected at most {MEDIAN}"


def main():
    found = list(faults())
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Wraps the prose of Markdown files at 120 columns, in place: tools/wrap-docs.py [FILE…], by default all of the project

Paragraphs with a line that is too long, or that ends long before it has to, are wrapped anew.
With --check nothing is written: lines that are too long are named, and the exit code is 1 where there is one. Code
blocks, tables, headings and HTML stay as they are; so does a word that is longer than a line."""
import pathlib
import re
import sys
import textwrap

WIDTH = 120
SPARE = 10
ITEM = re.compile(r"^(\s*)([-*]|\d+\.)\s+")


def stays(line):
    """A line that is never joined with another."""
    return not line.strip() or re.match(r"^\s*(\||#|<|```|---|\[[^]]+\]: )", line) is not None


def breaks(line):
    """Ends with two blanks: a line break that is meant."""
    return line.endswith("  ")


def too_long(line):
    return len(line) > WIDTH and " " in line.strip()[: WIDTH - 2] and not re.match(r"^\s*(\||#|<)", line)


def ends_early(paragraph):
    """Some line but the last leaves room for the next word, and to spare."""
    return any(len(line) + 1 + len(after.split()[0]) <= WIDTH - SPARE for line, after in zip(paragraph, paragraph[1:]))


def code(paragraph):
    """A block that stands four blanks in and is no item of a list."""
    return not ITEM.match(paragraph[0]) and all(line.startswith("    ") for line in paragraph)


def wrap(paragraph):
    """The lines of one paragraph or list item; untouched where all of them fit and are filled."""
    uneven = any(too_long(line) for line in paragraph) or ends_early(paragraph)
    if not uneven or any(breaks(line) for line in paragraph) or code(paragraph):
        return paragraph
    item = ITEM.match(paragraph[0])
    first = item.group(0) if item else re.match(r"^\s*", paragraph[0]).group(0)
    rest = " " * len(first) if item else first
    text = " ".join([paragraph[0][len(first):]] + [line.strip() for line in paragraph[1:]])
    lines = textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False,
                          break_on_hyphens=False)
    # A line that begins with a mark of a list would become an item of one.
    if any(ITEM.match(line) or line.lstrip().startswith(("#", "|")) for line in lines[1:]):
        return paragraph
    return lines


def wrapped(lines):
    out, paragraph, fenced = [], [], False
    for line in lines:
        fence = line.lstrip().startswith("```")
        if fence or fenced or stays(line) or ITEM.match(line):
            out += wrap(paragraph) if paragraph else []
            paragraph = []
        if fence:
            fenced = not fenced
        if fence or fenced or stays(line):
            out.append(line)
        else:
            paragraph.append(line)
    return out + (wrap(paragraph) if paragraph else [])


def long_lines(path, lines):
    fenced = False
    for number, line in enumerate(lines, 1):
        fenced ^= line.lstrip().startswith("```")
        if not fenced and too_long(line):
            yield f"{path}:{number}: {len(line)} columns, expected at most {WIDTH} (tools/wrap-docs.py {path})"


def texts():
    """Those at the top and in docs/."""
    top = pathlib.Path(__file__).resolve().parent.parent
    return sorted(path for folder in (top, top / "docs", top / "docs" / "decisions") for path in folder.glob("*.md"))


def main(arguments):
    check = "--check" in arguments
    bad = 0
    for path in [a for a in arguments if a != "--check"] or texts():
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        if check:
            found = list(long_lines(path, lines))
            bad += len(found)
            for message in found:
                print(message, file=sys.stderr)
            continue
        new = wrapped(lines)
        if new != lines:
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(new))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

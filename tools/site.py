#!/usr/bin/env python3
"""The links of the documentation as a site (make docs).

tools/site.py filter FILE.md    the page as doxygen shall read it: headings have names, and links lead to them
tools/site.py check DIRECTORY   says which links within the site lead nowhere; the exit code is then 1"""
import html
import os
import re
import sys
import urllib.parse

LINK = re.compile(r"\]\(([^)#\s:]*\.md)?#([^)\s]+)\)")


def slug(heading):
    """As GitHub makes it; tools/check-names.py holds links to the same names."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def name(path, anchor):
    return os.path.splitext(os.path.basename(path))[0].lower() + "-" + anchor


def joined(prose):
    """As doxygen understands it: links in one line, code too, and between marks that a quotation mark does not end."""
    prose = re.sub(r"\[[^\[\]]*\]\(", lambda link: " ".join(link.group().split()), prose)
    return re.sub(r"(?<!`)`([^`]+)`(?!`)", lambda code: f"``{' '.join(code.group(1).split())}``", prose)


def filtered(path):
    """Blocks of code are left alone, and so is the page's own title, by which doxygen names it."""
    with open(path, encoding="utf-8") as file:
        blocks = re.split(r"(^```.*?^```$)", file.read(), flags=re.M | re.S)
    titled = False
    for block in blocks:
        if not block.startswith("```"):
            block = "\n\n".join(map(joined, block.split("\n\n")))
            block = LINK.sub(lambda link: f"](@ref {name(link.group(1) or path, link.group(2))})", block)
            block = block.replace("](include/pess.h)", "](pess_8h.html)")
            lines = block.split("\n")
            for i, line in enumerate(lines):
                heading = re.match(r"#+ (.*)$", line)
                if heading and titled:
                    lines[i] = f"{line.replace('`', '')} {{#{name(path, slug(heading.group(1)))}}}"
                titled |= bool(heading)
            block = "\n".join(lines)
        yield block


def links(directory):
    """(page, link, does it lead somewhere)"""
    pages = {}
    for file in sorted(os.listdir(directory)):
        if file.endswith(".html"):
            with open(os.path.join(directory, file), encoding="utf-8", errors="replace") as text:
                pages[file] = text.read()
    anchors = {page: set(re.findall(r'(?:id|name)="([^"]+)"', text)) for page, text in pages.items()}
    for page, text in pages.items():
        for link in map(html.unescape, re.findall(r'href="([^"]+)"', text)):
            if re.match(r"[a-z]+:", link):
                continue
            target, _, anchor = map(urllib.parse.unquote, link.partition("#"))
            target = target or page
            there = os.path.exists(os.path.join(directory, target))
            yield page, link, there and (not anchor or anchor in anchors.get(target, [anchor]))


def main(what, path):
    if what == "filter":
        print("".join(filtered(path)), end="")
        return 0
    lost = sorted({(page, link) for page, link, leads in links(path) if not leads})
    for page, link in lost:
        print(f"{page}: found nothing at '{link}', expected a page or heading", file=sys.stderr)
    return 1 if lost else 0


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("filter", "check"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

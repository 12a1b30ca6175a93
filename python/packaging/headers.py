"""Reads pess.h as the compiler sees it and writes pessimist/_abi.py: enums, structs and prototypes for ctypes.

    headers.py COMPILER INCLUDE_DIRECTORY OUTPUT

The preprocessor expands macros and keeps comments; what is left is a small part of C: enums, structs without bit fields,
prototypes. Comments come along as documentation: that before a declaration, or that behind it on the same line.
"""
from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

SCALARS = {
    "_Bool": "c_bool", "char": "c_char", "int": "c_int", "unsigned": "c_uint", "float": "c_float", "double": "c_double",
    "size_t": "c_size_t", "uint8_t": "c_uint8", "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64",
    "uint64_t": "c_uint64", "uint16_t": "c_uint16", "void": None,
}  # fmt: skip
UNNAMED = "pess__unnamed_"
TOKEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|\w+|\.\.\.|<<|\n|[^\s\w]', re.S)


@dataclass
class Variable:
    """A field or a parameter: its C type, how many stars, the size of an array, or the signature of a callback."""

    name: str
    base: str
    stars: int = 0
    length: int | None = None
    callback: tuple | None = None
    doc: str = ""


@dataclass
class Header:
    constants: dict[str, int] = field(default_factory=dict)
    enums: dict[str, dict[str, int]] = field(default_factory=dict)
    structs: dict[str, list[Variable]] = field(default_factory=dict)
    opaque: set[str] = field(default_factory=set)
    functions: dict[str, tuple[Variable, list[Variable], str]] = field(default_factory=dict)


def preprocess(compiler: str, include: Path) -> str:
    """The text of our own headers, macros expanded, comments kept."""
    command = [*compiler.split(), "-E", "-CC", "-I", str(include), str(include / "pess.h")]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    ours, lines = False, []
    for line in text.splitlines():
        marker = re.match(r'# \d+ "(.*?)"', line)
        if marker:
            ours = Path(marker[1]).resolve().is_relative_to(include.resolve())
        elif ours and not line.startswith("#"):
            lines.append(line)
    return "\n".join(lines)


def integer_macros(include: Path) -> dict[str, int]:
    """`#define PESS_MAX_CELLS 65536`: constants that the preprocessor would only expand."""
    found = {}
    for path in sorted(include.rglob("*.h")):
        for name, value in re.findall(r"^#define (PESS_\w+) (\S.*?)(?:\s*/\*.*)?$", path.read_text(), re.M):
            value = re.sub(r"\((?:u?int\d+_t|size_t)\)", "", value)
            if re.fullmatch(r"[-\d\s()<*+]+", value):
                found[name] = eval(value)
    return found


def plain(comment: str) -> str:
    """A comment as one paragraph."""
    return " ".join(re.sub(r"^\s*\*+ ?", "", line).strip() for line in comment[2:-2].splitlines()).strip()


class Parser:
    def __init__(self, text: str, header: Header):
        self.header = header
        self.tokens = TOKEN.findall(text)
        self.at = 0
        self.comment = ""

    def skip(self) -> None:
        """Over line ends and comments; the last comment is remembered. An empty line parts it from what follows."""
        ends = 0
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token == "\n":
                ends += 1
                if ends > 1:
                    self.comment = ""
            elif token.startswith("/*"):
                self.comment, ends = plain(token), 0
            else:
                return
            self.at += 1

    def peek(self) -> str:
        self.skip()
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *expected: str) -> str:
        token = self.peek()
        if expected and token not in expected:
            near = " ".join(self.tokens[max(0, self.at - 20) : self.at + 5])
            raise SystemExit(f"headers.py: found '{token}', expected {' or '.join(expected)}, after: {near}")
        self.at += 1
        return token

    def accept(self, token: str) -> bool:
        if self.peek() != token:
            return False
        self.at += 1
        return True

    def documentation(self, before: str) -> str:
        """The comment behind a declaration on its line, or that before it."""
        if self.at < len(self.tokens) and self.tokens[self.at].startswith("/*"):
            self.at += 1
            return plain(self.tokens[self.at - 1])
        return before

    def parse(self) -> Header:
        while self.peek():
            before, self.comment = self.comment, ""
            if self.accept("typedef"):
                self.type_definition()
            elif self.accept("enum"):
                self.enumeration()
                self.take(";")
            elif self.accept("struct"):
                self.foreign()
            else:
                self.prototype(before)
        return self.header

    def foreign(self) -> None:
        """A struct without a typedef is somebody else's (Arrow's): its address is all that is needed."""
        self.header.opaque.add(self.take())
        self.take("{")
        while self.take() != "}":
            pass
        self.take(";")

    def type_definition(self) -> None:
        kind, name = self.take("enum", "struct"), self.take()
        if self.peek() != "{":
            self.header.opaque.add(name)
        elif kind == "enum":
            self.header.enums[name] = self.enumeration()
        else:
            self.header.structs[name] = self.fields()
            self.header.opaque.discard(name)
        self.take(name)
        self.take(";")

    def enumeration(self) -> dict[str, int]:
        values, following = {}, 0
        self.take("{")
        while not self.accept("}"):
            name = self.take()
            if self.accept("="):
                following = self.number()
            values[name] = following
            following += 1
            self.accept(",")
        self.header.constants.update(values)
        return values

    def number(self) -> int:
        """A constant expression, up to a comma or a closing bracket outside of parentheses."""
        words, depth = [], 0
        while depth > 0 or self.peek() not in (",", "}", "]"):
            token = self.take()
            depth += {"(": 1, ")": -1}.get(token, 0)
            words.append(str(self.header.constants.get(token, token)))
        return eval(" ".join(words))

    def fields(self) -> list[Variable]:
        found: list[Variable] = []
        self.take("{")
        while not self.accept("}"):
            before, self.comment = self.comment, ""
            first = len(found)
            base, stars = self.base()
            found.append(self.declarator(base, stars))
            while self.accept(","):
                found.append(self.declarator(base, self.stars()))
            self.take(";")
            text = self.documentation(before)
            for variable in found[first:]:
                variable.doc = text
        return found

    def stars(self) -> int:
        count = 0
        while self.peek() in ("*", "const"):
            count += self.take() == "*"
        return count

    def base(self) -> tuple[str, int]:
        constant = False
        while self.peek() in ("const", "struct", "enum"):
            constant |= self.take() == "const"
        name = self.unnamed() if self.peek() == "{" else self.take()
        stars = self.stars()
        return ("buffer" if name == "char" and stars == 1 and not constant else name), stars

    def unnamed(self) -> str:
        """A struct within a struct, under a name of our own."""
        fields = self.fields()
        name = f"{UNNAMED}{len(self.header.structs)}"
        self.header.structs[name] = fields
        return name

    def declarator(self, base: str, stars: int) -> Variable:
        if self.accept("("):
            self.take("*")
            name = self.take()
            self.take(")")
            return Variable(name, base, stars, callback=(base, stars, self.parameters()))
        variable = Variable(self.take() if re.match(r"\w", self.peek()) else "", base, stars)
        while self.accept("["):
            size = 0 if self.peek() == "]" else self.number()
            variable.length = (variable.length or 1) * size
            self.take("]")
        return variable

    def parameters(self) -> list[Variable]:
        found = []
        self.take("(")
        while not self.accept(")"):
            base, stars = self.base()
            variable = self.declarator(base, stars)
            if variable.length is not None:  # an array as a parameter is a pointer
                variable.stars, variable.length = variable.stars + 1, None
            if variable.base != "void" or variable.stars:
                found.append(variable)
            self.accept(",")
        return found

    def prototype(self, before: str) -> None:
        if self.accept("__attribute__"):
            depth = 0
            while True:
                depth += {"(": 1, ")": -1}.get(self.take(), 0)
                if depth == 0:
                    break
        base, stars = self.base()
        name = self.take()
        parameters = self.parameters()
        self.take(";")
        self.header.functions[name] = (Variable(name, base, stars), parameters, self.documentation(before))


def python_type(header: Header, v: Variable, returned: bool = False) -> str:
    """The ctypes type. Pointers are addresses, but for text and, where they are handed out, structs."""
    if v.callback:
        base, stars, parameters = v.callback
        kinds = [python_type(header, Variable("", base, stars)), *(python_type(header, p) for p in parameters)]
        return f"CFUNCTYPE({', '.join(kinds)})"
    if v.stars:
        if v.base == "char" and v.stars == 1:  # and not one to write to, which is a "buffer"
            return "c_char_p"
        return f"POINTER({v.base})" if returned and v.stars == 1 and v.base in header.structs else "c_void_p"
    name = "c_int" if v.base in header.enums else SCALARS.get(v.base, v.base)
    return f"{name} * {v.length}" if v.length is not None else str(name)


def write(header: Header, path: Path) -> None:
    lines = ['"""Made from pess.h by packaging/headers.py: enums, structs and prototypes."""']
    lines += ["from ctypes import *", "", f"CONSTANTS = {header.constants!r}", f"ENUMS = {header.enums!r}", ""]
    for name, fields in header.structs.items():
        lines += ["", f"class {name}(Structure):", "    _fields_ = ["]
        lines += [f"        ({v.name!r}, {python_type(header, v, True)})," for v in fields]
        lines += ["    ]", f"    docs = {({v.name: v.doc for v in fields if v.doc})!r}"]
        lines += [f"    enums = {({v.name: v.base for v in fields if v.base in header.enums})!r}", ""]
    lines += ["", f"STRUCTS = {{{', '.join(f'{name!r}: {name}' for name in header.structs)}}}", "", "FUNCTIONS = {"]
    for name, (result, parameters, doc) in header.functions.items():
        kinds = ", ".join(python_type(header, p) for p in parameters)
        lines.append(f"    {name!r}: ({python_type(header, result, True)}, [{kinds}], {doc!r}),")
    path.write_text("\n".join([*lines, "}", ""]))


def read(compiler: str, include: Path) -> Header:
    header = Header(constants=integer_macros(include))
    return Parser(preprocess(compiler, include), header).parse()


if __name__ == "__main__":
    write(read(sys.argv[1], Path(sys.argv[2])), Path(sys.argv[3]))

"""The bindings against the compiler: sizes and offsets of all structs, constants of all enums, offsets of settings."""
import ctypes
import os
import subprocess
from pathlib import Path

import pytest

from pessimist import _abi
from pessimist._library import C, _shared
from pessimist._settings import Table

ROOT = Path(__file__).resolve().parents[2]


def named():
    """Structs within structs are checked by the size of those around them."""
    return [(name, struct) for name, struct in _abi.STRUCTS.items() if not name.startswith("pess__unnamed_")]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """What the compiler says: name, number."""
    lines = []
    for name, struct in named():
        lines.append(f'    say("{name}", sizeof({name}));')
        lines += [f'    say("{name}.{field}", offsetof({name}, {field}));' for field, *_ in struct._fields_]
        lines += [f'    say("{name}.{field} size", sizeof((({name} *)0)->{field}));' for field, *_ in struct._fields_]
    lines += [f'    say("{name}", {name});' for name in _abi.CONSTANTS]
    directory = tmp_path_factory.mktemp("layout")
    source = directory / "layout.c"
    source.write_text(
        "#include <pess.h>\n#include <stdio.h>\n"
        'static void say(const char *name, long long value) { printf("%s=%lld\\n", name, value); }\n'
        "int main(void) {\n" + "\n".join(lines) + "\n    return 0;\n}\n"
    )
    program = directory / "layout"
    compiler = os.environ.get("COMPILER", "cc")
    plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # a sanitizer's, not for linkers
    subprocess.run([compiler, f"-I{ROOT / 'include'}", str(source), "-o", str(program)], check=True, env=plain)
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    printed = subprocess.run([str(program)], check=True, capture_output=True, text=True, env=environment).stdout
    return dict(line.split("=") for line in printed.splitlines())


def test_structs(compiled):
    assert len(_abi.STRUCTS) > 60
    for name, struct in named():
        assert ctypes.sizeof(struct) == int(compiled[name]), name
        for field, *_ in struct._fields_:
            place = getattr(struct, field)
            assert place.offset == int(compiled[f"{name}.{field}"]), f"{name}.{field}"
            assert place.size == int(compiled[f"{name}.{field} size"]), f"{name}.{field}"


def test_constants(compiled):
    assert _abi.CONSTANTS["PESS_MAX_STATES"] == 1 << 28
    for name, value in _abi.CONSTANTS.items():
        assert value == int(compiled[name]), name


def test_every_function_is_in_the_library():
    assert len(_abi.FUNCTIONS) > 250
    for name in _abi.FUNCTIONS:
        assert _shared[name] is not None


def tables():
    for function in _abi.FUNCTIONS:
        if function.endswith("_settings"):
            yield function[len("pess_") : -len("_settings")]


@pytest.mark.parametrize("name", tables())
def test_settings_lie_on_fields(name):
    """Every row of a settings table is where the struct of the bindings has a field."""
    table = Table(name)
    assert ctypes.sizeof(table.struct) == table.pointer.contents.size
    offsets = {getattr(table.struct, field).offset for field, *_ in table.struct._fields_}
    pointer = table.pointer.contents
    rows = ctypes.cast(pointer.rows, ctypes.POINTER(_abi.pess_setting * pointer.count)).contents
    assert {row.offset for row in rows} <= offsets
    assert C.pess_setting_find(table.pointer, rows[0].name)

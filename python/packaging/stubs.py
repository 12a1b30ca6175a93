"""Writes pessimist/__init__.pyi from the package itself: every function with all its settings, for editors and type
checkers, to which keyword arguments made from tables are invisible.

    PYTHONPATH=DIRECTORY stubs.py DIRECTORY/pessimist/__init__.pyi
"""
from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import pessimist

HEAD = '''"""Made by packaging/stubs.py from the package itself."""
import os
from typing import Any, Callable, Mapping, Sequence

import numpy as np

'''


def parameter(p: inspect.Parameter) -> str:
    kind = p.annotation if isinstance(p.annotation, str) else getattr(p.annotation, "__name__", "Any")
    kind = "Any" if p.annotation is inspect.Parameter.empty else kind
    return f"{p.name}: {kind}" + ("" if p.default is inspect.Parameter.empty else " = ...")


def parameters(signature: inspect.Signature, first: list[str]) -> str:
    """All of them, with the star before those that are given by name."""
    words, starred = list(first), False
    for p in signature.parameters.values():
        if p.kind is p.KEYWORD_ONLY and not starred:
            words.append("*")
            starred = True
        words.append(parameter(p))
    return ", ".join(words)


def stub(name: str, value: Any) -> str:
    if isinstance(value, str):
        return f"{name}: str"
    if isinstance(value, pessimist._lists.Listing):
        return f"{name}: _Listing"
    if inspect.isclass(value) and issubclass(value, pessimist.Estimator) and value is not pessimist.Estimator:
        return f"class {name}(Estimator):\n    def __init__({parameters(inspect.signature(value), ['self'])}) -> None: ..."
    if inspect.isfunction(value) and hasattr(value, "__signature__"):
        signature = value.__signature__
        result = str(signature.return_annotation).strip("'\"")
        return f"def {name}({parameters(signature, [])}) -> {result}: ..."
    return f"from {value.__module__} import {name} as {name}"


def write(path: Path) -> None:
    lines = [stub(name, getattr(pessimist, name)) for name in pessimist.__all__]
    imports = sorted({line for line in lines if line.startswith("from ")})
    needed = ["from pessimist._lists import Listing as _Listing", "from pessimist._show import Record as Record",
              "from pessimist.certificates import Gap as Gap"]  # fmt: skip
    rest = [line for line in lines if not line.startswith("from ")]
    path.write_text(HEAD + "\n".join([*imports, *needed, "", "__version__: str", *rest, ""]), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))

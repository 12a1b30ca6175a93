"""The notebooks of docs/notebooks run from their first cell to their last, in a process of their own."""
import json
import subprocess
import sys

import pytest

from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
SHOW = """
def _show(value):
    if not type(value).__module__.startswith("pessimist"):
        return
    for name in ("_repr_html_", "_repr_svg_", "__repr__"):
        if hasattr(value, name):
            assert getattr(value, name)(), name
"""


def program(notebook):
    """The code cells one after the other; what stands last in a cell is shown in every way a notebook may."""
    import ast

    parts = ["import matplotlib", "matplotlib.use('Agg')", SHOW]
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        tree = ast.parse(source)
        if isinstance(tree.body[-1], ast.Expr):
            last = ast.unparse(tree.body.pop())
            source = ast.unparse(tree) + f"\n_show({last})"
        parts.append(source)
    return "\n".join(parts)


def test_there_are_three():
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs(notebook):
    pytest.importorskip("matplotlib")
    done = subprocess.run([sys.executable, "-c", program(notebook)], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr

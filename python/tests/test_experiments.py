"""The paper's experiments from Python: the numbers of the command line, figures, pickles, settings of their own."""
import csv
import os
import pickle
import subprocess

import numpy as np
import pytest

import pessimist as ps


@pytest.fixture(scope="module")
def found():
    return ps.experiment("gridworld-data", trials=4, points=3, seed=1)


def test_the_commands_numbers(found, tmp_path):
    program = os.environ.get("PESS")
    if not program:
        pytest.skip("PESS names the program")
    out = tmp_path / "out"
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    options = ["--trials", "4", "--points", "3", "--seed", "1", "--out", str(out)]
    subprocess.run([program, "experiment", "gridworld-data", *options], check=True, capture_output=True, env=environment)
    with open(out / "results.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["mean"]) for row in rows] == [point.mean for point in found.points]
    assert [row["algorithm"] for row in rows] == [point.algorithm for point in found.points]


def test_tables(found):
    assert found.table.dtype["mean"] == np.float64 and len(found.table) == len(found.points)
    frame = found.to_frame()
    assert list(frame["algorithm"]) == [point.algorithm for point in found.points]
    assert "Figure 1b" in found.description and isinstance(found.claims, list)
    assert "<table>" in found._repr_html_() and found.info.title in repr(found)


def test_figures(found, tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    drawn = found.figure()
    assert len(drawn.axes[0].lines) == len({point.algorithm for point in found.points})
    own = found.svg()
    assert own.source.startswith("<?xml") or own.source.startswith("<svg")
    assert found.save(tmp_path / "kept").joinpath("figure.svg").stat().st_size > 1000


def test_figures_without_matplotlib(found, monkeypatch):
    from pessimist import paper

    monkeypatch.setattr(paper, "matplotlib_pyplot", lambda: None)
    assert "<svg" in found.figure()._repr_svg_()


def test_pickled(found):
    again = pickle.loads(pickle.dumps(found))
    assert [p.as_dict() for p in again.points] == pytest.approx([p.as_dict() for p in found.points], nan_ok=True) or (
        repr(again.points) == repr(found.points)
    )
    assert repr(again) == repr(found) and "<svg" in again.svg().source


def test_kept_in_a_directory(tmp_path):
    done = ps.experiment("bandit", trials=10, seed=1, out=tmp_path / "bandit")
    assert {"results.csv", "figure.svg", "index.html", "manifest.json"} <= {f.name for f in (tmp_path / "bandit").iterdir()}
    assert "<svg" in done.svg().source


def test_settings_of_its_own():
    with pytest.raises(TypeError, match="no setting 'epsilons'"):
        ps.experiment("bandit", epsilons="0.1")
    with pytest.raises(ps.ArgumentError, match="trials"):
        ps.experiment("bandit", trials=0)
    with pytest.raises(ps.Error, match="nosuch"):
        ps.experiment("nosuch")


def test_an_exception_in_progress_stops_it():
    def broken(*_):
        raise LookupError("stop")

    with pytest.raises(LookupError):
        ps.experiment("gridworld-data", trials=2000, seed=1, progress=broken)

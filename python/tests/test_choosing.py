"""Choosing on held-out episodes: the numbers of the command line, and the choice fitted to the whole log."""

import numpy as np
import pytest

import pessimist as ps

from conftest import ROOT


@pytest.fixture(scope="module")
def best():
    log = ps.read(ROOT / "examples" / "visits.csv")
    return ps.choose(log, folds=5, gamma=0.95, reward_range=(0, 1))


def test_the_best_score_is_chosen_and_fitted(best):
    scores = best.table["score"]
    assert scores[best.chosen] == np.nanmax(scores) and len(scores) == len(best.candidates)
    assert np.array_equal(np.asarray(best.solve().policy), np.asarray(best.policy))


def test_it_shows_itself(best, tmp_path):
    assert best.algorithm in repr(best) and "<table>" in best._repr_html_()
    assert best.report(tmp_path / "page").exists()
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    assert best.plot().axes


def test_bad_settings():
    with pytest.raises(TypeError, match="did you mean folds"):
        ps.choose(str(ROOT / "examples" / "visits.csv"), fold=5)
    with pytest.raises(ps.ArgumentError, match="folds"):
        ps.choose(str(ROOT / "examples" / "visits.csv"), folds=1)
    with pytest.raises(TypeError, match="expected a Log"):
        ps.choose(42)

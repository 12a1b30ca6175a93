"""Measurements into cells, policies applied to new rows, and estimators among scikit-learn's."""
import pickle

import pickle

import numpy as np
import pytest

import pessimist as ps


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    where = rng.integers(0, 4, 2000)
    values = np.array([[0, 0], [0, 10], [10, 0], [10, 10]])[where] + rng.normal(size=(2000, 2))
    return values, ps.Measurements(
        values, ["age", "lactate"], action=rng.integers(0, 2, 2000), reward=rng.random(2000),
        episode=np.arange(2000) // 10, terminal=np.arange(2000) % 10 == 9,
    )  # fmt: skip


def test_cells_that_are_there_are_found(rows):
    values, measured = rows
    made = ps.discretize(measured, cells=4, seed=1)
    cells = made.apply(measured)
    true = (values[:, 0] > 5) * 2 + (values[:, 1] > 5)
    assert all(len(np.unique(cells[true == k])) == 1 for k in range(4)) and len(np.unique(cells)) == 4
    assert np.array_equal(made.apply(values), cells) and made.features == ["age", "lactate"]
    again = pickle.loads(pickle.dumps(made))
    assert np.array_equal(again.predict(values), cells) and again.describe(0) == made.describe(0)
    assert len(made.log(measured, "making")) + len(made.log(measured, "held-out")) == len(made.log(measured))
    assert not made.markov_test(measured).flagged


def test_acting_on_new_rows(rows, tmp_path):
    values, measured = rows
    made = ps.discretize(measured, cells=4, seed=1)
    log = made.log(measured)
    policy = ps.solve(log, gamma=0.9, reward_range=(0, 1)).policy
    decided = ps.act(policy, np.vstack([values[:5], [[500.0, 500.0]]]), map=made, log=log)
    assert list(decided["advice"][:5]) == ["policy"] * 5 and decided["advice"][5] == "outside"
    assert np.array_equal(decided["state"][:5], made.apply(values[:5]))
    assert np.array_equal(decided["action"][:5], policy.act(made.apply(values[:5])))
    assert (decided["action_count"][:5] == log.counts.n[decided["state"][:5], decided["action"][:5]]).all()
    made.save(tmp_path / "m.pessmap")
    assert ps.Map.load(tmp_path / "m.pessmap").cells == 4


def test_bad_rows(rows):
    values, measured = rows
    made = ps.discretize(measured, cells=4, seed=1)
    with pytest.raises(ps.InputError, match="expected"):
        made.apply(values[:, :1])
    with pytest.raises(ps.InputError, match="held-out"):
        made.log(measured, "other")
    with pytest.raises(ps.InputError, match="reward: found 3 values"):
        ps.Measurements(values, ["a", "b"], reward=[1, 2, 3])
    with pytest.raises(ps.Error):
        ps.discretize(measured, cells=10**6)


def test_estimators(visits):
    assert {"UA", "Naive", "SPIBB", "SoftSPIBB", "Imitation"} <= set(dir(ps))
    fitted = ps.UA(absorbed_alpha=0.5, gamma=0.95, reward_range=(0, 1)).fit(visits)
    sol = ps.solve(visits, "ua", absorbed_alpha=0.5, gamma=0.95, reward_range=(0, 1))
    assert fitted.solution_.value == sol.value and fitted.score(visits) == pytest.approx(sol.naive_value)
    assert fitted.predict_proba([0, 1]).shape == (2, 3)
    assert repr(fitted).startswith("UA(absorbed_alpha=0.5") and "absorbed_alpha" in str(__import__("inspect").signature(ps.UA))
    with pytest.raises(TypeError, match="did you mean gamma"):
        ps.UA(gama=1)
    with pytest.raises(TypeError, match="did you mean gamma"):
        fitted.set_params(gama=1)


def test_grid_search(arrays):
    """scikit-learn's search over rows of a log: clone, set_params, fit, score."""
    selection = pytest.importorskip("sklearn.model_selection")
    from pessimist.estimators import rows_of

    table = rows_of(ps.Log(**arrays))
    search = selection.GridSearchCV(ps.UA(gamma=0.9, reward_range=(0, 1)), {"absorbed_alpha": [0.1, 10.0]}, cv=3)
    search.fit(table)
    assert search.best_params_["absorbed_alpha"] in (0.1, 10.0) and search.best_score_ > 0
    assert search.best_estimator_.predict([0, 1]).shape == (2,)


def test_a_pipeline(visits):
    """What `fit` takes, `predict` and `score` take too: rows as an array or as a DataFrame, with names."""
    pipeline, preprocessing = pytest.importorskip("sklearn.pipeline"), pytest.importorskip("sklearn.preprocessing")
    selection = pytest.importorskip("sklearn.model_selection")
    from pessimist.estimators import rows_of

    rows, frame = rows_of(visits), visits.to_frame()
    estimator = ps.UA(gamma=0.9, reward_range=(0, 1))
    made = pipeline.make_pipeline(preprocessing.FunctionTransformer(), estimator)
    expected = estimator.fit(visits).predict(visits)
    assert made.fit(rows).predict(rows).tolist() == [visits.action_names.index(a) for a in expected]
    assert made.fit(frame).predict(frame).tolist() == expected.tolist()
    assert made.score(frame) == pytest.approx(made.fit(rows).score(rows))
    search = selection.GridSearchCV(made, {"ua__absorbed_alpha": [0.1, 10.0]}, cv=2).fit(rows)
    assert search.best_params_["ua__absorbed_alpha"] in (0.1, 10.0)


def test_certificates_of_cells_say_what_they_need(rows):
    """Also of a log that was pickled."""
    values, measured = rows
    made = ps.discretize(measured, cells=4, seed=1)
    for part, code in (("held-out", "cells-apart"), ("all", "cells-not-apart")):
        log = pickle.loads(pickle.dumps(made.log(measured, part)))
        cert = ps.certify(log, method="robust", gamma=0.9, reward_range=(0, 1))
        assert {"markov-cells", code} <= {a.code for a in cert.assumptions}


def test_measurements_by_other_names(tmp_path):
    path = tmp_path / "ward.csv"
    lines = [f"p{i // 5};{i % 5};{60 + i % 30},5;{'ab'[i % 2]};{i % 3};0,5;{int(i % 5 == 4)}" for i in range(200)]
    path.write_text("patient;hour;pulse;drug;outcome;propensity;died\n" + "\n".join(lines) + "\n")
    columns = {"episode": "patient", "step": "hour", "action": "drug", "reward": "outcome", "terminal": "died"}
    measured = ps.Measurements.read(path, ["pulse"], column=columns)
    log = ps.discretize(measured, cells=3, method="bins").log(measured)
    assert len(log) == 200 and set(log.probability) == {0.5} and log.action_names == ["a", "b"]
    with pytest.raises(TypeError, match="did you mean column"):
        ps.Measurements.read(path, ["pulse"], colum=columns)


def test_columns_of_a_table_are_found_by_their_names():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    table = pandas.DataFrame({"lactate": rng.random(200), "id": "x", "age": 100 * rng.random(200)})
    cells = ps.discretize(ps.Measurements(table[["age", "lactate"]]), cells=4, share=1, seed=1)
    expected = cells.apply(table[["age", "lactate"]].to_numpy())
    assert len(set(expected)) == 4
    assert np.array_equal(cells.apply(table), expected) and np.array_equal(cells.apply(table[["lactate", "age"]]), expected)
    policy = ps.Policy(np.eye(4)[:, :2] + np.eye(4)[:, 2:])
    assert np.array_equal(ps.act(policy, table, map=cells)["state"], expected)
    assert np.array_equal(ps.act(policy, ps.Measurements(table[["age", "lactate"]]), map=cells)["state"], expected)
    bad = [(table[["age"]], "0 columns 'lactate' among age"), (table.assign(age="old"), "expected numbers"), ([1, 2], "shape"),
           (ps.Measurements(table[["lactate", "age"]]), "measurements of lactate, age, expected age, lactate"),
           (object(), "found object")]  # fmt: skip
    for rows, sentence in bad:
        with pytest.raises(ps.InputError, match=sentence):
            ps.act(policy, rows, map=cells)


def test_a_page_about_the_cells(tmp_path):
    rng = np.random.default_rng(5)
    where = rng.integers(0, 4, 3000)
    rows = ps.Measurements(
        np.eye(4)[where] @ rng.normal(size=(4, 2)) * 9 + rng.normal(size=(3000, 2)), ["age", "lactate"],
        action=rng.integers(0, 2, 3000), reward=(where == 0) * 1.0, episode=np.arange(3000) // 10,
        terminal=np.arange(3000) % 10 == 9,
    )  # fmt: skip
    made = ps.discretize(rows, cells=4, seed=1)
    known = {"gamma": 0.9, "starts": 2}
    trials = made.trials(rows, **known)
    assert trials["agreement"][0] == 1 and set(trials["cells"]) == {2, 4, 8} and len(trials) == 6
    again = pickle.loads(pickle.dumps(made)).trials(rows, **known)
    assert np.array_equal(trials["value"], again["value"])
    page = made.report(rows, tmp_path / "page", **known).read_text(encoding="utf-8")
    assert "Markov" in page and all(f"{value:.5g}" in page for value in trials["value"])

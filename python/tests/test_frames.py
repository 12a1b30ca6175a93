"""Logs from frames: roles, several columns as one state, next states from next rows, missing values."""
import numpy as np
import pytest

import pessimist as ps

pandas = pytest.importorskip("pandas")

ROWS = pandas.DataFrame(
    {
        "patient": ["p", "p", "p", "q", "q"], "day": [0, 1, 2, 0, 1], "ward": ["a", "b", "a", "a", "b"],
        "severity": [1, 2, 3, 1, 1], "did": ["wait", "treat", "wait", "wait", "treat"], "outcome": [0, 0, 1, 0, 1.0],
    }
)  # fmt: skip
ROLES = {"state": ["ward", "severity"], "episode": "patient", "step": "day", "action": "did", "reward": "outcome"}


def test_next_states_come_from_next_rows():
    log = ps.Log.from_frame(ROWS, **ROLES, last_row="terminal")
    assert log.state_names == ["a|1", "b|2", "a|3", "b|1"]
    assert log.state.tolist() == [0, 1, 2, 0, 3] and log.next_state.tolist() == [1, 2, 2, 3, 3]
    assert log.terminal.tolist() == [False, False, True, False, True]


def test_cut_off_rows_are_left_out():
    log = ps.Log.from_frame(ROWS, **ROLES, last_row="cutoff")
    assert log.state.tolist() == [0, 1, 0] and log.truncated.tolist() == [False, True, True]


def test_shuffled_rows_give_the_same_counts():
    log = ps.Log.from_frame(ROWS, **ROLES, last_row="terminal")
    shuffled = ps.Log.from_frame(ROWS.sample(frac=1, random_state=3), **ROLES, last_row="terminal")
    assert sorted(shuffled.state_names) == sorted(log.state_names)
    order = [shuffled.state_names.index(name) for name in log.state_names]
    assert shuffled.counts.n.sum() == 5 and np.array_equal(shuffled.counts.n.sum(axis=1)[order], log.counts.n.sum(axis=1))


def test_ends_are_never_guessed():
    with pytest.raises(ps.InputError, match="last rows of 2 episodes"):
        ps.Log.from_frame(ROWS, **ROLES)


def test_a_frame_is_read_as_its_file_is(visits, tmp_path):
    frame = pandas.read_csv("examples/visits.csv")
    log = ps.Log.from_frame(frame)
    assert np.array_equal(log.state, visits.state) and log.action_names == visits.action_names
    assert repr(log.inspect()) == repr(visits.inspect())
    categorical = frame.astype({"state": "category", "next_state": "category", "action": "category"})
    assert ps.Log.from_frame(categorical).state_names == visits.state_names


@pytest.mark.parametrize("last_row", ["terminal", "cutoff"])
@pytest.mark.parametrize("columns", [["episode"], ["terminal"], ["truncated"], ["episode", "terminal", "truncated"]])
def test_next_rows_are_those_of_a_file(columns, last_row, tmp_path):
    draw = np.random.default_rng(1)
    N = 200
    rows = {"state": draw.integers(0, 5, N), "action": draw.integers(0, 2, N), "reward": np.arange(float(N))}
    marks = {"episode": np.sort(draw.integers(0, 40, N)), "terminal": draw.binomial(1, 0.1, N)}
    marks["truncated"] = draw.binomial(1, 0.1, N)
    frame = pandas.DataFrame({**rows, **{name: marks[name] for name in columns}})
    frame.to_csv(tmp_path / "log.csv", index=False)
    log, file = ps.Log.from_frame(frame, last_row=last_row), ps.read(str(tmp_path / "log.csv"), last_row=last_row)
    for column in ("state", "action", "reward", "next_state", "terminal", "truncated"):
        assert np.array_equal(getattr(log, column), getattr(file, column)), column


def test_missing_values():
    holes = ROWS.assign(outcome=[0, np.nan, 1, 0, 1])
    with pytest.raises(ps.InputError, match="reward: missing values: 1, the first in row 1; missing='drop'"):
        ps.Log.from_frame(holes, **ROLES, last_row="terminal")
    log = ps.Log.from_frame(holes, **ROLES, last_row="terminal", missing="drop")
    assert log.state.tolist() == [0, 1, 2] and log.terminal.tolist() == [True, False, True]
    names = ROWS.assign(did=["wait", None, "wait", pandas.NA, "treat"])
    with pytest.raises(ps.InputError, match="action: missing values: 2"):
        ps.Log.from_frame(names, **ROLES, last_row="terminal")
    nullable = ROWS.assign(severity=pandas.array([1, 2, 3, 1, 1], "Int64"), did=ROWS["did"].astype("string"))
    assert ps.Log.from_frame(nullable, **ROLES, last_row="terminal").state_names[0] == "a|1"


@pytest.mark.parametrize(
    "changed, sentence",
    [
        ({"state": "wards"}, "state: there is no column 'wards'; there are patient, day"),
        ({"reward": None}, "reward: no column is given"),
        ({"action": "ward"}, "action: the column 'ward' is state already"),
        ({"last_row": "open"}, "last_row: found 'open'"),
        ({"missing": "ignore"}, "missing: found 'ignore'"),
    ],
)
def test_wrong_roles(changed, sentence):
    with pytest.raises(ps.ArgumentError, match=sentence):
        ps.Log.from_frame(ROWS, **{**ROLES, "last_row": "terminal", **changed})


def test_steps_may_be_times():
    """As in files: kept in microseconds, of any zone, and told to be missing."""
    days = pandas.to_datetime("2024-05-17T08:30:00") + pandas.to_timedelta(ROWS["day"], unit="D")
    log = ps.Log.from_frame(ROWS.assign(day=days)[::-1], **ROLES, last_row="terminal")
    assert log.step.min() == 1715934600000000 and len(set(np.diff(np.sort(np.unique(log.step))))) == 1
    for frame in (ROWS.assign(day=days.dt.tz_localize("Europe/Zurich").dt.tz_convert("US/Pacific")), ROWS.assign(day=days)):
        again = ps.Log.from_frame(frame, **ROLES, last_row="terminal")
        assert again.next_state.tolist() == [1, 2, 2, 3, 3]
    with pytest.raises(ps.InputError, match="step: missing values: 1, the first in row 2"):
        ps.Log.from_frame(ROWS.assign(day=days.where(ROWS.index != 2)), **ROLES, last_row="terminal")
    with pytest.raises(ps.InputError, match="step: row 1"):
        ps.Log(state=[0, 0], action=[0, 0], reward=[0, 0], next_state=[0, 0], step=np.array(["2024-01-01", "NaT"], "M8[ns]"))

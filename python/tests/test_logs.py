"""Logs from arrays and files: no copy where types agree, the same ids as the command line's reader, counts."""
import csv
import pickle

import numpy as np
import pytest

import pessimist as ps

from conftest import ROOT


def typed(arrays):
    """The same with the library's own types."""
    ids = {name: arrays[name].astype(np.uint32) for name in ("state", "action", "next_state")}
    return {**arrays, **ids}


def test_columns_of_the_right_type_are_not_copied(arrays):
    given = typed(arrays)
    log = ps.Log(**given)
    for name in ("state", "action", "next_state", "reward", "episode", "step", "probability"):
        assert np.shares_memory(getattr(log, name), given[name]), name


def test_other_types_give_the_same_log(arrays):
    log = ps.Log(**typed(arrays))
    for kind in (np.int8, np.int64, np.uint64, np.float32, ">i4"):
        other = ps.Log(**{**arrays, **{n: arrays[n].astype(kind) for n in ("state", "action", "next_state")}})
        assert np.array_equal(log.state, other.state) and np.array_equal(log.counts.n, other.counts.n)


def test_strided_and_read_only_arrays(arrays):
    wide = np.zeros((500, 3), np.uint32)
    wide[:, 1] = arrays["state"]
    reward = arrays["reward"].copy()
    reward.flags.writeable = False
    log = ps.Log(wide[:, 1], arrays["action"], reward, arrays["next_state"])
    assert np.array_equal(log.state, arrays["state"])
    assert np.shares_memory(log.reward, reward)
    backwards = ps.Log(*(arrays[n][::-1] for n in ("state", "action", "reward", "next_state")))
    assert np.array_equal(backwards.reward, arrays["reward"][::-1])


def test_views_outlive_the_log(arrays):
    state = ps.Log(**arrays).state
    n = ps.Log(**arrays).counts.n
    assert state.sum() == arrays["state"].sum() and n.sum() == 500


def test_views_are_read_only(arrays):
    with pytest.raises(ValueError):
        ps.Log(**arrays).counts.n[0, 0] = 1


def test_counts_are_those_of_numpy(arrays):
    expected = np.zeros((6, 3), np.int64)
    np.add.at(expected, (arrays["state"], arrays["action"]), 1)
    rewards = np.zeros((6, 3))
    np.add.at(rewards, (arrays["state"], arrays["action"]), arrays["reward"])
    counts = ps.Log(**arrays).counts
    assert np.array_equal(counts.n, expected)
    assert np.allclose(counts.reward_sum, rewards)
    row, following, times = counts.successors
    assert times.sum() + counts.terminal.sum() == 500 and row[-1] == len(following)


def test_names_are_numbered_as_the_reader_does(visits):
    with open(ROOT / "examples/visits.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = {name: [row[name] for row in rows] for name in ("state", "action", "next_state")}
    numbers = {name: np.array([float(row[name]) for row in rows]) for name in ("reward", "terminal", "truncated")}
    log = ps.Log(**columns, **numbers, episode=[row["episode"] for row in rows])
    assert log.state_names == visits.state_names and log.action_names == visits.action_names
    assert np.array_equal(log.state, visits.state) and np.array_equal(log.next_state, visits.next_state)
    assert np.array_equal(log.truncated, visits.truncated)
    assert repr(log.inspect()) == repr(visits.inspect())
    objects = ps.Log(**{name: np.array(values, object) for name, values in columns.items()}, reward=numbers["reward"])
    assert objects.state_names == visits.state_names


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "npz", "pesslog"])
def test_files_round_trip(visits, tmp_path, ending):
    path = tmp_path / f"log.{ending}"
    visits.save(path)
    again = ps.read(path)
    assert np.array_equal(again.state, visits.state) and np.array_equal(again.reward, visits.reward)
    assert again.action_names == visits.action_names


def test_pickled(visits, arrays):
    for log in (visits, ps.Log(**arrays), ps.Log(**arrays, states=9)):
        again = pickle.loads(pickle.dumps(log))
        assert repr(again) == repr(log) and np.array_equal(again.truncated, log.truncated)
        assert again.state_names == log.state_names
        assert ps.solve(again, gamma=0.9).value == ps.solve(log, gamma=0.9).value


def test_counts_without_the_rows(visits):
    counts = ps.Counts.read(ROOT / "examples/visits.csv")
    assert np.array_equal(counts.n, visits.counts.n)
    assert ps.solve(counts, gamma=0.95).value == ps.solve(visits, gamma=0.95).value


def test_declared_sizes(arrays):
    log = ps.Log(**arrays, states=10, actions=4)
    assert (log.states, log.actions) == (10, 4)
    assert log.counts.n.shape == (10, 4)


def test_inspection(visits):
    found = visits.inspect()
    assert found.rows == 500 and found.odd == [] and len(found.findings) == 4
    assert "states_seen" in dir(found) and found.explain("episodes")
    assert "transitions" in found._repr_html_()


def test_frame_and_back(visits):
    pandas = pytest.importorskip("pandas")
    frame = visits.to_frame()
    assert isinstance(frame, pandas.DataFrame) and list(frame["state"][:2]) == ["severe", "mild"]


def test_how_a_log_was_read(tmp_path):
    """Roles, aliases, what was derived; and the settings that say so explicitly read the same log."""
    path = tmp_path / "log.csv"
    path.write_text("patient;obs;action;reward;done;age\n1;a;x;0,5;0;40\n1;b;y;1,5;1;41\n2;a;x;0,0;1;50\n")
    log = ps.read(path, column={"episode": "patient"})
    reading = log.reading
    assert reading.columns["patient"] == ("episode", "declared") and reading.columns["obs"] == ("state", "alias")
    assert reading.columns["age"][1] == "ignored" and reading.next_state_derived and reading.decimal_comma
    again = ps.read(path, **reading.settings)
    assert again.reading.settings == reading.settings and np.array_equal(again.reward, log.reward)
    assert "patient" in repr(reading) and "<table>" in reading._repr_html_()
    assert ps.Log([0], [0], [1.0], [0]).reading is None


def test_columns_by_role(tmp_path):
    """Roles stand by themselves as in from_frame, beside `column`, in everything that reads a file of rows."""
    path = tmp_path / "log.csv"
    path.write_text("patient,ward,bed,drug,out\n1,a,1,x,0\n1,b,2,y,1\n2,a,1,x,0\n")
    roles = dict(episode="patient", state=["ward", "bed"], action="drug", last_row="terminal")
    log = ps.read(path, reward="out", **roles)
    assert log.state_names == ["a|1", "b|2"] and log.action_names == ["x", "y"] and log.episode.tolist() == [1, 1, 2]
    assert np.array_equal(ps.read(path, column={"reward": "out"}, **roles).state, log.state)
    assert np.array_equal(ps.Counts.read(path, reward="out", **roles).n, log.counts.n)
    assert ps.merge([path], tmp_path / "one.pesscounts", reward="out", **roles).n.sum() == 3
    beds = ps.Measurements.read(path, ["bed"], reward="out", **{**roles, "state": None})
    assert len(beds) == 3 and beds.action_names == ["x", "y"]
    with pytest.raises(ps.InputError, match="found no column 'nothing'"):
        ps.read(path, reward="nothing", **roles)
    with pytest.raises(TypeError, match="read.. has no setting 'episodes'; did you mean"):
        ps.read(path, episodes="patient")


def test_shards_put_together(tmp_path, visits):
    """The same bytes as counting all rows at once, by the command and here."""
    text = (ROOT / "examples/visits.csv").read_text().splitlines(keepends=True)
    cut = next(i for i in range(250, 500) if text[i].split(",")[0] != text[i - 1].split(",")[0])
    (tmp_path / "a.csv").write_text("".join(text[:cut]))
    (tmp_path / "b.csv").write_text(text[0] + "".join(text[cut:]))
    whole = ps.merge([ROOT / "examples/visits.csv"], tmp_path / "whole.pesscounts")
    ps.merge([tmp_path / "b.csv", tmp_path / "a.csv"], tmp_path / "both.pesscounts")
    assert (tmp_path / "both.pesscounts").read_bytes() == (tmp_path / "whole.pesscounts").read_bytes()
    assert whole.facts["transitions"] == 500
    with pytest.raises(ps.FileError):
        ps.merge([tmp_path / "nosuch.csv"], tmp_path / "none.pesscounts")
    with pytest.raises(TypeError, match="no setting"):
        ps.merge([tmp_path / "a.csv"], tmp_path / "none.pesscounts", colum="x")
    assert not (tmp_path / "none.pesscounts").exists()

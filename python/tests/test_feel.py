"""Threads, forks, Ctrl-C, progress, callbacks: how the package behaves among others."""
import concurrent.futures
import multiprocessing
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import pessimist as ps
from pessimist import _progress


def big_log(seed=0, rows=400_000):
    rng = np.random.default_rng(seed)
    columns = (rng.integers(0, 500, rows), rng.integers(0, 4, rows), rng.random(rows), rng.integers(0, 500, rows))
    return ps.Log(*columns)


def value(seed):
    return ps.solve(big_log(seed), "ua", gamma=0.9).value


def long_work(**more):
    """Solving that takes seconds: a large process by value iteration."""
    mdp = ps.garnet(20_000, 4, branching=20, seed=1)
    return mdp.solve(gamma=0.99999, method="value-iteration", tolerance=1e-12, **more)


def test_fork_with_large_logs():
    """The parent has threads at work; children count and solve large logs too, and do not wait for ever."""
    expected = [value(seed) for seed in range(2)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(value, range(2)).get(timeout=120) == expected


def test_spawn_and_pickles(visits):
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        sol = pool.submit(ps.solve, visits, "ua", gamma=0.95).result(timeout=120)
    assert sol.value == ps.solve(visits, "ua", gamma=0.95).value


def test_joblib(visits):
    joblib = pytest.importorskip("joblib")
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(ps.solve)(visits, gamma=g) for g in (0.9, 0.95))
    assert [s.value for s in found] == [ps.solve(visits, gamma=g).value for g in (0.9, 0.95)]


def test_threads_share_a_log(visits):
    alphas = [0.1 * i for i in range(1, 20)]
    expected = [ps.solve(visits, gamma=0.95, absorbed_alpha=a).value for a in alphas]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda a: ps.solve(visits, gamma=0.95, absorbed_alpha=a).value, alphas * 20))
    assert found == expected * 20


def test_the_lock_is_free_during_work():
    """Another thread counts while the library works."""
    ticks, done = 0, threading.Event()

    def work():
        try:
            long_work(time_limit=1.0)
        finally:
            done.set()

    worker = threading.Thread(target=work)
    worker.start()
    while not done.wait(0.02):
        ticks += 1
    worker.join()
    assert ticks > 10


def test_ctrl_c_stops_in_good_order():
    threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        long_work(time_limit=60)
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize("method", ["robust", "split"])
def test_certify_can_be_stopped(method):
    """At the first word of progress, long before its end; nothing comes of it."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 120, 20000), rng.integers(0, 4, 20000), rng.random(20000), rng.integers(0, 120, 20000)]
    asked = []
    with pytest.raises(ps.Interrupted, match="interrupted while certifying"):
        ps.certify(ps.Log(*columns), method=method, gamma=0.999, progress=lambda what, *_: bool(asked.append(what)))
    assert asked == ["certifying"]


def test_discretize_can_be_stopped():
    """While the first centres are looked for, which takes most of the time where there are many of them."""
    rows = ps.Measurements(np.random.default_rng(0).normal(size=(400, 2)), ["a", "b"])
    asked = []
    with pytest.raises(ps.Interrupted, match="k-means was interrupted"):
        ps.discretize(rows, cells=40, share=1, progress=lambda what, done, total, unit: bool(asked.append((done, unit))))
    assert asked == [(0, "centres")]


def test_progress_functions():
    seen = []
    long_work(time_limit=1.5, progress=lambda what, done, total, unit: seen.append((what, done, unit)))
    assert seen and all(isinstance(what, str) and done >= 0 for what, done, _ in seen)


def test_progress_that_says_stop():
    with pytest.raises(ps.Interrupted):
        long_work(time_limit=60, progress=lambda *_: False)


def test_exceptions_in_progress_functions_come_through():
    def broken(*_):
        raise LookupError("lost the thread")

    with pytest.raises(LookupError, match="lost the thread"):
        long_work(time_limit=60, progress=broken)
    with pytest.raises(TypeError, match="progress: found 3"):
        long_work(progress=3)


def test_the_bar(capsys, monkeypatch):
    clock = iter([0.0, 0.5, 2.0, 4.0])
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(clock))
    bar = _progress.Bar()
    bar.show("solving", 10, 100, "sweeps")
    assert capsys.readouterr().err == ""
    bar.show("solving", 50, 100, "sweeps")
    assert "solving:  50%|████████████            | 50/100 [00:02<00:02, 25.0 sweeps/s]" in capsys.readouterr().err
    bar.show("solving", 7, 0, "sweeps")
    bar.close()
    assert capsys.readouterr().err.endswith("\n")


def test_everything_pickles(visits, tmp_path):
    rng = np.random.default_rng(0)
    rows = ps.Measurements(
        rng.normal(size=(1000, 2)), ["age", "lactate"], action=rng.integers(0, 2, 1000), reward=rng.random(1000),
        episode=np.arange(1000) // 10, terminal=np.arange(1000) % 10 == 9,
    )  # fmt: skip
    known, cells = {"gamma": 0.95, "reward_range": (0, 1)}, ps.discretize(rows, cells=8, seed=1)
    solution, mdp = ps.solve(visits, **known), ps.gridworld(4, 4, seed=1)
    data = ps.collect("breakout", transitions=500, seed=1)
    everything = [
        visits, visits.inspect(), visits.counts, ps.Counts.read("examples/visits.csv"), visits.reading, solution,
        ps.certify(visits, **known), ps.choose(visits, folds=5, **known), rows, cells, cells.log(rows),
        cells.markov_test(rows), ps.act(solution.policy, ["mild"]), ps.UA(gamma=0.9), ps.UA(**known).fit(visits), mdp,
        ps.estimate(visits, solution.policy, gamma=0.95, behaviour="estimated"), ps.make("breakout"),
        ps.make_vec("breakout", 3), data, data.inspect(), ps.play("breakout", episodes=3, seed=1),
        mdp.evaluate(np.full((16, 4), 0.25)), ps.experiment("gridworld-data", trials=5, progress=False),
    ]  # fmt: skip
    for one in everything:
        assert repr(pickle.loads(pickle.dumps(one))) == repr(one), type(one)
    choice = pickle.loads(pickle.dumps(everything[7]))
    page = choice.report(tmp_path / "again").read_text(encoding="utf-8")
    assert page == everything[7].report(tmp_path / "first").read_text(encoding="utf-8") and choice.solve().value
    assert np.array_equal(pickle.loads(pickle.dumps(rows)).values, rows.values)

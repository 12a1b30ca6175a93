"""Bad input: one clear sentence, no crash, nothing leaked."""
import ctypes
import gc
import mmap
import os
import resource
import signal
import sys

import numpy as np
import pytest

import pessimist as ps

from conftest import ROOT

GOOD = {"state": [0, 1, 1], "action": [0, 1, 0], "reward": [0.5, 1.0, 0.0], "next_state": [1, 1, 0]}


def log_with(**changed):
    return lambda: ps.Log(**{**GOOD, **changed})


def refusing(counts):
    raise RuntimeError("no numbers today")


@ps.uncertainty("refusing")
def _refusing(counts):
    raise RuntimeError("no numbers today")


@ps.uncertainty("negative")
def _negative(counts):
    return -np.ones(counts.n.shape)


@ps.uncertainty("misshapen")
def _misshapen(counts):
    return np.ones(3)


def small():
    return ps.Log(**GOOD)


ROW_OF = np.eye(4, dtype=bool)[np.arange(64) * 7 % 4]
EXAMPLES = ps.Observations(ROW_OF, np.arange(64) % 2, np.arange(64) / 64, np.roll(ROW_OF, -1, 0), terminal=np.arange(64) % 8 == 7)


def training(**callbacks):
    """A training that somebody stops at its first word."""
    short = dict(network="dense", updates=50, steps=1, batch=8, seed=1, report_seconds=0)
    return lambda: ps.train(EXAMPLES, "naive", **short, **callbacks)


def frame_with(**changed):
    pandas = pytest.importorskip("pandas")
    return lambda: ps.Log.from_frame(pandas.DataFrame({**GOOD, **changed}))


def missing(kind):
    """0, 1 and nothing, as pandas has it."""
    return pytest.importorskip("pandas").array([0, 1, None], kind)


CASES = {
    "negative ids": (log_with(state=[0, -1, 1]), ps.InputError, "state: row 1: found -1, expected an id from 0 on"),
    "ids that are no integers": (log_with(action=[0, 0.5, 1]), ps.InputError, "action: row 1: found 0.5"),
    "missing ids": (log_with(state=[0, np.nan, 1]), ps.InputError, "state: row 1: found nan"),
    "large ids": (log_with(state=[0, 2**40, 1]), ps.InputError, "state: row 1: found 1099511627776"),
    "complex rewards": (log_with(reward=[1j, 0, 0]), ps.InputError, "reward: found values of type complex128"),
    "texts for rewards": (log_with(reward=np.array(["a", 1, 2], object)), ps.InputError, "reward: row 0: found a"),
    "missing rewards": (log_with(reward=[0, np.nan, 1]), ps.InputError, "row 1 of the columns: the reward is not fin"),
    "lengths that differ": (log_with(reward=[0.5, 1.0]), ps.InputError, "reward: found 2 values, but 3 states"),
    "two dimensions": (log_with(state=[[0, 1, 1]]), ps.InputError, "state: found an array of 2 dimensions"),
    "missing names": (log_with(state=["a", None, "b"], next_state=["a"] * 3), ps.InputError, "row 1: a name is miss"),
    "ends that are no flags": (log_with(terminal=[0, 2, 0]), ps.InputError, "terminal: row 1: found 2, expected 0 or 1"),
    "probabilities": (log_with(probability=[0, 2, 0]), ps.InputError, "row 1 of the columns: the probability"),
    "dates": (log_with(state=np.array(["2020", "2021", "2022"], "M8[Y]")), ps.InputError, "state: found values of type"),
    "declared sizes": (log_with(states=1), ps.InputError, "expected ids below 1 states"),
    "no such file": (lambda: ps.read("nosuch.csv"), ps.FileError, "nosuch.csv: cannot be read"),
    "no such algorithm": (lambda: ps.solve(small(), "magic"), ps.ArgumentError, "there is no algorithm 'magic'"),
    "no such setting": (lambda: ps.solve(small(), gama=0.9), TypeError, "no setting 'gama'; did you mean gamma?"),
    "a setting out of range": (lambda: ps.solve(small(), gamma=2), ps.ArgumentError, "gamma"),
    "a setting of another algorithm": (lambda: ps.solve(small(), "naive", alpha=1), ps.ArgumentError, "alpha: naive"),
    "a wrong type": (lambda: ps.solve(42), TypeError, "found int, expected a Log"),
    "a start for other states": (lambda: ps.solve(small(), start=[1.0]), ps.InputError, "start: found an array of sh"),
    "a start that sums to two": (lambda: ps.solve(small(), start=[1.0, 1.0]), ps.Error, "start"),
    "a policy for other states": (lambda: ps.evaluate(small(), [[1.0, 0]]), ps.InputError, "policy is for 1 states"),
    "rows that do not sum to one": (lambda: ps.Policy([[0.5, 0.2]]), ps.Error, "sum"),
    "a policy of one dimension": (lambda: ps.Policy([0.5, 0.5]), ps.InputError, "expected [states, actions]"),
    "unknown states": (lambda: ps.Policy([[1.0]]).act([3]), ps.InputError, "states: row 0: found 3, expected ids"),
    "unknown names": (
        lambda: ps.Policy([[1.0]], state_names=["a"]).act(["b"]), ps.InputError, "row 0: found 'b', which is none"),
    "an exception in a callback": (
        lambda: ps.solve(small(), uncertainty="refusing"), RuntimeError, "no numbers today"),
    "an uncertainty below zero": (
        lambda: ps.solve(small(), uncertainty="negative"), ps.InputError, "'negative' at state 0, action 0: found -1"),
    "an uncertainty of another shape": (
        lambda: ps.solve(small(), uncertainty="misshapen"), ps.InputError, "found shape (3,), expected (2, 2)"),
    "a name that is taken": (lambda: ps.uncertainty("count"), ps.ArgumentError, "there is an uncertainty 'count' al"),
    "a policy file that is none": (
        lambda: ps.Policy.load(ROOT / "examples/visits.csv"), ps.InputError, "expected the columns state, action"),
    "counts for a split": (
        lambda: ps.certify(small().counts, method="split"), ps.InputError, "splits need its rows"),
    "arrays for a certificate": (lambda: ps.certify([0, 1]), TypeError, "found list, expected a Log, Counts or"),
    "missing integers of pandas": (frame_with(state=missing("Int64")), ps.InputError, "state"),
    "missing texts of pandas": (frame_with(action=missing("string")), ps.InputError, "action"),
    "missing numbers of pandas": (frame_with(reward=missing("Float64")), ps.InputError, "reward"),
    "a training that is stopped": (
        training(on_update=lambda row: False), ps.Interrupted, "updates of naive; nothing of it is kept without a dir"),
    "a training stopped by its bar": (training(progress=lambda *_: False), ps.Interrupted, "interrupted after 0 of 50"),
    "a training whose callback raises": (training(on_update=refusing), RuntimeError, "no numbers today"),
    "Ctrl-C in a training": (
        training(progress=lambda *_: signal.raise_signal(signal.SIGINT)), KeyboardInterrupt, ""),
    "a log for measurements": (lambda: ps.discretize(small()), TypeError, "rows: found Log, expected Measurements"),
    "a log for a map": (lambda: ps.act(ps.Policy([[1.0]]), [0], map=small()), TypeError, "map: found Log, expected Map"),
    "a file for counts": (
        lambda: ps.act(ps.Policy([[1.0]]), [0], log="log.csv"), TypeError, "log: found str, expected Log or Counts"),
    "a log for an MDP": (lambda: ps.train(EXAMPLES, mdp=small()), TypeError, "mdp: found Log, expected MDP"),
    "a log for a known process": (lambda: ps.theorems(small(), small()), TypeError, "mdp: found Log, expected MDP"),
    "a log for a policy": (lambda: ps.evaluate(small(), small()), ps.InputError, "a policy: found Log, expected prob"),
    "a list for a frame": (lambda: ps.Log.from_frame([1, 2]), TypeError, "frame: found list, expected a DataFrame"),
    "a range of one number": (lambda: ps.solve(small(), reward_range=3), ps.ArgumentError, "reward_range: found '3'"),
    "an MDP that is none": (lambda: ps.MDP([0], [0], [0], [2.0], [0.0]), ps.Error, "probab"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_one_clear_sentence(case):
    attempt, kind, sentence = CASES[case]
    with pytest.raises(kind) as caught:
        attempt()
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


REMEDIES = {
    "state,action,reward,next_state\n0,0,NA,1\n": 'missing="drop" leaves these rows out, missing="ROLE=VALUE" puts a value in',
    "episode,state,action,reward\n0,0,0,1\n": 'try last_row="terminal" or "cutoff"',
    "ward,action,reward,next_state\n0,0,1,1\n": 'try state="NAME"',
    "obs,observation,action,reward,next_state\n0,0,0,1,1\n": 'try state="obs"',
    "state,action,reward,next_state\n0.25,0,1,0.75\n": "measurements? discretize makes states of them",
    "state,action,reward,next_state\nK\xf6ln,0,1,1\n": 'try encoding="latin1"',
    'state,action,reward,next_state\n0,0,"1,5",1\n': 'try decimal="comma"',
    "\xff\xfes\0": 'Log.from_frame(pandas.read_csv(path, encoding="utf-16"), …)',
}


@pytest.mark.parametrize("content", REMEDIES)
def test_what_would_read_it(content, tmp_path):
    """The setting that helps is named as Python calls it, in the same sentence."""
    path = tmp_path / "log.csv"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(ps.InputError) as caught:
        ps.read(path)
    assert str(caught.value).endswith(REMEDIES[content]) or "measurements?" in REMEDIES[content] in str(caught.value)


def test_errors_say_where():
    with pytest.raises(ps.FileError) as caught:
        ps.read("nosuch.csv")
    assert caught.value.code == "IO" and isinstance(caught.value, OSError)


def test_place_of_an_error(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("state,action,reward,next_state\n0,0,1,1\n0,0,much,1\n")
    with pytest.raises(ps.InputError) as caught:
        ps.read(path)
    assert caught.value.code == "INPUT" and caught.value.file == str(path) and caught.value.line == 3


def test_a_solution_is_taken_for_its_policy():
    log = ps.Log(**GOOD)
    found = ps.solve(log, gamma=0.9)
    assert ps.evaluate(log, found, gamma=0.9).value == ps.evaluate(log, found.policy, gamma=0.9).value
    assert np.array_equal(ps.act(found, [0, 1], log=log)["action"], ps.act(found.policy, [0, 1], log=log)["action"])


class Mallinfo(ctypes.Structure):
    """What glibc says of its heap; the rest of the struct is not of interest."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


LIBC = ctypes.CDLL(None)
LIBC.mallinfo2.restype = Mallinfo
SMALLEST = np.array([32, 1, resource.getpagesize(), 1])  # of what held() counts


def held():
    """What this process holds now: bytes of the heap, blocks of Python's objects, bytes of its address space, files."""
    heap = LIBC.mallinfo2()
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    return np.array([heap.uordblks + heap.hblkhd, sys.getallocatedblocks(), pages * resource.getpagesize(),
                     len(os.listdir("/proc/self/fd"))])


def repeat(attempt, times):
    for _ in range(times):
        try:
            attempt()
        except (ps.Error, TypeError, ValueError, RuntimeError, KeyboardInterrupt):
            pass
    gc.collect()


def leaks(attempt, times=50, rounds=20):
    """Is something lost at every attempt, in every round? Caches that fill are not: a later round finds them full, the
    interpreter's own after some six of them."""
    repeat(attempt, 10)
    gc.freeze()  # what there is already is not looked through at the end of every round
    try:
        return grows(attempt, times, rounds)
    finally:
        gc.unfreeze()


def grows(attempt, times, rounds):
    for _ in range(rounds):
        before = held()
        repeat(attempt, times)
        grown = held() - before
        if (grown < times * SMALLEST / 2).all():  # half of it: some are those that were freed before
            return None
    return f"after {times} more attempts {grown} bytes, objects, bytes mapped and files are held"


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_leaked(case):
    assert not leaks(CASES[case][0])


def test_leaks_are_seen():
    """One block of the heap, object, mapping or file that is lost at each attempt."""
    objects, files = [], []
    ways = [lambda: objects.append(object()), lambda: objects.append(mmap.mmap(-1, 4096)), lambda: files.append(os.dup(0))]
    if "asan" not in os.environ.get("LD_PRELOAD", ""):  # which has a heap of its own
        ways.append(lambda: LIBC.malloc(1))
    for lose in ways:
        assert leaks(lose)
    for file in files:
        os.close(file)


def test_arrays_of_all_kinds_are_given_back():
    """Strided, read-only and of objects."""
    rng = np.random.default_rng(0)
    ids, rewards = rng.integers(0, 5, (2, 900), np.uint32), rng.random(900)
    rewards.flags.writeable = False
    names = np.array(["a", "b", "c", "d", "e"], object)[ids]

    def work():
        assert ps.Log(ids[0, ::3], ids[1, ::3], rewards[::3], ids[0, 1::3]).counts.n.sum() == 300
        assert ps.Log(ids[0], ids[1], rewards, ids[0]).reward.flags.writeable is False
        assert ps.Log(names[0], names[1], rewards, names[0]).states == 5

    assert not leaks(work)


def test_objects_are_given_back():
    """The same for what succeeds: logs, counts, solutions, policies, of a log of 100 kB."""
    rng = np.random.default_rng(0)
    arrays = [rng.integers(0, 50, 4000), rng.integers(0, 4, 4000), rng.random(4000), rng.integers(0, 50, 4000)]

    def work():
        log = ps.Log(*arrays)
        sol = ps.solve(log, gamma=0.9)
        (sol.policy, sol.q, sol.values, sol.thin, log.inspect(), sol.policy.act([1, 2, 3], rng=1))

    assert not leaks(work)

"""Datasets of observations and networks: arrays in, a policy out, callbacks, interruption, what is kept."""
import ctypes
import pickle
import subprocess

import numpy as np
import pytest

import pessimist as ps

SHORT = {"updates": 6, "steps": 20, "batch": 32, "imitation_steps": 40, "imitation_batch": 32, "network": "dense"}


@pytest.fixture(scope="module")
def world():
    return ps.gridworld(3, 3, seed=1)


@pytest.fixture(scope="module")
def data(world):
    return ps.collect(world, transitions=3000, step_limit=50, seed=1)


def test_arrays_in_arrays_out(data):
    """What is put in comes out, each different observation once."""
    seen = np.unpackbits(data.observations, axis=1, bitorder="little")[:, :9].astype(bool)
    again = ps.Observations(
        seen[data.state], data.action, data.reward, seen[data.next_state], terminal=data.terminal,
        truncated=data.truncated, actions=4,
    )  # fmt: skip
    for name in ("state", "next_state", "action", "reward", "terminal", "truncated"):
        assert np.array_equal(getattr(again, name), getattr(data, name)), name
    assert again.states == 9 and again.transitions == 3000
    assert np.array_equal(pickle.loads(pickle.dumps(again)).state, data.state)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_floats_and_pictures(dtype, tmp_path):
    """Observations that are no bits: kept as they are, learnt from and acted on."""
    rng = np.random.default_rng(0)
    shape = (400, 6, 6, 2) if dtype == np.uint8 else (400, 5)
    obs, following = (rng.integers(0, 255, shape).astype(dtype) for _ in range(2))
    data = ps.Observations(obs, rng.integers(0, 3, 400), rng.random(400), following, truncated=np.arange(400) % 20 == 19)
    kept = data.observations
    assert kept.dtype == (np.uint8 if dtype == np.uint8 else np.float32)
    assert np.array_equal(kept[data.state], obs.reshape(400, -1).astype(kept.dtype))
    net = ps.train(data, "naive", updates=1, steps=5, batch=16, seed=1)
    actions = net.act(obs)
    assert actions.shape == (400,) and np.array_equal(ps.Policy(net.policy.probabilities_of(obs)).shape, (400, 3))
    assert np.array_equal(data.policy_table(net.policy).act(data.state), actions)
    assert np.array_equal(pickle.loads(pickle.dumps(net.policy)).act(obs), actions)


def test_the_next_row_has_what_came_next(tmp_path):
    """Arrays without next_obs are what the same arrays are in a file."""
    rng = np.random.default_rng(3)
    obs, action, reward = rng.normal(size=(30, 2)).astype(np.float32), rng.integers(0, 2, 30), rng.normal(size=30)
    terminal, timeout = np.zeros((2, 30), bool)
    terminal[[4, 11]], timeout[[7, 8, 20]] = True, True  # an episode of one row among them
    np.savez(tmp_path / "d.npz", observations=obs, actions=action, rewards=reward, terminals=terminal, timeouts=timeout)
    here = ps.Observations(obs, action, reward, terminal=terminal, truncated=timeout)
    there = ps.Observations.load(tmp_path / "d.npz")
    assert here.transitions == there.transitions == 26 and here.episodes == there.episodes
    for name in ("observations", "state", "next_state", "action", "reward", "terminal", "truncated"):
        mine, its = getattr(here, name), getattr(there, name)
        if name in ("state", "next_state"):
            mine, its = here.observations[mine], there.observations[its]
        assert (np.array_equal(mine, its) if name != "observations" else mine.shape[1] == its.shape[1]), name
    for wrong in (dict(), dict(terminal=[True])):
        with pytest.raises(ps.InputError, match="next_obs: found none"):
            ps.Observations(obs, action, reward, **wrong)
    with pytest.raises(ps.InputError, match="no row of 1 is followed"):
        ps.Observations(obs[:1], action[:1], reward[:1], truncated=[True])


def test_a_log_of_observations(data):
    log = data.to_log()
    assert log.states == 9 and len(log) == 3000
    expected = np.zeros((9, 4), np.int64)
    np.add.at(expected, (data.state, data.action), 1)
    assert np.array_equal(log.counts.n, expected)


def test_collecting(tmp_path):
    envs = ps.make_vec("breakout", 4, sticky=0.3)
    data = ps.collect(envs, None, 1000, seed=2)
    assert data.transitions == 1000 and "sticky=0.3" in data.notes
    data.save(tmp_path / "data.pessdata")
    assert np.array_equal(ps.Observations.load(tmp_path / "data.pessdata").action, data.action)
    assert np.array_equal(ps.collect("breakout", None, 1000, sticky=0.3, seed=2).reward, data.reward)


def test_training_and_acting(data, world, tmp_path):
    told = []
    net = ps.train(data, "naive", mdp=world, on_update=lambda row: told.append(row["update"]), seed=1, gamma=0.9, **SHORT)
    assert told == [1, 2, 3, 4, 5, 6] and len(net.log) == 6
    one_hot = np.eye(9, dtype=bool)
    actions = net.act(one_hot)
    assert actions.shape == (9,) and set(actions) <= set(range(4))
    assert np.allclose(net.policy.probabilities_of(one_hot).sum(axis=1), 1)
    again = pickle.loads(pickle.dumps(net.policy))
    assert np.array_equal(again.act(one_hot), actions)
    net.save(tmp_path / "policy.pesspolicy")
    assert np.array_equal(ps.Policy.load(tmp_path / "policy.pesspolicy").act(one_hot), actions)
    table = data.policy_table(net.policy)
    assert table.shape == (9, 4) and ps.evaluate(data.to_log(), table, gamma=0.9).value > 0


def test_the_same_seed_gives_the_same_network(data):
    one_hot = np.eye(9, dtype=bool)
    nets = [ps.train(data, "naive", seed=3, **SHORT) for _ in range(2)]
    assert np.array_equal(nets[0].policy.outputs(one_hot), nets[1].policy.outputs(one_hot))


def test_a_callback_that_stops_and_one_that_raises(data, tmp_path):
    with pytest.raises(ps.Interrupted, match="resuming"):
        ps.train(data, "naive", on_update=lambda row: row["update"] < 2, out=tmp_path / "a", seed=1, **{**SHORT, "updates": 500})

    def broken(row):
        raise LookupError("not today")

    with pytest.raises(LookupError, match="not today"):
        ps.train(data, "naive", on_update=broken, seed=1, **{**SHORT, "updates": 500})


def test_an_interrupted_training_goes_on(data, tmp_path):
    settings = {**SHORT, "updates": 40, "seed": 1, "checkpoint_seconds": 0}
    whole = ps.train(data, "naive", **settings)
    with pytest.raises(ps.Interrupted):
        ps.train(data, "naive", on_update=lambda row: row["update"] < 3, out=tmp_path / "b", **settings)
    resumed = ps.train(data, "naive", out=tmp_path / "b", resume=True, **settings)
    assert resumed.resumed_from > 0
    one_hot = np.eye(9, dtype=bool)
    assert np.array_equal(resumed.policy.outputs(one_hot), whole.policy.outputs(one_hot))


def test_knobs_of_a_learner(data):
    net = ps.train(data, "proximal", absorbed_alpha=0.7, seed=1, **SHORT)
    assert "0.7" in net.policy.facts["notes"]
    with pytest.raises(TypeError, match="no setting 'absorbed_alfa'; did you mean absorbed_alpha"):
        ps.train(data, "proximal", absorbed_alfa=0.7, **SHORT)


def test_playing(world):
    best = world.solve(gamma=0.9).policy
    good = ps.play(world, best, episodes=200, step_limit=50, seed=1)
    poor = ps.play(world, episodes=200, step_limit=50, seed=1)
    assert good.mean_return > poor.mean_return + good.ci95 + poor.ci95
    assert ps.play("freeway", episodes=4, step_limit=200, seed=1).episodes == 4


def test_networks_play_and_collect():
    """A policy of networks is asked, not left out for random play: always right, which random play is not."""
    right = ps.Policy.from_arrays({"head.weight": np.zeros((2, 4), np.float32), "head.bias": np.array([0, 1], np.float32)})
    assert right
    assert (ps.collect("cartpole", right, 300, seed=1).action == 1).all()
    found, random = ps.play("cartpole", right, episodes=50, seed=1), ps.play("cartpole", episodes=50, seed=1)
    assert found.most_return < 12 < random.mean_return
    for what in (ps.play, ps.collect):
        with pytest.raises(ps.InputError, match="reads 4 floats; acrobot shows 6 floats"):
            what("acrobot", right)
    arrays = ps.Observations(np.eye(4), [1, 0, 1, 1], np.ones(4), terminal=[0, 0, 0, 1])  # of nothing that is here
    net = ps.train(arrays, "naive", **{**SHORT, "updates": 1, "seed": 1}).policy
    assert ps.play("cartpole", net, episodes=2, seed=1).episodes == 2
    with pytest.raises(ps.InputError, match="found shape .3, 5., expected 4 numbers each"):
        net.act(np.zeros((3, 5)))


def test_observations_that_are_no_numbers():
    net = ps.Policy.from_arrays({"head.weight": np.zeros((2, 3), np.float32), "head.bias": np.zeros(2, np.float32)})
    seen = np.zeros((4, 3))
    seen[2, 1] = np.nan
    for ask in (net.act, net.outputs, net.probabilities_of):
        with pytest.raises(ps.InputError, match="observation 2, feature 1: found nan, expected a finite number"):
            ask(seen)


def test_bad_observations(data):
    for wrong, sentence in (
        (dict(obs=np.full((2, 4), 0.5), next_obs=np.zeros((2, 4)), kind="bits"), "numbers other than 0 and 1"),
        (dict(obs=np.full((2, 4), 0.5), next_obs=np.zeros((2, 4)), kind="bytes"), "expected bytes"),
        (dict(obs=np.full((2, 4), "a"), next_obs=np.full((2, 4), "a")), "expected numbers"),
        (dict(obs=np.zeros((2, 4)), next_obs=np.zeros((2, 4)), kind="words"), "kind: found 'words'"),
        (dict(obs=np.zeros((2, 4)), next_obs=np.zeros((3, 4))), "expected the same"),
        (dict(obs=np.zeros((2, 4)), next_obs=np.zeros((2, 4)), reward=[1.0]), "reward: found 1 values"),
        (dict(obs=np.zeros((2, 4)), next_obs=np.zeros((2, 4)), action=["a", "b"]), "action"),
    ):
        with pytest.raises(ps.InputError, match=sentence):
            ps.Observations(**{"action": [0, 1], "reward": [0.0, 1.0], **wrong})
    net = ps.train(data, "naive", seed=1, **{**SHORT, "updates": 1})
    with pytest.raises(ps.InputError, match="expected"):
        net.act(np.zeros((2, 40), bool))
    with pytest.raises(ps.Error, match="magic"):
        ps.train(data, "magic", **SHORT)


@pytest.mark.parametrize("ending", ["c", "npz", "onnx"])
def test_a_policy_is_taken_home(data, tmp_path, ending):
    """By the ending of the name, as `pess net export` does it."""
    net = ps.train(data, "naive", seed=1, **SHORT)
    path = tmp_path / f"policy.{ending}"
    net.export(path)
    net.policy.export(tmp_path / f"again.{ending}")
    assert path.read_bytes() == (tmp_path / f"again.{ending}").read_bytes() and path.stat().st_size > 500
    if ending == "npz":
        arrays = np.load(path)
        assert any(name.endswith(".weight") for name in arrays.files)
        one_hot = np.eye(9, dtype=bool)
        back = ps.Policy.from_arrays(path, input="bits")
        assert np.allclose(back.outputs(one_hot), net.policy.outputs(one_hot), atol=1e-6)


@pytest.mark.parametrize("learner", ["ua-propensity", "ua-support-net", "sac-n"])
def test_a_rule_over_several_networks_is_taken_home(data, tmp_path, learner):
    """The C file acts as the policy does in the states of its data; ONNX has the rule too."""
    net = ps.train(data, learner, protocol="smoke", seed=1, network="dense")
    net.export(tmp_path / "policy.onnx")
    assert (tmp_path / "policy.onnx").stat().st_size > 500
    net.export(tmp_path / "policy.c")
    built = ["cc", "-std=c99", "-O1", "-shared", "-fPIC", "policy.c", "-o", "policy.so", "-lm"]
    subprocess.run(built, cwd=tmp_path, check=True)
    act = ctypes.CDLL(str(tmp_path / "policy.so")).policy_act
    seen = np.unpackbits(data.observations, axis=1, bitorder="little")[:, :9].astype(np.float32)
    taken = [act(np.ascontiguousarray(row).ctypes.data_as(ctypes.c_void_p)) for row in seen]
    assert taken == list(net.policy.probabilities_of(seen.astype(bool)).argmax(axis=1))


def test_what_cannot_be_taken_home(data, tmp_path):
    with pytest.raises(ps.Error, match="tables over the states of its data"):
        ps.train(data, "ua-counts", seed=1, **{**SHORT, "updates": 1}).export(tmp_path / "policy.onnx")
    for path in (tmp_path / "policy.c", tmp_path / "policy.txt"):
        with pytest.raises(ps.Error):
            ps.Policy([[1.0, 0.0]]).export(path)
        assert not path.exists()


def test_pictures_with_channels_before_or_behind_the_pixels():
    """Both orders make the same data and have the same answers, one picture or many; actions may be a column."""
    rng = np.random.default_rng(2)
    last = rng.integers(0, 256, (40, 5, 6, 3), np.uint8)
    first = np.moveaxis(last, -1, 1)
    action, reward, ended = rng.integers(0, 2, 40), rng.random(40), np.arange(40) % 10 == 9
    data = [ps.Observations(seen, taken, reward, np.roll(seen, -1, 0), terminal=ended)
            for seen, taken in ((last, action), (first, action[:, None]), (np.asfortranarray(first), action))]
    for other in data[1:]:
        assert other.actions == 2 and np.array_equal(other.action, data[0].action)
        assert np.array_equal(other.observations, data[0].observations)
    net = ps.train(data[1], "imitation", network="dense", imitation_steps=10, imitation_batch=8, seed=1, progress=False)
    assert np.array_equal(net.policy.act(first), net.policy.act(last))
    assert net.policy.act(first[3]) == net.policy.act(last[3])


def vectors(n=400):
    rng = np.random.default_rng(1)
    seen, doses = rng.normal(size=(n, 3)), rng.uniform(-1, 1, (n, 2))
    return ps.Observations(seen, doses, rng.random(n), rng.normal(size=(n, 3)), terminal=np.arange(n) % 10 == 9)


def test_actions_that_are_vectors_become_numbers():
    data = vectors()
    logged = data.action_vectors
    assert logged.shape == (400, 2) and np.array_equal(pickle.loads(pickle.dumps(data)).action_vectors, logged)
    with pytest.raises(ps.ArgumentError, match="vectors of 2 numbers"):
        ps.train(data, "imitation", progress=False)
    fit = data.number_actions(actions_grid="-1:1:3")
    grid = data.action_vectors
    assert fit.actions == 9 and grid.shape == (9, 2) and sorted(set(grid[:, 0].tolist())) == [-1, 0, 1]
    scaled = logged.std(axis=0)  # the nearest, each number counted in deviations of the log
    far = (((logged[:, None] - grid[None]) / scaled) ** 2).sum(axis=2)
    assert np.array_equal(data.action, far.argmin(axis=1))
    lost = ((logged - grid[data.action]) ** 2).sum(axis=0) / (len(logged) * logged.var(axis=0))
    assert fit.lost == pytest.approx(lost.mean(), rel=1e-4)
    assert logged.shape == (400, 2) and np.isfinite(logged).all()  # what was told before is not taken away
    assert np.array_equal(pickle.loads(pickle.dumps(data)).action_vectors, grid)
    net = ps.train(data, "imitation", imitation_steps=20, imitation_batch=32, seed=1, progress=False)
    assert grid[net.act(np.zeros((2, 3)))].shape == (2, 2)
    others = vectors()
    assert np.array_equal(net.policy.action_vectors, grid)
    assert others.number_actions(net.policy.action_vectors).lost == fit.lost
    assert np.array_equal(others.action, data.action) and np.array_equal(others.action_vectors, grid)
    with pytest.raises(ps.ArgumentError, match="found actions_grid beside them"):
        vectors(20).number_actions(grid, actions_grid="3")
    with pytest.raises(ps.ArgumentError, match="1 dimensions"):
        vectors(20).number_actions([1.0, 2.0])


@pytest.mark.parametrize(
    "settings, sentence",
    [({}, "found neither"), ({"actions_grid": "x"}, "found 'x'"), ({"actions_kmeans": 1000}, "from 0 to 256"),
     ({"actions_kmeans": 3, "actions_grid": "3"}, "found both")],
)  # fmt: skip
def test_actions_that_are_vectors_and_bad_choices(settings, sentence):
    with pytest.raises(ps.ArgumentError, match=sentence):
        vectors(20).number_actions(**settings)


def test_curves_for_tensorboard(tmp_path):
    """The event file that the command line writes: lengths, a checksum of each, and the version first."""
    mdp = ps.gridworld(3, 3, seed=1)
    data = ps.collect(mdp, transitions=500, seed=1)
    ps.train(data, "naive", network="dense", updates=2, steps=10, batch=16, tensorboard=tmp_path / "board", seed=1, progress=False)
    (event,) = (tmp_path / "board").iterdir()
    content = event.read_bytes()
    length = int.from_bytes(content[:8], "little")
    assert event.name.startswith("events.out.tfevents.") and b"brain.Event:2" in content[12 : 12 + length]
    assert b"loss" in content


def test_a_look_at_observations():
    data = vectors()
    look = data.inspect()
    assert look.length_most == 10 and look.reward_mean == pytest.approx(data.reward.mean())
    values = data.observations[data.state]
    assert np.allclose(look.features["mean"], values.mean(axis=0)) and np.allclose(look.features["most"], values.max(axis=0))
    assert np.array_equal(look.action_numbers["least"], data.action_vectors.min(axis=0))


def test_measurements_as_observations():
    rows = ps.Measurements(
        [[1.5, 0], [2.5, 1], [0.5, 2]], ["lactate", "hour"], action=["wait", "treat", "wait"], reward=[0, 0, 1],
        episode=[7, 7, 7], terminal=[0, 0, 1],
    )  # fmt: skip
    data = rows.observations(game="ward")
    assert data.game == "ward" and data.terminal.tolist() == [False, False, True]
    assert data.observations[data.next_state[:2]].tolist() == [[2.5, 1], [0.5, 2]]

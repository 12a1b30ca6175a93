"""Environments with Gymnasium's functions: many are the same as one, episodes end and begin, states are kept."""
import pickle

import numpy as np
import pytest

import pessimist as ps
from pessimist import environments

GAMES = [*ps.games, *ps.controls]


@pytest.mark.parametrize("game", GAMES)
def test_many_are_the_same_as_one(game):
    """Environment i of a batch is the one of the same seed and stream i, through the ends of episodes."""
    count, rng = 3, np.random.default_rng(0)
    envs = ps.make_vec(game, count, seed=5, step_limit=40)
    singles = [ps.make(game, seed=5, stream=i, step_limit=40) for i in range(count)]
    boards, _ = envs.reset(seed=5)
    assert np.array_equal(boards, np.stack([env.reset(seed=5)[0] for env in singles]))
    ended = 0
    for _ in range(200):
        actions = rng.integers(0, envs.single_action_space.n, count)
        boards, rewards, terminated, truncated, info = envs.step(actions)
        for i, env in enumerate(singles):
            board, reward, over, cut, _ = env.step(actions[i])
            assert (reward, over, cut) == (rewards[i], terminated[i], truncated[i])
            if over or cut:
                ended += 1
                assert info["_final_obs"][i] and np.array_equal(info["final_obs"][i], board)
                board, _ = env.reset()
            assert np.array_equal(board, boards[i])
    assert ended > 0


def test_forms_of_observations_agree():
    forms = {form: ps.make_vec("seaquest", 4, observations=form, seed=2) for form in environments.OBSERVATIONS}
    rng = np.random.default_rng(1)
    for _ in range(50):
        actions = rng.integers(0, 6, 4)
        seen = {form: envs.step(actions)[0] for form, envs in forms.items()}
    assert np.array_equal(seen["planes"], seen["floats"] == 1)
    bits = np.unpackbits(seen["bits"], axis=1, bitorder="little")[:, : seen["planes"][0].size]
    assert np.array_equal(bits.reshape(seen["planes"].shape), seen["planes"])
    channels_first = ps.make_vec("seaquest", 4, layout="CHW", seed=2)
    assert np.array_equal(channels_first.reset(seed=2)[0].transpose(0, 2, 3, 1), ps.make_vec("seaquest", 4, seed=2).reset(seed=2)[0])


def test_the_same_without_the_fast_module(monkeypatch):
    fast = ps.make_vec("asterix", 16, seed=3, step_limit=30)
    monkeypatch.setattr(environments, "_fast", None)
    plain = ps.make_vec("asterix", 16, seed=3, step_limit=30)
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(100):
        actions = rng.integers(0, 6, 16).astype(np.int32)
        for left, right in zip(fast.step(actions), plain.step(actions)):
            if isinstance(left, dict):
                ended += bool(left)
                assert left.keys() == right.keys() and all(np.array_equal(left[k], right[k]) for k in left)
            else:
                assert np.array_equal(left, right)
    assert ended > 0


def test_copies_are_independent():
    envs = ps.make_vec("breakout", 4, seed=1)
    first = envs.step(np.zeros(4, int))[0]
    before = first.copy()
    for _ in range(5):
        envs.step(np.ones(4, int))
    assert np.array_equal(first, before)
    shared = ps.make_vec("breakout", 4, seed=1, copy=False)
    assert shared.step(np.zeros(4, int))[0] is shared.step(np.zeros(4, int))[0]


@pytest.mark.parametrize("observations", ["bits", "planes", "floats"])
def test_what_a_step_returned_does_not_change_while_it_is_held(observations):
    """Kept replies, views of parts and whole tuples, against the same games whose replies are copied at once."""
    held, copied = (ps.make_vec("breakout", 16, observations=observations, seed=3) for _ in range(2))
    rng, kept = np.random.default_rng(1), []
    for step in range(60):
        actions = rng.integers(0, 6, 16).astype(np.int32)
        reply = held.step(actions)
        *arrays, info = copied.step(actions)
        then = [array.copy() for array in arrays] + [array.copy() for array in info.values()]
        now = [*reply[:4], *reply[4].values()]
        parts = [array[1::2] for array in now] if step % 3 else now  # a view keeps its array as well
        kept.append((parts, [array[1::2] for array in then] if step % 3 else then))
        if step % 5 == 0:
            kept = kept[-2:]
        del reply, now, arrays, info
    for parts, then in kept:
        assert all(np.array_equal(a, b) for a, b in zip(parts, then, strict=True))


def test_what_nobody_holds_is_written_to_again():
    envs = ps.make_vec("breakout", 64, observations="bits", seed=1)
    actions, places = np.zeros(64, np.int32), set()
    for _ in range(50):
        observations, *_ = envs.step(actions)
        places.add(observations.ctypes.data)
    assert len(places) <= 3
    changed = envs.step(actions)[4]
    changed["mine"] = 1
    assert "mine" not in envs.step(actions)[4]


def test_steppers_are_given_back():
    import gc
    import weakref

    envs = ps.make_vec("breakout", 4, seed=1)
    envs.step(np.zeros(4, np.int32))
    watched = weakref.ref(envs)
    gc.disable()
    try:
        del envs
        assert watched() is None  # no cycle
    finally:
        gc.enable()


def test_resets():
    envs = ps.make_vec("freeway", 8, seed=1)
    first, again = envs.reset(seed=9)[0], envs.reset(seed=9)[0]
    assert np.array_equal(first, again)
    for _ in range(30):
        envs.step(np.full(8, 2))
    fresh = envs.reset()[0]
    assert envs.step(np.zeros(8, int))[1].shape == (8,) and fresh.shape == first.shape


def test_an_mdp_as_an_environment():
    mdp = ps.gridworld(4, 4, seed=1)
    env = ps.make(mdp, seed=1, step_limit=10)
    state, _ = env.reset(seed=3)
    assert state in env.observation_space and env.observation_space.n == 16
    for step in range(10):
        state, reward, terminated, truncated, _ = env.step(env.action_space.sample())
    assert truncated and not terminated
    envs = ps.make_vec(mdp, 5, seed=1)
    states, _ = envs.reset(seed=3)
    assert states.shape == (5,) and envs.step(np.zeros(5, int))[0].max() < 16


def test_saved_and_pickled():
    env = ps.make("space_invaders", seed=4)
    env.reset(seed=4)
    for _ in range(20):
        env.step(1)
    kept, copy = env.save(), pickle.loads(pickle.dumps(env))
    boards = [env.step(3)[0] for _ in range(10)]
    env.restore(kept)
    for board in boards:
        assert np.array_equal(env.step(3)[0], board) and np.array_equal(copy.step(3)[0], board)
    envs = ps.make_vec("breakout", 3, seed=4)
    envs.step(np.ones(3, int))
    twin = pickle.loads(pickle.dumps(envs))
    for left, right in zip(envs.step(np.zeros(3, int))[:4], twin.step(np.zeros(3, int))[:4]):
        assert np.array_equal(left, right)


def test_pictures():
    env = ps.make("breakout", seed=1, render_mode="rgb_array")
    env.reset(seed=1)
    picture = env.render()
    assert picture.ndim == 3 and picture.shape[2] == 3 and picture.dtype == np.uint8 and len(np.unique(picture)) > 2
    drawn = ps.make("breakout", seed=1, render_mode="ansi").render()
    assert len(drawn.splitlines()) == 10 and set(drawn) > {".", "\n"}


def test_spaces():
    env = ps.make("breakout", seed=1)
    assert env.reset(seed=1)[0] in env.observation_space
    assert env.action_space.sample() in env.action_space and 6 not in env.action_space
    envs = ps.make_vec("breakout", 3)
    assert envs.observation_space.shape == (3, 10, 10, 4) and envs.action_space.sample() in envs.action_space


def test_bad_steps():
    env = ps.make("breakout", seed=1)
    with pytest.raises(ps.ArgumentError):
        env.step(17)
    envs = ps.make_vec("breakout", 3, seed=1)
    before = envs.save()
    with pytest.raises(ps.ArgumentError):
        envs.step(np.array([0, 9, 0], np.int32))
    assert envs.save() == before
    with pytest.raises(ps.ArgumentError, match="expected 3 integers"):
        envs.step([0.5, 1, 2])
    with pytest.raises(ValueError):
        envs.step(np.zeros(4, np.int32))
    for wrong in (dict(observations="pixels"), dict(layout="WHC"), dict(stick=0.1), dict(sticky=3)):
        with pytest.raises((ps.ArgumentError, TypeError)):
            ps.make("breakout", **wrong)
    with pytest.raises(ps.Error, match="pong"):
        ps.make("pong")


def test_control_problems_show_floats_and_pictures():
    """As they are: CartPole is at rest where it begins, a picture has more than two colours."""
    env = ps.make("cartpole", seed=1)
    state, _ = env.reset(seed=1)
    assert state.shape == (4,) and state.dtype == np.float32 and 0 < np.abs(state).max() <= 0.05
    assert env.observation_space.contains(state) and env.observation_space.sample().shape == (4,)
    assert env.step(1)[0][1] > state[1]  # pushed to the right, it is faster to the right
    picture, _ = ps.make_vec("pixel_grid", 2, seed=1).reset(seed=1)
    assert picture.dtype == np.uint8 and len(np.unique(picture)) > 1 and picture.max() > 1


def test_gymnasium():
    gymnasium = pytest.importorskip("gymnasium")
    from pessimist._gymnasium import register

    register()
    env = gymnasium.make("pessimist/breakout-v0")
    board, _ = env.reset(seed=1)
    assert board in env.observation_space


def own_car(step_limit=200):
    """MountainCar (Moore 1990) as functions in Python."""

    def reset(state, random):
        state[:] = -0.6 + 0.2 * random(), 0

    def step(state, action, random):
        speed = np.clip(state[1] + 0.001 * (action - 1) - 0.0025 * np.cos(3 * state[0]), -0.07, 0.07)
        position = np.clip(state[0] + speed, -1.2, 0.6)
        state[:] = position, 0 if position <= -1.2 and speed < 0 else speed
        return -1, position >= 0.5

    return ps.OwnEnvironment(reset, step, state=2, actions=3, step_limit=step_limit, name="car")


def test_an_environment_of_ones_own_is_the_one_that_is_built_in():
    """A car in Python and mountain_car: the same seed, the same data up to rounding; and policies play both alike."""
    own, built = (ps.collect(env, transitions=1200, envs=4, seed=3) for env in (own_car(), "mountain_car"))
    for name in ("action", "terminal", "truncated", "reward"):
        assert np.array_equal(getattr(own, name), getattr(built, name)), name
    assert np.allclose(own.observations[own.state], built.observations[built.state], atol=1e-5)
    net = ps.train(own, "naive", network="dense 16", protocol="quick", updates=2, steps=20, seed=1)
    played = [ps.play(env, net.policy, episodes=5, seed=2).mean_return for env in (own_car(), "mountain_car")]
    assert played[0] == played[1]


def test_what_a_function_of_an_environment_raises_comes_through():
    def broken(state, action, random):
        raise KeyError("broken")

    own = ps.OwnEnvironment(lambda state, random: None, broken, state=1, actions=2)
    for use in (lambda: ps.collect(own, transitions=100), lambda: ps.play(own, episodes=3)):
        with pytest.raises(KeyError, match="broken"):
            use()
    nothing = ps.OwnEnvironment(lambda state, random: None, lambda state, action, random: None, state=1, actions=2)
    with pytest.raises(ValueError, match="step: returned None, expected the reward and whether the episode ends"):
        ps.collect(nothing, transitions=100)


@pytest.mark.parametrize(
    "wrong, sentence",
    [
        (dict(actions=0), "an environment of 0 actions"),
        (dict(actions=2.5), "actions: found 2.5, expected a whole number"),
        (dict(state=0), "state: found 0, expected 1 to 256 numbers"),
        (dict(state="two"), "state: found 'two', expected a whole number"),
        (dict(reset=3), "reset: found int, expected a function"),
        (dict(observation=5), "expected observe"),
        (dict(observe=lambda state: [np.nan]), "the environment, feature 0: found nan"),
        (dict(observe=lambda state: [1, 2]), "could not broadcast"),
    ],
)
def test_environments_that_cannot_be(wrong, sentence):
    right = dict(reset=lambda state, random: None, step=lambda state, action, random: (0, True), state=1, actions=2)
    with pytest.raises(ValueError, match=sentence):
        ps.collect(ps.OwnEnvironment(**{**right, **wrong}), transitions=10)

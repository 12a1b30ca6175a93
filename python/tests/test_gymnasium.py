"""Registration with Gymnasium, which is not in Debian: a stand-in records the calls and plays the part of its classes,
by its documented interface (1.0). What Gymnasium itself would check is not tested here."""
import sys
import types

import numpy as np
import pytest

import pessimist as ps

from conftest import ROOT
from pessimist import _gymnasium, _spaces


class Env:
    """gymnasium.Env: reset takes the seed for the random numbers of the base class."""

    def reset(self, *, seed=None, options=None):
        self.base_seed = seed


class VectorEnv:
    """gymnasium.vector.VectorEnv."""


class AutoresetMode:
    NEXT_STEP, SAME_STEP, DISABLED = "NextStep", "SameStep", "Disabled"


@pytest.fixture
def gymnasium(monkeypatch):
    module, vector = types.ModuleType("gymnasium"), types.ModuleType("gymnasium.vector")
    vector.VectorEnv, vector.AutoresetMode = VectorEnv, AutoresetMode
    module.Env, module.vector, module.spaces, module.registry = Env, vector, _spaces, {}

    def register(id, entry_point=None, vector_entry_point=None, **more):
        assert not more and id not in module.registry and callable(entry_point) and callable(vector_entry_point)
        module.registry[id] = entry_point, vector_entry_point

    module.register = register
    monkeypatch.setitem(sys.modules, "gymnasium", module)
    monkeypatch.setitem(sys.modules, "gymnasium.vector", vector)
    return module


def test_every_game_is_registered_once(gymnasium):
    _gymnasium.register()
    assert set(gymnasium.registry) == {f"pessimist/{game}-v0" for game in [*ps.games, *ps.controls]}
    _gymnasium.register()


def test_an_environment_is_one_of_gymnasium_and_plays_the_game(gymnasium):
    _gymnasium.register()
    env = gymnasium.registry["pessimist/breakout-v0"][0](seed=1)
    assert isinstance(env, Env) and env.action_space.n == ps.make("breakout").action_space.n
    board, info = env.reset(seed=3)
    assert env.base_seed == 3 and env.observation_space.contains(board) and info == {}
    plain = ps.make("breakout", seed=1)
    assert np.array_equal(board, plain.reset(seed=3)[0])
    for action in (1, 2, 0, 3):
        one, other = env.step(action), plain.step(action)
        assert np.array_equal(one[0], other[0]) and one[1:] == other[1:]


def test_many_environments_tell_how_they_are_reset(gymnasium):
    _gymnasium.register()
    envs = gymnasium.registry["pessimist/asterix-v0"][1](num_envs=3, seed=1)
    assert isinstance(envs, VectorEnv) and envs.num_envs == 3
    assert envs.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    boards, _ = envs.reset(seed=2)
    plain = ps.make_vec("asterix", 3, seed=1)
    assert np.array_equal(boards, plain.reset(seed=2)[0])
    for one, other in zip(envs.step(np.zeros(3, np.int64))[:4], plain.step(np.zeros(3, np.int64))):
        assert np.array_equal(one, other)


def test_the_package_names_the_function_that_gymnasium_calls():
    """Gymnasium loads the entry points of the group gymnasium.envs; the wheel and the metadata of the build have one."""
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = declared[declared.index('[project.entry-points."gymnasium.envs"]') :]
    assert "pessimist._gymnasium:register" in section.split("\n\n")[0]

"""For Gymnasium, which calls `register` where both are installed: gymnasium.make("pessimist/breakout-v0")."""
from __future__ import annotations

from typing import Any

from ._lists import LISTINGS
from .environments import make, make_vec


def _env(game: str, **settings: Any) -> Any:
    """The game as a subclass of gymnasium.Env, as its checks ask for."""
    import gymnasium

    class Game(gymnasium.Env):
        metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 10}

        def __init__(self) -> None:
            self.env = make(game, **settings)
            self.observation_space, self.action_space = self.env.observation_space, self.env.action_space
            self.render_mode = self.env.render_mode

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            super().reset(seed=seed)
            return self.env.reset(seed=seed)

        def step(self, action: Any) -> Any:
            return self.env.step(action)

        def render(self) -> Any:
            return self.env.render()

    return Game()


def _vec(game: str, num_envs: int = 1, **settings: Any) -> Any:
    """The same for gymnasium.make_vec."""
    import gymnasium

    class Games(gymnasium.vector.VectorEnv):
        def __init__(self) -> None:
            self.env = make_vec(game, num_envs, **settings)
            for name in ("single_observation_space", "single_action_space", "observation_space", "action_space"):
                setattr(self, name, getattr(self.env, name))
            self.num_envs = num_envs
            mode = getattr(gymnasium.vector, "AutoresetMode", None)
            self.metadata = {"autoreset_mode": mode.SAME_STEP if mode else "SameStep"}

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            return self.env.reset(seed=seed)

        def step(self, actions: Any) -> Any:
            return self.env.step(actions)

    return Games()


def register() -> None:
    """Every game and control problem under pessimist/NAME-v0."""
    import functools

    import gymnasium

    for game in [*LISTINGS["games"], *LISTINGS["controls"]]:
        name = f"pessimist/{game}-v0"
        if name not in gymnasium.registry:
            entries = functools.partial(_env, game), functools.partial(_vec, game)
            gymnasium.register(id=name, entry_point=entries[0], vector_entry_point=entries[1])

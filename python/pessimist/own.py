"""Environments of one's own, as Python functions: data are collected in them, and policies play them."""
from __future__ import annotations

import contextlib
import ctypes
from typing import Any, Callable, Iterator

import numpy as np

from . import _abi
from ._library import C, ArgumentError

_MOST_NUMBERS = 256  # of a state: pess_env_callbacks.state_size is at most 2,048 bytes
_FIELDS = dict(_abi.pess_env_callbacks._fields_)


class OwnEnvironment:
    """An environment as two or three functions over a state of float64 numbers, which they change in place:
    reset(state, random) begins an episode, step(state, action, random) returns the reward and whether the episode ends
    there, observe(state) returns what is seen (default: the state itself). All that is random comes from random(),
    uniform in [0, 1), so that a seed gives the same data again. `ps.collect` and `ps.play` take it in place of a game.

    >>> import pessimist as ps
    >>> def reset(state, random):
    ...     state[0] = random()
    >>> def step(state, action, random):
    ...     state[0] += 0.1 if action == 1 else -0.1
    ...     return -abs(state[0]), abs(state[0]) > 1
    >>> walk = ps.OwnEnvironment(reset, step, state=1, actions=2, step_limit=50)
    >>> data = ps.collect(walk, transitions=500, seed=1)
    >>> data.transitions
    500
    >>> ps.play(walk, episodes=5, seed=1).episodes
    5
    """

    def __init__(
        self,
        reset: Callable[[np.ndarray, Callable[[], float]], Any],
        step: Callable[[np.ndarray, int, Callable[[], float]], tuple[float, bool]],
        observe: Callable[[np.ndarray], Any] | None = None,
        *,
        state: int,
        actions: int,
        observation: int | None = None,
        step_limit: int = 0,
        name: str = "own",
    ):
        for what, function in (("reset", reset), ("step", step), ("observe", observe)):
            if not callable(function) and not (what == "observe" and function is None):
                raise ArgumentError(f"{what}: found {type(function).__name__}, expected a function")
        sizes = {"state": state, "actions": actions, "observation": observation, "step_limit": step_limit}
        for what, number in sizes.items():
            if not isinstance(number, (int, np.integer)) and not (what == "observation" and number is None):
                raise ArgumentError(f"{what}: found {number!r}, expected a whole number")
        if not 1 <= state <= _MOST_NUMBERS:
            raise ArgumentError(f"state: found {state}, expected 1 to {_MOST_NUMBERS} numbers")
        if observe is None and observation not in (None, state):
            raise ArgumentError(f"observation: found {observation} numbers of a state of {state}, expected observe")
        self.name, self._raised = name, None
        self._reset, self._step, self._observe = reset, step, observe
        self._numbers, self._seen = state, state if observation is None else observation
        self._callbacks = _abi.pess_env_callbacks(
            size=ctypes.sizeof(_abi.pess_env_callbacks), actions=actions, state_size=8 * state, step_limit=step_limit,
            **{what: _FIELDS[what](getattr(self, f"_call_{what}")) for what in ("reset", "step", "observe")},
        )  # fmt: skip
        self._callbacks.shape.kind = _abi.CONSTANTS["PESS_OBSERVATION_FLOATS"]
        self._callbacks.shape.length = self._seen

    @contextlib.contextmanager
    def acting(self) -> Iterator[Any]:
        """The callbacks for a call; what a function of the environment raised in it is raised after it. From then on
        nothing more of the environment is called, and every step ends an episode."""
        self._raised = None
        try:
            yield ctypes.pointer(self._callbacks)
        finally:
            if self._raised is not None:
                raise self._raised

    def _state(self, at: int) -> np.ndarray:
        return np.ctypeslib.as_array((ctypes.c_double * self._numbers).from_address(at))

    def _call_reset(self, user: Any, state: int, random: int) -> None:
        if self._raised is None:
            try:
                self._reset(self._state(state), lambda: C.pess_random_uniform(random))
            except BaseException as error:
                self._raised = error

    def _call_step(self, user: Any, state: int, action: int, random: int, terminal: int) -> float:
        ended, reward = True, 0.0
        if self._raised is None:
            try:
                found = self._step(self._state(state), action, lambda: C.pess_random_uniform(random))
                try:
                    reward, ended = found
                except (TypeError, ValueError):
                    raise ArgumentError(
                        f"step: returned {found!r}, expected the reward and whether the episode ends"
                    ) from None
                reward, ended = float(reward), bool(ended)
            except BaseException as error:
                self._raised, reward, ended = error, 0.0, True
        ctypes.c_bool.from_address(terminal).value = ended
        return reward

    def _call_observe(self, user: Any, state: int, observation: int) -> None:
        out = np.ctypeslib.as_array((ctypes.c_float * self._seen).from_address(observation))
        out[:] = 0
        if self._raised is None:
            try:
                numbers = self._state(state)
                out[:] = numbers if self._observe is None else self._observe(numbers.copy())
            except BaseException as error:
                self._raised = error

    def __repr__(self) -> str:
        return f"OwnEnvironment {self.name}: {self._seen} floats, {self._callbacks.actions} actions"

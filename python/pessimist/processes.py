"""Known processes: MDPs to solve exactly, to evaluate policies in, and to simulate logs of."""
from __future__ import annotations

import ctypes
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from . import _abi
from ._arrays import address
from ._library import C, Handle, InputError, call, listening, make
from ._settings import check_known, table, takes
from .logs import Log
from .policies import Policy
from .solving import Solution, plan, policy_for, start_distribution


class MDP(Handle):
    """A decision process that is known: per state and action the possible outcomes.

    >>> import pessimist as ps
    >>> mdp = ps.MDP(state=[0, 0, 1], action=[0, 1, 0], next_state=[0, 1, 1], probability=[1, 1, 1], reward=[0, 0, 1])
    >>> float(mdp.solve(gamma=0.5).values[0])
    1.0
    """

    _destroy = "pess_mdp_destroy"
    counts = None  # there is no log
    state_names = action_names = None

    def __init__(
        self, state: Any, action: Any, next_state: Any, probability: Any, reward: Any, *, states: int = 0, actions: int = 0
    ):
        columns = np.broadcast_arrays(state, action, next_state, probability, reward)
        rows = np.zeros(columns[0].size, np.dtype(_abi.pess_mdp_transition))
        for name, values in zip(("state", "action", "next_state", "probability", "reward"), columns):
            if values.dtype.kind not in "buif":
                raise InputError(f"{name}: found values of type {values.dtype}, expected numbers")
            rows[name] = values.ravel()
        states = states or int(max(rows["state"].max(initial=-1), rows["next_state"].max(initial=-1))) + 1
        actions = actions or int(rows["action"].max(initial=-1)) + 1
        self._begin(make(C.pess_mdp_create, states, actions, address(rows), len(rows)))

    def _begin(self, handle: int) -> None:
        self._own(handle)
        self._exact: int | None = None

    @classmethod
    def _of(cls, handle: int) -> "MDP":
        self = cls.__new__(cls)
        self._begin(handle)
        return self

    @classmethod
    def load(cls, path: str | os.PathLike) -> "MDP":
        """Reads CSV with the columns idstatefrom, idaction, idstateto, probability, reward."""
        return cls._of(make(C.pess_mdp_read, os.fsencode(path)))

    def save(self, path: str | os.PathLike) -> None:
        call(C.pess_mdp_write, self._address, os.fsencode(path), 0)

    @property
    def states(self) -> int:
        return C.pess_mdp_states(self._address)

    @property
    def actions(self) -> int:
        return C.pess_mdp_actions(self._address)

    @property
    def model(self) -> int:
        """The address of its model, made once."""
        if self._exact is None:
            self._exact = make(C.pess_mdp_model, self._address, 0)
        return self._exact

    def _model(self) -> tuple[int, Any]:
        return self.model, self

    def __del__(self) -> None:
        if self.__dict__.get("_exact"):
            C.pess_model_destroy(self._exact)
        super().__del__()

    def _start(self, start: Any) -> np.ndarray:
        if start is not None and not isinstance(start, str):
            return start_distribution(start, self.states)
        out = np.empty(self.states)
        if start is None or start == "uniform":
            call(C.pess_start_uniform, self.model, address(out))
        else:
            call(C.pess_start_read, os.fsencode(start), self.states, None, address(out))
        return out

    def solve(self, algorithm: str = "naive", *, start: Any = None, progress: Any = None, **settings: Any) -> Solution:
        """The best policy and its exact value. `start`: "uniform", a file or an array [S]; settings are those of `solve`."""
        options, _ = plan("MDP.solve", algorithm, settings)
        begin = self._start(start)
        with listening(progress):
            handle = make(C.pess_solve, None, self.model, address(begin), ctypes.addressof(options))
        return Solution(handle, self, options, begin)

    def evaluate(self, policy: Any, *, start: Any = None, progress: Any = None, **settings: Any) -> Solution:
        """The exact value of a policy; float() of it is the value from the start distribution.

        >>> import pessimist as ps
        >>> mdp = ps.gridworld(4, 4, seed=1)
        >>> best = mdp.solve(gamma=0.9)
        >>> abs(float(mdp.evaluate(best.policy, gamma=0.9)) - best.value) < 1e-9
        True
        """
        options, _ = plan("MDP.evaluate", "naive", settings)
        begin = self._start(start)
        chosen = policy_for(policy, self)
        with listening(progress):
            handle = make(
                C.pess_evaluate, None, self.model, address(begin), chosen._address, ctypes.addressof(options)
            )
        return Solution(handle, self, options, begin)

    def uniform_policy(self) -> Policy:
        """Every action that a state has is equally likely."""
        return Policy._of(make(C.pess_policy_uniform, self.model))

    @takes("simulate")
    def simulate(self, policy: Any = None, *, start: Any = None, progress: Any = None, **settings: Any) -> Log:
        """A log of a policy acting here; None: uniformly at random. Give `transitions`, or `episodes` and `horizon`.

        >>> import pessimist as ps
        >>> ps.gridworld(8, 8, seed=1).simulate(transitions=2000, seed=3)
        Log of 2,000 transitions, 64 states, 4 actions
        """
        check_known("MDP.simulate", settings, [table("simulate")])
        options = table("simulate").make(settings)
        begin = self._start(start)
        chosen = self.uniform_policy() if policy is None else policy_for(policy, self)
        with listening(progress):
            handle = make(C.pess_simulate, self._address, chosen._address, address(begin), ctypes.addressof(options))
        log = Log._of(handle)
        log._declared = (self.states, self.actions)
        return log

    def stationary(self, policy: Any) -> np.ndarray:
        """The stationary law of a policy, [S]."""
        out = np.empty(self.states)
        call(C.pess_stationary, self.model, policy_for(policy, self)._address, address(out))
        return out

    def visitation(self, policy: Any, *, start: Any = None, **settings: Any) -> np.ndarray:
        """Discounted visits Σ_t γ^t P(s_t = s), [S]."""
        options, _ = plan("MDP.visitation", "naive", settings)
        out = np.empty(self.states)
        begin, chosen = self._start(start), policy_for(policy, self)
        call(C.pess_visitation, self.model, address(begin), chosen._address, ctypes.addressof(options), address(out))
        return out

    def __repr__(self) -> str:
        outcomes = C.pess_mdp_transitions(self._address)
        return f"MDP of {self.states:,} states, {self.actions:,} actions, {outcomes:,} outcomes"

    def __reduce__(self) -> Any:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "mdp.csv")
            self.save(path)
            return _again, (path.read_bytes(),)


def _again(content: bytes) -> MDP:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "mdp.csv")
        path.write_bytes(content)
        return MDP.load(path)


def _built_in(kind: str, positional: dict[str, Any], settings: dict[str, Any]) -> MDP:
    values = {**{key: value for key, value in positional.items() if value is not None}, **settings}
    check_known(kind, values, [table(kind)])
    options = table(kind).make(values)
    return MDP._of(make(getattr(C, f"pess_mdp_{kind}"), ctypes.addressof(options)))


@takes("gridworld")
def gridworld(rows: int | None = None, cols: int | None = None, **settings: Any) -> MDP:
    """The paper's gridworld: a torus of rows × cols cells, actions up, right, down, left.

    >>> import pessimist as ps
    >>> ps.gridworld(8, 8, seed=1)
    MDP of 64 states, 4 actions, 2,048 outcomes
    """
    return _built_in("gridworld", {"rows": rows, "cols": cols}, settings)


@takes("bandit")
def bandit(arms: int | None = None, **settings: Any) -> MDP:
    """One state; the first arm is the best."""
    return _built_in("bandit", {"arms": arms}, settings)


@takes("garnet")
def garnet(states: int | None = None, actions: int | None = None, **settings: Any) -> MDP:
    """A random process (Garnet): each pair has some next states with random probabilities."""
    return _built_in("garnet", {"states": states, "actions": actions}, settings)

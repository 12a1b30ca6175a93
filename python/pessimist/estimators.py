"""Estimators with scikit-learn's functions, one class per algorithm: `pessimist.UA(absorbed_alpha=0.5).fit(log)`."""
from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ._library import C, listed, text
from ._settings import check_known, table, unknown
from .logs import Log
from .policies import Policy
from .solving import evaluate, solve


class Estimator:
    """`fit` solves a log, `predict` acts, `score` is the value of the policy at face value on another log.

    Parameters are the settings of `solve`; get_params and set_params are scikit-learn's, so that clone and grid search
    work. A log can be given as X with columns of a structured array or a DataFrame too.

    >>> import pessimist as ps
    >>> log = ps.read("examples/visits.csv")
    >>> ps.UA(absorbed_alpha=0.5, gamma=0.95, reward_range=(0, 1)).fit(log).predict(["mild"]).tolist()
    ['wait']
    """

    algorithm = "ua"

    def __init__(self, **settings: Any):
        check_known(type(self).__name__, settings, [table("solve"), table("model")])
        self._settings = settings

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted({*table("solve").rows, *table("model").rows} - {"algorithm"})

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings that were given."""
        return dict(self._settings)

    def set_params(self, **settings: Any) -> "Estimator":
        known = self._get_param_names()
        for key in settings:
            if key not in known:
                raise unknown(type(self).__name__, key, known)
        self._settings.update(settings)
        return self

    def fit(self, X: Any, y: Any = None) -> "Estimator":
        """Solves the log."""
        log = as_log(X)
        self.solution_ = solve(log, self.algorithm, **self._settings)
        self.policy_: Policy = self.solution_.policy
        return self

    def predict(self, X: Any) -> np.ndarray:
        """What to do at states: ids, names, or the states of a log or of its rows."""
        return self.policy_.act(_states_of(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of all actions, [count, A]."""
        return self.policy_.probabilities_of(_states_of(X))

    def score(self, X: Any, y: Any = None) -> float:
        """The value of the policy at face value on a log: an estimate that flatters where the log is the one that was
        fitted."""
        shared = {key: value for key, value in self._settings.items() if key in ("gamma", "horizon", *table("model").rows)}
        log = as_log(X)
        policy = self.policy_
        named = policy.state_names is not None and log.state_names is not None
        if policy.shape[-2:] != (log.states, log.actions) and not named:
            log = _widened(log, *policy.shape[-2:])
        return evaluate(log, policy, "naive", **shared).value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._settings.items())})"

    def __sklearn_clone__(self) -> "Estimator":
        return type(self)(**self._settings)


def _states_of(X: Any) -> np.ndarray:
    """The states of a log, of its rows (see `as_log`), or those that are given; by their names where they have some."""
    if isinstance(X, Log):
        return X.state if X.state_names is None else np.array(X.state_names, object)[X.state]
    if (isinstance(X, np.ndarray) and X.dtype.names) or hasattr(X, "columns"):
        return np.asarray(X["state"])
    return np.ravel(np.asarray(X))


def _widened(log: Log, states: int, actions: int) -> Log:
    """The log with as many states and actions as a policy has: a part of a log may lack some."""
    arrays = {name: getattr(log, name) for name in ("state", "action", "reward", "next_state", "terminal", "truncated")}
    return Log(**arrays, episode=log.episode, step=log.step, states=states, actions=actions)


def as_log(X: Any) -> Log:
    """A log, or rows of one: a DataFrame or structured array with its columns."""
    if isinstance(X, Log):
        return X
    names = X.dtype.names if isinstance(X, np.ndarray) else None
    return Log.from_frame({name: X[name] for name in names} if names else X)


def rows_of(log: Log) -> np.ndarray:
    """A log as a structured array, whose rows scikit-learn can split; `fit` and `score` take it."""
    names = ("state", "action", "reward", "next_state", "terminal", "truncated", "episode", "step", "probability")
    columns = {name: getattr(log, name) for name in names}
    columns = {name: array for name, array in columns.items() if array is not None}
    out = np.empty(len(log), [(name, array.dtype) for name, array in columns.items()])
    for name, array in columns.items():
        out[name] = array
    return out


def _class_name(algorithm: str) -> str:
    """ua is UA, soft-spibb SoftSPIBB."""
    short = {"ua": "UA", "spibb": "SPIBB", "ramdp": "RaMDP", "rmin": "RMin", "duipi": "DUIPI"}
    return "".join(short.get(word, word.capitalize()) for word in algorithm.split("-"))


def _make(info: Any) -> type[Estimator]:
    algorithm = text(info.name) or ""
    doc = f"{text(info.summary)}.\n\nAlgorithm '{algorithm}' as an estimator: see `Estimator`."
    made = type(_class_name(algorithm), (Estimator,), {"algorithm": algorithm, "__doc__": doc, "__module__": __name__})
    signature = inspect.signature(solve)
    own = [p for p in signature.parameters.values() if p.name not in ("log", "algorithm", "start", "progress")]
    made.__signature__ = signature.replace(parameters=own, return_annotation=inspect.Signature.empty)
    return made


ESTIMATORS = {one.__name__: one for one in map(_make, listed(C.pess_algorithm_list))}
globals().update(ESTIMATORS)

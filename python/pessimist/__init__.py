"""Pessimist: from a fixed log of decisions to a policy that is good in the worst world the log still allows.

    import pessimist as ps

    log = ps.read("visits.csv")                                   # or ps.Log(state, action, reward, next_state, …)
    sol = ps.solve(log, "ua", gamma=0.95, reward_range=(0, 1))    # sol.policy, sol.value, sol.assumptions
    cert = ps.certify(log, gamma=0.95, reward_range=(0, 1))       # cert.lower_bound, cert.recommendation
    cert.report("page")

Settings are those of the command line, with _ for -, and are documented where they are taken: help(ps.solve).
"""
from __future__ import annotations

from . import _abi
from ._library import (
    C as _C,
    ArgumentError,
    Error,
    FileError,
    InputError,
    Interrupted,
    LimitError,
    NotConverged,
    OutOfMemory,
)
from ._lists import LISTINGS as _LISTINGS
from .cells import Map, Measurements, act, discretize
from .certificates import Certificate, Estimates, certify, estimate, gaps, theorems
from .choosing import Choice, choose
from .comparing import Comparison, compare
from .environments import Env, VecEnv, make, make_vec
from .own import OwnEnvironment
from .estimators import ESTIMATORS as _ESTIMATORS, Estimator
from .paper import Experiment, experiment, merge
from .learning import Training, dqn, play, train
from .logs import Counts, Inspection, Log, Reading, read
from .observations import Observations, collect
from .policies import Policy
from .processes import MDP, bandit, garnet, gridworld
from .scoring import Scores, score
from .solving import Assumption, Pairs, Solution, evaluate, solve, uncertainty

__version__ = _C.pess_version().decode()
build = _C.pess_build().decode()  #: the version with its commit, where it is known
globals().update(_LISTINGS)  # algorithms, uncertainties, formats, learners, experiments, games, …
globals().update(_ESTIMATORS)  # UA, Naive, SPIBB, …

_HANDED_ON = {
    name for name, value in globals().items() if getattr(value, "__module__", "").startswith("pessimist.")
}
__all__ = sorted(
    name for name in {*_HANDED_ON, *_LISTINGS, "build"} if not name.startswith("_") and name != "annotations"
)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])

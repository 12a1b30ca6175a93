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
from .certificates import Certificate, certify, gaps, theorems
from .logs import Counts, Inspection, Log, read
from .policies import Policy
from .processes import MDP, bandit, garnet, gridworld
from .solving import Assumption, Pairs, Solution, evaluate, solve, uncertainty

__version__ = _C.pess_version().decode()
build = _C.pess_build().decode()  #: the version with its commit, where it is known
globals().update(_LISTINGS)  # algorithms, uncertainties, formats, learners, experiments, games, …

__all__ = [
    "ArgumentError", "Assumption", "Certificate", "Counts", "Error", "FileError", "InputError", "Inspection",
    "Interrupted", "LimitError", "Log", "MDP", "NotConverged", "OutOfMemory", "Pairs", "Policy", "Solution", "bandit",
    "build", "certify", "evaluate", "gaps", "garnet", "gridworld", "read", "solve", "theorems", "uncertainty",
    *_LISTINGS,
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])

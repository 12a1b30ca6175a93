"""A policy from a log: algorithms, uncertainties, solutions, and where the log is thin."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, NamedTuple

import numpy as np

from . import _abi
from ._arrays import address, view
from ._library import C, ArgumentError, Handle, InputError, call, info, listed, listening, make, text, thread
from ._settings import check_known, refuse_specific, table, takes
from ._show import html_list, html_table
from .logs import Counts, Log
from .policies import Policy, as_policy


class Assumption(NamedTuple):
    """What a result rests on and the data cannot show."""

    code: str
    text: str
    values: tuple[float, ...]

    def __str__(self) -> str:
        return self.text


def assumptions(function: Any, handle: int) -> list[Assumption]:
    return [
        Assumption(text(a.code) or "", text(a.text) or "", tuple(v for v in a.values if v == v))
        for a in listed(function, handle)
    ]


# ---- what there is to solve


class Problem(Handle):
    """A log ready to solve: counts, the model estimated from them, where episodes start."""

    _destroy = "pess_problem_destroy"

    def __init__(self, source: Any, settings: dict[str, Any], start: str | None):
        counts = source.counts
        options = table("model").make(settings)
        encoded = os.fsencode(start) if start is not None else None
        handle = make(C.pess_problem_create, counts._address, ctypes.addressof(options), encoded)
        self._own(handle, counts)
        self.counts = counts._address
        self.model = C.pess_problem_model(handle)
        self.start = C.pess_problem_start(handle)
        self.states, self.actions = counts.states, counts.actions
        self.state_names, self.action_names = counts.state_names, counts.action_names

    @property
    def start_array(self) -> np.ndarray:
        return view(self.start, self.states, np.float64, self)


def counted(source: Any) -> Any:
    """A log, counts, or the name of a file to count."""
    if isinstance(source, (str, os.PathLike)):
        return Counts.read(source)
    if not isinstance(source, (Log, Counts)):
        raise TypeError(f"found {type(source).__name__}, expected a Log, Counts or the name of a file")
    return source


def problem_of(source: Any, settings: dict[str, Any], start: str | None) -> Problem:
    """Prepared once for each log, settings of the model and start."""
    key = (start, *settings.items())
    problem = source._problems.get(key)
    if problem is None:
        problem = source._problems[key] = Problem(source, settings, start)
    return problem


def _model(self: Any) -> tuple[int, Any]:
    """The address of a model, for checks of states and actions, and what keeps it."""
    problem = problem_of(self, {"unseen": "worst"}, "uniform")
    return problem.model, problem


Log._model = Counts._model = _model


def start_distribution(start: Any, states: int) -> np.ndarray:
    """An array [S] that sums to one."""
    array = np.ascontiguousarray(start, np.float64)
    if array.shape != (states,):
        raise InputError(f"start: found an array of shape {array.shape}, expected one number for each of {states} states")
    return array


# ---- uncertainties of one's own

_own: dict[str, "OwnUncertainty"] = {}
_Compute = dict(_abi.pess_own_uncertainty._fields_)["compute"]


class Pairs(NamedTuple):
    """What an uncertainty of one's own looks at: arrays [S, A] over all pairs."""

    n: np.ndarray  #: how often each pair was seen
    mean_reward: np.ndarray  #: 0 where n is 0
    reward_range: tuple[float, float]
    terminal: np.ndarray  #: how many of n ended the episode


class OwnUncertainty:
    """A function of one's own, as `solve` and `certify` take it. Its results are called a heuristic."""

    def __init__(self, name: str, function: Callable[[Pairs], Any]):
        self.name, self.function = name, function
        self.__doc__ = function.__doc__
        self._compute = _Compute(self._called)
        self.struct = _abi.pess_own_uncertainty(
            size=ctypes.sizeof(_abi.pess_own_uncertainty), name=name.encode(), compute=self._compute, user=None
        )

    def __call__(self, counts: Pairs) -> Any:
        return self.function(counts)

    def _called(self, user: int, counts: int, model: int, u: int) -> bool:
        try:
            borrowed = Counts.__new__(Counts)
            borrowed.__dict__.update(_end=lambda handle: None, _address=counts)
            lo, hi = ctypes.c_double(), ctypes.c_double()
            C.pess_model_reward_range(model, ctypes.addressof(lo), ctypes.addressof(hi))
            n = borrowed.n
            pairs = Pairs(np.array(n), borrowed.mean_reward, (lo.value, hi.value), np.array(borrowed.terminal))
            found = np.asarray(self.function(pairs), np.float64)
            if found.shape != n.shape:
                raise InputError(f"the uncertainty '{self.name}': found shape {found.shape}, expected {n.shape}")
            out = np.ctypeslib.as_array(ctypes.cast(u, ctypes.POINTER(ctypes.c_double)), n.shape)
            out[...] = found
            return True
        except BaseException as error:  # goes on where the library returns
            thread.raised = error
            return False


def uncertainty(name: str) -> Callable[[Callable[[Pairs], Any]], OwnUncertainty]:
    """An uncertainty of one's own: a function from `Pairs` to u [S, A], from 0 on; used by its name.

    >>> import numpy as np, pessimist as ps
    >>> @ps.uncertainty("mine")
    ... def mine(counts):
    ...     return 1 / np.sqrt(counts.n + 1)
    >>> log = ps.read("examples/visits.csv")
    >>> ps.solve(log, "ua", uncertainty="mine", gamma=0.95, reward_range=(0, 1)).holds_for
    'nothing: there is no error probability in it (a heuristic)'
    """
    if any(text(one.name) == name for one in listed(C.pess_uncertainty_list)):
        raise ArgumentError(f"there is an uncertainty '{name}' already: choose another name")

    def decorate(function: Callable[[Pairs], Any]) -> OwnUncertainty:
        _own[name] = OwnUncertainty(name, function)
        _plans.clear()
        return _own[name]

    return decorate


def own_uncertainty(wanted: Any) -> OwnUncertainty | None:
    return wanted if isinstance(wanted, OwnUncertainty) else _own.get(wanted) if isinstance(wanted, str) else None


# ---- solving

_plans: dict[Any, Any] = {}  # options that were asked for before: the same solve in a loop settles them once


def _plan(function: str, algorithm: str, settings: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The options struct of the solver, and the settings of the model."""
    check_known(function, settings, [table("solve"), table("model")])
    given = table("solve").pick(settings)
    own = own_uncertainty(given.get("uncertainty"))
    if own is not None:
        given.pop("uncertainty")
    named = given.get("uncertainty")
    known = C.pess_algorithm_find(algorithm.encode())
    if known and own is None:
        whom = algorithm + (f" with the uncertainty {named}" if named else "")
        encoded = named.encode() if named else None
        reads = C.pess_evaluation_reads if function.endswith("evaluate") else C.pess_algorithm_reads
        refuse_specific(whom, given, table("solve"), lambda s: reads(algorithm.encode(), encoded, s.encode()))
    options = table("solve").make({**given, "algorithm": algorithm})
    if own is not None:
        options.kept.append(own)
        options.own_uncertainty = ctypes.pointer(own.struct)
    return options, table("model").pick(settings)


def plan(function: str, algorithm: str, settings: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    try:
        key = (function, algorithm, *settings.items())
        found = _plans.get(key)
    except TypeError:  # a list or an array among the settings
        return _plan(function, algorithm, settings)
    if found is None:
        found = _plan(function, algorithm, settings)
        if len(_plans) > 1000:
            _plans.clear()
        _plans[key] = found
    return found


@takes("solve", "model", without=["algorithm"])
def solve(
    log: Log | Counts | str | os.PathLike, algorithm: str = "ua", *, start: Any = None, progress: Any = None, **settings: Any
) -> "Solution":
    """A policy from a log. `pessimist.algorithms` and `pessimist.uncertainties` list what there is.

    `start` is where episodes start: "uniform", "log" (as the episodes of the log did), a file, or an array [S];
    by default as the log where it has episodes, else uniform.

    >>> import pessimist as ps
    >>> sol = ps.solve(ps.read("examples/visits.csv"), "ua", gamma=0.95, reward_range=(0, 1))
    >>> sol.policy
    severe: treat
    mild: wait
    critical: intensive
    >>> round(sol.value, 6), sol.outcome
    (0.496595, 'converged')
    """
    if not isinstance(log, Log):
        log = counted(log)
    options, model = plan("solve", algorithm, settings)
    if start is None or isinstance(start, str):
        problem = problem_of(log, model, start)
        start_address = problem.start
    else:
        problem = problem_of(log, model, "uniform")
        start = start_distribution(start, problem.states)
        start_address = address(start)
    out = ctypes.c_void_p()
    if progress is None:
        call(C.pess_solve, problem.counts, problem.model, start_address, ctypes.addressof(options), ctypes.addressof(out))
    else:
        with listening(progress):
            make_into = (problem.counts, problem.model, start_address, ctypes.addressof(options), ctypes.addressof(out))
            call(C.pess_solve, *make_into)
    return Solution(out.value, problem, options, start)


@takes("solve", "model", without=["algorithm"])
def evaluate(
    log: Log | Counts | str | os.PathLike, policy: Any, algorithm: str = "naive", *, start: Any = None, progress: Any = None, **settings: Any
) -> "Solution":
    """The value that an algorithm gives to a policy: `naive` is the value at face value.

    >>> import pessimist as ps
    >>> log = ps.read("examples/visits.csv")
    >>> always = ps.Policy([[1, 0, 0]] * 3 + [[0, 0, 0]] * 2)
    >>> round(ps.evaluate(log, ps.solve(log, gamma=0.95).policy, gamma=0.95).value, 3)
    0.806
    """
    log = counted(log)
    options, model = plan("evaluate", algorithm, settings)
    given = start is not None and not isinstance(start, str)
    problem = problem_of(log, model, "uniform" if given else start)
    start = start_distribution(start, problem.states) if given else start
    policy = policy_for(policy, problem, settings.get("horizon"))
    where = address(start) if given else problem.start
    with listening(progress):
        handle = make(C.pess_evaluate, problem.counts, problem.model, where, policy._address, ctypes.addressof(options))
    return Solution(handle, problem, options, start)


def _in_order(table: np.ndarray, axis: int, own: list[str], wanted: list[str]) -> np.ndarray:
    """Rows or columns as they are wanted; zeros where there is none of that name."""
    place = {name: i for i, name in enumerate(own)}
    more = np.concatenate([table, np.zeros_like(table.take([0], axis))], axis)
    return more.take([place.get(name, len(own)) for name in wanted], axis)


def _by_name(policy: Policy, problem: Any) -> Policy:
    """A policy that was found in another log, which may number the same names otherwise, in the order of this one."""
    states, actions = getattr(problem, "state_names", None), getattr(problem, "action_names", None)
    table = np.asarray(policy) if policy.is_table else None
    moved = False
    if table is not None and None not in (policy.state_names, states) and policy.state_names != states:
        table, moved = _in_order(table, -2, policy.state_names, states), True
    if table is not None and None not in (policy.action_names, actions) and policy.action_names != actions:
        lacking = [name for name, used in zip(policy.action_names, table.reshape(-1, table.shape[-1]).any(axis=0)) if used and name not in actions]
        if lacking:
            raise InputError(f"the policy takes the action '{lacking[0]}', which the log does not have")
        table, moved = _in_order(table, -1, policy.action_names, actions), True
    return Policy(table, state_names=states, action_names=actions) if moved else policy


def policy_for(policy: Any, problem: Any, horizon: int | None = None) -> Policy:
    """A policy of the states and actions of a log or MDP; arrays become policies, files are read."""
    if isinstance(policy, (str, os.PathLike)):
        source = problem._keep[0] if isinstance(problem, Problem) else problem
        return Policy.load(policy, source, horizon=horizon)
    policy = _by_name(as_policy(policy), problem)
    expected = (problem.states, problem.actions)
    if policy.shape[-2:] != expected:
        raise InputError(
            f"the policy is for {policy.shape[-2]} states and {policy.shape[-1]} actions, expected {expected[0]} and {expected[1]}"
        )
    return policy


class ThinPlace(NamedTuple):
    """A pair that the policy uses much for the samples there are."""

    state: Any
    action: Any
    count: int
    visit_share: float


class Solution(Handle):
    """What an algorithm found: the policy, its values, what they hold for and rest on.

    Attributes beside the properties: algorithm, uncertainty_name, holds_for, gamma, alpha, absorbed, value, naive_value,
    outcome, iterations, residual, seconds, method, evaluation. `explain(name)` says what one is."""

    _destroy = "pess_solution_destroy"

    def __init__(self, handle: int, problem: Any, options: Any, start: Any = None):
        self._address, self._keep = handle, (problem, options, start)

    def _end(self, handle: int) -> None:
        C.pess_solution_destroy(handle)

    def _fact(self, name: str) -> Any:
        found = self.__dict__.get("_info")
        if found is None:
            found = self._info = info("pess_solution_get_info", self._address, "pess_solution_info")
        return found[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        known = _abi.pess_solution_info._fields_
        wanted = "uncertainty" if name == "uncertainty_name" else name
        if any(wanted == field for field, *_ in known):
            return self._fact(wanted)
        raise AttributeError(f"Solution has no '{name}'; it has {', '.join(sorted(set(dir(self))))}")

    def __dir__(self) -> list[str]:
        fields = [name for name, *_ in _abi.pess_solution_info._fields_ if name != "uncertainty"]
        return [n for n in super().__dir__() if not n.startswith("_")] + fields + ["uncertainty_name"]

    def explain(self, name: str) -> str:
        """What an attribute means."""
        return _abi.pess_solution_info.docs.get(name, "")

    def __float__(self) -> float:
        return self.value

    def _cached(self, name: str, make_it: Callable[[], Any]) -> Any:
        if name not in self.__dict__:
            self.__dict__[name] = make_it()
        return self.__dict__[name]

    @property
    def policy(self) -> Policy:
        """The policy; behaves as an array [S, A], with a horizon as [steps, S, A]."""

        def copy() -> Policy:
            problem = self._keep[0]
            return Policy._copy(C.pess_solution_policy(self._address), problem.state_names, problem.action_names)

        return self._cached("_policy", copy)

    def _look(self, name: str, function: Any, *shape: str) -> np.ndarray | None:
        """An array of the solution, without a copy. A view must not be kept by what it keeps alive: NumPy's arrays
        take no part in the collection of cycles."""
        if name in self.__dict__:  # a pickled solution has copies
            return self.__dict__[name]
        sizes = tuple(getattr(self._keep[0], size) for size in shape)
        return view(function(self._address), sizes, np.float64, self)

    @property
    def values(self) -> np.ndarray:
        """[S] as the algorithm values its policy."""
        return self._look("_values", C.pess_solution_values, "states")

    @property
    def naive_values(self) -> np.ndarray:
        """[S] of the same policy at face value."""
        return self._look("_naive_values", C.pess_solution_naive_values, "states")

    @property
    def uncertainty(self) -> np.ndarray | None:
        """u(s,a), [S, A], before α; None where there is none per action."""
        return self._look("_uncertainty", C.pess_solution_uncertainty, "states", "actions")

    @property
    def q(self) -> np.ndarray:
        """q(s,a) = r(s,a) + γ(Pv)(s,a), [S, A]; -inf where the state has no such action."""

        def compute() -> np.ndarray:
            problem = self._keep[0]
            if self.policy.steps > 1:
                raise ArgumentError("q: with a horizon every step has its own values, and a solution keeps those of the first")
            out = np.empty((problem.states, problem.actions))
            values = np.ascontiguousarray(self.values)
            call(C.pess_q_values, problem.model, self.gamma, address(values), address(out))
            return out

        return self._cached("_q", compute)

    @property
    def assumptions(self) -> list[Assumption]:
        """What the solution rests on."""
        return self._cached("_assumptions", lambda: assumptions(C.pess_solution_assumption, self._address))

    @property
    def thin(self) -> list[ThinPlace]:
        """Where the policy goes most for the samples there are."""
        return self._cached("_thin", lambda: self._thin_places(5))

    def _thin_places(self, top: int) -> list[ThinPlace]:
        problem, options, start = self._keep
        if not problem.counts:
            return []
        out, found = (_abi.pess_thin_place * top)(), ctypes.c_int64()
        where = address(start) if isinstance(start, np.ndarray) else problem.start
        call(C.pess_thin_places, problem.counts, problem.model, where, C.pess_solution_policy(self._address),
             ctypes.addressof(options), top, ctypes.addressof(out), ctypes.addressof(found))  # fmt: skip
        return [
            ThinPlace(_named(problem.state_names, p.state), _named(problem.action_names, p.action), p.count, p.visits)
            for p in out[: found.value]
        ]

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("Algorithm", self.algorithm + (f", uncertainty {self.uncertainty_name}" if self.uncertainty_name else ""))]
        if self.alpha == self.alpha:
            rows.append(("", f"{'absorbed alpha' if self.absorbed else 'alpha'} {self.alpha:g}"))
        rows += [
            ("Value", f"{self.value:.6g}  the algorithm's own value of its policy"),
            ("", f"{self.naive_value:.6g}  the same policy at face value"),
            ("Holds for", self.holds_for),
            ("Outcome", f"{self.outcome} after {self.iterations} iterations, residual {self.residual:.2g}"),
        ]
        return rows

    def __repr__(self) -> str:
        lines = [f"{name:<11}{value}" for name, value in self._rows()]
        if self.assumptions:
            lines += ["Rests on", *(f"  - {a}" for a in self.assumptions)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        thin = [f"{p.state}, {p.action}: {p.count} samples, {p.visit_share:.2g} of the discounted steps" for p in self.thin]
        return (
            html_table(self._rows())
            + html_list("Rests on", map(str, self.assumptions))
            + html_list("Thinnest data", thin)
            + self.policy._repr_html_()
        )

    def __reduce__(self) -> Any:
        kept = {name: getattr(self, name) for name in ("policy", "assumptions", "thin")}
        if self.policy.steps <= 1:
            kept["q"] = self.q
        for name in ("values", "naive_values", "uncertainty"):
            array = getattr(self, name)
            kept[name] = None if array is None else np.array(array)
        self._fact("value")
        return _solution_again, (self._info, kept)


def _solution_again(found: dict[str, Any], kept: dict[str, Any]) -> Solution:
    self = Solution.__new__(Solution)
    self._info = found
    for name, value in kept.items():
        self.__dict__["_" + name] = value
    return self


def _named(names: list[str] | None, index: int) -> Any:
    return names[index] if names is not None else index

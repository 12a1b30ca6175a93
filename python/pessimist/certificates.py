"""What can be promised of a policy, whether to switch to it, and where data are missing."""
from __future__ import annotations

import ctypes
import os
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import _abi
from ._arrays import address, names_address
from ._library import C, ArgumentError, Handle, call, expect, facts, info, listed, listening, make, text
from ._settings import check_known, table, takes
from ._show import Record, html_page, html_table
from .logs import Counts, Log, read, read_rows_or_counts
from .paper import structured
from .policies import Policy
from .processes import MDP
from .solving import (
    Assumption, assumptions, own_uncertainty, plan, policy_for, problem_of, start_distribution, _named, counted
)  # fmt: skip


class Candidate(NamedTuple):
    """A policy that was tried: the lower bound that the first part of the log predicts, and the certified one."""

    name: str
    predicted: float
    lower: float


class Gap(NamedTuple):
    """Where one more sample helps."""

    state: Any
    action: Any
    count: int
    visits: float
    uncertainty: float
    share: float
    gain: float


@takes("certify")
def certify(
    log: Log | Counts | str | os.PathLike,
    policy: Any = None,
    *,
    start: Any = None,
    candidate: Any = None,
    behaviour: Any = None,
    progress: Any = None,
    **settings: Any,
) -> "Certificate":
    """A policy with a lower bound on its value that holds with probability 1 - delta, although it was chosen from the
    same log; and whether to switch to it. With `policy`, that one is certified. `candidate` is an uncertainty of one's
    own (`pessimist.uncertainty`) that the choosing step tries beside its own. `start` is as in `solve`. `behaviour` is
    the policy that made the log, for whole episodes, or "estimated", which proves nothing; None: the log's
    probabilities. Counts are enough for method "robust", and "best" is then that: what needs rows is not tried.

    >>> import pessimist as ps
    >>> cert = ps.certify(ps.read("examples/visits.csv"), gamma=0.95, reward_range=(0, 1), delta=0.05)
    >>> cert.recommendation
    'keep'
    >>> abs(sum(cert.ledger.values()) - 0.05) < 1e-12
    True
    """
    log = read_rows_or_counts(log) if isinstance(log, (str, os.PathLike)) else log
    if not isinstance(log, (Log, Counts)):
        raise TypeError(f"found {type(log).__name__}, expected a Log, Counts or the name of a file")
    check_known("certify", settings, [table("certify")])
    if own_uncertainty(settings.get("uncertainty")) is not None:
        raise ArgumentError(
            "uncertainty: found one of your own, which proves nothing; candidate= lets the choosing step try it"
        )
    options = table("certify").make(settings)
    counts = log.counts
    options.counts = counts._address
    reward_range = {"reward_range": settings["reward_range"]} if settings.get("reward_range") is not None else {}
    whole = problem_of(log, {"unseen": "worst", **_hashable(reward_range)}, start if isinstance(start, str) else None)
    begin = _begin(start, whole, counts)
    options.start = address(begin)
    chosen = policy_for(policy, whole, settings.get("horizon")) if policy is not None else None
    options.policy = chosen._address if chosen is not None else None
    acted = _behaviour(behaviour, whole, options)
    own = own_uncertainty(candidate)
    if candidate is not None and own is None:
        raise ValueError(f"candidate: found {candidate!r}, expected an uncertainty of your own (pessimist.uncertainty)")
    options.own_uncertainty = ctypes.pointer(own.struct) if own else None
    with listening(progress):
        rows = log._address if isinstance(log, Log) else None
        handle = make(C.pess_certify, rows, ctypes.addressof(options))
    return Certificate(handle, log, whole, options, begin, own, acted)


def _hashable(values: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(float(v) for v in value) for key, value in values.items()}


def _behaviour(behaviour: Any, problem: Any, options: Any) -> Policy | None:
    """Sets the policy that made the log, which the options borrow."""
    options.behaviour_estimated = isinstance(behaviour, str) and behaviour == "estimated"
    found = None
    if behaviour is not None and not options.behaviour_estimated:
        found = policy_for(behaviour, problem, getattr(options, "horizon", 0) or None)
    options.behaviour = found._address if found is not None else None
    return found


def _begin(start: Any, problem: Any, counts: Any) -> np.ndarray | None:
    """The start distribution; None: the library estimates it from the episodes and pays for that."""
    if start is not None and not isinstance(start, str):
        return start_distribution(start, problem.states)
    from_log = start == "log" if start is not None else counts.facts["has_episodes"]
    return None if from_log else np.array(problem.start_array)


class Certificate(Record, Handle):
    """A lower bound on the value of a policy, and what it rests on. All numbers are attributes; `explain(name)` says
    what one is."""

    _destroy = "pess_certificate_destroy"

    def __init__(self, handle: int, log: Log | Counts, problem: Any, options: Any, start: Any, *more: Any):
        self._own(handle, log, problem, options, start, *more)
        Record.__init__(
            self, info("pess_certificate_get_info", handle, "pess_certificate_info"), _abi.pess_certificate_info.docs
        )
        self.policy = Policy._copy(C.pess_certificate_policy(handle), problem.state_names, problem.action_names)
        self.ledger: dict[str, float] = {
            text(e.what) or "": e.delta for e in listed(C.pess_certificate_ledger, handle)
        }
        self.assumptions: list[Assumption] = assumptions(C.pess_certificate_assumption, handle)
        self.candidates = [
            Candidate(text(c.name) or "", c.predicted, c.lower) for c in listed(C.pess_certificate_candidate, handle)
        ]
        tested = C.pess_certificate_episodes(handle)
        #: What whole episodes say, and how their importance weights look; None: they were not tested.
        self.episodes: Record | None = Record(facts(tested.contents), _abi.pess_episode_report.docs) if tested else None

    @property
    def recommendation(self) -> str:
        """"switch" where the improvement is certified, else "keep" the present policy."""
        return "switch" if self.recommend_switch else "keep"

    @property
    def _gap_settings(self) -> dict[str, Any]:
        return {"gamma": self.gamma, "delta": self.delta, "horizon": self.horizon or None}

    def gaps(self, top: int = 8, uncertainty: str = "hoeffding") -> list[Gap]:
        """The pairs at which one more sample helps this policy most."""
        log = self._keep[0]
        settings = {**self._gap_settings, "uncertainty": uncertainty}
        return gaps(log, self.policy, top=top, start=self._keep[3], problem=self._keep[1], **settings)

    def page(self) -> str:
        """The page for people, as HTML."""
        if "_page" in self.__dict__:
            return self._page
        with tempfile.TemporaryDirectory() as directory:
            self._write_page(Path(directory, "index.html"))
            return Path(directory, "index.html").read_text(encoding="utf-8")

    def report(self, directory: str | os.PathLike) -> Path:
        """Writes the page as index.html into a directory, which is made where it is missing. Returns its path."""
        path = Path(directory, "index.html")
        path.parent.mkdir(parents=True, exist_ok=True)
        if "_page" in self.__dict__:
            path.write_text(self._page, encoding="utf-8")
        else:
            self._write_page(path)
        return path

    def _write_page(self, path: Path) -> None:
        log, problem = self._keep[0], self._keep[1]
        states, kept = names_address(problem.state_names)
        actions, kept_too = names_address(problem.action_names)
        found, count = _gaps(problem, self.policy, 8, self._keep[3], {**self._gap_settings, "uncertainty": "hoeffding"})
        page = _abi.pess_certificate_page(
            size=ctypes.sizeof(_abi.pess_certificate_page), log=(log.source or "the log").encode(),
            state_names=states, action_names=actions, gap_count=count,
        )  # fmt: skip
        page.gaps = ctypes.cast(found, type(page.gaps))
        call(C.pess_certificate_write_page, self._address, ctypes.addressof(page), os.fsencode(path))

    def __repr__(self) -> str:
        if self.vacuous:
            first = f"vacuous: the log promises nothing beyond {self.value_lo:.6g}, what every policy has"
        else:
            first = f"the policy's value is at least {self.lower_bound:.6g}, with probability {1 - self.delta:g}"
        if self.recommend_switch:
            advice = f"switch: the new policy is better by at least {self.improvement_lower_bound:.6g}"
        else:
            advice = "keep the present policy: an improvement is not certain"
        lines = [
            f"Certificate   {first}",
            f"              {self.value_estimate:.6g} at face value; at most {self.suboptimality_upper_bound:.6g} below "
            "the best possible",
            f"Recommended   {advice}",
            "Rests on",
        ]
        return "\n".join(lines + [f"  - {a}" for a in self.assumptions])

    def _repr_html_(self) -> str:
        return html_page(self.page())

    def __reduce__(self) -> Any:
        kept = {name: getattr(self, name) for name in ("_facts", "_docs", "policy", "ledger", "assumptions", "candidates", "episodes")}
        return _again, ({**kept, "_page": self.page()},)


def _again(kept: dict[str, Any]) -> Certificate:
    self = Certificate.__new__(Certificate)
    self.__dict__.update(kept)
    return self


def _gaps(problem: Any, policy: Policy, top: int, start: Any, settings: dict[str, Any]) -> tuple[Any, int]:
    options = table("solve").make(settings)
    out, found = (_abi.pess_gap * max(1, top))(), ctypes.c_int64()
    where = address(start) if start is not None else problem.start
    call(C.pess_gaps, problem.counts, problem.model, where, policy._address, ctypes.addressof(options), top,
         ctypes.addressof(out), ctypes.addressof(found), None)  # fmt: skip
    return out, found.value


@takes("solve", "model", without=["algorithm"])
def gaps(log: Any, policy: Any = None, *, top: int = 8, start: Any = None, problem: Any = None, **settings: Any) -> list[Gap]:
    """The `top` pairs at which one more sample helps a policy most; None: that of `solve` with these settings.

    >>> import pessimist as ps
    >>> ps.gaps("examples/visits.csv", top=1, gamma=0.95, reward_range=(0, 1))[0][:3]
    ('critical', 'intensive', 27)
    """
    check_known("gaps", settings, [table("solve"), table("model")])
    log = counted(log)
    model = {key: tuple(v) if isinstance(v, list) else v for key, v in table("model").pick(settings).items()}
    problem = problem or problem_of(log, model, start if isinstance(start, str) else None)
    given = start_distribution(start, problem.states) if start is not None and not isinstance(start, str) else None
    solver = table("solve").pick(settings)
    if policy is None:
        from .solving import solve

        shared = {key: solver.get(key) for key in ("gamma", "horizon")}
        policy = solve(log, **shared, **table("model").pick(settings)).policy
    out, count = _gaps(problem, policy_for(policy, problem, solver.get("horizon")), top, given, solver)
    return [
        Gap(_named(problem.state_names, g.state), _named(problem.action_names, g.action), g.count, g.visits,
            g.uncertainty, g.share, g.gain)
        for g in out[:count]
    ]  # fmt: skip


class Estimates(Record):
    """What a policy is worth by several estimators, beside each other; `table` has a row for each."""

    def __init__(self, found: Any):
        super().__init__(facts(found), _abi.pess_estimates.docs)
        self._facts.pop("rows", None)
        self.rows = [Record(facts(row), _abi.pess_estimate.docs) for row in found.rows]

    @property
    def table(self) -> np.ndarray:
        """The estimates as a structured array."""
        return structured([row.as_dict() for row in self.rows])

    def __repr__(self) -> str:
        return "\n".join(f"{row.name:<30}{row.value:>12.6g} ± {row.error:.2g}, {row.unbiased}" for row in self.rows)

    def _repr_html_(self) -> str:
        return html_table([row.as_dict().values() for row in self.rows], list(self.rows[0].as_dict()))


@takes("estimator")
def estimate(log: Log | str | os.PathLike, policy: Any, *, behaviour: Any = None, **settings: Any) -> Estimates:
    """What a policy is worth by importance sampling (ordinary, per-decision, weighted), doubly robust, weighted doubly
    robust and by the model: evidence, never proof. The log has episodes, and the probabilities of its actions unless
    `behaviour` is the policy that made it, or "estimated".

    >>> import pessimist as ps
    >>> log = ps.read("examples/visits.csv")
    >>> found = ps.estimate(log, ps.solve(log, gamma=0.95).policy, behaviour="estimated", gamma=0.95)
    >>> [row.name for row in found.rows][:2]
    ['importance sampling', 'per-decision importance sampling']
    """
    log = read(log) if isinstance(log, (str, os.PathLike)) else log
    if not isinstance(log, Log):
        raise TypeError(f"found {type(log).__name__}, expected a Log: estimates need the rows themselves")
    check_known("estimate", settings, [table("estimator")])
    options = table("estimator").make(settings)
    problem = problem_of(log, {}, None)
    chosen, acted = policy_for(policy, problem), _behaviour(behaviour, problem, options)
    out = _abi.pess_estimates()
    call(C.pess_estimate_policy, log._address, problem.counts, problem.model, chosen._address, ctypes.addressof(options),
         ctypes.addressof(out))  # fmt: skip
    del acted  # borrowed until here
    return Estimates(out)


@takes("theorem")
def theorems(mdp: Any, log: Any, *, start: Any = None, **settings: Any) -> list[Record]:
    """Every bound of the paper on this dataset, beside the truth in the process it came from."""
    check_known("theorems", settings, [table("theorem")])
    options = table("theorem").make(settings)
    problem = problem_of(counted(log), {}, "uniform")
    begin = expect("mdp", mdp, MDP)._start(start)
    rows, count = (_abi.pess_theorem_row * 20)(), ctypes.c_int64()
    call(C.pess_theorems, mdp._address, problem.counts, problem.model, address(begin), ctypes.addressof(options),
         ctypes.addressof(rows), ctypes.addressof(count))  # fmt: skip
    return [Record(facts(row), _abi.pess_theorem_row.docs) for row in rows[: count.value]]

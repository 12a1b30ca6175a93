"""What policies are worth by data that others logged, and which one to take."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Mapping, Sequence

import numpy as np

from . import _abi
from ._library import C, Handle, facts, info, listed, listening, make
from ._settings import check_known, table, takes
from ._show import Record, html_table
from .learning import set_protocol
from .observations import Observations
from .paper import structured
from .policies import Policy, as_policy

COLUMNS = ("name", "rank", "fqe", "fqe_lower", "fqe_upper", "per_decision", "weighted", "effective")


def _named(policies: Any) -> dict[str, Policy]:
    """Policies by name: of a mapping, a sequence or a single one; files are read."""
    if isinstance(policies, (Policy, str, os.PathLike)) or hasattr(policies, "policy"):
        policies = [policies]
    if not isinstance(policies, Mapping):
        names = [str(p) if isinstance(p, (str, os.PathLike)) else f"policy {i + 1}" for i, p in enumerate(policies)]
        policies = dict(zip(names, policies))
    files = (str, os.PathLike)
    return {name: Policy.load(p) if isinstance(p, files) else as_policy(p) for name, p in policies.items()}


@takes("score", "protocol", without=["name"])
def score(
    policies: Any,
    data: Observations | str | os.PathLike,
    *,
    protocol: str = "quick",
    progress: Any = None,
    **settings: Any,
) -> "Scores":
    """Scores policies (one, a sequence, or a mapping from names) by logged data, without playing: fitted Q evaluation,
    importance sampling and the policies' own values. Scores are evidence, not proof.

    >>> import numpy as np, pessimist as ps
    >>> mdp = ps.gridworld(3, 3, seed=1)
    >>> data = ps.collect(mdp, transitions=500, seed=1)
    >>> S, A = mdp.states, mdp.actions
    >>> found = ps.score({"even": ps.Policy(np.full((S, A), 1 / A))}, data, network="dense", networks=2, updates=2,
    ...                  steps=5, imitation_steps=20, gamma=0.9)
    >>> found["even"].fqe_lower < found["even"].fqe < found["even"].fqe_upper
    True
    """
    data = data if isinstance(data, Observations) else Observations.load(data)
    named = _named(policies)
    tables = [table("score"), table("protocol")]
    check_known("score", settings, tables)
    options = tables[0].make(tables[0].pick(settings))
    set_protocol(options, protocol, {k: v for k, v in settings.items() if k not in tables[0].rows})
    addresses = (ctypes.c_void_p * len(named))(*[p._address for p in named.values()])
    names = (ctypes.c_char_p * len(named))(*[name.encode() for name in named])
    with listening(progress):
        handle = make(C.pess_score_policies, ctypes.addressof(addresses), ctypes.addressof(names), len(named),
                      data._address, ctypes.addressof(options))
    return Scores(handle)


class Scores(Record, Handle):
    """What was found, by the name of a policy (`scores["cql"].fqe`) and as a `table`; what is said of all of them
    together are attributes, of which `explain(name)` says what one is."""

    _destroy = "pess_scores_destroy"

    def __init__(self, handle: int):
        self._own(handle)
        Record.__init__(self, info("pess_scores_get_info", handle, "pess_scores_info"), _abi.pess_scores_info.docs)
        self.policies = [facts(row) for row in listed(C.pess_scores_policy, handle)]
        for row in self.policies:
            row["fqe_networks"] = row["fqe_networks"][: self.networks]

    def __getitem__(self, name: str) -> Record:
        for row in self.policies:
            if row["name"] == name:
                return Record(row, _abi.pess_score.docs)
        raise KeyError(name)

    @property
    def best(self) -> str | None:
        """The name of the best by the criterion; None where it says nothing."""
        return self.policies[self.chosen]["name"] if self.chosen >= 0 else None

    @property
    def table(self) -> np.ndarray:
        """The policies as a structured array."""
        return structured([{k: v for k, v in row.items() if k != "fqe_networks"} for row in self.policies])

    def __repr__(self) -> str:
        rows: Sequence[dict[str, Any]] = sorted(self.policies, key=lambda row: row["rank"] or len(self.policies) + 1)
        return "\n".join(f"{row['rank']}. {row['name']}: {row['value']:.4g}" for row in rows)

    def _repr_html_(self) -> str:
        return html_table([[row[key] for key in COLUMNS] for row in self.policies], COLUMNS)

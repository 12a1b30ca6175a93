"""Which algorithm, and how much pessimism, for a log: chosen on held-out episodes."""
from __future__ import annotations

import ctypes
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from . import _abi
from ._library import C, Handle, call, facts, info, listed, listening, make
from ._settings import check_known, table, takes
from ._show import Record, Svg, html_table, matplotlib_pyplot
from .logs import Log, read
from .paper import structured
from .policies import Policy
from .solving import Solution, solve

COLUMNS = ("algorithm", "setting", "strength", "score", "error", "gain", "gain_error")


@takes("choose", "solve", "model", without=["algorithm", "uncertainty"])
def choose(log: Log | str | os.PathLike, *, start: str | None = None, progress: Any = None, **settings: Any) -> "Choice":
    """Algorithm and strength chosen on held-out episodes. Scores are evidence, not proof: `certify` proves.

    >>> import pessimist as ps
    >>> best = ps.choose(ps.read("examples/visits.csv"), folds=5, gamma=0.95, reward_range=(0, 1))
    >>> best.algorithm in ps.algorithms
    True
    >>> best.table["score"].max() == best.table["score"][best.chosen]
    True
    """
    log = read(log) if isinstance(log, (str, os.PathLike)) else log
    if not isinstance(log, Log):
        raise TypeError(f"found {type(log).__name__}, expected a Log: folds are made of its rows")
    tables = [table(name) for name in ("choose", "solve", "model")]
    check_known("choose", settings, tables)
    options, solver, model = (one.make(one.pick(settings)) for one in tables)
    options.solve, options.model = ctypes.pointer(solver), ctypes.pointer(model)
    options.start = os.fsencode(start) if start is not None else None
    with listening(progress):
        handle = make(C.pess_choose, log._address, ctypes.addressof(options))
    return Choice(handle, log, start, {k: v for k, v in settings.items() if k not in table("choose").rows or k == "threads"})


class Choice(Record, Handle):
    """What was chosen, and the scores of all candidates in `table`. Numbers are attributes; `explain(name)` says what
    one is."""

    _destroy = "pess_choice_destroy"
    _files: dict[str, bytes] | None = None  # of the report, where the choice was pickled

    def __init__(self, handle: int, log: Log, start: str | None, settings: dict[str, Any]):
        self._own(handle, log, start, settings)
        Record.__init__(self, info("pess_choice_get_info", handle, "pess_choice_info"), _abi.pess_choice_info.docs)
        self.candidates = [facts(row) for row in listed(C.pess_choice_candidate, handle)]
        found = C.pess_solution_policy(C.pess_choice_solution(handle))
        self.policy = Policy._copy(found, log.state_names, log.action_names)

    @property
    def algorithm(self) -> str:
        """The algorithm that was chosen."""
        return self.candidates[self.chosen]["algorithm"]

    @property
    def strength(self) -> dict[str, float]:
        """Its strength as a setting of `solve`: {"absorbed_alpha": 0.5}; empty where it has none."""
        best = self.candidates[self.chosen]
        return {best["setting"].replace("-", "_"): best["strength"]} if best["setting"] else {}

    @property
    def table(self) -> np.ndarray:
        """The candidates as a structured array."""
        return structured(self.candidates)

    def to_frame(self) -> Any:
        """The candidates as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.candidates)

    def solve(self) -> Solution:
        """The one chosen, fitted to the whole log, with all that `solve` tells."""
        log, start, settings = self._keep
        return solve(log, self.algorithm, start=start, **{**settings, **self.strength})

    def report(self, directory: str | os.PathLike) -> Path:
        """Writes a page with the curves (index.html), the figure and the candidates into a directory."""
        if self._files is not None:
            Path(directory).mkdir(parents=True, exist_ok=True)
            for name, content in self._files.items():
                Path(directory, name).write_bytes(content)
            return Path(directory, "index.html")
        name = (self._keep[0].source or "the log").encode()
        call(C.pess_choice_write_report, self._address, name, None, os.fsencode(directory))
        return Path(directory, "index.html")

    def plot(self) -> Any:
        """Scores over the strength, by matplotlib where it is installed, else as the library draws them."""
        plt = matplotlib_pyplot()
        if plt is None:
            with tempfile.TemporaryDirectory() as directory:
                self.report(directory)
                return Svg(Path(directory, "figure.svg").read_text(encoding="utf-8"))
        figure, ax = plt.subplots(figsize=(6, 3.5))
        for algorithm in dict.fromkeys(row["algorithm"] for row in self.candidates):
            rows = [row for row in self.candidates if row["algorithm"] == algorithm]
            if len(rows) == 1:
                ax.axhline(rows[0]["score"], ls=":", label=algorithm, color="grey")
                continue
            x, y, e = (np.array([row[key] for row in rows]) for key in ("strength", "score", "error"))
            ax.errorbar(x, y, e, marker=".", label=algorithm)
        ax.set(xscale="log", xlabel="strength", ylabel="score on held-out episodes")
        ax.legend(frameon=False, fontsize="small")
        figure.tight_layout()
        return figure

    def __repr__(self) -> str:
        best = self.candidates[self.chosen]
        strength = "".join(f", {key} {value:g}" for key, value in self.strength.items())
        return f"{self.algorithm}{strength}: score {best['score']:.6g} ± {best['error']:.2g} on {self.folds} folds"

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>" + html_table([[row[key] for key in COLUMNS] for row in self.candidates], COLUMNS)

    def __reduce__(self) -> Any:
        with tempfile.TemporaryDirectory() as directory:
            self.report(directory)
            files = {path.name: path.read_bytes() for path in Path(directory).iterdir()}
        kept = {name: getattr(self, name) for name in ("_facts", "_docs", "_keep", "candidates", "policy")}
        return _again, ({**kept, "_files": files},)


def _again(kept: dict[str, Any]) -> Choice:
    self = Choice.__new__(Choice)
    self.__dict__.update(kept)
    return self

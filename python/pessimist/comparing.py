"""Runs of several algorithms compared: interquartile means, probabilities of improvement, performance profiles."""
from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any, Iterable

import numpy as np

from . import _abi
from ._library import C, Handle, call, facts, info, listed, make
from ._settings import check_known, table, takes
from ._show import Record, html_table

COLUMNS = ("name", "runs", "iqm", "mean", "median")


def _interval(value: Any) -> tuple[float, float, float]:
    return value.value, value.lo, value.hi


@takes("compare")
def compare(*directories: str | os.PathLike, **settings: Any) -> "Comparison":
    """Compares the runs in directories of experiments with games or of trainings, as rliable does.

    >>> import pessimist as ps
    >>> found = ps.compare("docs/results/minatar-exploration", algorithms="naive,imitation", resamples=50)
    >>> value, low, high = found.improvements["naive", "imitation"]
    >>> low <= value <= high < 0.5
    True
    """
    check_known("compare", settings, [table("compare")])
    options = table("compare").make(settings)
    names = (ctypes.c_char_p * len(directories))(*[os.fsencode(d) for d in directories])
    return Comparison(make(C.pess_compare_directories, ctypes.addressof(names), len(directories),
                           ctypes.addressof(options)))


class Comparison(Record, Handle):
    """What was found: `algorithms` (a dictionary of name, runs, and intervals (value, lo, hi) each), `improvements`
    (intervals by pair) and `profiles` ([tau, 3] by name, with `tau`)."""

    _destroy = "pess_comparison_destroy"

    def __init__(self, handle: int):
        self._own(handle)
        Record.__init__(self, info("pess_comparison_get_info", handle, "pess_comparison_info"),
                        _abi.pess_comparison_info.docs)
        self.algorithms = [
            {**facts(row), **{key: _interval(getattr(row, key)) for key in COLUMNS[2:]}}
            for row in listed(C.pess_comparison_algorithm, handle)
        ]
        self.improvements = {
            (row.better.decode(), row.than.decode()): _interval(row.probability)
            for row in listed(C.pess_comparison_improvement, handle)
        }
        self.tasks = [{**facts(row), "iqm": _interval(row.iqm)} for row in listed(C.pess_comparison_task, handle)]

    @property
    def profiles(self) -> dict[str, np.ndarray]:
        """Share of runs above each of `tau`: value, lo and hi."""
        found = {}
        for i, row in enumerate(self.algorithms):
            at = C.pess_comparison_profile(self._address, i)
            found[row["name"]] = np.array([_interval(at[p]) for p in range(len(self.tau))])
        return found

    def report(self, directory: str | os.PathLike) -> Path:
        """Writes the page (index.html), the figure and the tables into a directory."""
        call(C.pess_comparison_write, self._address, None, os.fsencode(directory))
        return Path(directory, "index.html")

    def __repr__(self) -> str:
        return "\n".join(f"{r['name']}: interquartile mean {r['iqm'][0]:.3g} [{r['iqm'][1]:.3g}, {r['iqm'][2]:.3g}]"
                         for r in self.algorithms)

    def _repr_html_(self) -> str:
        return html_table([[row[key] for key in COLUMNS] for row in self.algorithms], COLUMNS)

"""The paper's experiments: run, look at the points and the claims, draw the figure."""
from __future__ import annotations

import ctypes
import functools
import os
import tempfile
from pathlib import Path
from typing import Any, Sequence

import numpy as np

from . import _abi
from ._library import C, Handle, call, facts, listening, make, text
from ._settings import ROLES, Table, by_role, check_known, table, takes
from ._show import Record, Svg, html_list, html_table, matplotlib_pyplot
from .logs import Counts


@functools.lru_cache(maxsize=None)
def settings_of(name: str) -> Table | None:
    """The settings that one experiment reads, with its own defaults."""
    pointer = C.pess_experiment_settings_of(name.encode())
    return Table("experiment", pointer=pointer, struct=_abi.pess_experiment_options) if pointer else None


@takes("experiment", without=["experiment"])
def experiment(name: str, *, progress: Any = None, **settings: Any) -> "Experiment":
    """Runs an experiment of the paper; `pessimist.experiments` lists them. With `out` finished runs, tables, figures and
    a page are kept in that directory; with `resume` it goes on from there.

    >>> import pessimist as ps
    >>> found = ps.experiment("bandit", trials=20, seed=1)
    >>> sorted({point.algorithm for point in found.points})[:2]
    ['imitation', 'naive']
    """
    own = settings_of(name)
    check_known(f"experiment '{name}'" if own else "experiment", settings, [own or table("experiment")])
    options = table("experiment").make({**settings, "experiment": name})
    handle = make(C.pess_experiment_create, ctypes.addressof(options))
    self = Experiment(handle)
    with listening(progress):
        call(C.pess_experiment_run, handle)
    if settings.get("out") is not None:
        call(C.pess_experiment_write, handle, f"pessimist.experiment({name!r})".encode())
    return self


def merge(paths: Sequence[str | os.PathLike], out: str | os.PathLike, *, partial: bool = False, **settings: Any) -> Any:
    """Puts shards together. With `out` called .pesscounts, logs and files of counts: the same bytes as counting all rows
    at once; settings are those of `read`, and the counts are returned. Else directories of one experiment, which is
    written to `out` and returned; `partial` where some of its runs are missing.

    >>> import pessimist as ps
    >>> ps.merge(["examples/visits.csv", "examples/visits.csv"], getfixture("tmp_path") / "twice.pesscounts")
    Counts of 1,000 transitions, 5 states, 3 actions
    """
    list_of_paths = (ctypes.c_char_p * max(1, len(paths)))(*[os.fsencode(path) for path in paths])
    if os.fspath(out).endswith(".pesscounts"):
        settings = by_role(settings)
        check_known("merge", settings, [table("read")], ROLES)
        options = table("read").make(settings)
        call(C.pess_counts_merge, ctypes.addressof(list_of_paths), len(paths), ctypes.addressof(options), os.fsencode(out))
        return Counts.read(out)
    check_known("merge", settings, [])
    handle = make(C.pess_experiment_merge, ctypes.addressof(list_of_paths), len(paths), os.fsencode(out), partial)
    self = Experiment(handle)
    call(C.pess_experiment_write, handle, f"pessimist.merge({list(map(os.fspath, paths))!r})".encode())
    return self


class Experiment(Handle):
    """What came out of an experiment."""

    _destroy = "pess_experiment_destroy"

    def __init__(self, handle: int):
        self._own(handle)

    @property
    def info(self) -> Record:
        """Its name, title, axis labels."""
        found = C.pess_experiment_get_info(self._address).contents
        return Record({**facts(found), "x_label": text(found.x.label), "x_name": text(found.x.name),
                       "log_scale": found.x.log_scale}, _abi.pess_experiment_info.docs)  # fmt: skip

    @property
    def description(self) -> str:
        return text(C.pess_experiment_description(self._address)) or ""

    def _array(self, function: Any, struct: type[ctypes.Structure]) -> Any:
        count = ctypes.c_size_t()
        pointer = function(self._address, ctypes.addressof(count))
        return ctypes.cast(pointer, ctypes.POINTER(struct * count.value)).contents if count.value else []

    @property
    def points(self) -> list[Record]:
        """Means over trials: algorithm, x, mean, ci95, min, max, and the experiment's further columns."""
        columns = (self.info.columns or "").split()
        found = []
        for point in self._array(C.pess_experiment_points, _abi.pess_experiment_point):
            row = facts(point)
            values = row.pop("values")
            found.append(Record({**row, **dict(zip(columns, values))}, _abi.pess_experiment_point.docs))
        return found

    @property
    def claims(self) -> list[Record]:
        """What was expected, the rule by which it is judged, and what came out."""
        rows = self._array(C.pess_experiment_claims, _abi.pess_experiment_claim)
        return [Record(facts(row), _abi.pess_experiment_claim.docs) for row in rows]

    @property
    def table(self) -> np.ndarray:
        """The points as a structured array."""
        return structured([point.as_dict() for point in self.points])

    def to_frame(self) -> Any:
        """The points as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame([point.as_dict() for point in self.points])

    def save(self, directory: str | os.PathLike) -> Path:
        """Draws the figure and writes the table of points into a directory."""
        path = Path(directory)
        path.mkdir(parents=True, exist_ok=True)
        self._write_points(path / "results.csv")
        (path / "figure.svg").write_text(self.svg().source, encoding="utf-8")
        return path

    def _write_points(self, path: Path) -> None:
        rows = [point.as_dict() for point in self.points]
        head = [key for key in rows[0] if key != "game" or rows[0]["game"]]
        lines = [",".join(head)] + [",".join(_cell(row[key]) for key in head) for row in rows]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def svg(self) -> Svg:
        """The figure as the library draws it; it needs cairo on the machine."""
        options = _abi.pess_experiment_options()
        C.pess_experiment_get_options(self._address, ctypes.addressof(options))
        if options.out:
            return Svg(Path(os.fsdecode(options.out), "figure.svg").read_text(encoding="utf-8"))
        return self._svg_of_points()

    def _svg_of_points(self) -> Svg:
        with tempfile.TemporaryDirectory() as directory:
            results, figure = Path(directory, "results.csv"), Path(directory, "figure.svg")
            self._write_points(results)
            paths = (ctypes.c_char_p * 1)(os.fsencode(results))
            call(C.pess_figure_write, ctypes.addressof(paths), 1, None, os.fsencode(figure))
            return Svg(figure.read_text(encoding="utf-8"))

    def figure(self) -> Any:
        """The figure by matplotlib where it is installed, else as the library draws it."""
        plt = matplotlib_pyplot()
        return self.svg() if plt is None else self._drawn(plt)

    def _drawn(self, plt: Any) -> Any:
        rows = [point.as_dict() for point in self.points]
        games = list(dict.fromkeys(row["game"] for row in rows))
        drawn, panels = plt.subplots(1, len(games), figsize=(5 * len(games), 3.5), squeeze=False)
        for ax, game in zip(panels[0], games):
            for algorithm in dict.fromkeys(row["algorithm"] for row in rows if row["game"] == game):
                chosen = [row for row in rows if (row["game"], row["algorithm"]) == (game, algorithm)]
                x, mean, ci = (np.array([row[key] for row in chosen], float) for key in ("x", "mean", "ci95"))
                (line,) = ax.plot(x, mean, marker=".", label=algorithm)
                ax.fill_between(x, mean - np.nan_to_num(ci), mean + np.nan_to_num(ci), color=line.get_color(), alpha=0.2, lw=0)
            info = self.info
            ax.set(xlabel=info.x_label, ylabel=info.y_label, title=game or info.title)
            if info.log_scale:
                ax.set_xscale("log")
        panels[0][-1].legend(frameon=False, fontsize="small")
        drawn.tight_layout()
        return drawn

    def __repr__(self) -> str:
        lines = [self.info.title, self.description]
        lines += [f"  - {'holds' if c.holds else 'does not hold'}: {c.claim} ({c.found})" for c in self.claims if c.judged]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = ("algorithm", self.info.x_name, "mean", "± 95 %")
        rows = [(p.algorithm, p.x, p.mean, p.ci95) for p in self.points]
        said = [f"{c.claim}: {c.found}" for c in self.claims]
        return f"<p>{self.description}</p>" + html_table(rows, head) + html_list(self.info.findings or "Findings", said)

    def __reduce__(self) -> Any:
        kept = {
            "info": self.info, "description": self.description, "points": self.points, "claims": self.claims,
        }  # fmt: skip
        return Results, (kept,)


class Results(Experiment):
    """An experiment that was pickled: its points and claims, without the runs."""

    def __init__(self, kept: dict[str, Any]):
        self._kept = kept

    info = property(lambda self: self._kept["info"])
    description = property(lambda self: self._kept["description"])
    points = property(lambda self: self._kept["points"])
    claims = property(lambda self: self._kept["claims"])

    def svg(self) -> Svg:
        return self._svg_of_points()


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def structured(rows: list[dict[str, Any]]) -> np.ndarray:
    """Dictionaries as a structured array: numbers as numbers, the rest as texts.

    >>> structured([{"name": "a", "x": 1.5}, {"name": "bc", "x": 2}])["x"].tolist()
    [1.5, 2.0]
    """
    if not rows:
        return np.empty(0)
    columns = {}
    for key in rows[0]:
        values = [row[key] for row in rows]
        is_number = all(v is None or isinstance(v, (int, float)) for v in values)
        columns[key] = np.array([np.nan if v is None else v for v in values]) if is_number else np.array(list(map(str, values)))
    out = np.empty(len(rows), [(key, array.dtype) for key, array in columns.items()])
    for key, array in columns.items():
        out[key] = array
    return out

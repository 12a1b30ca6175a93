"""States made of measurements: maps from rows to cells, and policies applied to new rows."""
from __future__ import annotations

import ctypes
import os
import tempfile
from pathlib import Path
from typing import Any, Sequence

import numpy as np

from . import _abi
from ._arrays import address, column, encode, integers, names_address, numbers, view
from ._library import C, Handle, InputError, call, expect, facts, info, listening, make, text
from ._settings import ROLES, by_role, check_known, table, takes
from ._show import Record
from .logs import Counts, Log, _ends
from .paper import structured
from .policies import Policy, as_policy


class Measurements(Handle):
    """Rows of measurements, each with a name, and what was decided there: a log before its states have numbers.

    `values` is an array [N, features] with NaN where one is missing, and `features` their names; or a DataFrame whose
    columns are the features.
    """

    _destroy = "pess_measurements_destroy"

    def __init__(
        self,
        values: Any,
        features: Sequence[str] | None = None,
        *,
        action: Any = None,
        reward: Any = None,
        terminal: Any = None,
        truncated: Any = None,
        episode: Any = None,
        step: Any = None,
        probability: Any = None,
    ):
        if features is None:
            features = [str(name) for name in getattr(values, "columns", range(np.shape(values)[-1] if np.ndim(values) else 0))]
        array = measured(values, list(features))
        acted, self.action_names = encode({"action": action}) if action is not None else ({"action": None}, None)
        self.features = list(features)
        columns = {
            "action": acted["action"], "reward": numbers("reward", reward), "end": _ends(terminal, truncated),
            "episode": None if episode is None else _numbered("episode", episode),
            "step": None if step is None else np.ascontiguousarray(integers("step", step), np.int64),
            "probability": numbers("probability", probability),
        }  # fmt: skip
        for what, given in columns.items():
            if given is not None and len(given) != len(array):
                raise InputError(f"{what}: found {len(given)} values, but {len(array)} rows of measurements")
        self._make(array, columns)

    def _make(self, array: np.ndarray, columns: dict[str, np.ndarray | None]) -> None:
        features = self.features
        names = (ctypes.c_char_p * max(1, len(features)))(*[name.encode() for name in features])
        given = _abi.pess_measurement_columns(
            rows=len(array), features=len(features), names=ctypes.addressof(names), values=address(array),
            **{name: address(values) for name, values in columns.items()},
        )  # fmt: skip
        self._own(make(C.pess_measurements_create, ctypes.addressof(given)))

    @classmethod
    def read(cls, path: str | os.PathLike, features: Sequence[str] | str, *, progress: Any = None, **settings: Any) -> "Measurements":
        """Reads the named columns of a file, and what was decided there. Settings are those of `read` too: columns by
        their roles, separator, missing."""
        tables = table("measurements"), table("read")
        settings = by_role(settings)
        check_known("Measurements.read", settings, tables, ROLES)
        names = features if isinstance(features, str) else ",".join(features)
        options = tables[0].make({**tables[0].pick(settings), "features": names})
        text_options = tables[1].make(tables[1].pick(settings))
        options.read = ctypes.pointer(text_options)
        self = cls.__new__(cls)
        with listening(progress):
            self._own(make(C.pess_measurements_read, os.fsencode(path), ctypes.addressof(options)))
        self.features = names.split(",")
        from ._arrays import names_list

        self.action_names = names_list(C.pess_measurements_action_names(self._address))
        return self

    @takes("observations")
    def observations(self, **settings: Any) -> "Observations":
        """The measurements as floats that networks learn from, without cells. Actions are numbers, of `action_names`
        where they have names.

        >>> import numpy as np, pessimist as ps
        >>> rows = ps.Measurements([[1.5, 0], [2.5, 1], [0.5, 2]], ["lactate", "hour"], action=["wait", "treat", "wait"],
        ...                        reward=[0, 0, 1], episode=[7, 7, 7], terminal=[0, 0, 1])
        >>> rows.observations().action.tolist(), rows.action_names
        ([0, 1, 0], ['wait', 'treat'])
        """
        from .observations import Observations

        check_known("Measurements.observations", settings, [table("observations")])
        options = table("observations").make(settings)
        return Observations._of(make(C.pess_measurements_observations, self._address, ctypes.addressof(options)))

    def _columns(self) -> _abi.pess_measurement_columns:
        out = _abi.pess_measurement_columns()
        C.pess_measurements_columns(self._address, ctypes.addressof(out))
        return out

    @property
    def values(self) -> np.ndarray:
        """The measurements, [rows, features]; NaN where one is missing."""
        found = self._columns()
        return view(found.values, (found.rows, found.features), np.float64, self)

    def __len__(self) -> int:
        return self._columns().rows

    def __reduce__(self) -> Any:
        found = self._columns()
        columns = {name: view(getattr(found, name), found.rows, dtype, self) for name, dtype in COLUMNS.items()}
        kept = {name: None if array is None else np.array(array) for name, array in columns.items()}
        return _measurements_again, (np.array(self.values), kept, self.features, self.action_names)

    def __repr__(self) -> str:
        return f"Measurements of {len(self):,} rows: {', '.join(self.features)}"


COLUMNS = {"action": np.uint32, "reward": np.float64, "end": np.uint8, "episode": np.int64, "step": np.int64,
           "probability": np.float64}  # fmt: skip


def _measurements_again(array: Any, columns: Any, features: list[str], action_names: Any) -> Measurements:
    self = Measurements.__new__(Measurements)
    self.features, self.action_names = features, action_names
    self._make(array, columns)
    return self


def measured(rows: Any, features: list[str]) -> np.ndarray:
    """Rows of these features as numbers, [rows, features]: of a table the columns of these names, whatever their order,
    of an array its columns as they stand.

    >>> import pandas
    >>> measured(pandas.DataFrame({"lactate": [1.5], "age": [60]}), ["age", "lactate"]).tolist()
    [[60.0, 1.5]]
    """
    if isinstance(rows, Measurements):
        if rows.features != features:
            raise InputError(f"rows: found measurements of {', '.join(rows.features)}, expected {', '.join(features)}")
        return rows.values
    if hasattr(rows, "columns"):
        names = [str(name) for name in rows.columns]
        for name in features:
            if names.count(name) != 1:
                raise InputError(f"rows: found {names.count(name)} columns '{name}' among {', '.join(names)}, expected one")
        rows = np.column_stack([rows.iloc[:, names.index(name)] if hasattr(rows, "iloc") else rows[name] for name in features])
    try:
        array = np.ascontiguousarray(rows, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"rows: found {type(rows).__name__}, expected numbers [rows, {len(features)}], NaN where one is missing") from None
    if array.ndim != 2 or array.shape[1] != len(features):
        raise InputError(f"rows: found shape {array.shape}, expected [rows, {len(features)}]")
    return array


def _numbered(name: str, values: Any) -> np.ndarray:
    array = column(name, values)
    if array.dtype.kind in "OUS":
        array = encode({name: array})[0][name]
    return np.ascontiguousarray(integers(name, array), np.int64)


@takes("cells")
def discretize(rows: Measurements, *, source: str | None = None, progress: Any = None, **settings: Any) -> "Map":
    """Cells of measurements, which are states: k-means, bins or a tree, made of a part of the episodes.

    >>> import numpy as np, pessimist as ps
    >>> rng = np.random.default_rng(0)
    >>> rows = ps.Measurements(rng.normal(size=(1000, 2)), ["age", "lactate"], action=rng.integers(0, 2, 1000),
    ...                        reward=rng.random(1000), episode=np.arange(1000) // 10,
    ...                        terminal=np.arange(1000) % 10 == 9)
    >>> map = ps.discretize(rows, cells=8, seed=1)
    >>> map
    Map of 8 cells by kmeans of age, lactate
    >>> map.log(rows).states
    8
    """
    check_known("discretize", settings, [table("cells")])
    expect("rows", rows, Measurements)
    options = table("cells").make(settings)
    with listening(progress):
        handle = make(C.pess_map_make, rows._address, source.encode() if source else None, ctypes.addressof(options))
    found = Map(handle, rows.action_names)
    found._made = settings
    return found


class Map(Handle):
    """Rows of measurements into cells."""

    _destroy = "pess_map_destroy"

    def __init__(self, handle: int, action_names: Any = None):
        self._own(handle)
        self.action_names = action_names
        self._made: dict[str, Any] = {}  # what `discretize` was asked for

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Map":
        return cls(make(C.pess_map_read, os.fsencode(path)))

    def save(self, path: str | os.PathLike) -> None:
        call(C.pess_map_write, self._address, os.fsencode(path))

    @property
    def facts(self) -> dict[str, Any]:
        return info("pess_map_get_info", self._address, "pess_map_info")

    @property
    def cells(self) -> int:
        return self.facts["cells"]

    @property
    def features(self) -> list[str]:
        return (text(C.pess_map_features(self._address)) or "").split(",")

    def describe(self, cell: int) -> str:
        """What a cell is, in words."""
        out = ctypes.create_string_buffer(2000)
        C.pess_map_describe(self._address, cell, ctypes.addressof(out), len(out))
        return out.value.decode()

    def apply(self, rows: Any) -> np.ndarray:
        """The cell of each row."""
        known = rows if isinstance(rows, Measurements) else Measurements(rows, self.features)
        out = np.empty(len(known), np.uint32)
        call(C.pess_map_apply, self._address, known._address, 0, address(out), None)
        return out

    predict = transform = apply

    def log(self, rows: Measurements, part: str = "all") -> Log:
        """The log with cells as states: of "all" episodes, those "making" the cells, or those "held-out"."""
        parts = {"all": "ALL", "making": "MAKING", "held-out": "HELD_OUT"}
        if part not in parts:
            raise InputError(f"part: found '{part}', expected one of {', '.join(parts)}")
        which = _abi.CONSTANTS[f"PESS_PART_{parts[part]}"]
        known = expect("rows", rows, Measurements)
        log = Log._of(make(C.pess_map_log, self._address, known._address, which, 0))
        log._declared = (log.states, log.actions)
        return log

    def markov_test(self, rows: Measurements, **settings: Any) -> Record:
        """Given cell and action of a row, is what follows predicted better by one who also knows the cell before?"""
        return Record(facts(self._markov(rows, settings)), _abi.pess_markov.docs)

    def _markov(self, rows: Measurements, settings: dict[str, Any]) -> _abi.pess_markov:
        check_known("markov_test", settings, [table("markov")])
        options = table("markov").make(settings)
        making, held_out = self.log(rows, "making"), self.log(rows, "held-out")
        out = _abi.pess_markov()
        call(C.pess_markov_test, making._address, held_out._address, ctypes.addressof(options), ctypes.addressof(out))
        return out

    @takes("trials", "solve", without=["uncertainty"])
    def trials(self, rows: Measurements, *, progress: Any = None, **settings: Any) -> np.ndarray:
        """Does the answer depend on the cells? Policies found with other seeds, half and twice as many cells: their value
        on the episodes held out, and how often they do what the policy of this map does, as a structured array."""
        found, count, _ = self._trials(rows, progress, settings)
        return structured([facts(trial) for trial in found[:count]])

    def _trials(self, rows: Measurements, progress: Any, settings: dict[str, Any]) -> tuple[Any, int, Any]:
        tables = table("trials"), table("solve")
        expect("rows", rows, Measurements)
        check_known("Map.trials", settings, tables)
        options, solver = (one.make(one.pick(settings)) for one in tables)
        made = {"method": self.facts["method"], "cells": self.cells, **self._made}
        cells = table("cells").make(made)
        found = (_abi.pess_cells_trial * (_abi.CONSTANTS["PESS_CELLS_SIZES"] * _abi.CONSTANTS["PESS_MAX_STARTS"]))()
        count = ctypes.c_int64()
        with listening(progress):
            call(C.pess_cells_trials, self._address, rows._address, ctypes.addressof(cells), ctypes.addressof(solver),
                 ctypes.addressof(options), ctypes.addressof(found), ctypes.addressof(count))  # fmt: skip
        return found, count.value, solver

    @takes("trials", "solve", without=["uncertainty"])
    def report(self, rows: Measurements, directory: str | os.PathLike, *, progress: Any = None, **settings: Any) -> Path:
        """Writes a page (index.html): are the cells good states, and does the answer depend on them?"""
        tested = self._markov(rows, {})
        trials, count, solver = self._trials(rows, progress, settings)
        page = _abi.pess_cells_page(
            size=ctypes.sizeof(_abi.pess_cells_page), map=self._address, markov=ctypes.pointer(tested), trials=ctypes.pointer(trials[0]), trial_count=count,
            algorithm=solver.algorithm, gamma=solver.gamma,
        )  # fmt: skip
        call(C.pess_cells_write_page, ctypes.addressof(page), os.fsencode(directory))
        return Path(directory, "index.html")

    def __repr__(self) -> str:
        return f"Map of {self.cells} cells by {self.facts['method']} of {', '.join(self.features)}"

    def __reduce__(self) -> Any:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "map.pessmap")
            self.save(path)
            return _again, (path.read_bytes(), self.action_names, self._made)


def _again(content: bytes, action_names: Any, made: dict[str, Any]) -> Map:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "map.pessmap")
        path.write_bytes(content)
        found = Map.load(path)
        found.action_names, found._made = action_names, made
        return found


DECISION = np.dtype([
    ("advice", "U12"), ("state", np.int64), ("action", np.int64), ("probability", np.float64),
    ("state_count", np.int64), ("action_count", np.int64), ("outside", np.float64),
])  # fmt: skip


@takes("act", without=["probabilities", "json"])
def act(policy: Policy, rows: Any, *, map: Map | None = None, log: Any = None, **settings: Any) -> np.ndarray:
    """What to do at each row, how often the log visits its state and does that, and where to keep present practice.

    `rows` are measurements with a `map` (an array [N, features], a DataFrame whose columns are found by their names, or
    `Measurements`), else states (ids or names). `log` is the log (or its counts) that
    the policy was made from. Returns a structured array; where `advice` is not "policy", keep present practice.

    >>> import pessimist as ps
    >>> log = ps.read("examples/visits.csv")
    >>> sol = ps.solve(log, gamma=0.95, reward_range=(0, 1))
    >>> ps.act(sol.policy, ["mild", "lost"], log=log)[["advice", "action_count"]].tolist()
    [('policy', 177), ('no-policy', -1)]
    """
    check_known("act", settings, [table("act")])
    options = table("act").make(settings)
    policy = as_policy(policy)
    if map is not None:
        expect("map", map, Map)
    states, kept = names_address(policy.state_names if map is None else None)
    actions, kept_too = names_address(policy.action_names)
    counts = expect("log", log, Log, Counts).counts if log is not None else None
    decider = make(C.pess_decider_create, policy._address, states, actions, map._address if map is not None else None,
                   counts._address if counts is not None else None, ctypes.addressof(options))  # fmt: skip
    try:
        return _decide(decider, policy, rows, map)
    finally:
        C.pess_decider_destroy(decider)


def _decide(decider: int, policy: Policy, rows: Any, map: Map | None) -> np.ndarray:
    names = [text(C.pess_advice_name(i)) for i in sorted(_abi.ENUMS["pess_advice"].values())]
    if map is None:
        given = policy._states(rows)
        function, places = C.pess_act_states, address(given)
    else:
        given = np.ascontiguousarray(measured(rows, map.features))
        function, places = C.pess_act_many, address(given)
    decided = (_abi.pess_decision * max(1, len(given)))()
    call(function, decider, places, len(given), ctypes.addressof(decided))
    raw = np.frombuffer(decided, np.dtype(_abi.pess_decision))[: len(given)]
    out = np.empty(len(given), DECISION)
    out["advice"] = np.array(names)[raw["advice"]]
    for name in DECISION.names[1:]:
        out[name] = raw[name]
    return out

"""Logs from frames: which column plays which role, several columns as one state, next states from next rows."""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ._arrays import column, is_missing, is_names
from ._library import C, ArgumentError, InputError, make
from ._settings import ROLES, by_role, check_known, table
from ._show import counted_noun
from .logs import CUTOFF, TERMINAL, Log, _ends

JOIN = "|"  # between the values of several columns that are one state or action, as the library's readers have it


def _names_of(frame: Any) -> list[str]:
    return [str(name) for name in (frame.columns if hasattr(frame, "columns") else frame.keys())]


def _values(frame: Any, name: str) -> np.ndarray:
    """A column as an array; what pandas has as missing stays NaN or None."""
    series = frame[name]
    if getattr(getattr(series, "dtype", None), "tz", None) is not None:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    if hasattr(series, "to_numpy"):
        kind = str(getattr(series, "dtype", ""))
        return series.to_numpy(dtype=object) if kind in ("category", "string") else series.to_numpy()
    return np.asarray(series)


def _absent(array: np.ndarray) -> np.ndarray:
    """Where a value is missing."""
    if array.dtype.kind == "f":
        return np.isnan(array)
    if array.dtype.kind == "M":
        return np.isnat(array)
    if array.dtype.kind != "O":
        return np.zeros(len(array), bool)
    return np.array([is_missing(value) for value in array], bool)


def _plain(value: Any) -> str:
    return str(int(value)) if isinstance(value, (float, np.floating)) and value == int(value) else str(value)


class _Reading:
    """The columns of a frame by role, as arrays."""

    def __init__(self, frame: Any, roles: dict[str, Any]):
        self.known = _names_of(frame)
        self.arrays: dict[str, np.ndarray] = {}
        self.absent: np.ndarray | None = None
        taken: dict[str, str] = {}
        for role in ROLES:
            names = roles.get(role)
            if names is None:
                names = role if role in self.known else None
            if names is None:
                continue
            names = [names] if isinstance(names, str) else list(names)
            for name in names:
                self._check(role, name, taken)
            self.arrays[role] = self._column(frame, role, names)

    def _check(self, role: str, name: str, taken: dict[str, str]) -> None:
        if name not in self.known:
            raise ArgumentError(f"{role}: there is no column '{name}'; there are {', '.join(self.known)}")
        if name in taken:
            raise ArgumentError(f"{role}: the column '{name}' is {taken[name]} already")
        taken[name] = role

    def _column(self, frame: Any, role: str, names: list[str]) -> np.ndarray:
        parts = [column(name, _values(frame, name)) for name in names]
        missing = np.logical_or.reduce([_absent(part) for part in parts])
        if self.absent is None:
            self.absent, self.first = np.zeros(len(missing), bool), None
        if missing.any() and self.first is None:
            self.first = (role, int(missing.sum()), int(np.flatnonzero(missing)[0]))
        self.absent |= missing
        if len(parts) == 1:
            return parts[0]
        texts = [[_plain(v) for v in part.tolist()] for part in parts]
        return np.array([JOIN.join(row) for row in zip(*texts)], object)


def log_from_frame(
    frame: Any,
    *,
    state: Any = None,
    action: Any = None,
    reward: Any = None,
    next_state: Any = None,
    terminal: Any = None,
    truncated: Any = None,
    episode: Any = None,
    step: Any = None,
    probability: Any = None,
    last_row: str | None = None,
    missing: str = "refuse",
    states: int = 0,
    actions: int = 0,
) -> Log:
    """A log from a frame: a pandas DataFrame, or a dictionary of columns.

    Each role is the name of a column; a list of names makes one state (or action, or episode) of several columns. Roles
    that are not given go to columns of their name. Without a column of next states, that of a row is the state of the
    next row of its episode (by step, else by order), and `last_row` says how the last rows of episodes end that no
    column marks: "terminal", or "cutoff", which leaves them out. `missing` is "refuse" or "drop".

    >>> import pessimist as ps
    >>> rows = {"patient": [1, 1, 2, 2], "ward": ["a", "b", "a", "a"], "severity": [1, 2, 1, 3],
    ...         "action": ["wait", "treat", "wait", "wait"], "outcome": [0, 1, 0, 0]}
    >>> log = ps.Log.from_frame(rows, state=["ward", "severity"], episode="patient", reward="outcome",
    ...                         last_row="terminal")
    >>> log.state_names
    ['a|1', 'b|2', 'a|3']
    >>> log.next_state.tolist()
    [1, 1, 2, 2]
    """
    roles = {role: value for role, value in locals().items() if role in ROLES}
    if not hasattr(frame, "columns") and not hasattr(frame, "keys"):
        raise TypeError(f"frame: found {type(frame).__name__}, expected a DataFrame, a mapping of columns or an Arrow table")
    reading = _Reading(frame, roles)
    arrays = reading.arrays
    for role in ("state", "action", "reward"):
        if role not in arrays:
            raise ArgumentError(f"{role}: no column is given, and none is called so; there are {', '.join(reading.known)}")
    if missing not in ("refuse", "drop"):
        raise ArgumentError(f"missing: found '{missing}', expected refuse or drop")
    absent = reading.absent
    if reading.first is not None and missing == "refuse":
        role, count, row = reading.first
        raise InputError(f"{role}: missing values: {count}, the first in row {row}; missing='drop' leaves out such rows")
    if "next_state" not in arrays:
        arrays, keep = _derive(arrays, absent, last_row)
    elif last_row is not None:
        raise ArgumentError("last_row: the frame has next states, so nothing has to be said of last rows")
    else:
        keep = ~absent
    if not keep.all():
        arrays = {role: values[keep] for role, values in arrays.items()}
    return Log(**{role: _tidy(values) for role, values in arrays.items()}, states=states, actions=actions)


def _tidy(values: np.ndarray) -> np.ndarray:
    """What was an object array for the sake of missing values, without them."""
    if values.dtype.kind == "O" and not is_names(values):
        return np.array(values.tolist())
    return values


def _order(arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Rows episode by episode, in each by step or as they stand; and whether the next of these is of the same episode."""
    rows = len(arrays["state"])
    if "episode" in arrays:
        _, episode = np.unique(arrays["episode"].astype(str) if arrays["episode"].dtype.kind == "O" else arrays["episode"],
                               return_inverse=True)  # fmt: skip
    else:
        episode = np.zeros(rows, np.int64)
    step = arrays["step"] if "step" in arrays else np.arange(rows)
    order = np.lexsort((np.arange(rows), step, episode))
    same = np.zeros(rows, bool)
    same[:-1] = episode[order][1:] == episode[order][:-1]
    return order, same


def _derive(arrays: dict[str, Any], absent: np.ndarray, last_row: str | None) -> tuple[dict[str, Any], np.ndarray]:
    """s' of a row is the state of the next row of its episode. A terminal row leads nowhere: its own state stands
    there. Where the next state is in no row, the row is left out and the one before it is cut off.

    These are the rules of src/data/next_rows.c, written a second time: a log is made of columns that have next states,
    and the library derives them only where it reads a table itself, as `log_from_arrow` lets it do. One thing differs:
    a row that is dropped for a missing value does not tell its state either. python/tests/test_frames.py compares both.
    """
    if last_row not in (None, "terminal", "cutoff"):
        raise ArgumentError(f"last_row: found '{last_row}', expected terminal or cutoff")
    rows = len(absent)
    marked = _ends(arrays.get("terminal"), arrays.get("truncated"))
    order, same = _order(arrays)
    end = (np.zeros(rows, np.uint8) if marked is None else np.array(marked))[order]
    gap = absent[order]
    if "episode" not in arrays:
        same &= (end == 0) | gap  # an episode goes on until a row that ends
    open_ends = ~same & (end == 0) & ~gap
    if last_row is None and open_ends.any():
        raise InputError(
            f"the last rows of {counted_noun(int(open_ends.sum()), 'episode')} have no next state and no end: declare "
            "last_row='terminal' or 'cutoff'"
        )
    if last_row == "terminal":
        end[open_ends] = TERMINAL
    follows = same & ~np.append(gap[1:], True)
    left_out = ~gap & (end != TERMINAL) & ~follows
    before = np.append(left_out[1:], False) & same & (end == 0)
    end[before] = CUTOFF
    following = np.where((end == TERMINAL) | ~follows, np.arange(rows), np.arange(rows) + 1)
    next_state, ends, keep = np.empty(rows, arrays["state"].dtype), np.empty(rows, np.uint8), np.empty(rows, bool)
    next_state[order] = arrays["state"][order][following]
    ends[order], keep[order] = end, ~(gap | left_out)
    told = {**arrays, "next_state": next_state, "terminal": ends == TERMINAL, "truncated": ends == CUTOFF}
    return told, keep


def log_from_arrow(frame: Any, **settings: Any) -> Log:
    """A log from anything with `__arrow_c_stream__` (Polars, pyarrow, DuckDB): roles are those of
    `log_from_frame`, settings those of `read`. Columns are read where they lie."""
    settings = by_role(settings)
    check_known("Log.from_frame", settings, [table("read")], ROLES)
    options = table("read").make(settings)
    capsule = frame.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = pointer(capsule, b"arrow_array_stream")
    log = Log._of(make(C.pess_dataset_read_arrow, b"the table", stream, ctypes.addressof(options)))
    log._declared = (settings.get("states") or 0, settings.get("actions") or 0)
    return log

"""Logs of decisions: from arrays, from files, from frames; what an inspection finds; their counts."""
from __future__ import annotations

import ctypes
import os
import weakref
from typing import Any, NamedTuple, Sequence

import numpy as np

from . import _abi
from ._arrays import address, column, encode, integers, names_address, names_list, numbers, steps, view
from ._library import C, Handle, InputError, call, facts, info, listening, make, text, word
from ._settings import ROLES, by_role, check_known, table, takes
from ._show import Record, counted_noun, html_list, html_table

COLUMNS = ("state", "action", "reward", "next_state", "terminal", "truncated", "episode", "step", "probability")
TERMINAL, CUTOFF = _abi.CONSTANTS["PESS_END_TERMINAL"], _abi.CONSTANTS["PESS_END_CUTOFF"]


def _flags(name: str, values: Any) -> np.ndarray:
    """0 or 1 each, without a copy where they are bytes."""
    array = column(name, values)
    if array.dtype.kind == "b":
        return np.ascontiguousarray(array).view(np.uint8)
    array = integers(name, array)
    if array.size and (array.min() < 0 or array.max() > 1):
        row = int(np.flatnonzero((array < 0) | (array > 1))[0])
        raise InputError(f"{name}: row {row}: found {array[row]}, expected 0 or 1")
    return np.ascontiguousarray(array, np.uint8)


def _ends(terminal: Any, truncated: Any) -> np.ndarray | None:
    if terminal is None and truncated is None:
        return None
    if truncated is None:
        return _flags("terminal", terminal)
    cut = _flags("truncated", truncated) * np.uint8(CUTOFF)
    if terminal is None:
        return cut
    ended = _flags("terminal", terminal)
    if len(cut) != len(ended):
        raise InputError(f"found {len(ended)} values of terminal, but {len(cut)} of truncated")
    return np.where(ended == TERMINAL, ended, cut)


def _sizes(transitions: int, states: int, actions: int) -> str:
    counts = {"transition": transitions, "state": states, "action": actions}
    return ", ".join(counted_noun(count, noun) for noun, count in counts.items())


class Log(Handle):
    """A log of decisions.

    Arrays with one entry per transition. States and actions are ids from 0 on, or names (texts). They are borrowed, not
    copied, where their types are the library's: uint32 for ids, float64 for rewards and probabilities, bool or uint8 for
    terminal, int64 for episode and step; so leave them as they are while the log lives.

    >>> import pessimist as ps
    >>> log = ps.Log(state=["sick", "sick", "well"], action=["treat", "wait", "wait"], reward=[0, 0, 1],
    ...              next_state=["well", "sick", "well"])
    >>> log
    Log of 3 transitions, 2 states, 2 actions
    >>> log.state_names
    ['sick', 'well']
    """

    _destroy = "pess_dataset_destroy"

    def __init__(
        self,
        state: Any,
        action: Any,
        reward: Any,
        next_state: Any,
        *,
        terminal: Any = None,
        truncated: Any = None,
        episode: Any = None,
        step: Any = None,
        probability: Any = None,
        states: int = 0,
        actions: int = 0,
        state_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
    ):
        states = states or (len(state_names) if state_names is not None else 0)
        actions = actions or (len(action_names) if action_names is not None else 0)
        both, state_names = encode({"state": state, "next_state": next_state}, state_names)
        acted, action_names = encode({"action": action}, action_names)
        episodes, episode_names = None, None
        if episode is not None:
            episodes = column("episode", episode)
            if episodes.dtype.kind in "OUS":
                coded, episode_names = encode({"episode": episodes})
                episodes = coded["episode"]
            episodes = np.ascontiguousarray(integers("episode", episodes), np.int64)
        columns = {
            "state": both["state"], "action": acted["action"], "next_state": both["next_state"],
            "reward": numbers("reward", reward), "end": _ends(terminal, truncated), "episode": episodes,
            "step": None if step is None else steps(step),
            "probability": numbers("probability", probability),
        }  # fmt: skip
        self._create(columns, {"state": state_names, "action": action_names, "episode": episode_names}, states, actions)

    def _create(
        self, columns: dict[str, Any], names: dict[str, Any], states: int, actions: int, origin: dict[str, Any] | None = None
    ) -> None:
        rows = len(columns["state"])
        for name, array in columns.items():
            if array is not None and len(array) != rows:
                raise InputError(f"{name}: found {len(array)} values, but {rows} states; expected one per transition")
        given = _abi.pess_columns(rows=rows, **{name: address(array) for name, array in columns.items()})
        for name, value in (origin or {}).items():
            setattr(given.origin, name, value)
        kept = []
        for what, list_of_names in names.items():
            where, keep = names_address(list_of_names)
            setattr(given, f"{what}_names", where)
            kept.append(keep)
        out = make(C.pess_dataset_borrow, ctypes.addressof(given), states, actions)
        self._begin(out, columns)
        self._declared = (states, actions)

    def _begin(self, handle: int, *keep: Any) -> None:
        self._own(handle, *keep)
        self._problems: dict[Any, Any] = {}
        self._counts: Counts | None = None
        self._declared = (0, 0)
        self.source: str | None = None

    @classmethod
    def _of(cls, handle: int) -> "Log":
        self = cls.__new__(cls)
        self._begin(handle)
        return self

    # ---- looking

    def _columns(self) -> _abi.pess_columns:
        out = _abi.pess_columns()
        C.pess_dataset_columns(self._address, ctypes.addressof(out))
        return out

    def _column(self, name: str, dtype: Any) -> np.ndarray | None:
        columns = self._columns()
        return view(getattr(columns, name), columns.rows, dtype, self)

    def __len__(self) -> int:
        return self._columns().rows

    @property
    def states(self) -> int:
        """How many states there are: declared, named, or the largest id plus one."""
        return C.pess_dataset_states(self._address)

    @property
    def actions(self) -> int:
        """How many actions there are."""
        return C.pess_dataset_actions(self._address)

    @property
    def state(self) -> np.ndarray:
        """Ids of the states, one per transition."""
        return self._column("state", np.uint32)

    @property
    def action(self) -> np.ndarray:
        """Ids of the actions."""
        return self._column("action", np.uint32)

    @property
    def next_state(self) -> np.ndarray:
        """Ids of the states that followed."""
        return self._column("next_state", np.uint32)

    @property
    def reward(self) -> np.ndarray:
        return self._column("reward", np.float64)

    @property
    def terminal(self) -> np.ndarray:
        """Where an episode ended for good: value 0 follows."""
        return self._column("end", np.uint8) == TERMINAL

    @property
    def truncated(self) -> np.ndarray:
        """Where an episode was cut off: what followed is not in the log."""
        return self._column("end", np.uint8) == CUTOFF

    @property
    def episode(self) -> np.ndarray | None:
        return self._column("episode", np.int64)

    @property
    def step(self) -> np.ndarray | None:
        return self._column("step", np.int64)

    @property
    def probability(self) -> np.ndarray | None:
        """With what probability the policy that made the log took its action."""
        return self._column("probability", np.float64)

    @property
    def state_names(self) -> list[str] | None:
        """Names by id; None where the ids are the names."""
        return names_list(C.pess_dataset_state_names(self._address))

    @property
    def action_names(self) -> list[str] | None:
        return names_list(C.pess_dataset_action_names(self._address))

    @property
    def counts(self) -> "Counts":
        """n(s,a), n(s,a,s'), sums of rewards: counted once."""
        if self._counts is None:
            self._counts = Counts._of(make(C.pess_counts_create, self._address, 0), weakref.ref(self))
        return self._counts

    @property
    def reading(self) -> "Reading | None":
        """How the log was read: which column plays which role, what was derived and left out; None: from arrays."""
        found = C.pess_dataset_reading(self._address)
        return Reading(found) if found else None

    def inspect(self) -> "Inspection":
        """What is in the log, what is odd about it, what has to be declared."""
        pointer = make(C.pess_dataset_inspect, self._address)
        try:
            found = _abi.pess_inspection.from_address(pointer)
            seen = ctypes.cast(found.findings, ctypes.POINTER(_abi.pess_finding * max(1, found.finding_count))).contents
            findings = [
                Finding(word("pess_severity", f.severity) or "", text(f.code) or "", text(f.text) or "")
                for f in seen[: found.finding_count]
            ]
            return Inspection(facts(found), findings)
        finally:
            C.pess_inspection_destroy(pointer)

    def save(self, path: str | os.PathLike, format: str | None = None) -> None:
        """Writes the log; the ending of the name says how (.csv, .csv.gz, .npz, .pesslog) unless a format is given."""
        call(C.pess_dataset_write, self._address, os.fsencode(path), format.encode() if format else None)

    def to_frame(self) -> Any:
        """The log as a pandas DataFrame, with names where there are some."""
        import pandas

        def named(codes: np.ndarray, names: list[str] | None) -> Any:
            return codes if names is None else pandas.Categorical.from_codes(codes.astype(np.int64), names)

        columns = {
            "state": named(self.state, self.state_names), "action": named(self.action, self.action_names),
            "reward": self.reward, "next_state": named(self.next_state, self.state_names),
            "terminal": self.terminal, "truncated": self.truncated, "episode": self.episode, "step": self.step,
            "probability": self.probability,
        }  # fmt: skip
        return pandas.DataFrame({name: values for name, values in columns.items() if values is not None})

    @classmethod
    def from_frame(cls, frame: Any, **columns: Any) -> "Log":
        """A log from a pandas DataFrame, or from anything with `__arrow_c_stream__`: see `pessimist.frames`."""
        from .frames import log_from_arrow, log_from_frame

        if hasattr(frame, "__arrow_c_stream__") and type(frame).__module__.split(".")[0] != "pandas":
            return log_from_arrow(frame, **columns)
        return log_from_frame(frame, **columns)

    def __repr__(self) -> str:
        source = f" from {self.source}" if self.source else ""
        return f"Log{source} of {_sizes(len(self), self.states, self.actions)}"

    def _repr_html_(self) -> str:
        return self.inspect()._repr_html_()

    def __reduce__(self) -> Any:
        columns = self._columns()
        arrays = {
            name: self._column(name, dtype)
            for name, dtype in (
                ("state", np.uint32), ("action", np.uint32), ("next_state", np.uint32), ("reward", np.float64),
                ("end", np.uint8), ("episode", np.int64), ("step", np.int64), ("probability", np.float64),
            )
        }  # fmt: skip
        names = {what: names_list(getattr(columns, f"{what}_names")) for what in ("state", "action", "episode")}
        return _restore, (arrays, names, *self._declared, self.source, facts(columns.origin))


def _restore(
    columns: dict[str, Any], names: dict[str, Any], states: int, actions: int, source: str | None, origin: dict[str, Any]
) -> Log:
    log = Log.__new__(Log)
    log._create(columns, names, states, actions, origin)
    log.source = source
    return log


@takes("read")
def read(
    path: str | os.PathLike,
    *,
    state: str | Sequence[str] | None = None,
    action: str | Sequence[str] | None = None,
    reward: str | None = None,
    next_state: str | Sequence[str] | None = None,
    terminal: str | None = None,
    truncated: str | None = None,
    episode: str | Sequence[str] | None = None,
    step: str | None = None,
    probability: str | None = None,
    progress: Any = None,
    **settings: Any,
) -> Log:
    """Reads a log. The file's first bytes tell its format; `pessimist.formats` lists those there are. Columns are named by
    their roles, as for `Log.from_frame`: read(path, episode="patient", state=["ward", "severity"]).

    >>> import pessimist as ps
    >>> ps.read("examples/visits.csv")
    Log from examples/visits.csv of 500 transitions, 5 states, 3 actions
    >>> path = getfixture("tmp_path") / "own.csv"
    >>> _ = path.write_text("patient,ward,drug,outcome\\n7,ICU,treat,0\\n7,home,wait,1\\n")
    >>> ps.read(path, episode="patient", state="ward", action="drug", reward="outcome", last_row="terminal").state_names
    ['ICU', 'home']
    """
    settings = by_role({**settings, **{role: given for role, given in locals().items() if role in ROLES}})
    check_known("read", settings, [table("read")], ROLES)
    options = table("read").make(settings)
    with listening(progress):
        try:
            log = Log._of(make(C.pess_dataset_read, os.fsencode(path), ctypes.addressof(options)))
        except InputError as refused:
            if C.pess_counts_file(os.fsencode(path), ctypes.addressof(options)):
                raise InputError(f"{refused}, or read its counts with Counts.read") from None
            raise
    log.source = os.fspath(path)
    log._declared = (settings.get("states") or 0, settings.get("actions") or 0)
    return log


def read_rows_or_counts(path: str | os.PathLike) -> "Log | Counts":
    """A log or, where it was counted, its counts. The source is read once."""
    rows, counts = ctypes.c_void_p(), ctypes.c_void_p()
    call(C.pess_log_read, os.fsencode(path), None, ctypes.addressof(rows), ctypes.addressof(counts))
    if counts.value is not None:
        return Counts._of(counts.value, (os.path.abspath(path), {}))
    assert rows.value is not None
    log = Log._of(rows.value)
    log.source = os.fspath(path)
    return log


class Finding(NamedTuple):
    """What an inspection of a log found: how serious, a fixed word for programs, a sentence for people."""

    severity: str
    code: str
    text: str


class Reading(Record):
    """How a log was read. `columns` maps each column to (role, use), `settings` are those of `read` that make the
    reading explicit; numbers of rows that were derived or left out are attributes.

    >>> import pessimist as ps
    >>> reading = ps.read("examples/visits.csv").reading
    >>> reading.columns["episode"]
    ('episode', 'called-so')
    >>> reading.settings["separator"], reading.missing_rows
    ('comma', 0)
    """

    def __init__(self, pointer: int):
        super().__init__(info("pess_reading_get_info", pointer, "pess_reading_info"), _abi.pess_reading_info.docs)
        numbers, self.columns = self._facts, {}
        for index in range(numbers.pop("columns")):
            found = _abi.pess_reading_column()
            C.pess_reading_get_column(pointer, index, ctypes.addressof(found))
            self.columns[text(found.name)] = text(found.role), word("pess_column_use", found.use)
        self.settings = explicit(pointer)

    def __repr__(self) -> str:
        lines = [f"{name:<20}{role or '–':<14}{use}" for name, (role, use) in self.columns.items()]
        told = {name: value for name, value in self._facts.items() if value and name != "separator"}
        return "\n".join([*lines, *(f"{name:<20}{value}" for name, value in {**self.settings, **told}.items())])

    def _repr_html_(self) -> str:
        return html_table([(name, role or "–", use) for name, (role, use) in self.columns.items()], ("column", "role", "use"))


def explicit(pointer: int) -> dict[str, str]:
    """The settings of `read` that make a reading explicit."""
    options, out, found = C.pess_reading_options(pointer), ctypes.create_string_buffer(4000), {}
    for setting in table("read").rows.values():
        name, at = setting.name.encode(), ctypes.addressof(options)
        if not C.pess_setting_is_default(table("read").pointer, at, name):
            C.pess_setting_get(table("read").pointer, at, name, ctypes.addressof(out), len(out))
            found[setting.key] = out.value.decode()
    return found


class Inspection(Record):
    """What is in a log. `findings` are the sentences, the most serious first; the numbers are attributes."""

    def __init__(self, numbers: dict[str, Any], findings: list[Finding]):
        super().__init__(numbers, _abi.pess_inspection.docs)
        self.findings = findings

    @property
    def odd(self) -> list[str]:
        """Sentences about what is wrong, or seems so."""
        return [f.text for f in self.findings if f.severity == "warning"]

    def _lines(self) -> list[tuple[str, str]]:
        f = self._facts
        return [
            ("transitions", f"{f['rows']:,}"),
            ("states", f"{f['states']:,}: actions were taken in {f['states_seen']:,}, {f['terminal_states']:,} are terminal"),
            ("actions", f"{f['actions']:,}"),
            ("episodes", f"{f['episodes']:,}" if f["episodes"] else "not marked"),
            ("ends", f"{f['terminals']:,} terminal, {f['cutoffs']:,} cut off"),
            ("rewards", f"{f['reward_min']:g} to {f['reward_max']:g}, mean {f['reward_mean']:.6g}"),
            ("coverage", f"{f['pairs_seen']:,} of {f['pairs']:,} pairs seen, each {f['count_least']:,} to "
                         f"{f['count_most']:,} times, the median {f['count_median']:,} times"),
        ]  # fmt: skip

    def __repr__(self) -> str:
        lines = [f"{name:<13}{value}" for name, value in self._lines()]
        notes = [f.text for f in self.findings if f.severity != "warning"]
        for heading, sentences in (("Odd", self.odd), ("Worth knowing", notes)):
            if sentences:
                lines += ["", heading, *(f"  - {sentence}" for sentence in sentences)]
        return "\n".join(lines + ([] if self.odd else ["", "Nothing odd was found."]))

    def _repr_html_(self) -> str:
        notes = [f.text for f in self.findings if f.severity != "warning"]
        return html_table(self._lines()) + html_list("Odd", self.odd) + html_list("Worth knowing", notes)


class Counts(Handle):
    """How often each transition was seen: all that the tabular algorithms need of a log. Arrays are views, not copies."""

    _destroy = "pess_counts_destroy"

    @classmethod
    def _of(cls, handle: int, made_of: Any) -> "Counts":
        """made_of: a weak reference to the log, or path and settings; for pickling."""
        self = cls.__new__(cls)
        self._own(handle, made_of)
        self._problems = {}
        return self

    @classmethod
    def read(cls, path: str | os.PathLike, **settings: Any) -> "Counts":
        """Counts a file without holding it in memory; also files of counts (.pesscounts)."""
        settings = by_role(settings)
        check_known("Counts.read", settings, [table("read")], ROLES)
        options = table("read").make(settings)
        handle = make(C.pess_counts_read, os.fsencode(path), ctypes.addressof(options))
        return cls._of(handle, (os.path.abspath(path), settings))

    def _arrays(self) -> _abi.pess_counts_arrays:
        out = _abi.pess_counts_arrays()
        C.pess_counts_get_arrays(self._address, ctypes.addressof(out))
        return out

    def _pairs(self, name: str, dtype: Any) -> np.ndarray:
        arrays = self._arrays()
        return view(getattr(arrays, name), (arrays.states, arrays.actions), dtype, self)

    @property
    def counts(self) -> "Counts":
        return self

    @property
    def source(self) -> str | None:
        """The file they were read from; None: they are those of a log."""
        made_of = self._keep[0]
        return made_of[0] if isinstance(made_of, tuple) else None

    @property
    def facts(self) -> dict[str, Any]:
        """Sizes, transitions, episodes, the rewards' range."""
        return info("pess_counts_get_info", self._address, "pess_counts_info")

    @property
    def n(self) -> np.ndarray:
        """n(s,a), [S, A]."""
        return self._pairs("pair", np.int64)

    @property
    def terminal(self) -> np.ndarray:
        """How many of n(s,a) ended the episode, [S, A]."""
        return self._pairs("terminal", np.int64)

    @property
    def reward_sum(self) -> np.ndarray:
        """Sums of rewards, [S, A]."""
        return self._pairs("reward_sum", np.float64)

    @property
    def mean_reward(self) -> np.ndarray:
        """Mean rewards, [S, A]; 0 where there are none."""
        n = self.n
        return np.divide(self.reward_sum, n, out=np.zeros(n.shape), where=n > 0)

    @property
    def starts(self) -> np.ndarray | None:
        """How many episodes begin in each state, [S]; None where that is not known."""
        arrays = self._arrays()
        return view(arrays.starts, arrays.states, np.int64, self)

    @property
    def successors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(row, next_state, count): the successors of pair s*A + a are entries row[pair] … row[pair + 1] - 1."""
        arrays = self._arrays()
        return (
            view(arrays.row, arrays.states * arrays.actions + 1, np.int64, self),
            view(arrays.next, arrays.successors, np.uint32, self),
            view(arrays.next_count, arrays.successors, np.int64, self),
        )

    @property
    def states(self) -> int:
        return self._arrays().states

    @property
    def actions(self) -> int:
        return self._arrays().actions

    @property
    def state_names(self) -> list[str] | None:
        return names_list(C.pess_counts_state_names(self._address))

    @property
    def action_names(self) -> list[str] | None:
        return names_list(C.pess_counts_action_names(self._address))

    def __repr__(self) -> str:
        f = self.facts
        return f"Counts of {_sizes(f['transitions'], f['states'], f['actions'])}"

    def __reduce__(self) -> Any:
        """Of a file, which is read again; or of a log, which is pickled with it."""
        made_of = self._keep[0]
        if isinstance(made_of, tuple):
            return _counts_of_file, made_of
        log = made_of()
        if log is None:
            raise TypeError("the log of these counts is gone; keep it, or pickle the log itself")
        return _counts_of_log, (log,)


def _counts_of_file(path: str, settings: dict[str, Any]) -> Counts:
    return Counts.read(path, **settings)


def _counts_of_log(log: Log) -> Counts:
    counts = log.counts
    counts._keep = (*counts._keep, log)  # which has no other owner
    return counts

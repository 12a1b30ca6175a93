"""Datasets of observations, which networks learn from: collected in games, or one's own arrays."""
from __future__ import annotations

import contextlib
import ctypes
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from . import _abi
from ._arrays import address, integers, names_list, numbers, view
from ._library import C, ArgumentError, Handle, InputError, call, facts, info, listening, make, word
from ._settings import check_known, table, takes
from ._show import Record, html_table
from .environments import Env, VecEnv
from .logs import CUTOFF, TERMINAL, Log, _ends
from .own import OwnEnvironment
from .policies import Policy, as_policy
from .processes import MDP


KINDS = {word("pess_observation_kind", value): value for value in _abi.ENUMS["pess_observation_kind"].values()}


def _kind_of(obs: np.ndarray) -> str:
    """What an array of observations is made of: truth values are bits, pictures of uint8 are bytes, other integers bits
    where they are 0 and 1; the rest are floats."""
    if obs.dtype.kind == "b":
        return "bits"
    if obs.dtype.kind in "iu" and not (obs.dtype == np.uint8 and obs.ndim == 4):
        return "bits" if ((obs == 0) | (obs == 1)).all() else "floats"
    return "bytes" if obs.dtype == np.uint8 else "floats"


def _rows(seen: Any, length: int, board: tuple[int, ...]) -> np.ndarray:
    """Observations one below the other, [count, length]; a single one is a row of its own."""
    array = np.asarray(seen)
    if array.dtype.kind not in "buif":
        raise InputError(f"observations: found values of type {array.dtype}, expected numbers")
    if array.ndim == 1 or (any(board) and array.shape == tuple(board)):
        array = array[None]
    rows = array.reshape(len(array), -1) if array.ndim > 1 else array
    fits = rows.ndim == 2 and rows.shape[1] == length
    if not fits or (any(board) and array.ndim == 4 and array.shape[1:] != tuple(board)):
        expected = f"boards of {tuple(board)}" if board[0] * board[1] > 1 else f"{length} numbers each"
        raise InputError(f"observations: found shape {np.shape(seen)}, expected {expected}")
    return rows


def _board_of(obs: np.ndarray, kind: str) -> tuple[int, ...]:
    """Rows, columns and channels of pictures and boards; of bytes the shorter of the outer sides are the channels."""
    if obs.ndim != 4:
        return (0, 0, 0)
    first, middle, last = obs.shape[1:]
    return (middle, last, first) if kind == "bytes" and first < last else (first, middle, last)


def _channels_last(array: np.ndarray, board: tuple[int, ...]) -> np.ndarray:
    """Pictures [channels, rows, cols], one or many, as [rows, cols, channels]."""
    rows, cols, channels = board
    turned = array.ndim > 2 and any(board) and array.shape[-3:] == (channels, rows, cols) != board
    return np.moveaxis(array, -3, -1) if turned else array


def prepared(seen: Any, shape: _abi.pess_observation_shape) -> np.ndarray:
    """Observations as the library keeps them, [count, …]: bits packed, bytes, or floats. Packed bits stay as they are.

    >>> prepared([[1, 0, 0, 0, 0, 0, 0, 0, 1]], C.pess_observation_bits(9)).tolist()
    [[1, 1]]
    """
    size = C.pess_observation_bytes(ctypes.addressof(shape))
    kind = word("pess_observation_kind", shape.kind)
    array = np.asarray(seen)
    if kind == "bits" and array.dtype == np.uint8 and array.ndim == 2 and array.shape[1] == size != shape.length:
        return np.ascontiguousarray(array)
    board = (shape.rows, shape.cols, shape.channels)
    rows = _rows(_channels_last(array, board) if kind == "bytes" else array, shape.length, board)
    if kind == "floats":
        return np.ascontiguousarray(rows, np.float32)
    if kind == "bytes":
        if rows.dtype != np.uint8:
            raise InputError(f"observations: found values of type {rows.dtype}, expected bytes (uint8)")
        return np.ascontiguousarray(rows)
    if rows.dtype.kind != "b" and not ((rows == 0) | (rows == 1)).all():
        raise InputError("observations: found numbers other than 0 and 1, expected bits")
    return np.packbits(rows.astype(bool), axis=1, bitorder="little")


def _taken(action: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Actions as numbers, or else as vectors."""
    array = np.asarray(action)
    if array.ndim == 2 and array.shape[1] == 1 and array.dtype.kind in "bui":
        array = array[:, 0]
    if array.ndim != 2 or array.dtype.kind not in "buif":
        return np.ascontiguousarray(integers("action", array), np.int64), None
    return None, np.ascontiguousarray(array, np.float32)


def _following(obs: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which row has what came next, how each row ends, and the rows to keep. After a cut-off, and at the end of the log,
    nobody knows what came: that row is left out, and the episode is cut off at the row before it."""
    rows, end = np.arange(len(end)), end.copy()
    known = (end == TERMINAL) | ((end == 0) & (rows + 1 < len(end)))
    before = rows[~known & (end == CUTOFF)] - 1
    before = before[before >= 0]
    end[before[end[before] == 0]] = CUTOFF
    if not known.any():
        raise InputError(f"next_obs: found none, and no row of {len(end)} is followed by another; expected what came next")
    return np.where(end == TERMINAL, rows, rows + 1)[known], end, known


class Observations(Handle):
    """Observations, each different one kept once, and transitions between them: those of an episode follow each other.

    Arrays with one entry per transition: observations are boards or pictures [N, rows, cols, channels], or rows
    [N, length]; of bits (truth values, or 0 and 1), of bytes (pictures of uint8, whose channels may come before the
    rows: the shorter side are the channels), or of floats. Episodes end where `terminal` or `truncated` says so; the
    last transition is cut off where it does not. Without `next_obs` the next row has it; then the last row before a
    cut-off is left out. Actions are numbers from 0 on, [N] or [N, 1], or vectors [N, width] (torques, doses), which
    `number_actions` turns into numbers before anybody learns from them.

    >>> import numpy as np, pessimist as ps
    >>> states = np.eye(3, dtype=bool)
    >>> data = ps.Observations(states[[0, 1, 2, 0]], [0, 1, 0, 1], [0, 0, 1, 0], states[[1, 2, 0, 0]],
    ...                        terminal=[0, 0, 1, 0])
    >>> data.transitions, data.states, data.actions
    (4, 3, 2)
    """

    _destroy = "pess_observations_destroy"

    def __init__(
        self,
        obs: Any,
        action: Any,
        reward: Any,
        next_obs: Any = None,
        *,
        terminal: Any = None,
        truncated: Any = None,
        probability: Any = None,
        actions: int | None = None,
        kind: str | None = None,
        name: str = "own",
        notes: str | None = None,
    ):
        obs, kept = np.asarray(obs), None
        ended = terminal is not None or truncated is not None
        end = _ends(terminal, truncated) if ended else np.zeros(len(obs) if obs.ndim else 0, np.uint8)
        if next_obs is None:
            if not ended or obs.ndim < 2 or len(end) != len(obs):
                raise InputError("next_obs: found none; expected it, or terminal or truncated with a value for each row")
            follower, end, kept = _following(obs, end)
            next_obs = obs[follower]
        next_obs = np.asarray(next_obs)
        if kept is None and obs.shape != next_obs.shape or obs.ndim < 2:
            raise InputError(f"obs has shape {obs.shape}, next_obs {next_obs.shape}; expected the same, [N, …]")
        taken, vectors = _taken(action)
        kind = kind or _kind_of(obs)
        if kind not in KINDS:
            raise InputError(f"kind: found '{kind}', expected one of {', '.join(KINDS)}")
        shape = _abi.pess_observation_shape(KINDS[kind], int(np.prod(obs.shape[1:])), *_board_of(obs, kind))
        columns = {
            "state": prepared(obs, shape), "action": taken, "vector": vectors, "reward": numbers("reward", reward),
            "probability": numbers("probability", probability), "end": end,
        }  # fmt: skip
        for what, values in columns.items():
            if values is not None and len(values) != len(obs):
                name = "action" if what == "vector" else what
                raise InputError(f"{name}: found {len(values)} values, but {len(obs)} observations")
        if kept is not None:
            columns = {what: values if values is None else values[kept] for what, values in columns.items()}
        columns["next"] = prepared(next_obs, shape)
        count = actions or (1 if taken is None else int(taken.max(initial=-1)) + 1)
        handle = make(C.pess_observations_create, name.encode(), notes.encode() if notes else None,
                      ctypes.addressof(shape), count)  # fmt: skip
        self._own(handle)
        rows = _abi.pess_observations_rows(
            count=len(columns["end"]), width=0 if vectors is None else vectors.shape[1], **{n: address(v) for n, v in columns.items()}
        )
        call(C.pess_observations_append, handle, ctypes.addressof(rows))
        call(C.pess_observations_stop, handle)

    @classmethod
    def _of(cls, handle: int) -> "Observations":
        self = cls.__new__(cls)
        self._own(handle)
        return self

    @classmethod
    @takes("observations")
    def load(cls, path: str | os.PathLike, **settings: Any) -> "Observations":
        """Reads a dataset: .pessdata, .npz with D4RL's names, or HDF5 of Minari, D4RL or d3rlpy."""
        check_known("Observations.load", settings, [table("observations")])
        options = table("observations").make(settings)
        return cls._of(make(C.pess_observations_import, os.fsencode(path), ctypes.addressof(options)))

    def save(self, path: str | os.PathLike) -> None:
        call(C.pess_observations_write, self._address, os.fsencode(path))

    @property
    def facts(self) -> dict[str, Any]:
        """The game, how it was collected, sizes, returns of whole episodes."""
        return info("pess_observations_get_info", self._address, "pess_observations_info")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.facts[name]
        except KeyError:
            raise AttributeError(f"Observations has no '{name}'; it has {', '.join(self.facts)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.facts]

    def __len__(self) -> int:
        return self.facts["transitions"]

    def _view(self) -> _abi.pess_observations_view:
        out = _abi.pess_observations_view()
        C.pess_observations_get_view(self._address, ctypes.addressof(out))
        return out

    def _column(self, name: str, dtype: Any) -> np.ndarray:
        found = self._view()
        return view(getattr(found, name), found.transitions, dtype, self)

    @property
    def observations(self) -> np.ndarray:
        """The different observations, [states, …]: bits are packed. `state` and `next_state` are their numbers."""
        found = self._view()
        width, dtype = (found.bytes // 4, np.float32) if self._kind == "floats" else (found.bytes, np.uint8)
        return view(found.observations, (found.states, width), dtype, self)

    @property
    def _kind(self) -> str | None:
        out = _abi.pess_observations_info()
        C.pess_observations_get_info(self._address, ctypes.addressof(out))
        return word("pess_observation_kind", out.shape.kind)

    @property
    def state(self) -> np.ndarray:
        return self._column("state", np.int32)

    @property
    def next_state(self) -> np.ndarray:
        return self._column("next_state", np.int32)

    @property
    def action(self) -> np.ndarray:
        return self._column("action", np.uint8)

    @property
    def reward(self) -> np.ndarray:
        return self._column("reward", np.float32)

    @property
    def terminal(self) -> np.ndarray:
        return self._column("end", np.uint8) == 1

    @property
    def truncated(self) -> np.ndarray:
        return self._column("end", np.uint8) == 2

    def _space(self) -> _abi.pess_action_space:
        out = _abi.pess_action_space()
        C.pess_observations_actions(self._address, ctypes.addressof(out))
        return out

    @property
    def action_vectors(self) -> np.ndarray | None:
        """The vector that each action stands for, [actions, width]; before `number_actions` those that were logged,
        [transitions, width]; None: actions are numbers alone."""
        space, told = self._space(), self.facts
        if space.logged:  # a copy, as numbering gives them back
            return view(space.logged, (told["transitions"], space.width), np.float32, self).copy()
        return view(space.values, (told["actions"], space.width), np.float32, self)

    @property
    def action_names(self) -> list[str] | None:
        return names_list(self._space().names)

    @takes("actions")
    def number_actions(self, vectors: Any = None, **settings: Any) -> Record:
        """Numbers actions that were logged as vectors by the nearest of a few, so that learners can choose among them.
        What each number stands for is in `action_vectors` afterwards; the answer says what is lost by it. `vectors`
        are the few themselves, [actions, width]: the `action_vectors` of a policy, before it is scored on other data.

        >>> import numpy as np, pessimist as ps
        >>> obs, doses = np.eye(4), np.array([[0.0], [0.1], [1.0], [0.9]])
        >>> data = ps.Observations(obs, doses, [0, 0, 1, 1], obs)
        >>> data.number_actions(actions_grid="2").actions
        2
        >>> data.action.tolist(), data.action_vectors.ravel().tolist()
        ([0, 0, 1, 1], [0.0, 1.0])
        """
        check_known("number_actions", settings, [table("actions")])
        fit = _abi.pess_actions_fit()
        if vectors is None:
            options = table("actions").make(settings)
            call(C.pess_observations_number_actions, self._address, ctypes.addressof(options), ctypes.addressof(fit))
        elif settings:
            raise ArgumentError(f"vectors: found {next(iter(settings))} beside them, expected one of the two")
        else:
            chosen = np.ascontiguousarray(vectors, np.float32)
            if chosen.ndim != 2:
                raise ArgumentError(f"vectors: found an array of {chosen.ndim} dimensions, expected [actions, width]")
            call(C.pess_observations_number_actions_as, self._address, address(chosen), *chosen.shape,
                 ctypes.addressof(fit))
        return Record(facts(fit), _abi.pess_actions_fit.docs)

    def inspect(self) -> Record:
        """What to look at first: returns and lengths of whole episodes, rewards, transitions that repeat others, how
        often each action was taken, of floats the range of each feature, and of actions that are vectors that of each
        of their numbers.

        >>> import pessimist as ps
        >>> ps.collect("breakout", transitions=2000, seed=1).inspect().actions.sum()
        2000
        """
        pointer = make(C.pess_observations_inspect, self._address)
        try:
            found = _abi.pess_observations_inspection.from_address(pointer)
            told = facts(found)
            told["actions"] = view(found.actions, found.action_count, np.int64, None).copy()
            kind = np.dtype([(name, np.float64) for name, *_ in _abi.pess_feature_summary._fields_])
            for name, of, count in (("features", found.feature, found.feature_count),
                                    ("action_numbers", found.vector, found.vector_count)):
                at = ctypes.cast(of, ctypes.c_void_p).value
                numbers_of = view(at, (count, len(kind)), np.float64, None)
                told[name] = None if numbers_of is None else numbers_of.copy().view(kind)[:, 0]
            return Record(told, _abi.pess_observations_inspection.docs)
        finally:
            C.pess_observations_inspection_destroy(pointer)

    def to_log(self) -> Log:
        """The same as a log whose states are the different observations, for `solve`, `evaluate` and `certify`."""
        ended = self.terminal | self.truncated
        episode = np.cumsum(np.append(0, ended[:-1]))
        return Log(
            self.state.astype(np.uint32), self.action, self.reward, self.next_state.astype(np.uint32),
            terminal=self.terminal, truncated=self.truncated, episode=episode,
            states=self.facts["states"], actions=self.facts["actions"],
        )  # fmt: skip

    def policy_table(self, policy: Policy) -> Policy:
        """A policy of networks as a table over the different observations, for what works on `to_log()`."""
        return Policy(policy.probabilities_of(self.observations))

    def __repr__(self) -> str:
        f = self.facts
        return f"Observations of {f['game']}: {f['transitions']:,} transitions, {f['states']:,} different observations, {f['actions']} actions"

    def _repr_html_(self) -> str:
        return html_table([(key, value) for key, value in self.facts.items() if key != "notes"])

    def __reduce__(self) -> Any:
        ending, settings = "pessdata", {}
        if self._space().logged:  # vectors are for .npz, which does not name the game
            ending, settings = "npz", {"game": self.facts["game"]}
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, f"data.{ending}")
            self.save(path)
            return _again, (path.read_bytes(), ending, settings)


def _again(content: bytes, ending: str, settings: dict[str, Any]) -> Observations:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, f"data.{ending}")
        path.write_bytes(content)
        return Observations.load(path, **settings)


def environment_settings(env: Any, settings: dict[str, Any], kind: str) -> tuple[dict[str, Any], MDP | None]:
    """The settings of `kind` that an environment was made with, under those given; and its MDP."""
    if isinstance(env, MDP):
        return settings, env
    if isinstance(env, str):
        return {"game": env, **settings}, None
    if isinstance(env, OwnEnvironment):
        return ({"game": env.name, **settings} if kind == "collect" else settings), None
    if not isinstance(env, (Env, VecEnv)):
        raise ArgumentError(f"found {type(env).__name__}, expected an environment, the name of a game, or an MDP")
    from .environments import _kept

    made, mdp, *_ = _kept(env)
    if mdp is not None:
        made.pop("game", None)
    step_limit = made.get("step_limit")
    if step_limit == "0":
        made.pop("step_limit")
    return {**table(kind).pick({k: v for k, v in made.items() if k != "seed"}), **settings}, mdp


def own_callbacks(env: Any) -> Any:
    """The callbacks of an environment of one's own, for the time of a call; None of any other."""
    return env.acting() if isinstance(env, OwnEnvironment) else contextlib.nullcontext()


@takes("collect", without=["game"])
def collect(
    env: Env | VecEnv | OwnEnvironment | str | MDP,
    policy: Any = None,
    transitions: int | None = None,
    *,
    progress: Any = None,
    **settings: Any,
) -> Observations:
    """A dataset of a policy acting in a game or an MDP; None: uniformly at random. The environment names the game and
    its settings; it is not stepped itself.

    >>> import pessimist as ps
    >>> data = ps.collect("breakout", transitions=2000, seed=1)
    >>> data.transitions
    2000
    """
    settings, mdp = environment_settings(env, settings, "collect")
    check_known("collect", settings, [table("collect")])
    options = table("collect").make({**settings, "transitions": transitions})
    chosen = _player(policy, mdp)
    options.policy = chosen._address if chosen is not None else None
    options.mdp = mdp._address if mdp is not None else None
    with listening(progress), own_callbacks(env) as options.own:
        return Observations._of(make(C.pess_collect, ctypes.addressof(options)))


def _player(policy: Any, mdp: MDP | None) -> Policy | None:
    if policy is None:
        return None
    return Policy.load(policy, mdp) if isinstance(policy, (str, os.PathLike)) else as_policy(policy)

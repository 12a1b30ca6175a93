"""Environments to act in, one or many at once, with Gymnasium's functions: the MinAtar games, and known processes."""
from __future__ import annotations

import ctypes
import sys
from functools import partial
from typing import Any

import numpy as np

from . import _abi, _spaces
from ._arrays import address
from ._library import C, ArgumentError, Handle, _fast, call, failure, make as make_handle, text, thread
from ._settings import check_known, table, takes
from .processes import MDP

OBSERVATIONS = ("planes", "floats", "bits")
LAYOUTS = {"HWC": _abi.CONSTANTS["PESS_LAYOUT_HWC"], "CHW": _abi.CONSTANTS["PESS_LAYOUT_CHW"]}
TERMINAL, CUTOFF = _abi.CONSTANTS["PESS_END_TERMINAL"], _abi.CONSTANTS["PESS_END_CUTOFF"]
OTHER_ACTIONS = -2  # as in fast.c: they have to be made integers of 32 bits first


def spaces() -> Any:
    """Gymnasium's spaces where it is in use, else our own with the same functions."""
    return getattr(sys.modules.get("gymnasium"), "spaces", None) or _spaces


class _Steps(ctypes.Structure):
    """As pess_python_steps in fast.c: what to step."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("step", "final", "convert", "batch", "out", "error")),
        ("count", ctypes.c_int64), ("stride", ctypes.c_int64), ("cells", ctypes.c_int64), ("channels", ctypes.c_int32), ("layout", ctypes.c_int32),
    ]  # fmt: skip


class _Shape:
    """What an environment shows: packed bits, a board of bits or of floats, the state of a process, or what is made of
    floats or bytes to begin with, as it is ("data")."""

    def __init__(self, game: Any, observations: str, layout: str, bits: int, size: int):
        if observations not in OBSERVATIONS:
            raise ArgumentError(f"observations: found '{observations}', expected one of {', '.join(OBSERVATIONS)}")
        if layout not in LAYOUTS:
            raise ArgumentError(f"layout: found '{layout}', expected HWC or CHW")
        self.kind, self.layout, self.states = observations, LAYOUTS[layout], None if game else bits
        if game is None:
            self.kind, self.shape, self.dtype = "state", (), np.int64
        elif game.kind != _abi.CONSTANTS["PESS_OBSERVATION_BITS"]:
            floats = game.kind == _abi.CONSTANTS["PESS_OBSERVATION_FLOATS"]
            self.kind, self.dtype = "data", np.float32 if floats else np.uint8
            self.shape = (bits,) if game.rows * game.cols == 1 else (game.rows, game.cols, game.channels)
        elif observations == "bits":
            self.shape, self.dtype = (size,), np.uint8
        else:
            board = (game.rows, game.cols, game.channels)
            self.shape = board if layout == "HWC" else (board[2], board[0], board[1])
            self.dtype = np.bool_ if observations == "planes" else np.float32
        self.cells, self.channels = (game.rows * game.cols, game.channels) if game else (bits, 1)

    def space(self) -> Any:
        if self.kind == "state":
            return spaces().Discrete(self.states)
        return spaces().Box(*self.limits(), self.shape, self.dtype)

    def limits(self) -> tuple[float, float]:
        """Least and largest number of an observation."""
        if self.kind == "data":
            return (-np.inf, np.inf) if self.dtype == np.float32 else (0, 255)
        return 0, 255 if self.kind == "bits" else 1

    def converter(self) -> Any:
        """The function that makes it of packed bits; None: it is those."""
        return {"planes": C.pess_bits_to_bytes, "floats": C.pess_bits_to_floats}.get(self.kind)


def _options(function: str, settings: dict[str, Any]) -> Any:
    check_known(function, settings, [table("env")])
    return table("env").make(settings)


def _seeded(options: Any, seed: int | None, stream: int) -> Any:
    """A copy with another seed and stream."""
    again = type(options).from_buffer_copy(options)
    again.kept = options.kept
    if seed is not None:
        again.seed = seed
    again.stream = stream
    return again


def _game(name: str | None) -> Any:
    found = C.pess_env_find(name.encode()) if name else None
    return found.contents if found else None


class Env(Handle):
    """One environment with Gymnasium's functions. `make` makes it.

    >>> import pessimist as ps
    >>> env = ps.make("breakout", seed=1)
    >>> board, info = env.reset(seed=1)
    >>> board.shape
    (10, 10, 4)
    >>> board, reward, terminated, truncated, info = env.step(0)
    >>> reward, terminated, truncated
    (0.0, False, False)
    """

    _destroy = "pess_env_destroy"
    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 10}
    spec = None

    def __init__(self, options: Any, mdp: MDP | None, start: Any, shape: dict[str, str], render_mode: str | None):
        self._options, self._mdp, self._start, self._wanted = options, mdp, start, shape
        self.render_mode = render_mode
        self._create(options)
        game = C.pess_env_get_info(self._address)
        self.game = game.contents if game else None
        self._shape = _Shape(self.game, bits=C.pess_env_bits(self._address), size=C.pess_env_bytes(self._address), **shape)
        self.observation_space = self._shape.space()
        self.action_space = spaces().Discrete(C.pess_env_actions(self._address))
        self._result = _abi.pess_env_step_result()
        self._score = 0.0

    def _create(self, options: Any) -> None:
        self.__del__()
        at = ctypes.addressof(options)
        if self._mdp is None:
            handle = make_handle(C.pess_env_create, at)
        else:
            handle = make_handle(C.pess_env_create_mdp, self._mdp._address, address(self._start), at)
        self._own(handle)

    @property
    def unwrapped(self) -> "Env":
        return self

    def _observation(self) -> Any:
        shape = self._shape
        if shape.kind == "state":
            return int(C.pess_env_state(self._address))
        out = np.empty(shape.shape, shape.dtype)
        if shape.kind in ("bits", "data"):
            C.pess_env_observe_bits(self._address, out.ctypes.data)
        elif shape.kind == "planes":
            C.pess_env_observe_bytes(self._address, shape.layout, out.ctypes.data)
        else:
            C.pess_env_observe_floats(self._address, shape.layout, out.ctypes.data)
        return out

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """A new episode; with a seed the random numbers start again."""
        if seed is not None:
            self._create(_seeded(self._options, seed, self._options.stream))
        else:
            call(C.pess_env_reset, self._address)
        self._score = 0.0
        return self._observation(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One step: observation, reward, terminated, truncated, info."""
        call(C.pess_env_step, self._address, int(action), ctypes.addressof(self._result))
        end, reward = self._result.end, self._result.reward
        self._score += reward
        return self._observation(), reward, end == TERMINAL, end == CUTOFF, {"action": self._result.action}

    def render(self) -> Any:
        """A picture [height, width, 3] for "rgb_array", text for "ansi", else None."""
        if self.game is None or self.render_mode is None or self._shape.kind == "data":
            return None
        bits = np.empty(C.pess_env_bytes(self._address), np.uint8)
        C.pess_env_observe_bits(self._address, address(bits))
        game = ctypes.addressof(self.game)
        if self.render_mode == "ansi":
            return self._text(game, bits)
        width, height = ctypes.c_int(), ctypes.c_int()
        C.pess_env_picture_size(game, 16, ctypes.addressof(width), ctypes.addressof(height))
        pixels = np.empty((height.value, width.value), np.uint8)
        colours = np.zeros((_abi.CONSTANTS["PESS_PALETTE_COLOURS"], 3), np.uint8)
        C.pess_env_palette(game, address(colours))
        C.pess_env_picture(game, address(bits), 16, int(self._score), address(pixels))
        return colours[pixels]

    def _text(self, game: int, bits: np.ndarray) -> str:
        top = np.empty((self.game.rows, self.game.cols), np.intc)
        C.pess_env_top_channels(game, address(bits), address(top))
        channels = ctypes.cast(self.game.channel, ctypes.POINTER(_abi.pess_env_channel * self.game.channels)).contents
        glyphs = [channel.glyph.decode() for channel in channels]
        return "\n".join("".join(glyphs[c] if c >= 0 else "." for c in row) for row in top)

    def close(self) -> None:
        """Nothing is left open."""

    def save(self) -> bytes:
        """The whole state, random numbers included."""
        size = C.pess_env_save_size(self._address)
        out = np.empty(size, np.uint8)
        call(C.pess_env_save, self._address, address(out), size)
        return out.tobytes()

    def restore(self, state: bytes) -> None:
        """Back to where `save` was called."""
        content = np.frombuffer(state, np.uint8)
        call(C.pess_env_restore, self._address, address(content), len(content))

    def __reduce__(self) -> Any:
        return _env_again, (_kept(self), self.render_mode, self.save())

    def __repr__(self) -> str:
        name = text(self.game.name) if self.game else repr(self._mdp)
        return f"Env {name}: {self.observation_space}, {self.action_space}"


def _reply(count: int, shape: _Shape) -> tuple[np.ndarray, ...]:
    """New arrays that a step writes to, in the order of fast.c: observations, rewards, terminated, truncated, the last
    observations of what has ended, and whether it has."""
    observations = np.zeros((count, *shape.shape), shape.dtype)
    flags = [np.zeros(count, np.bool_) for _ in range(3)]
    return observations, np.zeros(count), flags[0], flags[1], np.zeros_like(observations), flags[2]


class VecEnv(Handle):
    """Many environments stepped in one call, with the functions of Gymnasium's vector environments. `make_vec` makes it.

    Where an episode ends, its environment is reset in the same step: the observation is then the first of the next
    episode, and info["final_obs"][i] the last of the old, where info["_final_obs"][i], and zeros elsewhere. What step returns is the
    caller's: it does not change as long as he holds it, and is written to again when he has let go of it. Without
    `copy`, step returns the same arrays each time, written anew.

    >>> import numpy as np, pessimist as ps
    >>> envs = ps.make_vec("breakout", 8, observations="bits", seed=1)
    >>> bits, info = envs.reset(seed=1)
    >>> bits.shape
    (8, 50)
    >>> bits, rewards, terminated, truncated, info = envs.step(np.zeros(8, np.int32))
    """

    _destroy = "pess_batch_destroy"
    metadata = {"render_modes": [], "autoreset_mode": "SameStep"}
    spec = None
    render_mode = None

    def __init__(
        self, options: Any, count: int, threads: int, mdp: MDP | None, start: Any, shape: dict[str, str], copy: bool
    ):
        self._options, self._mdp, self._start, self._threads, self._wanted = options, mdp, start, threads, shape
        self.num_envs, self.copy, self._stream = int(count), copy, options.stream
        self._create(options)
        game = None if mdp is not None else _game(text(options.game))
        self._game = game
        size = C.pess_batch_bytes(self._address)
        self._shape = _Shape(game, bits=C.pess_batch_bits(self._address), size=size, **shape)
        self.single_observation_space = self._shape.space()
        self.single_action_space = spaces().Discrete(C.pess_batch_actions(self._address))
        self.action_space = spaces().MultiDiscrete([self.single_action_space.n] * self.num_envs)
        self.observation_space = self._batch_space()
        self._allocate()
        self._prepare()

    def _batch_space(self) -> Any:
        if self._shape.kind == "state":
            return spaces().MultiDiscrete([self.single_observation_space.n] * self.num_envs)
        return spaces().Box(*self._shape.limits(), (self.num_envs, *self._shape.shape), self._shape.dtype)

    def _create(self, options: Any) -> None:
        self.__del__()
        more = ctypes.addressof(options), self.num_envs, self._threads
        if self._mdp is None:
            handle = make_handle(C.pess_batch_create, *more)
        else:
            handle = make_handle(C.pess_batch_create_mdp, self._mdp._address, address(self._start), *more)
        self._own(handle)

    def _allocate(self) -> None:
        """The arrays of those who observe without a step, and of steps without `copy`."""
        self._ours = _reply(self.num_envs, self._shape)
        self._observations, self._rewards, self._terminated, self._truncated, self._last, self._ended = self._ours
        self._ends = np.zeros(self.num_envs, np.uint8)
        self._out = _abi.pess_batch_out(rewards=address(self._rewards), ends=address(self._ends))
        field = {"bits": "bits", "data": "bits", "planes": "bytes", "floats": "floats", "state": "states"}[self._shape.kind]
        setattr(self._out, field, address(self._observations))
        self._out.layout = self._shape.layout
        self._error = _abi.pess_error()

    def _prepare(self) -> None:
        """The step in C, where there is one for this kind of observations."""
        self._step = None
        if _fast is None or self._shape.kind == "state":
            return
        shape, convert = self._shape, self._shape.converter()
        functions = {"step": C.pess_batch_step, "final": C.pess_batch_final_bits, "convert": convert}
        steps = _Steps(
            batch=self._address, out=ctypes.addressof(self._out), error=ctypes.addressof(self._error),
            count=self.num_envs, stride=self._last[0].nbytes, cells=shape.cells, channels=shape.channels,
            layout=shape.layout,
            **{name: ctypes.cast(f, ctypes.c_void_p).value if f else None for name, f in functions.items()},
        )  # fmt: skip
        make = partial(_reply, self.num_envs, shape) if self.copy else partial(tuple, self._ours)
        self._step = _fast.Stepper(ctypes.addressof(steps), make, not self.copy).step

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        """New episodes for all: with the seed's random numbers, or without a seed with fresh ones."""
        if seed is not None:
            self._stream = self._options.stream
        else:
            self._stream += self.num_envs
        self._create(_seeded(self._options, seed, self._stream))
        self._prepare()
        C.pess_batch_observe(self._address, ctypes.addressof(self._out))
        return self._observations.copy(), {}

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """One step of all: observations, rewards, terminated, truncated, info."""
        step = self._step or self._plain_step
        told = step(actions)
        if type(told) is tuple:
            return told
        if told == OTHER_ACTIONS:
            told = step(self._integers(actions))
        if type(told) is not tuple:
            thread.error.status, thread.error.message = self._error.status, self._error.message
            thread.error.remedy = None
            raise failure()
        return told

    def _integers(self, actions: Any) -> np.ndarray:
        array = np.asarray(actions)
        if array.shape != (self.num_envs,) or array.dtype.kind not in "iu":
            raise ArgumentError(
                f"actions: found {array.dtype} of shape {array.shape}, expected {self.num_envs} integers"
            )
        return np.ascontiguousarray(array, np.int32)

    def _plain_step(self, actions: np.ndarray) -> Any:
        """Through ctypes: what a step returns, or the status of a step that was refused, or OTHER_ACTIONS."""
        if type(actions) is not np.ndarray or actions.dtype != np.int32 or actions.shape != (self.num_envs,):
            return OTHER_ACTIONS
        if not actions.flags.c_contiguous:
            return OTHER_ACTIONS
        status = C.pess_batch_step(
            self._address, actions.ctypes.data, ctypes.addressof(self._out), ctypes.addressof(self._error)
        )
        if status:
            return status
        np.equal(self._ends, TERMINAL, out=self._terminated)
        np.equal(self._ends, CUTOFF, out=self._truncated)
        np.not_equal(self._ends, 0, out=self._ended)
        ended = np.flatnonzero(self._ended)
        self._last[...] = 0
        for index in ended:
            self._tell_last(int(index))
        told = [array.copy() for array in self._ours] if self.copy else self._ours
        return (*told[:4], {"final_obs": told[4], "_final_obs": told[5]} if len(ended) else {})

    def _tell_last(self, index: int) -> None:
        """The last observation of an episode that has ended."""
        shape = self._shape
        if shape.kind == "state":
            self._last[index] = C.pess_batch_final_state(self._address, index)
            return
        bits = np.empty(C.pess_batch_bytes(self._address), np.uint8)
        C.pess_batch_final_bits(self._address, index, address(bits))
        convert = shape.converter()
        if convert is None:
            self._last[index] = bits.view(shape.dtype).reshape(shape.shape)
        else:
            convert(address(bits), shape.cells, shape.channels, shape.layout, address(self._last[index]))

    def close(self) -> None:
        """Nothing is left open."""

    def save(self) -> bytes:
        """The whole state of all, random numbers included."""
        size = C.pess_batch_save_size(self._address)
        out = np.empty(size, np.uint8)
        call(C.pess_batch_save, self._address, address(out), size)
        return out.tobytes()

    def restore(self, state: bytes) -> np.ndarray:
        """Back to where `save` was called; returns the observations there."""
        content = np.frombuffer(state, np.uint8)
        call(C.pess_batch_restore, self._address, address(content), len(content))
        C.pess_batch_observe(self._address, ctypes.addressof(self._out))
        return self._observations.copy()

    def __len__(self) -> int:
        return self.num_envs

    def __reduce__(self) -> Any:
        return _vec_again, (_kept(self), self.num_envs, self._threads, self.copy, self.save())

    def __repr__(self) -> str:
        name = text(self._game.name) if self._game else repr(self._mdp)
        return f"VecEnv of {self.num_envs} {name}: {self.single_observation_space}, {self.single_action_space}"


def _kept(env: Any) -> tuple[Any, ...]:
    """What an environment was made with."""
    settings = {}
    for setting in table("env").rows.values():
        out = ctypes.create_string_buffer(200)
        at = ctypes.addressof(env._options)
        C.pess_setting_get(table("env").pointer, at, setting.name.encode(), ctypes.addressof(out), len(out))
        if out.value:
            settings[setting.key] = out.value.decode()
    return settings, env._mdp, env._start, env._wanted


def _env_again(kept: tuple[Any, ...], render_mode: str | None, state: bytes) -> Env:
    settings, mdp, start, shape = kept
    env = Env(_options("make", settings), mdp, start, shape, render_mode)
    env.restore(state)
    return env


def _vec_again(kept: tuple[Any, ...], count: int, threads: int, copy: bool, state: bytes) -> VecEnv:
    settings, mdp, start, shape = kept
    envs = VecEnv(_options("make_vec", settings), count, threads, mdp, start, shape, copy)
    envs.restore(state)
    return envs


def _source(env: Any, start: Any, settings: dict[str, Any]) -> tuple[Any, MDP | None, Any]:
    """Options, process and start of a game's name or of an MDP."""
    if isinstance(env, MDP):
        return _options("make", settings), env, env._start(start)
    return _options("make", {**settings, "game": env}), None, None


@takes("env", without=["game"])
def make(
    env: str | MDP,
    *,
    observations: str = "planes",
    layout: str = "HWC",
    start: Any = None,
    render_mode: str | None = None,
    **settings: Any,
) -> Env:
    """A game (`pessimist.games`) or a control problem (`pessimist.controls`) by its name, or an MDP, to act in with
    Gymnasium's functions. Observations of games are "planes" (bool), "floats" or "bits" (packed); those of control
    problems are floats, or bytes of a picture; those of an MDP are its states.

    >>> import pessimist as ps
    >>> ps.make("cartpole", seed=1).reset(seed=1)[0].dtype
    dtype('float32')
    """
    options, mdp, begin = _source(env, start, settings)
    return Env(options, mdp, begin, {"observations": observations, "layout": layout}, render_mode)


@takes("env", without=["game"])
def make_vec(
    env: str | MDP,
    num_envs: int = 1,
    *,
    observations: str = "planes",
    layout: str = "HWC",
    start: Any = None,
    threads: int = 1,
    copy: bool = True,
    **settings: Any,
) -> VecEnv:
    """Many environments that step together: the same as `num_envs` of `make`, at any number of threads."""
    options, mdp, begin = _source(env, start, settings)
    shape = {"observations": observations, "layout": layout}
    return VecEnv(options, num_envs, threads, mdp, begin, shape, copy)

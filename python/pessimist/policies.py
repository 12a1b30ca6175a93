"""Policies: tables over states, and networks over observations. They act, and are kept in files."""
from __future__ import annotations

import ctypes
import os
import tempfile
from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np

from . import _abi
from ._arrays import address, column, encode, is_names, names_address, view
from ._library import C, ArgumentError, Handle, InputError, call, info, make
from ._settings import check_known, table
from ._show import counted_noun, html_table

SHOWN_STATES = 20


def generator(rng: Any) -> np.random.Generator:
    """A NumPy generator: given, or made from a seed."""
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)


class Policy(Handle):
    """Probabilities of actions given what is seen.

    A table is made of an array [S, A] whose rows sum to one (zero for terminal states), and behaves as that array; for
    a finite horizon of [steps, S, A], a table for each step. Policies of networks come from `train` and from files.

    >>> import pessimist as ps
    >>> policy = ps.Policy([[0.25, 0.75], [1, 0]], action_names=["wait", "treat"])
    >>> policy.act([0, 1])
    array([1, 0])
    >>> policy.act([0, 0, 0, 0], rng=1)
    array([1, 1, 0, 1])
    >>> float(policy[0, 1])
    0.75
    """

    _destroy = "pess_policy_destroy"

    def __init__(
        self,
        probabilities: Any,
        *,
        state_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
    ):
        try:
            table = np.ascontiguousarray(probabilities, np.float64)
        except (TypeError, ValueError):
            found = type(probabilities).__name__
            raise InputError(f"a policy: found {found}, expected probabilities [states, actions]") from None
        if table.ndim not in (2, 3):
            raise InputError(
                f"a policy: found an array of {table.ndim} dimensions, expected [states, actions] or [steps, states, actions]"
            )
        sizes = table.shape if table.ndim == 3 else (1, *table.shape)
        self._begin(make(C.pess_policy_create_steps, *sizes, address(table)), state_names, action_names)

    def _begin(self, handle: int, state_names: Any = None, action_names: Any = None) -> None:
        self._own(handle)
        self.state_names = list(state_names) if state_names is not None else None
        self.action_names = list(action_names) if action_names is not None else None

    @classmethod
    def _of(cls, handle: int, state_names: Any = None, action_names: Any = None) -> "Policy":
        self = cls.__new__(cls)
        self._begin(handle, state_names, action_names)
        return self

    @classmethod
    def _copy(cls, handle: int, state_names: Any = None, action_names: Any = None) -> "Policy":
        """A table that somebody else owns."""
        sizes = _steps_of(handle), C.pess_policy_states(handle), C.pess_policy_actions(handle)
        out = make(C.pess_policy_create_steps, *sizes, C.pess_policy_probabilities(handle))
        return cls._of(out, state_names, action_names)

    @classmethod
    def load(cls, path: str | os.PathLike, log: Any = None, *, horizon: int | None = None) -> "Policy":
        """Reads a policy. A table (CSV) needs the log, the counts or the MDP it is meant for, which have its states,
        actions and names; networks (.pesspolicy, .pessnet) need none. A file with the column step is for a log or
        counts, and for the horizon that it has steps for."""
        model, kept_model, state_names, action_names = None, None, None, None
        if log is not None:
            model, kept_model = log._model()
            state_names, action_names = log.state_names, log.action_names
        elif C.pess_file_kind_of(os.fsencode(path)) == _abi.CONSTANTS["PESS_FILE_OTHER"]:
            return _load_table(path)
        if horizon is not None and hasattr(log, "counts"):
            out = ctypes.c_void_p()
            refuse = _abi.CONSTANTS["PESS_UNKNOWN_REFUSE"]
            call(C.pess_policy_read_for_log, os.fsencode(path), log.counts._address, model, refuse, horizon,
                 ctypes.addressof(out), None)  # fmt: skip
            return cls._of(out.value, state_names, action_names)
        states, kept = names_address(state_names)
        actions, kept_too = names_address(action_names)
        handle = make(C.pess_policy_read, os.fsencode(path), model, states, actions)
        return cls._of(handle, state_names, action_names)

    @classmethod
    def from_arrays(cls, arrays: str | os.PathLike | Mapping[str, Any], **settings: Any) -> "Policy":
        """A policy of one network that another program trained: arrays that end in ".weight" and ".bias", layer by layer,
        in a dictionary (PyTorch's `net.state_dict()`) or in a file (.npz). Settings are those of `pess net import`:
        network, input, board, acts.

        >>> import numpy as np, pessimist as ps
        >>> ps.Policy.from_arrays({"head.weight": np.eye(2, 4), "head.bias": np.zeros(2)}).act([[0, 1, 0, 0]]).tolist()
        [1]
        """
        check_known("from_arrays", settings, [table("import")])
        options = table("import").make(settings)
        if isinstance(arrays, Mapping):
            with tempfile.TemporaryDirectory() as scratch:
                path = Path(scratch, "arrays.npz")
                np.savez(path, **{name: np.asarray(values) for name, values in arrays.items()})
                return cls._import(path, options)
        return cls._import(arrays, options)

    @classmethod
    def _import(cls, path: str | os.PathLike, options: Any) -> "Policy":
        return cls._of(make(C.pess_policy_import, os.fsencode(path), ctypes.addressof(options)))

    def save(self, path: str | os.PathLike) -> None:
        """Writes the policy: CSV (state,action,probability) for a table, .pesspolicy for networks."""
        states, kept = names_address(self.state_names)
        actions, kept_too = names_address(self.action_names)
        call(C.pess_policy_write, self._address, os.fsencode(path), states, actions)

    def export(self, path: str | os.PathLike) -> None:
        """Writes a policy of networks for programs that do not have Pessimist. The ending of the name says how: ".onnx" is
        a model that takes observations and gives actions, ".c" one C file with policy_act and policy_probabilities, ".npz"
        the arrays of its one network by PyTorch's names."""
        call(C.pess_policy_export, self._address, os.fsencode(path))

    # ---- looking

    @property
    def facts(self) -> dict[str, Any]:
        """Its kind ("table" or "networks"), rule, sizes, how it was made."""
        return info("pess_policy_get_info", self._address, "pess_policy_info")

    @property
    def action_vectors(self) -> np.ndarray | None:
        """The vector that each action stands for, [actions, width]; None: actions are numbers alone."""
        about = _abi.pess_policy_info()
        C.pess_policy_get_info(self._address, ctypes.addressof(about))
        return view(about.action_values, (about.actions, about.action_width), np.float32, self)

    @property
    def probabilities(self) -> np.ndarray:
        """[S, A] of a table, [steps, S, A] of one for a finite horizon, without a copy."""
        found = view(C.pess_policy_probabilities(self._address), self.shape, np.float64, self)
        if found is None:
            raise ArgumentError("a policy of networks has no table of probabilities: ask it with observations")
        return found

    @property
    def shape(self) -> tuple[int, ...]:
        """(S, A), or (steps, S, A) of a table for a finite horizon."""
        table = C.pess_policy_states(self._address), C.pess_policy_actions(self._address)
        return table if self.steps <= 1 else (self.steps, *table)

    @property
    def steps(self) -> int:
        """1: the same table at every step; more: a table for each step of a finite horizon; 0: of networks."""
        return _steps_of(self._address)

    @property
    def is_table(self) -> bool:
        return bool(C.pess_policy_probabilities(self._address))

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.probabilities, dtype)

    def __getitem__(self, index: Any) -> Any:
        return self.probabilities[index]

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        return True  # although networks have no states to count

    # ---- acting

    def _probabilities_at(self, seen: Any, step: Any) -> np.ndarray:
        """[count, A] at states or at observations."""
        if self.is_table:
            states = self._states(seen)
            return self.probabilities[states] if self.steps == 1 else self.probabilities[self._step(step), states]
        return self._asked(C.pess_policy_observation_probabilities, seen, np.float64)

    def _asked(self, function: Any, seen: Any, dtype: Any) -> np.ndarray:
        """What networks say of each action at observations."""
        from .observations import prepared

        about = _abi.pess_policy_info()
        C.pess_policy_get_info(self._address, ctypes.addressof(about))
        rows = prepared(seen, about.shape)
        out = np.empty((len(rows), about.actions), dtype)
        call(function, self._address, address(rows), rows.shape[1] * rows.itemsize, len(rows), address(out))
        return out

    def _step(self, step: Any) -> np.ndarray:
        if step is None:
            raise ArgumentError(f"step: the policy has a table for each of {self.steps} steps; say which, from 0 on")
        found = np.asarray(step)
        if found.dtype.kind not in "iu" or ((found < 0) | (found >= self.steps)).any():
            raise InputError(f"step: found {step!r}, expected integers from 0 to {self.steps - 1}")
        return found

    def _states(self, seen: Any) -> np.ndarray:
        array = column("states", np.atleast_1d(seen))
        if is_names(array):
            if self.state_names is None:
                raise InputError("states: found names, but the policy knows its states by ids alone")
            return encode({"states": array}, self.state_names)[0]["states"].astype(np.int64)
        states = encode({"states": array})[0]["states"].astype(np.int64)
        if states.size and states.max() >= self.shape[-2]:
            row = int(states.argmax())
            raise InputError(f"states: row {row}: found {states[row]}, expected ids below {self.shape[-2]}")
        return states

    def act(self, seen: Any, rng: Any = None, *, step: Any = None) -> np.ndarray:
        """What to do at each state (ids or names) or each observation. Without `rng` the most probable action, the
        first of equals; with a NumPy generator or a seed a draw. States by name are answered with actions by name. A
        policy for a finite horizon is asked for a `step`, from 0: one for all, or one for each state."""
        probabilities = self._probabilities_at(seen, step)
        if rng is None:
            chosen = probabilities.argmax(axis=1)
        else:
            drawn = generator(rng).random(len(probabilities))
            total = probabilities.cumsum(axis=1)
            chosen = np.minimum((total <= drawn[:, None]).sum(axis=1), probabilities.shape[1] - 1)
        if self.action_names is not None and self.is_table and is_names(np.atleast_1d(np.asarray(seen))):
            return np.array(self.action_names, object)[chosen]
        return chosen

    predict = act

    def probabilities_of(self, seen: Any, *, step: Any = None) -> np.ndarray:
        """Probabilities of all actions at states or observations, [count, A]; `step` as in `act`."""
        return self._probabilities_at(seen, step)

    def outputs(self, observations: Any) -> np.ndarray:
        """What the networks that give values say of each action, [count, A]; of imitation the log odds."""
        return self._asked(C.pess_policy_outputs, observations, np.float32)

    def soften(self, epsilon: float, log: Any) -> "Policy":
        """(1-ε)π + ε·uniform over the actions that each state of the log or MDP has."""
        model, kept = log._model()
        handle = make(C.pess_policy_soften, self._address, model, epsilon)
        return Policy._of(handle, self.state_names, self.action_names)

    # ---- how it looks

    def _name(self, names: list[str] | None, index: int) -> str:
        return names[index] if names is not None else str(index)

    def _lines(self) -> list[tuple[str, str]]:
        found = []
        states, actions = self.shape[-2:]
        for place, row in enumerate(self.probabilities.reshape(-1, actions)):
            does = [
                self._name(self.action_names, int(a)) + ("" if row[a] == 1 else f" {row[a]:.3g}")
                for a in np.flatnonzero(row)
            ]
            step = f"step {place // states}, " if self.steps > 1 else ""
            if does:
                found.append((step + self._name(self.state_names, place % states), ", ".join(does)))
        return found

    def __repr__(self) -> str:
        facts = self.facts
        if not self.is_table:
            return f"Policy of networks, rule {facts['rule']}, {counted_noun(facts['actions'], 'action')}, {facts['parameters']:,} parameters"
        states, actions = self.shape[-2:]
        if self.steps * states > SHOWN_STATES:
            steps = f" at each of {self.steps} steps" if self.steps > 1 else ""
            return f"Policy over {states:,} states{steps}, {counted_noun(actions, 'action')}"
        return "\n".join(f"{state}: {does}" for state, does in self._lines())

    def _repr_html_(self) -> str:
        if not self.is_table or self.steps * self.shape[-2] > SHOWN_STATES:
            return f"<p>{self!r}</p>"
        return html_table(self._lines(), ("state", "action"))

    def __reduce__(self) -> Any:
        if self.is_table:
            return _table_again, (np.array(self.probabilities), self.state_names, self.action_names)
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "policy.pesspolicy")
            self.save(path)
            return _networks_again, (path.read_bytes(),)


def _steps_of(handle: int) -> int:
    about = _abi.pess_policy_info()
    C.pess_policy_get_info(handle, ctypes.addressof(about))
    return about.steps


def _table_again(table: np.ndarray, state_names: Any, action_names: Any) -> Policy:
    return Policy(table, state_names=state_names, action_names=action_names)


def _networks_again(content: bytes) -> Policy:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "policy.pesspolicy")
        path.write_bytes(content)
        return Policy.load(path)


def as_policy(policy: Any) -> Policy:
    """A policy as it is, that of a solution, a choice or a training, or one of an array [states, actions]."""
    found = policy if isinstance(policy, Policy) else getattr(policy, "policy", None)
    return found if isinstance(found, Policy) else Policy(policy)


def _load_table(path: str | os.PathLike) -> Policy:
    """A table by itself: as many states and actions as it names."""
    import csv

    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    try:
        states, actions = [r["state"] for r in rows], [r["action"] for r in rows]
        shares = np.array([float(r["probability"]) for r in rows])
        t = np.array([int(r.get("step", 0)) for r in rows], np.int64)
        if t.min(initial=0) < 0:
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{os.fspath(path)}: no policy; expected the columns state, action and probability") from None

    def numbered(texts: list[str]) -> tuple[np.ndarray, list[str] | None]:
        if all(t.isdigit() for t in texts):
            return np.array(texts, np.int64), None
        coded, names = encode({"policy": texts})
        return coded["policy"].astype(np.int64), names

    s, state_names = numbered(states)
    a, action_names = numbered(actions)
    table = np.zeros((int(t.max(initial=0)) + 1, int(s.max(initial=-1)) + 1, int(a.max(initial=-1)) + 1))
    np.add.at(table, (t, s, a), shares)
    return Policy(table, state_names=state_names, action_names=action_names)

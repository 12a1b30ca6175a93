"""Learning with networks from a fixed dataset of observations, players, and how well they play."""
from __future__ import annotations

import csv
import ctypes
import os
import tempfile
from pathlib import Path
from typing import Any, Callable

import numpy as np

from . import _abi
from ._library import C, Interrupted, call, expect, facts, listening
from ._settings import Table, check_known, table, takes, written
from ._show import Record, matplotlib_pyplot
from .observations import Observations, _player, environment_settings, own_callbacks
from .policies import Policy
from .processes import MDP


class _Updates:
    """Tells `on_update` of every line that a training adds to its log.csv."""

    def __init__(self, path: Path, told: Callable[[dict[str, Any]], Any], listener: Any):
        self.path, self.told, self.listener, self.seen = path, told, listener, 0

    def __call__(self, what: str, done: float, total: float, unit: str) -> bool:
        going = self.catch_up()
        if callable(self.listener):
            going = self.listener(what, done, total, unit) is not False and going
        return going

    def catch_up(self) -> bool:
        going = True
        for row in rows_of(self.path)[self.seen :]:
            self.seen += 1
            going = self.told(row) is not False and going
        return going


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The lines of a log.csv, numbers as numbers; a line that is not written to its end yet is left out."""
    if not path.exists():
        return []
    content = path.read_text(encoding="utf-8")
    complete = content[: content.rfind("\n") + 1]
    return [{key: _number(value) for key, value in row.items()} for row in csv.DictReader(complete.splitlines())]


def _number(value: str | None) -> Any:
    try:
        return float(value) if value else None
    except ValueError:
        return value


class Training(Record):
    """What came of a training: scores as attributes, the policy, and a line per update in `log`."""

    def __init__(self, result: dict[str, Any], policy: Policy, log: list[dict[str, Any]], out: Path | None):
        super().__init__(result, _abi.pess_train_result.docs)
        self.policy, self.log, self.out = policy, log, out

    def act(self, observations: Any, rng: Any = None) -> np.ndarray:
        """As the policy acts."""
        return self.policy.act(observations, rng)

    predict = act

    def save(self, path: str | os.PathLike) -> None:
        """Writes the policy (.pesspolicy)."""
        self.policy.save(path)

    def export(self, path: str | os.PathLike) -> None:
        """The policy for programs that do not have Pessimist; the ending of the name says how (`Policy.export`)."""
        self.policy.export(path)

    def plot(self) -> Any:
        """Loss and mean target over the updates; needs matplotlib."""
        plt = matplotlib_pyplot()
        if plt is None:
            raise ImportError("the curves of a training are drawn by matplotlib, which is not installed; see `log`")
        figure, axes = plt.subplots(1, 2, figsize=(8, 3))
        for ax, name in zip(axes, ("loss", "mean_target")):
            ax.plot([row["update"] for row in self.log], [row.get(name) for row in self.log])
            ax.set(xlabel="update", title=name.replace("_", " "))
        figure.tight_layout()
        return figure


def learner_knobs(algorithm: str) -> Table | None:
    """The settings of one's own that a learner has."""
    found = C.pess_learner_find(algorithm.encode())
    if not found or not found.contents.knobs:
        return None
    return Table("learner", pointer=found.contents.knobs, struct=ctypes.Structure)


def set_protocol(options: Any, name: str, settings: dict[str, Any]) -> None:
    """The protocol of that name, with the numbers of it that are set."""
    at = ctypes.addressof(options.protocol)
    call(C.pess_protocol_find, name.encode(), at)
    for key, value in table("protocol").pick(settings).items():
        row = table("protocol").rows[key].name
        call(C.pess_setting_set, table("protocol").pointer, at, row.encode(), written(value).encode())


def _train_options(data: Observations, algorithm: str, protocol: str, settings: dict[str, Any]) -> Any:
    knobs = learner_knobs(algorithm)
    own = {} if knobs is None else knobs.pick(settings)
    settings = {key: value for key, value in settings.items() if key not in own}
    check_known("train", settings, [table("train"), table("protocol")], knobs.rows if knobs else ())
    options = table("train").make({**table("train").pick(settings), "algorithm": algorithm})
    set_protocol(options, protocol, settings)
    if own:

        words = " ".join(f"{knobs.rows[key].name}={written(value)}" for key, value in own.items())
        options.kept.append(words.encode())
        options.knobs = options.kept[-1]
    options.data = data._address
    return options


@takes("train", "protocol", without=["algorithm", "name"])
def train(
    data: Observations | str | os.PathLike,
    algorithm: str = "ua-propensity",
    *,
    protocol: str = "quick",
    mdp: MDP | None = None,
    out: str | os.PathLike | None = None,
    on_update: Callable[[dict[str, Any]], Any] | None = None,
    progress: Any = None,
    **settings: Any,
) -> Training:
    """A policy of networks from a fixed dataset. `pessimist.learners` lists the algorithms, whose own settings are taken
    too (absorbed_alpha); `pessimist.protocols` how long to train. `on_update` is called with a dictionary after every
    update and stops the training by returning False or raising. Checkpoints and files go to the directory `out`; None:
    nothing is kept but the policy.

    >>> import pessimist as ps
    >>> mdp = ps.gridworld(3, 3, seed=1)
    >>> data = ps.collect(mdp, transitions=500, seed=1)
    >>> net = ps.train(data, "imitation", network="dense", imitation_steps=20, imitation_batch=32, seed=1)
    >>> net.policy.facts["kind"]
    'networks'
    """
    data = data if isinstance(data, Observations) else Observations.load(data)
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(out) if out is not None else Path(scratch)
        settings = {**settings, "out": str(directory)}
        if on_update is not None:
            settings.setdefault("report_seconds", 0.05)
        options = _train_options(data, algorithm, protocol, settings)
        options.mdp = expect("mdp", mdp, MDP)._address if mdp is not None else None
        result = _abi.pess_train_result()
        updates = _Updates(directory / "log.csv", on_update, progress) if on_update is not None else None
        with listening(updates or progress):
            try:
                call(C.pess_train_run, ctypes.addressof(options), ctypes.addressof(result))
            except Interrupted as stopped:
                if out is not None:
                    raise
                raise Interrupted(str(stopped).split(";")[0] + "; nothing of it is kept without a directory: out=") from None
        if updates is not None:
            updates.catch_up()
        policy = Policy.load(directory / "policy.pesspolicy")
        return Training(facts(result), policy, rows_of(directory / "log.csv"), directory if out is not None else None)


@takes("play", without=["game"])
def play(env: Any, policy: Any = None, *, progress: Any = None, **settings: Any) -> Record:
    """How well a policy plays a game or acts in an MDP; None: uniformly at random.

    >>> import pessimist as ps
    >>> ps.play("breakout", episodes=20, seed=1).episodes
    20
    """
    settings, mdp = environment_settings(env, settings, "play")
    check_known("play", settings, [table("play")])
    options = table("play").make(settings)
    options.mdp = mdp._address if mdp is not None else None
    chosen = _player(policy, mdp)
    result = _abi.pess_play_result()
    with listening(progress), own_callbacks(env) as options.own:
        call(C.pess_play, chosen._address if chosen is not None else None, ctypes.addressof(options), ctypes.addressof(result))
    return Record(facts(result), _abi.pess_play_result.docs)


@takes("dqn", without=["game"])
def dqn(game: str | MDP, out: str | os.PathLike, *, progress: Any = None, **settings: Any) -> Record:
    """Trains a player by double DQN; the directory gets log.csv, checkpoints and policy.pessnet. The result has the
    policy too.

    >>> import pessimist as ps
    >>> short = dict(frames=200, envs=4, batch=8, warmup=50, replay=200, evaluate_every=200, final_episodes=1)
    >>> ps.dqn("breakout", getfixture("tmp_path") / "player", seed=1, **short).policy.facts["kind"]
    'networks'
    """
    check_known("dqn", settings, [table("dqn")])
    options = table("dqn").make({**settings, "out": str(out)})
    if isinstance(expect("game", game, str, MDP), str):
        options.game = game.encode()
    else:
        options.mdp = game._address
    result = _abi.pess_dqn_result()
    with listening(progress):
        call(C.pess_dqn_run, ctypes.addressof(options), ctypes.addressof(result))
    found = Record(facts(result), _abi.pess_dqn_result.docs)
    found.policy = Policy.load(Path(out, "policy.pessnet"))
    return found

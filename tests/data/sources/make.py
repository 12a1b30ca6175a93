#!/usr/bin/python3
"""Writes the files of this folder with tools that are not ours: DuckDB, SQLite, h5py and PyTables (python3-tables).

    make duckdb && /usr/bin/python3 tests/data/sources/make.py      (Debian: python3-h5py)

All of them hold the log examples/visits.csv, or its states and actions as numbers, but for those that say otherwise.
"""
import csv
import glob
import os
import sqlite3
import sys

import h5py
import tables
import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.realpath(os.path.join(FOLDER, "..", "..", ".."))
LOG = os.path.join(ROOT, "examples", "visits.csv")
sys.path.insert(0, os.path.join(ROOT, "bench"))


def fresh(name):
    """The path of a file of this folder, which is not there any more."""
    path = os.path.join(FOLDER, name)
    if os.path.exists(path):
        os.remove(path)
    return path


def write_parquet():
    from peer_duckdb import DuckDB
    duckdb = DuckDB(glob.glob(os.path.join(ROOT, "build/duckdb/node_modules/@duckdb/*/libduckdb.so"))[0])

    def copy(name, columns):
        duckdb.query(f"COPY (SELECT {columns} FROM read_csv('{LOG}')) TO '{fresh(name)}' (FORMAT parquet)")

    copy("visits.parquet", "*")
    # types that have to be converted; a list and a structure that play no role
    copy("types.parquet", "episode, step::UTINYINT AS step, "
         "state::ENUM ('severe', 'critical', 'mild', 'lost', 'home') AS state, action, reward::DECIMAL(9,3) AS reward, "
         "next_state, terminal::HUGEINT AS terminal, truncated::BOOLEAN AS truncated, [1, 2] AS list, "
         "{'a': 1} AS structure, DATE '2024-05-17' + step::INTEGER AS day")
    # a reward that is not there where nothing was gained; states that are lists
    copy("nulls.parquet", "* REPLACE (nullif(reward, 0) AS reward)")
    copy("lists.parquet", "* REPLACE ([state] AS state)")


def write_sqlite():
    with open(LOG, newline="") as file:
        names, *rows = csv.reader(file)
    database = sqlite3.connect(fresh("visits.db"))
    types = {"step": "INTEGER", "reward": "REAL", "terminal": "INTEGER", "truncated": "INTEGER"}
    database.execute("CREATE TABLE visits (" + ", ".join(f"{n} {types.get(n, 'TEXT')}" for n in names) + ")")
    database.executemany("INSERT INTO visits VALUES (" + ", ".join("?" * len(names)) + ")", rows)
    database.commit()
    database.close()
    # two tables; the second has a name that needs quotes, a number for a state and bytes for another
    database = sqlite3.connect(fresh("tables.db"))
    database.execute("CREATE TABLE people (name TEXT, age INTEGER)")
    database.execute('CREATE TABLE "the ""log""" (state, action, reward, next_state)')
    database.executemany('INSERT INTO "the ""log""" VALUES (?, ?, ?, ?)', [(0, 1, 0.5, 2), (2, 0, 1, 0)])
    database.execute("CREATE VIEW damaged AS SELECT x'00ff' AS state, 1 AS action, 1.0 AS reward, 0 AS next_state")
    database.commit()
    database.close()


def episodes():
    """The first 20 episodes as numbers: states [T+1], actions, rewards [T], terminated, truncated. States and actions
    are numbered in order of appearance, the state before the next state."""
    states, actions, found = {}, {}, {}
    with open(LOG, newline="") as file:
        for row in csv.DictReader(file):
            if len(found) == 20 and row["episode"] not in found:
                break
            state, action = (table.setdefault(row[key], len(table)) for table, key in ((states, "state"), (actions, "action")))
            episode = found.setdefault(row["episode"], ([state], [], [], [False], [False]))
            episode[0].append(states.setdefault(row["next_state"], len(states)))
            episode[1].append(action)
            episode[2].append(float(row["reward"]))
            episode[3][0], episode[4][0] = row["terminal"] == "1", row["truncated"] == "1"
    return list(found.values())


def write_expected():
    """What the files of episodes hold, as CSV: `whole` where the last observation is kept, `cut` where it is not."""
    whole, cut = open(fresh("whole.csv"), "w"), open(fresh("cut.csv"), "w")
    for file in (whole, cut):
        print("episode,step,state,action,reward,next_state,terminal,truncated", file=file)
    for i, (states, actions, rewards, (terminated,), (truncated,)) in enumerate(episodes()):
        for t, (action, reward) in enumerate(zip(actions, rewards)):
            last, before = t == len(actions) - 1, t == len(actions) - 2
            row = f"{i},{t},{states[t]},{action},{reward:g},"
            print(row + f"{states[t + 1]},{int(last and terminated)},{int(last and truncated)}", file=whole)
            # a last row that is terminal leads to its own state; one that is not is lost, and the one before it cut off
            if not last or terminated:
                following = states[t] if last else states[t + 1]
                print(row + f"{following},{int(last)},{int(before and truncated)}", file=cut)
    whole.close()
    cut.close()


def write_minari(name, observations):
    """As Minari 0.5 stores episodes; observations makes an array of the states of one."""
    with h5py.File(fresh(name), "w", track_order=True) as file:
        for i, (states, actions, rewards, terminated, truncated) in enumerate(episodes()):
            group = file.create_group(f"episode_{i}")
            group.attrs["id"], group.attrs["total_steps"] = i, len(actions)
            last = np.arange(len(actions)) == len(actions) - 1
            group.create_dataset("observations", data=observations(states))
            group.create_dataset("actions", data=np.array(actions, "i8"))
            group.create_dataset("rewards", data=np.array(rewards))
            group.create_dataset("terminations", data=last & terminated[0])
            group.create_dataset("truncations", data=last & truncated[0])


def write_d4rl(name, **more):
    """Flat arrays with a row per action, without the last observation of an episode."""
    flat = [(s, a, r, t and last, u and last, n)
            for states, actions, rewards, (t,), (u,) in episodes()
            for s, a, r, last, n in zip(states, actions, rewards, [False] * (len(actions) - 1) + [True], states[1:])]
    state, action, reward, terminal, timeout, following = (np.array(c) for c in zip(*flat))
    with h5py.File(fresh(name), "w") as file:
        for key, values in dict(observations=state, actions=action, rewards=reward.astype("f4"), terminals=terminal,
                                timeouts=timeout, next_observations=following).items():
            if more.get(key, True) is not False:
                file.create_dataset(key, data=more[key](values) if key in more else values, compression="gzip")


def write_pytables():
    """d4rl.h5 as PyTables writes it, which has a type of its own for true and false; and actions as 2.0."""
    with h5py.File(os.path.join(FOLDER, "d4rl.h5")) as of, tables.open_file(fresh("pytables.h5"), "w") as file:
        for name in of:
            values = of[name][:]
            file.create_array("/", name, values.astype("f4") if name == "actions" else values)


def write_reals():
    """One number per action, whole in the first episode by chance."""
    with h5py.File(fresh("minari_reals.h5"), "w") as file:
        for i, actions in enumerate(([0.0, 2.0], [1.0, 0.5])):
            group = file.create_group(f"episode_{i}")
            for name, values in (("observations", np.arange(6.0).reshape(3, 2)), ("actions", np.array(actions)),
                                 ("rewards", np.ones(2)), ("terminations", np.arange(2) == 1),
                                 ("truncations", np.zeros(2, bool))):
                group[name] = values


def write_d3rlpy():
    with h5py.File(fresh("d3rlpy.h5"), "w") as file:
        found = episodes()
        file.create_dataset("num_episodes", data=len(found))
        file.create_dataset("version", data="2.1")
        file.create_dataset("columns", data=["observations", "actions", "rewards", "terminated"])
        for i, (states, actions, rewards, terminated, _) in enumerate(found):
            file.create_dataset(f"observations_{i}", data=np.array(states[:-1])[:, None])
            file.create_dataset(f"actions_{i}", data=np.array(actions)[:, None])
            file.create_dataset(f"rewards_{i}", data=np.array(rewards, "f4")[:, None])
            file.create_dataset(f"terminated_{i}", data=terminated[0])


def write_hostile():
    """What a file may not do: name other files, declare what it does not hold."""
    def fill(group, observations=None):
        for key, values in dict(observations=np.arange(3), actions=np.zeros(2, "i8"), rewards=np.zeros(2),
                                terminations=np.zeros(2, bool), truncations=np.ones(2, bool)).items():
            if key != "observations" or observations is None:
                group.create_dataset(key, data=values)

    with h5py.File(fresh("external_storage.h5"), "w") as file:
        group = file.create_group("episode_0")
        fill(group, "other")
        group.create_dataset("observations", shape=(3,), dtype="i8", external=[("/etc/passwd", 0, 24)])
    with h5py.File(fresh("external_link.h5"), "w") as file:
        fill(file.create_group("episode_0"), "other")
        file["episode_0/observations"] = h5py.ExternalLink("minari.h5", "/episode_0/observations")
    with h5py.File(fresh("virtual.h5"), "w") as file:
        group = file.create_group("episode_0")
        fill(group, "other")
        layout = h5py.VirtualLayout(shape=(3,), dtype="i8")
        layout[:] = h5py.VirtualSource("minari.h5", "episode_0/observations", shape=(3,))
        group.create_virtual_dataset("observations", layout)
    with h5py.File(fresh("declared.h5"), "w") as file:
        group = file.create_group("episode_0")
        fill(group, "other")
        group.create_dataset("observations", shape=(2**40,), dtype="i8", chunks=(1024,))
    with h5py.File(fresh("soft_link.h5"), "w") as file:
        fill(file.create_group("real"))
        file["episode_0"] = h5py.SoftLink("/real")


def write_crash():
    """One byte of minari.h5 changed, in the length of a list of chunks: HDF5 1.10.8 reads beyond its memory."""
    with open(os.path.join(FOLDER, "minari.h5"), "rb") as file:
        damaged = bytearray(file.read())
    damaged[4703] = 127
    with open(fresh("crash.h5"), "wb") as file:
        file.write(damaged)


def write_vectors():
    """Observations and actions of two numbers each, in all three layouts: two episodes, one of them cut off."""
    observations = np.arange(14, dtype="f4").reshape(7, 2) / 4
    actions = np.stack([np.sin(np.arange(5)), np.arange(5) % 2], 1).astype("f4")
    rewards = np.arange(5, dtype="f4")
    with h5py.File(fresh("minari_vectors.h5"), "w") as file:
        for i, (steps, seen) in enumerate(((slice(0, 3), slice(0, 4)), (slice(3, 5), slice(4, 7)))):
            group = file.create_group(f"episode_{i}")
            last = np.arange(steps.stop - steps.start) == steps.stop - steps.start - 1
            for name, values in (("observations", observations[seen]), ("actions", actions[steps]),
                                 ("rewards", rewards[steps]), ("terminations", last & (i == 0)),
                                 ("truncations", last & (i == 1))):
                group[name] = values
    with h5py.File(fresh("d4rl_vectors.h5"), "w") as file:
        file["observations"], file["next_observations"] = observations[[0, 1, 2, 4, 5]], observations[[1, 2, 3, 5, 6]]
        file["actions"], file["rewards"] = actions, rewards
        file["terminals"], file["timeouts"] = np.arange(5) == 2, np.arange(5) == 4
    with h5py.File(fresh("d3rlpy_vectors.h5"), "w") as file:
        file["columns"] = np.array(["observations", "actions", "rewards", "terminated"], h5py.string_dtype())
        file["num_episodes"], file["version"] = 2, "2.1"
        for i, steps in enumerate((slice(0, 3), slice(3, 5))):
            file[f"observations_{i}"], file[f"actions_{i}"] = observations[steps], actions[steps]
            file[f"rewards_{i}"], file[f"terminated_{i}"] = rewards[steps, None], i == 0


def main():
    write_parquet()
    write_sqlite()
    write_expected()
    write_minari("minari.h5", np.array)
    write_minari("minari_bits.h5", lambda states: np.eye(5, dtype=bool)[states].reshape(-1, 5, 1))
    write_minari("minari_bytes.h5", lambda states: np.arange(60, dtype="u1").reshape(3, 4, 5)[None] + np.array(states, "u1")[:, None, None, None])
    write_minari("minari_floats.h5", lambda states: np.array(states)[:, None] * np.array([0.5, 1.5, -1.0]))
    write_d4rl("d4rl.h5", next_observations=False)
    write_d4rl("d4rl_next.h5")
    write_d4rl("d4rl_unmarked.h5", timeouts=False)
    write_d4rl("d4rl_floats.h5", actions=lambda a: np.stack([a * 0.5, a + 0.25], 1), next_observations=False)
    write_pytables()
    write_reals()
    write_d3rlpy()
    write_vectors()
    write_hostile()
    write_crash()


if __name__ == "__main__":
    main()

"""What bench_python.c does in C, through Python: one JSON line per figure, seconds, the best of several rounds."""
import json
import resource
import time

import numpy as np

import pessimist as ps

ROWS, STATES, ACTIONS, SOLVES, ENVS, RING, ROUNDS = 10_000_000, 1000, 4, 10, 256, 64, 150


def say(what, seconds, **more):
    print(json.dumps({"bench": what, "seconds": seconds, **more}), flush=True)


def best(rounds, work, per):
    found = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        found = min(found, (time.perf_counter() - begin) / per)
    return found


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def counts():
    rng = np.random.default_rng(1)
    state = rng.integers(0, STATES, ROWS, dtype=np.uint32)
    action = rng.integers(0, ACTIONS, ROWS, dtype=np.uint32)
    following = rng.integers(0, 4, ROWS, dtype=np.uint32)
    following += state
    following %= STATES
    reward = rng.random(ROWS)
    before = peak()
    processor = []

    def work():
        ticks = time.process_time()
        ps.Log(state, action, reward, following).counts
        processor.append(time.process_time() - ticks)

    seconds = best(3, work, 1)
    columns = state.nbytes + action.nbytes + following.nbytes + reward.nbytes
    say("counts", seconds, column_bytes=columns, more_bytes=peak() - before, processor=min(processor))


def solve():
    log = ps.gridworld(8, 8, seed=1).simulate(transitions=2000, seed=1)

    def loop():
        for _ in range(SOLVES):
            ps.solve(log, "ua", gamma=0.9, reward_range=(0, 1), threads=1)

    say("solve", best(ROUNDS, loop, SOLVES))


def steps(game, copy):
    envs = ps.make_vec(game, ENVS, observations="bits", copy=copy)
    envs.reset(seed=1)
    actions = np.random.default_rng(2).integers(0, 6, (RING, ENVS), dtype=np.int32)

    def loop():
        for row in actions:
            observations, rewards, terminated, truncated, info = envs.step(row)

    say(f"steps of {game}" + ("" if copy else ", the same arrays"), best(50, loop, RING * ENVS))


if __name__ == "__main__":
    counts()
    solve()
    for game in ps.games:
        steps(game, True)
        steps(game, False)

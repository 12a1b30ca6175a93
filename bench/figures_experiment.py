"""The paper's gridworld figures against the same work in NumPy, and what a trial costs by grid and dataset size."""
import os

HERE = os.path.dirname(os.path.abspath(__file__))
TRIALS, PEER_TRIALS = 1000, 4


def figures(build, emit, run):
    program = os.path.join(build, "bench", "bench_experiment")
    cores = len(os.sched_getaffinity(0))
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    total, peer_total = 0.0, 0.0
    for name in ("exploration", "data"):
        ours, single, peer, means = [], [], [], {}
        for _ in range(3):  # interleaved
            line = run(program, "figure", "gridworld-" + name, str(TRIALS), str(cores))[0]
            ours.append(line["seconds"])
            means["ours"] = line["ua_mean"]
            line = run("/usr/bin/python3", os.path.join(HERE, "peer_experiment.py"), name, str(PEER_TRIALS), env=one)[0]
            peer.append(line["seconds_per_trial"] * TRIALS)
            means["peer"] = line["ua_mean"]
            single.append(run(program, "figure", "gridworld-" + name, str(TRIALS // 5), "1")[0]["seconds"] * 5)
        emit(f"gridworld-{name}, {TRIALS} trials, {cores} threads", min(ours), min(peer), peer_name="NumPy, 1 thread",
             ours_1_thread=round(min(single), 3), ratio_1_thread=round(min(peer) / min(single), 1), ua_mean=means)
        total += min(ours)
        peer_total += min(peer)
    emit(f"both gridworld figures, {TRIALS} trials, {cores} threads", round(total, 3), round(peer_total, 1),
         peer_name="NumPy, 1 thread")
    for trials in (100, 1000, 4000):
        line = run(program, "figure", "gridworld-exploration", str(trials), str(cores))[0]
        emit(f"gridworld-exploration by trials: {trials}", line["seconds"], None, per_trial=line["seconds"] / trials)
    for line in run(program, "parts"):
        if line["bench"] == "system":
            emit(f"policy evaluation on a torus of {line['grid']}x{line['grid']}, {line['lanes']} at once, each",
                 line["seconds"], None, gflops=line["gflops"], dense_flops_over_ours=line["dense_flops_over_ours"])
        else:
            emit(f"trial of 25 points, {line['grid']}x{line['grid']}, {line['transitions']} transitions, 1 thread",
                 line["seconds"], None, plan_seconds=line["plan_seconds"])

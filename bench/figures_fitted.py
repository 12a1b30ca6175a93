"""Learning from logged data of Breakout, against PyTorch, one core each, turn by turn: training of the value network with
the equal states of a minibatch computed once (PyTorch computes every transition, as one writes it), and whole fitted Q
iterations without evaluations on either side. Then uncertainty-aware learners beside naive, ours both."""
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS, SECONDS, TRANSITIONS = 3, 1.0, 100000
UPDATES, STEPS = 3, {256: 400, 1024: 100}  # as in the protocol `quick`, fewer updates
COST_ROUNDS, COST_UPDATES = 8, 2  # short turns: the least of many is steadier on a shared machine


def beside_naive(emit, ours, build, data, label):
    """Seconds of a training with its uncertainty, as in `quick`; the imitation network, which is shared, is there."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.join(build, "pess"), "train", data, "-a", "imitation", "--protocol", "smoke", "--out",
                        folder], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        network = os.path.join(folder, "policy.pessnet")
        learners = ("ua-counts", "ua-support-net", "ua-imitation", "ua-imitation-counts", "ua-propensity", "proximal",
                    "bcq", "cql", "crr", "rem", "ua-ensemble")
        best = {}
        for _ in range(COST_ROUNDS):
            for learner in ("naive",) + learners:
                seconds = ours("loop", 256, COST_UPDATES, STEPS[256], learner, network)
                best[learner] = min(best.get(learner, float("inf")), seconds)
        for learner in learners:
            emit(f"{learner} on {label}, {COST_UPDATES} updates of {STEPS[256]} steps of 256", best[learner],
                 best["naive"], peer_name="naive, ours", times_naive=round(best[learner] / best["naive"], 2))


def figures(build, emit, run):
    program = os.path.join(build, "bench", "bench_fitted")
    player = os.path.join(HERE, "..", "policies", "breakout.pessnet")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    for who, policy in (("random play", "random"), ("greedy play of the shipped policy", player)):
        data = os.path.join(build, "bench", "breakout-" + ("random" if policy == "random" else "greedy") + ".pessdata")
        subprocess.run([os.path.join(build, "pess"), "collect", "breakout", "--policy", policy, "--transitions",
                        str(TRANSITIONS), "--seed", "1", "-o", data], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        peer = subprocess.Popen(["/usr/bin/python3", os.path.join(HERE, "peer_fitted.py"), data], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True)

        def torch(*words):
            peer.stdin.write(" ".join(map(str, words)) + "\n")
            peer.stdin.flush()
            return float(peer.stdout.readline())

        def ours(*words):
            done = subprocess.run([program, data, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  env=environment, check=True, text=True)
            return float(done.stdout)

        label = f"Breakout, {who}, {TRANSITIONS:,} transitions, value network"
        for batch in (1024, 256):
            mine, every, theirs = 0, 0, 0
            for _ in range(ROUNDS):
                mine = max(mine, ours("train", batch, SECONDS))
                theirs = max(theirs, torch("train", batch, SECONDS))
                every = max(every, ours("every", batch, SECONDS))
            emit(f"train on {label}, batch {batch}, equal states of a minibatch computed once", 1e6 / mine,
                 1e6 / theirs, unit="us/transition", peer_name="PyTorch, 1 thread, every transition computed",
                 transitions_per_second=round(mine), peer_transitions_per_second=round(theirs),
                 ours_every_transition_computed_per_second=round(every),
                 different_states_per_transition=round(ours("share", batch), 3))
        for batch in (256, 1024):
            mine, theirs = float("inf"), float("inf")
            for _ in range(ROUNDS):
                mine = min(mine, ours("loop", batch, UPDATES, STEPS[batch]))
                theirs = min(theirs, torch("loop", batch, UPDATES, STEPS[batch]))
            emit(f"fitted Q iteration on {label}, {UPDATES} updates of {STEPS[batch]} steps of {batch}, "
                 "evaluations left out of both", mine, theirs, peer_name="the same loop in PyTorch, 1 thread")
        mine, theirs = float("inf"), float("inf")
        for _ in range(ROUNDS):
            mine, theirs = min(mine, ours("targets", 256)), min(theirs, torch("targets", 1024))
        emit(f"targets of the whole dataset, {label}", mine, theirs,
             peer_name="PyTorch, 1 thread, every transition computed")
        if policy == "random":
            acted, looked = 0, 0
            for _ in range(ROUNDS):
                acted, looked = max(acted, ours("play", 4000)), max(looked, torch("play", 1024, SECONDS))
            emit("evaluation, greedy episodes of Breakout, value network", 1e6 / acted, 1e6 / looked, unit="us/frame",
                 peer_name="PyTorch, 1 thread, network alone without a game", frames_per_second=round(acted))
        beside_naive(emit, ours, build, data, label)
        peer.stdin.close()
        peer.wait()

"""What `pess score` costs beside `pess train` with the same protocol: processor seconds of one thread each, turn by turn,
the least of three. Nothing is played, and no imitation network is trained, on either side."""
import os
import subprocess
import tempfile

ROUNDS = 3
SHORT = ["--batch", "256", "--threads", "1"]
UPDATES, STEPS = 10, 160


def processor_seconds(*command):
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


def figures(build, emit, run):
    pess = os.path.join(build, "pess")
    player = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "policies", "breakout.pessnet")
    for game, policy, data in (("breakout", player, "b.pessdata"), ("cartpole", "random", "c.npz")):
        with tempfile.TemporaryDirectory() as folder:
            path, out = os.path.join(folder, data), os.path.join(folder, "run")
            subprocess.run([pess, "collect", game, "--policy", policy, "--epsilon", "0.3", "--transitions", "50000", "-o",
                            path], check=True, stdout=subprocess.DEVNULL)
            best = {}
            for turn in range(ROUNDS):
                train = processor_seconds(pess, "train", path, "-a", "naive", "--protocol", "quick", "--updates",
                                          str(UPDATES), "--steps", str(STEPS), "--eval-every", "0", "--score-episodes", "0",
                                          *SHORT, "--out", f"{out}{turn}")
                score = processor_seconds(pess, "score", f"{out}{turn}", path, "--weights", "none", "--networks", "4",
                                          "--updates", str(2 * UPDATES), "--steps", str(STEPS // 8), "--protocol", "quick",
                                          *SHORT)
                best = {"train": min(train, best.get("train", train)), "score": min(score, best.get("score", score))}
            emit(f"fitted Q evaluation of a policy for {game}, as many steps as its training of {UPDATES * STEPS}",
                 best["score"], best["train"], unit="processor s", peer_name="pess train, ours",
                 times_training=round(best["score"] / best["train"], 2))

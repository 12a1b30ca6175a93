"""The network engine against PyTorch on the paper's network, one core each, turn by turn; then time per layer."""
import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS, SECONDS = 3, 1.0


def figures(build, emit, run):
    program = os.path.join(build, "bench", "bench_nn")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    peer = subprocess.Popen(["/usr/bin/python3", os.path.join(HERE, "peer_nn.py")], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, env=environment, text=True)

    def torch_rate(what, batch):
        peer.stdin.write(f"{what} {batch} {SECONDS}\n")
        peer.stdin.flush()
        return float(peer.stdout.readline())

    def start(what, batch):
        return subprocess.Popen([program, str(SECONDS), "best", what, str(batch)], stdout=subprocess.PIPE,
                                env=environment, text=True)

    def our_rate(what, batch):
        return float(start(what, batch).communicate()[0])

    for what, batch in (("train", 1024), ("train", 256), ("train", 32), ("forward", 1024), ("forward", 32)):
        ours, torch = 0, 0
        for _ in range(ROUNDS):
            ours, torch = max(ours, our_rate(what, batch)), max(torch, torch_rate(what, batch))
        emit(f"value network, {what}, batch {batch}", 1e6 / ours, 1e6 / torch, unit="us/sample",
             peer_name="PyTorch, 1 thread", samples_per_second=round(ours), peer_samples_per_second=round(torch))
    peer.stdin.close()
    peer.wait()
    one, two = 0, 0
    for _ in range(ROUNDS):
        one = max(one, our_rate("train", 256))
        two = max(two, sum(float(p.communicate()[0]) for p in [start("train", 256), start("train", 256)]))
    emit("two trainings on two cores, times one", two / one, None, unit="times")
    for line in run(program, str(SECONDS)):
        print(json.dumps(line), flush=True)

"""The network engine against PyTorch, one core each, turn by turn: the paper's network on bits, mlp on 17 floats,
nature on 84 × 84 × 4 bytes; a run of CQL on a million transitions; then time per layer with every set of kernels that
this machine has."""
import json
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS, SECONDS = 3, 1.0
FIGURES = [("value", "train", 1024), ("value", "train", 256), ("value", "train", 32), ("value", "forward", 1024),
           ("value", "forward", 32), ("mlp", "train", 256), ("mlp", "train", 32), ("mlp", "forward", 256),
           ("mlp", "forward", 32), ("nature", "train", 32), ("nature", "forward", 32)]


CQL_TRANSITIONS, CQL_STEPS, CQL_UPDATE = 1000000, 100000, 500


def cql_seconds(program, data, environment):
    """Processor seconds of a step of CQL, targets included: six updates less two, so that reading, setting up and
    writing are in neither."""
    seconds = {}
    for updates in (2, 6):
        with tempfile.TemporaryDirectory() as folder:
            arguments = ("-a cql --network mlp --protocol quick --batch 256 --score-episodes 0 --eval-every 0 --threads 1 "
                         f"--updates {updates} --steps {CQL_UPDATE} --out {folder}/run").split()
            with open(os.devnull, "w") as nowhere:
                child = subprocess.Popen([program, "train", data, *arguments], stdout=nowhere, stderr=nowhere, env=environment)
                used = os.wait4(child.pid, 0)[2]
            seconds[updates] = used.ru_utime + used.ru_stime
    return (seconds[6] - seconds[2]) / (4 * CQL_UPDATE)


def cql_figure(build, emit, torch_rate, environment):
    program, data = os.path.join(build, "pess"), os.path.join(build, "bench", "cartpole.pessdata")
    subprocess.run([program, "collect", "cartpole", "--policy", "random", "--transitions", str(CQL_TRANSITIONS), "--seed",
                    "1", "-o", data], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ours = peer = float("inf")
    for _ in range(ROUNDS):
        ours = min(ours, cql_seconds(program, data, environment))
        peer = min(peer, 256 / torch_rate("cartpole", "cql", 256))
    emit(f"CQL on {CQL_TRANSITIONS} transitions of CartPole, {CQL_STEPS} steps of 256, scaled from {4 * CQL_UPDATE}",
         CQL_STEPS * ours, CQL_STEPS * peer, peer_name="PyTorch, 1 thread")


def figures(build, emit, run):
    program = os.path.join(build, "bench", "bench_nn")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    peer = subprocess.Popen(["/usr/bin/python3", os.path.join(HERE, "peer_nn.py")], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, env=environment, text=True)

    def torch_rate(network, what, batch):
        peer.stdin.write(f"{network} {what} {batch} {SECONDS}\n")
        peer.stdin.flush()
        return float(peer.stdout.readline())

    def start(*figure):
        return subprocess.Popen([program, str(SECONDS), "best", *map(str, figure)], stdout=subprocess.PIPE,
                                env=environment, text=True)

    def our_rate(*figure):
        return float(start(*figure).communicate()[0])

    for figure in FIGURES:
        ours, torch = 0, 0
        for _ in range(ROUNDS):
            ours, torch = max(ours, our_rate(*figure)), max(torch, torch_rate(*figure))
        emit("{} network, {}, batch {}".format(*figure), 1e6 / ours, 1e6 / torch, unit="us/sample",
             peer_name="PyTorch, 1 thread", samples_per_second=round(ours), peer_samples_per_second=round(torch))
    cql_figure(build, emit, torch_rate, environment)
    peer.stdin.close()
    peer.wait()
    one, two, training = 0, 0, ("value", "train", 256)
    for _ in range(ROUNDS):
        one = max(one, our_rate(*training))
        two = max(two, sum(float(p.communicate()[0]) for p in [start(*training), start(*training)]))
    emit("two trainings on two cores, times one", two / one, None, unit="times")
    for kernels in ("avx512", "avx2"):
        try:
            lines = run(program, str(SECONDS), kernels)
        except subprocess.CalledProcessError:  # not on this machine
            continue
        for line in lines:
            print(json.dumps(line), flush=True)

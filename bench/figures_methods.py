"""Processes of every kind at three sizes, --method auto beside a peer from formulas (NumPy, SciPy) on the same model; processor
seconds of one thread, best of three, alternating."""
import os
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = {"mpi": "modified policy iteration, SciPy", "lu": "policy iteration, SciPy's SuperLU", "bfs": "breadth-first search, SciPy"}
# problem, states, peer (None: it would take minutes)
PROBLEMS = (("maze", 10**4, "bfs"), ("maze", 10**5, "bfs"), ("long maze", 10**6, "bfs"),
            ("torus", 10**3, "lu"), ("torus", 10**4, "lu"), ("torus", 10**5, None),
            ("queue", 300, "lu"), ("queue", 1000, "lu"), ("queue", 3000, "lu"),
            ("inventory", 101, "mpi"), ("inventory", 301, "mpi"), ("inventory", 1001, "mpi"),
            ("garnet", 10**3, "mpi"), ("garnet", 10**4, "mpi"), ("garnet", 10**5, "mpi"))


def figures(build, emit, run):
    program = os.path.join(build, "bench", "bench_methods")
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as work:
        dump = os.path.join(work, "model")
        for problem, states, way in PROBLEMS:
            ours, peer = [], []
            for _ in range(3):
                ours.append(run(program, problem, str(states), "auto", "1", dump, env=one)[0])
                if way is None:
                    continue
                peer.append(run("/usr/bin/python3", os.path.join(HERE, "peer_methods.py"), dump, way, env=one)[0])
            best = min(ours, key=lambda o: o["cpu_seconds"])
            emit(f"solve: {problem}, {best['states']} states, gamma {best['gamma']}, to 1e-6", best["cpu_seconds"],
                 min((p["cpu_seconds"] for p in peer), default=None), peer_name=PEERS.get(way), method=best["method"],
                 iterations=best["iterations"], residual=best["residual"])

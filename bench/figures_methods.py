"""Processes of every kind at three sizes, --method auto beside a peer from formulas (NumPy, SciPy, PETSc) on the same model;
processor seconds of one thread, best of three, alternating."""
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = {"mpi": "modified policy iteration, SciPy", "lu": "policy iteration, SciPy's SuperLU", "bfs": "breadth-first search, SciPy",
         "petsc": "inexact policy iteration, PETSc's BiCGSTAB with ILU(0)"}
INNER = "1e-2"  # of the residual's Euclidean norm, for PETSc: of 1e-2, 1e-4 and 1e-6 the fastest on the torus
# problem, states, peer
PROBLEMS = (("maze", 10**4, "bfs"), ("maze", 10**5, "bfs"), ("long maze", 10**6, "bfs"),
            ("torus", 10**3, "lu"), ("torus", 10**4, "lu"), ("torus", 10**5, "petsc"),
            ("queue", 300, "lu"), ("queue", 1000, "lu"), ("queue", 3000, "lu"), ("queue", 3000, "petsc"),
            ("inventory", 101, "mpi"), ("inventory", 301, "mpi"), ("inventory", 1001, "mpi"),
            ("garnet", 10**3, "mpi"), ("garnet", 10**4, "mpi"), ("garnet", 10**5, "mpi"))


def peer_command(build, way, dump):
    """None where PETSc is not installed."""
    if way != "petsc":
        return ["/usr/bin/python3", os.path.join(HERE, "peer_methods.py"), dump, way]
    made = subprocess.run(["cmake", "--build", build, "--target", "peer_petsc"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [os.path.join(HERE, "..", "tests", "mpi", "mpiexec.sh"), "1", os.path.join(build, "peer_petsc"), dump, INNER] \
        if made.returncode == 0 else None


def figures(build, emit, run):
    program = os.path.join(build, "bench", "bench_methods")
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as work:
        dump = os.path.join(work, "model")
        for problem, states, way in PROBLEMS:
            ours, peer, command = [], [], peer_command(build, way, dump)
            for _ in range(3):
                ours.append(run(program, problem, str(states), "auto", "1", dump, env=one)[0])
                if command is not None:
                    peer.append(run(*command, env=one)[0])
            best = min(ours, key=lambda o: o["cpu_seconds"])
            emit(f"solve: {problem}, {best['states']} states, gamma {best['gamma']}, to 1e-6", best["cpu_seconds"],
                 min((p["cpu_seconds"] for p in peer), default=None), peer_name=PEERS.get(way), method=best["method"],
                 iterations=best["iterations"], residual=best["residual"])

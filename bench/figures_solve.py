"""LU, evaluation, policy iteration and large gridworlds, against LAPACK, SciPy, NumPy and memory bandwidth."""
import os
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def figures(build, emit, run):
    program = os.path.join(build, "bench", "bench_solve")
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as work:
        dump = os.path.join(work, "problems")
        ours = run(program, dump)
        peer = run("/usr/bin/python3", os.path.join(HERE, "peer_solve.py"), dump, env=one)
    lu = {}
    for line in ours:
        if line["bench"] == "lu":
            lu[line["n"]] = line["seconds"]
            emit(f"LU solve, n={line['n']}", line["seconds"], line.get("dgesv_seconds"), peer_name="OpenBLAS dgesv, 1 thread",
                 gflops=line["gflops"])
        elif line["bench"] == "gridworld-8x8":
            numpy = next(p for p in peer if p["bench"] == "gridworld-8x8" and p["algorithm"] == line["algorithm"])
            emit(f"policy iteration, 8x8 gridworld log, {line['algorithm']}", line["seconds"], numpy["seconds"],
                 peer_name="NumPy, 1 thread", times_one_lu=round(line["seconds"] / lu[64], 2),
                 value_difference=abs(line["value"] - numpy["value"]))
        elif line["bench"] == "evaluate":
            scipy = next(p for p in peer if p["bench"] == "evaluate")
            for name in ("spsolve", "bicgstab"):
                emit(f"evaluate a random chain of {line['states']} states to 1e-12", line["krylov_seconds"], scipy[name],
                     peer_name=f"SciPy {name}", residual=line["krylov_residual"])
        elif line["bench"] == "gridworld-large":
            emit(f"solve a gridworld of {line['states']} states to 1e-6, {line['threads']} threads", line["seconds"], None,
                 residual=line["residual"], method=line["method"])
            emit(f"value iteration sweep, {line['states']} states, {line['threads']} threads",
                 line["sweep_bytes_per_second"], line["triad_bytes_per_second"], unit="bytes/s",
                 peer_name="triad (the ratio is bandwidth over ours)",
                 states_sweeps_per_second=line["states_sweeps_per_second"])

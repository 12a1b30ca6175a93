"""Many processes: two beside one on a torus of a million states, and the approach of madupite (a matrix made anew for
each policy, a shell around it, GMRES without a preconditioner) beside ours. Seconds by the clock, best of two; also the
processor seconds of the busiest process, for busy machines."""
import os
import subprocess
import sys

SIDE, GAMMA, TOLERANCE, REPEATS = "1000", "0.99", "1e-6", 2


def figures(build, emit, run):
    program = os.path.join(build, "mpi_torus")
    if subprocess.run(["cmake", "--build", build, "--target", "mpi_torus"], stdout=subprocess.DEVNULL).returncode != 0:
        print("bench/run: scale is left out: pess-mpi is not built here (make scale)", file=sys.stderr)
        return
    mpiexec = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "mpi", "mpiexec.sh")
    best = {}
    for _ in range(REPEATS):
        for how, ranks in (("ours", 1), ("ours", 2), ("shell", 2)):
            line = run(mpiexec, str(ranks), program, how, SIDE, GAMMA, TOLERANCE)[0]
            before = best.get((how, ranks))
            if before is None or line["seconds"] < before["seconds"]:
                best[how, ranks] = line
    one, two, shell = best["ours", 1], best["ours", 2], best["shell", 2]
    for unit, field in (("s", "seconds"), ("processor s", "processor")):
        emit("torus of 10^6 states, two processes beside one", two[field], one[field], unit, memory=two["memory"])
        emit("torus of 10^6 states, two processes, beside a shell with GMRES", two[field], shell[field], unit)

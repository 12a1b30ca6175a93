"""What compiling and linking against attackers costs (cmake/hardening.cmake): the program with it and without, in
instructions (callgrind, one thread) and in seconds of the processor (best of several, alternating)."""
import os
import re
import resource
import shutil
import subprocess
import tempfile

ROUNDS = 7
PATHS = {  # for callgrind, and for the clock
    "count_log": ("convert small.csv -o small.pesscounts --threads 1", "convert large.csv -o large.pesscounts --threads 1"),
    "solve_log": ("solve small.csv --gamma 0.9 -o policy.csv --threads 1", "solve large.csv --gamma 0.9 -o policy.csv --threads 1"),
    "solve": ("mdp solve mdp.csv --gamma 0.99 -o policy.csv --threads 1", "mdp solve mdp.csv --gamma 0.999 -o policy.csv --threads 1"),
    "games": ("env bench breakout --steps 100000 --threads 1", "env bench breakout --steps 5000000 --threads 1"),
}


def quietly(command, folder):
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                   env=dict(os.environ, OMP_WAIT_POLICY="passive"))


def instructions(program, words, folder):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, *words], cwd=folder,
                          check=True, capture_output=True, text=True, env=dict(os.environ, OMP_WAIT_POLICY="passive"))
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def seconds(program, words, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    quietly([program, *words], folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def figures(build, emit, run):
    soft = build + "-soft"
    source = os.path.dirname(build)
    subprocess.run(["cmake", "-S", source, "-B", soft, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DPESS_HARDEN=OFF",
                    "-DPESS_TESTS=OFF"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", soft, "--target", "pess"], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory(prefix="pess-hardening-") as folder:
        programs = [os.path.join(place, "pess") for place in (build, soft)]
        quietly([programs[0], "mdp", "gridworld", "--rows", "20", "--cols", "20", "-o", "mdp.csv"], folder)
        for name, rows in (("small", 200000), ("large", 4000000)):
            quietly([programs[0], "simulate", "mdp.csv", "--policy", "uniform", "--transitions", str(rows), "-o",
                     name + ".csv"], folder)
        for name, commands in PATHS.items():
            if shutil.which("valgrind"):
                counts = [instructions(program, commands[0].split(), folder) for program in programs]
                emit(f"hardening_{name}_instructions", counts[0], counts[1], "instructions",
                     cost_per_cent=round(100 * (counts[0] / counts[1] - 1), 2))
            rounds = [[seconds(program, commands[1].split(), folder) for program in programs] for _ in range(ROUNDS)]
            ours, peer = (min(column) for column in zip(*rounds))
            emit(f"hardening_{name}", ours, peer, cost_per_cent=round(100 * (ours / peer - 1), 2))

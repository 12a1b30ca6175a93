"""A log from CSV to policy at growing sizes: 20 rows a state, four actions, three random next states a pair; processor seconds of
all threads, by the clock, and the largest memory. PESS_BENCH_STATES=10000000 adds a size. Making the log is not in it."""
import json
import os
import subprocess
import tempfile
import time


def solve(pess, log, policy):
    """(processor seconds, seconds by the clock, MB, the report) of one run."""
    begun = time.monotonic()
    child = subprocess.Popen([pess, "solve", log, "--gamma", "0.99", "-o", policy, "--json"], stdout=subprocess.PIPE, text=True)
    report = json.loads(child.stdout.read())
    _, _, usage = os.wait4(child.pid, 0)
    return usage.ru_utime + usage.ru_stime, time.monotonic() - begun, usage.ru_maxrss / 1024, report


def figures(build, emit, run):
    sizes = [10**4, 10**5, 10**6] + [int(size) for size in os.environ.get("PESS_BENCH_STATES", "").split(",") if size]
    with tempfile.TemporaryDirectory() as work:
        log, policy = os.path.join(work, "log.csv"), os.path.join(work, "policy.csv")
        for states in sizes:
            subprocess.run([os.path.join(build, "bench", "bench_ingest"), "generate", log, str(20 * states), str(states), "4", "3"],
                           check=True)
            processor, clock, memory, report = solve(os.path.join(build, "pess"), log, policy)
            emit(f"log to policy, {states} states, {20 * states} rows", round(processor, 3), None, clock=round(clock, 3),
                 peak_mb=round(memory), microseconds_a_state=round(1e6 * processor / states, 2), method=report["method"],
                 residual=report["residual"])

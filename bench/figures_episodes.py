"""Certificates from whole episodes: the bound against NumPy, and the whole of choosing and testing at three sizes."""
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WARD = os.path.join(os.path.dirname(HERE), "tools", "ward.py")


def bounds(build, emit, run, work):
    dump = os.path.join(work, "numbers")
    ours = run(os.path.join(build, "bench", "bench_betting"), dump)
    peer = {line["count"]: line for line in run("/usr/bin/python3", os.path.join(HERE, "peer_episodes.py"), dump,
                                                env={"OMP_NUM_THREADS": "1"})}
    for line in ours:
        numpy = peer[line["count"]]
        emit(f"betting bound of {line['count']} numbers, {line['threads']} thread(s)", line["seconds"], numpy["seconds"],
             peer_name="NumPy, 1 thread", difference=abs(line["bound"] - numpy["bound"]))


def certificates(build, emit, work):
    """Peak memory is that of all children so far: sizes ascend."""
    pess, ward = os.path.join(build, "pess"), os.path.join(work, "ward")
    subprocess.run([sys.executable, WARD, "make", ward], check=True)
    for episodes in (10_000, 100_000, 1_000_000):
        log = os.path.join(work, "log.csv")
        subprocess.run([pess, "simulate", f"{ward}/mdp.csv", "--policy", f"{ward}/staff.csv", "--start", f"{ward}/start.csv",
                        "--episodes", str(episodes), "--horizon", "200", "--seed", "1", "-o", log, "--quiet"], check=True)
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([pess, "certify", log, "--method", "episodes", "--gamma", "1", "--return-range", "0,1",
                        "--reward-range", "0,1"], stdout=subprocess.DEVNULL, check=False)
        seconds, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        emit(f"choosing and testing, {episodes} episodes of 9 steps", round(seconds, 3), None,
             processor_seconds=round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 3),
             megabytes=after.ru_maxrss // 1024)


def figures(build, emit, run):
    with tempfile.TemporaryDirectory() as work:
        bounds(build, emit, run, work)
        certificates(build, emit, work)

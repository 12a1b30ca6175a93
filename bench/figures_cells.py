"""k-means against scikit-learn's KMeans (one greedy k-means++ start, the same tolerance and limit of iterations, the same
float32 rows), two threads each, turn by turn, by the clock and in processor time; and rows a second through `pess act`."""
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# rows, features, cells, at most so many iterations
SIZES = ((10_000, 10, 50, 300), (100_000, 40, 100, 300), (1_000_000, 40, 750, 20), (1_000_000, 40, 750, 300))
THREADS = 2


def rows(count, columns):
    """Vital signs of a sort: 200 conditions in eight hidden dimensions, seen through noise."""
    import numpy
    rng = numpy.random.default_rng(1)
    centres = 1.5 * rng.standard_normal((200, 8))
    hidden = 0.7 * rng.standard_normal((count, 8)) + centres[rng.integers(0, 200, count)]
    seen = hidden @ rng.standard_normal((8, columns)) / 8 ** 0.5
    return (seen + 0.5 * rng.standard_normal((count, columns))).astype(numpy.float32)


def kmeans(build, emit, run, folder, count, columns, cells, iterations):
    path = os.path.join(folder, "rows.f32")
    rows(count, columns).tofile(path)
    program = os.path.join(build, "bench", "bench_cells")
    environment = {"OMP_NUM_THREADS": str(THREADS), "OPENBLAS_NUM_THREADS": str(THREADS), "OMP_WAIT_POLICY": "passive"}
    ours, peer = [], []
    for _ in range(3 if count < 500_000 else 1):
        ours += run(program, path, str(count), str(columns), str(cells), str(THREADS), str(iterations),
                    env=environment)
        peer += run("/usr/bin/python3", os.path.join(HERE, "peer_cells.py"), path, str(columns), str(cells),
                    str(iterations), env=environment)
    best, other = min(ours, key=lambda r: r["seconds"]), min(peer, key=lambda r: r["seconds"])
    emit(f"k-means, {count} rows x {columns} features, {cells} cells, at most {iterations} iterations, {THREADS} threads",
         best["seconds"],
         other["seconds"], peer_name="scikit-learn KMeans", inertia=best["inertia"], peer_inertia=other["inertia"],
         iterations=best["iterations"], peer_iterations=other["iterations"], processor=best["processor"],
         peer_processor=other["processor"], processor_ratio=round(other["processor"] / best["processor"], 2))


def act(build, emit, folder):
    pess, count, columns = os.path.join(build, "pess"), 1_000_000, 10
    names = [f"m{i}" for i in range(columns)]
    log, new, lines, map_file, policy = (os.path.join(folder, n)
                                         for n in ("log.csv", "new.csv", "new.jsonl", "map.pessmap", "policy.csv"))
    x = rows(count, columns)
    with open(new, "w") as out, open(lines, "w") as json_lines:
        out.write(",".join(names) + "\n")
        for row in x:
            values = ["%.4g" % v for v in row]
            out.write(",".join(values) + "\n")
            json_lines.write("{" + ", ".join(f'"{n}": {v}' for n, v in zip(names, values)) + "}\n")
    subprocess.run(f"head -20001 {new} > {log}", shell=True, check=True)
    with open(policy, "w") as out:
        out.write("state,action,probability\n" + "".join(f"{c},{c % 5},1\n" for c in range(100)))
    subprocess.run([pess, "discretize", log, "--features", ",".join(names), "--cells", "100", "--share", "1", "-o",
                    map_file], stdout=subprocess.DEVNULL, check=True)
    for path, more, what in ((new, [], "CSV"), (lines, ["--json"], "JSON lines")):
        best, processor = 1e9, 1e9
        for _ in range(3):
            start, used = time.perf_counter(), os.times()
            subprocess.run([pess, "act", path, "--policy", policy, "--map", map_file, "--threads", str(THREADS), "-o",
                            os.path.join(folder, "answers"), *more], check=True)
            best, after = min(best, time.perf_counter() - start), os.times()
            processor = min(processor, after[2] + after[3] - used[2] - used[3])
        emit(f"pess act, 10^6 rows x {columns} features, 100 cells, {what}, {THREADS} threads", best, None,
             rows_per_second=round(count / best), processor=round(processor, 3))


def figures(build, emit, run):
    with tempfile.TemporaryDirectory() as folder:
        act(build, emit, folder)
        for size in SIZES:
            kmeans(build, emit, run, folder, *size)

"""The Python package beside the library called from C, turn by turn: the ratio is C's time over ours, 1 is no loss."""
import os

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = 3


def best(lines, found):
    """The least of each number."""
    for line in lines:
        kept = found.setdefault(line["bench"], line)
        for key in ("seconds", "processor"):
            if key in line:
                kept[key] = min(kept[key], line[key])


def figures(build, emit, run):
    ours, c = {}, {}
    environment = {"PYTHONPATH": os.path.join(build, "python"), "OMP_WAIT_POLICY": "passive"}
    for _ in range(ROUNDS):
        best(run(os.path.join(build, "bench", "bench_python"), env={"OMP_WAIT_POLICY": "passive"}), c)
        best(run("/usr/bin/python3", os.path.join(HERE, "bench_python.py"), env=environment), ours)
    for what, line in ours.items():
        peer = c[what.removesuffix(", the same arrays")]["seconds"]
        more = {key: value for key, value in line.items() if key.endswith("bytes")}
        if what.startswith("steps"):
            more["steps_per_second"] = round(1 / line["seconds"])
        if what == "counts":
            more["processor_ratio"] = round(c[what]["processor"] / line["processor"], 2)
        if what == "solve":
            more["python_microseconds"] = round(1e6 * (line["seconds"] - peer), 1)
        emit(f"Python: {what}", line["seconds"], peer, peer_name="the same from C", **more)

"""What other names, separators and forms of a CSV log cost beside the plain one, in processor time; one thread."""
import os


def figures(build, emit, run):
    for line in run(os.path.join(build, "bench", "bench_reading")):
        emit(line["name"], line["ours"], line["peer"], peer_name="the plain form", rows=line["rows"])

"""A sweep over all states and actions beside a triad of the same threads: bytes, and bytes a second."""
import os


def figures(build, emit, run):
    for threads in (1, 2):
        for line in run(os.path.join(build, "bench", "bench_sweep"), str(threads)):
            emit(f"sweep, {line['problem']} of {line['states']} states, {threads} thread{'s' if threads > 1 else ''}",
                 line["packed_gb_s"], line["triad_gb_s"], unit="GB/s", peer_name="triad", share_of_triad=line["share_of_triad"],
                 bytes=line["packed_bytes"], bytes_of_rows=line["rows_bytes"], seconds=line["packed_seconds"],
                 seconds_by_rows=line["rows_seconds"])

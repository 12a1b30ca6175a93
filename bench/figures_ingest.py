"""A CSV log into counts at several sizes, against DuckDB's read_csv and GROUP BY (where `make duckdb` has fetched it) and, at
the smallest number of different (s,a,s'), pandas; best of three, interleaved, two threads each."""
import os
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DUCKDB = os.path.join("duckdb", "node_modules", "@duckdb", "node-bindings-linux-x64", "libduckdb.so")
# rows, states, actions, next states of a pair
SIZES = ((10**5, 64, 4, 64), (10**6, 64, 4, 64), (10**7, 64, 4, 64), (10**7, 1000, 4, 4), (10**7, 10**5, 4, 30))


def figures(build, emit, run):
    program, library = os.path.join(build, "bench", "bench_ingest"), os.path.join(build, DUCKDB)
    with tempfile.TemporaryDirectory() as work:
        log = os.path.join(work, "log.csv")
        for rows, states, actions, branching in SIZES:
            run(program, "generate", log, str(rows), str(states), str(actions), str(branching))
            peers = [("/usr/bin/python3", os.path.join(HERE, "peer_duckdb.py"), library, log, "2")] \
                if os.path.exists(library) else []
            if states == 64:
                peers.append(("/usr/bin/python3", os.path.join(HERE, "peer_ingest.py"), log))
            ours, theirs = [], [[] for _ in peers]
            for _ in range(3):
                ours.append(run(program, log, "2", "1")[0])
                for peer, times in zip(peers, theirs):
                    times.append(run(*peer)[0])
            best = min(o["ours"] for o in ours)
            for times in theirs or [[]]:
                peer = min(times, key=lambda t: t["peer"], default=None)
                emit(f"ingest {rows:.0e} rows, {ours[0]['successors']} (s,a,s')", best, peer and peer["peer"],
                     peer_name=peer and peer["peer_name"], threads=ours[0]["threads"],
                     megabytes_per_second=round(os.path.getsize(log) / best / 1e6), peak_mb=ours[0]["peak_mb"],
                     counts_mb=ours[0]["counts_mb"], peer_peak_mb=peer and peer["peak_mb"])

"""A CSV log into counts, against pandas' read_csv plus grouping, at three sizes; best of three, interleaved."""
import os
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def figures(build, emit, run):
    program = os.path.join(build, "bench", "bench_ingest")
    with tempfile.TemporaryDirectory() as work:
        log = os.path.join(work, "log.csv")
        for rows in (10**5, 10**6, 10**7):
            run(program, "generate", log, str(rows))
            ours, peer = [], []
            for _ in range(3):
                ours.append(run(program, log)[0])
                peer.append(run("/usr/bin/python3", os.path.join(HERE, "peer_ingest.py"), log)[0])
            best, pandas = min(o["ours"] for o in ours), min(p["peer"] for p in peer)
            emit(f"ingest {rows:.0e} rows", best, pandas, peer_name=peer[0]["peer_name"], threads=ours[0]["threads"],
                 megabytes_per_second=round(os.path.getsize(log) / best / 1e6), peak_mb=ours[0]["peak_mb"],
                 peer_peak_mb=peer[0]["peak_mb"])

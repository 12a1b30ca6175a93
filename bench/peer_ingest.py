"""The same work with pandas: read_csv, then counts and mean rewards per (state, action, next_state).

    python3 bench/peer_ingest.py PATH [REPEATS]   prints {"name":"ingest","peer":seconds,...}
"""
import json
import resource
import sys
import time

import pandas

repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 1
best = float("inf")
for _ in range(repeats):
    before = time.perf_counter()
    log = pandas.read_csv(sys.argv[1])
    table = log.groupby(["state", "action", "next_state"])["reward"].agg(["size", "mean"])
    best = min(best, time.perf_counter() - before)
print(json.dumps({"name": "ingest", "peer": round(best, 6), "peer_name": "pandas " + pandas.__version__,
                  "rows": len(log), "successors": len(table),
                  "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)}))

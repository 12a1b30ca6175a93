"""The same work with DuckDB through its C API: read_csv, then counts and sums of rewards per (state, action, next_state).

    python3 bench/peer_duckdb.py LIBRARY PATH [THREADS [REPEATS]]   prints {"name":"ingest","peer":seconds,...}

LIBRARY is libduckdb.so; `make duckdb` fetches it into build/duckdb.
"""
import ctypes
import json
import resource
import sys
import time


class Result(ctypes.Structure):
    """duckdb_result: five members that are out of use, one that is the library's own."""
    _fields_ = [("unused", ctypes.c_void_p * 5), ("internal", ctypes.c_void_p)]


class DuckDB:
    """A database in memory."""

    def __init__(self, library):
        self.api = ctypes.CDLL(library)
        self.api.duckdb_result_error.restype = self.api.duckdb_value_varchar.restype = ctypes.c_char_p
        self.database, self.connection = ctypes.c_void_p(), ctypes.c_void_p()
        if self.api.duckdb_open(None, ctypes.byref(self.database)) or \
                self.api.duckdb_connect(self.database, ctypes.byref(self.connection)):
            sys.exit("peer_duckdb.py: no database could be opened")

    def query(self, sql):
        """The first value of the result, as text."""
        result = Result()
        if self.api.duckdb_query(self.connection, sql.encode(), ctypes.byref(result)):
            sys.exit("peer_duckdb.py: " + self.api.duckdb_result_error(ctypes.byref(result)).decode())
        value = self.api.duckdb_value_varchar(ctypes.byref(result), ctypes.c_uint64(0), ctypes.c_uint64(0))
        self.api.duckdb_destroy_result(ctypes.byref(result))
        return value.decode() if value else ""


def main():
    library, path = sys.argv[1:3]
    threads, repeats = (int(a) for a in sys.argv[3:5] + ["2", "1"][len(sys.argv) - 3:])
    duckdb = DuckDB(library)
    duckdb.query(f"SET threads = {threads}")
    best = float("inf")
    for _ in range(repeats):
        before = time.perf_counter()
        duckdb.query("CREATE OR REPLACE TABLE counts AS SELECT state, action, next_state, count(*) AS count, "
                     "sum(reward) AS reward_sum, sum(reward * reward) AS reward_square_sum "
                     f"FROM read_csv('{path}') GROUP BY state, action, next_state")
        best = min(best, time.perf_counter() - before)
    print(json.dumps({"name": "ingest", "peer": round(best, 6), "peer_name": "DuckDB " + duckdb.query("SELECT version()"),
                      "rows": int(duckdb.query("SELECT sum(count) FROM counts")), "threads": threads,
                      "successors": int(duckdb.query("SELECT count(*) FROM counts")),
                      "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)}))


if __name__ == "__main__":
    main()

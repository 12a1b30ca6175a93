"""Logs from Arrow streams whose schema and batches another program made: DuckDB, through its C interface. Skipped where
its library is absent; `make duckdb` fetches it."""
import ctypes
import os
from pathlib import Path

import numpy as np
import pytest

import pessimist as ps

from conftest import ROOT
from test_arrow import FILL, RELEASE, P, Stream

VISITS = str(ROOT / "examples" / "visits.csv")


class Result(ctypes.Structure):
    _fields_ = [("counts", ctypes.c_uint64 * 3), ("pointers", P * 3)]


def library():
    beside = Path(os.environ.get("PESS", "")).parent / "libduckdb.so"
    path = os.environ.get("PESS_DUCKDB") or (str(beside) if beside.is_file() else None)
    if path is None:
        pytest.skip("libduckdb is absent: make duckdb fetches it")
    duckdb = ctypes.CDLL(path)
    if not hasattr(duckdb, "duckdb_data_chunk_to_arrow"):
        pytest.skip("this libduckdb does not hand out Arrow arrays: 1.4 does")
    duckdb.duckdb_fetch_chunk.argtypes, duckdb.duckdb_fetch_chunk.restype = [Result], P
    duckdb.duckdb_column_logical_type.argtypes, duckdb.duckdb_column_logical_type.restype = [P, ctypes.c_uint64], P
    duckdb.duckdb_column_name.argtypes, duckdb.duckdb_column_name.restype = [P, ctypes.c_uint64], ctypes.c_char_p
    duckdb.duckdb_column_count.argtypes, duckdb.duckdb_column_count.restype = [P], ctypes.c_uint64
    duckdb.duckdb_query.argtypes = [P, ctypes.c_char_p, P]
    duckdb.duckdb_to_arrow_schema.argtypes, duckdb.duckdb_to_arrow_schema.restype = [P, P, P, ctypes.c_uint64, P], P
    duckdb.duckdb_data_chunk_to_arrow.argtypes, duckdb.duckdb_data_chunk_to_arrow.restype = [P, P, P], P
    duckdb.duckdb_connection_get_arrow_options.argtypes = [P, P]
    duckdb.duckdb_result_error.argtypes, duckdb.duckdb_result_error.restype = [P], ctypes.c_char_p
    return duckdb


class Query:
    """What a query finds, as a stream of the arrays that DuckDB makes of its chunks: the schema and every batch, with
    the functions that release them, are DuckDB's; only the stream around them is ours."""

    def __init__(self, sql):
        self.duckdb, self.batches, self.released = library(), 0, 0
        self.database, self.connection, self.options, self.result = P(), P(), P(), Result()
        assert self.duckdb.duckdb_open(None, ctypes.byref(self.database)) == 0
        assert self.duckdb.duckdb_connect(self.database, ctypes.byref(self.connection)) == 0
        if self.duckdb.duckdb_query(self.connection, sql.encode(), ctypes.byref(self.result)) != 0:
            pytest.fail(self.duckdb.duckdb_result_error(ctypes.byref(self.result)).decode())
        self.duckdb.duckdb_connection_get_arrow_options(self.connection, ctypes.byref(self.options))

    def _schema(self, stream, out):
        result, count = ctypes.byref(self.result), self.duckdb.duckdb_column_count(ctypes.byref(self.result))
        types = (P * count)(*(self.duckdb.duckdb_column_logical_type(result, i) for i in range(count)))
        names = (ctypes.c_char_p * count)(*(self.duckdb.duckdb_column_name(result, i) for i in range(count)))
        return 0 if self.duckdb.duckdb_to_arrow_schema(self.options, types, names, count, out) is None else 5

    def _batch(self, stream, out):
        chunk = P(self.duckdb.duckdb_fetch_chunk(self.result))
        if chunk.value is None:
            ctypes.memset(out, 0, 80)  # an array whose release is NULL: the end
            return 0
        self.batches += 1
        failed = self.duckdb.duckdb_data_chunk_to_arrow(self.options, chunk, out)
        self.duckdb.duckdb_destroy_data_chunk(ctypes.byref(chunk))
        return 0 if failed is None else 5

    def _release(self, at):
        self.released += 1
        ctypes.c_void_p.from_address(at + Stream.release.offset).value = None

    def __arrow_c_stream__(self, requested_schema=None):
        self.kept = Stream(FILL(self._schema), FILL(self._batch), None, RELEASE(self._release), None)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [P, ctypes.c_char_p, P]
        return new(ctypes.addressof(self.kept), b"arrow_array_stream", None)


def same(log, other):
    for name in ("state", "action", "next_state", "reward", "terminal"):
        assert np.array_equal(getattr(log, name), getattr(other, name)), name
    assert log.state_names == other.state_names and log.action_names == other.action_names


def test_a_table_of_duckdb_is_the_log_of_its_file(visits):
    query = Query(f"SELECT * FROM '{VISITS}'")
    same(ps.Log.from_frame(query), visits)
    assert query.released == 1


@pytest.mark.parametrize("kind", ["BIGINT", "INTEGER", "SMALLINT", "UTINYINT", "UBIGINT", "DOUBLE", "VARCHAR"])
def test_every_type_of_column(kind):
    """Twenty thousand rows are several batches; ids of any width, and names, are the same log."""
    rows = "range(20000) AS rows(i)"
    query = Query(f"SELECT (i % 7)::{kind} AS state, (i % 3)::{kind} AS action, (i % 5) / 4 AS reward, "
                  f"((i + 1) % 7)::{kind} AS next_state, i % 100 = 99 AS terminal FROM {rows}")  # fmt: skip
    log, i = ps.Log.from_frame(query), np.arange(20000)
    assert query.batches > 5
    names = log.state_names or [str(s) for s in range(7)]
    assert np.array_equal(np.array(names)[log.state], (i % 7).astype(str))
    assert np.array_equal(np.array(names)[log.next_state], ((i + 1) % 7).astype(str))
    assert np.allclose(log.reward, (i % 5) / 4) and np.array_equal(log.terminal, i % 100 == 99)


def test_enumerations_dates_and_columns_of_other_names():
    query = Query("SELECT (CASE i % 2 WHEN 0 THEN 'ICU' ELSE 'ward' END)::ENUM('ICU', 'ward') AS place, i % 3 AS severity, "
                  "i % 2 AS action, 1.0 AS outcome, i // 4 AS patient, TIMESTAMP '2024-05-17' + INTERVAL (i) HOUR AS t "
                  "FROM range(40) AS rows(i)")  # fmt: skip
    log = ps.Log.from_frame(query, state=["place", "severity"], reward="outcome", episode="patient", step="t",
                            last_row="terminal")  # fmt: skip
    assert log.state_names[:3] == ["ICU|0", "ward|1", "ICU|2"] and log.counts.facts["episodes"] == 10
    assert log.terminal.sum() == 10 and np.all(np.diff(log.step) == 3_600_000_000)


@pytest.mark.parametrize("type", ["DECIMAL(4, 2)", "DECIMAL(9, 2)", "DECIMAL(18, 2)", "DECIMAL(38, 2)"])
def test_decimals_and_sums_are_numbers(type):
    """What a query writes as 0.25, and what it sums up, are decimals of 128 bits in Arrow."""
    query = Query(f"SELECT (i % 3)::HUGEINT AS state, 0 AS action, ((i - 20) / 4)::{type} AS reward, 0::HUGEINT AS next_state "
                  "FROM range(40) AS rows(i)")  # fmt: skip
    log = ps.Log.from_frame(query)
    assert log.reward.tolist() == ((np.arange(40) - 20) / 4).tolist()
    assert np.array_equal(log.state, np.arange(40) % 3)


def test_missing_values_are_refused_and_everything_is_released():
    query = Query("SELECT i AS state, 0 AS action, CASE WHEN i = 3 THEN NULL ELSE 0.5 END AS reward, i AS next_state "
                  "FROM range(10) AS rows(i)")  # fmt: skip
    with pytest.raises(ps.InputError, match="reward"):
        ps.Log.from_frame(query)
    assert query.released == 1

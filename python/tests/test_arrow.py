"""Logs from Arrow streams, handed over by a small producer of our own: no other package is needed."""
import ctypes

import numpy as np
import pytest

import pessimist as ps


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


P, I = ctypes.c_void_p, ctypes.c_int64
RELEASE = ctypes.CFUNCTYPE(None, P)
FILL = ctypes.CFUNCTYPE(ctypes.c_int, P, P)
Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", I),
                   ("n_children", I), ("children", P), ("dictionary", P), ("release", P), ("private_data", P)]  # fmt: skip
Array._fields_ = [("length", I), ("null_count", I), ("offset", I), ("n_buffers", I), ("n_children", I), ("buffers", P),
                  ("children", P), ("dictionary", P), ("release", P), ("private_data", P)]  # fmt: skip
Stream._fields_ = [("get_schema", FILL), ("get_next", FILL), ("get_last_error", P), ("release", RELEASE), ("private_data", P)]


class Table:
    """Columns of int64 and float64, or of another format that is named, as one batch of an Arrow stream."""

    def __init__(self, columns, formats=()):
        self.formats = dict(formats)
        self.columns = {name: np.ascontiguousarray(values) for name, values in columns.items()}
        self.kept, self.sent, self.released = [], False, 0

    def __arrow_c_stream__(self, requested_schema=None):
        def noop_schema(at):
            Schema.from_address(at).release = None

        def noop_array(at):
            Array.from_address(at).release = None

        release_schema, release_array = RELEASE(noop_schema), RELEASE(noop_array)
        self.kept += [release_schema, release_array]

        def keep(*things):
            self.kept.extend(things)
            return things[0]

        def schema(stream, out):
            children = []
            for name, values in self.columns.items():
                form = self.formats.get(name, b"l" if values.dtype == np.int64 else b"g")
                children.append(keep(Schema(format=form, name=name.encode(), release=ctypes.cast(release_schema, P))))
            pointers = keep((P * len(children))(*map(ctypes.addressof, children)))
            found = Schema.from_address(out)
            found.format, found.name, found.n_children = b"+s", b"", len(children)
            found.children, found.release = ctypes.addressof(pointers), ctypes.cast(release_schema, P)
            return 0

        def batch(stream, out):
            found = Array.from_address(out)
            if self.sent:
                found.release = None
                return 0
            self.sent, children = True, []
            for values in self.columns.values():
                buffers = keep((P * 2)(None, values.ctypes.data))
                child = Array(length=len(values), n_buffers=2, buffers=ctypes.addressof(buffers), release=ctypes.cast(release_array, P))
                children.append(keep(child))
            pointers, none = keep((P * len(children))(*map(ctypes.addressof, children))), keep((P * 1)(None))
            found.length, found.null_count, found.offset = len(values), 0, 0
            found.n_buffers, found.buffers = 1, ctypes.addressof(none)
            found.n_children, found.children = len(children), ctypes.addressof(pointers)
            found.release = ctypes.cast(release_array, P)
            return 0

        def release(at):
            self.released += 1
            ctypes.c_void_p.from_address(at + Stream.release.offset).value = None

        stream = keep(Stream(FILL(schema), FILL(batch), None, RELEASE(release), None))
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [P, ctypes.c_char_p, P]
        self.name = b"arrow_array_stream"
        return new(ctypes.addressof(stream), self.name, None)


def columns(arrays):
    roles = ("state", "action", "next_state", "reward", "episode")
    return {role: arrays[role].astype(np.float64 if role == "reward" else np.int64) for role in roles}


def test_a_stream_is_the_log_of_its_arrays(arrays):
    table = Table(columns(arrays))
    log = ps.Log.from_frame(table)
    for name in ("state", "action", "next_state", "reward"):
        assert np.array_equal(getattr(log, name), arrays[name]), name
    assert table.released == 1


@pytest.mark.parametrize("bits", [32, 64, 128, 256])
def test_decimals_of_every_width(arrays, bits):
    """Whole numbers in two's complement over 10²; what is large is as exact as a double can be."""
    cents = np.arange(500) - 250
    words = np.zeros((500, max(1, bits // 64)), np.int32 if bits == 32 else np.int64)
    words[:, 0], words[:, 1:] = cents, np.where(cents < 0, -1, 0)[:, None]
    large = -(2 ** (bits - 2)) + 1
    words[7] = np.frombuffer(large.to_bytes(bits // 8, "little", signed=True), words.dtype)
    form = b"d:9,2" if bits == 128 else b"d:9,2,%d" % bits
    log = ps.Log.from_frame(Table({**columns(arrays), "reward": words}, {"reward": form}))
    expected = cents / 100
    expected[7] = large / 100
    assert np.array_equal(np.delete(log.reward, 7), np.delete(expected, 7))
    assert log.reward[7] == pytest.approx(expected[7], rel=1e-15)


def test_a_stream_that_fails_without_a_reason(arrays):
    table = Table(columns(arrays), {"reward": b"g"})
    stream = table.__arrow_c_stream__()
    table.kept[-1].get_next = fails = FILL(lambda stream, out: 5)
    table.__arrow_c_stream__ = lambda: stream
    with pytest.raises(ps.InputError, match="the Arrow stream says: no reason"):
        ps.Log.from_frame(table)
    assert table.released == 1 and fails


def test_a_stream_that_is_refused_is_released(arrays):
    table = Table({**columns(arrays), "reward": np.full(500, np.nan)})
    with pytest.raises(ps.InputError, match="reward"):
        ps.Log.from_frame(table)
    assert table.released == 1

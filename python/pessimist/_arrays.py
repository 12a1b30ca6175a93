"""NumPy arrays as the columns that the library reads, and the library's memory as NumPy arrays: a copy only where the
types differ."""
from __future__ import annotations

import ctypes
from typing import Any, Sequence

import numpy as np

from . import _abi
from ._library import C, Handle, InputError, make, text


class _Memory:
    """Memory of the library that lives as long as its owner, for NumPy to look at."""

    def __init__(self, address: int, shape: tuple[int, ...], dtype: np.dtype, owner: Any):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "data": (address, True), "shape": shape, "typestr": dtype.str}


def view(address: int | None, shape: int | tuple[int, ...], dtype: Any, owner: Any) -> np.ndarray | None:
    """Memory of the library as a read-only array, without a copy; None for NULL."""
    if not address:
        return None
    shape = (shape,) if isinstance(shape, int) else shape
    if 0 in shape:
        return np.empty(shape, dtype)
    return np.asarray(_Memory(address, shape, np.dtype(dtype), owner))


def address(array: np.ndarray | None) -> int | None:
    return None if array is None else array.ctypes.data


def column(name: str, values: Any) -> np.ndarray:
    """One dimension, in one piece."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{name}: found an array of {array.ndim} dimensions, expected one value per transition")
    return array


def _first(name: str, wrong: np.ndarray, values: np.ndarray, expected: str) -> InputError:
    row = int(np.flatnonzero(wrong)[0])
    return InputError(f"{name}: row {row}: found {values[row]}, expected {expected}")


def numbers(name: str, values: Any, dtype: Any = np.float64) -> np.ndarray | None:
    """A column of numbers as this type; missing values stay NaN, which the library refuses with their row."""
    if values is None:
        return None
    array = column(name, values)
    if array.dtype.kind == "O":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            wrong = np.array([not isinstance(v, (int, float, np.number)) for v in array])
            raise _first(name, wrong, array, "a number") from None
    if array.dtype.kind not in "buif":
        raise InputError(f"{name}: found values of type {array.dtype}, expected numbers")
    return np.ascontiguousarray(array, dtype)


def integers(name: str, values: Any) -> np.ndarray:
    """A column of integers, whatever type holds them."""
    array = numbers(name, values, None)
    assert array is not None
    if array.dtype.kind == "f":
        wrong = ~(array == np.floor(array)) | np.isinf(array)
        if wrong.any():
            raise _first(name, wrong, array, "an integer")
    return array


def steps(values: Any) -> np.ndarray:
    """Steps are integers or times, which are kept in microseconds since 1970 as those of files are."""
    array = column("step", values)
    if array.dtype.kind == "M":
        if np.isnat(array).any():
            raise _first("step", np.isnat(array), array, "a time")
        array = array.astype("datetime64[us]").astype(np.int64)
    return np.ascontiguousarray(integers("step", array), np.int64)


def ids(name: str, values: Any) -> np.ndarray:
    """A column of ids from 0 on, as the library keeps them."""
    array = column(name, values)
    if array.dtype == np.uint32:
        return np.ascontiguousarray(array)
    array = integers(name, array)
    if array.dtype.kind in "if" and array.size and array.min() < 0:
        raise _first(name, array < 0, array, "an id from 0 on")
    limit = _abi.CONSTANTS["PESS_MAX_STATES"]
    if array.size and array.max() >= limit:
        raise _first(name, array >= limit, array, f"an id below {limit}")
    return np.ascontiguousarray(array, np.uint32)


def is_names(values: np.ndarray) -> bool:
    """Are these names (texts) and not numbers?"""
    if values.dtype.kind in "US":
        return True
    return values.dtype.kind == "O" and any(isinstance(v, (str, bytes)) for v in values[:1000])


def is_missing(value: Any) -> bool:
    """None, NaN, and what pandas has for them."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def encode(columns: dict[str, Any], known: Sequence[str] | None = None) -> tuple[dict[str, np.ndarray], list[str] | None]:
    """Columns that share their names (state and next state) as ids, and the names by id: in the order in which they
    come, row by row, or as `known` has them. Integers are ids already, and there are no names then."""
    arrays = {name: column(name, values) for name, values in columns.items()}
    if not any(is_names(array) for array in arrays.values()):
        return {name: ids(name, array) for name, array in arrays.items()}, list(known) if known is not None else None
    texts = {name: _texts(name, array) for name, array in arrays.items()}
    number = {text: i for i, text in enumerate(known)} if known is not None else {}
    if known is None:
        for row in zip(*texts.values()):
            for one in row:
                number.setdefault(one, len(number))
    found = {}
    for name, column_texts in texts.items():
        try:
            found[name] = np.fromiter(map(number.__getitem__, column_texts), np.uint32, len(column_texts))
        except KeyError as error:
            row = column_texts.index(error.args[0])
            raise InputError(f"{name}: row {row}: found '{error.args[0]}', which is none of the names") from None
    return found, list(number)


def _texts(name: str, array: np.ndarray) -> list[str]:
    values = array.tolist()
    for row, value in enumerate(values):
        if isinstance(value, str):
            continue
        if is_missing(value):
            raise InputError(f"{name}: row {row}: a name is missing")
        values[row] = value.decode() if isinstance(value, bytes) else str(value)
    return values


class Names(Handle):
    """Names of states or actions for the library."""

    _destroy = "pess_names_destroy"

    def __init__(self, names: Sequence[str]):
        encoded = [name.encode() for name in names]
        pointers = (ctypes.c_char_p * max(1, len(encoded)))(*encoded)
        self._own(make(C.pess_names_create, ctypes.addressof(pointers), len(encoded)))


def names_address(names: Sequence[str] | None) -> tuple[int | None, Any]:
    """The address of names, and what keeps it."""
    if names is None:
        return None, None
    kept = Names(names)
    return kept._address, kept


def names_list(address: int | None) -> list[str] | None:
    """Names of the library as texts; None where the ids are the names."""
    if not address or not C.pess_names_given(address):
        return None
    return [text(C.pess_names_get(address, i)) or "" for i in range(C.pess_names_count(address))]

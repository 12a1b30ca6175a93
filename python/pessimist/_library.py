"""The shared library: its functions, errors as exceptions, progress and interruption, and objects that own a handle."""
from __future__ import annotations

import ctypes
import functools
import re
import threading
from pathlib import Path
from typing import Any, Callable, Iterator

from . import _abi
from ._progress import Bar, wanted
from ._remedies import remedy

LIBRARY = Path(__file__).with_name("libpess.so")
_shared = ctypes.CDLL(str(LIBRARY))


class _Functions:
    """`C.pess_solve(...)`: functions with the types that pess.h gives them, prepared at their first use."""

    def __getattr__(self, name: str) -> Any:
        if name not in _abi.FUNCTIONS:
            raise AttributeError(f"the library has no function {name}")
        result, parameters, doc = _abi.FUNCTIONS[name]
        function = _shared[name]
        function.restype, function.argtypes, function.__doc__ = result, parameters, doc
        setattr(self, name, function)
        return function


C = _Functions()


# ---- errors


class Error(Exception):
    """What the library refused, in its own sentence. `code` is the kind ("INPUT"); `file`, `line` and `column` say
    where, or are None."""

    code = "ERROR"

    def __init__(self, sentence: str):
        super().__init__(sentence)
        place = re.match(r"(?P<file>[^\n]+?):(?P<line>\d+)(?::(?P<column>\d+))?: ", sentence)
        self.file = place["file"] if place else None
        self.line = int(place["line"]) if place else None
        self.column = int(place["column"]) if place and place["column"] else None


class ArgumentError(Error, ValueError):
    """An argument or setting is not valid."""


class InputError(Error, ValueError):
    """The input is not valid."""


class OutOfMemory(Error, MemoryError):
    """There is not enough memory."""


class LimitError(Error, OverflowError):
    """A size is beyond the limits."""


class FileError(Error, OSError):
    """A file cannot be read or written."""


class NotConverged(Error, ArithmeticError):
    """The computation did not converge."""


class Interrupted(Error):
    """The computation was interrupted: a progress function returned False."""


_EXCEPTIONS: dict[int, type[Error]] = {}
for _kind, _name in zip(
    (ArgumentError, InputError, OutOfMemory, LimitError, FileError, NotConverged, Interrupted),
    ("ARGUMENT", "INPUT", "MEMORY", "LIMIT", "IO", "NOT_CONVERGED", "INTERRUPTED"),
):
    _kind.code = _name
    _EXCEPTIONS[_abi.CONSTANTS["PESS_" + _name]] = _kind


AUTO = object()  # a bar where somebody is watching and the work takes longer than a moment


class _Thread(threading.local):
    """What a thread keeps for its calls: room for an error, who is told of progress, what a callback raised."""

    def __init__(self) -> None:
        self.error = _abi.pess_error()
        self.error_address = ctypes.addressof(self.error)
        self.listener: Any = AUTO
        self.bar: Bar | None = None
        self.raised: BaseException | None = None


thread = _Thread()


def failure() -> BaseException:
    """The exception of the call that just failed in this thread: what a callback raised, or the library's sentence."""
    raised, thread.raised = thread.raised, None
    if raised is not None:
        return raised
    error = thread.error
    sentence, code = error.message.decode("utf-8", "replace"), text(error.remedy)
    if code is not None:
        sentence += "; " + remedy(code, error.value.decode("utf-8", "replace"))
    return _EXCEPTIONS.get(error.status, Error)(sentence)


def call(function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function whose last parameter is an error; what it refuses is raised."""
    status = function(*arguments, thread.error_address)
    if thread.bar is not None:
        thread.bar.close()
        thread.bar = None
    if status:
        raise failure()


def make(function: Callable[..., int], *arguments: Any) -> int:
    """The same for functions that make an object: the parameter before the error is where its address goes."""
    out = ctypes.c_void_p()
    call(function, *arguments, ctypes.addressof(out))
    assert out.value is not None
    return out.value


# ---- progress


def _listen(what: str, done: float, total: float, unit: str) -> bool:
    """Called about ten times a second by the thread that works."""
    listener = thread.listener
    if listener is AUTO:
        if thread.bar is None and wanted():
            thread.bar = Bar()
        listener = thread.bar.show if thread.bar is not None else None
    return listener is None or listener(what, done, total, unit) is not False


_Report = dict(_abi.pess_progress._fields_)["report"]


@_Report
def _report(user: int, what: bytes, done: float, total: float, unit: bytes) -> bool:
    """For installations without _fast. A Ctrl-C that is raised before the `try` is lost."""
    try:
        return _listen((what or b"").decode(), done, total, (unit or b"").decode())
    except BaseException as error:
        thread.raised = error
        return False


try:
    from . import _fast

    _report = _Report(_fast.reporter(_listen, functools.partial(setattr, thread, "raised")))
except ImportError:
    _fast = None

#: For the field `progress` of every options struct. What is raised meanwhile goes on where the library returns.
PROGRESS = _abi.pess_progress(_report, None)


class listening:
    """`with listening(progress):` says who is told of the progress of calls in this thread. None: a bar on a terminal
    or in a notebook where the work takes longer than a moment. False: nobody. A function is called with (what, done,
    total, unit) and stops the work by returning False."""

    def __init__(self, progress: Any = None):
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            raise TypeError(f"progress: found {progress!r}, expected a function, True or False")
        self.bar = Bar() if progress is True else None
        self.listener = AUTO if progress is None else self.bar.show if self.bar else progress or None

    def __enter__(self) -> None:
        self.before, thread.listener = thread.listener, self.listener

    def __exit__(self, *_: Any) -> None:
        thread.listener = self.before
        if self.bar:
            self.bar.close()


# ---- what the library hands out


class Handle:
    """An object of the library, destroyed with its Python object. `_keep` are objects it borrows from."""

    _destroy = ""

    def _own(self, address: int, *keep: Any) -> None:
        self._address, self._keep = address, keep
        self._end = getattr(C, self._destroy)

    def __del__(self) -> None:
        address = self.__dict__.pop("_address", None)
        if address is not None:
            self._end(address)


def expect(what: str, value: Any, *kinds: type) -> Any:
    """The value, which has to be an object of one of these kinds: by its address alone it could be any other."""
    if isinstance(value, kinds):
        return value
    raise TypeError(f"{what}: found {type(value).__name__}, expected {' or '.join(kind.__name__ for kind in kinds)}")


def text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "replace")


def word(enum: str, value: int) -> str | None:
    """A value of an enum as a word: PESS_OUTCOME_TIME_LIMIT is "time-limit"; None where it is not set (-1)."""
    names = _abi.ENUMS[enum]
    parts = [name.split("_") for name in names]
    shared = 0
    while all(len(p) > shared + 1 for p in parts) and len({p[shared] for p in parts}) == 1:
        shared += 1
    for name, number in names.items():
        if number == value:
            return "-".join(name.split("_")[shared:]).lower()
    return None


def facts(struct: ctypes.Structure) -> dict[str, Any]:
    """The plain fields of a struct: numbers, switches, texts, words of enums. Pointers to other things are left out."""
    found: dict[str, Any] = {}
    for name, kind, *_ in struct._fields_:
        value = getattr(struct, name)
        if name in struct.enums:
            found[name] = word(struct.enums[name], value)
        elif isinstance(value, bytes) or kind is ctypes.c_char_p:
            found[name] = text(value)
        elif isinstance(value, (bool, int, float)) and kind is not ctypes.c_void_p:
            found[name] = value
        elif isinstance(value, ctypes.Array):
            found[name] = list(value)
    return found


def info(function: str, address: int, struct: str) -> dict[str, Any]:
    """What a pess_X_get_info(object, out) says."""
    out = _abi.STRUCTS[struct]()
    getattr(C, function)(address, ctypes.addressof(out))
    return facts(out)


def listed(function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
    """Structs of a list by position, up to the NULL past its last."""
    index = 0
    while pointer := function(*arguments, index):
        yield pointer.contents
        index += 1

"""Settings: the library's tables turned into keyword arguments, with their checks, signatures and documentation."""
from __future__ import annotations

import ctypes
import difflib
import functools
import inspect
import os
from typing import Any, Callable, Iterable, NamedTuple

from . import _abi
from ._library import C, PROGRESS, ArgumentError, call, text

KINDS = {value: name[len("PESS_SETTING_") :].lower() for name, value in _abi.ENUMS["pess_setting_kind"].items()}
TYPES: dict[str, Any] = {
    "switch": bool, "int": int, "count": int, "seed": int, "number": float, "range": "tuple[float, float]",
    "pair": "tuple[float, float]", "text": str, "choice": str,
}  # fmt: skip


class Setting(NamedTuple):
    """A row of a table."""

    name: str  #: as the command line has it, "min-count"
    key: str  #: as Python has it, "min_count"
    kind: str
    default: Any
    choices: tuple[str, ...]
    sentence: str
    where_unset: str | None
    expected: str
    specific: bool


def _value(kind: str, written: str | None) -> Any:
    """A default of a table, which is text, as a Python value."""
    if written is None:
        return None
    if kind == "switch":
        return written == "on"
    if kind in ("int", "count", "seed"):
        return int(float(written))
    if kind == "number":
        return float(written)
    if kind in ("range", "pair"):
        return tuple(float(part) for part in written.split(","))
    return written


def _setting(row: Any) -> Setting:
    name, kind = row.name.decode(), KINDS[row.kind]
    expected = ctypes.create_string_buffer(400)
    C.pess_setting_expected(ctypes.addressof(row), ctypes.addressof(expected), len(expected))
    choices = tuple(row.choices.decode().split("|")) if row.choices else ()
    return Setting(
        name, name.replace("-", "_"), kind, _value(kind, text(row.standard)), choices, text(row.sentence) or "",
        text(row.where_unset), expected.value.decode(), row.specific,
    )  # fmt: skip


def written(value: Any) -> str:
    """A Python value as the text that the library reads."""
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "on" if value else "off"
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, dict):  # {"episode": "patient", "state": ["ward", "severity"]}: a line each
        return "\n".join(f"{key}={written(part)}" for key, part in value.items())
    if isinstance(value, (tuple, list)) or hasattr(value, "__array__") and getattr(value, "ndim", 0) == 1:
        return ",".join(written(part) for part in value)
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    return repr(value) if isinstance(value, (int, float)) else str(value)


class Table:
    """The settings of one options struct."""

    def __init__(self, name: str, pointer: Any = None, struct: type[ctypes.Structure] | None = None):
        self.pointer = pointer or getattr(C, f"pess_{name}_settings")()
        self.struct = struct or _abi.STRUCTS.get(f"pess_{name}_options") or _abi.STRUCTS[f"pess_{name}"]
        table = self.pointer.contents
        rows = ctypes.cast(table.rows, ctypes.POINTER(_abi.pess_setting * table.count)).contents
        self.rows = {setting.key: setting for setting in map(_setting, rows)}
        self.name = name

    def __contains__(self, key: str) -> bool:
        return key in self.rows

    def make(self, values: dict[str, Any]) -> Any:
        """The struct with these values, checked by the library; None leaves the default. Texts are kept with it."""
        options = self.struct()
        C.pess_setting_defaults(self.pointer, ctypes.addressof(options))
        options.kept = []
        if hasattr(options, "progress"):
            options.progress = PROGRESS
        return self.set(options, values)

    def set(self, options: Any, values: dict[str, Any]) -> Any:
        """Sets some values of a struct."""
        for key, value in values.items():
            if value is None:
                continue
            name, content = self.rows[key].name.encode(), written(value).encode()
            options.kept.append(content)
            try:
                call(C.pess_setting_set, self.pointer, ctypes.addressof(options), name, content)
            except ArgumentError as refused:  # by the name that Python has for it
                raise ArgumentError(str(refused).replace(self.rows[key].name, key, 1)) from None
        return options

    def pick(self, values: dict[str, Any]) -> dict[str, Any]:
        """Those of the values that are settings of this table."""
        return {key: value for key, value in values.items() if key in self.rows}


@functools.lru_cache(maxsize=None)
def table(name: str) -> Table:
    return Table(name)


def unknown(function: str, key: str, known: Iterable[str]) -> TypeError:
    near = difflib.get_close_matches(key, list(known), 1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(known))}"
    return TypeError(f"{function}() has no setting '{key}'; {hint}")


def check_known(function: str, values: dict[str, Any], tables: Iterable[Table], also: Iterable[str] = ()) -> None:
    known = {key for one in tables for key in one.rows} | set(also)
    for key in values:
        if key not in known:
            raise unknown(function, key, known)


#: What a column of a log may be; the library reads them as `column`.
ROLES = ("state", "action", "reward", "next_state", "terminal", "truncated", "episode", "step", "probability")


def by_role(values: dict[str, Any]) -> dict[str, Any]:
    """Settings of `read` in which roles may stand by themselves: episode="patient" is column={"episode": "patient"}."""
    roles = {role: values[role] for role in ROLES if values.get(role) is not None}
    rest = {key: value for key, value in values.items() if key not in ROLES}
    if roles:
        rest["column"] = "\n".join(written(given) for given in (rest.get("column"), roles) if given is not None)
    return rest


def refuse_specific(whom: str, values: dict[str, Any], one: Table, reads: Callable[[str], bool]) -> None:
    """Settings that some algorithms alone read are refused where this one does not: they would change nothing."""
    for key, value in values.items():
        setting = one.rows.get(key)
        if setting and setting.specific and value is not None and not reads(setting.name):
            raise ArgumentError(f"{key}: {whom} does not read it")


def _sentence(setting: Setting) -> str:
    if setting.default is not None and setting.default != "":
        ending = f"Default {setting.default!r}"
    else:
        ending = f"Default: {setting.where_unset}" if setting.where_unset else "Not set by default"
    choices = " (" + ", ".join(setting.choices) + ")" if setting.choices else ""
    return f"    {setting.key}: {setting.sentence}{choices}. {ending}."


def takes(*names: str, without: Iterable[str] = ()) -> Callable[[Any], Any]:
    """Gives a function that ends in **settings the signature and the documentation of the tables of these names."""

    def decorate(function: Any) -> Any:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        taken = {p.name for p in own} | set(without)
        lines = []
        for setting in (s for name in names for s in table(name).rows.values()):
            if setting.key in taken:
                continue
            taken.add(setting.key)
            kind = TYPES[setting.kind]
            kind = kind if isinstance(kind, str) else kind.__name__
            if setting.default is None:
                kind += " | None"
            own.append(
                inspect.Parameter(setting.key, inspect.Parameter.KEYWORD_ONLY, default=setting.default, annotation=kind)
            )
            lines.append(_sentence(setting))
        function.__signature__ = signature.replace(parameters=own)
        if lines:
            function.__doc__ = inspect.cleandoc(function.__doc__ or "") + "\n\nSettings:\n" + "\n".join(lines)
        return function

    return decorate

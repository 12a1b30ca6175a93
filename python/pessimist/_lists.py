"""What there is: algorithms, uncertainties, formats, experiments, … as the library lists them."""
from __future__ import annotations

from typing import Any, Iterator, Mapping

from . import _abi
from ._library import C, facts, listed
from ._show import Record, html_table


class Entry(Record):
    """A row of a list."""

    def __repr__(self) -> str:
        return f"{self._facts['name']}: {self._facts.get('summary') or ''}"


class Listing(Mapping):
    """A list of the library, by name.

    >>> import pessimist as ps
    >>> "ua" in ps.algorithms
    True
    >>> ps.uncertainties["count"].formula
    'min(1/√n, W)'
    """

    def __init__(self, function: str, struct: str):
        self._function, self._struct = function, struct
        self._rows: dict[str, Entry] | None = None

    def _entries(self) -> dict[str, Entry]:
        if self._rows is None:
            docs = _abi.STRUCTS[self._struct].docs
            rows = [Entry(facts(row), docs) for row in listed(getattr(C, self._function))]
            self._rows = {row.name: row for row in rows}
        return self._rows

    def __getitem__(self, name: str) -> Entry:
        return self._entries()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries())

    def __len__(self) -> int:
        return len(self._entries())

    def __repr__(self) -> str:
        width = max(map(len, self._entries()), default=0) + 2
        return "\n".join(f"{name:<{width}}{row.summary}" for name, row in self._entries().items())

    def _repr_html_(self) -> str:
        return html_table([(name, row.summary) for name, row in self._entries().items()])


def _listings() -> dict[str, Listing]:
    """One for every pess_X_list() of the header; "algorithm" becomes `algorithms`."""
    found: dict[str, Any] = {}
    for function in _abi.FUNCTIONS:
        struct = function[: -len("_list")] + "_info"
        struct = {"pess_control_info": "pess_env_info"}.get(struct, struct)
        if function.endswith("_list") and struct in _abi.STRUCTS:
            word = function[len("pess_") : -len("_list")]
            plural = word[:-1] + "ies" if word.endswith("y") else word + "s"
            found[{"envs": "games"}.get(plural, plural)] = Listing(function, struct)
    return found


LISTINGS = _listings()

"""How results look: on a terminal, in a notebook, as a picture."""
from __future__ import annotations

import html
from typing import Any, Iterable, Sequence

STYLE = "text-align:left;padding:2px 12px 2px 0;vertical-align:top"


def counted_noun(count: int, noun: str) -> str:
    """1 state, 2 states."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


class Record:
    """Facts as attributes: `record.lower_bound`, listed by dir(), with the header's comments as documentation."""

    def __init__(self, facts: dict[str, Any], docs: dict[str, str] | None = None):
        self._facts = facts
        self._docs = docs or {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._facts[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no '{name}'; it has {', '.join(self._facts)}") from None

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self._facts]

    def as_dict(self) -> dict[str, Any]:
        """All facts, for a table or JSON."""
        return dict(self._facts)

    def explain(self, name: str) -> str:
        """What an attribute means."""
        return self._docs.get(name, "")

    def __repr__(self) -> str:
        return "\n".join(f"{name:<26}{value}" for name, value in self._facts.items())

    def _repr_html_(self) -> str:
        return html_table(self._facts.items())


def number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def html_table(rows: Iterable[Sequence[Any]], head: Sequence[str] = ()) -> str:
    def cells(row: Sequence[Any], tag: str) -> str:
        return "".join(f'<{tag} style="{STYLE}">{html.escape(number(cell))}</{tag}>' for cell in row)

    first = f"<tr>{cells(head, 'th')}</tr>" if head else ""
    return "<table>" + first + "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows) + "</table>"


def html_list(heading: str, sentences: Iterable[str]) -> str:
    items = "".join(f"<li>{html.escape(str(s))}</li>" for s in sentences)
    return f"<p><b>{html.escape(heading)}</b></p><ul>{items}</ul>" if items else ""


def html_page(page: str, height: int = 480) -> str:
    """A whole page within a cell of a notebook."""
    return f'<iframe srcdoc="{html.escape(page)}" width="100%" height="{height}" style="border:0"></iframe>'


class Svg:
    """A figure as SVG, drawn by the library."""

    def __init__(self, source: str):
        self.source = source

    def save(self, path: Any) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.source)

    def _repr_svg_(self) -> str:
        return self.source

    def __repr__(self) -> str:
        return f"Svg of {len(self.source)} bytes"


def matplotlib_pyplot() -> Any:
    """matplotlib's pyplot, or None where it is not installed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return None
    return plt

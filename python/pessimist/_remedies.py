"""What helps where something is refused: the library's remedies in Python's words."""
from __future__ import annotations

WORDS = {
    "missing": 'missing="{value}" leaves these rows out, missing="ROLE=VALUE" puts a value in',
    "measurements": 'measurements? discretize makes states of them; a few levels, to be names? decimal_ids="names"',
    "rule": 'give the map a rule for it: discretize(…, missing="{value}"), or flag, or a number',
    "features": "measurements are the columns of features, or those that the map was made for",
    "export": "save it as CSV in UTF-8, or Log.from_frame(pandas.read_excel(path), …)",
    "utf8": 'save it as CSV in UTF-8, or Log.from_frame(pandas.read_csv(path, encoding="utf-16"), …)',
    "convert": "read(path).to_frame() makes a table of a log; a workbook is saved as CSV in UTF-8",
}


def remedy(code: str, value: str) -> str:
    """How to set what helps: by its code and value, which are mostly a setting and its value.

    >>> remedy("last-row", "terminal|cutoff"), remedy("column", "state=NAME"), remedy("reward-range", "LO,HI")
    ('try last_row="terminal" or "cutoff"', 'try state="NAME"', 'try reward_range=(LO, HI)')
    """
    if code in WORDS:
        return WORDS[code].format(value=value)
    key, value = value.split("=", 1) if code == "column" else (code.replace("-", "_"), value)
    if "," in value and key.endswith("range"):
        return f"try {key}=({', '.join(value.split(','))})"
    return f"try {key}=" + " or ".join(f'"{choice}"' for choice in value.split("|"))

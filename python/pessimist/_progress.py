"""A bar for work that takes longer than a moment, on standard error, with tqdm's look."""
from __future__ import annotations

import sys
import time

QUIET_SECONDS = 1.0
WIDTH = 24
EIGHTHS = " ▏▎▍▌▋▊▉█"


def wanted() -> bool:
    """Is somebody watching: a terminal, or a notebook?"""
    return sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)


def clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes:02d}:{seconds:02d}"


def line(what: str, done: float, total: float, unit: str, seconds: float) -> str:
    """
    >>> line("solving", 50, 200, "sweeps", 2)
    'solving:  25%|██████                  | 50/200 [00:02<00:06, 25.0 sweeps/s]'
    """
    rate = done / seconds if seconds > 0 else 0.0
    speed = f"{rate:.3g} {unit}/s" if rate >= 1000 or rate < 1 else f"{rate:.1f} {unit}/s"
    if total <= 0:
        return f"{what}: {done:.6g} {unit} [{clock(seconds)}, {speed}]"
    share = min(max(done / total, 0.0), 1.0)
    whole, part = divmod(int(share * WIDTH * 8), 8)
    bar = "█" * whole + (EIGHTHS[part] if whole < WIDTH else "")
    left = clock((total - done) / rate) if rate > 0 else "?"
    return f"{what}: {share:4.0%}|{bar:<{WIDTH}}| {done:.6g}/{total:.6g} [{clock(seconds)}<{left}, {speed}]"


class Bar:
    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.width = 0

    def show(self, what: str, done: float, total: float, unit: str) -> None:
        seconds = time.monotonic() - self.begun
        if seconds < QUIET_SECONDS:
            return
        text = line(what, done, total, unit, seconds)
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)

    def close(self) -> None:
        if self.width:
            sys.stderr.write("\n")
            sys.stderr.flush()

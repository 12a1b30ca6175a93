import faulthandler
import signal
from pathlib import Path

import numpy as np
import pytest

import pessimist as ps

faulthandler.enable()
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def visits():
    return ps.read(ROOT / "examples" / "visits.csv")


@pytest.fixture
def arrays():
    """A log of 500 random transitions with 6 states and 3 actions, as arrays."""
    rng = np.random.default_rng(1)
    return {
        "state": rng.integers(0, 6, 500), "action": rng.integers(0, 3, 500), "reward": rng.random(500),
        "next_state": rng.integers(0, 6, 500), "terminal": rng.random(500) < 0.1, "episode": np.arange(500) // 10,
        "step": np.arange(500) % 10, "probability": np.full(500, 1 / 3),
    }  # fmt: skip

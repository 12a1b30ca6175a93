"""Spaces as Gymnasium has them, for where it is not installed: shape, dtype, sample, contains."""
from __future__ import annotations

from typing import Any

import numpy as np


class Space:
    def __init__(self, shape: tuple[int, ...], dtype: Any, seed: int | None = None):
        self.shape, self.dtype = shape, np.dtype(dtype)
        self.seed(seed)

    def seed(self, seed: int | None = None) -> None:
        self.np_random = np.random.default_rng(seed)

    def __contains__(self, value: Any) -> bool:
        return self.contains(value)

    def contains(self, value: Any) -> bool:
        raise NotImplementedError


class Discrete(Space):
    """0 … n-1.

    >>> 3 in Discrete(4), 4 in Discrete(4)
    (True, False)
    """

    def __init__(self, n: int, seed: int | None = None):
        super().__init__((), np.int64, seed)
        self.n, self.start = int(n), 0

    def sample(self) -> np.int64:
        return np.int64(self.np_random.integers(self.n))

    def contains(self, value: Any) -> bool:
        number = np.asarray(value)
        return number.shape == () and number.dtype.kind in "iu" and 0 <= int(number) < self.n

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Discrete) and other.n == self.n

    def __repr__(self) -> str:
        return f"Discrete({self.n})"


class MultiDiscrete(Space):
    """Several Discrete spaces, one for each of several environments."""

    def __init__(self, nvec: Any, seed: int | None = None):
        self.nvec = np.asarray(nvec, np.int64)
        super().__init__(self.nvec.shape, np.int64, seed)

    def sample(self) -> np.ndarray:
        return self.np_random.integers(self.nvec)

    def contains(self, value: Any) -> bool:
        numbers = np.asarray(value)
        return numbers.shape == self.shape and numbers.dtype.kind in "iu" and bool(((0 <= numbers) & (numbers < self.nvec)).all())

    def __repr__(self) -> str:
        return f"MultiDiscrete({self.nvec})"


class Box(Space):
    """Arrays of numbers from low to high."""

    def __init__(self, low: float, high: float, shape: tuple[int, ...], dtype: Any, seed: int | None = None):
        super().__init__(shape, dtype, seed)
        self.low, self.high = np.full(shape, low, dtype), np.full(shape, high, dtype)

    def sample(self) -> np.ndarray:
        if self.dtype.kind == "b":
            return self.np_random.random(self.shape) < 0.5
        if self.dtype.kind == "f":
            if not np.isfinite(self.low).all() or not np.isfinite(self.high).all():
                return self.np_random.standard_normal(self.shape).astype(self.dtype)
            return self.np_random.uniform(self.low, self.high).astype(self.dtype)
        return self.np_random.integers(self.low, self.high.astype(np.int64) + 1, self.shape).astype(self.dtype)

    def contains(self, value: Any) -> bool:
        array = np.asarray(value)
        return array.shape == self.shape and bool(((self.low <= array) & (array <= self.high)).all())

    def __repr__(self) -> str:
        return f"Box({self.low.min(initial=0)}, {self.high.max(initial=0)}, {self.shape}, {self.dtype})"

"""Type checkers see every setting: right programs pass, a wrong name and a wrong type do not."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pessimist as ps

RIGHT = """
import numpy as np
import pessimist as ps

log = ps.read("visits.csv", states=5)
sol = ps.solve(log, "ua", gamma=0.95, reward_range=(0, 1))
policy: ps.Policy = sol.policy
actions: np.ndarray = policy.act([0, 1])
cert: ps.Certificate = ps.certify(log, delta=0.05)
fitted = ps.UA(absorbed_alpha=0.5).fit(log)
envs = ps.make_vec("breakout", 256, sticky=0.1)
"""
WRONG = {"ps.solve(log, gama=0.9)": "gama", "ps.solve(log, gamma='much')": "gamma", "ps.UA(alfa=1)": "alfa"}


def test_programs(tmp_path):
    """One run for both: numpy's own types take most of its time."""
    pytest.importorskip("mypy")
    if not Path(ps.__file__).with_name("__init__.pyi").exists():
        pytest.skip("this build has no stubs")
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(RIGHT + "\n".join(WRONG))
    environment = {**os.environ, "MYPYPATH": str(Path(ps.__file__).parents[1])}
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--cache-dir", os.devnull, "right.py", "wrong.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    found = [line for line in done.stdout.splitlines() if "error" in line and line.startswith(("right.py", "wrong.py"))]
    assert "(checked 2 source files)" in done.stdout and len(found) == len(WRONG), done.stdout + done.stderr
    for line, word in zip(found, WRONG.values()):
        assert line.startswith("wrong.py") and word in line


def test_help():
    """Every public function and class says what it is; settings are documented with their defaults."""
    for name in ps.__all__:
        value = getattr(ps, name)
        if callable(value):
            assert value.__doc__ and len(value.__doc__) > 20, name
    assert "gamma: " in ps.solve.__doc__ and "Default 0.99" in ps.solve.__doc__
    assert set(ps.__all__) <= set(dir(ps))

"""What must work wherever the wheel is installed: a log, a policy, a certificate, a game."""
import numpy as np

import pessimist as ps

rng = np.random.default_rng(0)
state, action = rng.integers(0, 4, 2000), rng.integers(0, 2, 2000)
log = ps.Log(state, action, (state == action).astype(float), rng.integers(0, 4, 2000))
sol = ps.solve(log, "ua", gamma=0.9, reward_range=(0, 1))
assert sol.outcome == "converged" and sol.policy[0, 0] == 1 and sol.policy[1, 1] == 1, sol
assert ps.certify(log, gamma=0.9, reward_range=(0, 1)).lower_bound >= 0
mdp = ps.gridworld(4, 4, seed=1)
assert mdp.evaluate(mdp.solve(gamma=0.9).policy, gamma=0.9).value > 0
print(f"pessimist {ps.__version__}: {ps.__file__}")

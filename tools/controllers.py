#!/usr/bin/python3
"""Logs of mediocre controllers of the control problems, as NumPy arrays by D4RL's names. The equations are written here
a second time, apart from the library: Barto, Sutton & Anderson 1983 (CartPole), Sutton 1996 (Acrobot, the book's), Moore
1990 (MountainCar). Each controller knows what a beginner would do, and does something at random a share EPSILON of the
time. Needs NumPy.

Usage: tools/controllers.py cartpole|cartpole_noisy|acrobot|mountain_car FILE.npz [TRANSITIONS [SEED [EPSILON]]]"""
import sys

import numpy as np


class CartPole:
    limit, actions, epsilon = 500, 2, 0.1

    def reset(self, draw):
        return draw.uniform(-0.05, 0.05, 4)

    def step(self, s, a):
        x, v, angle, spin = s
        total, pole, half, force = 1.1, 0.1, 0.5, (10.0 if a == 1 else -10.0)
        temp = (force + pole * half * spin**2 * np.sin(angle)) / total
        turning = (9.8 * np.sin(angle) - np.cos(angle) * temp) / (half * (4 / 3 - pole * np.cos(angle) ** 2 / total))
        pushing = temp - pole * half * turning * np.cos(angle) / total
        s = np.array([x + 0.02 * v, v + 0.02 * pushing, angle + 0.02 * spin, spin + 0.02 * turning])
        return s, 1.0, abs(s[0]) > 2.4 or abs(s[2]) > 12 * np.pi / 180

    def observe(self, s):
        return s

    def control(self, s):  # pushes to where the pole turns, and looks neither where it stands nor where the cart is
        return int(s[3] > 0)


class NoisyCartPole(CartPole):
    epsilon = 0.3

    def control(self, s):  # a little better, and less steady
        return int(s[2] + 2 * s[3] > 0)


class Acrobot:
    limit, actions, epsilon = 500, 3, 0.6

    def reset(self, draw):
        return draw.uniform(-0.1, 0.1, 4)

    def slope(self, s, torque):
        t1, t2, w1, w2 = s
        d1 = 0.25 + (1 + 0.25 + np.cos(t2)) + 2
        d2 = (0.25 + 0.5 * np.cos(t2)) + 1
        phi2 = 0.5 * 9.8 * np.cos(t1 + t2 - np.pi / 2)
        phi1 = -0.5 * w2**2 * np.sin(t2) - w2 * w1 * np.sin(t2) + 1.5 * 9.8 * np.cos(t1 - np.pi / 2) + phi2
        a2 = (torque + d2 / d1 * phi1 - 0.5 * w1**2 * np.sin(t2) - phi2) / (0.25 + 1 - d2**2 / d1)
        return np.array([w1, w2, -(d2 * a2 + phi1) / d1, a2])

    def step(self, s, a):
        h = 0.2
        k1 = self.slope(s, a - 1)
        k2 = self.slope(s + h / 2 * k1, a - 1)
        k3 = self.slope(s + h / 2 * k2, a - 1)
        s = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + self.slope(s + h * k3, a - 1))
        s[:2] = (s[:2] + np.pi) % (2 * np.pi) - np.pi
        s[2], s[3] = np.clip(s[2], -4 * np.pi, 4 * np.pi), np.clip(s[3], -9 * np.pi, 9 * np.pi)
        up = -np.cos(s[0]) - np.cos(s[0] + s[1]) > 1
        return s, 0.0 if up else -1.0, up

    def observe(self, s):
        return [np.cos(s[0]), np.sin(s[0]), np.cos(s[1]), np.sin(s[1]), s[2], s[3]]

    def control(self, s):  # swings with the first link
        return 2 if s[2] < 0 else 0


class MountainCar:
    limit, actions, epsilon = 200, 3, 0.4

    def reset(self, draw):
        return np.array([draw.uniform(-0.6, -0.4), 0.0])

    def step(self, s, a):
        v = np.clip(s[1] + 0.001 * (a - 1) - 0.0025 * np.cos(3 * s[0]), -0.07, 0.07)
        x = np.clip(s[0] + v, -1.2, 0.6)
        return np.array([x, 0.0 if x <= -1.2 and v < 0 else v]), -1.0, x >= 0.5

    def observe(self, s):
        return s

    def control(self, s):  # pushes where it is going
        return 2 if s[1] >= 0 else 0


PROBLEMS = {"cartpole": CartPole, "cartpole_noisy": NoisyCartPole, "acrobot": Acrobot, "mountain_car": MountainCar}


def log(problem, transitions, seed, epsilon):
    draw = np.random.RandomState(seed)
    columns = {name: [] for name in ("observations", "next_observations", "actions", "rewards", "terminals", "timeouts",
                                     "probabilities")}
    returns, total, length = [], 0.0, 0
    state = problem.reset(draw)
    for _ in range(transitions):
        usual = problem.control(state)
        action = draw.randint(problem.actions) if draw.rand() < epsilon else usual
        after, reward, terminal = problem.step(state, action)
        total, length = total + reward, length + 1
        timeout = length == problem.limit and not terminal
        row = (problem.observe(state), problem.observe(after), action, reward, terminal, timeout,
               epsilon / problem.actions + (1 - epsilon) * (action == usual))
        for column, value in zip(columns.values(), row):
            column.append(value)
        state = after
        if terminal or timeout:
            returns.append(total)
            state, total, length = problem.reset(draw), 0.0, 0
    types = dict(observations="f4", next_observations="f4", actions="i8", rewards="f4", terminals="?", timeouts="?",
                 probabilities="f4")
    return {name: np.array(values, types[name]) for name, values in columns.items()}, returns


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in PROBLEMS:
        sys.exit(__doc__.split("\n\n")[-1])
    problem = PROBLEMS[arguments[0]]()
    transitions = int(arguments[2]) if len(arguments) > 2 else 30000
    seed = int(arguments[3]) if len(arguments) > 3 else 1
    epsilon = float(arguments[4]) if len(arguments) > 4 else problem.epsilon
    arrays, returns = log(problem, transitions, seed, epsilon)
    np.savez(arguments[1], **arrays, game=np.array([arguments[0].replace("_noisy", "").encode()]))
    print(f"{arguments[1]}: {transitions} transitions, {len(returns)} whole episodes, mean return {np.mean(returns):.1f}")


if __name__ == "__main__":
    main(sys.argv[1:])

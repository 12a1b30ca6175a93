"""Policies from logs: the numbers of the command line, properties recomputed with NumPy, uncertainties of one's own."""
import json
import os
import pickle
import subprocess

import numpy as np
import pytest

import pessimist as ps

from conftest import ROOT

VISITS = str(ROOT / "examples" / "visits.csv")


def command(*arguments):
    """What the command line prints as JSON."""
    program = os.environ.get("PESS")
    if not program:
        pytest.skip("PESS names the program")
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run([program, *arguments, "--json"], capture_output=True, text=True, env=environment)
    return json.loads(done.stdout)


@pytest.mark.parametrize("algorithm", ps.algorithms)
def test_solve_says_what_the_command_says(visits, algorithm):
    said = command("solve", VISITS, "-a", algorithm, "--gamma", "0.95", "--reward-range", "0,1")
    sol = ps.solve(visits, algorithm, gamma=0.95, reward_range=(0, 1))
    for key in ("algorithm", "holds_for", "gamma", "value", "naive_value", "outcome", "iterations", "method"):
        assert getattr(sol, key) == said[key], key
    assert [str(a) for a in sol.assumptions] == said["assumptions"]
    assert [list(p) for p in sol.thin] == [list(p.values()) for p in said["thin"]]


def test_certify_says_what_the_command_says(visits):
    said = command("certify", VISITS, "--gamma", "0.95", "--reward-range", "0,1")
    cert = ps.certify(visits, gamma=0.95, reward_range=(0, 1))
    for key in ("lower_bound", "behaviour_upper_bound", "recommendation", "vacuous", "delta", "residual"):
        assert getattr(cert, key) == said[key], key
    assert cert.ledger == said["delta_ledger"]
    assert sum(cert.ledger.values()) == pytest.approx(cert.delta, rel=1e-12)


@pytest.mark.parametrize("method", ["best", "robust"])
def test_counts_are_enough_for_a_certificate(visits, tmp_path, method):
    """What sets say of the rows they say of the counts, whichever way these come."""
    settings = {"gamma": 0.95, "reward_range": (0, 1), "uncertainty": "l1", "method": method}
    counted = tmp_path / "visits.pesscounts"
    ps.merge([VISITS], counted)
    rows = ps.certify(visits, **{**settings, "method": "robust"})
    for log in (visits.counts, ps.Counts.read(counted), str(counted)):
        cert = ps.certify(log, **settings)
        assert cert.lower_bound == pytest.approx(rows.lower_bound, abs=1e-12)
        assert cert.optimal_upper_bound == pytest.approx(rows.optimal_upper_bound, abs=1e-12)
        assert sum(cert.ledger.values()) == pytest.approx(cert.delta, rel=1e-12)
        assert not any("test of the policy" in what for what in cert.ledger)
        assert "counts-alone" in [a.code for a in cert.assumptions]
        assert "<h1" in cert.page() and cert.gaps(2)
        assert pickle.loads(pickle.dumps(cert)).lower_bound == cert.lower_bound
    with pytest.raises(ps.InputError, match="splits need its rows"):
        ps.certify(counted, method="split")
    with pytest.raises(ps.InputError, match="read its counts with Counts.read"):
        ps.read(counted)


def test_policies_are_told_by_names_not_by_numbers(visits):
    """A log that numbers the same names otherwise, such as next year's, is answered in its own order."""
    frame = visits.to_frame()
    turned = ps.Log.from_frame(frame.iloc[::-1].reset_index(drop=True))
    assert turned.state_names != visits.state_names and turned.action_names != visits.action_names
    settings = {"gamma": 0.95, "reward_range": (0, 1), "start": "uniform"}
    policy = ps.solve(visits, **settings).policy
    value = ps.evaluate(visits, policy, **settings).value
    assert ps.evaluate(turned, policy, **settings).value == pytest.approx(value, abs=1e-12)
    with pytest.raises(ps.InputError, match="state 1 has no action 1, but it is given probability 1"):
        ps.evaluate(turned, np.asarray(policy), **settings)  # an array has numbers alone
    part = ps.Log.from_frame(frame[frame.action != "intensive"])  # which the policy takes where it is critical
    with pytest.raises(ps.InputError, match="the policy takes the action 'intensive', which the log does not have"):
        ps.evaluate(part, policy, **settings)


def test_values_satisfy_the_bellman_equation(visits):
    """v = q(s, π(s)) − α·u at every state that is not terminal."""
    sol = ps.solve(visits, "ua", absorbed_alpha=0.5, gamma=0.9, reward_range=(0, 1))
    alive = np.asarray(sol.policy).sum(axis=1) > 0
    penalised = np.where(np.isfinite(sol.q), sol.q - 0.5 * sol.uncertainty, -np.inf)
    assert np.allclose(sol.values[alive], penalised.max(axis=1)[alive])
    assert np.array_equal(sol.policy[alive].argmax(axis=1), penalised.argmax(axis=1)[alive])


def test_start_as_an_array_and_as_a_word(visits):
    start = visits.counts.starts / visits.counts.starts.sum()
    by_array = ps.solve(visits, gamma=0.9, start=start)
    assert by_array.value == pytest.approx(ps.solve(visits, gamma=0.9).value, abs=1e-12)
    assert by_array.value == pytest.approx(float(start @ by_array.values))
    assert ps.solve(visits, gamma=0.9, start="uniform").value != by_array.value


def test_settings_given_again_are_the_same(visits):
    first = ps.solve(visits, "proximal", absorbed_alpha=0.3, gamma=0.9)
    assert ps.solve(visits, "proximal", gamma=0.9, absorbed_alpha=0.3).value == first.value
    assert ps.solve(visits, "proximal", gamma=0.9, absorbed_alpha=0.31).value != first.value


def test_evaluate(visits):
    sol = ps.solve(visits, "ua", gamma=0.95, reward_range=(0, 1))
    again = ps.evaluate(visits, sol.policy, "ua", gamma=0.95, reward_range=(0, 1))
    assert again.value == pytest.approx(sol.value, abs=1e-9)
    assert float(ps.evaluate(visits, np.asarray(sol.policy), gamma=0.95)) == pytest.approx(sol.naive_value, abs=1e-9)


def test_policies_act(visits, tmp_path):
    policy = ps.solve(visits, "ua", gamma=0.95, reward_range=(0, 1)).policy
    assert list(policy.act(["mild", "severe"])) == ["wait", "treat"]
    assert list(policy.act([1, 0])) == [visits.action_names.index("wait"), visits.action_names.index("treat")]
    policy.save(tmp_path / "policy.csv")
    for again in (ps.Policy.load(tmp_path / "policy.csv", visits), pickle.loads(pickle.dumps(policy))):
        assert np.array_equal(np.asarray(again), np.asarray(policy))
    alone = ps.Policy.load(tmp_path / "policy.csv")
    assert list(alone.act(["mild", "severe"])) == ["wait", "treat"]


def test_draws_follow_the_probabilities():
    """A mean of 40,000 draws is within 5 standard deviations of 0.3 (false alarm below 1e-6)."""
    policy = ps.Policy([[0.7, 0.3]])
    drawn = policy.act(np.zeros(40_000, int), rng=7)
    assert abs(drawn.mean() - 0.3) < 5 * np.sqrt(0.21 / 40_000)
    assert np.array_equal(drawn, policy.act(np.zeros(40_000, int), rng=7))


def test_an_uncertainty_of_ones_own(visits):
    @ps.uncertainty("inverse square root")
    def inverse_root(counts):
        assert counts.n.shape == (5, 3) and counts.reward_range == (0, 1)
        with np.errstate(divide="ignore"):
            return 1 / np.sqrt(counts.n)

    own = ps.solve(visits, "ua", uncertainty="inverse square root", alpha=1, gamma=0.95, reward_range=(0, 1))
    built_in = ps.solve(visits, "ua", absorbed_alpha=1, gamma=0.95, reward_range=(0, 1))
    assert own.value == built_in.value and np.array_equal(own.uncertainty, built_in.uncertainty)
    assert own.uncertainty_name == "inverse square root" and "heuristic" in own.holds_for
    assert ps.solve(visits, uncertainty=inverse_root, alpha=1, gamma=0.95, reward_range=(0, 1)).value == own.value
    cert = ps.certify(visits, candidate="inverse square root", gamma=0.95, reward_range=(0, 1))
    assert "inverse square root" in [c.name for c in cert.candidates]
    with pytest.raises(ps.ArgumentError, match="candidate= lets the choosing step try it"):
        ps.certify(visits, uncertainty="inverse square root", gamma=0.95, reward_range=(0, 1))


def test_pickled_results(visits, tmp_path):
    sol = ps.solve(visits, "ua", gamma=0.95, reward_range=(0, 1))
    again = pickle.loads(pickle.dumps(sol))
    assert again.value == sol.value and again.thin == sol.thin and repr(again) == repr(sol)
    assert np.array_equal(again.q, sol.q) and np.array_equal(np.asarray(again.policy), np.asarray(sol.policy))
    cert = ps.certify(visits, gamma=0.95, reward_range=(0, 1))
    kept = pickle.loads(pickle.dumps(cert))
    assert kept.lower_bound == cert.lower_bound and kept.ledger == cert.ledger and repr(kept) == repr(cert)
    assert kept.report(tmp_path / "page").read_text() == cert.report(tmp_path / "same").read_text()


def test_results_show_themselves(visits, tmp_path):
    sol = ps.solve(visits, "ua", gamma=0.95, reward_range=(0, 1))
    assert "0.496595" in repr(sol) and "severe" in sol._repr_html_()
    assert {"policy", "values", "q", "uncertainty", "holds_for", "assumptions", "outcome"} <= set(dir(sol))
    cert = ps.certify(visits, gamma=0.95, reward_range=(0, 1))
    page = cert.report(tmp_path / "page")
    assert page.name == "index.html" and "visits.csv" in page.read_text()
    assert "iframe" in cert._repr_html_()
    assert cert.gaps(3)[0].count >= 0


def test_known_processes():
    mdp = ps.gridworld(8, 8, seed=1)
    best = mdp.solve(gamma=0.9)
    assert mdp.evaluate(best.policy, gamma=0.9).value == pytest.approx(best.value, abs=1e-8)
    assert mdp.evaluate(mdp.uniform_policy(), gamma=0.9).value < best.value
    log = mdp.simulate(best.policy, episodes=20, horizon=30, seed=5, epsilon=0.2)
    assert len(log) == 600 and len(np.unique(log.episode)) == 20 and log.truncated.sum() == 20
    law = mdp.stationary(mdp.uniform_policy())
    assert law.sum() == pytest.approx(1)
    assert mdp.visitation(best.policy, gamma=0.9).sum() == pytest.approx(10)
    again = pickle.loads(pickle.dumps(mdp))
    assert again.solve(gamma=0.9).value == best.value
    small = ps.gridworld(4, 4, seed=1)
    rows = ps.theorems(small, small.simulate(transitions=5000, seed=2), gamma=0.9)
    assert len(rows) > 5 and all(row.holds for row in rows)


def test_new_rows_of_c_appear():
    """Algorithms, settings, sentences: what Python lists is what the library lists."""
    import inspect

    signature = inspect.signature(ps.solve)
    assert {"gamma", "delta", "absorbed_alpha", "unseen", "reward_range"} <= set(signature.parameters)
    assert signature.parameters["gamma"].default == 0.99
    assert "discount" in ps.solve.__doc__
    assert list(ps.algorithms) == [row["name"] for row in command("list", "algorithms")["rows"]]
    assert list(ps.uncertainties) == [row["name"] for row in command("list", "uncertainties")["rows"]]


def test_whole_episodes_say_what_the_command_says(visits):
    more = "--method", "episodes", "--behaviour", "estimated", "--gamma", "0.95", "--reward-range", "0,1"
    said = command("certify", VISITS, *more)
    cert = ps.certify(visits, method="episodes", behaviour="estimated", gamma=0.95, reward_range=(0, 1))
    names = {"effective": "effective_episodes", "zero_share": "zero_weight_share", "doubtful": "probabilities_doubtful"}
    for key, value in cert.episodes.as_dict().items():
        told = said["episodes"][names.get(key, key)]
        assert value == told or (told is None and not np.isfinite(value)), key
    assert pickle.loads(pickle.dumps(cert)).episodes.tested == cert.episodes.tested
    assert ps.certify(visits, gamma=0.95, reward_range=(0, 1)).episodes is None


def test_a_behaviour_that_is_known(visits, tmp_path):
    """Declared as a policy or as an array, it is the same."""
    n = visits.counts.n
    shares = np.divide(n, n.sum(axis=1, keepdims=True), out=np.zeros(n.shape), where=n.sum(axis=1, keepdims=True) > 0)
    settings = {"method": "episodes", "gamma": 0.95, "reward_range": (0, 1)}
    by_array = ps.certify(visits, behaviour=shares, **settings)
    by_policy = ps.certify(visits, behaviour=ps.Policy(shares), **settings)
    assert by_array.lower_bound == by_policy.lower_bound and by_array.episodes.behaviour == "declared"
    with pytest.raises(ps.Error, match="probabilit"):
        ps.certify(visits, **settings)


def test_estimates_say_what_the_command_says(visits, tmp_path):
    policy = ps.solve(visits, gamma=0.95).policy
    policy.save(tmp_path / "policy.csv")
    said = command("evaluate", VISITS, "--estimators", "--policy", str(tmp_path / "policy.csv"), "--behaviour", "estimated",
                   "--gamma", "0.95")  # fmt: skip
    found = ps.estimate(visits, policy, behaviour="estimated", gamma=0.95)
    assert [row.value for row in found.rows] == [row["value"] for row in said["estimators"]]
    assert found.table["name"][0] == "importance sampling" and "doubly robust" in repr(found)
    with pytest.raises(TypeError, match="rows themselves"):
        ps.estimate(visits.counts, policy)


def last_step_differs():
    """Action 0 pays 0.3 now, action 1 pays 1 at the next step, which is too late in the last."""
    action = np.random.default_rng(3).integers(2, size=(200, 2))
    next_state = np.stack([action[:, 0], np.where(action[:, 0] == 0, action[:, 1], 0)], axis=1)
    state = np.stack([np.zeros(200, int), next_state[:, 0]], axis=1)
    reward = np.where(state == 1, 1.0, np.where(action == 0, 0.3, 0.0))
    return ps.Log(state=state.ravel(), action=action.ravel(), reward=reward.ravel(), next_state=next_state.ravel(),
                  episode=np.repeat(np.arange(200), 2), truncated=np.tile([False, True], 200))  # fmt: skip


def test_a_policy_for_a_horizon_has_all_its_steps(tmp_path):
    log = last_step_differs()
    settings = {"gamma": 0.9, "horizon": 3, "reward_range": (0, 1)}
    sol = ps.solve(log, "naive", **settings)
    assert sol.policy.shape == (3, 2, 2) and sol.policy.steps == 3
    assert sol.policy.act([0], step=0) == [1] and sol.policy.act([0], step=2) == [0]
    assert sol.policy.act([0, 0], step=[0, 2]).tolist() == [1, 0]
    assert ps.evaluate(log, sol.policy, **settings).value == pytest.approx(sol.value)
    assert ps.evaluate(log, sol.policy[0], **settings).value < sol.value - 0.1
    assert "step 2, 0: 0" in repr(sol.policy)
    for refused in ({}, {"step": 3}, {"step": 0.5}):
        with pytest.raises(ValueError, match="step"):
            sol.policy.act([0], **refused)
    with pytest.raises(ps.ArgumentError, match="horizon"):
        sol.q
    path = tmp_path / "policy.csv"
    sol.policy.save(path)
    again = [pickle.loads(pickle.dumps(sol)).policy, ps.Policy.load(path), ps.Policy.load(path, log, horizon=3)]
    assert all((np.asarray(policy) == np.asarray(sol.policy)).all() for policy in again)
    assert ps.evaluate(log, path, **settings).value == pytest.approx(sol.value)
    with pytest.raises(ps.InputError, match="step"):
        ps.evaluate(log, sol.policy, gamma=0.9)
    with pytest.raises(ps.InputError, match="step"):
        ps.Policy.load(path, log)
    with pytest.raises(ps.InputError, match="each of 3 steps"):
        ps.act(sol.policy, [0], log=log)


def test_a_certificate_with_a_horizon_hands_out_what_it_certified(tmp_path):
    log = last_step_differs()
    settings = {"gamma": 1, "horizon": 2, "reward_range": (0, 1)}
    cert = ps.certify(log, **settings)
    assert cert.policy.shape == (2, 2, 2)
    assert cert.value_estimate == pytest.approx(ps.evaluate(log, cert.policy, **settings).value, abs=0.2)
    cert.report(tmp_path)
    log.save(tmp_path / "log.csv")
    command("certify", str(tmp_path / "log.csv"), "--gamma", "1", "--horizon", "2", "--reward-range", "0,1",
            "-o", str(tmp_path / "policy.csv"))  # fmt: skip
    assert (np.asarray(ps.Policy.load(tmp_path / "policy.csv", log, horizon=2)) == np.asarray(cert.policy)).all()
    assert len(cert.gaps(2)) == 2
    assert ps.certify(log, cert.policy, method="robust", **settings).lower_bound <= cert.value_hi


def test_theorem_3_judges_the_algorithm_that_it_is_about():
    """Its policy subtracts the u of the bound, the largest that values can make it, not the u of its own values."""
    gamma, delta = 0.9, 0.1

    @ps.uncertainty("l1 of any values")
    def l1(pairs):
        n, (states, actions), (lo, hi) = np.maximum(pairs.n, 1), pairs.n.shape, pairs.reward_range
        logarithm, span, width = np.log(2 * states * actions / delta), hi - lo, (hi - lo) / (1 - gamma)
        ball = np.sqrt(2 * (logarithm + states * np.log(2)) / n)
        reward = np.minimum(span * np.sqrt((np.log(2) + logarithm) / (2 * n)), span)
        return np.where(pairs.n == 0, width, np.minimum(reward + gamma * np.minimum(ball / 2, 1) * width, width))

    for seed in (0, 4, 5):
        mdp = ps.garnet(states=4, actions=3, branching=2, seed=seed)
        log = mdp.simulate(transitions=3000, seed=seed)
        best = mdp.solve(gamma=gamma).value
        rows = [row for row in ps.theorems(mdp, log, uncertainty="l1", gamma=gamma, delta=delta) if row.algorithm == "ua"]
        assert len(rows) == 5
        for row in rows:
            found = ps.solve(log, "ua", uncertainty="l1 of any values", alpha=row.alpha, gamma=gamma).policy
            assert row.suboptimality == pytest.approx(best - mdp.evaluate(found, gamma=gamma).value, abs=1e-9)

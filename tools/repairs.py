#!/usr/bin/env python3
"""repairs.py [--tree DIR] [NAME...]: each repair of a broken promise of `certify` is undone, one by one, and a test has to fail.

A row says what was broken, which text of which file repairs it, what stood there (or did as much harm), and the test
that fails without it. The tree is copied; every change is made in the copy, built, tried and taken back. Exit 1 if a test
still passes. Names choose rows by a part of their name; --tree keeps the copy there, and uses one that was kept.
"""
import argparse
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile

ATTACKS = "test_certify_attacks"
REPAIRS = [
    ("the cut moves with the log", ATTACKS, "a_longer_log_is_cut_where_a_shorter_one_was", [
        ("src/certify/split.c", "rule->first_part : pess__split_place(data->rows, rule->share);",
         "rule->first_part : (int64_t)(rule->share * (double)data->rows);"),
        ("src/certify/split.c", "!split->declared ? PESS__SPLIT_PLACES : 1;", "!split->declared ? 1 : 1;")]),
    ("the cut of whole episodes moves with the log", ATTACKS, "a_longer_log_is_cut_where_a_shorter_one_was", [
        ("src/certify/episodes.c", "options->first_part : place_of(job->data->rows, share_of(options));",
         "options->first_part : (int64_t)(share_of(options) * (double)job->data->rows);")]),
    ("other places of the cut have no share", ATTACKS, "every_place_of_the_cut_has_its_share", [
        ("src/certify/ledger.c", "const double used = *share / places;", "const double used = *share;")]),
    ("sums of rewards cancel", ATTACKS, "a_constant_on_top_of_rewards_changes_nothing", [
        ("src/model/counts_fill.c", "c->reward_origin = tally->no_range || tally->rows == 0 ? 0 : tally->reward_min;",
         "c->reward_origin = 0;"),
        ("src/certify/holdout.c", "test->centre[z]) + lost_squares(&test->setup, test->n[z]);",
         "test->centre[z]) + 0 * lost_squares(&test->setup, test->n[z]);")]),
    ("tolerances in units of reward", ATTACKS, "the_unit_of_rewards_does_not_matter", [
        ("src/certify/robust.c", "const double tie = 1e-13 * (robust->v_hi - robust->v_lo);", "const double tie = 1e-12;"),
        ("src/certify/robust.c", "if (sign < 0) best = most_of_all;", ";")]),
    ("a silent state has another policy in the test", ATTACKS, "test_the_policy_that_is_tested_is_the_one_that_is_handed_out", [
        ("src/certify/certify.c", "for (int64_t a = 0; a < kept->actions && job->model->terminal[s]; a++)",
         "for (int64_t a = 0; a < kept->actions && (job->split ? job->split->first : job->counts)->terminal[s]; a++)")]),
    ("starts without episodes", ATTACKS, "test_starts_need_episodes", [
        ("src/certify/certify_prepare.c", "if (job->start_estimated && !job->counts->has_episodes)", "if (false)")]),
    ("missing steps are compared", ATTACKS, "test_missing_steps_end_the_comparison", [
        ("src/certify/certify_check.c", 'if (pess__finding(inspection, "episode-gap")) {', "if (false) {")]),
    ("steps missing by their numbers are compared", ATTACKS, "test_missing_numbers_end_the_comparison", [
        ("src/data/inspect.c", "if (leads_there && (!numbered || next_number(d, before, after))) return;",
         "(void)numbered;\n    if (leads_there) return;")]),
    ("rows after a cut-off belong to the return", ATTACKS, "test_rows_after_a_cutoff_are_no_return", [
        ("src/certify/certify_check.c", 'if (pess__finding(inspection, "cutoff-continues")) {', "if (false) {")]),
    ("episodes without their first steps", ATTACKS, "test_missing_beginnings_are_refused", [
        ("src/certify/certify_check.c", "if (late && job->start_estimated)", "if (false)")]),
    ("rows after an end are compared", ATTACKS, "test_rows_after_an_end_end_the_comparison", [
        ("src/certify/certify_check.c", 'if (pess__finding(inspection, "terminal-continues")) {', "if (false) {")]),
    ("a step counts twice", ATTACKS, "test_a_step_that_is_there_twice_is_refused", [
        ("src/certify/certify_check.c", "if (twice) return pess__fail(", "if (false) return pess__fail(")]),
    ("an end that was never logged", ATTACKS, "an_end_that_was_never_logged_is_allowed_for", [
        ("src/certify/certify_prepare.c", "(options->may_end == PESS_MAY_END_AUTO && episodes)", "false")]),
    ("a fixed number of starts", ATTACKS, "every_number_of_starts_has_its_share", [
        ("src/certify/certificate.h", "return log(starts * (starts + 1) / delta);", "return log(1 / delta) + 0 * starts;")]),
    ("a fixed number of episodes", ATTACKS, "test_stopping_episodes_does_not_fool_their_mean", [
        ("src/certify/episode_returns.c", "return returns->hi - pess__bet_lower(below, count, delta);",
         "double sum = 0;\n    for (int64_t i = 0; i < count; i++) sum += below[i];\n"
         "    const double n = (double)count, range = returns->hi - returns->lo;\n"
         "    return returns->hi - range * pess__kl_lower(sum / n / range, n, log(1 / delta));"),
        ("src/certify/episode_returns.c", '#include "certify/betting.h"', '#include "certify/robust.h"\n#include <math.h>')]),
    ("bernstein has two sides", "test_uncertainty", "bernstein_is_that_of_the_raw_samples", [
        ("src/uncertainty/bernstein.c", "log(3) + pess__u_log_pairs", "log(2) + pess__u_log_pairs")]),
    ("the price of a posterior is rounded down", ATTACKS, "the_price_of_a_posterior_is_not_too_low", [
        ("src/certify/pooled.h", "#define PESS__POSTERIOR_PRICE 4.6537e-4", "#define PESS__POSTERIOR_PRICE 4.6536e-4")]),
    ("an iteration limit is silent", ATTACKS, "test_an_iteration_limit_is_said", [
        ("src/certify/conclusion.c", "info->outcome = job->sweeps.capped ? PESS_OUTCOME_ITERATION_LIMIT : PESS_OUTCOME_CONVERGED;",
         "info->outcome = PESS_OUTCOME_CONVERGED;")]),
    ("several attempts are not mentioned", ATTACKS, "test_one_attempt_is_assumed", [
        ("src/certify/certify_assumptions.c", '"This is the only attempt: trying several splits, seeds,', '"Tried once.",\n NULL, error); return pess__assume(to, "one-attempt-lost", "')]),
]


def run(command, tree):
    return subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def undo(tree, changes):
    before = {}
    for path, text, other in changes:
        place = os.path.join(tree, path)
        with open(place, encoding="utf-8") as file:
            found = file.read()
        before.setdefault(place, found)
        if found.count(text) != 1:
            raise SystemExit(f"{path}: found {found.count(text)} times, expected once: {text}")
        with open(place, "w", encoding="utf-8") as file:
            file.write(found.replace(text, other))
    return before


def restore(before):
    for place, text in before.items():
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)


def failed_tests(tree, test, only):
    """Names of the tests that fail; None where it does not compile."""
    built = run(["cmake", "--build", "build", "-j", "2", "--target", test], tree)
    if built.returncode != 0:
        print(built.stdout[-2000:])
        return None
    tried = run(["env", f"PESS_TEST_FILTER={only}", f"build/tests/{test}"], tree)
    names = [line.split("]")[1].strip() for line in tried.stdout.split("\n") if line.startswith("[  FAILED  ]")]
    return [name for name in dict.fromkeys(names) if " " not in name]


def copy_tree(tree):
    """What differs: the rest is built already where the copy was kept."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], check=True, stdout=subprocess.PIPE, text=True)
    for path in filter(os.path.isfile, listed.stdout.split("\n")):
        place = os.path.join(tree, path)
        if not os.path.exists(place) or not filecmp.cmp(path, place, shallow=False):
            os.makedirs(os.path.dirname(place), exist_ok=True)
            shutil.copy(path, place)


def try_all(tree, chosen):
    missed = 0
    copy_tree(tree)
    subprocess.run(["cmake", "--preset", "release"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    for name, test, only, changes in chosen:
        before = undo(tree, changes)
        failed = failed_tests(tree, test, only)
        restore(before)
        missed += only not in (failed or [])
        print(f"{name}: {'noticed by ' + only if only in (failed or []) else 'NOT NOTICED'}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} noticed")
    return missed > 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree")
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    chosen = [r for r in REPAIRS if not options.names or any(word in r[0] for word in options.names)]
    if options.tree:
        os.makedirs(options.tree, exist_ok=True)
        return try_all(options.tree, chosen)
    with tempfile.TemporaryDirectory(prefix="pess-repairs-") as tree:
        return try_all(tree, chosen)


if __name__ == "__main__":
    sys.exit(main())

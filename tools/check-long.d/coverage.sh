#!/usr/bin/env bash
# Coverage of the certificates with a fresh seed and thirty times the runs of the quick tests: prints, per plan, how often
# a bound was wrong and the rate that the runs refute at 99 % (Clopper–Pearson). A false alarm has probability 1e-6 per
# line. PESS_COVERAGE_SEED repeats a run; PESS_COVERAGE_TIMES changes its length.
set -u
cd "$(dirname "$0")/../.." || exit 2
export PESS_COVERAGE_SEED=${PESS_COVERAGE_SEED:-$(date +%s)}
export PESS_COVERAGE_TIMES=${PESS_COVERAGE_TIMES:-30}
echo "seed $PESS_COVERAGE_SEED, $PESS_COVERAGE_TIMES times the runs"
failed=0
for test in test_certify_coverage test_certify_bounds test_certify_attacks test_certify_worlds test_certify_horizon test_episodes_coverage test_theorems; do
    build/tests/$test || failed=1
done
exit $failed

#!/usr/bin/env bash
# Data races: the tests that use threads, under ThreadSanitizer with clang and its OpenMP runtime, which tells the
# sanitizer about its barriers.
set -eu
cd "$(dirname "$0")/../.."
tools/packages.sh ci
CC=clang cmake -S . -B build-tsan -G Ninja -DCMAKE_BUILD_TYPE=Release -DPESS_SANITIZE=thread >/dev/null
tests="test_act test_cells test_choose test_compare test_counts test_csv test_dqn test_env test_estimators test_evaluate
    test_executor test_experiment test_export test_fitted test_fork test_games_plan test_kmeans test_markov test_optimise
    test_packed test_partition test_play test_reading test_robust test_score test_simulate test_ua test_uncertainty"
cmake --build build-tsan --target $tests >/dev/null
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1" OMP_NUM_THREADS=4
failed=0
for test in $tests; do
    if build-tsan/tests/$test >build-tsan/$test.log 2>&1; then echo "$test: no race"; else
        echo "$test: see build-tsan/$test.log"; failed=1; fi
done
exit $failed

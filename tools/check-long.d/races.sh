#!/usr/bin/env bash
# Data races: the tests that use threads, and the commands that do, under ThreadSanitizer with clang and its OpenMP
# runtime, which tells the sanitizer about its barriers. A race ends a program with a code that no script expects.
set -eu
cd "$(dirname "$0")/../.."
tools/packages.sh ci
CC=clang cmake -S . -B build-tsan -G Ninja -DCMAKE_BUILD_TYPE=Release -DPESS_SANITIZE=thread >/dev/null
tests=(test_act test_cells test_choose test_compare test_counts test_csv test_density test_dqn test_env test_estimators
    test_evaluate test_executor test_experiment test_export test_fitted test_fork test_games_plan test_garnet
    test_gridworld test_kmeans test_markov test_optimise test_packed test_partition test_play test_reading test_robust
    test_score test_simulate test_stationary test_ua test_uncertainty)
commands=(cli_act cli_cells cli_certify cli_choose cli_compare cli_episodes cli_score)
cmake --build build-tsan --target "${tests[@]}" pess json_get check_certificate check_episodes >/dev/null
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1" OMP_NUM_THREADS=4
failed=0
for test in "${tests[@]}" "${commands[@]}"; do
    if ctest --test-dir build-tsan -R "^$test\$" --no-tests=error --output-on-failure >"build-tsan/$test.log" 2>&1; then
        echo "$test: no race"
    else
        echo "$test: see build-tsan/$test.log"; failed=1
    fi
done
exit $failed

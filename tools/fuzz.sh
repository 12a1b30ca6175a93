#!/usr/bin/env bash
# fuzz.sh SECONDS: each fuzz target under address and undefined-behaviour sanitizers, starting from its corpus.
set -eu
cd "$(dirname "$0")/.."
cmake --preset fuzz >build-fuzz.log 2>&1 || { cat build-fuzz.log; exit 1; }
cmake --build --preset fuzz -j "$(nproc)"
failed=0
for source in fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    log=build-fuzz/$name.log
    mkdir -p "build-fuzz/corpus-$name"
    if "build-fuzz/fuzz/$name" -max_total_time="$1" -artifact_prefix="build-fuzz/$name-" -print_final_stats=1 \
        "build-fuzz/corpus-$name" "tests/data/fuzz/${name#fuzz_}" >"$log" 2>&1; then
        echo "$name: nothing found in $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs"
    else
        echo "$name: found something, see $log"
        tail -5 "$log"
        failed=1
    fi
done
exit $failed

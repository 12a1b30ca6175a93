#!/usr/bin/env bash
# fuzz.sh SECONDS: each fuzz target under address and undefined-behaviour sanitizers, starting from its corpus.
set -eu
cd "$(dirname "$0")/.."
cmake --preset fuzz >build-fuzz.log 2>&1 || { cat build-fuzz.log; exit 1; }
cmake --build --preset fuzz -j "$(nproc)"
for source in fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    mkdir -p "build-fuzz/corpus-$name"
    echo "== $name"
    "build-fuzz/fuzz/$name" -max_total_time="$1" -artifact_prefix="build-fuzz/$name-" -print_final_stats=1 \
        "build-fuzz/corpus-$name" "tests/data/fuzz/${name#fuzz_}" 2>&1 | grep -E '^(SUMMARY|stat::number_of_executed|==.*ERROR)' ||
        true
done
ls build-fuzz/fuzz_*-crash-* build-fuzz/fuzz_*-leak-* build-fuzz/fuzz_*-timeout-* 2>/dev/null && exit 1
echo "nothing found"

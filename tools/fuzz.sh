#!/usr/bin/env bash
# fuzz.sh SECONDS [TARGET…]: each fuzz target under address and undefined-behaviour sanitizers, starting from its corpus,
# as many at a time as there are processors. Says per target how many inputs it ran, how many a second of processor time,
# and how many edges of the program (counted by the compiler) and inputs worth keeping it knows.
set -eu
cd "$(dirname "$0")/.."
seconds=$1
shift
cmake --preset fuzz >build-fuzz.log 2>&1 || { cat build-fuzz.log; exit 1; }
cmake --build --preset fuzz -j "$(nproc)" >build-fuzz.log 2>&1 || { tail -50 build-fuzz.log; exit 1; }

fuzz_one() {
    local name=$1 log=build-fuzz/$1.log
    mkdir -p "build-fuzz/corpus-$name"
    if TIMEFORMAT='processor %U %S' && { time "build-fuzz/fuzz/$name" -max_total_time="$2" -max_len=4096 -timeout=20 \
        -artifact_prefix="build-fuzz/$name-" -print_final_stats=1 "build-fuzz/corpus-$name" \
        "tests/data/fuzz/${name#fuzz_}" >"$log" 2>&1; } 2>>"$log.time"; then
        awk -v name="$name" -v used="$(awk '/^processor/ { used = $2 + $3 } END { print used }' "$log.time")" '
            / cov: / { for (i = 1; i < NF; i++) { if ($i == "cov:") edges = $(i + 1); if ($i == "corp:") kept = $(i + 1) } }
            /number_of_executed_units/ { runs = $2 }
            END { printf "%-18s nothing found in %8d runs, %6.0f a second of processor time, %5d edges, %s inputs\n",
                         name, runs, runs / (used > 0 ? used : 1), edges, kept }' "$log"
    else
        echo "$name: found something, see $log"
        tail -5 "$log"
        return 1
    fi
}
export -f fuzz_one

targets=${*:-$(basename -s .c -a fuzz/fuzz_*.c)}
printf '%s\n' $targets | xargs -P "$(nproc)" -I{} bash -c "fuzz_one {} $seconds"

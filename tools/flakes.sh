#!/usr/bin/env bash
# flakes.sh [RUNS] [LABEL]: the tests of a label (quick) so many times (100), and every test that failed even once, with how
# often. Statistical assertions are allowed one false alarm in a million each, so a test that is listed here is a flake.
set -u
cd "$(dirname "$0")/.." || exit 2
runs=${1:-100} label=${2:-quick}
failed=$(mktemp)
trap 'rm -f "$failed"' EXIT
for run in $(seq "$runs"); do
    ctest --test-dir build -L "$label" -j "$(nproc)" 2>/dev/null |
        sed -n 's/^ *[0-9]*\/[0-9]* Test *#[0-9]*: \([a-z0-9_]*\) .*\(Failed\|Exception\|Timeout\).*/\1/p' >>"$failed"
    echo "run $run of $runs: $(wc -l <"$failed") failures so far"
done
sort "$failed" | uniq -c | sort -rn
[ ! -s "$failed" ]

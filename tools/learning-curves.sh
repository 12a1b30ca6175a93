#!/usr/bin/env bash
# learning-curves.sh [POLICIES]: makes POLICIES/learning_curves.csv (game,frame,return) of POLICIES/logs/*.csv, and
# draws it as POLICIES/learning_curves.svg. POLICIES is policies/ where nothing is said, the program $PESS or build/pess.
set -eu
cd "$(dirname "$0")/.."
policies=${1:-policies}
{
    echo game,frame,return
    for log in "$policies"/logs/*.csv; do
        awk -F, -v game="$(basename "$log" .csv)" -v OFS=, '
            NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
            { print game, $column["frame"], $column["return"] }' "$log"
    done
} >"$policies/learning_curves.csv.tmp"
mv "$policies/learning_curves.csv.tmp" "$policies/learning_curves.csv"
"${PESS:-build/pess}" plot "$policies" -o "$policies/learning_curves.svg"

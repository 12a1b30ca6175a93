#!/usr/bin/env bash
# settled.sh run [OPTION…]   goes on with `pess experiment minatar-settled` in build/settled, one training at a time,
#                            from the results that are kept in docs/results; options such as --games are handed on
# settled.sh keep            keeps what is finished in docs/results/minatar-settled: result.json of every run, the lines
#                            of its log.csv that have a return (curve.csv), tables, page and figures of what is there;
#                            then README.md and docs say what the results say (tables.py)
# SETTLED and KEPT name other directories than these two, PESS another program than build/pess. docs/settled.md has what is
# run and how it is judged.
set -eu
cd "$(dirname "$0")/.."
kept=${KEPT:-docs/results/minatar-settled} work=${SETTLED:-build/settled} pess=${PESS:-build/pess}
case ${1:-} in
run)
    shift
    mkdir -p "$work"
    [ ! -d "$kept/runs" ] || cp -rn "$kept/settings.txt" "$kept/runs" "$work"
    exec "$pess" experiment minatar-settled --policies policies --threads 1 --out "$work" --resume "$@"
    ;;
keep)
    page=$work-page pess=$(realpath "$pess")
    trap 'rm -rf "$page"' EXIT
    rm -rf "$page"
    # beside it, so that the page and the manifest name no directory of this machine
    (cd "$(dirname "$work")" && "$pess" merge "$(basename "$work")" --partial --out "$(basename "$page")" --quiet)
    mkdir -p "$kept"
    for file in settings.txt results.csv runs.csv figure.svg figure.png index.html manifest.json; do
        cp "$page/$file" "$kept/$file"
    done
    (cd "$work" && find runs -name result.json) | while read -r result; do
        run=${result%/result.json}
        mkdir -p "$kept/$run"
        cp "$work/$result" "$kept/$result"
        # a network that later runs needed was trained again, in other seconds
        [ -e "$kept/$run/curve.csv" ] || [ ! -s "$work/$run/log.csv" ] || awk -F, 'NR == 1 || $6 != ""' "$work/$run/log.csv" >"$kept/$run/curve.csv"
    done
    tools/settled_curves.py "$kept" "$pess"
    tools/tables.py
    ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac

#!/usr/bin/env bash
# same-bytes.sh PESS OTHER: two builds of the program write the same files: logs, policies, certified policies, values by
# every method, tables of an experiment, a dataset of a game and a training from it. Exits 1 at the first difference.
set -eu
one=$(realpath "$1") other=$(realpath "$2")
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make_files() { # PESS DIR
    mkdir -p "$2" && cd "$2"
    "$1" mdp gridworld -o mdp.csv
    "$1" mdp solve mdp.csv --gamma 0.95 -o best.csv
    "$1" simulate mdp.csv --policy best.csv --epsilon 0.3 --transitions 5000 --seed 3 -o log.csv
    "$1" simulate mdp.csv --policy best.csv --epsilon 0.3 --transitions 5000 --seed 3 -o log.pesslog
    for algorithm in naive ua proximal robust spibb; do
        "$1" solve log.csv --gamma 0.95 --reward-range 0,1 -a "$algorithm" -o "policy-$algorithm.csv"
    done
    "$1" mdp gridworld --rows 60 --cols 60 -o large.csv
    for method in policy-iteration value-iteration modified-policy-iteration inexact-policy-iteration gauss-seidel; do
        "$1" mdp solve large.csv --gamma 0.999 --method "$method" --values "values-$method.csv"
    done
    "$1" mdp gridworld --rows 20 --cols 20 -o middle.csv
    "$1" mdp solve middle.csv --evaluation lu --values values-lu.csv
    "$1" certify log.csv --gamma 0.95 --reward-range 0,1 -o certified.csv || [[ $? == [17] ]] # vacuous or keep
    "$1" experiment gridworld-data --out tables --trials 8 --seed 2
    "$1" collect seaquest --policy random --transitions 5000 --seed 4 -o game.pessdata
    "$1" train game.pessdata -a naive --protocol smoke --seed 1 --out trained
}

make_files "$one" "$work/one" >"$work/said"
make_files "$other" "$work/other" >"$work/said"
cd "$work"
count=0
while read -r file; do
    case "$file" in *manifest.json | *index.html | *checkpoint* | *trained/log.csv) continue ;; esac # they state when and how long
    cmp "one/$file" "other/$file" || { echo "same-bytes.sh: $file differs between the builds" >&2; exit 1; }
    count=$((count + 1))
done < <(cd one && find . -type f | sort)
echo "$count files, the same bytes in both"

#!/usr/bin/env bash
# train-players.sh [GAME…]: trains the players of policies/ again with the commands in policies/commands.txt, two at a
# time, into build/players/GAME. A run that was interrupted goes on where it was. The same command gives the same policy,
# byte for byte, on the same kernels.
set -eu
cd "$(dirname "$0")/.."
games=("$@")
[ "${#games[@]}" -gt 0 ] || mapfile -t games < <(sed -n 's/^pess dqn \([a-z_]*\) .*/\1/p' policies/commands.txt)
mkdir -p build/players
train() {
    local words
    words=$(sed -n "s/^pess dqn $1 //p" policies/commands.txt)
    [ -n "$words" ] || { echo "no command for $1 in policies/commands.txt" >&2; return 1; }
    # shellcheck disable=SC2086 # the command line is words
    build/pess dqn "$1" $words --threads 1 --out "build/players/$1" --resume
}
running=0
for game in "${games[@]}"; do
    train "$game" &
    running=$((running + 1))
    if [ "$running" -ge 2 ]; then wait -n; running=$((running - 1)); fi
done
wait

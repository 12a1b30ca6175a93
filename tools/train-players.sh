#!/usr/bin/env bash
# train-players.sh [GAME…]: trains the players of policies/ again, two at a time, into build/players/GAME; a run that was
# interrupted goes on where it was. The same settings and seed give the same policies, byte for byte, on the same path.
set -eu
cd "$(dirname "$0")/.."
games=("$@")
[ "${#games[@]}" -gt 0 ] || games=(breakout space_invaders asterix freeway seaquest)
mkdir -p build/players
train() {
    # shellcheck disable=SC2046 # the command line is words
    build/pess dqn "$1" $(sed -n 's/^pess dqn [a-z_]* //p' policies/SETTINGS) --threads 1 \
        --out "build/players/$1" --resume >"build/players/$1.txt" 2>&1
    cat "build/players/$1.txt"
}
running=0
for game in "${games[@]}"; do
    train "$game" &
    running=$((running + 1))
    if [ "$running" -ge 2 ]; then wait -n; running=$((running - 1)); fi
done
wait

# The players in policies/: each is for the game it is named after and plays far better than chance.
. "$(dirname "$0")/lib.sh"
policies=$TEST_DATA/../../policies
found=0
for file in "$policies"/*.pessnet; do
    [ -e "$file" ] || continue
    found=$((found + 1))
    game=$(basename "$file" .pessnet)
    expect 0 "$PESS" net info "$file" --json
    same "$(json trained.game)" "$game" "game of $file"
    claimed=$(json trained.mean_return)
    grep -q "^pess dqn $game " "$policies/commands.txt" || fail "no command for $game in commands.txt"
    [ -s "$policies/logs/$game.csv" ] || fail "no log of $game"
    expect 0 "$PESS" env evaluate "$game" --policy random --episodes 100 --seed 5 --json
    chance=$(json mean_return)
    expect 0 "$PESS" env evaluate "$game" --policy "$file" --episodes 100 --seed 5 --json
    # The mean of 100 episodes is within 10 standard errors of what the file claims, and above chance.
    near "$(json mean_return)" "$claimed" "$(awk -v c="$(json ci95)" 'BEGIN { print 5 * c + 0.5 }')" "return of $game"
    awk -v p="$(json mean_return)" -v c="$chance" 'BEGIN { exit !(p > 2 * c + 1) }' || fail "$game plays like chance ($chance)"
done
[ "$found" -gt 0 ] || fail "no policies"

# The learning curves are those of the logs, a panel per game.
cp -r "$policies" copy && rm copy/learning_curves.*
expect 0 "$policies/../tools/learning-curves.sh" "$PWD/copy"
cmp -s copy/learning_curves.csv "$policies/learning_curves.csv" || fail "learning_curves.csv is not of the logs: run tools/learning-curves.sh"
[ -s copy/learning_curves.svg ] || fail "no figure of the learning curves"
finish

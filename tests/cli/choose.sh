# pess choose and solve -a auto: the same choice, the same bytes at any number of threads, whole reports or none.
. "$(dirname "$0")/lib.sh"

expect 0 "$PESS" mdp random --states 15 --actions 3 --terminals 1 --seed 4 -o mdp.csv
expect 0 "$PESS" simulate mdp.csv --policy uniform --episodes 40 --horizon 20 --seed 5 -o log.csv
declared="--gamma 0.9 --reward-range 0,1"

expect 0 "$PESS" choose log.csv $declared -o chosen.csv --report page --json
for file in index.html candidates.csv; do [ -s page/$file ] || fail "no page/$file"; done
[ "${FIGURES:-}" != TRUE ] || [ -s page/figure.svg ] || fail "no figure"
algorithm=$(json chosen.algorithm) setting=$(json chosen.setting) strength=$(json chosen.strength) score=$(json chosen.score)
same "$(json folds)" 5 "folds"
same "$(json episodes)" 40 "episodes"
grep -q "^$algorithm," page/candidates.csv || fail "candidates.csv lacks $algorithm"
same "$(awk -F, '$11 == 1' page/candidates.csv | wc -l | tr -d ' ')" 1 "rows that are chosen"
grep -qF "How much pessimism for this log" page/index.html || fail "the page has no title"

# The policy is that of solve with the strength that was chosen, and what auto makes.
option=
[ "$setting" = null ] || option="--$setting $strength"
expect 0 "$PESS" solve log.csv $declared -a "$algorithm" $option -o solved.csv
cmp -s chosen.csv solved.csv || fail "solve with the choice gives another policy"
expect 0 "$PESS" solve log.csv $declared -a auto -o auto.csv --json
cmp -s chosen.csv auto.csv || fail "auto gives another policy"
same "$(json choice.chosen.algorithm)" "$algorithm" "the choice of auto"
expect 0 "$PESS" solve log.csv $declared -a auto
prints "Chosen     $algorithm"

for threads in 1 3; do
    expect 0 "$PESS" choose log.csv $declared --threads $threads --report page$threads
    cmp -s page/candidates.csv page$threads/candidates.csv || fail "other scores with $threads threads"
done
expect 0 "$PESS" choose log.csv $declared --seed 1 --families naive,ua --folds 8
prints "40 episodes in 8 folds"
expect 0 "$PESS" choose log.csv $declared --score weights --json
same "$(json score)" weights "the score"

# An action of probability 0 was never taken.
awk -F, -v OFS=, 'NR == 5 { $NF = 0 } { print }' log.csv >never.csv
expect 3 "$PESS" choose never.csv $declared -o never_chosen.csv
says "row 4 of the log has probability 0 for the action that was taken"
[ ! -e never_chosen.csv ] || fail "a policy was written"

# A log without episodes: folds of rows.
cut -d, -f3-6 log.csv >rows.csv
expect 0 "$PESS" choose rows.csv $declared
prints "rows in 5 folds"

# One action: nothing does better than what was done. Two arms that every family tells apart: all are level.
{ echo 'episode,state,action,reward,next_state,terminal'; for i in 0 1 2 3 4 5 6 7 8 9; do echo "$i,s,go,$((i % 2)),e,1"; done; } >one.csv
expect 0 "$PESS" solve one.csv --gamma 1 -a auto
prints "10 transitions, 2 states, 1 action, 1 pair seen"
prints "; nothing does better"
prints "level with naive, which has the same score on every fold"
prints "first or level in 100 of 100"
expect 0 "$PESS" choose one.csv --gamma 1 --report level
grep -qF "nothing does better than what was done so far" level/index.html || fail "the page compares imitation with itself"
grep -qF "has the same score on every fold" level/index.html || fail "the page does not tell of the tie"
{ cut -d: -f1 log.csv | head -1; tail -n +2 log.csv | awk -F, -v OFS=, '{ $5 = $5 * 1e-7 } { print }'; } >tiny.csv
expect 0 "$PESS" choose tiny.csv --gamma 0.9 --report tiny
grep -E '<td|<p>' tiny/index.html | grep -qE '[0-9]e-[0-9]' && fail "the page has exponents"

# Bad input: one sentence, nothing written.
expect 2 "$PESS" choose log.csv --folds 41 --report none -o none.csv
says "41 folds need as many episodes; the log has 40"
expect 2 "$PESS" choose log.csv --folds 1
says "from 2 to 1000"
expect 2 "$PESS" choose log.csv --families naive,witchcraft
says "--families: found 'witchcraft'"
expect 2 "$PESS" choose rows.csv --score weights
says "no column 'probability'"
expect 2 "$PESS" choose log.csv --min-count 3
expect 2 "$PESS" solve log.csv -a auto --min-count 3
says "--min-count does nothing for auto"
expect 3 "$PESS" choose log.csv --return-range 0,0.1
says "outside the declared range of returns"
expect 5 "$PESS" choose nosuch.csv --report none
[ ! -e none ] && [ ! -e none.csv ] || fail "something was written"
no_leftovers
finish

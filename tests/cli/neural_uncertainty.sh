# pess train -a ua from outside: every uncertainty and peer on a little data, what list says of them, warnings, bad options.
. "$(dirname "$0")/lib.sh"
source_dir=$(cd "$(dirname "$0")/../.." && pwd)

expect 0 "$PESS" collect breakout --policy "$source_dir/policies/breakout.pessnet" --epsilon 0.2 --transitions 2000 --seed 4 -o b.pessdata
few="--protocol smoke --updates 2 --steps 4 --score-episodes 2 --eval-every 0"

# The option and the name are the same run.
expect 0 "$PESS" train b.pessdata -a ua --uncertainty support-net --u-cap 3 --relative off $few --out one --json
[ "$(json algorithm)" = ua ] || fail "algorithm $(json algorithm)"
expect 0 "$PESS" train b.pessdata -a ua-support-net --u-cap 3 --relative off $few --out two
cmp -s one/policy.pessnet two/policy.pessnet || fail "ua --uncertainty support-net and ua-support-net differ"
cmp -s one/uncertainty.pessnet two/uncertainty.pessnet || fail "their uncertainties differ"
grep -q '"uncertainty": "support-net"' one/manifest.json || fail "the manifest has no uncertainty"
grep -q '"relative": "off"' one/manifest.json || fail "the manifest does not say relative"
expect 0 "$PESS" train b.pessdata -a ua-support-net --u-cap 3 $few --out relative
cmp -s one/policy.pessnet relative/policy.pessnet && fail "--relative does nothing"

# Everything that is listed trains.
expect 0 "$PESS" train b.pessdata -a imitation --protocol smoke --imitation-steps 20 --score-episodes 2 --eval-every 0 --out imitation
needing=$("$PESS" list learners --json | tr -d ' "' | awk -F'[:,]' '$1 == "name" { name = $2 } $1 == "imitation" && $2 == "true" { print name }')
for learner in $("$PESS" list learners --json | tr -d ' "' | sed -n 's/^name:\(.*\),$/\1/p'); do
    own=$few
    [ "$learner" != imitation ] || own="--protocol smoke --score-episodes 2 --eval-every 0"
    ! grep -qx "$learner" <<<"$needing" || own="$few --imitation imitation/policy.pessnet"
    expect 0 "$PESS" train b.pessdata -a "$learner" $own --out "run-$learner"
    prints "$learner: score"
done
[ -d run-ua-ensemble ] && [ -d run-model-ensemble ] && [ -d run-counts-alone ] || fail "learners are missing from the list"
expect 0 "$PESS" list neural-uncertainties
prints "imitation-counts"
prints "outside the data"

# In an experiment an uncertainty-aware learner brings its controls, as often as it is put together; a peer does not.
tiny=(experiment minatar-exploration --games breakout --epsilons 1 --transitions 300 --trials 1 --protocol smoke)
curves() { cut -d, -f2 "$1/results.csv" | tail -n +2 | tr '\n' ' '; }
expect 0 "$PESS" "${tiny[@]}" --algorithms ua-counts,naive --out controls
same "$(curves controls)" \
    "behaviour imitation imitation-argmax ua-counts naive proximal proximal-argmax counts-alone " "curves with controls"
grep -qx "algorithms=ua-counts,naive,imitation,proximal,counts-alone" controls/settings.txt || fail "settings.txt lacks the controls"
expect 0 "$PESS" merge controls --out controls-merged
cmp -s controls/results.csv controls-merged/results.csv || fail "results.csv with controls, merged"
expect 0 "$PESS" "${tiny[@]}" --algorithms ua-counts,naive --controls off --out bare
same "$(curves bare)" "behaviour ua-counts naive " "curves without controls"
expect 0 "$PESS" merge bare --out bare-merged
cmp -s bare/results.csv bare-merged/results.csv || fail "results.csv without controls, merged"
expect 0 "$PESS" "${tiny[@]}" --algorithms naive,proximal:0.5,ua-counts,imitation --out asked
same "$(curves asked)" "behaviour imitation imitation-argmax naive proximal-0.5 proximal-0.5-argmax ua-counts counts-alone " \
    "curves where two of the controls were asked for"
expect 0 "$PESS" "${tiny[@]}" --algorithms cql --out peer
same "$(curves peer)" "behaviour cql " "curves of a peer"
expect 2 "$PESS" "${tiny[@]}" --algorithms ua-counts --controls perhaps --out bad; says "one of on, off"

# What cannot be.
expect 2 "$PESS" train b.pessdata -a ua --uncertainty guess $few --out bad
says "counts, support-net, imitation"
expect 2 "$PESS" train b.pessdata -a naive --uncertainty counts $few --out bad
says "goes with ua"
expect 2 "$PESS" train b.pessdata -a ua --relative maybe $few --out bad
says "on or off"
expect 2 "$PESS" train b.pessdata -a ua --u-cap 0 $few --out bad
says "u-cap"
no_leftovers
finish

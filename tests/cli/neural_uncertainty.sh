# pess train -a ua from outside: every uncertainty and peer on a little data, what list says of them, warnings, bad options.
. "$(dirname "$0")/lib.sh"
source_dir=$(cd "$(dirname "$0")/../.." && pwd)

expect 0 "$PESS" collect breakout --policy "$source_dir/policies/breakout.pessnet" --epsilon 0.2 --transitions 2000 --seed 4 -o b.pessdata
few="--protocol smoke --updates 2 --steps 4 --imitation-steps 20 --score-episodes 2 --eval-every 0"

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
expect 0 "$PESS" train b.pessdata -a imitation $few --out imitation
for learner in $("$PESS" list learners --json | tr -d ' "' | sed -n 's/^name:\(.*\),$/\1/p'); do
    expect 0 "$PESS" train b.pessdata -a "$learner" --imitation imitation/policy.pessnet $few --out "run-$learner"
    prints "$learner: score"
done
[ -d run-ua-ensemble ] && [ -d run-model-ensemble ] && [ -d run-counts-alone ] || fail "learners are missing from the list"
expect 0 "$PESS" list neural-uncertainties
prints "imitation-counts"
prints "outside the data"

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

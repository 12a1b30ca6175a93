# How a network acts is in its notes: imitation is sampled, unless --argmax; proximal needs a second network.
. "$(dirname "$0")/lib.sh"
expect 0 "$PESS" collect freeway --policy random --transitions 3000 --seed 1 -o data.pessdata
train() { expect 0 "$PESS" train data.pessdata -a "$1" --protocol smoke --updates 5 --steps 2 --batch 32 --imitation-steps 60 \
    --score-episodes 1 --eval-every 0 --network dqn --out "$1" --json; }
train imitation
expect 0 "$PESS" net info imitation/policy.pessnet --json
same "$(json trained.acts)" softmax "note of an imitation network"
evaluate() { expect 0 "$PESS" env evaluate freeway --policy "$1" --episodes 20 --seed 3 --step-limit 500 --json "${@:2}"; }
evaluate imitation/policy.pessnet --threads 1
same "$(json acts)" softmax "rule of imitation"
one=$(cat out)
evaluate imitation/policy.pessnet --threads 3
same "$(cat out)" "$one" "sampled evaluation on three threads"
evaluate imitation/policy.pessnet --argmax
same "$(json acts)" argmax "rule with --argmax"
[ "$(cat out)" != "$one" ] || fail "--argmax changes nothing"
expect 0 "$PESS" play freeway --policy imitation/policy.pessnet --record sampled.gif --steps 60
expect 0 "$PESS" play freeway --policy imitation/policy.pessnet --record largest.gif --steps 60 --argmax
cmp -s sampled.gif largest.gif && fail "pess play samples no actions"
expect 0 "$PESS" play freeway --policy imitation/policy.pessnet --record again.gif --steps 60
cmp -s sampled.gif again.gif || fail "the same seed plays differently"

train naive
evaluate naive/policy.pessnet
same "$(json acts)" argmax "rule of naive"
train proximal
expect 3 "$PESS" env evaluate freeway --policy proximal/policy.pessnet
says "acts by the rule of 'proximal'"
says "--argmax"
expect 3 "$PESS" play freeway --policy proximal/policy.pessnet --record x.gif
evaluate proximal/policy.pessnet --argmax
finish

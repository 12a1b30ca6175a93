# How a network acts is in its notes: imitation is sampled, unless --argmax; proximal needs a second network, which its
# policy file has.
. "$(dirname "$0")/lib.sh"
expect 0 "$PESS" collect freeway --policy random --transitions 3000 --seed 1 -o data.pessdata
train() { expect 0 "$PESS" train data.pessdata -a "$1" --protocol smoke "${@:2}" --score-episodes 1 --eval-every 0 --network dqn \
    --out "$1" --json; }
values="--updates 5 --steps 2 --batch 32"
train imitation --imitation-steps 60
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


# Collecting follows the same rule, and its notes say so where it samples.
collect() { expect 0 "$PESS" collect freeway --policy "$1" --transitions 600 --seed 5 -o "$2" --json "${@:3}"; }
collect imitation/policy.pessnet sampled.pessdata
same "$(json collected.acts)" softmax "rule of collecting from imitation"
collect imitation/policy.pessnet again.pessdata
cmp -s sampled.pessdata again.pessdata || fail "the same seed collects other data"
pairs=$(json pairs)
collect imitation/policy.pessnet largest.pessdata --argmax
grep -q '"acts"' out && fail "a rule in the notes of data by argmax"
[ "$pairs" -gt "$(json pairs)" ] || fail "sampling tries no more actions ($pairs) than argmax ($(json pairs))"

# shellcheck disable=SC2086
train naive $values
evaluate naive/policy.pessnet
same "$(json acts)" argmax "rule of naive"
# shellcheck disable=SC2086
train proximal $values --imitation-steps 60
expect 3 "$PESS" env evaluate freeway --policy proximal/policy.pessnet
says "acts by the rule of 'proximal'"
says "--argmax"
expect 3 "$PESS" play freeway --policy proximal/policy.pessnet --record x.gif
evaluate proximal/policy.pessnet --argmax
evaluate proximal/policy.pesspolicy
same "$(json acts)" proximal "rule of the policy of proximal"
collect proximal/policy.pesspolicy whole.pessdata
same "$(json collected.acts)" proximal "rule of collecting by the policy of proximal"
expect 0 "$PESS" play freeway --policy proximal/policy.pesspolicy --record x.gif --steps 20
expect 0 "$PESS" net info proximal/policy.pesspolicy
prints "acts by the rule of proximal"
expect 0 "$PESS" net info proximal/policy.pesspolicy --json
same "$(json rule networks trained.game | tr '\n' ' ')" "proximal 2 freeway " "a policy of networks as JSON"
head -c 900 proximal/policy.pesspolicy >cut.pesspolicy
expect 3 "$PESS" env evaluate freeway --policy cut.pesspolicy
says "cut.pesspolicy: damaged or truncated"
expect 3 "$PESS" collect freeway --policy proximal/policy.pessnet -o x.pessdata
says "proximal/policy.pessnet: acts by the rule of 'proximal'"
collect proximal/policy.pessnet largest.pessdata --argmax

# An uncertainty is no policy; an experiment collects by the same rules.
# shellcheck disable=SC2086
train ua-support-net $values
for how in "" --argmax; do
    expect 3 "$PESS" collect freeway --policy ua-support-net/uncertainty.pessnet -o x.pessdata $how
    says "holds the uncertainties of a training; a policy is needed"
    expect 3 "$PESS" env evaluate freeway --policy ua-support-net/uncertainty.pessnet $how
done
[ -e x.pessdata ] && fail "data of a refused player"
tiny() { "$PESS" experiment minatar-exploration --games freeway --epsilons 0 --transitions 600 --trials 1 --protocol smoke --algorithms naive "$@"; }
mkdir players && cp imitation/policy.pessnet players/freeway.pessnet
expect 0 tiny --policies players --keep-data on --out experiment
expect 0 "$PESS" inspect experiment/runs/freeway/x-0/trial-1/data.pessdata --json
same "$(json collected.acts)" softmax "rule of collecting in an experiment"
cp ua-support-net/policy.pessnet players/freeway.pessnet
expect 3 tiny --policies players --out refused
says "acts by the rule of 'ua-support-net'"
finish

#!/usr/bin/env bash
# demo.sh PESS DIR: the point of pessimism in one table. A gridworld, a log of 2000 decisions by a nearly optimal
# policy, four policies from that log, and what each is really worth.
set -eu
pess=$1 dir=$2
mkdir -p "$dir"
gamma=0.99 epsilon=0.25 transitions=2000 seed=1
field() { sed -n "s/.*\"$1\": \([^,]*\),*/\1/p" | head -n 1; }

"$pess" mdp gridworld --seed $seed -o "$dir/mdp.csv" --start-out "$dir/rho.csv"
"$pess" mdp solve "$dir/mdp.csv" --gamma $gamma -o "$dir/optimal.csv" --json >"$dir/optimal.json"
"$pess" simulate "$dir/mdp.csv" --policy "$dir/optimal.csv" --epsilon $epsilon --transitions $transitions \
    --seed $seed -o "$dir/log.csv"

echo "An 8x8 gridworld. The log: $transitions decisions of a policy that acts at random every fourth time."
echo "Discount $gamma; the best possible policy is worth $(field value <"$dir/optimal.json" | cut -c1-5)."
echo
printf '%-11s %-34s %9s %9s   %s\n' policy "how it reads the log" promised worth "in $dir"
row() {
    local name=$1 words=$2
    shift 2
    "$pess" solve "$dir/log.csv" --gamma $gamma --states 64 --actions 4 --reward-range 0,1 --start "$dir/rho.csv" \
        --seed $seed -o "$dir/policy-$name.csv" --values "$dir/values-$name.csv" --json "$@" >"$dir/$name.json"
    "$pess" mdp evaluate "$dir/mdp.csv" --policy "$dir/policy-$name.csv" --gamma $gamma --start "$dir/rho.csv" --json \
        >"$dir/truth-$name.json"
    printf '%-11s %-34s %9.1f %9.1f   %s\n' "$name" "$words" "$(field value <"$dir/$name.json")" \
        "$(field value <"$dir/truth-$name.json")" "policy-$name.csv"
}
row imitation "does what was done" -a imitation
row naive "believes it" -a naive
row ua "doubts what it rarely saw" -a ua --absorbed-alpha 1
row proximal "stays near what was done" -a proximal --absorbed-alpha 1
cat <<'END'

"promised" is the value each algorithm computes from the log; "worth" is the exact value in the true world.
The naive policy promises most, because it picks whatever the log overestimates most, and delivers least.
Uncertainty-aware pessimism (ua) promises little and delivers most: what it promises, it keeps.
END

echo
echo "And the paper's two gridworld figures, 1000 trials each, all algorithms on the same worlds and data:"
for figure in exploration data; do
    "$pess" experiment gridworld-$figure --trials 1000 --out "$dir/gridworld-$figure" >"$dir/gridworld-$figure.txt"
    tail -n 1 "$dir/gridworld-$figure.txt"
done
echo
echo "Everything is in $dir: mdp.csv, log.csv, policies, values and the JSON of each step."
echo "Your own log:  $pess inspect LOG  and then  $pess solve LOG -o policy.csv"

# pess certify --method episodes: an independent program agrees, and what is refused; pess evaluate --estimators.
. "$(dirname "$0")/lib.sh"

"$PESS" mdp gridworld --rows 3 --cols 3 --seed 2 -o grid.csv >/dev/null
"$PESS" mdp solve grid.csv --gamma 0.5 -o best.csv >/dev/null
"$PESS" simulate grid.csv --policy best.csv --epsilon 0.5 --episodes 900 --horizon 6 --seed 3 -o grid_log.csv
"$PESS" mdp random --states 7 --actions 3 --branching 3 --terminals 1 --seed 4 -o garnet.csv >/dev/null
"$PESS" mdp solve garnet.csv --gamma 0.8 -o garnet_best.csv >/dev/null
"$PESS" simulate garnet.csv --policy garnet_best.csv --epsilon 0.6 --episodes 500 --horizon 20 -o garnet_log.csv

# Something is certified: a switch, or the present policy is to be kept.
certified() {
    "$@" >out 2>err </dev/null
    local got=$?
    [ "$got" -eq 0 ] || [ "$got" -eq 7 ] || fail "exit $got instead of 0 or 7: $* ($(head -c 300 err))"
}

# The independent checker agrees, and does not where a bound is a little better.
check() { # LOG STATES ACTIONS GAMMA HI certify-options…
    local log=$1 states=$2 actions=$3 gamma=$4 hi=$5; shift 5
    certified "$PESS" certify "$log" --method episodes --gamma "$gamma" --reward-range 0,1 --states "$states" \
        --actions "$actions" -o policy.csv --json "$@"
    cp out certificate.json
    expect 0 "$CHECK_EPISODES" "$log" policy.csv certificate.json "$states" "$actions" "$hi"
    awk '/"lower_bound"/ && !n++ { sub(/: [^,]*/, ": " ($2 + 0.01)) } { print }' certificate.json >raised.json
    expect 1 "$CHECK_EPISODES" "$log" policy.csv raised.json "$states" "$actions" "$hi"
    prints "NOT implied"
    awk '/"difference_lower_bound"/ { sub(/: [^,]*/, ": " ($2 + 0.01)) } { print }' certificate.json >raised.json
    expect 1 "$CHECK_EPISODES" "$log" policy.csv raised.json "$states" "$actions" "$hi"
}
check grid_log.csv 9 4 0.5 2
check garnet_log.csv 7 3 0.8 5 --delta 0.3
"$PESS" simulate garnet.csv --policy garnet_best.csv --epsilon 0.6 --episodes 6000 --horizon 20 -o long_log.csv
check long_log.csv 7 3 0.8 5
same "$(sed -n 's/.*"difference_bet": "\(.*\)".*/\1/p' certificate.json)" doubly-robust "bet of the comparison"
same "$(sed -n 's/.*"recommendation": "\(.*\)".*/\1/p' certificate.json)" switch "recommendation"

# Nothing of the tested episodes is looked at before the policy is chosen: with other rewards there, the policy is the same.
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "reward") r = i } NR > 6000 { $r = 1 - $r } { print }' \
    long_log.csv >other_end.csv
for log in long_log other_end; do
    certified "$PESS" certify "$log.csv" --method episodes --gamma 0.8 --reward-range 0,1 --first-part 5000 -o "$log.policy.csv"
done
cmp -s long_log.policy.csv other_end.policy.csv || fail "the tested episodes changed the policy"

# Same bytes, whatever the number of threads.
"$PESS" certify long_log.csv --method episodes --gamma 0.8 --threads 1 -o one.csv --json >one.json
"$PESS" certify long_log.csv --method episodes --gamma 0.8 --threads 2 -o two.csv --json >two.json
cmp -s one.json two.json && cmp -s one.csv two.csv || fail "threads change the certificate"

# Logged probabilities that cannot be right, and a behaviour that never did what the log shows.
certified "$PESS" certify garnet_log.csv --method episodes --gamma 0.8 --reward-range 0,1
prints "Weights       effective episodes"
awk -F, -v OFS=, 'NR == 41 { $NF = 0 } { print }' garnet_log.csv >zero.csv
expect 3 "$PESS" certify zero.csv --method episodes --gamma 0.8 -o none.csv
says "probability 0 for the action that was taken"
awk -F, -v OFS=, 'NR > 1 { $NF = 0.01 } { print }' garnet_log.csv >small.csv
expect 3 "$PESS" certify small.csv --method episodes --gamma 0.8 -o none.csv
says "contradict the log"
expect 3 "$PESS" certify garnet_log.csv --method episodes --behaviour garnet_best.csv --gamma 0.8 -o none.csv
says "no probability, but row"
awk -F, -v OFS=, '{ NF-- } { print }' garnet_log.csv >bare.csv
expect 3 "$PESS" certify bare.csv --method episodes --gamma 0.8 -o none.csv
says "no column 'probability'"
expect 3 "$PESS" certify garnet_log.csv --method episodes --start uniform --gamma 0.8 -o none.csv
says "tell only of the starts"
expect 3 "$PESS" certify garnet_log.csv --method episodes --first-part 2 --gamma 0.8 -o none.csv
says "too few to choose a policy"
test ! -e none.csv
certified "$PESS" certify bare.csv --method episodes --behaviour estimated --gamma 0.8 --reward-range 0,1
prints "are estimates from this log"

# Many states, few episodes: a behaviour that is declared is known also where the choosing part shows nothing.
"$PESS" mdp random --states 80 --actions 6 --branching 4 --terminals 2 --seed 9 -o wide.csv >/dev/null
"$PESS" mdp solve wide.csv --gamma 0.9 -o wide_best.csv >/dev/null
"$PESS" simulate wide.csv --policy wide_best.csv --epsilon 0.4 --episodes 300 --horizon 12 --seed 3 -o wide_log.csv
awk -F, -v OFS=, 'NR == 1 { print; next } { best[$1] = $2 } END { for (s in best) for (a = 0; a < 6; a++)
    print s, a, 0.4 / 6 + (a == best[s] ? 0.6 : 0) }' wide_best.csv >wide_behaviour.csv
certified "$PESS" certify wide_log.csv --method episodes --gamma 0.9 --reward-range 0,1 --json
logged=$(json lower_bound)
certified "$PESS" certify wide_log.csv --method episodes --behaviour wide_behaviour.csv --gamma 0.9 --reward-range 0,1 --json
awk -v logged="$logged" -v declared="$(json lower_bound)" 'BEGIN { exit !(declared > logged + 0.3) }' ||
    fail "declared $(json lower_bound), logged $logged"

# Estimates beside each other; a behaviour needs them.
expect 0 "$PESS" evaluate garnet_log.csv --policy garnet_best.csv --gamma 0.8 --reward-range 0,1 --estimators
prints "weighted doubly robust"
expect 0 "$PESS" evaluate garnet_log.csv --policy garnet_best.csv --gamma 0.8 --estimators --json
prints '"effective_episodes"'
prints '"upper_bound"'
expect 0 "$PESS" evaluate bare.csv --policy garnet_best.csv --gamma 0.8 --estimators --behaviour estimated
prints "nothing is certified"
grep -q "unbiased" out && fail "estimated probabilities are called unbiased"
expect 2 "$PESS" evaluate garnet_log.csv --policy garnet_best.csv --behaviour estimated
says "does nothing without --estimators"
# --- rewards counted from the declared least are never negative: bets step by step may be made, and are the best here
expect 0 "$PESS" mdp gridworld --rows 3 --cols 3 -o grid.csv
expect 0 "$PESS" simulate grid.csv --policy uniform --episodes 40 --horizon 8 --seed 1 -o grid-log.csv
expect 1 "$PESS" certify grid-log.csv --reward-range=-1,1
prints "bets: per-decision"
# options that the method does not look at
for idle in "-u l1" "--seed 3" --iid "--max-successors 4"; do
    expect 2 "$PESS" certify garnet_log.csv --method episodes $idle --gamma 0.8
    says "does nothing for the method episodes"
done
expect 2 "$PESS" certify garnet_log.csv --method split --behaviour estimated --gamma 0.8
says "--behaviour does nothing for the method split"
finish

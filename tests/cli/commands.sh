# The commands together: formats, names, threads, JSON members, help.
. "$(dirname "$0")/lib.sh"
"$PESS" mdp gridworld --rows 5 --cols 5 --seed 3 -o mdp.csv --start-out rho.csv || fail gridworld
same "$(head -1 mdp.csv)" "idstatefrom,idaction,idstateto,probability,reward" "MDP header"
expect 0 "$PESS" mdp solve mdp.csv --gamma 0.95 -o optimal.csv --values v.csv --json
best=$(json value)
same "$(head -1 optimal.csv)" "state,action,probability" "policy header"
same "$(head -1 v.csv)" "state,value" "values header"
expect 0 "$PESS" mdp evaluate mdp.csv --policy optimal.csv --gamma 0.95 --start rho.csv --json
near "$(json value)" "$best" 1e-8 "optimal policy evaluated"
for method in policy-iteration value-iteration modified-policy-iteration; do
    for evaluation in lu krylov; do
        expect 0 "$PESS" mdp solve mdp.csv --gamma 0.95 --method $method --evaluation $evaluation --json
        near "$(json value)" "$best" 1e-7 "$method with $evaluation"
    done
done

# a log, the same in every format and at every thread count
"$PESS" simulate mdp.csv --policy optimal.csv --epsilon 0.5 --transitions 3000 --seed 4 -o log.csv || fail simulate
gzip -kc log.csv >log.csv.gz
"$PESS" convert log.csv -o log.npz || fail "to npz"
"$PESS" convert log.npz -o log.pesslog || fail "to native"
"$PESS" convert log.pesslog -o back.csv || fail "to csv"
cmp -s log.csv back.csv || fail "CSV to NPZ to native to CSV is not the same"
for algorithm in $("$PESS" list algorithms | grep '^[a-z]'); do
    "$PESS" solve log.csv -a $algorithm --gamma 0.9 --threads 1 -o one.csv --values one-v.csv >/dev/null || fail "solve $algorithm"
    for threads in 2 4; do
        for file in log.csv.gz log.npz log.pesslog; do
            "$PESS" solve $file -a $algorithm --gamma 0.9 --threads $threads -o many.csv --values many-v.csv >/dev/null || fail "$file"
            cmp -s one.csv many.csv && cmp -s one-v.csv many-v.csv || fail "$algorithm: $file at $threads threads differs"
        done
    done
done
expect 0 "$PESS" solve log.csv --json
for member in algorithm uncertainty holds_for gamma delta alpha absorbed states actions transitions value naive_value \
    outcome iterations residual seconds; do json $member >/dev/null; done
same "$(json states actions transitions outcome | tr '\n' ' ')" "25 4 3000 converged " "solve --json"
cat log.csv | "$PESS" solve - --json >piped.json || fail "standard input"
same "$("$JSON_GET" value <piped.json)" "$(json value)" "standard input"
expect 0 "$PESS" evaluate log.csv --policy optimal.csv --json
json algorithms.0.algorithm algorithms.0.value naive_value >/dev/null
expect 0 "$PESS" evaluate log.csv --policy optimal.csv; prints robust
expect 6 "$PESS" solve log.csv -a naive --method value-iteration --max-iterations 3 --json
same "$(json outcome)" iteration-limit "iteration limit"

# episodes, and names instead of numbers in every output
"$PESS" simulate mdp.csv --policy uniform --episodes 20 --horizon 10 -o episodes.csv || fail episodes
expect 0 "$PESS" inspect episodes.csv --json
same "$(json transitions episodes cutoffs gaps duplicates | tr '\n' ' ')" "200 20 20 0 0 " "inspect episodes"
awk -F, 'BEGIN { OFS = "," } NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print; next }
    { $at["state"] = "room " $at["state"]; $at["next_state"] = "room " $at["next_state"]; $at["action"] = "\"turn, " $at["action"] "\""; print }' \
    episodes.csv >named.csv
expect 0 "$PESS" solve named.csv -a naive --unseen worst -o named-policy.csv --values named-values.csv --json
named=$(json value)
grep -q '^room [0-9]*,"turn, [0-9]",1$' named-policy.csv || fail "names in the policy: $(head -3 named-policy.csv)"
grep -q '^room ' named-values.csv || fail "names in the values"
expect 0 "$PESS" solve episodes.csv -a naive --unseen worst --json
near "$(json value)" "$named" 1e-9 "names change nothing"
expect 0 "$PESS" evaluate named.csv --policy named-policy.csv -a naive --unseen worst --json
near "$(json naive_value)" "$named" 1e-9 "a named policy reads back"

# inspect says what is odd
printf 'episode,step,state,action,reward,next_state\na,0,0,0,1,1\na,1,2,0,1,0\na,1,0,0,0,1\n' >odd.csv
expect 0 "$PESS" inspect odd.csv; prints Odd
expect 1 "$PESS" inspect odd.csv --strict

# help
for command in inspect solve evaluate convert simulate list "mdp gridworld" "mdp bandit" "mdp random" "mdp solve" "mdp evaluate"; do
    expect 0 "$PESS" help $command; prints "Usage: pess $command"; prints Examples
    expect 0 "$PESS" $command --help
done
expect 0 "$PESS" help; expect 0 "$PESS" --version
for table in algorithms uncertainties formats; do expect 0 "$PESS" list $table; expect 0 "$PESS" list $table --json; json schema rows.0.name >/dev/null; done
"$PESS" solve log.csv >/dev/full 2>err && fail "full output device goes unnoticed"
no_leftovers
finish

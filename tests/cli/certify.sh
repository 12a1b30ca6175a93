# pess certify: what it prints, what it refuses, and that an independent program agrees.
. "$(dirname "$0")/lib.sh"

"$PESS" mdp gridworld --rows 3 --cols 3 --seed 2 -o grid.csv >/dev/null
"$PESS" mdp solve grid.csv --gamma 0.9 -o best.csv >/dev/null
"$PESS" simulate grid.csv --policy best.csv --epsilon 0.5 --transitions 12000 -o grid_log.csv
"$PESS" mdp random --states 7 --actions 3 --branching 3 --terminals 1 --seed 4 -o garnet.csv >/dev/null
"$PESS" mdp solve garnet.csv --gamma 0.8 -o garnet_best.csv >/dev/null
"$PESS" simulate garnet.csv --policy garnet_best.csv --epsilon 0.6 --episodes 400 --horizon 20 -o garnet_log.csv

# The independent checker agrees, for every method and kind of log; and does not where the bound is a little better, which
# is tried once for every method: the checker takes seconds.
check() { # CODE LOG STATES ACTIONS GAMMA K certify-options…
    local code=$1 log=$2 states=$3 actions=$4 gamma=$5 k=$6; shift 6
    expect "$code" "$PESS" certify "$log" --gamma "$gamma" --reward-range 0,1 --max-successors "$k" --states "$states" \
        --actions "$actions" --seed 7 --start uniform -o policy.csv --json "$@"
    cp out certificate.json
    expect 0 "$CHECK_CERTIFICATE" "$log" policy.csv certificate.json "$states" "$actions" 0 1 "$k" 7
    [ "$log" = garnet_log.csv ] || return
    awk '/"lower_bound"/ && !n++ { sub(/: [^,]*/, ": " ($2 + 0.01)) } { print }' certificate.json >raised.json
    expect 1 "$CHECK_CERTIFICATE" "$log" policy.csv raised.json "$states" "$actions" 0 1 "$k" 7
    prints "NOT implied"
}
check 0 grid_log.csv 9 4 0.9 0
check 0 grid_log.csv 9 4 0.9 4 --method split --split 0.4
check 0 grid_log.csv 9 4 0.9 0 --method robust -u support --delta 0.2
check 0 grid_log.csv 9 4 0.9 4 --method robust -u l1
check 0 garnet_log.csv 7 3 0.8 0
check 0 garnet_log.csv 7 3 0.8 3 --method split
check 7 garnet_log.csv 7 3 0.8 3 --method robust -u l1

# Four steps: the policy has a table for each, which others read; the same with the step in the state by hand.
"$PESS" simulate grid.csv --policy best.csv --epsilon 0.5 --episodes 8000 --horizon 4 --seed 5 -o steps.csv
expect 0 "$PESS" certify steps.csv --horizon 4 --gamma 1 --reward-range 0,1 -o steps_policy.csv --report steps_page --json
lower=$(json lower_bound)
same "$(json horizon)" 4 "the horizon in JSON"
awk -v low="$lower" 'BEGIN { exit !(low > 1.6 && low < 1.95) }' || fail "four steps: $lower"
same "$(head -1 steps_policy.csv)" "step,state,action,probability" "the header of a policy with steps"
grep -q "Nothing counts after step 4 of an episode" steps_page/index.html || fail "the page does not tell the horizon"
grep -q "over the first 4 steps of an episode" steps_page/index.html || fail "the page's values are of whole episodes"
expect 0 "$PESS" evaluate steps.csv --policy steps_policy.csv -a naive --gamma 1 --horizon 4 --json
awk -v low="$lower" -v value="$(json naive_value)" 'BEGIN { exit !(low < value) }' || fail "above the estimate"
expect 0 "$PESS" gaps steps.csv --policy steps_policy.csv --gamma 1 --horizon 4 --reward-range 0,1
expect 7 "$PESS" certify steps.csv --policy steps_policy.csv --horizon 4 --gamma 1 --reward-range 0,1
expect 3 "$PESS" certify steps.csv --policy steps_policy.csv --gamma 0.9
says "a policy for a finite horizon"
cut -d, -f1-5,8 steps.csv >fixed.csv
expect 0 "$PESS" certify fixed.csv --column state=state,step --last-row terminal --gamma 1 --return-range 0,4 \
    --reward-range 0,1 --start log -o fixed_policy.csv --json
awk -v by_hand="$(json lower_bound)" -v low="$lower" 'BEGIN { exit !(by_hand > 1.6 && by_hand <= low) }' ||
    fail "by hand: $(json lower_bound)"
for step in 0 1 2 3; do grep -q "|$step," fixed_policy.csv || fail "no row of step $step"; done
cut -d, -f3-6 steps.csv >no_episodes.csv
expect 3 "$PESS" certify no_episodes.csv --horizon 4
says "a horizon needs episodes"

# The keys, the ledger, the recommendation; the bound holds for the policy that was written.
expect 0 "$PESS" certify grid_log.csv --gamma 0.9 --reward-range 0,1 -o policy.csv --json
for key in lower_bound value_estimate suboptimality_upper_bound behaviour_value_estimate behaviour_upper_bound \
    improvement_lower_bound recommendation vacuous method uncertainty delta delta_ledger assumptions outcome residual; do
    "$JSON_GET" "$key" <out >/dev/null || fail "no $key"
done
same "$(json recommendation)" switch "recommendation"
same "$(json vacuous)" false "vacuous"
lower=$(json lower_bound)
prints "The process is Markov"
prints "There are 9 states: as many as the log shows."
"$PESS" mdp evaluate grid.csv --policy policy.csv --gamma 0.9 --json >truth.json
truth=$("$JSON_GET" value <truth.json)
awk -v l="$lower" -v t="$truth" 'BEGIN { exit !(l <= t) }' || fail "bound $lower above the truth $truth"
expect 0 "$PESS" certify grid_log.csv --gamma 0.9 --reward-range 0,1
prints "Recommended   switch"
prints "There are 9 states: as many as the log shows (--states declares the number)."
prints "with probability 0.95"

# Steps whose numbers are missing: next states that were taken from the next row are not those of the next step.
{ echo 'episode,step,state,action,reward,terminal'
  for i in 0 1 2 3 4 5 6 7 8 9; do for t in 0 1 2 3; do [ $i$t = 31 ] || echo "$i,$t,$((t % 2)),go,0,$((t == 3))"; done; done; } >gap.csv
expect 3 "$PESS" certify gap.csv --gamma 0.9 --reward-range 0,1 -o gap_policy.csv
says "steps are missing between the two (in 1 place;"
[ ! -e gap_policy.csv ] || fail "a policy was written"
expect 0 "$PESS" inspect gap.csv --json
same "$(json step_gaps)" 1 "steps that are missing by their numbers"

# Same seed, same bytes, any number of threads.
expect 0 "$PESS" certify grid_log.csv --gamma 0.9 --reward-range 0,1 --json --threads 1; cp out one
expect 0 "$PESS" certify grid_log.csv --gamma 0.9 --reward-range 0,1 --json --threads 3
cmp -s one out || fail "threads change the result"

# A given policy: certified for all worlds; only tested on a part where it is declared fresh.
expect 0 "$PESS" certify grid_log.csv --gamma 0.9 --reward-range 0,1 --policy best.csv --json
same "$(json method)" robust "method for a policy that may come from the log"
expect 0 "$PESS" certify grid_log.csv --gamma 0.9 --reward-range 0,1 --policy best.csv --fresh --json
same "$(json method)" split "method for a fresh policy"
expect 0 "$PESS" certify grid_log.csv --gamma 0.9 --reward-range 0,1 --policy best.csv --method split --json
prints "chosen without the "
# Actions that the log never saw: the worst case, honestly.
head -1 grid_log.csv >narrow.csv; awk -F, '$2 == 0' grid_log.csv >>narrow.csv
printf 'state,action,probability\n' >unseen.csv; for s in 0 1 2 3 4 5 6 7 8; do echo "$s,3,1"; done >>unseen.csv
expect 1 "$PESS" certify narrow.csv --gamma 0.9 --reward-range 0,1 --actions 4 --policy unseen.csv --fresh --json
same "$(json vacuous)" true "vacuous"
same "$(json lower_bound)" 0 "lower bound of actions never seen"
same "$(json recommendation)" keep "recommendation"
expect 1 "$PESS" certify narrow.csv --gamma 0.9 --reward-range 0,1 --actions 4 --policy unseen.csv
prints "vacuous"

# Estimated starts cost part of delta; trajectories are assumed of logs with episodes.
expect 0 "$PESS" certify garnet_log.csv --gamma 0.8 --reward-range 0,1 --json
prints "sets: start distribution"
prints "collected by trajectories"
estimated=$(json lower_bound)
expect 0 "$PESS" certify garnet_log.csv --gamma 0.8 --reward-range 0,1 --start uniform --iid --json
prints "independent draws, even though the log has episodes"
[ "$estimated" != "$(json lower_bound)" ] || fail "--iid and --start make no difference"

# The page: whole, self-contained, the recommendation first; names are escaped.
expect 0 "$PESS" certify grid_log.csv --gamma 0.9 --reward-range 0,1 --report page
prints "page/index.html"
[ "$(grep -o 'Switch to the new policy' page/index.html | wc -l)" -eq 2 ] || fail "the page does not recommend"
grep -vF '<link rel="icon" href="data:,">' page/index.html | grep -qE '(src|href)=|@import|https?://|<script' && fail "the page loads something"
for words in 'What is known' 'What this rests on' 'Thin places' 'error probability of 5&nbsp;% is shared' 'To repeat it' 'certify grid_log.csv --gamma 0.9' \
    'prefers-color-scheme: dark' '@media print' 'width=device-width'; do
    grep -qF -- "$words" page/index.html || fail "the page lacks '$words'"
done
grep -q -- '--states\|--actions' page/index.html && fail "the page hints at options"
cp grid_log.csv "it's \$HOME.csv"
expect 0 "$PESS" certify "it's \$HOME.csv" --gamma 0.9 --report quoted
command=$(sed -n 's/.*<pre>pess \(.*\)<\/pre>.*/\1/p' quoted/index.html)
rm quoted/index.html
bash -c "\"\$PESS\" $command" >/dev/null || fail "the command on the page does not repeat it: $command"
[ -f quoted/index.html ] || fail "the command on the page wrote no page"
{ echo 'state,action,reward,next_state'; for i in 1 2 3 4 5 6 7 8 9; do echo 'a<b>&c,go,1,d'; echo 'd,go,0,a<b>&c'; done; } >names.csv
"$PESS" certify names.csv --gamma 0.5 --report named >/dev/null
grep -qF 'a&lt;b&gt;&amp;c' named/index.html || fail "a name is not escaped"
grep -qF 'a<b>' named/index.html && fail "a name is written raw"
expect 5 "$PESS" certify grid_log.csv --gamma 0.9 --report no/such/place
no_leftovers

# Keep and vacuous have exit codes and pages of their own: what it would take, what would change, no exponents, the date.
head -1501 grid_log.csv >short.csv
head -81 grid_log.csv >shorter.csv
export SOURCE_DATE_EPOCH=1790000000
expect 7 "$PESS" certify short.csv --gamma 0.9 --reward-range 0,1 --report keep --unit "kg & more"
prints "Recommended   keep"
prints "times as many data"
prints "of the logged decisions"
expect 1 "$PESS" certify shorter.csv --gamma 0.9 --reward-range 0,1 --report vacuous
prints "vacuous"
for words in 'Keep the present policy' '2026-09-21' 'This is a guess' 'of the decisions in the log' '<details>'; do
    grep -qF -- "$words" keep/index.html || fail "the page of keep lacks '$words'"
    grep -qF -- "$words" vacuous/index.html || fail "the page of vacuous lacks '$words'"
done
grep -qF 'kg &amp; more' keep/index.html || fail "the unit is not on the page, or raw"
grep -qF 'the log guarantees nothing' vacuous/index.html || fail "the page does not say vacuous"
sed '/<details>/,$d' vacuous/index.html keep/index.html | sed '1,/<body>/d' | grep -qE '[0-9]e[-+][0-9]' && fail "exponents on a page"
cp keep/index.html before.html
expect 7 "$PESS" certify short.csv --gamma 0.9 --reward-range 0,1 --report keep --unit "kg & more" --threads 3
sed 's/ --threads 3//' keep/index.html | cmp -s - before.html || fail "the page depends on the number of threads"
expect 7 "$PESS" certify short.csv --gamma 0.9 --reward-range 0,1 --json
for key in certified_share states_changed states_compared decisions_changed data_needed; do
    "$JSON_GET" "$key" <out >/dev/null || fail "no $key"
done
expect 0 "$PESS" help certify
prints "7: keep the present policy"

# Tiny logs.
printf 'state,action,reward,next_state\n0,0,0,0\n' >one.csv
expect 3 "$PESS" certify one.csv --method split
says "too small to split"
expect 1 "$PESS" certify one.csv --reward-range 0,1 --json
prints "too small to split"
same "$(json vacuous)" true "vacuous"
printf 'state,action,reward,next_state\n' >none.csv
expect 3 "$PESS" certify none.csv

# Wrong use and bad input.
expect 2 "$PESS" certify
expect 2 "$PESS" certify grid_log.csv --method magic
expect 2 "$PESS" certify grid_log.csv --fresh
says "--policy"
expect 2 "$PESS" certify grid_log.csv --gamma 1
says "declare the range of returns"
expect 2 "$PESS" certify grid_log.csv --delta 0
expect 2 "$PESS" certify grid_log.csv --split 1
expect 2 "$PESS" certify grid_log.csv -u hoeffding
says "cannot stand behind a certificate"
expect 2 "$PESS" certify grid_log.csv -u nonsense
expect 2 "$PESS" certify grid_log.csv --reward-range 1,0
expect 3 "$PESS" certify grid_log.csv --states 5
expect 3 "$PESS" certify grid_log.csv --reward-range 0,0.5
says "outside the declared range"
expect 3 "$PESS" certify grid_log.csv --start log
says "start"
expect 2 "$PESS" certify grid_log.csv --max-successors 1
says "possible next states"
expect 3 "$PESS" certify grid_log.csv --policy garnet_best.csv
expect 5 "$PESS" certify missing.csv
expect 5 "$PESS" certify grid_log.csv --gamma 0.9 -o no/such/place.csv
no_leftovers

# gaps and theorems
expect 0 "$PESS" gaps grid_log.csv --gamma 0.9 --reward-range 0,1 --top 3
prints "next sample"
expect 0 "$PESS" gaps grid_log.csv --gamma 0.9 --reward-range 0,1 --top 40 --json
awk '/"share"/ { gsub(/[",]/, ""); sum += $2 } END { exit !(sum > 0.999 && sum < 1.001) }' out || fail "shares do not sum to 1"
expect 0 "$PESS" gaps grid_log.csv --policy best.csv --gamma 0.9 -u bernstein --json
expect 2 "$PESS" gaps grid_log.csv --top 0
expect 2 "$PESS" gaps grid_log.csv -u nonsense
expect 2 "$PESS" gaps grid_log.csv --gamma 1
expect 0 "$PESS" theorems grid.csv grid_log.csv --gamma 0.9 --alphas 0,0.5,1 -u l1 --max-successors 4
prints "3 (uncertainty-aware)"
expect 0 "$PESS" theorems grid.csv grid_log.csv --gamma 0.9 --json
for key in uncertainty holds_for rows delta; do "$JSON_GET" "$key" <out >/dev/null || fail "theorems: no $key"; done
expect 2 "$PESS" theorems grid.csv grid_log.csv --alphas 0,2
expect 2 "$PESS" theorems grid.csv grid_log.csv --alphas 0,x
expect 2 "$PESS" theorems grid.csv grid_log.csv -u hoeffding-s
expect 2 "$PESS" theorems grid.csv
expect 3 "$PESS" theorems garnet.csv grid_log.csv
finish

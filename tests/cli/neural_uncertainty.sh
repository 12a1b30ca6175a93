# pess train -a ua from outside: every uncertainty and peer on a little data, what list says of them, warnings, bad options.
. "$(dirname "$0")/lib.sh"
source_dir=$(cd "$(dirname "$0")/../.." && pwd)

expect 0 "$PESS" collect breakout --policy "$source_dir/policies/earlier/breakout.pessnet" --epsilon 0.2 --transitions 2000 --seed 4 -o b.pessdata
few="--protocol smoke --updates 2 --steps 4 --score-episodes 2 --eval-every 0"

# The option and the name are the same run.
expect 0 "$PESS" train b.pessdata -a ua --uncertainty support-net --u-cap 3 --relative off $few --out one --json
[ "$(json algorithm)" = ua ] || fail "algorithm $(json algorithm)"
expect 0 "$PESS" train b.pessdata -a ua-support-net --u-cap 3 --relative off $few --out two
cmp -s one/policy.pessnet two/policy.pessnet || fail "ua --uncertainty support-net and ua-support-net differ"
cmp -s one/uncertainty.pessnet two/uncertainty.pessnet || fail "their uncertainties differ"
grep -q '"uncertainty": "support-net"' one/manifest.json || fail "the manifest has no uncertainty"
grep -qF "\"build\": \"$("$PESS" -V | sed -n 's/^pess //p')\"" one/manifest.json || fail "the manifest does not say which build made it"
grep -q '"relative": "off"' one/manifest.json || fail "the manifest does not say relative"
expect 0 "$PESS" train b.pessdata -a ua-support-net --u-cap 3 $few --out relative
cmp -s one/policy.pessnet relative/policy.pessnet && fail "--relative does nothing"

# What trains: loss, mean target and mean q of every update. The files' notes would differ by what was asked for alone.
learnt() { cut -d, -f1-5 "$1/log.csv"; }
# differs A B WHAT: another setting, another outcome.
differs() {
    cmp -s "$1/policy.pessnet" "$2/policy.pessnet" && fail "$3 leaves policy.pessnet as it is"
    [ "$(learnt "$1")" != "$(learnt "$2")" ] || fail "$3 does not change what is learnt"
}
setting() { sed -n "s/^    \"$2\": \"\(.*\)\",\{0,1\}\$/\1/p" "$1/manifest.json"; }
for learner in ua-counts ua-support-net; do
    expect 0 "$PESS" train b.pessdata -a $learner $few --out plain-$learner
    expect 0 "$PESS" train b.pessdata -a $learner --u-cap 0.01 $few --out cap-$learner
    expect 0 "$PESS" train b.pessdata -a $learner --absorbed-alpha 0 $few --out alpha-$learner
    differs plain-$learner cap-$learner "$learner: --u-cap"
    differs plain-$learner alpha-$learner "$learner: --absorbed-alpha"
    same "$(setting plain-$learner cap) $(setting cap-$learner cap)" "5 0.01" "$learner: caps in the manifests"
    same "$(setting plain-$learner alpha) $(setting alpha-$learner alpha)" "0.5 0" "$learner: α in the manifests"
done

# What an evaluation found is said alike in text, JSON and manifest.
numbers="score score_spread argmax_score predicted obtained outside"
expect 0 "$PESS" train b.pessdata -a ua-counts $few --out told --json
found=$(json $numbers | tr '\n' ' ')
cp told/manifest.json out
same "$(json $numbers | tr '\n' ' ')" "$found" "numbers of manifest and JSON"
expect 0 "$PESS" train b.pessdata -a ua-counts $few --out told-in-text
prints "$(set -- $found && printf 'predicted value %.2f, obtained %.2f (discounted); %.0f %% of steps outside the data' "$4" "$5" \
    "$(awk -v share="$6" 'BEGIN { print 100 * share }')")"

# Data in which no state comes twice (32 games of cars at places of their own, a step each): who counts says so, on
# standard error, in JSON and in the manifest; the others, and better data, have nothing to say.
expect 0 "$PESS" collect freeway --policy random --transitions 32 --seed 4 -o once.pessdata --json
same "$(json transitions states pairs | tr '\n' ' ')" "32 32 32 " "data without repeats"
for learner in ua-counts ua-support-net ua-imitation-counts counts-alone; do
    expect 0 "$PESS" train once.pessdata -a $learner $few --out once-$learner
    says "warning: no state of the data occurs twice"
    grep -q "warning" out && fail "$learner: the warning is on standard output"
    grep -q '"warning": "no state of the data occurs twice' once-$learner/manifest.json || fail "$learner: no warning in the manifest"
done
expect 0 "$PESS" train once.pessdata -a ua-counts $few --out once-json --json
says "warning: no state of the data occurs twice"
case "$(json warning)" in "no state of the data occurs twice"*) ;; *) fail "warning in JSON: $(json warning)" ;; esac
for run in "once.pessdata -a ua-imitation" "b.pessdata -a ua-counts"; do
    expect 0 "$PESS" train $run $few --out quiet-${run##* } --json
    grep -q "warning" out err quiet-${run##* }/manifest.json && fail "$run: a warning: $(cat err)"
done

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
expect 2 "$PESS" "${tiny[@]}" --algorithms ua-counts --controls perhaps --out bad; says "--controls: found 'perhaps', expected one of off|on"

# Everything that is listed in one experiment: a curve each, in the order asked for, and one more by argmax where the
# learner samples. Where a learner is there with two α, both are in the names, in the other experiment too.
listed=$("$PESS" list learners --json | tr -d ' "' | sed -n 's/^name:\(.*\),$/\1/p')
sampling=$("$PESS" list learners --json | tr -d ' "' | awk -F'[:,]' '$1 == "name" { name = $2 } $1 == "samples" && $2 == "true" { print name }')
expected="behaviour "
for learner in $listed proximal:0.5 proximal:0.0001 ua-imitation:1; do
    name=$learner
    case $learner in proximal) name=proximal-0.25 ;; ua-imitation) name=ua-imitation-0.5 ;; *:*) name=${learner/:/-} ;; esac
    expected+="$name "
    grep -qxF "${learner%:*}" <<<"$sampling" && expected+="$name-argmax "
done
[ "$(wc -w <<<"$expected")" -ge 29 ] || fail "too few curves: $expected"
everything=$(paste -sd, <<<"$listed"),proximal:0.5,proximal:0.0001,ua-imitation:1
expect 0 "$PESS" "${tiny[@]}" --algorithms "$everything" --out every-exploration
same "$(curves every-exploration)" "$expected" "curves of every learner"
expect 0 "$PESS" experiment minatar-data --games breakout --sizes 300 --epsilon 0.5 --trials 1 --protocol smoke \
    --algorithms naive,proximal,proximal:0.5 --controls off --out one-size --json
same "$(curves one-size)" "behaviour naive proximal-0.25 proximal-0.25-argmax proximal-0.5 proximal-0.5-argmax " \
    "curves on data of one size"
# JSON and table have the same numbers, and the table those of the runs.
row=$(awk -F, '$2 == "naive" { print NR - 2 }' one-size/results.csv)
keys="mean predicted obtained outside spread"
digits() { printf '%.12g ' "$@"; }
found=$(digits $(for key in $keys; do json "results.$row.$key"; done))
same "$found" "$(digits $(awk -F, '$2 == "naive" { print $5, $11, $12, $13, $14 }' one-size/results.csv))" "numbers of JSON and table"
cp one-size/runs/breakout/x-300/trial-1/naive/manifest.json out
same "$(digits $(json score predicted obtained outside score_spread))" "$found" "numbers of a run and of the table"
# α goes from the list to the runs.
for run in proximal-0.25 proximal-0.5 proximal-0.0001 ua-imitation-0.5 ua-imitation-1 ua-counts-0.5; do
    same "$(setting every-exploration/runs/breakout/x-1/trial-1/$run alpha)" "${run##*-}" "α of $run"
done
# Values are still too small for 0.25 and 0.5 to differ in more than the notes.
differs every-exploration/runs/breakout/x-1/trial-1/proximal-{0.25,0.0001} "α of proximal in an experiment"

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

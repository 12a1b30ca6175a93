# pess compare: experiments and trainings, the page, the same bytes at any number of threads, and what it refuses.
. "$(dirname "$0")/lib.sh"

mkdir one two other broken tabular
head="game,algorithm,x,trial,score,loss"
printf '%s\n' "$head" g,a,0,1,1,0 g,a,0,2,2,0 g,b,0,1,3,0 g,b,0,2,4,0 h,a,0,1,1,0 h,a,0,2,1,0 h,b,0,1,2,0 h,b,0,2,1,0 >one/runs.csv
printf '%s\n' "$head" g,a,0,1,5,0 g,a,0,2,6,0 h,a,0,1,7,0 h,a,0,2,8,0 >two/runs.csv
printf '%s\n' "$head" z,c,0,1,5,0 >other/runs.csv
printf '%s\n' "$head" g,a,0,1,much,0 >broken/runs.csv

expect 0 "$PESS" compare one --json --threads 1
cp out first
expect 0 "$PESS" compare one --json --threads 3
cmp -s out first || fail "threads change the comparison"
prints '"better": "a"'
prints '"value": 0.125' # (0 + (0.5·2 + 0)/4)/2
expect 0 "$PESS" compare one two --report page
prints "a (one)"
prints "a (two)"
prints "3 algorithms on 2 tasks"
for file in index.html algorithms.csv tasks.csv improvements.csv profiles.csv; do [ -s page/$file ] || fail "no $file"; done
[ "$FIGURES" != 1 ] && [ "$FIGURES" != TRUE ] || [ -s page/figure.svg ] || fail "no figure.svg"

# Trainings: those that differ in the seed alone are runs of one algorithm.
expect 0 "$PESS" collect breakout --policy random --transitions 400 --seed 1 -o b.pessdata
few="--protocol smoke --updates 1 --steps 1 --score-episodes 2 --eval-every 0 --network dense"
for seed in 1 2; do
    # shellcheck disable=SC2086
    expect 0 "$PESS" train b.pessdata -a naive $few --seed $seed --out naive-$seed
    # shellcheck disable=SC2086
    expect 0 "$PESS" train b.pessdata -a cql $few --seed $seed --out cql-$seed
done
expect 0 "$PESS" compare naive-1 naive-2 cql-1 cql-2 --scale none --json
prints '"algorithm": "naive"'
prints '"algorithm": "cql-1"'
prints '"runs": 2'

# What is refused.
expect 3 "$PESS" compare one other
says "there is no game and point at which all 3 algorithms have runs"
expect 3 "$PESS" compare other
says "one algorithm (c)"
expect 3 "$PESS" compare one broken
says "broken/runs.csv:2"
expect 3 "$PESS" compare one tabular
says "tabular: has neither runs.csv"
expect 3 "$PESS" compare one nosuch
says "nosuch: is not a directory"
expect 2 "$PESS" compare one -a a,z
says "--algorithms: found 'z'"
expect 2 "$PESS" compare
# shellcheck disable=SC2086
expect 0 "$PESS" train b.pessdata -a naive $few --score-episodes 0 --out unscored
expect 3 "$PESS" compare naive-1 unscored
says "was not scored"
expect 0 "$PESS" compare naive-1 cql-1 --report singles
says "single run"
grep -q '<td class="number">–</td>' singles/index.html || fail "an interval of single runs"
no_leftovers
finish

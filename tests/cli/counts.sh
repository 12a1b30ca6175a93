# Counted logs: the SELECT that help prints makes what solve reads; shards counted apart and merged are the whole.
. "$(dirname "$0")/lib.sh"
model="--gamma 0.5 --start uniform --reward-range 0,1"

{
    echo state,action,reward,next_state
    for i in $(seq 30); do echo "$((i % 3)),$((i % 2)),0.$((i % 7)),$((i * i % 3))"; done
} >log.csv
# What GROUP BY makes of it.
{
    echo state,action,next_state,count,reward_sum,reward_square_sum,reward_min,reward_max
    awk -F, 'NR > 1 { k = $1 "," $2 "," $4; n[k]++; s[k] += $3; q[k] += $3 * $3
                      if (n[k] == 1 || $3 < lo[k]) lo[k] = $3; if (n[k] == 1 || $3 > hi[k]) hi[k] = $3 }
             END { for (k in n) printf "%s,%d,%.17g,%.17g,%s,%s\n", k, n[k], s[k], q[k], lo[k], hi[k] }' log.csv
} >counted.csv

expect 0 "$PESS" convert log.csv -o log.pesscounts
for algorithm in naive ua proximal spibb duipi; do
    expect 0 "$PESS" solve log.csv $model -a $algorithm --json -o rows.csv
    want=$(json value)
    for counts in counted.csv log.pesscounts; do
        expect 0 "$PESS" solve $counts $model -a $algorithm --json -o policy.csv
        near "$(json value)" "$want" 1e-12 "$algorithm from $counts"
        cmp -s rows.csv policy.csv || fail "$algorithm: another policy from $counts"
    done
done
expect 0 "$PESS" evaluate counted.csv --policy policy.csv $model
cut -d, -f1-5 counted.csv >bare.csv # the columns that have to be there
expect 0 "$PESS" evaluate bare.csv --policy policy.csv $model
prints "that need the variances of rewards; the counts have no column reward_square_sum"
expect 3 "$PESS" evaluate bare.csv --policy policy.csv $model -u bernstein
for command in solve gaps; do expect 0 "$PESS" $command bare.csv $model; done
expect 0 "$PESS" gaps counted.csv $model
expect 0 "$PESS" solve counted.csv -u bernstein # the range is in the columns

# Shards.
(head -1 log.csv; sed -n '2,11p' log.csv) >a.csv
(head -1 log.csv; sed -n '12,$p' log.csv) | gzip >b.csv.gz
expect 0 "$PESS" convert a.csv -o a.pesscounts
expect 0 "$PESS" merge b.csv.gz a.pesscounts --out merged.pesscounts
cmp -s merged.pesscounts log.pesscounts || fail "merged shards are not the whole"
expect 2 "$PESS" merge a.csv --out x.pesscounts --partial
expect 5 "$PESS" merge a.csv missing.pesscounts --out x.pesscounts
[ ! -e x.pesscounts ] || fail "something was written although a shard is missing"

# What counts cannot do, and how to get it.
for method in split episodes; do
    expect 3 "$PESS" certify counted.csv --method $method
    says "which are not in counts; give the log that was counted"
    says "Try --method robust."
done
expect 3 "$PESS" choose counted.csv
says "a counted log, expected one row for each transition"
# Certificates by sets: those of the rows. Counts do not say that the rows are independent.
"$PESS" certify log.csv $model --method robust -u l1 --json -o rows.csv >out
want="$(json lower_bound) $(json optimal_upper_bound)"
for counts in counted.csv log.pesscounts -; do
    "$PESS" certify $counts $model --method best -u l1 --iid --may-end off --json -o policy.csv <counted.csv >out
    set -- $want
    near "$(json lower_bound)" "$1" 1e-12 "the certificate of $counts"
    near "$(json optimal_upper_bound)" "$2" 1e-12 "the optimum by $counts"
    same "$(json method)" robust "the method of $counts"
    cmp -s rows.csv policy.csv || fail "certify: another policy from $counts"
done
"$PESS" certify counted.csv $model -o policy.csv --report page >out || [ $? = 1 ] || fail "a page from counts"
prints "no part of the log tests one"
prints "(--iid declares independent draws)"
grep -q "Only counts of the log were at hand" page/index.html || fail "the page does not say that it is from counts"
expect 0 "$PESS" mdp gridworld --rows 2 --cols 2 -o grid.csv
expect 0 "$PESS" simulate grid.csv --policy uniform --transitions 400 -o grid-log.csv
expect 0 "$PESS" convert grid-log.csv -o grid.pesscounts
expect 0 "$PESS" theorems grid.csv grid.pesscounts
{ cat log.csv; echo 2,3,1,0; echo 2,2,1,0; } >even.csv # an even number of pairs
expect 0 "$PESS" convert even.csv -o even.pesscounts
expect 0 "$PESS" inspect even.csv --json
want=$(json count_median)
expect 0 "$PESS" inspect even.pesscounts --json
same "$(json count_median)" "$want" "the median of counts"
expect 0 "$PESS" inspect log.csv --json
for member in transitions states actions states_seen episodes terminals cutoffs reward_min reward_max reward_mean pairs pairs_seen \
    count_least count_median count_most; do
    printf '%s %.12g\n' $member "$(json $member)"
done >rows.txt
for counts in counted.csv log.pesscounts; do # the same numbers as from the rows
    expect 0 "$PESS" inspect $counts --json
    while read -r member _; do printf '%s %.12g\n' "$member" "$(json "$member")"; done <rows.txt >counts.txt
    cmp -s rows.txt counts.txt || fail "inspect of $counts: $(diff rows.txt counts.txt)"
done
"$PESS" inspect - <counted.csv >out 2>err || fail "inspect of counts from a pipe: $(head -c 300 err)"
prints "Not in counts"
expect 3 "$PESS" convert log.pesscounts -o rows.csv
expect 0 "$PESS" help counts
prints "GROUP BY state, action, next_state, terminal"
prints "reward_square_sum"
# What is printed for SQLite works as it stands.
if command -v sqlite3 >/dev/null; then
    awk '/^SQLite/ { inside = 1; next } inside && /^$/ { exit } inside' out >sqlite.sh
    awk -F, 'BEGIN { print "CREATE TABLE log (state, action, reward REAL, next_state, terminal);" }
        NR > 1 { printf "INSERT INTO log VALUES (\"%s\", \"%s\", %s, \"%s\", %s);\n", $3, $4, $5, $6, $7 }' \
        "$TEST_DATA/../../examples/visits.csv" | sqlite3 log.db
    sh sqlite.sh || fail "the command for SQLite"
    expect 0 "$PESS" solve counts.csv --start uniform --json
    counted=$(json value)
    expect 0 "$PESS" solve "$TEST_DATA/../../examples/visits.csv" --start uniform --json
    near "$(json value)" "$counted" 1e-9 "counts by the command for SQLite"
fi
no_leftovers
finish

# Datasets of observations from anywhere: tables with feature columns, actions that are vectors, HDF5 written in the
# layout of Minari and read by tools that are not ours; and what is refused, with nothing left behind.
. "$(dirname "$0")/lib.sh"
few="--protocol smoke --updates 3 --steps 2 --batch 16"

awk 'BEGIN { srand(3); print "ep,x,y,act,reward,done"
             for (e = 0; e < 20; e++) for (t = 0; t < 10; t++)
                 printf "%d,%.3f,%.3f,%s,%.2f,%d\n", e, rand(), 2*rand(), t % 2 ? "right" : "left", rand(), t == 9 }' >table.csv

# A table: inspected, converted, trained on; the policy knows the names of its actions and features.
expect 0 "$PESS" inspect table.csv --features x,y --json
same "$(json transitions)" 200 "transitions of a table"
same "$(json episodes)" 20 "episodes of a table"
same "$(json action_names.1)" right "name of an action"
same "$(json features.1.name)" y "name of a feature"
expect 0 "$PESS" inspect table.csv --features x,y
grep -q "^  y  " out || fail "the features are not listed by name"
expect 0 "$PESS" convert table.csv --features x,y -o table.npz
expect 0 "$PESS" convert table.csv --features x,y -o table.pessdata
for file in table.npz table.pessdata; do
    expect 0 "$PESS" inspect "$file" --json
    same "$(json action_names.1)" right "name of an action in $file"
    same "$(json transitions)" 200 "transitions of $file"
done
# shellcheck disable=SC2086
expect 0 "$PESS" train table.csv --features x,y -a cql $few --out of-table
grep -aq "features=x,y" of-table/policy.pesspolicy || fail "the policy does not say its features"
grep -aq "right" of-table/policy.pesspolicy || fail "the policy does not know the names of its actions"

expect 0 "$PESS" net info of-table/policy.pesspolicy
prints "action 1 right"
prints "sees 2 floats, chooses among 2 actions"
expect 0 "$PESS" net info of-table --json
same "$(json input) $(json length) $(json action_names.1)" "floats 2 right" "a policy as JSON, by its directory"
expect 3 "$PESS" env evaluate cartpole --policy of-table/policy.pesspolicy
says "reads 2 floats; cartpole shows 4 floats"
head -c 900 table.npz >cut.npz
expect 3 "$PESS" inspect cut.npz
grep -q -- --features err && fail "arrays are taken for a table: $(cat err)"

# Acting finds the features by their names, wherever they stand, and answers with the names of actions.
expect 0 "$PESS" act table.csv --policy of-table -o answers
printf 'y,x\n' >turned.csv
awk -F, 'NR > 1 { print $3 "," $2 }' table.csv >>turned.csv
expect 0 "$PESS" act turned.csv --policy of-table -o turned
cmp -s answers turned || fail "columns in another order are acted on otherwise"
expect 0 "$PESS" act table.npz --policy of-table -o arrays
cmp -s answers arrays || fail "a table and arrays of the same rows are acted on differently"
sed -n '2,$p' answers | cut -d, -f2 | grep -vqxE 'left|right' && fail "actions without their names"
expect 0 "$PESS" act turned.csv --policy of-table --probabilities --json
head -1 out >line
"$JSON_GET" action <line | grep -qxE 'left|right' || fail "an action without its name as JSON"
expect 0 "$PESS" act turned.csv --policy of-table --probabilities
same "$(head -1 out)" "row,action,probability,outside,advice,reason,left,right" "header"
sed 's/^y,/z,/' turned.csv >other.csv
expect 3 "$PESS" act other.csv --policy of-table -o bad
says "found no column 'y'"
[ -e bad ] && fail "a refused table was answered"

# Scoring: data whose first action is another one number the names otherwise, which changes nothing; other features and
# other names are refused.
first="20,0.5,0.5,right,0.1,1"
{ head -1 table.csv; sed 1d table.csv; echo "$first"; } >left-first.csv
{ head -1 table.csv; echo "$first"; sed 1d table.csv; } >right-first.csv
score() { expect "$1" "$PESS" score of-table "$2" --features "$3" --updates 2 --steps 2 --weights none --json; }
score 0 left-first.csv x,y
error=$(json policies.0.td_error) mass=$(json policies.0.unlogged)
score 0 right-first.csv x,y
near "$(json policies.0.td_error)" "$error" 1e-5 "Bellman error with actions numbered otherwise"
near "$(json policies.0.unlogged)" "$mass" 1e-5 "mass on what was not logged, with actions numbered otherwise"
score 3 left-first.csv y,x
says "of-table: sees the features x,y; left-first.csv has y,x"
sed 's/,right,/,up,/' table.csv >up.csv
score 3 up.csv x,y
says "of-table: takes the action 'right'; up.csv has no action of this name"

# What is odd is said before a training: one episode, a feature that never changes.
awk 'BEGIN { print "x,y,action,reward,terminal"; for (t = 0; t < 40; t++) printf "%d,1,%d,%d,%d\n", t, t % 2, t % 3, t == 39 }' >odd.csv
# shellcheck disable=SC2086
expect 0 "$PESS" train odd.csv --features x,y -a naive $few --out odd
says "There is only one complete episode"
says "1 of 2 features never change"

# Every policy is worth the same where all rewards are equal and nothing ends for good; a game that is not there.
awk 'BEGIN { print "x,y,action,reward,truncated"; for (t = 0; t < 40; t++) printf "%d,%d,%d,1,%d\n", t, -t, t % 2, t % 20 == 19 }' >equal.csv
# shellcheck disable=SC2086
expect 0 "$PESS" train equal.csv --features x,y --game chess -a naive $few --out equal
says "All rewards are 1 and nothing ends for good"
says "there is no environment 'chess' here"
expect 1 "$PESS" inspect equal.csv --features x,y --strict
sed 's/,1,1,0$/,1,2,0/' equal.csv >unequal.csv
expect 0 "$PESS" inspect unequal.csv --features x,y --strict

# What is seen again in an environment of ours is no row that was written twice; anybody's pictures may be.
expect 0 "$PESS" collect pixel_grid --policy random --transitions 2000 -o pixels.npz
expect 0 "$PESS" inspect pixels.npz
grep -q "written twice" out && fail "observations that come again are said to be copies"
expect 0 "$PESS" inspect pixels.npz --game elsewhere
prints "written twice"
expect 2 "$PESS" convert pixels.npz -o pixels.csv
says "pixels.csv: a name that ends in .pessdata, .npz, .hdf5 or .h5 is expected"
[ -e pixels.csv ] && fail "a table that is none was written"
layers=$(printf 'dense 4, %.0s' $(seq 40))
expect 2 "$PESS" train pixels.npz -a naive --network "${layers}dense 4" --out bad
says "41 layers; at most"

# Tables that are refused.
# refuses CODE TEXT command…
refuses() { local code=$1 text=$2; shift 2; expect "$code" "$@"; says "$text"; [ -e bad ] && fail "$* left something"; }
# shellcheck disable=SC2086
{
refuses 3 "--features names the columns that are observations" "$PESS" train table.csv -a cql $few --out bad
refuses 3 "found no column 'z'" "$PESS" train table.csv --features x,z -a cql $few --out bad
sed '5s/,[0-9.]*,/,NA,/' table.csv >holes.csv
refuses 3 "holes.csv: row 4, feature 'x': found nothing, expected a number" "$PESS" train holes.csv --features x,y -a cql $few --out bad
cut -d, -f1-5 table.csv >endless.csv
refuses 3 "last-row: not set, and the log has no column 'terminal' or 'truncated'" "$PESS" train endless.csv --features x,y -a cql $few --out bad
expect 0 "$PESS" train endless.csv --features x,y --last-row terminal -a cql $few --out declared
cut -d, -f2-5 table.csv >nowhere.csv
refuses 3 "found no column 'episode', 'terminal' or 'truncated', expected one of that name or declared for that role" "$PESS" train nowhere.csv --features x,y -a cql $few --out bad
refuses 3 "actions: found 1 declared, but the log has 2" "$PESS" train table.csv --features x,y --actions 1 -a cql $few --out bad
refuses 2 "--features does nothing for a log" "$PESS" convert table.csv --features x --format csv -o bad
refuses 2 "--game does nothing for a log" "$PESS" inspect table.csv --game cartpole
}

# HDF5 in the layout of Minari: written twice the same, read again, and by HDF5's own tool.
if ldconfig -p 2>/dev/null | grep -q libhdf5; then
    mkdir -p table-v3/data
    expect 0 "$PESS" convert table.npz -o table-v3/data/main_data.hdf5
    expect 0 "$PESS" convert table.pessdata -o again.hdf5
    cmp -s table-v3/data/main_data.hdf5 again.hdf5 || fail "the same dataset gives other bytes"
    cp table-v3/data/metadata.json out
    same "$(json dataset_id)" table-v3 "id of a dataset"
    same "$(json total_episodes)" 20 "episodes in the metadata"
    same "$(json action_space)" '{"type": "Discrete", "dtype": "int64", "start": 0, "n": 2}' "space of actions"
    [ -e metadata.json ] && fail "metadata beside a file of another name"
    if command -v h5dump >/dev/null; then
        h5dump -g episode_7 again.hdf5 >dump || fail "h5dump does not read it"
        for words in 'ATTRIBUTE "total_steps"' 'ATTRIBUTE "rewards_std"' 'DATASPACE  SIMPLE { ( 11, 2 ) / ( H5S_UNLIMITED, 2 ) }' \
            'DATASET "terminations"' '"TRUE"             1;' 'H5T_STD_I64LE'; do
            grep -qF "$words" dump || fail "h5dump does not show $words"
        done
    fi
    PESS_HDF5=/nowhere expect 5 "$PESS" convert table.npz -o bad.hdf5
    says "HDF5 files need the library HDF5"
    if [ -z "${SANITIZE:-}" ]; then
        "$PESS" inspect table.npz --json >npz.json 2>/dev/null
        expect 0 "$PESS" inspect again.hdf5 --json
        same "$(json mean_return)" "$("$JSON_GET" mean_return <npz.json)" "mean return through HDF5"
    fi
fi
no_leftovers
finish

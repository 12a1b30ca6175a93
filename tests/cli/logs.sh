# Logs as they come, from the command line: columns by name, readings that are kept, maps, and what helps where a log is
# refused.
. "$(dirname "$0")/lib.sh"
messy=$TEST_DATA/messy
own="--column episode=patient --column step=visit_no --column state=where --column action=drug --column reward=outcome
     --column next_state=then --column terminal=died --column truncated=lost"

# The same policy whatever the log looks like; every command that reads a log takes the columns, or the reading.
expect 0 "$PESS" solve "$messy/plain.csv" -o plain.policy --json; value=$(json value)
expect 0 "$PESS" solve "$messy/own_names.csv" $own -o own.policy --json; same "$(json value)" "$value" "columns by name"
cmp -s plain.policy own.policy || fail "another policy by other column names"
expect 0 "$PESS" inspect "$messy/own_names.csv" $own -o reading.txt
prints "state        where, as declared"; prints "ignored      age"; prints "--column episode=patient"
expect 0 "$PESS" solve "$messy/own_names.csv" --reading reading.txt --json; same "$(json value)" "$value" "a kept reading"
options=$("$PESS" inspect "$messy/done.csv" --json | "$JSON_GET" reading.options)
eval "expect 0 \"$PESS\" solve \"$messy/done.csv\" $options --json"; same "$(json value)" "$value" "explicit options"
[ ! -s err ] || fail "notes about a reading that is explicit: $(cat err)"
for command in solve gaps certify inspect; do
    "$PESS" $command "$messy/own_names.csv" --reading reading.txt >out 2>err
    [ $? -le 1 ] || fail "$command --reading: $(cat err)"
done
expect 0 "$PESS" evaluate "$messy/own_names.csv" --reading reading.txt --policy plain.policy -a ua -u count
expect 0 "$PESS" convert "$messy/own_names.csv" --reading reading.txt -o own.csv
"$PESS" convert "$messy/plain.csv" -o plain.csv
cmp -s own.csv plain.csv || fail "convert by a reading"
expect 0 "$PESS" merge "$messy/own_names.csv" --reading reading.txt --out own.pesscounts
expect 0 "$PESS" merge "$messy/plain.csv" --out plain.pesscounts
cmp -s own.pesscounts plain.pesscounts || fail "merge by a reading"
printf 'where,note\nICU|1,x\nhome|1,y\n' >rows.csv
expect 0 "$PESS" act rows.csv --policy plain.policy --log "$messy/own_names.csv" --reading reading.txt
[ "$(wc -l <out)" -eq 3 ] || fail "act by a reading: $(cat out)"

# Notes of what was not asked for, and none where all is explicit.
expect 0 "$PESS" solve "$messy/gym.csv" --json; says "'obs' is read as state"; says "'terminated' is read as terminal"
expect 0 "$PESS" solve "$messy/no_next.csv" --json
says "next_state is the state of the next row"; says "no row shows the state they lead to: 1;"
expect 0 "$PESS" solve "$messy/missing.csv" --missing drop --json; says "missing values: 2 of 10"
expect 0 "$PESS" solve "$messy/plain.csv"; [ ! -s err ] || fail "notes about a plain log: $(cat err)"
sed 1s/episode/patient/ "$messy/plain.csv" >patient.csv
expect 0 "$PESS" solve patient.csv; says "column 'patient' is not used; the episode? --column episode=patient"
expect 0 "$PESS" inspect patient.csv; prints "ignored      patient (the episode? --column episode=patient)"

# What was found, and the option that reads it.
hint() { # FILE MESSAGE HINT
    expect 3 "$PESS" solve "$messy/$1" -o refused.csv; says "$2"; says "$3"
    [ ! -e refused.csv ] || fail "a policy after failure: $1"
}
hint own_names.csv "no column 'state'" "Try --column state=NAME."
hint features.csv "no column 'state'" "'pess help discretize'"
hint latin1.csv "in Latin-1 it reads 'Zürich'" "Try --encoding latin1."
hint missing.csv "of 10 rows, found no value" "Try --missing drop"
hint no_next_no_ends.csv "how the last row of an episode ends" "Try --last-row terminal|cutoff."
hint measurements.csv "found '0.3712'" "Measurements? 'pess discretize'"
hint two_for_one.csv "'obs' and 'observation'" "Try --column state=obs."
hint quoted_comma.csv "found '0,5'" "Try --decimal comma."
hint workbook.xlsx "an Excel workbook" "Save it as text"
# Missing values in a state are not repaired by a reward, nor by a value that is none.
sed '3s/^\([^,]*,[^,]*\),[^,]*/\1,NA/' "$messy/plain.csv" >no_state.csv
expect 3 "$PESS" solve no_state.csv; says "found no value for 'state' in 1 row"; says "--missing ROLE=VALUE"
expect 3 "$PESS" solve "$messy/missing.csv" --missing soon
says "found 'soon', expected a number to stand in for the value that is missing here"
# Other files: each is called by its name where a log is read, and where a table of rows is.
iconv -f UTF-8 -t UTF-16 "$messy/plain.csv" >wide.csv
expect 3 "$PESS" solve wide.csv; says "found text in UTF-16"; says "iconv -f UTF-16 -t UTF-8"
python3 -c 'import zipfile; zipfile.ZipFile("packed.zip", "w").writestr("plain.csv", "state,action\n")'
expect 3 "$PESS" solve packed.zip; says "found a zip file with 'plain.csv', expected one with NumPy arrays"
for ending in pesslog npz pesscounts; do expect 0 "$PESS" convert "$messy/plain.csv" -o "plain.$ending"; done
table() { # FILE WORDS
    expect 3 "$PESS" act "$1" --policy plain.policy; says "$1: $2"
    expect 3 "$PESS" discretize "$1" --features age -o refused.pessmap; says "$1: $2"
    [ ! -e refused.pessmap ] || fail "a map after failure: $1"
}
table plain.pesscounts "found a counted log, expected one row for each transition"
table plain.pesslog "found a log of states, expected a table"; says "'pess convert FILE -o rows.csv'"
table plain.npz "found a zip file, as NumPy arrays and Excel workbooks are; expected a table"
table packed.zip "found a zip file"
expect 0 "$PESS" solve "$messy/latin1.csv" --encoding latin1; prints "Zürich"
hint decimals.csv "found '0.5'" "Try --decimal-ids names."
hint doses.csv "found '2.5'" "Try --decimal-ids names."
expect 0 "$PESS" inspect "$messy/decimals.csv" --decimal-ids names -o levels.txt --json; same "$(json states)" 3 "levels as states"
expect 0 "$PESS" solve "$messy/decimals.csv" --reading levels.txt; prints "0.5"
expect 0 "$PESS" solve "$messy/doses.csv" --decimal-ids names; prints "2.5"
expect 2 "$PESS" solve --reading levels.txt --decimal-ids perhaps "$messy/doses.csv"; says "refuse|names"
expect 0 "$PESS" solve "$messy/no_next_no_ends.csv" --last-row terminal
expect 3 "$PESS" inspect "$messy/own_names.csv" --json; same "$(json error.remedy)" column "remedy as JSON"
expect 2 "$PESS" inspect "$messy/plain.csv" --column place=here; says "expected ROLE=NAME"
expect 5 "$PESS" inspect "$messy/plain.csv" --reading nowhere.txt; says nowhere.txt
printf 'colour red\n' >bad.txt
expect 3 "$PESS" inspect "$messy/plain.csv" --reading bad.txt; says "bad.txt:1:1: found 'colour'"
expect 2 "$PESS" merge some --out dir --column state=x; says "--column is for logs"

# A log of measurements, by the map of its cells, in every command; columns have other names and separators.
awk 'BEGIN { srand(3); print "patient;hour;pulse;lactate;drug;outcome;died"
    for (e = 1; e <= 60; e++) for (t = 0; t < 5; t++)
        printf "p%d;%d;%d,5;%d,25;%s;%d;%d\n", e, t, 60 + 40 * rand(), 4 * rand(), rand() < .5 ? "wait" : "treat", rand() < .3, t == 4 }' >ward.csv
columns="--column episode=patient --column step=hour --column action=drug --column reward=outcome --column terminal=died"
expect 0 "$PESS" discretize ward.csv --features pulse,lactate $columns --method bins --cells 4 -o ward.pessmap
expect 0 "$PESS" convert ward.csv --map ward.pessmap $columns --part held-out -o cells.csv
expect 0 "$PESS" solve cells.csv --states 4 --json; value=$(json value)
expect 0 "$PESS" solve ward.csv --map ward.pessmap $columns -o ward.policy --json
same "$(json value)" "$value" "a map in solve, on the episodes that did not make it"
expect 0 "$PESS" evaluate ward.csv --map ward.pessmap $columns --policy ward.policy -a ua -u count
expect 0 "$PESS" gaps ward.csv --map ward.pessmap $columns
expect 0 "$PESS" inspect ward.csv --map ward.pessmap $columns -o ward.reading
prints "measured     pulse, lactate"; prints "episode      patient, as declared"; prints "--column action=drug"
expect 0 "$PESS" solve ward.csv --map ward.pessmap --reading ward.reading --json
same "$(json value)" "$value" "the reading of measurements, kept"
# A measurement that is called as everybody calls a role is none.
sed 1s/pulse/t/ ward.csv >called.csv
expect 0 "$PESS" discretize called.csv --features t,lactate $columns --cells 4 -o called.pessmap
grep -q "'t' is read" err && fail "a measurement is read as a step: $(cat err)"
"$PESS" certify ward.csv --map ward.pessmap $columns --reward-range 0,1 >out 2>err; [ $? -le 1 ] || fail "certify --map: $(cat err)"
expect 0 "$PESS" act ward.csv --policy ward.policy --map ward.pessmap --log ward.csv $columns
# Certificates say what the cells have to be for them, and which episodes made them.
certified() { "$PESS" certify ward.csv --map ward.pessmap $columns --reward-range 0,1 --json "$@" >out 2>err; [ $? -ne 2 ] || fail "certify $*"; }
certified --method robust
prints "If the cells are Markov"; prints "other episodes, which neither chose"; prints '"the cells, made of other episodes": 0'
certified --method robust --part all
prints "episodes also made the cells"; grep -q "made of other episodes\": 0" out && fail "the ledger of cells that are not apart"
certified --method episodes --behaviour estimated --report page
prints "need not be Markov"; grep -q "If the cells are Markov" out && fail "whole episodes need no Markov cells"
grep -q "need not be Markov" page/index.html || fail "the page of whole episodes"
# Logged probabilities come along.
awk -F';' 'NR == 1 { print $0 ";propensity" } NR > 1 { print $0 ";0,5" }' ward.csv >logged.csv
expect 0 "$PESS" convert logged.csv --map ward.pessmap $columns -o cells.csv; says "'propensity' is read as probability"
[ "$(head -1 cells.csv)" = episode,step,state,action,reward,next_state,terminal,probability ] || fail "probabilities: $(head -1 cells.csv)"
# Rows without a reward or an action begin no transition, but tell where the one before led.
awk -F';' -v OFS=';' 'NR == 3 { $6 = "NA" } NR == 5 { $5 = "" } { print }' ward.csv >gaps.csv
expect 3 "$PESS" solve gaps.csv --map ward.pessmap $columns
says "of 300 rows, found no value for 'drug' in 1 row (first in line 5), 'outcome' in 1 row (first in line 3)"
says "Try --missing drop"
expect 0 "$PESS" convert gaps.csv --map ward.pessmap $columns --missing drop --part all -o dropped.csv
says "missing values: 2 of 300"
expect 0 "$PESS" convert ward.csv --map ward.pessmap $columns --part all -o whole.csv
sed -e 3d -e 5d whole.csv | cmp -s - dropped.csv || fail "rows that are dropped: $(diff whole.csv dropped.csv | head -5)"
expect 0 "$PESS" convert gaps.csv --map ward.pessmap $columns --missing reward=0,action=none --part all -o filled.csv
same "$(wc -l <filled.csv)" "$(wc -l <whole.csv)" "values that stand in"
for method in kmeans tree; do
    expect 0 "$PESS" discretize gaps.csv --features pulse,lactate $columns --method $method --cells 4 -o gaps.pessmap
    says "missing values: 2 of 300"
done
expect 3 "$PESS" solve "$messy/plain.csv" --map ward.pessmap; says "no column 'pulse'"; says "that the map was made for"
expect 2 "$PESS" solve ward.csv --map ward.pessmap --states 4; says "--states and --actions do nothing with --map"
no_leftovers
finish

# pess act: answers for rows of measurements and of states, from files and from a pipe, and bad input.
. "$(dirname "$0")/lib.sh"
awk 'BEGIN {
    srand(3); print "episode,step,pulse,lactate,action,reward,terminal"
    for (e = 0; e < 40; e++) { c = int(3 * rand())
        for (t = 0; t < 8; t++) {
            a = rand() < 0.5 ? "wait" : "treat, now"
            print e "," t "," 60 + 30 * c + 4 * rand() "," 1 + 4 * c + rand() ",\"" a "\"," (c == 0) "," (t == 7)
            if (rand() < (a == "wait" ? 0.2 : 0.7)) c = c > 0 ? c - 1 : 0
        } } }' >ward.csv
expect 0 "$PESS" discretize ward.csv --features pulse,lactate --cells 6 -o map.pessmap
expect 0 "$PESS" convert ward.csv --map map.pessmap -o cells.csv
expect 0 "$PESS" solve cells.csv --gamma 0.9 -o policy.csv

printf 'lactate,pulse\n1.2,61\n5.5,92\n900,92\n,61\n' >rows.csv
expect 0 "$PESS" act rows.csv --policy policy.csv --map map.pessmap --log ward.csv
same "$(head -1 out)" "row,cell,action,probability,state_count,action_count,outside,advice,reason" "header"
same "$(wc -l <out)" 5 "lines"
same "$(sed -n 4p out | grep -c 'keep present practice,outside')" 1 "a row that lies outside"
same "$(sed -n 5p out | grep -c 'keep present practice,missing')" 1 "a row without a value"
expect 0 "$PESS" act rows.csv --policy policy.csv --map map.pessmap --json --probabilities
head -1 out >line; same "$("$JSON_GET" row <line)" 1 "row"
expect 0 "$PESS" act cells.csv --policy policy.csv
same "$(wc -l <out)" "$(wc -l <cells.csv)" "a line per row"
# A policy of the states with names.
printf 'state,action,probability\nmild,wait,1\nsevere,treat,0.5\nsevere,wait,0.5\n' >named.csv
printf 'state\nsevere\nmild\nunknown\n' >states.csv
expect 0 "$PESS" act states.csv --policy named.csv --probabilities
same "$(sed -n 2p out)" "1,severe,wait,0.5,follow the policy,,0.5,0.5" "a named state"
same "$(sed -n 4p out)" "3,unknown,,,keep present practice,no-policy,," "an unknown state"
printf 'state\n"sev""ere, too"\nmild\n' >odd.csv
expect 0 "$PESS" act odd.csv --policy named.csv
same "$(sed -n 2p out)" '1,"sev""ere, too",,,keep present practice,no-policy' "a name with a comma and quotes"
expect 0 "$PESS" act odd.csv --policy named.csv --json
head -1 out >line; same "$("$JSON_GET" state <line)" 'sev"ere, too' "a name as JSON"
printf 'state\n001\n' >zeros.csv
expect 0 "$PESS" act zeros.csv --policy policy.csv --json
head -1 out >line; same "$("$JSON_GET" state <line)" 1 "a number with zeros before it, as JSON"
# A pipe is answered as it comes: the second row is sent when the first is answered.
mkfifo in
timeout 120 "$PESS" act - --policy named.csv <in >answer 2>err &
exec 9>in
printf 'state\nmild\n' >&9
for _ in $(seq 600); do grep -q '^1,mild' answer && break; sleep 0.1; done
grep -q '^1,mild' answer || fail "no answer before the pipe is closed"
printf 'severe\n' >&9
exec 9>&-
wait $!
same "$(wc -l <answer)" 3 "lines of the pipe"
# So are lines of JSON.
timeout 120 "$PESS" act - --policy named.csv <in >answer 2>err &
exec 9>in
printf '{"state": "mild"}\n' >&9
for _ in $(seq 600); do grep -q '^1,mild' answer && break; sleep 0.1; done
grep -q '^1,mild' answer || fail "no answer to a line of JSON before the pipe is closed"
printf '\n{"state": "severe"}' >&9
exec 9>&-
wait $!
same "$(tail -1 answer)" "2,severe,wait,0.5,follow the policy," "the second line of JSON"
rm in
# The same rows as JSON lines give the same answers: members in any order, within each other, null, absent or unknown.
printf '\xef\xbb\xbf\n{"lactate": 1.2, "pulse": 61, "seen": {"by": "x"}}\r\n\n{"pulse": "92", "lactate": 5.5, "tags": [1, 2]}
{"seen": {}, "lactate": 9e2, "pulse": 92, "new": true}\n{"pulse": 61}\n' >rows.jsonl
expect 0 "$PESS" act rows.csv --policy policy.csv --map map.pessmap; cp out expected
expect 0 "$PESS" act rows.jsonl --policy policy.csv --map map.pessmap
cmp -s out expected || fail "JSON lines: $(diff out expected)"
tac rows.jsonl | tr -d '\357\273\277' >late.jsonl # the first line lacks a column
expect 0 "$PESS" act late.jsonl --policy policy.csv --map map.pessmap --threads 2
same "$(sed -n '2,$p' out | cut -d, -f2-)" "$(sed -n '2,$p' expected | tac | cut -d, -f2-)" "JSON lines whose first lacks a column"
awk -F, 'NR > 1 { printf "{\"pulse\":%s,\"lactate\":%s}\n", $3, $4 }' ward.csv >ward.jsonl
for threads in 1 2; do
    expect 0 "$PESS" act ward.jsonl --policy policy.csv --map map.pessmap --threads $threads; cp out json.$threads
done
expect 0 "$PESS" act ward.csv --policy policy.csv --map map.pessmap
cmp -s out json.1 && cmp -s out json.2 || fail "JSON lines of a log"
# Plain lines are read in place, others as whole documents: escapes, exponents and lists change no answer.
awk -F, 'NR > 1 { if (NR % 2) printf "{\"\\u0070ulse\":%se0,\"x\":[1],\"lactate\":%s}\r\n", $3, $4
                  else printf "\t{ \"lactate\" : \"%s\", \"x\": null, \"pulse\":\"%s\" } \n", $4, $3 }' ward.csv >odd.jsonl
expect 0 "$PESS" act odd.jsonl --policy policy.csv --map map.pessmap
cmp -s out json.1 || fail "JSON lines that are not plain: $(diff out json.1 | head -4)"
# A table of a database, and a query.
if command -v sqlite3 >/dev/null; then
    sqlite3 ward.db "CREATE TABLE rows (lactate, pulse); INSERT INTO rows VALUES (1.2, 61), (5.5, 92), (900, 92), (NULL, 61);
        CREATE TABLE other (x)"
    expect 0 "$PESS" act ward.db --table rows --policy policy.csv --map map.pessmap
    cmp -s out expected || fail "a table: $(diff out expected)"
    expect 0 "$PESS" act ward.db --sql "SELECT * FROM rows" --policy policy.csv --map map.pessmap
    cmp -s out expected || fail "a query: $(diff out expected)"
    expect 0 "$PESS" discretize ward.db --sql "SELECT * FROM rows WHERE lactate > 0" --features pulse --cells 2 --share 1 -o two.pessmap
fi

refused() { # refused CODE TEXT arguments…
    local code=$1 text=$2
    shift 2
    expect "$code" "$PESS" act "$@" -o answer.csv
    says "$text"
    [ ! -e answer.csv ] || fail "answers after failure: $text"
    no_leftovers
}
refused 2 "--policy is missing" rows.csv
refused 3 "no column 'state'" rows.csv --policy policy.csv
refused 3 "no column 'pulse'" states.csv --policy policy.csv --map map.pessmap
refused 3 "another map" rows.csv --policy named.csv --map map.pessmap
printf 'lactate,pulse\n1,high\n' >bad.csv; refused 3 "bad.csv:2:3" bad.csv --policy policy.csv --map map.pessmap
printf 'lactate,pulse\n1,inf\n' >bad.csv; refused 3 "'inf'" bad.csv --policy policy.csv --map map.pessmap
printf '{"lactate": 1, "pulse": 60}\n\n{"lactate": 1, "pulse": "high"}\n' >bad.jsonl
refused 3 "bad.jsonl:3:1: column 'pulse': found 'high'" bad.jsonl --policy policy.csv --map map.pessmap
printf '{"lactate": 1, "pulse": 60}\n{"lactate": 1, "pulse": }\n' >bad.jsonl
refused 3 "bad.jsonl:2:25: found '}', expected a value" bad.jsonl --policy policy.csv --map map.pessmap
printf '{"lactate": 1, "pulse": 60}\n{"pulse": 1, "pulse": 2}\n' >bad.jsonl
refused 3 "bad.jsonl: line 2, column 'pulse': found it twice" bad.jsonl --policy policy.csv --map map.pessmap
while IFS='|' read -r line words; do
    printf '{"lactate": 1, "pulse": 60}\n%s\n' "$line" >bad.jsonl
    refused 3 "bad.jsonl:2:$words" bad.jsonl --policy policy.csv --map map.pessmap
done <<'END'
{"lactate": 1, "pulse": 060}|26: found '6', expected ',' or '}'
{"lactate": 1, "pulse": 60.}|28: found '}', expected a digit
{"lactate": 1, "pulse": -}|26: found '}', expected a value
{"lactate": 1, "pulse": 60} 1|29: found '1', expected the end
{"lactate": 1, "pulse": 60|27: found the end, expected ',' or '}'
{"lactate": 1, "pulse": "60}|29: found the end, expected the end of a text
{"lactate": 1, "pulse" 60}|24: found '6', expected ':'
{"lactate": 1, "pulse": nul}|25: found 'n', expected a value
{"lactate": 1, "pulse": 60,}|28: found '}', expected a text in quotes
END
printf '{"lactate": 1, "pulse": [60]}\n' >bad.jsonl
refused 3 "'[list]', expected a finite number" bad.jsonl --policy policy.csv --map map.pessmap
printf '{"lactate": 1}\n' >bad.jsonl
refused 3 "no column 'pulse' among 'lactate'" bad.jsonl --policy policy.csv --map map.pessmap
printf '[{"lactate": 1}]\n' >bad.jsonl
refused 3 "found a list, expected one object per line" bad.jsonl --policy policy.csv --map map.pessmap
printf '{"lactate": 1}\n' | "$PESS" act - --policy policy.csv --map map.pessmap >out 2>err && fail "a pipe without a column"
says "no column 'pulse' among 'lactate'"
{ printf '{"pulse":1'; seq -f ',"m%g":0' 4096 | tr -d '\n'; echo '}'; } >wide.jsonl
{ printf '{'; head -c 9000000 /dev/zero | tr '\0' ' '; } >endless.jsonl
for case in "wide:found 4097 members, expected at most 4096" "endless:found no line that ends within 1048576 bytes"; do
    cat "${case%%:*}.jsonl" | "$PESS" act - --policy policy.csv --map map.pessmap --threads 1 >out 2>err && fail "$case"
    says "${case#*:}"
done
printf 'state,action,probability\n0,0,0.4\n' >half.csv; refused 3 "sum to 0.4" cells.csv --policy half.csv
printf 'state,action,probability\n' >none.csv; refused 3 "no rows" cells.csv --policy none.csv
refused 2 "--least-count does nothing" rows.csv --policy policy.csv --map map.pessmap --least-count 3
refused 2 "--outside-limit does nothing" cells.csv --policy policy.csv --outside-limit 3
refused 5 nowhere nowhere.csv --policy policy.csv --map map.pessmap
finish

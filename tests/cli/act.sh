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
# A pipe is answered as it comes: the second row is sent when the first is answered.
mkfifo in
timeout 20 "$PESS" act - --policy named.csv <in >answer 2>err &
exec 9>in
printf 'state\nmild\n' >&9
for _ in $(seq 100); do grep -q '^1,mild' answer && break; sleep 0.1; done
grep -q '^1,mild' answer || fail "no answer before the pipe is closed"
printf 'severe\n' >&9
exec 9>&-
wait $!
same "$(wc -l <answer)" 3 "lines of the pipe"
rm in

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
printf 'state,action,probability\n0,0,0.4\n' >half.csv; refused 3 "sum to 0.4" cells.csv --policy half.csv
printf 'state,action,probability\n' >none.csv; refused 3 "no rows" cells.csv --policy none.csv
refused 2 "--least-count does nothing" rows.csv --policy policy.csv --map map.pessmap --least-count 3
refused 2 "--outside-limit does nothing" cells.csv --policy policy.csv --outside-limit 3
refused 5 nowhere nowhere.csv --policy policy.csv --map map.pessmap
finish

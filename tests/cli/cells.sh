# pess discretize, convert --map: maps from the command line, and every kind of bad input.
. "$(dirname "$0")/lib.sh"

# Three conditions around (60, 1), (90, 5), (120, 9); the pressure is missing now and then.
awk 'BEGIN {
    srand(7); print "episode,step,pulse,lactate,pressure,ward,action,reward,terminal"
    for (e = 0; e < 60; e++) { c = int(3 * rand())
        for (t = 0; t < 8; t++) {
            a = rand() < 0.5 ? "wait" : "treat"
            p = rand() < 0.1 ? "NA" : 100 - 10 * c + int(5 * rand())
            print "p" e "," t "," 60 + 30 * c + int(4 * rand()) "," 1 + 4 * c + rand() "," p ",icu," a "," (c == 0) "," (t == 7)
            if (rand() < (a == "treat" ? 0.7 : 0.2)) c = c > 0 ? c - 1 : 0; else if (rand() < 0.3) c = c < 2 ? c + 1 : 2
        } } }' >ward.csv

for method in kmeans bins tree; do
    expect 0 "$PESS" discretize ward.csv --features pulse,lactate --method $method --cells 9 --seed 4 -o $method.pessmap
    expect 0 "$PESS" convert ward.csv --map $method.pessmap -o all.csv
    expect 0 "$PESS" convert ward.csv --map $method.pessmap --part making -o making.csv
    expect 0 "$PESS" convert ward.csv --map $method.pessmap --part held-out -o held-out.csv
    same "$(($(wc -l <making.csv) + $(wc -l <held-out.csv)))" "$(($(wc -l <all.csv) + 1))" "parts of the log"
    expect 0 "$PESS" solve held-out.csv --gamma 0.9 -o policy.csv
    for threads in 1 2 5; do
        expect 0 "$PESS" discretize ward.csv --features pulse,lactate --method $method --cells 9 --seed 4 --threads $threads -o again.pessmap
        cmp -s again.pessmap $method.pessmap || fail "$method: other bytes at $threads threads"
    done
done
expect 0 "$PESS" discretize ward.csv --features pulse,lactate --method tree --cells 3 -o tree.pessmap; prints "pulse <"
expect 0 "$PESS" discretize ward.csv --features pressure,pulse --missing pressure=flag --cells 4 -o flag.pessmap --json
same "$(json cells)" 4 "cells"
gzip -c ward.csv >ward.csv.gz
expect 0 "$PESS" discretize ward.csv.gz --features pulse,lactate --method kmeans --cells 9 --seed 4 -o again.pessmap
expect 0 "$PESS" convert ward.csv.gz --map again.pessmap -o again.csv

# The report: a page, the Markov test and the trials, the same at any number of threads.
expect 0 "$PESS" discretize ward.csv --features pulse,lactate --cells 4 --report page --gamma 0.9 -o reported.pessmap --json
same "$(json markov.flagged)" false "Markov cells"
cp out first; cp page/index.html first.html
grep -q "Are the cells good states" page/index.html || fail "no page"
expect 0 "$PESS" discretize ward.csv --features pulse,lactate --cells 4 --report page --gamma 0.9 -o reported.pessmap --json --threads 3
cmp -s out first || fail "the report depends on the number of threads"
expect 0 "$PESS" discretize ward.csv --features pulse,lactate --method tree --cells 4 --report tree-page -o reported.pessmap; prints "Markov"

# refused CODE TEXT options…: nothing is written
refused() {
    local code=$1 text=$2
    shift 2
    rm -f out.pessmap
    expect "$code" "$PESS" discretize "$@" -o out.pessmap
    says "$text"
    [ ! -e out.pessmap ] || fail "a map after failure: $text"
    no_leftovers
}
refused 3 "no column 'lactat'" ward.csv --features pulse,lactat
refused 3 "text cannot be a feature" ward.csv --features pulse,ward
refused 3 "'pressure'" ward.csv --features pulse,pressure
refused 3 "different rows" ward.csv --features pulse --cells 200
refused 2 "twice" ward.csv --features pulse,pulse
refused 2 "--features is missing" ward.csv
refused 2 "--restarts does nothing for tree" ward.csv --features pulse --method tree --restarts 3
refused 2 "cells" ward.csv --features pulse --cells 1
refused 2 "share" ward.csv --features pulse --share 0
refused 2 "--gamma does nothing without --report" ward.csv --features pulse --gamma 0.5
refused 2 "--share below 1" ward.csv --features pulse --share 1 --report nopage
[ ! -e nopage ] || fail "a page after failure"
awk -F, 'NR == 1 || $1 == "p1"' ward.csv >one.csv
refused 3 "1 episode" one.csv --features pulse --cells 2
cut -d, -f 2- ward.csv >no-episode.csv
refused 3 "no column 'episode'" no-episode.csv --features pulse --cells 2
expect 0 "$PESS" discretize no-episode.csv --features pulse --cells 2 --share 1 -o whole.pessmap
awk -F, 'NR == 1 { print; next } { OFS = ","; $3 = 70; print }' ward.csv >constant.csv
refused 3 "varies" constant.csv --features pulse,lactate
sed 's/^\(p3,4,\)[^,]*/\1inf/' ward.csv >infinite.csv
refused 3 "found 'inf'" infinite.csv --features pulse
printf 'episode,pulse\n' >empty.csv; refused 3 "no rows" empty.csv --features pulse
: >nothing.csv; refused 3 "empty file" nothing.csv --features pulse
refused 5 nowhere.csv nowhere.csv --features pulse
cut -d, -f 1-4,7-8 ward.csv >no-end.csv
expect 3 "$PESS" convert no-end.csv --map kmeans.pessmap -o cells.csv; says "--last-row: not set"
refused 3 "--last-row: not set" no-end.csv --features pulse,lactate --report no-page
expect 0 "$PESS" convert no-end.csv --map kmeans.pessmap --last-row cutoff -o cells.csv
cut -d, -f 1-3,5- ward.csv >other.csv
expect 3 "$PESS" convert other.csv --map kmeans.pessmap -o cells.csv; says "no column 'lactate'"
head -c 100 kmeans.pessmap >cut.pessmap; expect 3 "$PESS" convert ward.csv --map cut.pessmap -o cells.csv; says cut.pessmap
expect 3 "$PESS" convert ward.csv --map ward.csv -o cells.csv; says "not a map file"
expect 2 "$PESS" convert ward.csv --part making -o cells.csv; says "--map"
finish

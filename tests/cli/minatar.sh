# The experiments with games from outside, at the protocol of tests: the same results.csv at any number of threads, after
# kills, and from shards; only what is new is run; wrong use and damaged files are errors.
. "$(dirname "$0")/lib.sh"
small=(--games breakout --epsilons 1,0 --transitions 1000 --algorithms imitation,naive,proximal --protocol smoke --seed 3)
run() { "$PESS" experiment minatar-exploration "${small[@]}" "$@"; }
finished() { find "$1" -name result.json 2>/dev/null | wc -l; }
# more DIRECTORY COUNT PROGRAM: waits until more runs than that are finished there, or the program has ended.
more() { while kill -0 "$3" 2>/dev/null && [ "$(finished "$1")" -le "$2" ]; do sleep 0.02; done; }

# One trial of two datasets with three curves each
began=$(date +%s%N)
expect 0 run --trials 1 --threads 2 --out whole
whole=$((($(date +%s%N) - began) / 1000)) # microseconds
says "2 datasets, 6 runs, 0 of them finished"
says "[6/6]"
prints "came out"
same "$(cd whole && echo *)" "figure.pdf figure.png figure.svg index.html manifest.json results.csv runs runs.csv settings.txt" "files"
same "$(head -1 whole/results.csv)" \
    "game,algorithm,x,trials,mean,min,max,final_mean,best_mean,control_mean,predicted,obtained,outside,spread,behaviour_mean" "header"
same "$(cut -d, -f1-4 whole/results.csv | tail -n +2 | tr '\n' ' ')" "$(for a in behaviour imitation imitation-argmax naive \
    proximal proximal-argmax; do printf 'breakout,%s,0,1 breakout,%s,1,1 ' $a $a; done)" "rows of results.csv"
same "$(wc -l <whole/runs.csv)" 7 "lines of runs.csv"
same "$(cd whole/runs/breakout/x-0/trial-1 && echo *)" "imitation naive proximal-0.25" "runs of a dataset"
[ ! -e whole/runs/breakout/x-0/trial-1/proximal-0.25/imitation ] || fail "proximal trained an imitation network of its own"
for file in log.csv policy.pessnet manifest.json result.json; do
    [ -s whole/runs/breakout/x-1/trial-1/naive/$file ] || fail "no $file in a run"
done
cp whole/manifest.json out
same "$(json format settings.protocol settings.seed runs | tr '\n' ' ')" "pess-experiment smoke 3 6 " "manifest"
cp whole/runs/breakout/x-1/trial-1/naive/result.json out
grep -qF "<th>Algorithm</th><th>Breakout</th>" whole/index.html || fail "no averages with the game's name in the page"
near "$(json score)" "$(awk -F, '$2 == "naive" && $3 == 1 { print $5 }' whole/results.csv)" 1e-9 "score of a run"
expect 0 "$PESS" plot whole -o figure.svg
expect 0 "$PESS" plot whole -a naive,behaviour -o some.svg
[ "$(wc -c < some.svg)" -lt "$(wc -c < figure.svg)" ] || fail "plot -a draws curves that were not asked for"
expect 0 "$PESS" plot whole -a "$(awk -F, 'NR > 1 && !seen[$2]++ { print $2 }' whole/results.csv | paste -sd,)" -o every.svg
cmp -s every.svg figure.svg || fail "plot -a of every curve is not the figure"
expect 3 "$PESS" plot whole -a naive,nobody -o bad.svg; says "no curve 'nobody'"
expect 3 "$PESS" plot whole -a naive, -o bad.svg; says "no curve ''"
expect 2 "$PESS" plot whole -a; says "-a"
cmp -s figure.svg whole/figure.svg || fail "plot of a directory is not its figure"

# A run is not made twice, and a directory is not used twice by accident
expect 2 run --trials 1 --out whole; says --resume
cp whole/results.csv before.csv
expect 0 run --trials 1 --out whole --resume
says "6 of them finished"
cmp -s before.csv whole/results.csv || fail "nothing was run, and results.csv differs"

# Results that were kept without their networks: the imitation network is made again, and what depends on it is the same
mkdir kept
(cd whole && find . -name result.json -o -name settings.txt | grep -v x-1/trial-1/proximal | tar cf - -T -) | tar xf - -C kept
expect 0 run --trials 1 --out kept --resume
says "5 of them finished"
same "$(tail -n +2 kept/results.csv | cut -d, -f1-14)" "$(tail -n +2 whole/results.csv | cut -d, -f1-14)" "results after networks were lost"
[ -s kept/runs/breakout/x-1/trial-1/imitation/policy.pessnet ] || fail "the imitation network was not made again"
[ ! -e kept/runs/breakout/x-0/trial-1/imitation/policy.pessnet ] || fail "an imitation network was made that nobody needs"

# Killed again and again, each time after at least one more run, half of the times half a run later; what is left of a file
# being written does not disturb. Where the runs were through before two kills had landed, all of it again.
kills=0
for attempt in $(seq 1 40); do
    before=$(finished pieces)
    if [ "$before" -eq 6 ]; then
        [ "$kills" -lt 2 ] || break
        rm -r pieces
        before=0
    fi
    "$PESS" experiment minatar-exploration "${small[@]}" --trials 1 --threads 2 --out pieces --resume >out 2>err </dev/null &
    program=$!
    more pieces "$before" $program
    [ $((attempt % 2)) -eq 0 ] && sleep "$(awk -v whole="$whole" 'BEGIN { printf "%.6f", whole / 12e6 }')"
    kill -9 $program 2>/dev/null
    wait $program 2>/dev/null
    [ $? -eq 137 ] && kills=$((kills + 1))
done
[ "$kills" -ge 2 ] || fail "only $kills kills landed"
expect 0 run --trials 1 --threads 1 --out pieces --resume
cmp -s whole/results.csv pieces/results.csv || fail "results.csv after $kills kills is not that of a whole run"
cmp -s whole/figure.svg pieces/figure.svg || fail "figure.svg after $kills kills is not that of a whole run"
[ -z "$(find pieces -name '*.pessdata')" ] || fail "datasets are left: $(find pieces -name '*.pessdata')"
# A crash between the last result of a dataset and the removal of its file: the next run removes it.
touch pieces/runs/breakout/x-0/trial-1/data.pessdata
expect 0 run --trials 1 --threads 1 --out pieces --resume
[ -z "$(find pieces -name '*.pessdata')" ] || fail "a dataset left by a crash is still there"

# Ctrl-C in good order, long before the last of so many trials. One of them is enough afterwards.
begun() { [ "$(finished cut)" -gt 0 ]; }
interrupt INT cut begun "$PESS" experiment minatar-exploration "${small[@]}" --trials 30 --threads 2 --out cut
same $code 6 "exit code after an interruption"
says --resume
[ ! -e cut/results.csv ] || fail "an interrupted run has results"
expect 3 "$PESS" merge cut --out cut-whole; says "in none of the directories"
expect 0 "$PESS" merge cut --out cut-look --partial
[ -s cut-look/index.html ] || fail "no page of what is there"
expect 2 run --trials 1 --seed 4 --out cut --resume; says "made with seed=3; this run has seed=4"
expect 2 run --trials 1 --transitions 900 --out cut --resume; says "transitions=1000"
expect 0 run --trials 1 --out cut --resume
cmp -s whole/results.csv cut/results.csv || fail "results.csv after an interruption is not that of a whole run"

# More trials and curves: only the new ones are run, and the first trial is as it was
expect 0 run --trials 2 --algorithms imitation,naive,proximal,proximal:0.5 --out whole --resume
says "16 runs, 6 of them finished"
same "$(awk -F, '$2 ~ /proximal/ && $3 == 0 { print $2, $4 }' whole/results.csv | tr '\n' ' ')" \
    "proximal-0.25 2 proximal-0.25-argmax 2 proximal-0.5 2 proximal-0.5-argmax 2 " "curves with two α"
same "$(awk -F, '$4 == 1 && $2 == "naive" { print $5 }' whole/runs.csv)" \
    "$(awk -F, '$4 == 1 && $2 == "naive" { print $5 }' pieces/runs.csv)" "first trial"

# Shards: every other dataset each, put together to the same bytes
for i in 1 2; do
    expect 0 run --trials 2 --algorithms imitation,naive,proximal,proximal:0.5 --shard $i/2 --out part-$i
    says "2 datasets, 8 runs"
done
same "$(wc -l <part-1/runs.csv)" 9 "runs of a shard"
expect 0 "$PESS" merge part-2 part-1 --out merged
for file in results.csv figure.svg settings.txt; do
    cmp -s whole/$file merged/$file || fail "$file of merged shards is not that of a whole run"
done
cut -d, -f1-17 whole/runs.csv >a; cut -d, -f1-17 merged/runs.csv >b # but for the seconds
cmp -s a b || fail "runs.csv of merged shards"
cmp -s whole/runs/breakout/x-1/trial-2/naive/policy.pessnet merged/runs/breakout/x-1/trial-2/naive/policy.pessnet ||
    fail "a network of merged shards"
expect 3 "$PESS" merge part-1 --out alone; says "8 of 16 runs"
[ ! -e alone ] || fail "a directory for a merge that failed"
cp -r whole uneven && rm -r uneven/runs/breakout/x-1/trial-2/naive
expect 0 "$PESS" merge uneven --out uneven-look --partial
for file in index.html manifest.json; do grep -q "1 to 2 trials" uneven-look/$file || fail "$file: how many trials a point has"; done
grep -q "(15 of 16 runs so far)" uneven-look/index.html && grep -q "2 trials planned at each" uneven-look/index.html ||
    fail "how far an unfinished experiment is"
grep -q "2 trials at each" whole/index.html && ! grep -q "1 to 2 trials" whole/index.html || fail "trials of a whole run"
expect 3 "$PESS" merge part-1 pieces --out mixed; says "made with algorithms=imitation,naive,proximal; the first one has"
expect 2 "$PESS" merge part-1 part-2 --out whole; says "holds runs already"
expect 2 "$PESS" merge part-1 part-2; says --out
mkdir empty
expect 3 "$PESS" merge empty --out nothing; says settings.txt

# The other axis, JSON, data that stay
expect 0 "$PESS" experiment minatar-data --games breakout --sizes 400,900 --algorithms naive --epsilon 0.5 --trials 1 \
    --protocol smoke --keep-data on --out sizes --json
same "$(json results.0.algorithm results.0.x results.2.algorithm | tr '\n' ' ')" "behaviour 400 naive " "results in JSON"
same "$(find sizes -name '*.pessdata' | wc -l)" 2 "datasets that stay"
expect 0 "$PESS" inspect sizes/runs/breakout/x-400/trial-1/data.pessdata --json
same "$(json transitions)" 400 "transitions of a dataset"
expect 0 "$PESS" plot sizes whole -o both.pdf

# What was kept stays, though a resumption does not say so again, makes runs of it, or finds no word of it in a directory
# of an earlier version; the data of its own new trials go
sizes() { "$PESS" experiment minatar-data --games breakout --sizes 400,900 --epsilon 0.5 --protocol smoke --out sizes "$@"; }
kept=$(find sizes -name '*.pessdata' | sort)
grep -qx keep-data=on sizes/settings.txt || fail "settings.txt does not say that data are kept"
expect 0 sizes --algorithms naive --trials 1 --resume
same "$(find sizes -name '*.pessdata' | sort)" "$kept" "datasets kept after a resumption"
expect 0 sizes --algorithms naive,imitation --trials 2 --resume; says "8 runs, 2 of them finished"
same "$(find sizes -name '*.pessdata' | sort)" "$kept" "datasets kept after more runs"
sed -i /keep-data/d sizes/settings.txt
expect 0 sizes --algorithms naive,imitation --trials 2 --resume
same "$(find sizes -name '*.pessdata' | sort)" "$kept" "datasets kept in an older directory"

# What data do not support is said once, and stands in the manifest and on the page
few() { "$PESS" experiment minatar-data --games breakout --sizes 1,400 --algorithms naive,ua-counts --controls off \
    --protocol smoke --trials 2 --threads 2 --out few "$@"; }
expect 0 few
same "$(grep -c '^warning: breakout, ua-counts: no state of the data occurs twice' err)" 1 "warnings on standard error"
for time in first resumed; do
    cp few/manifest.json out
    same "$(json warnings.0.game warnings.0.algorithm warnings.0.runs | tr '\n' ' ')" "breakout ua-counts 2 " "$time warnings"
    grep -q "Warning of 2 runs of UA, counts in Breakout: no state" few/index.html || fail "$time page without the warning"
    expect 0 few --resume
done
same "$(grep -c '"warnings": \[\]' whole/manifest.json)" 1 "warnings where there are none"

# The cost beforehand, and nothing else
# a protocol that is named is taken, also where it is what another experiment has by default
expect 0 "$PESS" experiment minatar-settled --protocol quick --out plan --dry-run; prints "Protocol quick"
expect 0 "$PESS" experiment minatar-settled --out plan --dry-run; prints "Protocol settled"
expect 0 "$PESS" experiment minatar-exploration --protocol paper --out plan --dry-run
says "84 datasets, 336 runs"
says " days"
prints "250 Bellman updates"
expect 0 run --epsilons 0 --algorithms imitation --controls off --trials 1 --out plan --dry-run --quiet
says "1 dataset, 1 run, 0 of them finished"
[ ! -e plan ] || fail "a dry run made a directory"

# Damage
head -c 60 whole/runs/breakout/x-0/trial-1/naive/result.json >torn && cp torn pieces/runs/breakout/x-0/trial-1/naive/result.json
expect 3 run --trials 1 --out pieces --resume; says "naive/result.json:4:12: found the end"; says "remove it to have the run made again"
result=cut/runs/breakout/x-0/trial-1/naive/result.json
sed -i 's/"settings": "version=[^ ]*/"settings": "version=9/' $result # settings are compared, not who wrote them
expect 0 run --trials 1 --out cut --resume; says "6 of them finished"
sed -i 's/ batch=[^ ]*/ batch=9/' $result
expect 2 run --trials 1 --out cut --resume; says "made with batch=9"
sed -i 's/^schema=.*/schema=9/' cut/settings.txt
expect 3 run --trials 1 --out cut --resume; says "found schema 9, expected 1"
expect 3 "$PESS" merge cut --out newer --partial; says "found schema 9, expected 1"

# Wrong use
expect 2 run; says --out
expect 2 run --games pong --out bad; says "found 'pong', expected some of"
expect 2 run --games breakout,breakout --out bad; says twice
expect 2 run --algorithms naive,nobody --out bad; says "found 'nobody'"
expect 2 run --algorithms naive:0.5 --out bad; says "naive has no α"
expect 2 run --algorithms proximal:-1 --out bad; says "an α of 0 or more"
expect 2 run --algorithms bcq:2 --dry-run --out bad; says "found 'bcq:2', expected an α from 0 to 1"
expect 2 run --algorithms ua,ua-counts --dry-run --out bad; says "ua-counts-0.5 is named twice"
expect 2 run --epsilon 0.1 --out bad; says "--epsilon does nothing for minatar-exploration; it is read by "; says minatar-data
expect 2 run --sizes 5 --out bad; says "--sizes does nothing for minatar-exploration; it is read by "; says minatar-data
expect 2 "$PESS" experiment minatar-data --epsilons 0.1 --dry-run --out bad; says "it is read by "; says minatar-exploration
expect 2 "$PESS" experiment minatar-data --transitions 100 --dry-run --out bad; says "it is read by "; says minatar-exploration
expect 2 run --algorithms proximal,proximal:0.25 --out bad; says twice
expect 2 run --epsilons 0,1.5 --out bad; says "found '1.5', expected a number from 0 to 1"
expect 2 run --epsilons 0,,1 --out bad; says "found ''"
expect 2 run --epsilons 0.5,.5 --out bad; says twice
expect 2 run --trials 0 --out bad; says trials
expect 2 run --shard 3/2 --out bad; says "found '3/2'"
expect 2 run --shard 1 --out bad; says "I/N"
expect 2 run --shard 0/2 --out bad
expect 2 run --protocol nothing --out bad; says smoke
expect 2 "$PESS" experiment minatar-data --sizes 0 --out bad; says "found '0'"
expect 2 "$PESS" experiment minatar-data --epsilon 2 --out bad; says epsilon
expect 5 run --policies empty --out bad; says "no player of breakout"
mkdir mine; echo text >mine/notes.txt
expect 2 run --out mine; says notes.txt
expect 5 run --out mine/notes.txt
[ ! -e bad ] || fail "a directory for a wrong use"
expect 0 "$PESS" experiment --out minatar-data --help # the name of a directory is not that of an experiment
prints gridworld
expect 0 "$PESS" experiment minatar-data --help
prints --sizes
expect 0 "$PESS" list experiments
prints minatar-exploration
prints bandit
[ -z "$(find . -name '*.tmp' -not -path './pieces/*')" ] || fail "temporary files left: $(find . -name '*.tmp')"
finish

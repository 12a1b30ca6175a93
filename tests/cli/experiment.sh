# pess experiment and pess plot: files, bytes, bad input, interruption.
. "$(dirname "$0")/lib.sh"
run() { "$PESS" experiment "$@"; }
small=(gridworld-data --trials 60 --points 5 --rows 4 --cols 4)
files="figure.pdf figure.png figure.svg index.html manifest.json paired.csv results.csv trials.csv.gz"

# What DIR receives
expect 0 run "${small[@]}" --out one
same "$(ls one | tr '\n' ' ')" "$files " "files of a directory"
same "$(head -1 one/results.csv)" "algorithm,x,trials,mean,ci95" "header of results.csv"
same "$(cut -d, -f1 one/results.csv | tail -n +2 | uniq | tr '\n' ' ')" "random optimal imitation naive ua proximal " algorithms
same "$(zcat one/trials.csv.gz | head -1)" "trial,algorithm,x,return" "header of trials.csv.gz"
rows=$(zcat one/trials.csv.gz | wc -l)
same "$rows" $((1 + 60 * 6 * $(awk -F, '$1 == "ua"' one/results.csv | wc -l))) "rows of trials.csv.gz"
# results.csv is the mean of trials.csv.gz
x=$(awk -F, '$1 == "ua" { x = $2 } END { print x }' one/results.csv)
near "$(zcat one/trials.csv.gz | awk -F, -v x="$x" '$2 == "ua" && $3 == x { s += $4; n++ } END { printf "%.12g", s / n }')" \
    "$(awk -F, -v x="$x" '$1 == "ua" && $2 == x { printf "%.12g", $4 }' one/results.csv)" 1e-9 "mean of the trials"
# paired.csv is the difference to the optimal policy in the same trial
near "$(zcat one/trials.csv.gz | awk -F, -v x="$x" '$3 == x && $2 == "optimal" { o[$1] = $4 } $3 == x && $2 == "ua" { u[$1] = $4 }
    END { for (t in o) { s += o[t] - u[t]; n++ } printf "%.12g", s / n }')" \
    "$(awk -F, -v x="$x" '$1 == "ua" && $2 == x { printf "%.12g", $4 }' one/paired.csv)" 1e-9 "paired difference"
cp one/manifest.json out
same "$(json format)" pess-experiment "format of the manifest"
same "$(json settings.trials)" 60 "trials in the manifest"
same "$(json command)" "pess experiment ${small[*]} --out one" "command to repeat"

# The same bytes at any thread count; only the manifest tells the time
expect 0 run "${small[@]}" --out one --threads 1
cp -r one two
expect 0 run "${small[@]}" --out one --threads 5
for file in $files; do
    case $file in manifest.json | index.html) continue ;; esac
    cmp -s one/$file two/$file || fail "$file depends on the number of threads"
done

# JSON
expect 0 run "${small[@]}" --json
json results.0.algorithm >/dev/null
same "$(json experiment)" gridworld-data "experiment in JSON"
expect 0 run bandit --trials 2000 --algorithms naive,ua:hoeffding
prints "1 − 2.2e-44"
expect 0 run gridworld-alpha --trials 8 --points 3 --rows 3 --cols 3 --out alpha
same "$(head -1 alpha/results.csv)" "algorithm,x,trials,mean,ci95,epsilon,transitions,alpha_theory" "header with panels"
expect 0 run gridworld-alpha --trials 4 --points 2 --rows 2 --cols 2 --json
same "$(json claims.0.holds)" null "what is not judged"
expect 0 run gridworld-alpha --trials 4 --points 2 --rows 2 --cols 2
same "$(grep -c '^ε = .* transitions$' out)" 9 "panels that are printed"
grep -q 'use α = ' out && fail "gridworld-alpha speaks of one α"
expect 0 run bandit --trials 10 --algorithms naive --seed 18446744073709551614 --json
prints '"seed": 18446744073709551614,'
expect 2 run bandit --trials 10 --algorithms naive --seed 18446744073709551615
says "--seed: found '18446744073709551615', expected a whole number from 0 to 2^64-2"
expect 0 run gridworld-exploration --trials 3 --points 3 --preset text --state-dist start --clip on --reward-beta 2,2 \
    --gamma 0.9 --absorbed-alpha 0.5 --seed 4 --json
same "$(json settings.preset)" text preset
expect 0 run gridworld-data --trials 1 --points 2 --rows 2 --cols 1 --out tiny   # one trial: no interval
grep -q ',nan$' tiny/results.csv || fail "one trial has an interval"

# Plot
expect 0 "$PESS" plot one alpha two/results.csv tiny -o all.svg
expect 0 "$PESS" plot one -o one.png
expect 0 "$PESS" plot one -o one.pdf
expect 0 "$PESS" plot one
[ -s figure.svg ] || fail "no figure.svg"
cmp -s figure.svg one/figure.svg || fail "plot of a directory is not its figure"
cmp -s one.png one/figure.png || fail "plot of a directory is not its figure.png"
cmp -s one.pdf one/figure.pdf || fail "plot of a directory is not its figure.pdf"
expect 3 "$PESS" plot "$TEST_DATA/reference-figure1a.csv" -o bad.svg; says algorithm
expect 5 "$PESS" plot nowhere -o bad.svg; says nowhere
expect 2 "$PESS" plot one -o figure.gif; says .png
expect 2 "$PESS" plot; says missing
expect 5 "$PESS" plot one -o nowhere/figure.svg
printf 'algorithm,x,trials,mean,ci95\nua,1,10,x,1\n' >broken.csv
expect 3 "$PESS" plot broken.csv -o bad.svg; says broken.csv:2
[ ! -e bad.svg ] || fail "a figure of bad input"

# Bad use
for option in "points 3" "rows 3" "cols 3" "reward-beta 2,2" "preset text" "state-dist start" "clip on" "absorbed-alpha 2"; do
    # shellcheck disable=SC2086
    expect 2 run bandit --trials 10 --${option}; says "--${option% *} does nothing for bandit; it is read by "; says gridworld-exploration
done
expect 2 run gridworld-alpha --absorbed-alpha 7; says "--absorbed-alpha does nothing for gridworld-alpha; it is read by "
for name in gridworld-exploration gridworld-data; do says $name; done
expect 2 run; says EXPERIMENT
expect 2 run nothing; says nothing
expect 2 run gridworld-data --trials 0; says trials
expect 2 run gridworld-data --points 0; says points
expect 2 run gridworld-data --algorithms ua,nobody --out never; says nobody
[ ! -e never ] || fail "a directory for a wrong use"
expect 2 run gridworld-data --gamma 1; says gamma
expect 2 run gridworld-data --rows 0; says --rows
expect 2 run gridworld-data --preset other; says preset
expect 2 run gridworld-data --resume; says "--resume: found no directory"
expect 2 run gridworld-data --games breakout; says "--games does nothing for gridworld-data; it is read by "
for name in minatar-exploration minatar-data; do says $name; done
expect 2 run gridworld-alpha --algorithms robust; says robust
mkdir foreign; echo mine >foreign/notes.txt
expect 2 run "${small[@]}" --out foreign; says notes.txt
same "$(ls foreign)" notes.txt "a foreign directory"
echo file >plain
expect 5 run "${small[@]}" --out plain
expect 5 run "${small[@]}" --out plain/deep; says plain/deep
expect 0 run "${small[@]}" --out missing/deep   # directories on the way are made
[ -s missing/deep/results.csv ] || fail "no results below a new directory"
mkdir locked; chmod 555 locked
if [ "$(id -u)" -ne 0 ]; then expect 5 run "${small[@]}" --out locked; fi
chmod 755 locked

# Interruption by a signal in good order, then by a kill; both resume to the bytes of the whole run
long=(gridworld-data --trials 1500 --points 12)
run "${long[@]}" --out whole >/dev/null 2>&1 || fail "the long run"
begun() { [ "$(stat -c %s cut/checkpoint.pess)" -gt 20000 ]; }
for signal in INT KILL; do
    interrupt $signal cut begun "$PESS" experiment "${long[@]}" --out cut --threads 1
    if [ $signal = INT ]; then
        same $code 6 "exit code after an interruption"
        says --resume
    fi
    same "$(ls cut)" checkpoint.pess "what an interrupted run leaves"
    expect 2 run "${long[@]}" --out cut; says --resume
    expect 3 run "${long[@]}" --seed 5 --out cut --resume; says "other settings"
    expect 0 run "${long[@]}" --out cut --resume
    for file in results.csv paired.csv trials.csv.gz figure.svg figure.png figure.pdf; do
        cmp -s whole/$file cut/$file || fail "$file after $signal and --resume is not that of a whole run"
    done
    rm -rf cut
done

# Finished results are replaced as a whole; leftovers of a crash do not disturb
mkdir -p one/incoming.tmp; echo torn >one/incoming.tmp/0
expect 0 run "${small[@]}" --out one --trials 20
same "$(ls one | tr '\n' ' ')" "$files " "files after a crash"
# A figure that cannot be written whole is not there at all
if [ -e /dev/full ]; then
    ln -s /dev/full full.svg
    expect 5 "$PESS" plot one -o full.svg
fi

# Shards: every other block of trials each, put together to the same bytes; a part of them can be looked at and gone on with.
shards=(experiment gridworld-data --trials 40 --points 3)
expect 0 "$PESS" "${shards[@]}" --out shards-whole
for i in 1 2 3; do expect 0 "$PESS" "${shards[@]}" --shard $i/3 --out shard-$i; done
prints "The page is shard-3/index.html"
grep -q "shard 3 of 3 only" shard-3/index.html || fail "the page of a shard does not say that it is one"
grep -qE "shard [0-9]+ of" shards-whole/index.html && fail "the page of a whole run speaks of shards"
expect 0 "$PESS" merge shard-3 shard-1 shard-2 --out shards-merged
for file in results.csv paired.csv trials.csv.gz; do
    cmp -s shards-whole/$file shards-merged/$file || fail "$file of merged shards is not that of a whole run"
done
[ ! -e shards-merged/checkpoint.pess ] || fail "a merged experiment keeps a checkpoint"
expect 3 "$PESS" merge shard-1 shard-3 --out shards-part; says "--partial: 16 of 40 trials are in none of the directories"
expect 0 "$PESS" merge shard-1 shard-3 --out shards-part --partial
expect 0 "$PESS" "${shards[@]}" --out shards-part --resume
cmp -s shards-whole/results.csv shards-part/results.csv || fail "results.csv after a merge in part is not that of a whole run"
expect 0 "$PESS" "${shards[@]}" --seed 9 --shard 2/3 --out shard-other
expect 3 "$PESS" merge shard-1 shard-other --out shards-none; says "its trials have other settings"
expect 3 "$PESS" merge shards-whole --out shards-none; says "holds no runs"
expect 2 "$PESS" "${shards[@]}" --shard 4/3 --out shards-none; says "--shard: found '4/3', expected I/N"
expect 2 "$PESS" "${shards[@]}" --shard 6/9 --out shards-none; says "expected I of at most 5"
no_leftovers
finish

# Directories of version 0.1.0, which compared its own version and wrote no numbers of formats: they open, resume and
# merge to the bytes that it had. tests/data/earlier holds two shards (their results alone) and forty kept trials.
. "$(dirname "$0")/lib.sh"
cp -r "$TEST_DATA/earlier" . && chmod -R u+w earlier && cd earlier || exit 1
# The players of that time: one of them has been trained anew since.
players=$PWD/players policies=$TEST_DATA/../../policies
mkdir players && cp "$policies"/*.pessnet players && cp "$policies"/earlier/*.pessnet players || exit 1
shard=(minatar-exploration --policies "$players" --games breakout --epsilons 0,1 --transitions 300
    --algorithms imitation,naive,proximal --protocol smoke --trials 1)

# Shards
expect 0 "$PESS" merge part-1 part-2 --out merged
cmp -s merged/results.csv merged-results.csv || fail "results.csv of merged shards"
for i in 1 2; do
    expect 0 "$PESS" experiment "${shard[@]}" --shard $i/2 --out part-$i --resume; says "3 runs, 3 of them finished"
done
expect 0 "$PESS" merge part-1 part-2 --out again
cmp -s again/results.csv merged-results.csv || fail "results.csv of shards that were opened and written again"
rm -r part-2/runs/breakout/x-1/trial-1/naive
expect 0 "$PESS" experiment "${shard[@]}" --shard 2/2 --out part-2 --resume; says "3 runs, 2 of them finished"
expect 0 "$PESS" merge part-1 part-2 --out resumed
cmp -s resumed/results.csv merged-results.csv || fail "results.csv with a run that was made again"
expect 2 "$PESS" experiment "${shard[@]}" --seed 2 --out part-1 --resume; says "made with seed=1; this run has seed=2"

# Trials
trials=(gridworld-data --trials 60 --points 3 --rows 2 --cols 2)
expect 0 "$PESS" experiment "${trials[@]}" --out trials --resume
expect 0 "$PESS" experiment "${trials[@]}" --out whole
for file in results.csv trials.csv.gz; do cmp -s trials/$file whole/$file || fail "$file of resumed trials"; done

# The experiments in docs/results: what they were made with is understood, and the runs that they do not keep are to be
# made. What has no settings is no experiment; pictures that scripts put beside the results are left out.
for settings in "$TEST_DATA"/../../docs/results/*/settings.txt; do
    directory=$(dirname "$settings") && copy=$(basename "$directory")
    cp -r "$directory" "$copy" && rm -f "$copy"/{chosen,curves-*}.png
    setting() { sed -n "s/^$1=//p" "$copy/settings.txt"; }
    case $(setting experiment) in
        minatar-exploration | minatar-settled) axis=(--epsilons "$(setting x)" --transitions "$(setting transitions)") ;;
        *) axis=(--sizes "$(setting x)" --epsilon "$(setting epsilon)") ;;
    esac
    case $(setting policy-breakout) in 6536c339) collected=$players ;; *) collected=$policies ;; esac
    expect 0 "$PESS" experiment "$(setting experiment)" --policies "$collected" --games "$(setting games)" \
        "${axis[@]}" --controls off --algorithms "$(setting algorithms)" --trials "$(setting trials)" --seed "$(setting seed)" \
        --protocol "$(setting protocol)" --out "$copy" --resume --dry-run
    kept=$(find "$copy" -name result.json | wc -l)
    says ", $kept of them finished"
    if [ "$kept" = 0 ]; then
        expect 3 "$PESS" merge "$copy" --out nothing --partial; says "holds no finished run"
    else
        expect 0 "$PESS" merge "$copy" --out "merged-$copy" --partial
        same "$(wc -l <"merged-$copy/runs.csv")" $((kept + 1)) "runs merged from $copy"
    fi
    expect 0 "$PESS" plot "$copy" -o figure.svg
    cmp -s figure.svg "$copy/figure.svg" || fail "figure of $copy"
done
finish

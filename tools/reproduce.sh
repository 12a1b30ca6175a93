#!/usr/bin/env bash
# Makes the committed figures and tables again, by the commands that the documentation states, and compares them byte for
# byte with those in docs/; of the experiments with games, which take days, a few runs of each by their settings and seed,
# every number but the seconds. tools/reproduce.sh [PESS] [NAME…]; names are those below, default all: an hour of one
# core, most of it games and selection. Any other runs with games are named RESULTS:GAME:X:ALGORITHMS, such as
# minatar-data:asterix:20000:naive,proximal:0.25; their first trial is made. selection:DATASET,… makes some of the
# datasets of that study. Exit code 1 if something differs.
set -u
cd "$(dirname "$0")/.." || exit 2
pess=$(realpath "${1:-build/pess}")
shift
known="figure-1 figure-1-text alpha others bandit choosing certificates selection games"
wanted=${*:-$known}
top=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
mkdir earlier # players as they were before they were trained anew
cp "$top"/policies/*.pessnet earlier && cp "$top"/policies/earlier/*.pessnet earlier || exit 2
bad=0
same() { # FILE COMMITTED
    if cmp -s "$1" "$top/$2"; then echo "same    $2"; else echo "differs $2"; bad=1; fi
}
run() { # RESULTS GAME X ALGORITHMS: the first trial
    local directory=$1 game=$2 x=$3 algorithms=$4 kind option=--epsilons players=$top/policies
    local settings=$top/docs/results/$directory/settings.txt
    [ -f "$settings" ] || { echo "reproduce: found '$directory', expected the name of an experiment in docs/results" >&2; exit 2; }
    kind=$(sed -n 's/^experiment=//p' "$settings")
    [ "$kind" != minatar-data ] || option=--sizes
    grep -qF "policy-$game=$(checksum "$players/$game.pessnet")" "$settings" || players=earlier
    experiment "$kind" --games "$game" "$option" "$x" --algorithms "$algorithms" --controls off --trials 1 \
        --policies "$players" --out "$directory-$game"
    while IFS= read -r row; do
        if grep -qF "${row%,*}," "$top/docs/results/$directory/runs.csv"; then
            echo "same    docs/results/$directory: ${row%%,0.*}"
        else
            echo "differs docs/results/$directory: ${row%,*}"
            bad=1
        fi
    done < <(tail -n +2 "$directory-$game/runs.csv")
}
rows_of() { # COMMITTED: every line of standard input is one of its lines
    if [ "$(sort -u | comm -23 - <(sort -u "$top/$1") | tee differing | wc -l)" = 0 ]; then
        echo "same    $1: these rows"
    else
        echo "differs $1: $(head -1 differing)"
        bad=1
    fi
}
experiment() { "$pess" experiment --quiet "$@" >>"$work/log" || bad=1; }
checksum() { # FILE: the last four bytes of a network file, as settings have them
    tail -c 4 "$1" | od -An -tx4 | tr -d ' '
}

for name in $wanted; do
    case $name in
        figure-1)
            experiment gridworld-exploration --out figure-1a
            experiment gridworld-data --out figure-1b
            "$pess" plot figure-1a figure-1b -o figure-1.png >>log
            ;;
        figure-1-text)
            experiment gridworld-exploration --preset text --out text-1a
            experiment gridworld-data --preset text --out text-1b
            "$pess" plot text-1a text-1b -o figure-1-text.png >>log
            ;;
        alpha)
            experiment gridworld-alpha --trials 1000 --out alpha
            cp alpha/figure.png alpha.png
            ;;
        others)
            experiment gridworld-data --algorithms ua,proximal,robust,ua:hoeffding-s,spibb --trials 30 --points 12 \
                --out others
            cp others/figure.png others.png
            ;;
        bandit)
            experiment bandit --out bandit
            cp bandit/figure.png bandit.png
            ;;
        choosing)
            "$pess" choose "$top/examples/visits.csv" --return-range 0,1 --gamma 1 --report choice >>log
            cp choice/figure.svg choosing.svg
            ;;
        certificates)
            python3 "$top/tools/certificate_curves.py" "$pess" . >>log
            same certificates.csv docs/figures/certificates.csv
            ;;
        games)
            run minatar-data asterix 10000 imitation,naive
            run minatar-exploration breakout 0.05 imitation,proximal:0.25
            run minatar-settled breakout 0.66 imitation
            run neural-uncertainty freeway 0 imitation,ua-imitation
            run neural-uncertainty space_invaders 0.33 imitation
            run seaquest seaquest 0.05 imitation,counts-alone
            continue
            ;;
        selection)
            python3 "$top/tools/offline_selection.py" --pess "$pess" --work . --out selection >>log || bad=1
            for file in policies.csv criteria.csv; do same selection/$file docs/results/offline-selection/$file; done
            continue
            ;;
        selection:*)
            if python3 "$top/tools/offline_selection.py" --pess "$pess" --work . --out part --datasets "${name#*:}" >>log; then
                for file in policies.csv criteria.csv; do
                    rows_of docs/results/offline-selection/$file < <(grep -v '^all (mean)' part/$file)
                done
            else
                bad=1
            fi
            continue
            ;;
        *:*:*:*)
            IFS=: read -r directory game x algorithms <<<"$name"
            run "$directory" "$game" "$x" "$algorithms"
            continue
            ;;
        *) echo "reproduce: found '$name', expected one of: $known, or RESULTS:GAME:X:ALGORITHMS" >&2; exit 2 ;;
    esac
    case $name in choosing | certificates) figure=$name.svg ;; *) figure=$name.png ;; esac
    same "$figure" "docs/figures/$figure"
done
exit $bad

#!/usr/bin/env bash
# Makes the committed figures again, by the commands that the documentation states, and compares them byte for byte with
# those in docs/; of the experiments with games, which take days, a few runs of each by their settings and seed, every
# number but the seconds. tools/reproduce.sh [PESS] [NAME…]; names are those below, default all. Minutes; exit code 1 if
# something differs.
set -u
cd "$(dirname "$0")/.." || exit 2
pess=$(realpath "${1:-build/pess}")
shift
wanted=${*:-figure-1 figure-1-text alpha others bandit choosing certificates games}
top=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
mkdir players # those that the committed runs were made with
cp "$top"/policies/*.pessnet players && cp "$top"/policies/earlier/*.pessnet players || exit 2
bad=0
same() { # FILE COMMITTED
    if cmp -s "$1" "$top/$2"; then echo "same    $2"; else echo "differs $2"; bad=1; fi
}
run() { # RESULTS GAME AXIS-OPTION X ALGORITHMS: the first trial
    local directory=$1 game=$2 option=$3 x=$4 algorithms=$5 kind
    kind=$(sed -n 's/^experiment=//p' "$top/docs/results/$directory/settings.txt")
    experiment "$kind" --games "$game" "$option" "$x" --algorithms "$algorithms" --controls off --trials 1 \
        --policies players --out "$directory-$game"
    while IFS= read -r row; do
        if grep -qF "${row%,*}," "$top/docs/results/$directory/runs.csv"; then
            echo "same    docs/results/$directory: ${row%%,0.*}"
        else
            echo "differs docs/results/$directory: ${row%,*}"
            bad=1
        fi
    done < <(tail -n +2 "$directory-$game/runs.csv")
}
experiment() { "$pess" experiment --quiet "$@" >>"$work/log" || bad=1; }

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
            run minatar-data asterix --sizes 10000 imitation,naive
            run minatar-exploration breakout --epsilons 0.05 imitation,proximal:0.25
            run neural-uncertainty freeway --epsilons 0 imitation,ua-imitation
            run seaquest seaquest --epsilons 0.05 imitation,counts-alone
            continue
            ;;
        *) echo "reproduce: found '$name', expected one of: $wanted" >&2; exit 2 ;;
    esac
    case $name in choosing | certificates) same $name.svg docs/figures/$name.svg ;; *) same $name.png docs/figures/$name.png ;; esac
done
exit $bad

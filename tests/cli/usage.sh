# What commands say where an option is missing, does nothing or contradicts another; and that the lists say in words what
# they say as JSON.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
visits=$root/examples/visits.csv
refused() { # refused TEXT command…: wrong use, and nothing is written
    local text=$1
    shift
    expect 2 "$PESS" "$@"
    says "$text"
    [ -z "$(ls -- written* 2>/dev/null)" ] || fail "output after a refusal: $*"
}

# --- the lists
for list in algorithms uncertainties formats learners neural-uncertainties networks protocols experiments; do
    expect 0 "$PESS" list $list --json
    sed -n 's/^      "name": "\(.*\)",$/\1/p' out >names
    [ -s names ] || fail "no names in the list of $list"
    expect 0 "$PESS" list $list
    while read -r name; do grep -q "^$name\b" out || fail "list $list lacks '$name'"; done <names
done
expect 0 "$PESS" list formats
prints "(read, write)"
expect 0 "$PESS" list learners
prints "takes --"
refused "found 'everything', expected algorithms" list everything

# --- processes and logs from them
expect 0 "$PESS" mdp gridworld --rows 3 --cols 3 -o mdp.csv
refused "--policy is missing" simulate mdp.csv -o written.csv --transitions 10
refused "-o is missing" simulate mdp.csv --policy uniform --transitions 10
refused "--episodes needs --horizon" simulate mdp.csv --policy uniform -o written.csv --episodes 3
refused "--state-dist" simulate mdp.csv --policy uniform -o written.csv --episodes 3 --horizon 4 --state-dist uniform
refused "--horizon" simulate mdp.csv --policy uniform -o written.csv --transitions 10 --horizon 4
refused "--policy is missing" mdp evaluate mdp.csv
refused "expected" mdp evaluate mdp.csv extra words --policy uniform

# --- evaluation
expect 0 "$PESS" solve "$visits" -o policy.csv
refused "--policy is missing" evaluate "$visits"
refused "--behaviour does nothing without --estimators" evaluate "$visits" --policy policy.csv --behaviour estimated
refused "--horizon does nothing for --estimators" evaluate "$visits" --policy policy.csv --estimators --horizon 3
refused "no algorithm 'nosuch'" evaluate "$visits" --policy policy.csv -a nosuch
refused "no uncertainty 'nosuch'" evaluate "$visits" --policy policy.csv -u nosuch
refused "uncertainty 'hoeffding' does not fit algorithm 'robust'" evaluate "$visits" --policy policy.csv -a robust -u hoeffding
expect 0 "$PESS" evaluate "$visits" --policy policy.csv --estimators --behaviour estimated
prints "consistent"

# --- solving
expect 6 "$PESS" solve "$visits" -o policy.csv -a naive --gamma 0.999 --method value-iteration --max-iterations 2
prints "stopped at the iteration limit after 2 iterations"
expect 0 "$PESS" solve "$visits" -o policy.csv --json
json outcome >/dev/null

# --- certificates, choices, gaps
refused "--fresh is about a given policy" certify "$visits" --fresh
refused "--unknown behaviour makes a part of the policy from this log" certify "$visits" --policy policy.csv --unknown behaviour --fresh
refused "--algorithm" gaps "$visits" --policy policy.csv -a ua
expect 0 "$PESS" choose "$visits" --folds 2 --families naive,spibb --horizon 3 -o chosen.csv
prints "the first 3 steps"

# --- datasets of observations, networks, games
expect 0 "$PESS" collect cartpole --policy random --transitions 40 --seed 1 -o cart.npz
refused "a dataset of observations has no states" inspect cart.npz --return-range 0,1
refused "-a LEARNER is needed" train cart.npz --out written
refused "--out DIR is needed" train cart.npz -a naive
refused "-o FILE is needed" net export "$root/policies/breakout.pessnet"
refused "-o FILE is needed" net import weights.npz
refused "no game 'nosuch'" env evaluate nosuch --policy random
refused "--sticky" env evaluate cartpole --policy random --sticky 0.1
refused "--sticky" collect cartpole --policy random --transitions 5 -o written.npz --sticky 0.1
refused "--threads: found 0, expected 1 to 1024" env bench breakout --threads 0
refused "--steps: found 0, expected 1 or more" env bench breakout --threads 1 --steps 0
refused "--size: found 0, expected 1 to 200 pixels" play breakout --policy random --record written.gif --size 0
refused "-o is missing: where to write the map" discretize "$visits" --features step
refused "do nothing for counts" merge "$visits" "$visits" --out written.pesscounts --partial

# --- words of the command line: what follows -- is no option, and numbers are whole
cp "$visits" -- ./--odd.csv
expect 0 "$PESS" inspect -- --odd.csv
prints "odd.csv"
refused "2 arguments, expected 1" inspect "$visits" "$visits"
refused "max-memory" inspect "$visits" --max-memory 5
refused "max-memory" inspect "$visits" --max-memory 5X
refused "max-memory" inspect "$visits" --max-memory
expect 0 "$PESS" inspect "$visits" --max-memory=1G
expect 0 "$PESS" inspect --max-memory 20000M "$visits"
expect 0 "$PESS" solve -h
prints "Usage: pess solve"

finish

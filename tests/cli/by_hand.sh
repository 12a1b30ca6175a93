# The worked example of docs/by-hand.md, number by number.
. "$(dirname "$0")/lib.sh"
{
    echo state,action,reward,next_state
    echo 0,0,1,0
    for i in $(seq 16); do echo 0,1,0,1; done
    for i in $(seq 12); do echo 1,0,1,1; done
    for i in $(seq 4); do echo 1,0,0,1; done
    echo 1,1,0,0
} >log.csv
model="--gamma 0.5 --start uniform --reward-range 0,1"

value() { # value EXPECTED MEMBER WHAT options…
    local want=$1 member=$2 what=$3
    shift 3
    expect 0 "$PESS" solve log.csv $model --json -o policy.csv "$@"
    near "$(json "$member")" "$want" 1e-9 "$what"
}
value 1.75 value naive -a naive
same "$(cat policy.csv | tr '\n' ' ')" "state,action,probability 0,0,1 1,0,1 " "naive policy"
value 0.625 value ua -a ua --absorbed-alpha 1
same "$(cat policy.csv | tr '\n' ' ')" "state,action,probability 0,1,1 1,0,1 " "ua policy"
value 1.125 naive_value "ua at face value" -a ua --absorbed-alpha 1
value $(awk 'BEGIN { printf "%.15f", 607 / 578 }') value imitation -a imitation
value $(awk 'BEGIN { printf "%.15f", 1185.5 / 1122 }') value proximal -a proximal --absorbed-alpha 1
value $(awk 'BEGIN { u = 2 * sqrt(log(80) / 32); v1 = (0.75 - u) / 0.5; v0 = -u + 0.5 * v1; printf "%.15f", (v0 + v1) / 2 }') \
    value hoeffding -a ua -u hoeffding --delta 0.1 --alpha 1
finish

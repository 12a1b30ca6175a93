# Every kind of bad input: one clear message, the right exit code, and no output left behind.
. "$(dirname "$0")/lib.sh"
log() { printf "$1" >log.csv; }
refused() { # refused CODE TEXT options…: solve log.csv fails so
    local code=$1 text=$2
    shift 2
    expect "$code" "$PESS" solve log.csv -o policy.csv --values values.csv "$@"
    says "$text"
    [ ! -e policy.csv ] && [ ! -e values.csv ] || fail "output after failure: $text"
    rm -f policy.csv values.csv
    no_leftovers
}
good='state,action,reward,next_state\n0,0,1,1\n1,0,0,0\n'

log 'state,action,reward\n0,0,1\n';                                refused 3 next_state
log 'state,action,reward,next_state\n0,0,high,1\n';                refused 3 log.csv:2
log 'state,action,reward,next_state\n0,0,high,1\n';                refused 3 high
log 'state,action,reward,next_state\n0,0,1,1\n0,0,nan,1\n';        refused 3 log.csv:3
log 'state,action,reward,next_state\n0,0,inf,1\n';                 refused 3 log.csv:2
log 'state,action,reward,next_state\n-1.5,0,1,1\n';                refused 3 -1.5
log 'state,action,reward,next_state\n1e30,0,1,1\n';                refused 3 1e30
log 'state,action,reward,next_state\n0,0,1\n';                     refused 3 log.csv:2
log '';                                                            refused 3 log.csv
log 'state,action,reward,next_state\n';                            refused 3 log.csv
log "$good"; gzip -c log.csv | head -c 30 >cut.csv.gz
expect 3 "$PESS" solve cut.csv.gz; says cut.csv.gz
printf 'PK\003\004broken' >cut.npz; expect 3 "$PESS" solve cut.npz; says cut.npz
expect 5 "$PESS" solve nowhere.csv; says nowhere.csv
log "$good"
refused 2 gamma --gamma 1.5
refused 2 gamma --gamma -0.1
refused 2 gamma --gamma x
refused 2 delta --delta 0
refused 2 delta --delta 1
refused 2 delta --delta 1.2 -u hoeffding
refused 2 alpha --alpha -1
refused 2 alpha --alpha 1 --absorbed-alpha 1
refused 2 nosuch -a nosuch
refused 2 nosuch -u nosuch
refused 2 '--uncertainty does nothing for naive' -a naive -u count
refused 2 hoeffding -a robust -u hoeffding
# an option that does nothing for what was chosen
refused 2 '--alpha does nothing for spibb' -a spibb --alpha 3
refused 2 '--budget does nothing for spibb' -a spibb --budget 3
refused 2 '--delta does nothing for ua with the uncertainty count' --delta 0.1
refused 2 '--method does nothing for imitation' -a imitation --method value-iteration
refused 2 '--max-iterations does nothing for imitation' -a imitation --max-iterations 5
refused 2 '--method does nothing for duipi' -a duipi --method value-iteration
refused 2 '--method does nothing for naive, solved back from a horizon' -a naive --horizon 3 --method value-iteration
refused 2 '--local-policies does nothing for ua with the uncertainty hoeffding' -u hoeffding --local-policies 3
expect 0 "$PESS" solve log.csv -u hoeffding --delta 0.1
expect 0 "$PESS" solve log.csv -a spibb --min-count 3
printf 'state,action,probability\n0,0,1\n1,0,1\n' >given.csv
expect 2 "$PESS" evaluate log.csv --policy given.csv -a spibb --alpha 3; says '--alpha does nothing for spibb'
expect 2 "$PESS" evaluate log.csv --policy given.csv -a spibb --min-count 3; says '--min-count does nothing for spibb'
expect 2 "$PESS" evaluate log.csv --policy given.csv --method value-iteration; says "no option '--method'"
expect 0 "$PESS" evaluate log.csv --policy given.csv --alpha 0.5
expect 2 "$PESS" gaps log.csv --policy given.csv --min-count 3; says '--min-count does nothing'
expect 0 "$PESS" gaps log.csv -a spibb --min-count 3 --delta 0.1
expect 2 "$PESS" choose log.csv --families naive,ua --folds 2 --delta 0.2; says '--delta does nothing for these families'
expect 2 "$PESS" evaluate log.csv --policy given.csv --estimators --alpha 1; says '--alpha does nothing for --estimators'
expect 2 "$PESS" evaluate log.csv --policy given.csv --estimators -a naive; says '--algorithm does nothing for --est'
expect 2 "$PESS" theorems log.csv log.csv -u hoeffding --max-successors 2; says 'does nothing for the uncertainty hoeffding'
expect 0 "$PESS" gaps log.csv -a robust -u count # the algorithm keeps its own set
printf 'state,action,reward,next_state\nmild,wait,1,mild\nmild,wait,0,severe\nsevere,wait,0,mild\n' >named.csv
expect 2 "$PESS" solve named.csv -a robust -u l1 --max-successors 1; says "of state 'mild', action 'wait'"
refused 3 "reward" --reward-range 0,0.5
refused 2 "reward-range" --reward-range 1,0
refused 3 "state" --states 1
refused 3 "episode" --start log
refused 5 nostart.csv --start nostart.csv
expect 5 "$PESS" solve log.csv -o /nonexistent/dir/policy.csv; says /nonexistent/dir/policy.csv
# gamma = 1 without terminals, and with
"$PESS" solve log.csv --gamma 1 -a naive >out 2>err; code=$?
[ $code -eq 2 ] || [ $code -eq 3 ] || fail "gamma 1 without terminals: exit $code"
says gamma
printf 'state,action,reward,next_state,terminal\n0,0,1,1,0\n1,0,2,0,1\n' >end.csv
expect 0 "$PESS" solve end.csv --gamma 1 -a naive --start uniform --json
near "$(json value)" 2.5 1e-9 "gamma 1 with terminals"

# policies
expect 2 "$PESS" evaluate log.csv; says policy
policy() { printf "$1" >policy.csv; expect 3 "$PESS" evaluate log.csv --policy policy.csv; says "$2"; rm -f policy.csv; }
policy 'state,action,probability\n0,0,1\n' "policy.csv"
policy 'state,action,probability\n0,0,1\n1,0,0.5\n' "0.5"
policy 'state,action,probability\n0,0,1\n1,0,1\n7,0,1\n' "policy.csv:4"
policy 'state,action,probability\n0,0,1\n1,3,1\n' "policy.csv:3"
policy 'state,action,probability\n0,0,1\n1,0,1.5\n' "policy.csv:3"
policy 'state,action\n0,0\n' probability
# MDP files
mdp() { printf "$1" >mdp.csv; expect 3 "$PESS" mdp solve mdp.csv -o policy.csv; says "$2"; [ ! -e policy.csv ] || fail "policy after bad MDP"; }
head='idstatefrom,idaction,idstateto,probability,reward\n'
mdp "${head}0,0,0,0.9,1\n" 0.9
mdp "${head}0,0,0,x,1\n" mdp.csv:2
mdp "${head}0,0,-1,1,1\n" mdp.csv:2
mdp "${head}0,0,0,1,nan\n" mdp.csv:2
mdp "idstatefrom,idaction,idstateto,reward\n0,0,0,1\n" probability
mdp "" mdp.csv
# usage
expect 2 "$PESS"; expect 2 "$PESS" nosuch; says nosuch
expect 2 "$PESS" solve; says LOG
expect 2 "$PESS" solve log.csv --gama 0.9; says "--gamma"
expect 2 "$PESS" solve log.csv extra; expect 2 "$PESS" solve log.csv --gamma
expect 2 "$PESS" mdp; expect 2 "$PESS" mdp nosuch; expect 2 "$PESS" mdp gridworld; says "-o"
expect 2 "$PESS" mdp gridworld --slip 2 -o m.csv; says slip
expect 2 "$PESS" mdp gridworld --rows 0 -o m.csv
expect 2 "$PESS" mdp random --states 3 --branching 9 -o m.csv; says branching
expect 2 "$PESS" mdp bandit --best 1.5 -o m.csv
"$PESS" mdp gridworld --rows 3 --cols 3 -o m.csv || fail "gridworld"
expect 2 "$PESS" simulate m.csv --policy uniform -o l.csv; says transitions
expect 2 "$PESS" simulate m.csv --policy uniform --episodes 3 --horizon 0 -o l.csv; says horizon
expect 2 "$PESS" simulate m.csv --policy uniform --transitions 3 --epsilon 2 -o l.csv; says epsilon
expect 2 "$PESS" list nothing; says algorithms
expect 2 "$PESS" convert log.csv
expect 2 "$PESS" convert log.csv -o log.xyz
[ ! -e m2.csv ] && [ ! -e l.csv ] && [ ! -e log.xyz ] || fail "output after wrong use"
no_leftovers
finish

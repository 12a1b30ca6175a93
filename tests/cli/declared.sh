# What is declared and what is found: the range of returns, γ = 1, repeated rows, the unit of rewards, policies for logs
# that have changed.
. "$(dirname "$0")/lib.sh"

# ---- every policy that solve writes is one that evaluate reads
expect 0 "$PESS" mdp gridworld --rows 4 --cols 4 -o grid.csv
expect 0 "$PESS" simulate grid.csv --policy uniform --episodes 60 --horizon 20 --seed 1 -o log.csv
for algorithm in imitation naive ua proximal density-proximal robust spibb spibb-leq soft-spibb ramdp rmin; do
    expect 0 "$PESS" solve log.csv -a $algorithm -o policy.csv
    expect 0 "$PESS" evaluate log.csv --policy policy.csv -a naive
    awk -F, 'NR > 1 && $3 > 1' policy.csv | grep -q . && fail "$algorithm wrote a probability above 1"
done
# A file of an earlier version, with a sum that rounding carried beyond 1.
expect 0 "$PESS" solve log.csv -a naive -o policy.csv
sed '2s/,[^,]*$/,1.0000000000000002/' policy.csv >above.csv
expect 0 "$PESS" evaluate log.csv --policy above.csv -a naive
sed '2s/,[^,]*$/,1.01/' policy.csv >above.csv
expect 3 "$PESS" evaluate log.csv --policy above.csv -a naive
says "found '1.01', expected a probability"

# ---- the policy does not depend on the unit of rewards, and no hint asks for another strength
expect 0 "$PESS" solve log.csv -o one.csv
want=$(grep -c . out)
for unit in 0.001 8300; do
    awk -F, -v OFS=, -v u=$unit 'NR > 1 { $5 *= u } 1' log.csv >scaled.csv
    for algorithm in ua ramdp proximal; do
        expect 0 "$PESS" solve log.csv -a $algorithm -o one.csv
        expect 0 "$PESS" solve scaled.csv -a $algorithm -o other.csv
        cmp -s one.csv other.csv || fail "$algorithm: another policy where the unit of rewards is $unit"
    done
    expect 0 "$PESS" solve scaled.csv -o other.csv
    same "$(grep -c . out)" "$want" "lines of the report in another unit"
done

# ---- repeated rows are told
cp log.csv twice.csv
sed -n '2,41p' log.csv >>twice.csv
expect 0 "$PESS" solve twice.csv
prints "At least 40 rows repeat a step of their episode"
expect 0 "$PESS" solve log.csv
grep -q repeat out && fail "repeated rows where there are none"

# ---- a clinic: rewards of 0 until the end, survival is 1
cat >clinic.csv <<CSV
episode,step,state,action,reward,next_state,terminal
a,0,severe,wait,0,severe,0
a,1,severe,treat,1,home,1
b,0,severe,wait,0,severe,0
b,1,severe,wait,0,grave,1
c,0,mild,wait,1,home,1
d,0,mild,treat,0,severe,0
d,1,severe,treat,1,home,1
CSV
expect 0 "$PESS" inspect clinic.csv --return-range 0,1 --gamma 1
prints "No return contradicts the declared range from 0 to 1"
for command in solve evaluate gaps; do
    policy=
    [ $command = evaluate ] && policy="--policy policy.csv"
    expect 0 "$PESS" solve clinic.csv --return-range 0,1 --gamma 1 -o policy.csv
    expect 0 "$PESS" $command clinic.csv --return-range 0,1 --gamma 1 $policy
    for range in 0,0.5 0.2,1; do
        expect 3 "$PESS" $command clinic.csv --return-range $range --gamma 1 $policy
        says "outside the declared range of returns"
        says "episode '"
    done
done
expect 3 "$PESS" inspect clinic.csv --return-range 0,0.5 --gamma 1
says "the return of episode 'a'"
says " is 1, outside"
expect 2 "$PESS" inspect clinic.csv --gamma 1
says "--gamma does nothing without --return-range"
expect 2 "$PESS" solve clinic.csv --return-range 1,0
expect 0 "$PESS" convert clinic.csv -o clinic.pesscounts
expect 2 "$PESS" inspect clinic.pesscounts --return-range 0,1
says "no episodes against which it could be checked"
expect 0 "$PESS" solve clinic.pesscounts --return-range 0,1 --gamma 1
prints "was not checked against the log"
expect 2 "$PESS" evaluate clinic.csv --policy policy.csv --gamma 1 --alpha 1 --absorbed-alpha 1
says "two scales of one setting"
expect 3 "$PESS" evaluate clinic.csv --policy "$TEST_DATA/../../policies/breakout.pessnet"
says "expected a table over the states of the log"
# Bounds that need a range of values have one, and no penalty is larger than it.
expect 0 "$PESS" solve clinic.csv --return-range 0,1 --gamma 1 -u hoeffding --json
near "$(json value)" 0 2 "a value within twice the range"
expect 0 "$PESS" solve clinic.csv --return-range 0,1 --gamma 1 -a robust --json
near "$(json value)" 0.5 0.5 "a worst case within the range"
sed '/^d/d' clinic.csv >unseen.csv
expect 2 "$PESS" solve unseen.csv --gamma 1
says "action 'treat' of state 'mild' was never seen"
says "declare the range of returns"

# ---- γ = 1: waiting for ever is worth nothing, and a policy that does has no value
expect 0 "$PESS" solve clinic.csv --gamma 1 -a naive -o best.csv
grep -qx "severe,treat,1" best.csv || fail "the best policy does not treat: $(cat best.csv)"
printf 'state,action,probability\nsevere,wait,1\nmild,treat,1\n' >waits.csv
sed '/^b,1/d' clinic.csv >endless.csv
expect 3 "$PESS" evaluate endless.csv --policy waits.csv --gamma 1
says "from state 'severe' the policy never reaches an end"
grep -v ',1$' clinic.csv >open.csv
expect 2 "$PESS" solve open.csv --gamma 1 -a naive
says "from state 'severe' no policy reaches an end"

# ---- a log that has gained and lost states
cat >later.csv <<CSV
episode,step,state,action,reward,next_state,terminal
e,0,new,wait,0,severe,0
e,1,severe,treat,1,home,1
f,0,new,treat,0,severe,0
f,1,severe,wait,0,home,1
CSV
expect 3 "$PESS" evaluate later.csv --policy best.csv -a naive
expect 0 "$PESS" evaluate later.csv --policy best.csv -a naive --unknown behaviour --json
same "$(json unknown_states)" 1 "states that the file lacks"
expect 0 "$PESS" evaluate later.csv --policy best.csv -a naive --unknown uniform
prints "lacks 1 state of the log; there the policy is uniform"
prints "1 row of the policy file is of states that the log lacks"
expect 0 "$PESS" gaps later.csv --policy best.csv --unknown behaviour
prints "there the policy acts as the log did"
expect 3 "$PESS" certify later.csv --policy best.csv --reward-range 0,1
expect 1 "$PESS" certify later.csv --policy best.csv --reward-range 0,1 --unknown behaviour --method robust
prints "there the policy acts as the log did"
expect 1 "$PESS" certify later.csv --policy best.csv --reward-range 0,1 --unknown uniform --fresh --json
same "$(json unknown_states)" 1 "states that the file lacks, certified"
expect 2 "$PESS" certify later.csv --policy best.csv --reward-range 0,1 --unknown behaviour --fresh
says "makes a part of the policy from this log"
expect 2 "$PESS" gaps later.csv --unknown behaviour
says "--unknown does nothing without --policy"
expect 2 "$PESS" evaluate later.csv --policy best.csv --unknown sometimes

# ---- what is thin is called the thinnest, and no more, however many samples there are
expect 0 "$PESS" solve log.csv
prints "Thinnest data (where the policy goes most often for the few samples there are)"
grep -q "says little" out && fail "the log is said to say little"
expect 0 "$PESS" solve log.csv --thin off
grep -q "Thinnest" out && fail "thin places that nobody wants"
expect 0 "$PESS" solve log.csv --thin off --json
same "$(json thin)" null "thin places that were not looked for, in JSON"
expect 2 "$PESS" solve log.csv --thin perhaps
# 100,001 states: only where asked
{ echo state,action,reward,next_state; seq 0 100000 | awk '{ print $1 ",0,1," ($1 + 1) % 100001 }'; } > many.csv
expect 0 "$PESS" solve many.csv --gamma 0.5
prints "Thinnest data: not looked for among so many states (--thin on does)"
expect 0 "$PESS" solve many.csv --gamma 0.5 --thin on
prints "Thinnest data (where the policy goes"

# ---- a finite horizon: the policy has a table for each step
expect 0 "$PESS" solve clinic.csv -a naive --gamma 1 --horizon 3 -o steps.csv --json
same "$(json horizon)" 3 "the horizon in JSON"
value=$(json value)
same "$(head -1 steps.csv)" "step,state,action,probability" "the header of a policy with steps"
same "$(grep -c '^2,' steps.csv)" 2 "rows of the last step"
expect 0 "$PESS" evaluate clinic.csv --policy steps.csv -a naive --gamma 1 --horizon 3 --json
near "$(json naive_value)" "$value" 1e-12 "value of a policy with steps"
expect 3 "$PESS" evaluate clinic.csv --policy steps.csv --gamma 1 -a naive
says "a policy for a finite horizon (it has a column 'step')"
expect 3 "$PESS" evaluate clinic.csv --policy steps.csv --gamma 1 -a naive --horizon 2
says "a step before the horizon"
expect 3 "$PESS" act clinic.csv --policy steps.csv
says "a policy for a finite horizon"
expect 2 "$PESS" solve clinic.csv -a robust -u l1 --horizon 3
says "'robust' with 'l1' takes no horizon"

# ---- choosing for it: families that take none are left out, and the choice is that of solve
expect 0 "$PESS" choose log.csv --gamma 1 --horizon 3 --reward-range 0,1 --families naive,ua,robust -o chosen.csv --json
same "$(json horizon)" 3 "the horizon of a choice"
same "$(head -1 chosen.csv)" "step,state,action,probability" "the header of a chosen policy with steps"
expect 0 "$PESS" solve log.csv -a auto --gamma 1 --horizon 3 --reward-range 0,1 -o auto.csv
expect 0 "$PESS" choose log.csv --gamma 1 --horizon 3 --reward-range 0,1 -o default.csv
cmp -s auto.csv default.csv || fail "auto gives another policy for a horizon"
expect 0 "$PESS" choose log.csv --gamma 1 --horizon 3 --reward-range 0,1 --families naive,robust
prints "takes no horizon"
no_leftovers
finish

# pess train from outside: Ctrl-C and --resume, directories that hold something else, options that do nothing for a
# learner, data that cannot be played, and data of a game that is not the default one.
. "$(dirname "$0")/lib.sh"

expect 0 "$PESS" collect breakout --policy random --transitions 2000 --seed 1 -o data.pessdata
few="--protocol smoke --updates 5 --steps 2 --batch 32 --score-episodes 1 --eval-every 0 --network dqn"

# Ctrl-C ends a run in good order, in training and in evaluations, and what follows ends in the same bytes.
begun() { [ "$(wc -l <pieces/log.csv)" -ge 2 ]; } # there is a line below the header
long="--protocol smoke --updates 12 --steps 150 --batch 128 --score-episodes 10 --eval-every 0 --network dqn --threads 1 --seed 3"
# shellcheck disable=SC2086
{
expect 0 "$PESS" train data.pessdata -a naive $long --out whole --json
interrupt INT pieces begun "$PESS" train data.pessdata -a naive $long --out pieces
same "$code" 6 "exit code after Ctrl-C"
says "interrupted after"
says "--resume"
[ -e pieces/policy.pessnet ] && fail "an interrupted training left a policy"
expect 0 "$PESS" train data.pessdata -a naive $long --out pieces --resume
cmp -s whole/policy.pessnet pieces/policy.pessnet || fail "interrupted and resumed, the policy differs"
cmp -s whole/manifest.json pieces/manifest.json || fail "interrupted and resumed, the manifest differs"
# Hours of episodes after a moment of training: the evaluation is what is interrupted.
playing() { [ "$(wc -l <playing/log.csv)" -ge 2 ]; }
interrupt INT playing playing "$PESS" train data.pessdata -a naive $few --eval-every 1 --updates 6 --score-episodes 1000000 --out playing
same "$code" 6 "exit code after Ctrl-C in an evaluation"
says "interrupted after"
}
no_leftovers

# shellcheck disable=SC2086
{
# Directories.
: >plain
expect 5 "$PESS" train data.pessdata -a naive $few --out plain
says "plain: is a file; a directory for the results is expected"
expect 2 "$PESS" train data.pessdata -a proximal $few --out whole
says "whole: has checkpoints of an earlier run"
[ -e whole/imitation ] && fail "imitation was trained before the refusal"

# Options that the learner never reads.
expect 0 "$PESS" train data.pessdata -a imitation --protocol smoke --imitation-steps 20 --score-episodes 1 --eval-every 0 --network dqn --out imitation
refused() { expect 2 "$PESS" train data.pessdata -a "$1" --protocol smoke --score-episodes 1 --network dqn --out bad "${@:3}"; says "$2 does nothing for $1"; }
refused naive --imitation --imitation imitation/policy.pessnet
refused naive --imitation-steps --imitation-steps 20
refused proximal "--imitation-steps with --imitation" --imitation imitation/policy.pessnet --imitation-steps 20
refused proximal --relative --relative off
refused naive --expectile --expectile 0.8
refused naive --control-episodes --control-episodes 3
expect 0 "$PESS" list learners --json
same "$(json rows.1.name) $(json rows.1.settings.0)" "naive updates" "what a learner reads, as a list"
refused imitation --batch --batch 32
refused imitation --rate --rate 0.001
refused imitation --steps --steps 3
refused imitation --updates --updates 3
refused imitation --reset --reset on
refused counts-alone --rate --rate 0.001
expect 2 "$PESS" train data.pessdata -a ua-imitation --uncertainty-steps 5 $few --out bad
says "--uncertainty-steps does nothing for ua-imitation"
expect 0 "$PESS" train data.pessdata -a ua-propensity $few --out steps
expect 0 "$PESS" train data.pessdata -a ua-propensity --uncertainty-steps 9 $few --out more
grep -q '"uncertainty_steps": "9"' more/manifest.json || fail "the manifest does not tell uncertainty_steps"
grep -q uncertainty_steps steps/manifest.json && fail "a manifest tells uncertainty_steps though none were asked for"
cmp -s steps/uncertainty.pessnet more/uncertainty.pessnet && fail "--uncertainty-steps changes nothing"
[ -e bad ] && fail "a refused training left a directory"
expect 2 "$PESS" train data.pessdata -a ua --uncertainty counts --imitation imitation/policy.pessnet $few --out bad
says "--imitation does nothing for ua-counts"
[ -e bad ] && fail "a refused command made its directory"
expect 0 "$PESS" train data.pessdata -a ua --uncertainty imitation --relative off --imitation imitation/policy.pessnet $few --out ua

# A step size that the protocol keeps constant stays so.
setting() { sed -n "s/^    \"$2\": \"\(.*\)\",\{0,1\}\$/\1/p" "$1/manifest.json"; }
expect 0 "$PESS" train data.pessdata -a naive --rate 0.0002 $few --out falls
same "$(setting falls rate)" "0.0002,0" "step size of smoke"
expect 0 "$PESS" train data.pessdata -a naive $few --protocol paper --rate 0.0002 --out constant
same "$(setting constant rate)" "0.0002,0.0002" "step size of paper"
expect 0 "$PESS" list protocols
prints "imitation 24400 steps x batch 1024, step size 0.0003 to 0.0003"
prints "imitation 12000 steps x batch 256, step size 0.001 to 0"

# Nothing was played.
expect 0 "$PESS" train data.pessdata -a naive $few --score-episodes 0 --out unplayed
prints "naive: score not played"
grep -qi nan out && fail "output: $(cat out)"
expect 0 "$PESS" train data.pessdata -a naive $few --score-episodes 0 --out unplayed-json --json
same "$(json score) $(json outside)" "null null" "score that was not played"

# An imitation network of other data.
expect 0 "$PESS" collect breakout --policy random --transitions 2000 --seed 2 -o other.pessdata
expect 3 "$PESS" train other.pessdata -a proximal $few --imitation imitation/policy.pessnet --out other
says "imitation/policy.pessnet: imitates other data"
[ -e other ] && fail "a refused training left a directory"

# The game as the data had it, noted where it is not the default one. Where every action is the first one again, which
# does nothing, no shot is fired.
for sticky in 0.1 1; do
    expect 0 "$PESS" collect space_invaders --policy random --transitions 500 --seed 1 --sticky $sticky --no-ramping -o s.pessdata
    expect 0 "$PESS" train s.pessdata -a imitation --protocol smoke --imitation-steps 20 --score-episodes 2 --eval-every 0 --network dqn \
        --out sticky-$sticky --json
    if [ $sticky = 1 ]; then same "$(json score)" 0 "score where nothing is ever done"; else
        [ "$(json score)" != 0 ] || fail "random play scores nothing"; fi
done
same "$(setting sticky-1 sticky) $(setting sticky-1 ramping)" "1 0" "environment in the manifest"
same "$(setting sticky-0.1 sticky) $(setting sticky-0.1 ramping)" " 0" "environment in the manifest where sticky is the default"
}
finish

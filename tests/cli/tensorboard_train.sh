# pess train --tensorboard: event files by the published format, with the numbers of log.csv; a resumed training goes on
# in a new file that says from where.
. "$(dirname "$0")/lib.sh"
check="$TEST_DATA/../tools/check_events.py"

expect 0 "$PESS" collect breakout --policy random --transitions 500 --seed 1 -o data.pessdata
few="--protocol smoke --steps 3 --batch 32 --score-episodes 1 --eval-every 0 --network dqn --seed 3"
# shellcheck disable=SC2086
{
expect 0 "$PESS" train data.pessdata -a naive $few --updates 4 --out run --tensorboard board
python3 "$check" board/events.out.tfevents.* >events || fail "an event file is not as the format has it"
same "$(sed -n 1,2p events | tr '\n' ';')" "version brain.Event:2;start 0;" "first records"
# Every finite number of the log is a point, and at its step.
for column in 3:losses/td_loss 4:losses/mean_target 5:losses/q_values 6:charts/episodic_return 12:data/unlogged; do
    tag=${column#*:}
    awk -F, -v c="${column%%:*}" -v t="$tag" 'NR > 1 && $c != "" { print $2, t, $c }' run/log.csv >want
    awk -v t="$tag" '$2 == t { print $1, $2, $3 }' events >got
    awk 'NR == FNR { v[NR] = $3; k[NR] = $1 " " $2; n = NR; next }
         { d = v[FNR] - $3; if (k[FNR] != $1 " " $2 || d * d > 1e-10 * (1 + $3 * $3)) exit 1; m = FNR }
         END { exit n != m }' want got || fail "points of $tag: $(head -3 got) instead of $(head -3 want)"
done
[ "$(wc -l <want)" -gt 0 ] || fail "nothing was compared"
# The same bytes with and without it.
expect 0 "$PESS" train data.pessdata -a naive $few --updates 4 --out plain
cmp -s run/policy.pesspolicy plain/policy.pesspolicy || fail "--tensorboard changed the policy"
cmp -s run/manifest.json plain/manifest.json || fail "--tensorboard changed the manifest"
# Resuming a finished training: a new file, which begins after the last step.
first=$(find board -name '*tfevents*')
expect 0 "$PESS" train data.pessdata -a naive $few --updates 4 --out run --tensorboard board --resume
same "$(find board -name '*tfevents*' | wc -l)" 2 "event files"
newest=$(find board -name '*tfevents*' ! -path "$first")
same "$(python3 "$check" "$newest" | tr '\n' ';')" "version brain.Event:2;start 13;" "the file of the resumed run"
# A file in the way, a damaged file.
: >plain-file
expect 5 "$PESS" train data.pessdata -a naive $few --updates 4 --out other --tensorboard plain-file
says "plain-file: is a file"
[ ! -e other ] || fail "a directory of results was left, though there is no place for the event file"
# Results are refused: no event file of a run that never began, nor its directory.
expect 2 "$PESS" train data.pessdata -a naive $few --updates 4 --out run --tensorboard new-board
says "has checkpoints of an earlier run"
[ ! -e new-board ] || fail "an event file was left of a training that was refused"
{ head -c 30 "$newest"; printf 'x'; tail -c +32 "$newest"; } >damaged
python3 "$check" damaged >/dev/null 2>&1 && fail "the checker does not see a damaged record"
}
no_leftovers
finish

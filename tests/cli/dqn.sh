# pess dqn from outside: killed at many points and resumed it ends in the same bytes; a full disk, other settings and
# damaged files are errors that leave the earlier checkpoints as they were.
. "$(dirname "$0")/lib.sh"

small="--network value --frames 24000 --envs 8 --replay 3000 --batch 16 --train-every 16 --warmup 500 --epsilon-frames 8000"
small="$small --evaluate-every 6000 --evaluate-episodes 4 --final-episodes 8 --checkpoint-every 400 --seed 3"

# shellcheck disable=SC2086
{
began=$(date +%s%N)
expect 0 "$PESS" dqn breakout $small --threads 1 --out whole --json
whole=$((($(date +%s%N) - began) / 1000)) # microseconds
same "$(json frames)" 24000 frames
same "$(json resumed_from)" -1 resumed_from
head -1 whole/log.csv | grep -q '^frame,return,loss,mean_q,seconds' || fail "header of log.csv: $(head -1 whole/log.csv)"
same "$(wc -l <whole/log.csv)" 5 "lines of log.csv"

# Each attempt is killed after another share of the time that the whole run took, 1 to 11 per cent. A kill has landed where
# the shell saw signal 9 end the program; that happens at different frames, within and between the writes of checkpoints.
# Where the machine has become so much faster that hardly any landed, another round has them come sooner.
killed_and_resumed() { # ROUND
    rm -rf pieces
    for attempt in $(seq 1 60); do
        "$PESS" dqn breakout $small --threads 2 --out pieces --resume >out 2>err </dev/null &
        program=$!
        sleep "$(awk -v whole="$whole" -v share=$((3 + attempt * 7 % 31)) -v round="$1" \
            'BEGIN { printf "%.6f", share / 300 * whole / 1e6 / 2 ^ (round - 1) }')"
        kill -9 "$program" 2>/dev/null
        wait "$program" 2>/dev/null
        code=$?
        [ "$code" -ne 0 ] || break
        if [ "$code" -eq 137 ]; then landed=$((landed + 1)); else fail "attempt $attempt: $code: $(head -c 300 err)"; fi
    done
    [ "$code" -eq 0 ] || expect 0 "$PESS" dqn breakout $small --out pieces --resume
    cmp -s whole/policy.pessnet pieces/policy.pessnet || fail "killed $landed times, the policy differs"
    cut -d, -f1-4 whole/log.csv >a && cut -d, -f1-4 pieces/log.csv >b && cmp -s a b || fail "the log differs"
    rm -f pieces/*.tmp # what a kill leaves behind of a file being written
}
landed=0
for round in $(seq 1 8); do
    killed_and_resumed "$round"
    [ "$landed" -lt 3 ] || break
done
[ "$landed" -ge 3 ] || fail "only $landed kills landed"

# Ctrl-C saves at once: there is no other checkpoint here.
calm="--network value --frames 48000 --envs 8 --replay 3000 --batch 16 --train-every 16 --warmup 500 --epsilon-frames 8000 --threads 1"
calm="$calm --evaluate-every 3000 --evaluate-episodes 4 --final-episodes 8 --checkpoint-every 1000000 --seed 3"
expect 0 "$PESS" dqn breakout $calm --out calm
begun() { [ "$(wc -l <stopped/log.csv)" -ge 2 ]; } # there is a line below the header
interrupt INT stopped begun "$PESS" dqn breakout $calm --out stopped
same $code 6 "exit code after Ctrl-C"
says "interrupted at frame"
says "kept in stopped"
expect 0 "$PESS" dqn breakout $calm --out stopped --resume --json
[ "$(json resumed_from)" -gt 0 ] || fail "Ctrl-C saved nothing"
cmp -s calm/policy.pessnet stopped/policy.pessnet || fail "interrupted and resumed, the policy differs"

# Other settings are refused, by name.
expect 2 "$PESS" dqn breakout $small --batch 8 --out pieces --resume
says "made with batch=16; this run has batch=8"
expect 2 "$PESS" dqn asterix $small --out pieces --resume
says "game=breakout"
expect 2 "$PESS" dqn breakout $small --out pieces
says "has checkpoints of an earlier run; resume it or name another directory"

# A disk that fills up during a checkpoint (here a limit on the size of a file): the one before stays, and serves.
mkdir full && cp whole/checkpoint-0.pessdqn full/
expect 5 bash -c "ulimit -f 64; trap '' XFSZ; exec \"\$0\" dqn breakout $small --out full --resume" "$PESS"
says "cannot be written"
same "$(cd full && ls -- *.pessdqn *.tmp 2>/dev/null)" checkpoint-0.pessdqn "files after a full disk"
cmp -s full/checkpoint-0.pessdqn whole/checkpoint-0.pessdqn || fail "a full disk damaged the earlier checkpoint"
expect 0 "$PESS" dqn breakout $small --out full --resume
cmp -s full/policy.pessnet whole/policy.pessnet || fail "after a full disk the policy differs"

# Damage.
head -c 1000 whole/checkpoint-0.pessdqn >full/checkpoint-0.pessdqn
head -c 1000 whole/checkpoint-1.pessdqn >full/checkpoint-1.pessdqn
expect 3 "$PESS" dqn breakout $small --out full --resume
says "damaged or truncated"
}

# A forced path: both networks on the portable one, by notes and on resuming; the same bytes again.
tiny="--frames 2000 --envs 8 --replay 1000 --batch 16 --train-every 16 --warmup 200 --epsilon-frames 500 --evaluate-every 1000"
tiny="$tiny --evaluate-episodes 2 --final-episodes 2 --checkpoint-every 1000 --seed 3 --threads 1"
for network in value dqn; do
    # shellcheck disable=SC2086
    {
    expect 0 "$PESS" dqn breakout $tiny --network $network --kernels portable --out "portable-$network"
    expect 0 "$PESS" dqn breakout $tiny --network $network --kernels portable --out "again-$network"
    cmp -s "portable-$network/policy.pessnet" "again-$network/policy.pessnet" || fail "portable $network: not the same bytes"
    expect 0 "$PESS" net info "portable-$network/policy.pessnet" --json
    same "$(json trained.kernels)" portable "path of $network"
    expect 0 "$PESS" dqn breakout $tiny --network $network --out "best-$network"
    expect 0 "$PESS" net info "best-$network/policy.pessnet" --json
    if [ "$(json trained.kernels)" != portable ]; then
        expect 2 "$PESS" dqn breakout $tiny --network $network --out "portable-$network" --resume
        says "made with kernels=portable"
    fi
    }
done
expect 2 "$PESS" dqn breakout --kernels abacus --out x
says "abacus"

# Networks.
expect 0 "$PESS" net info whole/policy.pessnet --json
same "$(json parameters)" 52390 parameters
same "$(json trained.game)" breakout game
same "$(json layers.0.kernel)" 4 kernel
expect 0 "$PESS" net info whole/policy.pessnet
prints "conv  4×4 stride 2"
head -c 5000 whole/policy.pessnet >cut.pessnet
expect 3 "$PESS" net info cut.pessnet
says "damaged or truncated"
expect 3 "$PESS" net info whole/log.csv
says "not a network file"
expect 5 "$PESS" net info nowhere.pessnet
expect 2 "$PESS" net
expect 2 "$PESS" dqn breakout
says "--out"
expect 2 "$PESS" dqn pong --out x
: >plain
expect 5 "$PESS" dqn breakout --out plain
says "plain: is a file; a directory for the results is expected"
expect 2 "$PESS" dqn breakout --huber 0 --out x
says "--huber: found '0', expected a number above 0"
expect 2 "$PESS" dqn breakout --adam-epsilon 0 --out x
says "--adam-epsilon: found '0', expected a number above 0"

# Playing.
expect 0 "$PESS" env evaluate breakout --policy whole/policy.pessnet --episodes 60 --threads 1 --json
one=$(cat out)
same "$(json episodes)" 60 episodes
expect 0 "$PESS" env evaluate breakout --policy whole/policy.pessnet --episodes 60 --threads 3 --json
same "$(cat out)" "$one" "evaluation on three threads"
expect 3 "$PESS" env evaluate asterix --policy whole/policy.pessnet
says "a policy for breakout"
expect 3 "$PESS" play seaquest --policy whole/policy.pessnet --record x.gif
expect 0 "$PESS" play breakout --policy whole/policy.pessnet --record x.gif --steps 20
[ -s x.gif ] || fail "no animation"
expect 2 "$PESS" env evaluate breakout
expect 2 "$PESS" env evaluate breakout --policy random --epsilon 2
finish

# pess collect from outside: data of a game, the same bytes for the same seed, what inspect says of them, and bad input.
. "$(dirname "$0")/lib.sh"
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
player=$source_dir/policies/breakout.pessnet

# A player that explores.
expect 0 "$PESS" collect breakout --policy "$player" --epsilon 0.2 --transitions 5000 --seed 4 -o one.pessdata --json
cp out made
same "$(json transitions)" 5000 transitions
same "$(json game)" breakout game
same "$(json collected.epsilon)" 0.2 epsilon
same "$(json collected.seed)" 4 seed
[ "$(json pairs)" -ge "$(($(json states) / 2))" ] || fail "$(json pairs) pairs of $(json states) states"
[ "$(json episodes)" -ge 10 ] || fail "$(json episodes) episodes"
same "$(($(json terminals) + $(json cutoffs) >= $(json episodes)))" 1 "ends of episodes"
expect 0 "$PESS" net info "$player" --json
checksum=$(json checksum)
expect 0 "$PESS" inspect one.pessdata --json
same "$(json collected.policy)" "$checksum" "checksum of the player"
sed 's/"command": "collect"/"command": "inspect"/' made >told
cmp -s out told || fail "inspect says other things than collect: $(diff out told | head -5)"
cmp -s made told && fail "collect says that inspect printed it"
expect 0 "$PESS" inspect one.pessdata
prints "transitions  5000"
prints "mean return"
prints "policy=$checksum"

# Same seed, same bytes; other seed, other bytes. The file is told by its bytes, whatever its name.
expect 0 "$PESS" collect breakout --policy "$player" --epsilon 0.2 --transitions 5000 --seed 4 --threads 3 -o two.pessdata
prints "two.pessdata: a dataset of breakout"
cmp -s one.pessdata two.pessdata || fail "the same seed gave other bytes"
expect 0 "$PESS" collect breakout --policy "$player" --epsilon 0.2 --transitions 5000 --seed 5 -o two.pessdata
cmp -s one.pessdata two.pessdata && fail "another seed gave the same bytes"
cp one.pessdata plain.dat
expect 0 "$PESS" inspect plain.dat --strict
prints "a dataset of breakout"
"$PESS" collect breakout --policy "$player" --epsilon 0.2 --transitions 5000 --seed 4 -o - 2>err >piped
cmp -s one.pessdata piped || fail "to standard output: other bytes"

# Random play, and the game's settings.
expect 0 "$PESS" collect freeway --policy random --transitions 3000 --sticky 0 --no-ramping --step-limit 50 -o f.pessdata --json
same "$(json collected.policy)" random policy
same "$(json collected.sticky)" 0 sticky
same "$(json collected.ramping)" 0 ramping
same "$(json terminals)" 0 terminals
same "$(json episodes)" 32 "episodes of 50 steps in 32 times 93 or 94" # one whole one each

# With the probabilities of the actions: the same data, the same random player, and 'pess score' goes by them.
expect 0 "$PESS" collect cartpole --policy random --transitions 3000 -o c.pessdata
expect 0 "$PESS" collect cartpole --policy random --transitions 3000 --probabilities -o p.pessdata
expect 0 "$PESS" train p.pessdata -a imitation --protocol smoke --imitation-steps 20 --out of-p
expect 0 "$PESS" score of-p p.pessdata --protocol smoke --networks 1 --updates 2 --steps 2 --json
same "$(json weights)" logged "weights of a dataset with probabilities"
for file in c p; do
    expect 0 "$PESS" inspect $file.pessdata --json
    same "$(json transitions)$(json mean_return)" "${first:=$(json transitions)$(json mean_return)}" "what $file.pessdata has"
done
expect 0 "$PESS" help collect
prints "--epsilon E"

# Bad input: a message with what was found, and nothing is left behind.
expect 5 "$PESS" collect breakout --policy missing.pessnet -o x.pessdata
says "missing.pessnet"
expect 3 "$PESS" collect asterix --policy "$player" -o x.pessdata
says "a policy for breakout; one for asterix is needed"
expect 3 "$PESS" collect breakout --policy one.pessdata -o x.pessdata
says "found a dataset of observations, expected a policy"
expect 2 "$PESS" collect breakout --policy random --epsilon 2 -o x.pessdata
says "--epsilon: found '2', expected a number from 0 to 1"
expect 2 "$PESS" collect breakout --policy random --transitions 0 -o x.pessdata
says "--transitions: found '0', expected a whole number from 1 to"
expect 2 "$PESS" collect breakout --policy random --sticky 2 -o x.pessdata
says "sticky"
expect 2 "$PESS" collect pong --policy random -o x.pessdata
says "no game 'pong'"
expect 2 "$PESS" collect breakout -o x.pessdata
says "--policy"
expect 2 "$PESS" collect breakout --policy random
says "-o FILE"
expect 5 "$PESS" collect breakout --policy random --transitions 100 -o nowhere/x.pessdata
says "nowhere/x.pessdata: cannot be written"
expect 5 bash -c "ulimit -f 4; trap '' XFSZ; exec \"\$0\" collect breakout --policy random --transitions 5000 -o x.pessdata" "$PESS"
[ -e x.pessdata ] && fail "a file after an error"
no_leftovers

for size in 0 4 8 11 50 3000 "$(($(wc -c <one.pessdata) - 1))"; do
    head -c "$size" one.pessdata >cut.pessdata
    expect 3 "$PESS" inspect cut.pessdata
    says "cut.pessdata: "
    says "pess collect"
done
expect 3 "$PESS" solve one.pessdata -o policy.csv
says "found a dataset of observations, expected a log of states"
expect 2 "$PESS" inspect one.pessdata --states 3
expect 5 "$PESS" inspect gone.pessdata

# The reader in docs/formats.md, where numpy is.
python=
for candidate in /usr/bin/python3 python3; do "$candidate" -c 'import numpy' 2>/dev/null && python=$candidate; done
if [ -n "$python" ]; then
    awk '/^```python/ { inside = 1; next } /^```/ { inside = 0 } inside' "$source_dir/docs/formats.md" >reader.py
    [ -s reader.py ] || fail "no reader in docs/formats.md"
    for file in one f; do
        expect 0 "$PESS" inspect "$file.pessdata" --json
        want="$(json game) $(json transitions) $(json states) $(json pairs) $(json terminals) $(json cutoffs)"
        expect 0 "$python" reader.py "$file.pessdata"
        prints "$want "
    done
else
    echo "numpy is not there: the reader in docs/formats.md was not run"
fi
finish

# pess env and pess play, as a person or a script meets them.
. "$(dirname "$0")/lib.sh"

expect 0 "$PESS" env list
for game in asterix breakout freeway seaquest space_invaders; do prints "$game"; done
expect 0 "$PESS" env list --json
row() { echo $(($(grep '"game":' out | grep -n "\"$1\"" | cut -d: -f1) - 1)); } # its place in the list
same "$(json schema "rows.$(row seaquest).channels" "rows.$(row breakout).minimal_actions" | tr '\n' ' ')" "2 10 [0,1,3] " "the list as JSON"
expect 0 "$PESS" help env
expect 0 "$PESS" help env replay
prints "Exit code 0 only if every record"
expect 2 "$PESS" env
expect 2 "$PESS" env jump
says "no command 'jump'"

# Every given trace conforms.
expect 0 "$PESS" env replay "$TEST_DATA"/minatar-traces/*.trace.gz
same "$(grep -c ': conforms$' out)" 20 "conforming traces"
prints "steps checked"
expect 0 "$PESS" env replay --json "$TEST_DATA"/minatar-traces/breakout-random.trace.gz
same "$(json schema game conforms steps | tr '\n' ' ')" "2 breakout true 1500 " "replay as JSON"

# Recording: the same seed gives the same bytes, and what was recorded replays, also from standard input.
expect 0 "$PESS" env record seaquest --steps 700 --seed 4 -o a.trace
expect 0 "$PESS" env record seaquest --steps 700 --seed 4 -o b.trace
cmp -s a.trace b.trace || fail "two recordings of one seed differ"
expect 0 "$PESS" env record seaquest --steps 700 --seed 5 -o b.trace
cmp -s a.trace b.trace && fail "recordings of two seeds are the same"
"$PESS" env replay - <a.trace >out 2>err || fail "replay of standard input"
prints "700 steps checked"
expect 0 "$PESS" env record freeway --steps 50 --seed 101 --generator numpy -o numpy.trace
last_word() { sed -n 2p | tr ' ' '\n' | tail -1; }
same "$(last_word <numpy.trace)" "$(gzip -dc "$TEST_DATA"/minatar-traces/freeway-random.trace.gz | last_word)" \
    "the first board of numpy's seed 101"

# A trace that does not conform: exit 1, the line, both boards.
sed '40s/ 0 0 u/ 1 0 u/' a.trace >wrong.trace
expect 1 "$PESS" env replay wrong.trace
prints "line 40: the reward is 0, the record says 1"
prints "MISMATCH"
prints "Legend:"
expect 1 "$PESS" env replay a.trace wrong.trace
sed '40s/u0\.[0-9]*/u0.5 u0.5/' a.trace >wrong.trace
expect 1 "$PESS" env replay wrong.trace
prints "the record lists 2"
sed '40s/.$/f/' a.trace >wrong.trace
expect 1 "$PESS" env replay wrong.trace
prints "the state differs in"
prints "differs in column"

# Files that are damaged: exit 3 and the place; files that are not there: exit 5.
head -c 20000 a.trace >cut.trace
expect 3 "$PESS" env replay cut.trace
says "cut.trace:"
gzip -c a.trace | head -c 9000 >cut.trace.gz
expect 3 "$PESS" env replay cut.trace.gz
says "ends too early"
gzip -c a.trace >bad.trace.gz
printf 'XXXX' | dd of=bad.trace.gz bs=1 seek=4000 conv=notrunc 2>/dev/null
expect 3 "$PESS" env replay bad.trace.gz
says "bad.trace.gz:"
for change in '1s/game=seaquest/game=pong/' '1s/channels=10/channels=9/' '1s/sticky=0.1/sticky=2/' '1s/ramping=1/ramping=2/' \
    '1d' '2d' '5s/^S/R/' '5s/^S . /S 7 /' '5s/^S \(.\) ./S \1 x/' '5s/u0/u1/' '5s/u0/v0/' '5s/.$//' '5s/.$/g/' '5s/$/ u0.5/' '5s/.*//'; do
    sed "$change" a.trace >bad.trace
    expect 3 "$PESS" env replay bad.trace
    says "bad.trace:"
done
: >empty
expect 3 "$PESS" env replay empty
expect 5 "$PESS" env replay nowhere.trace
expect 2 "$PESS" env replay

# Wrong uses of record; nothing is left behind.
expect 2 "$PESS" env record pong -o x.trace
says "no game 'pong'"
expect 2 "$PESS" env record breakout
says "-o FILE is missing"
expect 2 "$PESS" env record breakout -o x.trace --sticky 2
expect 2 "$PESS" env record breakout -o x.trace --policy net.bin
says "net.bin"
expect 2 "$PESS" env record breakout -o x.trace --generator numpy --seed 4294967296
expect 5 "$PESS" env record breakout -o nowhere/x.trace
[ -e x.trace ] && fail "x.trace was written"

# bench
expect 0 "$PESS" env bench all --envs 8 --steps 4000 --json
same "$(wc -l <out)" "$("$PESS" env list --json | grep -c '"game":')" "JSON lines of the bench"
same "$("$JSON_GET" -l game envs threads <out | head -3 | tr '\n' ' ')" "asterix 8 1 " "the first line"
"$JSON_GET" -l steps_per_second <out | awk '!($1 > 0) { exit 1 }' || fail "steps_per_second"
expect 0 "$PESS" env bench breakout --envs 8 --steps 800 --observation floats
expect 2 "$PESS" env bench pong
expect 2 "$PESS" env bench --envs 0

# play: pictures without a terminal, messages without one.
expect 0 "$PESS" play breakout --record a.gif --steps 20 --seed 1
expect 0 "$PESS" play breakout --record b.gif --steps 20 --seed 1
cmp -s a.gif b.gif || fail "two animations of one seed differ"
same "$(head -c 6 a.gif)" GIF89a "the animation's beginning"
same "$(tail -c 1 a.gif)" ";" "the animation's end"
expect 0 "$PESS" play seaquest --record a.png --steps 30
same "$(head -c 4 a.png | tail -c 3)" PNG "the picture's beginning"
expect 0 "$PESS" play seaquest --record 'f%03d.png' --steps 3 --size 5
same "$(ls f*.png | tr '\n' ' ')" "f000.png f001.png f002.png f003.png " "frames"
expect 2 "$PESS" play breakout
says "not a terminal"
expect 2 "$PESS" play pong --record a.gif
expect 2 "$PESS" play breakout --record a.bmp
says "a.bmp"
expect 2 "$PESS" play breakout --record 'a%s.png'
expect 5 "$PESS" play breakout --policy net.bin --record a.gif
expect 2 "$PESS" play breakout --fps 0
expect 2 "$PESS" play
expect 5 "$PESS" play breakout --record nowhere/a.gif
no_leftovers
finish

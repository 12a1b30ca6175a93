#!/usr/bin/env bash
# What hostile names, dying processes, full disks and shared directories may not do. $FAULTS is preloaded to let single
# calls fail (tests/tools/faults.c).
. "$(dirname "$0")/lib.sh"
export OMP_WAIT_POLICY=passive # the program does not start itself again
esc=$(printf '\033')
faulty() { local fault=$1; shift; env FAULT="$fault" LD_PRELOAD="$FAULTS" "$@"; }
# A sanitizer has an allocator of its own and reserves more addresses than any limit allows.
preloads=no; [ -z "${SANITIZE:-}" ] && preloads=yes
within() { # with one thread, for each reserves addresses: how many processors there are is not what is tried
    export OMP_NUM_THREADS=1
    if [ $preloads = yes ]; then ulimit -v "$1"; fi
    shift
    exec "$@"
}

# --- names from files are shown, not obeyed: ESC, C1 as UTF-8 and as a byte, a character that turns the line around
printf 'state,action,next_state,reward\na\033[2J,x,b\302\2332J,1\nb\302\2332J,y,a\033[2J,0\nc\342\200\256d,x,a\033[2J,0\n' >names.csv
for command in "solve names.csv --gamma 0.9 -o policy.csv" "gaps names.csv --gamma 0.9" "inspect names.csv" \
    "inspect names.csv --json" "gaps names.csv --gamma 0.9 --json"; do
    expect 0 "$PESS" $command
    grep -q "$esc" out err && fail "an escape character reached the terminal: $command"
    LC_ALL=C grep -q $'\302\233' out err && fail "a control character of Latin-1 reached the terminal: $command"
    LC_ALL=C grep -q $'\342\200\256' out err && fail "the direction of writing can be turned: $command"
done
prints '\u001b[2J'
expect 3 "$PESS" evaluate names.csv --gamma 0.9 --policy <(printf 'state,action,probability\nz\033[2J,x,1\n')
says '\u001b[2J'
printf '%s[2J\n' "$esc" >"bad${esc}[2J.csv"
expect 3 "$PESS" solve "bad${esc}[2J.csv"
grep -q "$esc" err && fail "an escape character of a path reached the terminal"
grep -q "$esc" policy.csv || fail "files keep names as they are"

# --- standard output that cannot be written
expect 5 bash -c '"$0" --version >/dev/full' "$PESS"
says "standard output cannot be written"
expect 5 bash -c '"$0" help >/dev/full' "$PESS"
expect 5 bash -c '"$0" list algorithms >/dev/full' "$PESS"
printf 'episode,step,state,action,next_state,reward,terminal\n1,0,a,x,b,0,0\n1,1,b,y,a,1,1\n' >short.csv
expect 1 "$PESS" certify short.csv --gamma 0.9 --reward-range 0,1
expect 5 bash -c '"$0" certify short.csv --gamma 0.9 --reward-range 0,1 >/dev/full' "$PESS" # an answer, too, has to arrive
says "standard output cannot be written"

# --- mode, symbolic links, files that may not be written
expect 0 "$PESS" mdp gridworld -o mdp.csv --start-out start.csv
chmod 600 mdp.csv
expect 0 "$PESS" mdp gridworld --seed 2 -o mdp.csv
same "$(stat -c %a mdp.csv)" 600 "mode of a file that was written again"
mkdir elsewhere && cp mdp.csv elsewhere/real.csv && ln -s elsewhere/real.csv link.csv
expect 0 "$PESS" mdp gridworld --seed 3 -o link.csv
[ -L link.csv ] || fail "a symbolic link was replaced"
cmp -s elsewhere/real.csv mdp.csv && fail "the link was not followed"
ln -s nowhere.csv dangling.csv
expect 5 "$PESS" mdp gridworld -o dangling.csv
unprivileged=(); [ "$(id -u)" -ne 0 ] || unprivileged=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if "${unprivileged[@]}" "$PESS" --version >/dev/null 2>&1; then # where others may run it
    mkdir open && chmod 777 open . && echo precious >open/theirs.csv && chmod 444 open/theirs.csv
    expect 5 "${unprivileged[@]}" "$PESS" mdp gridworld -o open/theirs.csv
    says "Permission denied"
    same "$(cat open/theirs.csv)" precious "a file that may not be written"
fi

# --- temporaries: signals clean up, and a start removes those of the dead
begun() { [ -n "$(ls slow.csv.gz.pess-*.tmp)" ]; }
ended_by() {
    # a shell without job control starts its children with INT ignored, and what is ignored stays so
    interrupt "$1" slow.csv.gz begun python3 -c '
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$PESS" simulate mdp.csv --policy uniform --transitions 2000000 -o slow.csv.gz
    same $code "$((128 + $(kill -l "$1")))" "exit code after $1"
}
for signal in INT TERM HUP; do
    ended_by $signal
    no_leftovers
done
ended_by KILL
[ -n "$(ls slow.csv.gz.pess-*.tmp)" ] || fail "a kill left nothing behind: the test tests nothing"
touch "other.csv.pess-1x-0.tmp" "notes.tmp"
expect 0 "$PESS" mdp gridworld -o again.csv
same "$(ls -- *.tmp | sort | tr '\n' ' ')" "notes.tmp other.csv.pess-1x-0.tmp " "temporaries after the next start"
rm -f ./*.tmp
expect 5 bash -c "ulimit -f 1; exec \"\$0\" mdp gridworld --rows 60 --cols 60 -o large.csv" "$PESS"
says "File too large"
no_leftovers

# --- one run per directory
small="--trials 3000 --seed 1"
expect 0 "$PESS" experiment bandit $small -o whole
python3 -c '
import fcntl, os, subprocess, sys
d = os.open("whole", os.O_RDONLY)
fcntl.flock(d, fcntl.LOCK_EX)
sys.exit(subprocess.call(sys.argv[1:], stdout=open("out", "w"), stderr=open("err", "w")))' \
    "$PESS" experiment bandit $small -o whole --resume
same $? 5 "a second run in a directory"
says "another run is writing into this directory"
python3 -c '
import fcntl, os, subprocess, sys
os.mkdir("taken")
d = os.open("taken", os.O_RDONLY)
fcntl.flock(d, fcntl.LOCK_EX)
sys.exit(subprocess.call(sys.argv[1:], stdout=open("out", "w"), stderr=open("err", "w")))' \
    "$PESS" dqn breakout --frames 100 --out taken
same $? 5 "a second training in a directory"
says "another run is writing into this directory"

# --- a checkpoint that a kill left empty, or with half a header, blocks nobody
expect 0 "$PESS" experiment bandit $small --shard 1/2 -o part
[ -s part/checkpoint.pess ] || fail "there is no checkpoint: $(ls part)"
for bytes in 0 10 30; do
    for resume in "" --resume; do
        rm -rf torn && mkdir torn && head -c $bytes part/checkpoint.pess >torn/checkpoint.pess
        [ $bytes -gt 0 ] && [ -z "$resume" ] && continue # says that --resume goes on
        expect 0 "$PESS" experiment bandit $small -o torn $resume
        cmp -s torn/results.csv whole/results.csv || fail "other results after a torn header of $bytes bytes $resume"
    done
done

tiny="dqn breakout --network dense --frames 200 --envs 4 --replay 200 --batch 8 --warmup 100 --evaluate-every 100
    --evaluate-episodes 1 --final-episodes 1 --checkpoint-every 100 --threads 1"
for resume in "" --resume; do # as a file system may leave them that lost its power
    mkdir -p "empty$resume" && : >"empty$resume/checkpoint-0.pessdqn" && : >"empty$resume/checkpoint-1.pessdqn"
    expect 0 "$PESS" $tiny --out "empty$resume" $resume
done
cmp -s empty/policy.pessnet empty--resume/policy.pessnet || fail "other weights after checkpoints without a byte"

# --- the first bytes are looked at before the rest
expect 3 timeout 60 "$PESS" net info /dev/zero
says "not a network file"
expect 3 timeout 60 "$PESS" inspect /dev/zero
for command in "mdp solve /dev/zero" "act names.csv --policy /dev/zero" "evaluate names.csv --policy /dev/zero" \
    "certify names.csv --start /dev/zero" "plot /dev/zero -o zero.svg"; do # tables, which are read whole
    (within 1000000 timeout 60 "$PESS" $command >out 2>err)
    same $? 3 "exit code of $command"
    says "/dev/zero:1:1: found a NUL byte, expected text"
done
ln -s /dev/zero zero.pessmdp
expect 3 timeout 60 "$PESS" mdp solve zero.pessmdp
says "not a decision process"
ln -s /dev/zero zero.npz
printf 'f,g,action,reward,terminal\n1,2,0,1,0\n2,1,1,0,1\n' >seen.csv
expect 0 "$PESS" train seen.csv --features f,g -a naive --protocol smoke --updates 1 --steps 2 --score-episodes 0 --out seen
expect 3 timeout 60 "$PESS" act zero.npz --policy seen/policy.pessnet
says "is no .npz file"
for command in "mdp solve /dev/stdin" "act names.csv --policy /dev/stdin" "plot /dev/stdin -o zero.svg"; do # one endless line
    (tr '\0' a </dev/zero | within 1000000 timeout 60 "$PESS" $command >out 2>err)
    same $? 3 "exit code of $command"
    says "found a line of more than 16777216 bytes, expected a shorter one"
done
(tr '\0' a </dev/zero | within 1000000 timeout 60 "$PESS" inspect - >out 2>err)
says "found no header that ends within"
truncate -s 3G sparse.pessdata
(within 2000000 "$PESS" inspect sparse.pessdata >out 2>err)
same $? 3 "exit code of a file of zeros"
rm sparse.pessdata

# --- memory in proportion: a large id costs what its row costs, and a limit is checked before memory is taken
printf 'state,action,next_state,reward\n0,0,1,1\n100000000,0,0,1\n' >sparse.csv
(within 1000000 "$PESS" solve sparse.csv --gamma 0.9 --threads 1 -o sparse-policy.csv >out 2>err)
same $? 0 "exit code with one large id"
same "$(tail -1 sparse-policy.csv)" "100000000,0,1" "the id in the policy"
printf 'state\n100000000\n4000\n' >sparse-rows.csv
printf 'state,action,probability\n%s\n100000000,60000,1\n' "$(seq -f '%.0f,0,1' 0 2999)" >far-policy.csv
for policy in sparse-policy.csv far-policy.csv; do # of a state, and of an action, with a large number
    (within 1000000 "$PESS" act sparse-rows.csv --policy $policy --log sparse.csv >out 2>err)
    same $? 0 "exit code of act with $policy"
    same "$(cut -d, -f1-4 out | tr '\n' ' ')" \
        "row,state,action,probability 1,100000000,$(tail -1 $policy | cut -d, -f2),1 2,4000,, " "answers of $policy"
done
expect 4 "$PESS" solve sparse.csv --gamma 0.9 --states 100000001 --max-memory 300M -o no.csv
says "more than the limit of 300 MB"
says "Try --max-memory"
[ -e no.csv ] && fail "a policy beyond the limit"
expect 2 "$PESS" solve sparse.csv --max-memory plenty
says "--max-memory: found 'plenty'"
expect 0 "$PESS" --max-memory=1G list algorithms

# --- a database computes what it says: a value of 800 MB from 8 kB
if ldconfig -p 2>/dev/null | grep -q libsqlite3.so.0 && python3 -c 'import sqlite3' 2>/dev/null; then
    python3 -c '
import sqlite3
c = sqlite3.connect("large.db")
c.execute("CREATE TABLE log (state, action, reward, next_state)")
c.execute("INSERT INTO log VALUES (0, 0, 1, 1)")
c.execute("CREATE VIEW seen AS SELECT *, hex(zeroblob(400000000)) AS note FROM log")
c.commit()'
    expect 0 "$PESS" inspect large.db --table log
    (within 1000000 "$PESS" inspect large.db --table seen >out 2>err)
    same $? 3 "exit code of a value of 800 MB"
    says "SQLite says: string or blob too big"
fi

# --- names that spreadsheets run
printf 'state,action,next_state,reward\n=cmd(),-1,-1.5e3,1\n' >formula.csv
expect 0 "$PESS" inspect formula.csv
prints "Names that a spreadsheet runs as a formula: 1 (first: '=cmd()')"

# --- figures: a manifest that cannot be read, no font
if [ -n "${FIGURES:-}" ] && [ "$FIGURES" != 0 ]; then
    cp -r whole labels && echo '{' >labels/manifest.json
    expect 3 "$PESS" plot labels -o figure.svg
    says "manifest.json"
    rm labels/manifest.json
    expect 0 "$PESS" plot labels -o figure.svg
    echo '<?xml version="1.0"?><fontconfig><dir>/nowhere</dir></fontconfig>' >fonts.conf
    expect 5 env FONTCONFIG_FILE="$PWD/fonts.conf" "$PESS" plot labels -o bare.svg
    says "figures need a font"
    expect 0 env FONTCONFIG_FILE="$PWD/fonts.conf" "$PESS" experiment bandit $small -o fontless # hours are not thrown away
    says "note: no figures were written: figures need a font"
    [ ! -e fontless/figure.svg ] || fail "a figure without letters"
    grep -q "There are no figure files: figures need a font" fontless/index.html || fail "the page does not say why"
fi

# --- with single calls that fail
if [ $preloads = yes ]; then
    cp -r part eio
    size=$(stat -c %s eio/checkpoint.pess)
    expect 5 faulty "eio:eio/checkpoint.pess" "$PESS" experiment bandit $small --shard 1/2 -o eio --resume
    says "cannot be read"
    same "$(stat -c %s eio/checkpoint.pess)" "$size" "finished trials after a read error"
    for file in empty/checkpoint-0.pessdqn empty/checkpoint-1.pessdqn; do # no reason to fall back to the other one
        before=$(cksum <"$file")
        expect 5 faulty "eio:$file" "$PESS" $tiny --out empty --resume
        says "cannot be read"
        same "$(cksum <"$file")" "$before" "a checkpoint after a read error"
    done
    expect 0 faulty threads "$PESS" simulate mdp.csv --policy uniform --transitions 500 --threads 4 -o one.csv
    expect 4 faulty threads "$PESS" experiment bandit $small --threads 4 -o threadless
    says "no thread can be started"
    expect 0 "$PESS" simulate mdp.csv --policy uniform --transitions 500 --threads 4 -o four.csv
    cmp -s one.csv four.csv || fail "other bytes where no thread can be made"
fi
finish

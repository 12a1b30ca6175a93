# Sourced by the command-line tests. $PESS is the program, $JSON_GET the member printer, $TEST_DATA the data folder.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() { echo "FAILED: $*" >&2; failures=$((failures + 1)); }
finish() { [ "$failures" -eq 0 ] || { echo "$failures failures" >&2; exit 1; }; exit 0; }

# expect CODE command…: runs it, output to ./out and ./err, checks the exit code.
expect() {
    local want=$1; shift
    "$@" >out 2>err </dev/null
    local got=$?
    [ "$got" -eq "$want" ] || fail "exit $got instead of $want: $* ($(head -c 300 err))"
}
# says TEXT: ./err contains the text.
says() { grep -qF -- "$1" err || fail "message lacks '$1': $(head -c 400 err)"; }
prints() { grep -qF -- "$1" out || fail "output lacks '$1': $(head -c 400 out)"; }
json() { "$JSON_GET" "$@" <out || fail "no $* in $(head -c 300 out)"; }
same() { [ "$1" = "$2" ] || fail "$3: '$1' is not '$2'"; }
# near A B TOLERANCE WHAT
near() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; exit !(d <= t && -d <= t) }' || fail "$4: $1 is not within $3 of $2"; }
# interrupt SIGNAL OUTPUT READY COMMAND…: sends the command, which writes OUTPUT, the signal as soon as READY succeeds. Where
# the machine was so fast, or so busy, that the command had ended before, all of it again. Its exit code is in $code.
interrupt() {
    for _ in $(seq 20); do
        rm -rf "${2:?}"
        "${@:4}" >out 2>err </dev/null &
        local program=$!
        while kill -0 $program 2>/dev/null && ! "$3" 2>/dev/null; do sleep 0.02; done
        kill -s "$1" $program 2>/dev/null
        wait $program 2>/dev/null
        code=$?
        [ $code -eq 0 ] || return 0
    done
    fail "twenty times the end came before SIG$1: ${*:4}"
}
no_leftovers() { [ -z "$(find . -name '*.tmp')" ] || fail "temporary files left: $(find . -name '*.tmp')"; }

# What helps: suggestions, versions, man pages, completions, --quiet, errors as JSON, one spelling of -o.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)

expect 2 "$PESS" slove
says "did you mean 'pess solve'?"
expect 2 "$PESS" mdp gridwrld
says "did you mean 'pess mdp gridworld'?"
expect 2 "$PESS" help halp
says "did you mean 'pess help'?"
expect 2 "$PESS" qqqqqq
says "'pess help' lists the commands"
expect 2 "$PESS" inspect log.csv --jsno
says "did you mean --json?"
expect 2 "$PESS" inspect log.csv --frob
! grep -q "did you mean" err || fail "a name that is like none is taken for another: $(cat err)"
expect 0 "$PESS" help help
prints "Usage: pess COMMAND"

# the version is stated once, in the header
version=$(sed -n 's/^#define PESS_VERSION "\(.*\)"/\1/p' "$root/include/pess/base.h")
for option in -V --version; do
    expect 0 "$PESS" $option
    prints "pess $version"
done
[ ! -e "$root/.git" ] || ! command -v git >/dev/null || grep -q '(.*)' out || fail "no commit in: $(cat out)"
grep -qx "version: $version" "$root/CITATION.cff" || fail "CITATION.cff states another version than $version"
grep -q "^## $version" "$root/CHANGELOG.md" || fail "CHANGELOG.md has no section $version"

# errors as JSON too
expect 5 "$PESS" solve nosuch.csv --json
same "$(json schema command error.status error.exit_code | tr '\n' ' ')" "2 solve IO 5 " "an error as JSON"
says "nosuch.csv: cannot be read"
expect 2 "$PESS" solve --nonsense --json
same "$(json error.status)" ARGUMENT "a wrong use as JSON"
expect 0 "$PESS" inspect "$root/examples/visits.csv" --json
same "$(json schema command | tr '\n' ' ')" "2 inspect " "a result as JSON"

# -o, --out; --output is understood
for option in -o --out --output; do
    expect 0 "$PESS" solve "$root/examples/visits.csv" --gamma 0.9 $option policy.csv --quiet
    [ -s policy.csv ] || fail "$option wrote nothing"
    [ ! -s out ] || fail "--quiet printed: $(head -c 200 out)"
    rm -f policy.csv
done
expect 0 "$PESS" mdp bandit -o - --quiet
[ -s out ] || fail "--quiet took the result itself from standard output"

# man pages and completions come from the tables of options
expect 0 "$PESS" help --man man
[ -s man/pess-mdp-gridworld.1 ] || fail "no page of mdp gridworld"
grep -q 'absorbed\\-alpha' man/pess-solve.1 || fail "the page of solve lacks an option"
if command -v groff >/dev/null; then
    for page in man/*.1; do
        warnings=$(groff -man -Tutf8 -Kutf8 -ww -z "$page" 2>&1) || true
        [ -z "$warnings" ] || fail "$page: $warnings"
    done
fi
expect 0 "$PESS" help solve; prints "(from 0 to 1; default 0.99)"; prints "(above 0 and below 1; default 0.05)"
"$PESS" help --completion bash >completion.bash
completed() { # WORD...: what bash offers for the last one
    bash -c '. ./completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pess; echo "${COMPREPLY[*]}"' bash "$@"
}
same "$(completed pess so)" "solve" "pess so<TAB>"
same "$(completed pess solve --alg)" "--algorithm" "pess solve --alg<TAB>"
same "$(completed pess mdp grid)" "gridworld" "pess mdp grid<TAB>"
same "$(completed pess solve --clip o)" "on off" "pess solve --clip o<TAB>"
same "$(completed pess solve log.csv -a rob)" "robust" "the name of an algorithm"
same "$(completed pess solve log.csv -a au)" "auto" "the algorithm that is chosen"
same "$(completed pess train data --network nat)" "nature" "the name of a network"
same "$(completed pess dqn breakout --network d)" "dqn dense" "the names of networks"
same "$(completed pess certify log.csv -u good)" "good-turing" "the name of an uncertainty"
same "$(completed pess train data -a edac)" "edac" "the name of a learner"
same "$(completed pess play fr)" "freeway" "the name of a game"
same "$(completed pess env bench al)" "all" "what an argument can be beside a game"
same "$(completed pess experiment gridworld-d)" "gridworld-data" "the name of an experiment"
same "$(completed pess choose log.csv --families ua,soft)" "ua,soft-spibb" "the end of a list"
same "$(completed pess help cert)" "certify" "the help of a command"
same "$(completed pess solve vis)" "" "a file, which is bash's to complete"
expect 2 "$PESS" help --completion tcsh
says "expected bash, zsh or fish"
for shell in zsh fish; do
    "$PESS" help --completion $shell >completion.$shell
    grep -q gridworld completion.$shell || fail "the completion of $shell lacks a command"
done
# what these two make of a line where TAB is pressed at its end
cat >lines <<'END'
pess so
pess solve --alg
pess mdp grid
pess solve --clip of
pess solve log.csv -a rob
pess train data --network nat
pess certify log.csv -u good
pess play fr
pess env bench al
pess experiment gridworld-d
pess choose log.csv --families ua,soft
pess help cert
END
cat >completed <<'END'
pess solve
pess solve --algorithm
pess mdp gridworld
pess solve --clip off
pess solve log.csv -a robust
pess train data --network nature
pess certify log.csv -u good-turing
pess play freeway
pess env bench all
pess experiment gridworld-data
pess choose log.csv --families ua,soft-spibb
pess help certify
END
if command -v fish >/dev/null; then
    fish -n completion.fish || fail "fish cannot read its completion"
    while read -r line; do
        echo "${line% *} $(HOME=$PWD fish -c 'source completion.fish; complete -C "$argv[1]"' "$line" | cut -f1)"
    done <lines >completed.fish
    same "$(cat completed.fish)" "$(cat completed)" "what fish completes"
fi
if command -v zsh >/dev/null; then
    zsh -n completion.zsh || fail "zsh cannot read its completion"
    mkdir zsh && cp completion.zsh zsh/_pess
    same "$(timeout 60 zsh "$root/tests/cli/completed.zsh" "$PWD/zsh" <lines | sed 's/ *$//')" "$(cat completed)" "what zsh completes"
fi
for shell in zsh fish; do
    for name in good-turing edac minatar-data space_invaders protocols; do
        grep -q -- "$name" completion.$shell || fail "the completion of $shell lacks the name $name"
    done
done
finish

# The page in a real browser: no errors, hover, keys, switches and themes work, and nothing sticks out on a phone.
. "$(dirname "$0")/lib.sh"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$browser" ]; then
    echo "SKIPPED: no chromium here; the page was not tested in a browser" >&2
    exit 77
fi

# dump PAGE#HASH WIDTH: the document after its script has run, to ./dom; console messages to ./console
dump() {
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --user-data-dir="$(mktemp -d -p .)" --enable-logging=stderr --v=0 \
        --hide-scrollbars --window-size="$2,900" --virtual-time-budget=3000 --dump-dom "file://$PWD/$1" >dom 2>console
    grep -q 'CONSOLE' console && fail "console of $1: $(grep CONSOLE console | head -3)"
    sed -n 's/.*<pre id="selftest">\(.*\)<\/pre>.*/\1/p' dom | sed 's/&amp;/\&/g; s/&lt;/</g; s/&gt;/>/g' >out
    [ -s out ] || fail "$1 at $2: the page's own test did not run"
}

expect 0 "$PESS" experiment gridworld-data --trials 40 --points 8 --out page
expect 0 "$PESS" experiment bandit --trials 500 --algorithms naive,ua:count --out dots
expect 0 "$PESS" experiment gridworld-alpha --trials 8 --points 5 --out panels
expect 0 "$PESS" experiment minatar-exploration --games breakout,asterix,freeway --epsilons 0.5,1 --transitions 300 \
    --algorithms naive,proximal --trials 1 --protocol smoke --out games
for width in 1200 500; do
    for theme in light dark; do
        dump "page/index.html#selftest,$theme" $width
        same "$(json curves)" 6 "curves drawn"
        same "$(json switchedOff switchedOn hoverEnds tipInside themeChanges fits | tr '\n' ' ')" \
            "true true true true true true " "switches, hover, theme, width ($width, $theme)"
        same "$(json errors)" "[]" "errors of the script"
        mean=$(awk -F, '$1 == "ua" { m = $4 } END { printf "%.2f", m }' page/results.csv)
        json hover | grep -qF "Uncertainty-aware: $mean" || fail "hover at the right end shows $(json hover), expected $mean"
        json keys | grep -q "x = " || fail "arrow keys show $(json keys)"
    done
    dump "dots/index.html#selftest" $width
    same "$(json switchedOff switchedOn fits errors | tr '\n' ' ')" "true true true [] " "dots ($width)"
    dump "panels/index.html#selftest" $width
    same "$(json curves)" 54 "curves in nine panels"
    same "$(json switchedOff switchedOn hoverEnds fits errors | tr '\n' ' ')" "true true true true [] " "panels ($width)"
    dump "games/index.html#selftest" $width
    same "$(json curves second | tr '\n' ' ')" "12 12 " "curves of games, and what they predict"
    same "$(json switchedOff switchedOn hoverEnds tipInside fits errors | tr '\n' ' ')" "true true true true true [] " "games ($width)"
    json hover | grep -qF "Data policy: " || fail "hover over a game shows $(json hover)"
done
# The tables are there without a script
grep -q '<td>200000</td>' page/index.html || fail "no table in the page"
grep -qF 'pess experiment gridworld-data --trials 40' page/index.html || fail "no command in the page"
grep -q '<h2>Averages' games/index.html || fail "no averages in the page"
grep -q 'What was expected' games/index.html || fail "no claims in the page"
grep -q '<td>0.5</td>' games/index.html || fail "no table in the page of games"
grep -qE 'src="http|href="http|url\(' page/index.html && fail "the page needs something from outside"
finish

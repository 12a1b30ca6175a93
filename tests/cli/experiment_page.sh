# The page in a real browser: no errors, hover, keys, switches and themes work, and nothing sticks out on a phone.
. "$(dirname "$0")/lib.sh"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$browser" ]; then
    echo "SKIPPED: no chromium here; the page was not tested in a browser" >&2
    exit 77
fi

# dump FILE[#HASH] WIDTH [OPTION...]: the document after its script has run, to ./dom; what the console says is a failure.
dump() {
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --user-data-dir="$(mktemp -d -p .)" --enable-logging=stderr --v=0 \
        --hide-scrollbars --window-size="$2,900" --virtual-time-budget=3000 --dump-dom "${@:3}" "file://$PWD/$1" >dom 2>console
    grep -q 'CONSOLE' console && fail "console of $1: $(grep CONSOLE console | head -3)"
}
# All pages in frames of one document, so that the browser is started once: frame NAME WIDTH adds one, tested NAME WIDTH is
# what the page's own test found in it, to ./out.
frame() { echo "<iframe title='$1 $2' width=$2 height=900 src='$1'></iframe>" >>frames.html; }
tested() {
    sed -n "s|.*<pre title=\"$1 $2\">\([^<]*\)<.*|\1|p" dom | sed 's/&amp;/\&/g; s/&lt;/</g; s/&gt;/>/g' >out
    [ -s out ] || fail "$1 at $2: the page's own test did not run"
}

expect 0 "$PESS" experiment gridworld-data --trials 40 --points 8 --out page
expect 0 "$PESS" experiment bandit --trials 500 --algorithms naive,ua:count --out dots
expect 0 "$PESS" experiment gridworld-alpha --trials 8 --points 5 --out panels
expect 0 "$PESS" experiment minatar-exploration --games breakout,asterix,seaquest --epsilons 0.5,1 --transitions 300 \
    --algorithms naive,proximal --trials 1 --protocol smoke --out games
for width in 1200 500; do
    for page in page/index.html#selftest,{light,dark} {dots,panels,games}/index.html#selftest; do frame "$page" $width; done
done
cat >>frames.html <<'END'
<script>
addEventListener("load", () => {
  for (const frame of document.querySelectorAll("iframe")) {
    const found = document.createElement("pre"), test = frame.contentDocument.getElementById("selftest");
    found.title = frame.title;
    found.textContent = test ? test.textContent : "";
    document.body.append(found, "\n");
  }
});
</script>
END
dump frames.html 1300 --disable-web-security --allow-file-access-from-files # frames of files may be looked into
for width in 1200 500; do
    for theme in light dark; do
        tested "page/index.html#selftest,$theme" $width
        same "$(json curves)" 6 "curves drawn"
        same "$(json switchedOff switchedOn hoverEnds tipInside themeChanges fits | tr '\n' ' ')" \
            "true true true true true true " "switches, hover, theme, width ($width, $theme)"
        same "$(json errors)" "[]" "errors of the script"
        mean=$(awk -F, '$1 == "ua" { m = $4 } END { printf "%.2f", m }' page/results.csv)
        json hover | grep -qF "Uncertainty-aware: $mean" || fail "hover at the right end shows $(json hover), expected $mean"
        json keys | grep -q "x = " || fail "arrow keys show $(json keys)"
    done
    tested "dots/index.html#selftest" $width
    same "$(json switchedOff switchedOn fits errors | tr '\n' ' ')" "true true true [] " "dots ($width)"
    tested "panels/index.html#selftest" $width
    same "$(json curves)" 54 "curves in nine panels"
    same "$(json switchedOff switchedOn hoverEnds fits errors | tr '\n' ' ')" "true true true true [] " "panels ($width)"
    tested "games/index.html#selftest" $width
    same "$(json curves second | tr '\n' ' ')" "12 12 " "curves of games, and what they predict"
    same "$(json switchedOff switchedOn hoverEnds tipInside fits errors | tr '\n' ' ')" "true true true true true [] " "games ($width)"
    json hover | grep -qF "Data policy: " || fail "hover over a game shows $(json hover)"
done
# And as a visitor opens it, with the browser's rules as they are.
dump "page/index.html#selftest" 500
sed -i 's/<pre id="selftest">/<pre title="alone 500">/' dom
tested alone 500
same "$(json curves switchedOff switchedOn hoverEnds tipInside themeChanges fits errors | tr '\n' ' ')" \
    "6 true true true true true true [] " "a page of its own"
# The tables are there without a script
grep -q '<td>200000</td>' page/index.html || fail "no table in the page"
grep -qF 'pess experiment gridworld-data --trials 40' page/index.html || fail "no command in the page"
grep -q '<h2>Averages' games/index.html || fail "no averages in the page"
grep -q 'What was expected' games/index.html || fail "no claims in the page"
grep -q '<td>0.5</td>' games/index.html || fail "no table in the page of games"
grep -qE 'src="http|href="http|url\(' page/index.html && fail "the page needs something from outside"
finish

# Every "$ pess …" block of the README prints what it shows there; times, iterations and rounding errors aside.
. "$(dirname "$0")/lib.sh"
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p bin && ln -s "$PESS" bin/pess && export PATH=$work/bin:$PATH
without_times() { sed -E 's/, [0-9.e+-]+ s$//; s/residual [0-9.e+-]+//; s/after [0-9]+ iterations?/after some iterations/'; }
awk -v dir="$work" '/^```/ { inside = !inside; if (inside) { file = "" } next }
    inside && /^\$ pess / { n++; file = dir "/block" n; print substr($0, 3) >(file ".command"); next }
    inside && file != "" { print >(file ".shown") }' "$source_dir/README.md"
cd "$source_dir" || exit 1
blocks=0
for command in "$work"/block*.command; do
    blocks=$((blocks + 1))
    bash "$command" 2>&1 | without_times >"$work/printed"
    without_times <"${command%.command}.shown" | diff - "$work/printed" >"$work/difference" ||
        fail "README: $(cat "$command"): $(head -6 "$work/difference")"
done
[ "$blocks" -ge 3 ] || fail "only $blocks blocks found"
cd "$work" || exit 1
finish

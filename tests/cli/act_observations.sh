# pess act with a policy of networks: rows of a table and rows of arrays have the same answers, whatever the form; rows
# that it cannot see are refused by their place.
. "$(dirname "$0")/lib.sh"
expect 0 "$PESS" collect cartpole --policy random --transitions 60 --seed 1 -o cart.npz
smoke="--protocol smoke --updates 1 --steps 2 --score-episodes 0 --threads 1"
# shellcheck disable=SC2086
expect 0 "$PESS" train cart.npz -a proximal --game cartpole $smoke --imitation-steps 10 --out proximal
policy=proximal/policy.pesspolicy

# the same observations as text and as arrays; arrays of another width, of texts, of something else
python3 - <<'EOF'
import struct
import zipfile


def save(path, name, kind, shape, values):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name + ".npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + values)


with zipfile.ZipFile("cart.npz") as archive:
    array = archive.read("observations.npy")
values = array[10 + struct.unpack("<H", array[8:10])[0]:]
count = len(values) // 16
numbers = struct.unpack(f"<{4 * count}f", values)
save("rows.npz", "observations", "<f4", (count, 4), values)
save("narrow.npz", "observations", "<f4", (count, 3), values[:12 * count])
save("texts.npz", "observations", "|S1", (1, 4), b"abcd")
save("others.npz", "rewards", "<f4", (4 * count,), values)
with open("rows.csv", "w", encoding="ascii") as file:
    file.write("x,v,angle,w\n")
    for i in range(count):
        file.write(",".join(map(repr, numbers[4 * i:4 * i + 4])) + "\n")
EOF
for form in "" "--probabilities" "--json" "--json --probabilities" "--choice draw --seed 4"; do
    # shellcheck disable=SC2086
    expect 0 "$PESS" act rows.csv --policy $policy $form
    mv out table
    # shellcheck disable=SC2086
    expect 0 "$PESS" act rows.npz --policy $policy $form
    cmp -s out table || fail "arrays and a table have other answers ($form)"
    same "$(grep -c . table)" "$(($(grep -c . rows.csv) - $([ "${form#--json}" = "$form" ] && echo 0 || echo 1)))" "answers $form"
done
expect 0 "$PESS" act rows.csv --policy $policy --outside-limit 0.001
same "$(awk -F, 'NR > 1 && $5 == "policy"' out | grep -c .)" 0 "rows inside a limit of nearly 0"

refused() { # refused TEXT ROWS
    expect 3 "$PESS" act "$2" --policy $policy -o answers.csv
    says "$1"
    [ ! -e answers.csv ] || fail "answers after: $1"
}
refused "found no array 'observations'" others.npz
refused "text" texts.npz
refused "3 numbers in a row of 'observations'" narrow.npz
printf 'x,v,angle\n0,0,0\n' >narrow.csv
refused "3 columns" narrow.csv
printf 'x,v,angle,w\n0,0,0,0\n0,0,0,fast\n' >text.csv
refused "expected a number" text.csv
printf 'x,v,angle,w\n0,0,0,0\n0,1e300,0,0\n' >large.csv
refused "row 2, number 2: found 1e+300, expected a finite number" large.csv

# a network that needs another one for its rule; bits that are no bits
expect 2 "$PESS" act rows.csv --policy proximal/policy.pessnet
says "needs more than this network"
bits=$TEST_DATA/../../policies/breakout.pessnet
awk 'BEGIN { for (i = 0; i < 400; i++) printf "c%d%s", i, i < 399 ? "," : "\n"
             for (r = 0; r < 2; r++) for (i = 0; i < 400; i++) printf "%s%s", r == 1 && i == 7 ? "0.5" : (i % 3 == 0), i < 399 ? "," : "\n" }' >bits.csv
expect 3 "$PESS" act bits.csv --policy "$bits"
says "row 2, number 8: found 0.5, expected 0 or 1"
sed -i 's/0\.5/1/' bits.csv
expect 0 "$PESS" act bits.csv --policy "$bits"
same "$(grep -c . out)" 3 "answers to two boards"

finish

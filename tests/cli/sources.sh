# Logs from other programs: what DuckDB, SQLite and zstd wrote is the log that the CSV holds, or it is refused with a
# sentence that says why. tests/data/sources/make.py wrote the files.
. "$(dirname "$0")/lib.sh"
data=$TEST_DATA/sources
visits=$TEST_DATA/../../examples/visits.csv

# holds CSV LOG [options]: the log reads as the CSV does.
holds() {
    local csv=$1; shift
    expect 0 "$PESS" convert "$@" -o back.csv
    cmp -s back.csv "$csv" || fail "$* is not $csv: $(diff back.csv "$csv" | head -3)"
}
refuses() { expect "$1" "$PESS" inspect "${@:3}"; says "$2"; }

# zstd, also of several frames and of JSON lines
if command -v zstd >/dev/null; then
    zstd -q "$visits" -o visits.csv.zst
    holds "$visits" visits.csv.zst
    { head -n 100 "$visits" | zstd -q; tail -n +101 "$visits" | zstd -q; } >frames.zst
    holds "$visits" frames.zst
    cat frames.zst | "$PESS" convert - -o back.csv && cmp -s back.csv "$visits" || fail "zstd through a pipe"
    head -c 900 visits.csv.zst >cut.zst
    refuses 3 "cut.zst: the zstd data end early" cut.zst
    { cat visits.csv.zst; echo garbage; } >damaged.zst
    refuses 3 "damaged.zst: the zstd data are damaged" damaged.zst
    awk -F, 'NR > 1 { printf "{\"state\": \"%s\", \"action\": \"%s\", \"reward\": %s, \"next_state\": \"%s\"}\n", $3, $4, $5, $6 }' "$visits" |
        zstd -q >visits.jsonl.zst
    cut -d, -f3-6 "$visits" >four.csv
    holds four.csv visits.jsonl.zst
fi

# SQLite
if ldconfig -p 2>/dev/null | grep -q libsqlite3.so.0; then
    holds "$visits" "$data/visits.db"
    holds "$visits" "$data/visits.db" --table visits
    grep -e ^episode -e ^p1001 "$visits" | cut -d, -f1-7 >one.csv # nothing is cut off in it
    holds one.csv "$data/visits.db" --sql "SELECT * FROM visits WHERE episode = 'p1001' ORDER BY step;"
    expect 0 "$PESS" inspect "$data/tables.db" --table 'the "log"'
    refuses 3 "found 3 tables (damaged, people, the \"log\"), expected one" "$data/tables.db"
    says "Try --table damaged."
    refuses 3 "row 1, column 'state': found bytes (a BLOB)" "$data/tables.db" --table damaged
    refuses 3 "no column 'state' among 'name', 'age'" "$data/tables.db" --table people
    refuses 3 "SQLite says: no such table: nobody" "$data/tables.db" --table nobody
    refuses 3 "SQLite says: no such column: patient" "$data/visits.db" --sql "SELECT patient FROM visits"
    refuses 3 "expected a query that is one SELECT" "$data/visits.db" --sql "DELETE FROM visits"
    refuses 3 "expected a query that is one SELECT" "$data/visits.db" --sql "SELECT 1; SELECT 2"
    refuses 3 "found no transitions" "$data/visits.db" --sql "SELECT * FROM visits WHERE step > 1000"
    refuses 2 "found both a query and a table" "$data/visits.db" --sql "SELECT 1" --table visits
    head -c 20000 "$data/visits.db" >cut.db
    refuses 3 "cut.db: SQLite says" cut.db
    cat "$data/visits.db" | "$PESS" inspect - >out 2>err && fail "a database through a pipe"
    says "expected the path of one: save it first"
    if command -v sqlite3 >/dev/null; then
        cp "$data/visits.db" locked.db
        mkfifo lock
        sqlite3 locked.db <lock >/dev/null &
        exec 3>lock
        echo "BEGIN EXCLUSIVE; CREATE TABLE held (x); SELECT 1;" >&3
        until [ -e locked.db-journal ]; do sleep 0.1; done
        refuses 5 "locked.db: another program has locked the database" locked.db
        exec 3>&-
        wait
        holds "$visits" locked.db
    fi
fi
refuses 2 "a table is named, but this is csv, no database" "$visits" --table visits

# DuckDB, where it is (make duckdb)
there=0
"$PESS" inspect --sql "SELECT 1 AS state" >out 2>err || there=$?
if [ "$there" -ne 5 ]; then
    { [ "$there" -eq 3 ] && grep -qF "the query: found no column 'action'" err; } || fail "a query without actions: exit $there ($(cat err))"
    holds "$visits" "$data/visits.parquet"
    holds "$visits" "$data/types.parquet"
    holds "$visits" "$data/vis*.parquet"
    grep -e ^episode -e ^p1001 "$visits" | cut -d, -f1-7 >one.csv # nothing is cut off in it
    holds one.csv "$data/visits.parquet" --sql "SELECT * FROM log WHERE episode = 'p1001'"
    holds one.csv --sql "SELECT * FROM '$data/types.parquet' WHERE episode = 'p1001' -- the first"
    holds one.csv "$visits" --sql "FROM log WHERE episode = 'p1001'"
    for n in 1 2; do # 200,000 rows keep their order whatever the threads
        holds_many=$("$PESS" convert --sql "SELECT i // 10 AS episode, i % 10 AS step, i % 7 AS state, i % 3 AS action, i * 0.5 AS reward,
            (i + 1) % 7 AS next_state FROM range(200000) r(i)" --threads $n -o many$n.csv 2>&1) || fail "$holds_many"
    done
    awk 'BEGIN { print "episode,step,state,action,reward,next_state"
        for (i = 0; i < 200000; i++) printf "%d,%d,%d,%d,%.1f,%d\n", i / 10, i % 10, i % 7, i % 3, i * 0.5, (i + 1) % 7 }' |
        sed 's/\.0,/,/' >many.csv
    cmp -s many.csv many1.csv || fail "200,000 rows through DuckDB"
    cmp -s many.csv many2.csv || fail "200,000 rows through DuckDB with two threads"
    refuses 3 "found no value for 'reward' in" "$data/nulls.parquet"
    refuses 3 "row 1, column 'state': found a list" "$data/lists.parquet"
    refuses 3 "the query: DuckDB says: Parser Error" --sql "SELEC 1"
    refuses 3 "DuckDB says: Catalog Error" --sql "SELECT * FROM nobody"
    refuses 3 "DuckDB says: Conversion Error" --sql "SELECT 'x'::INTEGER AS state"
    refuses 3 "expected a query that is one SELECT" --sql "COPY (SELECT 1) TO 'written.csv'"
    [ ! -e written.csv ] || fail "a query wrote a file"
    refuses 3 "found the column 'state' twice" --sql "SELECT 1 AS state, 2 AS state"
    head -c 2000 "$data/visits.parquet" >cut.parquet
    refuses 3 "cut.parquet: DuckDB says" cut.parquet
    expect 0 "$PESS" solve --sql "SELECT * FROM '$data/visits.parquet'"
    prints "Log        the query: "
    # counts that DuckDB made are a counted log
    expect 0 "$PESS" solve --sql "SELECT state, action, next_state, terminal, count(*) AS count, sum(reward) AS reward_sum,
        sum(reward * reward) AS reward_square_sum, min(reward) AS reward_min, max(reward) AS reward_max
        FROM '$data/visits.parquet' GROUP BY ALL" --start uniform --json
    counted=$(json value)
    expect 0 "$PESS" solve "$visits" --start uniform --json
    near "$(json value)" "$counted" 1e-9 "counts that DuckDB made"
else
    echo "DuckDB is not there (make duckdb): Parquet was not read"
fi
# Measurements and rows to act on come from the same sources; the CSV says what is to come of them.
expect 0 "$PESS" discretize "$visits" --features step,reward --cells 3 -o csv.pessmap
printf 'state,action,probability\n0,wait,1\n1,treat,1\n2,wait,1\n' >policy.csv
expect 0 "$PESS" act "$visits" --map csv.pessmap --policy policy.csv -o csv.answers
awk -F, 'NR > 1 { printf "{\"episode\": \"%s\", \"step\": %s, \"reward\": %s, \"action\": \"%s\", \"terminal\": %s, \"truncated\": %s}\n", $1, $2, $5, $4, $7, $8 }' \
    "$visits" >rows.jsonl
sources="rows.jsonl"
ldconfig -p 2>/dev/null | grep -q libsqlite3.so.0 && sources="$sources $data/visits.db"
"$PESS" inspect "$data/visits.parquet" >/dev/null 2>&1 && sources="$sources $data/visits.parquet"
for source in $sources; do
    expect 0 "$PESS" discretize "$source" --features step,reward --cells 3 -o other.pessmap
    expect 0 "$PESS" act "$source" --map other.pessmap --policy policy.csv -o other.answers
    cmp -s csv.answers other.answers || fail "act on $source: $(diff csv.answers other.answers | head -3)"
done
"$PESS" act - --map csv.pessmap --policy policy.csv <rows.jsonl >other.answers || fail "act on JSON lines through a pipe"
cmp -s csv.answers other.answers || fail "act on JSON lines through a pipe"

# HDF5 of Minari (the last observation is kept), D4RL and d3rlpy (it is not)
if [ -n "${SANITIZE:-}" ]; then
    echo "HDF5 was not read: the runtime of a sanitizer makes system calls that the reader's sandbox forbids"
elif ldconfig -p 2>/dev/null | grep -q libhdf5; then
    holds "$data/whole.csv" "$data/minari.h5"
    PESS_HDF5= holds "$data/whole.csv" "$data/minari.h5" # a variable that is empty names no library
    holds "$data/whole.csv" "$data/d4rl_next.h5"
    holds "$data/cut.csv" "$data/d4rl.h5"
    holds "$data/cut.csv" "$data/d3rlpy.h5"
    holds "$data/cut.csv" "$data/pytables.h5" # true and false in PyTables' type, actions as 2.0
    cat "$data/minari.h5" | "$PESS" convert - -o back.csv && cmp -s back.csv "$data/whole.csv" || fail "HDF5 through a pipe"
    # observations: bits, pictures of bytes with channels first (3, 4, 5), floats
    log=$(awk -F, 'NR > 1 { n++; t += $7; c += $8; s[$3]; s[$6]; a[$4] } END { print n, length(s), length(a), t, c }' "$data/whole.csv")
    for kind in bits bytes floats; do
        expect 0 "$PESS" inspect "$data/minari_$kind.h5" --json
        same "$(json transitions) $(json states) $(json actions) $(json terminals) $(json cutoffs)" "$log" "observations of $kind"
        expect 0 "$PESS" convert "$data/minari_$kind.h5" -o $kind.pessdata
        expect 0 "$PESS" convert $kind.pessdata -o $kind.npz
    done
    if /usr/bin/python3 -c "import numpy" 2>/dev/null; then
        cp "$data/whole.csv" .
        /usr/bin/python3 - 2>err <<'PYTHON' || fail "what numpy finds in the observations: $(tail -n 1 err)"
import csv, numpy as np
rows = list(csv.DictReader(open("whole.csv")))
states = {"observations": [int(r["state"]) for r in rows], "next_observations": [int(r["next_state"]) for r in rows]}
picture = np.arange(60).reshape(3, 4, 5)
made = {"bits": lambda s: np.eye(5)[s], "floats": lambda s: np.array(s)[:, None] * np.array([0.5, 1.5, -1.0]),
        "bytes": lambda s: picture[None] + np.array(s)[:, None, None, None]}
for kind, make in made.items():
    found = np.load(kind + ".npz")
    for key, numbers in states.items():
        assert np.array_equal(found[key].reshape(len(rows), -1), make(numbers).reshape(len(rows), -1)), (kind, key)
    assert np.array_equal(found["actions"].ravel(), [int(r["action"]) for r in rows]), kind
    assert np.array_equal(found["rewards"].ravel(), [float(r["reward"]) for r in rows]), kind
PYTHON
    fi
    expect 2 "$PESS" convert "$data/minari.h5" -o states.pessdata
    says "no format has this ending; expected one of "
    for ending in .csv .csv.gz .npz .pesslog; do says " $ending"; done
    [ ! -e states.pessdata ] || fail "half a dataset was written"
    expect 3 "$PESS" solve "$data/minari_bits.h5"
    says "found observations of 5 bits, expected single states: it is a dataset of observations"
    refuses 3 "found actions that are vectors or have decimals (numbers in each: 2), expected whole numbers" "$data/d4rl_floats.h5"
    # actions that are vectors: the same transitions in all layouts, but that d3rlpy loses one; then numbered
    for layout in minari d4rl d3rlpy; do
        expect 0 "$PESS" convert "$data/${layout}_vectors.h5" -o vectors-$layout.npz
        expect 0 "$PESS" inspect "$data/${layout}_vectors.h5" --json
        same "$(json transitions) $(json terminals) $(json cutoffs) $(json action_width)" \
            "$([ $layout = d3rlpy ] && echo 4 || echo 5) 1 1 2" "vectors of $layout"
        expect 0 "$PESS" inspect "$data/${layout}_vectors.h5" --actions-grid 1,2 --json
        says "actions of 2 numbers became 2 choices (grid)"
        same "$(json actions)" 2 "actions of a grid"
    done
    # one episode with decimals makes vectors of those that have none
    expect 0 "$PESS" inspect "$data/minari_reals.h5" --json
    same "$(json transitions) $(json action_width)" "4 1" "single numbers as actions"
    expect 2 "$PESS" train "$data/d4rl_vectors.h5" --actions 2 -a naive --out bad
    says "actions: found 2 declared, but those of"
    expect 2 "$PESS" train "$data/d4rl_vectors.h5" -a naive --out bad
    says "a grid or k-means numbers them"
    says "--actions-grid N"
    [ ! -e bad ] || fail "a refused training left something"
    cp "$data/d4rl_vectors.h5" nan.h5
    printf '\000\000\300\177' | dd of=nan.h5 bs=1 seek=2060 conv=notrunc status=none # an observation's second number
    refuses 3 "nan.h5: transition 1, feature 1: found nan" nan.h5
    # d3rlpy 1 writes its flags as floats; what is neither 0 nor 1 is no flag
    if command -v h5import >/dev/null; then
        # array NAME INTEGER|FLOAT VALUES: to the list of what h5import writes
        arrays=()
        array() {
            local input=TEXTFP output=FP
            [ "$2" = INTEGER ] && input=TEXTIN output=IN
            echo "$3" >"$1.txt"
            printf '%s\n' "PATH $1" "INPUT-CLASS $input" "INPUT-SIZE 32" "RANK 1" "DIMENSION-SIZES 5" \
                "OUTPUT-CLASS $output" "OUTPUT-SIZE 32" >"$1.cfg"
            arrays+=("$1.txt" -c "$1.cfg")
        }
        array observations FLOAT "0.5 1 1.5 2 2.5"
        array actions INTEGER "0 1 0 1 1"
        array rewards FLOAT "0 1 2 3 4"
        array terminals FLOAT "0 0 1 0 0"
        array episode_terminals FLOAT "0 0 1 0 1"
        h5import "${arrays[@]}" -o d3rlpy1.h5 >/dev/null || fail "h5import"
        expect 0 "$PESS" inspect d3rlpy1.h5 --json
        same "$(json transitions) $(json terminals) $(json cutoffs) $(json mean_return)" "4 1 1 3" "floats as flags"
        array episode_terminals FLOAT "0 0.5 1 0 1"
        h5import "${arrays[@]:0:12}" "${arrays[@]:15}" -o half.h5 >/dev/null || fail "h5import"
        refuses 3 "'episode_terminals', row 1: found 0.5, expected 0 or 1" half.h5
    fi
    refuses 3 "found no 'timeouts', which say where episodes were cut off" "$data/d4rl_unmarked.h5"
    refuses 3 "'episode_0/observations': found values that lie in other files" "$data/external_storage.h5"
    refuses 3 "'episode_0/observations': found values that lie in other files" "$data/virtual.h5"
    refuses 3 "'observations': found a link" "$data/external_link.h5"
    refuses 3 "'episode_0': found a link" "$data/soft_link.h5"
    refuses 3 "found more values declared than the file can hold" "$data/declared.h5"
    head -c 3000 "$data/minari.h5" >cut.h5
    refuses 3 "cut.h5: found an HDF5 file that its library does not open" cut.h5
    # HDF5 1.10 crashes on it; other versions may refuse it, but pess never does anything else
    refuses 3 "crash.h5: " "$data/crash.h5"
    grep -q -e "a process of its own, crashed" -e "found" err || fail "no reason: $(cat err)"
else
    echo "libhdf5 is not there: HDF5 was not read"
fi
PESS_HDF5=/nowhere refuses 5 "HDF5 files need the library HDF5, which is not on this machine" "$data/minari.h5"
PESS_DUCKDB=/nowhere refuses 5 "need the library DuckDB, which is not on this machine. Get libduckdb.so" "$data/visits.parquet"
PESS_DUCKDB=/nowhere refuses 5 "npm install" --sql "SELECT 1"
expect 2 "$PESS" solve
says "LOG is missing"
no_leftovers
finish

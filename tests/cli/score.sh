# pess score: a table and JSON, policies by file and by directory, and what it refuses.
. "$(dirname "$0")/lib.sh"

short="--protocol smoke --updates 3 --steps 5 --batch 32 --imitation-steps 20 --imitation-batch 32"
expect 0 "$PESS" collect cartpole --policy random --transitions 600 --seed 1 -o cart.npz
expect 0 "$PESS" train cart.npz -a cql --game cartpole --protocol smoke --updates 2 --steps 2 --score-episodes 0 --out cql
expect 0 "$PESS" train cart.npz -a imitation --game cartpole --protocol smoke --imitation-steps 10 --score-episodes 0 \
    --out imitation

# Directories and files; the same bytes on one thread and on two.
expect 0 "$PESS" score cql imitation/policy.pessnet cart.npz $short --threads 1 --json
same "$(json criterion)" fqe "criterion"
same "$(json weights)" imitation "weights"
prints '"policy": "cql"'
prints '"predicted": null'
grep -v '"seconds"' out >one
expect 0 "$PESS" score cql imitation/policy.pessnet cart.npz $short --threads 2 --json
grep -v '"seconds"' out | cmp -s - one || fail "threads change the scores"
expect 0 "$PESS" score cql imitation cart.npz $short --imitation imitation/policy.pessnet --criterion weighted
prints "Best by weighted"
prints "Scores are evidence, not proof"
expect 0 "$PESS" score cql cart.npz $short --weights none
prints "weights: none"

# Bits.
expect 0 "$PESS" collect breakout --policy random --transitions 500 --seed 1 -o b.pessdata
expect 0 "$PESS" train b.pessdata -a naive --protocol smoke --updates 1 --steps 1 --score-episodes 0 --out naive
expect 0 "$PESS" score naive b.pessdata $short

# Vectors that were logged: data that nobody numbered are numbered as the policy's own.
vectors=$TEST_DATA/d4rl/fraction.npz
expect 0 "$PESS" train "$vectors" --actions-kmeans 2 -a naive --network "dense 4" --updates 1 --steps 2 --out doses
expect 0 "$PESS" score doses "$vectors" $short --network "dense 4" --weights none --json
same "$(json chosen)" doses "the only policy"
grep -v '"seconds"' out >unasked
says "became the 2 choices of doses"
expect 0 "$PESS" convert "$vectors" --actions-kmeans 2 -o numbered.npz
expect 0 "$PESS" score doses numbered.npz $short --network "dense 4" --weights none --json
grep -v '"seconds"' out | sed "s,numbered.npz,$vectors," | cmp -s - unasked || fail "numbers of a policy's own are others"
expect 3 "$PESS" score doses "$vectors" $short --actions-grid 2
says "other vectors"
expect 3 "$PESS" score doses "$TEST_DATA/d4rl/continuous.npz" $short
says "doses: its actions are vectors of length 1; those of the data have length 2"

# What is refused.
expect 3 "$PESS" score naive cart.npz $short
says "the observations of cart.npz are 4 floats"
expect 3 "$PESS" score cql cart.npz $short --weights logged
says "has no probabilities of the logged actions"
expect 2 "$PESS" score cql cart.npz $short --weights none --criterion weighted
says "--criterion"
expect 2 "$PESS" score cql cart.npz --price-share 0.5
says "no option '--price-share'"
expect 2 "$PESS" score cql cart.npz --protocol nosuch
says "expected one of"
mkdir unfinished
expect 3 "$PESS" score unfinished cart.npz
says "unfinished: has no policy.pesspolicy"
expect 5 "$PESS" score nosuch.pesspolicy cart.npz
expect 2 "$PESS" score cart.npz
expect 3 "$PESS" score b.pessdata cart.npz
says "expected a policy"
expect 3 "$PESS" score cart.npz cart.npz
says "cart.npz: found no policy"
# The directory of a training is its policy for other commands too.
expect 0 "$PESS" net export cql -o cql.c
expect 0 "$PESS" net export cql/policy.pesspolicy -o same.c
cmp -s cql.c same.c || fail "the directory of a training is another policy than its file"
expect 3 "$PESS" net export unfinished -o none.c
says "unfinished: has no policy.pesspolicy"
expect 0 "$PESS" net export cql -o cql.onnx
expect 3 "$PESS" net import cql.onnx -o none.pesspolicy
says "cql.onnx: found no NumPy arrays"
expect 3 "$PESS" score cql.onnx cart.npz
says "cql.onnx: found no policy"
[ ! -e none.c ] && [ ! -e none.pesspolicy ] || fail "a refused file was written"
# A log of a single episode.
{ echo "a,b,c,d,action,reward,terminal"
    awk 'BEGIN { srand(1); for (i = 0; i < 20; i++)
        print rand() "," rand() "," rand() "," rand() "," i % 2 ",1," (i == 19) }'; } >one.csv
expect 0 "$PESS" convert one.csv --features a,b,c,d -o one.npz
expect 0 "$PESS" score cql one.npz $short
says "one episode"
no_leftovers
finish

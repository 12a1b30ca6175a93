#!/usr/bin/env bash
# pess-mpi beside pess: the same options, files and output, with several processes; and what it refuses.
. "$(dirname "$0")/lib.sh"
[ -n "${PESS_MPI:-}" ] || { echo "pess-mpi is not built (make scale)"; exit 77; }
visits="$TEST_DATA/../../examples/visits.csv"
many() { "$MPIEXEC" "$1" "$PESS_MPI" "${@:2}"; }

# Shards of a log with names, one of them a file of counts.
awk -F, 'NR == 1 { for (i = 0; i < 3; i++) print > "shard-" i ".csv"; next } { print > "shard-" (substr($1, 2) % 3) ".csv" }' "$visits"
expect 0 "$PESS" convert shard-2.csv -o shard-2.pesscounts
expect 0 "$PESS" merge "$visits" --out all.pesscounts
for n in 1 3; do
    expect 0 many "$n" count 'shard-[01].csv' shard-2.pesscounts --out "together-$n.pesscounts"
    cmp all.pesscounts "together-$n.pesscounts" || fail "counting by $n gives other bytes"
done

# The same policy and values as pess from the merged counts; the same report but for times and the solver's name.
expect 0 "$PESS" solve all.pesscounts -o one.csv --values one-values.csv --json
alone=$(json value) transitions=$(json transitions)
expect 0 many 3 solve 'shard-[012].csv' -o three.csv --values three-values.csv --json
near "$alone" "$(json value)" 1e-8 "value of three processes"
same "$transitions" "$(json transitions)" "transitions"
cmp one.csv three.csv || fail "another policy"
join -t, <(tail -n +2 one-values.csv | sort) <(tail -n +2 three-values.csv | sort) |
    awk -F, '{ d = $2 - $3; if (d > 1e-8 || d < -1e-8) exit 1 } END { exit NR != 5 }' || fail "other values"
expect 0 many 2 evaluate 'shard-[012].csv' --policy one.csv -a ua -u count
prints "$(printf '%.6g' "$alone")"
expect 0 many 2 solve "$visits" -ksp_type gmres -sub_pc_factor_levels 1
prints "petsc gmres bjacobi"

# Where steps lead to neighbours, the blocks of the preconditioner overlap; thin places take the transposed system.
awk 'BEGIN { print "state,action,reward,next_state"
             for (s = 0; s < 60; s++) for (a = 0; a < 2; a++) for (i = 0; i < 3; i++)
                 print s "," a "," (s == 7) "," (s + (i == 0 ? 1 : a ? 2 : 59)) % 60 }' > ring.csv
expect 0 "$PESS" solve ring.csv -a naive -o one.csv --json
alone=$(json value)
expect 0 many 2 solve ring.csv -a naive -o two.csv --json
near "$alone" "$(json value)" 1e-8 "value on a ring"
cmp one.csv two.csv || fail "another policy on a ring"
expect 0 many 2 solve ring.csv -a naive
prints "petsc bcgs schwarz"

# A ring whose states are named at random (7919·s mod 60): neighbours come together again, and files keep their order.
awk 'function name(s) { return (7919 * s + 17) % 60 }
     BEGIN { print "state,action,reward,next_state"
             for (s = 0; s < 60; s++) for (a = 0; a < 2; a++) for (i = 0; i < 3; i++)
                 print name(s) "," a "," (s == 7) "," name((s + (i == 0 ? 1 : a ? 2 : 59)) % 60) }' > mixed.csv
expect 0 "$PESS" solve mixed.csv -a naive -o one.csv --values one-values.csv --json
alone=$(json value)
expect 0 many 3 solve mixed.csv -a naive -o three.csv --values three-values.csv --json --reorder on
near "$alone" "$(json value)" 1e-8 "value on a mixed ring"
cmp one.csv three.csv || fail "another policy on a mixed ring"
cmp <(cut -d, -f1 one-values.csv) <(cut -d, -f1 three-values.csv) || fail "values in another order"
expect 0 many 3 solve mixed.csv -a naive --reorder on
prints "far successors instead of"
expect 0 many 3 solve mixed.csv -a naive
grep -q "states reordered" out && fail "so few states are reordered unasked"

# The certificate of counts, which has the policy and the lower bound that the rows give.
robust=(--method robust -u l1 --max-successors 4 --delta 0.1)
expect 7 "$PESS" certify all.pesscounts "${robust[@]}" -o one.csv --json
cp out one.json
alone=$(json lower_bound)
expect 7 many 3 certify 'shard-[012].csv' "${robust[@]}" -o three.csv --json
near "$alone" "$(json lower_bound)" 1e-7 "lower bound of three processes"
cmp one.csv three.csv || fail "another certified policy"
diff <(sed -n '/delta_ledger/,/candidates/p' one.json) <(sed -n '/delta_ledger/,/candidates/p' out) || fail "another ledger"
expect 7 "$PESS" certify "$visits" "${robust[@]}" -o rows.csv --json
same "$(json lower_bound)" "$alone" "lower bound of counts"
expect 7 many 2 certify "$visits" "${robust[@]}" -o two.csv
cmp rows.csv two.csv || fail "another certified policy than from rows"
expect 7 many 2 certify "$visits" --policy rows.csv --start uniform --gamma 1 --return-range 0,1
prints "the given policy, sets"

# A checkpoint is taken up by another number of processes, and gone at the end; one of another log is refused.
expect 6 many 2 solve "$visits" --checkpoint kept.values --checkpoint-every 0 --gamma 0.999 --max-iterations 1 --method value-iteration
[ -f kept.values ] && fail "a checkpoint is left although the run ended"
printf 'PESSVAL1\007\000\000\000\000\000\000\000' > kept.values
expect 3 many 3 solve "$visits" --checkpoint kept.values
says "a checkpoint of 7 states, expected 5"
rm kept.values

# A process that is killed takes the others with it: no policy appears, and what was kept serves another number of them.
"$MPIEXEC" 3 "$PESS_MPI" solve "$visits" -a naive --gamma 0.9999999 --method value-iteration --max-iterations 1000000000 \
    --checkpoint kept.values --checkpoint-every 0 -o killed.csv >out 2>err </dev/null &
job=$!
for _ in $(seq 1200); do
    [ -f kept.values ] && break
    sleep 0.1
done
[ -f kept.values ] || fail "no checkpoint: $(cat err)"
children() { cat "/proc/$1/task/$1/children"; }
read -r mpiexec < <(children "$job")
read -r -a ranks < <(children "$mpiexec")
[ ${#ranks[@]} -eq 3 ] || fail "three processes have ${#ranks[@]} numbers: ${ranks[*]}"
kill -KILL "${ranks[2]}"
wait "$job" && fail "a job went on without one of its processes"
[ -e killed.csv ] && fail "a policy of a job that was killed"
expect 0 "$PESS" solve all.pesscounts -a naive -o one.csv
expect 0 many 2 solve 'shard-[012].csv' -a naive --checkpoint kept.values -o two.csv
[ -e kept.values ] && fail "a checkpoint is left although the run ended"
cmp one.csv two.csv || fail "another policy from a checkpoint"

# Experiments: a shard for every process, merged to the bytes of one.
expect 0 "$PESS" experiment gridworld-data --trials 16 --points 2 --out alone
expect 0 many 2 experiment gridworld-data --trials 16 --points 2 --out merged
cmp alone/results.csv merged/results.csv || fail "an experiment by two processes has other results"

# Without mpiexec, and without anything that could start a daemon, it is a program of one process.
expect 0 env PATH=/nonexistent "$PESS_MPI" solve "$visits"

# Refused, in one sentence. They wait for each other most of their time, so several are tried at once.
refusals=0
refused() {
    refusals=$((refusals + 1))
    { many 2 "${@:3}" >"refused-$refusals.out" 2>"refused-$refusals.err" </dev/null; echo "$? $1 $2" >"refused-$refusals"; } &
    [ $((refusals % 4)) -ne 0 ] || wait
}
judge_refusals() {
    wait
    for i in $(seq "$refusals"); do
        read -r got want sentence <"refused-$i"
        mv "refused-$i.err" err
        [ "$got" -eq "$want" ] || fail "exit $got instead of $want where it should say '$sentence': $(head -c 300 err)"
        says "$sentence"
        [ "$(grep -c '^pess-mpi\|^rank' err)" -eq 1 ] || fail "not one sentence: $(cat err)"
    done
}
refused 5 "no file has such a name" solve 'missing-*.csv'
refused 5 "missing.csv: cannot be read" count shard-0.csv missing.csv --out x.pesscounts
head -c 200 all.pesscounts > short.pesscounts
refused 3 "short.pesscounts" count shard-0.csv short.pesscounts --out x.pesscounts
cp all.pesscounts newer.pesscounts
printf '\002' | dd of=newer.pesscounts bs=1 seek=8 conv=notrunc 2>dd.err
refused 3 "newer.pesscounts: found version 2 of the format, expected 1" count shard-0.csv newer.pesscounts --out x.pesscounts
refused 4 "ranks with as much each would do" certify "$visits" --actions 1000000 --max-memory 100M
sed 's/^[^,]*,[^,]*,//' shard-1.csv > without.csv
refused 3 "expected all or none of them to have a column 'episode'" solve '[sw]*[0t].csv'
refused 2 "PETSc knows no option '-ksp_tpye'" solve "$visits" -ksp_tpye gmres
refused 2 "Unable to find requested KSP type" solve "$visits" -ksp_type nonsense
refused 2 "-ksp_rtol: how exactly systems are solved follows from --tolerance" solve "$visits" -ksp_rtol 1e-3
refused 2 "gamma is 1" solve "$visits" --gamma 1
refused 2 "needs all states in one process" solve "$visits" -a duipi
refused 2 "name an algorithm" solve "$visits" -a auto
refused 2 "--method split needs the rows" certify "$visits" --method split
refused 2 "--horizon needs the rows" certify "$visits" --horizon 3
refused 2 "--report needs the rows" certify "$visits" --report page
refused 2 "the log shows 3 of state" certify "$visits" -u l1 --max-successors 1
refused 2 "--reorder: found 'maybe', expected auto, on or off" solve "$visits" --reorder maybe
refused 2 "expected seconds" solve "$visits" --checkpoint-every often
refused 4 "ranks with as much each would do" solve "$visits" --actions 1000000 --max-memory 100M
refused 5 "cannot be written" solve "$visits" -o /nonexistent/policy.csv
judge_refusals
[ -e x.pesscounts ] && fail "a file of counts although a shard was bad"
no_leftovers
finish

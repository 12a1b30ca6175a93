# One sweep of robust value iteration beside a plain one, three sizes.
"$1"/bench/bench_certify

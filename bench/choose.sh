# What choosing costs; bench_choosing, which takes minutes, is run by hand (docs/choosing.md).
"$1"/bench/bench_folds

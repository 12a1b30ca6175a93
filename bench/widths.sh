# Widths of lower bounds for a mean: betting beside empirical Bernstein and Hoeffding, three kinds of data, four sizes.
"$1"/bench/bench_widths

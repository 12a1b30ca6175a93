# Every fuzz target for two minutes.
make -s fuzz FUZZ_SECONDS=120

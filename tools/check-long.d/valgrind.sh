#!/usr/bin/env bash
# The quick tests under valgrind: memory that was never written, and what the address sanitizer does not see in libraries.
set -eu
cd "$(dirname "$0")/../.."
tools/packages.sh long
cmake --build --preset release >/dev/null
failed=0
for test in $(ctest --test-dir build -N -L quick | sed -n 's/.*: \(test_[a-z0-9_]*\)$/\1/p'); do
    [ "$test" = test_sandbox ] && continue # forbids what valgrind needs
    if OMP_NUM_THREADS=2 timeout 3600 valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
        build/tests/$test >"build/valgrind-$test.log" 2>&1; then echo "$test: fine"; else
        echo "$test: see build/valgrind-$test.log"; failed=1; fi
done
exit $failed

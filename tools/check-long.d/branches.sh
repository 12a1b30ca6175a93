#!/usr/bin/env bash
# Which branches the whole suite takes, by gcov, against the floors of tools/branch-floors.txt. Branches that are taken
# only where memory runs out count like all others: test_memory takes them. The loops of tests/faults.py and
# tests/kills.py are left out: the counts are files of the program too, and would be what fails or is torn.
set -eu
cd "$(dirname "$0")/../.."
cmake -S . -B build-gcov -G Ninja -DCMAKE_BUILD_TYPE=Debug -DPESS_HARDEN=OFF \
    -DCMAKE_C_FLAGS="--coverage -O1 -fprofile-update=atomic" >/dev/null
cmake --build build-gcov >/dev/null
find build-gcov -name '*.gcda' -delete
ctest --test-dir build-gcov -j "$(nproc)" -E '^cli_(faults|kills)$' >build-gcov/tests.log 2>&1 ||
    echo "some tests failed: build-gcov/tests.log"
python3 tools/branches.py build-gcov tools/branch-floors.txt

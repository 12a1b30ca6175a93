#!/usr/bin/env bash
# Which branches the whole suite takes, by gcov, against the floors of tools/branch-floors.txt. Branches that are taken
# only where memory runs out count like all others: test_memory and the commands of tests/faults.py take them here.
# (Failing calls on files are left out: the counts themselves are files of the program.)
set -eu
cd "$(dirname "$0")/../.."
cmake -S . -B build-gcov -G Ninja -DCMAKE_BUILD_TYPE=Debug -DPESS_HARDEN=OFF \
    -DCMAKE_C_FLAGS="--coverage -O1 -fprofile-update=atomic" >/dev/null
cmake --build build-gcov >/dev/null
find build-gcov -name '*.gcda' -delete
ctest --test-dir build-gcov -j "$(nproc)" -E cli_faults >build-gcov/tests.log 2>&1 ||
    echo "some tests failed: build-gcov/tests.log"
python3 tests/faults.py build-gcov/pess build-gcov/tests/libfaults.so --kinds memory \
    --samples "${PESS_FAULT_SAMPLES:-100}" >build-gcov/faults.log || echo "some failures not in order: build-gcov/faults.log"
python3 tools/branches.py build-gcov tools/branch-floors.txt

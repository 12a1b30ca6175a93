#!/usr/bin/env bash
# Which branches the whole suite takes, by gcov, with a floor: PESS_BRANCH_FLOOR per cent of all, and per file of those
# that read foreign bytes PESS_READER_FLOOR. The floors are what is reached; they are there to be raised.
set -eu
cd "$(dirname "$0")/../.."
cmake -S . -B build-gcov -G Ninja -DCMAKE_BUILD_TYPE=Debug -DPESS_HARDEN=OFF \
    -DCMAKE_C_FLAGS="--coverage -O1 -fprofile-update=atomic" >/dev/null
cmake --build build-gcov >/dev/null
ctest --test-dir build-gcov -j "$(nproc)" >build-gcov/tests.log 2>&1 || echo "some tests failed: build-gcov/tests.log"
python3 tools/branches.py build-gcov --floor "${PESS_BRANCH_FLOOR:-70}" --readers "${PESS_READER_FLOOR:-50}"

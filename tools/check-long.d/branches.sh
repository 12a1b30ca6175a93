#!/usr/bin/env bash
# Which branches the whole suite takes, by gcov, against the floors of tools/branch-floors.txt. Nothing is inlined, so
# that a branch of the source counts once. Branches that are taken only where memory runs out or a file fails count like
# all others: test_memory and the loop of tests/faults.py take them (in one process, whose counts are written when nothing
# fails any more; one failure from every place in the program that makes such calls, and PESS_FAULT_SAMPLES of each kind
# in each command). The kills of tests/kills.py are left out: counts are files too, and would be torn; and so is
# cli_install, whose programs would have to be linked with gcov to use a counted library. What HDF5's child does is
# counted where it may write: PESS_COUNT_CHILD, with which there is no sandbox, so that the sandbox's own test runs
# without.
set -eu
cd "$(dirname "$0")/../.."
cmake -S . -B build-count -G Ninja -DCMAKE_BUILD_TYPE=Release -DPESS_HARDEN=OFF -DPESS_COUNTED=ON >/dev/null
cmake --build build-count >/dev/null
find build-count -name '*.gcda' -delete
PESS_COUNT_CHILD=1 ctest --test-dir build-count -j "$(nproc)" -E '^(cli_(faults|install|kills)|test_sandbox)$' \
    >build-count/tests.log 2>&1 || echo "some tests failed: build-count/tests.log"
ctest --test-dir build-count -R '^test_sandbox$' >>build-count/tests.log 2>&1 || echo "the sandbox failed: build-count/tests.log"
python3 tests/faults.py build-count/pess build-count/tests/faulty build-count/tests/libfaults.so \
    --sites --samples "${PESS_FAULT_SAMPLES:-20}" >build-count/faults.log 2>&1 || echo "some faults: build-count/faults.log"
python3 tools/branches.py build-count tools/branch-floors.txt

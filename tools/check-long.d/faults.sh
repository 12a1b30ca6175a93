#!/usr/bin/env bash
# Every allocation and every call on a file of the commands in tests/faults.py fails in turn, with a count per command;
# of commands with thousands of allocations PESS_FAULT_SAMPLES of each kind (0: really all, which takes hours).
set -eu
cd "$(dirname "$0")/../.."
cmake --build --preset release --target pess faults faulty >/dev/null
python3 tests/faults.py build/pess build/tests/faulty build/tests/libfaults.so --sites --samples "${PESS_FAULT_SAMPLES:-1000}" \
    --seed "${PESS_FAULT_SEED:-$(date +%s)}"

#!/usr/bin/env bash
# A thousand kills over every command that resumes.
set -eu
cd "$(dirname "$0")/../.."
cmake --build --preset release --target pess >/dev/null
python3 tests/kills.py build/pess --kills "${PESS_KILLS:-1000}" --seed "${PESS_KILL_SEED:-$(date +%s)}"

#!/usr/bin/env bash
# A few of the kills of tools/check-long.d/kills.sh: runs that are killed and resumed end in the same bytes.
[ -z "${SANITIZE:-}" ] || { echo "kills do not need a sanitizer, and take long with one"; exit 77; }
exec python3 "$(dirname "$0")/../kills.py" "$PESS" --kills 12 --seed "${PESS_KILL_SEED:-1}" --kinds experiment

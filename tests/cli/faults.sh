#!/usr/bin/env bash
# A sample of what tools/check-long.d/faults.sh tries whole: single allocations and calls on files that fail, in many
# commands. PESS_FAULT_SEED draws others; the exit code, the sentence, the files and the next run are checked.
[ -z "${SANITIZE:-}" ] || { echo "a sanitizer's runtime has its own allocator: tried in other builds"; exit 77; }
exec python3 "$(dirname "$0")/../faults.py" "$PESS" "$FAULTY" "$FAULTS" --samples 3 --seed "${PESS_FAULT_SEED:-1}"

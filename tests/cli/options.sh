#!/usr/bin/env bash
# Odd values for every option of every command (tests/options.py).
[ -z "${SANITIZE:-}" ] || { echo "a sanitizer's runtime has its own allocator: tried in other builds"; exit 77; }
exec python3 "$(dirname "$0")/../options.py" "$PESS" "$FAULTY" "$FAULTS"

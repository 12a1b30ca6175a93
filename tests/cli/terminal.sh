#!/usr/bin/env bash
# The program on a pseudo-terminal (tests/terminal.py).
[ -z "${SANITIZE:-}" ] || { echo "the terminal is tried in other builds: here it takes long"; exit 77; }
here=$(cd "$(dirname "$0")/.." && pwd)
exec python3 "$here/terminal.py" "$PESS" "$here/../policies/breakout.pessnet"

#!/usr/bin/env bash
# Checks that take minutes: every script in tools/check-long.d, one after another; exit 1 if any fails.
set -u
cd "$(dirname "$0")/.." || exit 2
failed=0
for script in tools/check-long.d/*.sh; do
    echo "== $script"
    bash "$script" || { echo "FAILED: $script" >&2; failed=1; }
done
exit $failed

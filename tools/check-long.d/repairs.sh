#!/usr/bin/env bash
# Every repair of a broken promise undone, one by one: a test has to fail each time.
cd "$(dirname "$0")/../.." || exit 2
exec tools/repairs.py

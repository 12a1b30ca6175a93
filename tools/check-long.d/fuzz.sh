#!/usr/bin/env bash
# Every fuzz target for PESS_FUZZ_SECONDS (ten minutes; hours are better), with the edges it knows.
set -eu
cd "$(dirname "$0")/../.."
tools/packages.sh ci
tools/fuzz.sh "${PESS_FUZZ_SECONDS:-600}"

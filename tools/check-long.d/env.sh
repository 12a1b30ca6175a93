#!/usr/bin/env bash
# Ten million random steps of the games, two million each, under the sanitizers: every state is saved and restored now
# and then, so that the checks of restored states see real ones.
set -eu
cd "$(dirname "$0")/../.."
cmake --preset sanitize >/dev/null
cmake --build --preset sanitize --target test_env_long
PESS_LONG_STEPS=${PESS_LONG_STEPS:-2000000} build-sanitize/tests/test_env_long

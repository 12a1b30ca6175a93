#!/usr/bin/env bash
# What CI runs beyond make test: warnings as errors with gcc and clang, the suite under address and undefined-behaviour
# sanitizers, a minute of fuzzing per target, the same bytes from a build with every instruction of this machine,
# clang-tidy, the format check and the check of who includes whom. PETSc is installed here, so that pess-mpi is built and
# tested by all of it but the sanitizers.
set -eu
cd "$(dirname "$0")/.."
tools/packages.sh build test ci scale
jobs=$(nproc)
step() { echo "== $*"; }

step "format"
clang-format --dry-run -Werror $(git ls-files '*.[ch]')
step "who includes whom"
tools/check-includes.sh
for preset in release clang sanitize native bare; do
    step "build: $preset"
    cmake --preset "$preset" -D PESS_WERROR=ON >"build-$preset.log" 2>&1 || { cat "build-$preset.log"; exit 1; }
    cmake --build --preset "$preset" -j "$jobs" >"build-$preset.log" 2>&1 || { tail -50 "build-$preset.log"; exit 1; }
done
for preset in clang sanitize; do
    step "tests: $preset"
    ctest --test-dir "build-$preset" --output-on-failure -j "$jobs"
done
step "tests: bare, without OpenMP and cairo"
ctest --test-dir build-bare --output-on-failure -j "$jobs" -L quick
step "the same bytes from the portable build and from that for this machine"
tools/same-bytes.sh build/pess build-native/pess
step "clang-tidy"
git ls-files 'src/*.c' 'cli/*.c' | xargs -P "$jobs" -n 4 clang-tidy -p build-clang --quiet --warnings-as-errors='*' \
    2>/dev/null
step "the Python wheel, from a clean tree"
tools/packages.sh python
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
git archive HEAD | tar -x -C "$tree"
(cd "$tree" && make python >python.log 2>&1) || { tail -50 "$tree/python.log"; exit 1; }
step "the documentation as a site, every link in it"
make docs
# A minute for each target; where the machine was slow, what is left of 80 minutes, at least ten seconds each.
fuzz=${PESS_FUZZ_SECONDS:-60}
if [ -n "${PESS_CI_BEGAN:-}" ]; then
    left=$(((4800 - ($(date +%s) - PESS_CI_BEGAN)) * jobs / $(ls fuzz/fuzz_*.c | wc -l)))
    fuzz=$((left < 10 ? 10 : left < fuzz ? left : fuzz))
fi
step "fuzzing: each target for $fuzz seconds from its corpus"
tools/fuzz.sh "$fuzz"
step "all passed"

#!/usr/bin/env bash
# check.sh BUILD TEST: builds what one test needs, and runs it. A test of the library is a program of its own name; a
# test of the command line (cli_*) drives the program and its helpers, one of Python the package; a check of texts needs
# nothing.
set -euo pipefail
build=$1 name=$2
[ -n "$name" ] || { echo "make check T=NAME; ctest --test-dir $build -N lists the names" >&2; exit 2; }
case "$name" in
    cli_mpi) targets=(pess pess-mpi json_get) ;;
    cli_*) targets=(pess pess_static pess_shared pess_manual json_get check_certificate check_episodes faults faulty) ;;
    python_*) targets=(pess pess_package) ;;
    check_*) targets=() ;;
    *) targets=("$name") ;;
esac
[ ${#targets[@]} = 0 ] || cmake --build "$build" --target "${targets[@]}" | sed '/^\[/d' # its own errors end it
ctest --test-dir "$build" --output-on-failure --no-tests=error -R "^$name\$"

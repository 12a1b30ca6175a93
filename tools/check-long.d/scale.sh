#!/usr/bin/env bash
# Many processes against one on 400 random problems, where pess-mpi can be built.
set -eu
cd "$(dirname "$0")/../.."
tools/packages.sh build scale
cmake --preset release >/dev/null
cmake --build build --target test_scale >/dev/null
tests/mpi/mpiexec.sh 4 build/test_scale 400
tests/mpi/mpiexec.sh 3 build/test_scale 100 1000

#!/usr/bin/env bash
# mpiexec.sh N COMMAND…: N processes on this machine, whoever runs it and however few cores there are. Waiting processes
# give way to each other. Where one returns another code than 0, mpiexec gives the others this long to end: no time at all,
# since pess-mpi returns from all of them at once, after its sentence (MPI_Finalize waits for all). Each call has a directory
# of its own for its sockets: two that start at once fail now and then at making the one that Open MPI has them share.
set -u
processes=$1
shift
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_odls_base_sigkill_timeout=0
OMPI_MCA_orte_tmpdir_base=$(mktemp -d "${TMPDIR:-/tmp}/pess-mpi.XXXXXX") || exit 1
export OMPI_MCA_orte_tmpdir_base
trap 'rm -rf "$OMPI_MCA_orte_tmpdir_base"' EXIT
mpiexec -n "$processes" "$@"

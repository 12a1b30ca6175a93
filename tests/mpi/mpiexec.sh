#!/usr/bin/env bash
# mpiexec.sh N COMMAND…: N processes on this machine, whoever runs it and however few cores there are. Waiting processes
# give way to each other.
set -u
processes=$1
shift
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_hwloc_base_binding_policy=none
exec mpiexec -n "$processes" "$@"

#!/bin/bash
# One log on several nodes: shards counted where they lie, then solved together (docs/scale.md).
#
#   sbatch examples/slurm-mpi.sh
#
# Every process reads some of the shards, so there are at least as many shards as processes. One that is stopped by its
# time limit is sent again as it is, with any number of nodes: it goes on from the checkpoint. The report goes to the
# job's log; policy.csv appears when it is whole.
#
#SBATCH --job-name=pess-mpi
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=16
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=4G
#SBATCH --time=04:00:00
#SBATCH --output=pess-mpi.log
set -eu
shards=${SHARDS:-shards/*.pesscounts}
export OMP_NUM_THREADS=1
srun pess-mpi solve "$shards" -a ua -u hoeffding --reward-range 0,1 --gamma 0.99 -o policy.csv \
    --checkpoint values.checkpoint --checkpoint-every 600

#!/bin/bash
# The experiment with games on a cluster: eight shards, eight cores each, then one merge.
#
#   sbatch docs/slurm-array.sh                                     all shards
#   sbatch --dependency=afterok:JOBID --wrap 'pess merge games-part-* --out games'
#
# A shard takes every eighth dataset (game, ε, trial) and needs nothing of the others. One that is stopped by its time
# limit is sent again as it is: --resume goes on from the checkpoints, and finished runs are not run again. What a
# protocol costs on a machine, pess says there beforehand: add --dry-run.
#
#SBATCH --job-name=pess-games
#SBATCH --array=1-8
#SBATCH --cpus-per-task=8
#SBATCH --mem-per-cpu=1G
#SBATCH --time=12:00:00
#SBATCH --signal=INT@120
#SBATCH --output=games-part-%a.log
set -eu
shards=8
exec srun pess experiment minatar-exploration --protocol standard --trials 5 --threads "${SLURM_CPUS_PER_TASK:-1}" \
    --shard "${SLURM_ARRAY_TASK_ID:?run me with sbatch}/$shards" --out "games-part-$SLURM_ARRAY_TASK_ID" --resume

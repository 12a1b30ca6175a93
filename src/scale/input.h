/* A log, or shards of one, as a problem that all ranks hold together. */
#ifndef PESS_SCALE_INPUT_H
#define PESS_SCALE_INPUT_H

#include "scale/slab.h"

pess_status pess__read_together(const char *path, const pess_read_options *read, const pess_model_options *model,
                                const char *start, pess_problem **out, pess_error *error);
/* PESS_LIMIT where all states are more than can be numbered, or those of one rank more than one program can have. */
pess_status pess__check_shares(int64_t states, int64_t places, int64_t actions, pess_error *error);
/* A policy from a file, each rank its own rows; `unknown` and `fit` as in pess_policy_read_for_log. */
pess_status pess__read_policy_together(const char *path, const pess_counts *counts, const pess_model *model,
                                       pess_unknown unknown, pess_policy **out, pess_policy_fit *fit,
                                       pess_error *error);

#endif

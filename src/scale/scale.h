/* Many machines: what the program pess-mpi is made of. No types of MPI or PETSc here. */
#ifndef PESS_SCALE_SCALE_H
#define PESS_SCALE_SCALE_H

#include "pess.h"

/* Takes PETSc's options (-ksp_type gmres, …) and those about checkpoints out of the arguments and meets the other
 * processes. From then on, logs that are read are shared with them. Standard output and error of all but the first go
 * nowhere. */
pess_status pess_scale_begin(int *argc, char **argv, pess_error *error);
int pess_scale_rank(void);
int pess_scale_size(void);
/* Until all have come here. */
void pess_scale_wait(void);
/* The end of all of them; `code` is what this process will exit with. Where one `failed`, and the others do not come
 * here too, it says so and takes them with it. */
int pess_scale_end(int code, bool failed);

/* Logs, counted logs and files of counts that the patterns name, counted in parallel, as one file of counts: the bytes
 * of pess_counts_merge. */
pess_status pess_scale_count(const char *const *patterns, int64_t count, const pess_read_options *options,
                             const char *target, pess_error *error);

#endif

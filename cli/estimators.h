/* pess evaluate --estimators: what a policy is worth by importance sampling, doubly robust sums and the model. */
#ifndef PESS_CLI_ESTIMATORS_H
#define PESS_CLI_ESTIMATORS_H

#include "log_args.h"

/* Reads the log once more, as rows. behaviour: a file, "estimated" or NULL. Returns the exit code. */
int print_estimators(const char *path, log_args *args, const loaded_log *log, const pess_policy *policy,
                     const char *behaviour, bool as_json);

#endif

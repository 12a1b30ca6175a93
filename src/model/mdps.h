/* A built-in process: one file and one word in the table of mdps.c. */
#ifndef PESS_MODEL_MDPS_H
#define PESS_MODEL_MDPS_H

#include "core/settings.h"
#include "model/mdp.h"

typedef struct pess__mdp_kind {
    pess_mdp_info info;
    pess_status (*make)(const void *options, pess_mdp **out, pess_error *error); /* NULL: the defaults */
} pess__mdp_kind;

#endif

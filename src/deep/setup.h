/* What is fixed from the start of a training. Whoever is handed it reads it and changes nothing; the one thing that
 * moves is the position, by which random streams and reports are named. */
#ifndef PESS_DEEP_SETUP_H
#define PESS_DEEP_SETUP_H

#include "data/observations.h"
#include "deep/generations.h"
#include "deep/learner.h"

/* How far a training has come. */
typedef struct pess__position {
    int64_t update;  /* counted from 0 */
    double reported; /* when progress was reported last */
} pess__position;

typedef struct pess__setup {
    pess_train_options options; /* as they hold: checked, with their defaults */
    const pess__learner *learner;
    _Alignas(max_align_t) unsigned char knobs[PESS__KNOBS_SIZE]; /* the learner's struct */
    double cap;                                                  /* of u */
    const pess_observations *data;                               /* options.data, or what takes its place */
    uint64_t fingerprint;                                        /* of options.data */
    pess_env_options env;                                        /* where policies are played: as the data had it */
    int64_t updates, steps, batch;                               /* of this algorithm under the protocol */
    const int64_t *rows;                                         /* [row_count] transitions to draw from, or NULL: */
    int64_t row_count;                                           /* all of the data */
    pess__position *position;
} pess__setup;

/* train_settings.c: the options as they hold; whether the learner reads all that is set; its knobs from their text. */
pess_status pess__train_settle(const pess_train_options *options, pess_train_options *out, pess_error *error);
pess_status pess__train_check_use(const pess__setup *setup, pess_error *error);
pess_status pess__train_read_knobs(const pess_learner_info *info, const char *text, void *out, pess_error *error);

/* The learner, its knobs and how long what is trained; PESS_ARGUMENT for options that are not possible or that the
 * learner does not read. position: the caller's, at update 0. */
pess_status pess__setup_open(const pess_train_options *options, pess__position *position, pess__setup *out,
                             pess_error *error);
/* The last of it, once options and learner are there: data, network, and how long what is trained. */
pess_status pess__setup_plan(pess__setup *setup, pess_error *error);
/* Of the columns and observations: tells other data from these. */
uint64_t pess__setup_fingerprint(const pess_observations *data);
/* The environment that the notes of the data tell of. */
pess_status pess__setup_environment(pess__setup *setup, pess_error *error);
/* Lines "key=value" of all that decides the result. sums: of the kernels; imitation: checksum of that network. */
void pess__setup_describe(const pess__setup *setup, const char *sums, uint32_t imitation,
                          char text[PESS__SETTINGS_SIZE]);
/* A network of the kind that the options name, for the observations of the data. */
pess_status pess__setup_network(const pess__setup *setup, int64_t outputs, pess__net **out, pess_error *error);
/* The value of the knob absorbed-alpha; NAN where the learner has none. */
double pess__setup_alpha(const pess__setup *setup);
/* Whether the weight of the learner's regulariser is held against the evidence: see price.c. */
bool pess__setup_prices(const pess__setup *setup);

/* Reports progress; PESS_INTERRUPTED where the caller wants to stop. */
pess_status pess__setup_report(const pess__setup *setup, const char *what, int64_t done, int64_t total,
                               pess_error *error);
/* PESS_INTERRUPTED, with what is kept. */
pess_status pess__setup_interrupted(const pess__setup *setup, pess_error *error);

/* The rows of an update are draws of its stream, so that they can be drawn again; each network has its own. */
pess__rng pess__rows_stream(const pess__setup *setup, int64_t network);
int64_t pess__rows_next(const pess__setup *setup, int64_t network, pess__rng *rng);

#endif

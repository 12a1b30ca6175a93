/* What other names, separators and forms of a log cost: a million rows into counts, one thread, each form beside the
 * plain one in turn. Prints {"name":…,"ours":seconds,"peer":seconds of the plain form,…} of processor time for the
 * fastest of 15 rounds, as other programs may be running. */
#include "core/rng.h"
#include "pess.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 1000000, ROUNDS = 15, ROW_SIZE = 48 };

typedef struct form {
    const char *name, *header, *row, *column; /* row: state, action, reward and its decimals, next state */
} form;

static const form forms[] = {
    {"plain", "state,action,reward,next_state\n", "%u,%u,%u.%u,%u\n", NULL},
    {"columns by other names", "place,drug,outcome,later\n", "%u,%u,%u.%u,%u\n",
     "state=place\naction=drug\nreward=outcome\nnext_state=later"},
    {"semicolons", "state;action;reward;next_state\n", "%u;%u;%u.%u;%u\n", NULL},
    {"semicolons and decimal commas", "state;action;reward;next_state\n", "%u;%u;%u,%u;%u\n", NULL},
    {"ids with decimals", "state,action,reward,next_state\n", "%u.0,%u.0,%u.%u,%u.0\n", NULL},
    {"names", "state,action,reward,next_state\n", "s%u,a%u,%u.%u,s%u\n", NULL},
    {"a state of two columns", "ward,action,reward,next,severity,next_severity\n", "w%u,a%u,%u.%u,w%u,1,1\n",
     "state=ward,severity\nnext_state=next,next_severity"},
};

enum { FORMS = sizeof forms / sizeof forms[0] };

static char *write_form(const form *f, size_t *length) {
    char *text = malloc((size_t)(ROWS + 4) * ROW_SIZE);
    if (text == NULL) return NULL;
    pess__rng rng = pess__rng_stream(1, "reading", 0);
    *length = (size_t)sprintf(text, "%s", f->header);
    for (int i = 0; i < ROWS; i++) {
        const unsigned s = (unsigned)pess__rng_below(&rng, 1000), a = (unsigned)pess__rng_below(&rng, 4);
        const unsigned r = (unsigned)pess__rng_below(&rng, 100), n = (unsigned)pess__rng_below(&rng, 1000);
        *length += (size_t)snprintf(text + *length, ROW_SIZE, f->row, s, a, r / 10, r % 10, n);
    }
    return text;
}

static double seconds_of(const form *f, const char *text, size_t length) {
    pess_read_options options = pess_read_options_defaults();
    pess_error error;
    pess_counts *counts = NULL;
    struct timespec before, after;
    options.threads = 1;
    options.column = f->column;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    if (pess_counts_read_memory(f->name, text, length, &options, &counts, &error) != PESS_OK) {
        (void)fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    pess_counts_destroy(counts);
    return (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
}

int main(void) {
    char *text[FORMS] = {NULL};
    size_t length[FORMS] = {0};
    double best[FORMS];
    for (int i = 0; i < FORMS; i++) {
        best[i] = 1e300;
        if ((text[i] = write_form(&forms[i], &length[i])) == NULL) return 1;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < FORMS; i++) {
            const double seconds = seconds_of(&forms[i], text[i], length[i]);
            best[i] = seconds < best[i] ? seconds : best[i];
        }
    for (int i = 1; i < FORMS; i++)
        (void)printf("{\"name\":\"reading: %s\",\"ours\":%.6f,\"peer\":%.6f,\"ratio\":%.3f,\"rows\":%d}\n",
                     forms[i].name, best[i], best[0], best[0] / best[i], ROWS);
    for (int i = 0; i < FORMS; i++) free(text[i]);
    return 0;
}

#include "assumptions.h"

#include <string.h>

typedef struct assumption_hint {
    const char *code, *hint;
} assumption_hint;

static const assumption_hint hints[] = {
    {"states-from-log", "--states declares the number"},
    {"actions-from-log", "--actions declares the number"},
    {"rewards-from-log", "--reward-range declares it"},
    {"trajectories-assumed", "--iid declares independent draws"},
    {"iid-declared", "--iid"},
    {"may-end", "--may-end off declares that none does"},
    {"no-ends", "--may-end on allows for one"},
    {"start-uniform", "--start names another distribution"},
    {"unseen-pairs", "--unseen chooses it"},
    {"repeated-steps", "'pess inspect' names the first"},
    {"too-small-to-split", "--split sets the share of the first part"},
};

static const char *hint_of(const char *code) {
    for (size_t i = 0; i < COUNT_OF(hints); i++)
        if (strcmp(hints[i].code, code) == 0) return hints[i].hint;
    return NULL;
}

void print_assumption(FILE *out, const pess_assumption *assumption) {
    const char *hint = hint_of(assumption->code);
    if (hint == NULL)
        (void)fprintf(out, "  - %s\n", assumption->text);
    else
        (void)fprintf(out, "  - %.*s (%s).\n", (int)strlen(assumption->text) - 1, assumption->text, hint);
}

/* The table of built-in processes. Adding one means one new file and one word here. */
#include "model/mdps.h"

#include <stdio.h>
#include <string.h>

/* One file each: pess__mdp_kind_<name>. */
#define PROCESSES(X) X(gridworld) X(bandit) X(random)

#define DECLARE(name) extern const pess__mdp_kind pess__mdp_kind_##name;
PROCESSES(DECLARE)
#undef DECLARE

#define ADDRESS(name) &pess__mdp_kind_##name,
static const pess__mdp_kind *const kinds[] = {PROCESSES(ADDRESS)};
#undef ADDRESS

enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

const pess_mdp_info *pess_mdp_list(size_t index) { return index < KIND_COUNT ? &kinds[index]->info : NULL; }

static const pess__mdp_kind *find(const char *name) {
    for (size_t i = 0; name != NULL && i < KIND_COUNT; i++)
        if (strcmp(kinds[i]->info.name, name) == 0) return kinds[i];
    return NULL;
}

const pess_mdp_info *pess_mdp_find(const char *name) {
    const pess__mdp_kind *kind = find(name);
    return kind != NULL ? &kind->info : NULL;
}

pess_status pess_mdp_make(const char *name, const void *options, pess_mdp **out, pess_error *error) {
    const pess__mdp_kind *kind = find(name);
    if (kind != NULL) return kind->make(options, out, error);
    char known[400] = "";
    for (size_t i = 0; i < KIND_COUNT; i++) {
        const size_t used = strlen(known);
        (void)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", kinds[i]->info.name);
    }
    return pess__fail(error, PESS_ARGUMENT, "found the process '%.60s', expected one of %s", name != NULL ? name : "",
                      known);
}

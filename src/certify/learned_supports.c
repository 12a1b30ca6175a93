/* The supports that a first part of the log fixes. A pair's own samples show few of its rare successors; what other
 * actions led to from the same state are good guesses of them (slips go where steps go). A guess that is wrong costs
 * ln 2 in the union over subsets, a successor that is missing stands at the lowest value: so a row takes its state's
 * successors, too, as long as they are few. Any support is valid that the second part has no say in. */
#include "certify/subset_sets.h"
#include "core/memory.h"

#include <stdlib.h>

enum { GUESSES = 8 }; /* at most so many beside those that the pair itself shows */

typedef struct merge {
    int64_t *seen_at; /* [S] the last pair or state that listed it, plus 1 */
    int64_t stamp;
} merge;

static bool is_new(merge *m, uint32_t s) {
    const bool first = m->seen_at[s] != m->stamp;
    m->seen_at[s] = m->stamp;
    return first;
}

/* How many successors the state has over all its actions. */
static int64_t of_state(const pess_counts *earlier, int64_t s, merge *m) {
    int64_t count = 0;
    m->stamp++;
    for (int64_t i = earlier->row[s * earlier->actions]; i < earlier->row[(s + 1) * earlier->actions]; i++)
        count += is_new(m, earlier->next[i]);
    return count;
}

/* Where it is declared how many there can be, a row is closed by its own samples alone. */
static bool takes_all(const pess_counts *earlier, int64_t pair, int64_t of_its_state, int64_t declared) {
    const int64_t own = earlier->row[pair + 1] - earlier->row[pair];
    return of_its_state <= own + GUESSES && (declared == 0 || of_its_state < declared);
}

static int compare_states(const void *left, const void *right) {
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void fill_row(const pess_counts *earlier, int64_t pair, bool all, merge *m, pess_counts *to) {
    const int64_t first = pair - pair % earlier->actions, last = first + earlier->actions;
    int64_t at = to->row[pair];
    m->stamp++;
    for (int64_t i = earlier->row[all ? first : pair]; i < earlier->row[all ? last : pair + 1]; i++)
        if (is_new(m, earlier->next[i])) to->next[at++] = earlier->next[i];
    qsort(to->next + to->row[pair], (size_t)(at - to->row[pair]), sizeof *to->next, compare_states);
    to->row[pair + 1] = at;
    to->n[pair] = earlier->n[pair];
    to->n_terminal[pair] = earlier->n_terminal[pair];
    for (int64_t z = first; z < last && all; z++) to->n_terminal[pair] += z == pair ? 0 : earlier->n_terminal[z];
}

static pess_status fill(const pess_counts *earlier, int64_t declared, merge *m, pess_counts *to, pess_error *error) {
    const int64_t states = earlier->states, actions = earlier->actions;
    int64_t *of_states = NULL, room = 0;
    PESS_TRY(pess__allocate(&m->seen_at, states, sizeof *m->seen_at, "learned supports", error));
    PESS_TRY(pess__allocate(&of_states, states, sizeof *of_states, "learned supports", error));
    for (int64_t s = 0; s < states; s++) {
        of_states[s] = of_state(earlier, s, m);
        for (int64_t z = s * actions; z < (s + 1) * actions; z++)
            room +=
                takes_all(earlier, z, of_states[s], declared) ? of_states[s] : earlier->row[z + 1] - earlier->row[z];
    }
    const pess_status status = pess__counts_allocate(to, room, error);
    for (int64_t z = 0; status == PESS_OK && z < states * actions; z++)
        fill_row(earlier, z, takes_all(earlier, z, of_states[z / actions], declared), m, to);
    free(of_states);
    return status;
}

pess_status pess__supports_learn(const pess_counts *earlier, int64_t declared, pess_counts **out, pess_error *error) {
    pess_counts *to = NULL;
    merge m = {0};
    PESS_TRY(pess__allocate(&to, 1, sizeof *to, "learned supports", error));
    to->states = earlier->states;
    to->actions = earlier->actions;
    const pess_status status = fill(earlier, declared, &m, to, error);
    free(m.seen_at);
    if (status == PESS_OK)
        *out = to;
    else
        pess_counts_destroy(to);
    return status;
}

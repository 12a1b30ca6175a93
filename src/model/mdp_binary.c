/* MDPs as binary files (.pessmdp): the arrays as they lie in memory, so that reading them is one pass over a mapped
 * file that copies and checks. docs/formats.md has the layout. */
#include "core/bytes.h"
#include "core/filekind.h"
#include "core/infile.h"
#include "model/mdp.h"

#include <math.h>
#include <string.h>

enum { VERSION = 1 };

typedef struct header {
    char magic[PESS__MAGIC];
    uint32_t version, unused;
    int64_t states, actions, transitions;
} header;

_Static_assert(sizeof(header) == 40, "the header has no gaps");

/* Bytes of the arrays: rows [S*A+1], probabilities, rewards, next states [transitions]. */
static int64_t array_bytes(int64_t pairs, int64_t transitions) {
    return (pairs + 1) * (int64_t)sizeof(int64_t) + transitions * (int64_t)(2 * sizeof(double) + sizeof(uint32_t));
}

pess_status pess__mdp_write_binary(const pess_mdp *mdp, const char *path, pess_error *error) {
    const int64_t pairs = mdp->states * mdp->actions, count = mdp->row[pairs];
    pess__sink sink;
    PESS_TRY(pess__sink_open(&sink, path, pess__file_row_of(PESS_FILE_MDP)->magic, error));
    pess__sink_u32(&sink, VERSION);
    pess__sink_u32(&sink, 0);
    pess__sink_i64(&sink, mdp->states);
    pess__sink_i64(&sink, mdp->actions);
    pess__sink_i64(&sink, count);
    pess__sink_write(&sink, mdp->row, (size_t)(pairs + 1) * sizeof *mdp->row);
    pess__sink_write(&sink, mdp->probability, (size_t)count * sizeof *mdp->probability);
    pess__sink_write(&sink, mdp->reward, (size_t)count * sizeof *mdp->reward);
    pess__sink_write(&sink, mdp->next, (size_t)count * sizeof *mdp->next);
    return pess__sink_commit(&sink, error);
}

/* ------------------------------------------------------------------------------------------------ reading */

/* Before the rest is read, which of a device may have no end. */
static pess_status check_magic(pess__infile *file, pess_error *error) {
    const pess__file_row *row = pess__file_row_of(PESS_FILE_MDP);
    char magic[PESS__MAGIC];
    size_t got = 0;
    PESS_TRY(pess__infile_head(file, magic, sizeof magic, &got, error));
    return pess__check_magic(pess__infile_name(file), magic, got, row->magic, row->what, error);
}

static pess_status check_header(const char *name, const header *h, int64_t size, pess_error *error) {
    if (h->version != VERSION)
        return pess__fail(error, PESS_INPUT, "%s: found version %u of the format, expected %d", name, h->version,
                          VERSION);
    const bool sizes = h->states >= 1 && h->states <= PESS_MAX_STATES && h->actions >= 1 &&
                       h->actions <= PESS_MAX_ACTIONS && h->transitions >= 0 && h->transitions <= size;
    const int64_t most = size / (int64_t)sizeof(int64_t); /* pairs that such a file can have */
    if (!sizes || h->unused != 0 || h->states > most / h->actions)
        return pess__fail(error, PESS_INPUT, "%s: %lld states, %lld actions, %lld transitions in %lld bytes: damaged",
                          name, (long long)h->states, (long long)h->actions, (long long)h->transitions,
                          (long long)size);
    const int64_t expected = (int64_t)sizeof *h + array_bytes(h->states * h->actions, h->transitions) + 4;
    if (size != expected)
        return pess__fail(error, PESS_INPUT, "%s: found %lld bytes, expected %lld: damaged or truncated", name,
                          (long long)size, (long long)expected);
    return PESS_OK;
}

static pess_status check_rows(const char *name, const pess_mdp *mdp, int64_t transitions, pess_error *error) {
    const int64_t pairs = mdp->states * mdp->actions;
    bool ascend = mdp->row[0] == 0 && mdp->row[pairs] == transitions;
    for (int64_t z = 0; z < pairs && ascend; z++) ascend = mdp->row[z] <= mdp->row[z + 1];
    return ascend ? PESS_OK
                  : pess__fail(error, PESS_INPUT, "%s: where the transitions of each pair begin does not ascend", name);
}

static pess_status check_transitions(const char *name, const pess_mdp *mdp, pess_error *error) {
    for (int64_t k = 0; k < mdp->row[mdp->states * mdp->actions]; k++) {
        const double p = mdp->probability[k];
        if ((int64_t)mdp->next[k] >= mdp->states)
            return pess__fail(error, PESS_INPUT, "%s: transition %lld: state %u, expected less than %lld", name,
                              (long long)k, mdp->next[k], (long long)mdp->states);
        if (!(p >= 0 && p <= 1) || !isfinite(mdp->reward[k]))
            return pess__fail(error, PESS_INPUT,
                              "%s: transition %lld: found probability %g and reward %g, expected finite numbers, the "
                              "first from 0 to 1",
                              name, (long long)k, p, mdp->reward[k]);
    }
    return PESS_OK;
}

static const uint8_t *copy(void *to, const uint8_t *from, size_t bytes) {
    if (bytes > 0) memcpy(to, from, bytes);
    return from + bytes;
}

static pess_status read_arrays(const char *name, const uint8_t *at, int64_t transitions, pess_mdp *mdp,
                               pess_error *error) {
    const size_t count = (size_t)transitions;
    at = copy(mdp->row, at, (size_t)(mdp->states * mdp->actions + 1) * sizeof *mdp->row);
    PESS_TRY(check_rows(name, mdp, transitions, error));
    at = copy(mdp->probability, at, count * sizeof *mdp->probability);
    at = copy(mdp->reward, at, count * sizeof *mdp->reward);
    (void)copy(mdp->next, at, count * sizeof *mdp->next);
    PESS_TRY(check_transitions(name, mdp, error));
    return pess__mdp_settle(mdp, name, error);
}

pess_status pess__mdp_read_binary(pess__infile *file, pess_mdp **out, pess_error *error) {
    const char *name = pess__infile_name(file);
    const uint8_t *bytes = NULL;
    int64_t size = 0;
    header h = {0};
    PESS_TRY(check_magic(file, error));
    PESS_TRY(pess__infile_map(file, &bytes, &size, error));
    if (size < (int64_t)sizeof h + 4)
        return pess__fail(error, PESS_INPUT, "%s: truncated: %lld bytes", name, (long long)size);
    memcpy(&h, bytes, sizeof h);
    PESS_TRY(check_header(name, &h, size, error));
    PESS_TRY(pess__check_crc(name, bytes, (size_t)size, NULL, error));
    pess_mdp *mdp = NULL;
    PESS_TRY(pess__mdp_allocate(h.states, h.actions, h.transitions, &mdp, error));
    const pess_status status = read_arrays(name, bytes + sizeof h, h.transitions, mdp, error);
    if (status == PESS_OK)
        *out = mdp;
    else
        pess_mdp_destroy(mdp);
    return status;
}

/* A file of counts whose parts are on all ranks: header, names, starts of episodes and records, each part in the order
 * of the ranks. */
#include "model/counts_file.h"
#include "core/memory.h"
#include "scale/counting.h"
#include "scale/gathered.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of this rank. */
typedef struct part {
    char *bytes;
    int64_t length, room;
    pess_status status;
    pess_error *error;
} part;

static void put(part *p, const void *bytes, size_t length) {
    if (p->status == PESS_OK)
        p->status = pess__grow(&p->bytes, &p->room, p->length + (int64_t)length, 1, "the file of counts", p->error);
    if (p->status != PESS_OK) return;
    memcpy(p->bytes + p->length, bytes, length);
    p->length += (int64_t)length;
}

static void put_record(void *user, const pess__pesscounts_record *record) { put(user, record, sizeof *record); }

enum { NAMES, STARTS = NAMES + PESS__NUMBERINGS, EPISODES, RECORDS, PARTS };

static void put_names(part *p, const pess_names *names) {
    for (int64_t i = 0; i < pess_names_count(names); i++) {
        const char *name = pess_names_get(names, i);
        put(p, name, strlen(name) + 1);
    }
}

static pess_status fill_parts(const pess__share *share, const pess__tally *tally, part *parts, pess_error *error) {
    const int rank = pess__ranks_all.rank;
    for (int k = 0; k < PESS__NUMBERINGS; k++)
        if (share->named[k]) put_names(&parts[NAMES + k], share->names[k].kept);
    if (share->has_episode)
        put(&parts[EPISODES], share->start, (size_t)share->start_count * sizeof *share->start);
    else if (share->any_end)
        put(&parts[STARTS], share->starts, (size_t)(share->begin[rank + 1] - share->begin[rank]) * sizeof(int64_t));
    PESS_TRY(pess__counts_records(tally, put_record, &parts[RECORDS], error));
    for (int k = 0; k < PARTS; k++) PESS_TRY(parts[k].status);
    return PESS_OK;
}

/* The header that one process would write: of a tally with the totals of all. */
static pess__pesscounts_header header_of(const pess__share *share) {
    const pess_names *const some = (const pess_names *)share; /* only whether there are any counts */
    pess__tally totals = {.rows = share->transitions,
                          .cutoffs = share->cutoffs,
                          .any_end = share->any_end,
                          .first_used = share->episodes,
                          .no_squares = share->no_squares,
                          .no_range = share->no_range,
                          .reward_min = share->reward_min,
                          .reward_max = share->reward_max};
    pess__counts_file file = {.tally = &totals,
                              .states = share->states,
                              .actions = share->actions,
                              .states_declared = share->states_declared,
                              .actions_declared = share->actions_declared,
                              .has_episode = share->has_episode};
    for (int k = 0; k < PESS__NUMBERINGS; k++) file.names[k] = share->named[k] ? some : NULL;
    return pess__counts_header(&file);
}

static pess_status write_parts(const pess__share *share, const part *parts, const char *path, pess_error *error) {
    pess__pesscounts_header header = header_of(share);
    pess__gathered file;
    int64_t body = 0;
    for (int k = 0; k < PARTS; k++) {
        const int64_t length = pess__ranks_total(parts[k].length);
        if (k < STARTS) header.name_bytes[k] = length;
        if (k == RECORDS) header.records = length / (int64_t)sizeof(pess__pesscounts_record);
        body += length;
    }
    pess__counts_seal(&header, body);
    PESS_TRY(pess__gathered_open(path, &header, sizeof header, &file, error));
    for (int k = 0; k < PARTS; k++) pess__gathered_add(&file, parts[k].bytes, parts[k].length);
    return pess__gathered_commit(&file, error);
}

static int64_t same(void *context, int64_t state) {
    (void)context;
    return state;
}

pess_status pess__share_write(pess__share *share, const char *path, pess_error *error) {
    part parts[PARTS] = {{0}};
    pess__tally tally;
    for (int k = 0; k < PARTS; k++) parts[k].error = error;
    pess_status status = pess__share_tally(share, share->states, NULL, same, &tally, error);
    if (status == PESS_OK) status = fill_parts(share, &tally, parts, error);
    pess__tally_free(&tally);
    status = pess__agree(status, error);
    if (status == PESS_OK) status = write_parts(share, parts, path, error);
    for (int k = 0; k < PARTS; k++) free(parts[k].bytes);
    return status;
}

#include "model/counts_file.h"

#include "core/exact.h"
#include "core/memory.h"
#include "core/outfile.h"
#include "data/pesscounts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Where the bytes behind the header go: to the file and its checksum, or nowhere, to know how many there are. */
typedef struct sink {
    pess__outfile *file; /* NULL: nowhere */
    uint32_t crc;
    int64_t bytes, records;
} sink;

static void put(sink *to, const void *bytes, size_t length) {
    to->bytes += (int64_t)length;
    if (to->file == NULL) return;
    pess__outfile_write(to->file, bytes, length);
    to->crc = (uint32_t)crc32_z(to->crc, bytes, length);
}

/* ------------------------------------------------------------------------------------------------ records */

typedef struct taker {
    pess__take_record *take;
    void *user;
} taker;

static void put_record(const taker *to, pess__key_parts of, int64_t n, double value, double rest) {
    const pess__pesscounts_record record = {of.state, of.action, of.next_state, of.kind, n, value + 0.0, rest + 0.0};
    to->take(to->user, &record);
}

/* Σ r² of a pair, behind its other records. */
static void put_squares(const taker *to, pess__key_parts of, pess__exact *square) {
    double part[PESS__EXACT_PARTS];
    const int parts = pess__exact_take(square, part);
    if (part[0] == 0) return;
    of.kind = PESS__SQUARES;
    of.next_state = 0;
    for (int i = 0; i < parts; i += 2) put_record(to, of, 0, part[i], i + 1 < parts ? part[i + 1] : 0);
}

static bool same_pair(pess__key_parts a, pess__key_parts b) { return a.state == b.state && a.action == b.action; }

/* False: a sum is beyond the range of doubles. */
static bool put_partition(const taker *to, const pess__tally *tally, const pess__partition *partition) {
    pess__record_cursor cursor = pess__first_record(partition);
    pess__key_parts last = {0};
    pess__exact square = {0};
    pess__sum_record record;
    double row_square = 0;
    bool fine = true;
    for (bool first = true; pess__next_record(&cursor, &record, &row_square) && fine; first = false) {
        const pess__key_parts of = pess__key_parts_of(tally->partitions.bits, record.key);
        if (!first && !same_pair(of, last)) put_squares(to, last, &square);
        last = of;
        fine = isfinite(record.value);
        if (of.kind != PESS__SQUARES) put_record(to, of, record.n, record.value, record.rest);
        if (tally->no_squares) continue;
        if (of.kind == PESS__SQUARES) pess__exact_add(&square, record.value);
        if (of.kind == PESS__SQUARES) pess__exact_add(&square, record.rest);
        pess__exact_add(&square, row_square);
    }
    put_squares(to, last, &square);
    return fine;
}

pess_status pess__counts_records(const pess__tally *tally, pess__take_record *take, void *user, pess_error *error) {
    const taker to = {take, user};
    for (int i = 0; i < PESS__PARTITIONS; i++)
        if (!put_partition(&to, tally, &tally->partitions.partition[i]))
            return pess__fail(error, PESS_INPUT,
                              "the rewards of a pair, or their squares, sum to more than a double can hold");
    return PESS_OK;
}

static void put_in_file(void *user, const pess__pesscounts_record *record) {
    sink *to = user;
    put(to, record, sizeof *record);
    to->records++;
}

/* ------------------------------------------------------------------------------------------------ names, starts */

static int64_t put_names(sink *to, const pess_names *names) {
    const int64_t before = to->bytes;
    for (int64_t i = 0; i < pess_names_count(names); i++) {
        const char *name = pess_names_get(names, i);
        put(to, name, strlen(name) + 1);
    }
    return to->bytes - before;
}

static int compare_starts(const void *a, const void *b) {
    const int64_t x = ((const pess__pesscounts_start *)a)->episode, y = ((const pess__pesscounts_start *)b)->episode;
    return (x > y) - (x < y);
}

static pess_status put_episodes(sink *to, const pess__tally *tally, pess_error *error) {
    pess__pesscounts_start *starts = NULL;
    int64_t count = 0;
    PESS_TRY(pess__allocate(&starts, tally->first_used, sizeof *starts, "episode starts", error));
    for (int64_t i = 0; i < tally->first_slots; i++)
        if (tally->first[i].used)
            starts[count++] =
                (pess__pesscounts_start){tally->first[i].episode, tally->first[i].step, tally->first[i].state, 0};
    qsort(starts, (size_t)count, sizeof *starts, compare_starts);
    put(to, starts, (size_t)count * sizeof *starts);
    free(starts);
    return PESS_OK;
}

static void put_starts(sink *to, const pess__counts_file *counts) {
    for (int64_t s = 0; s < counts->states; s++) {
        const int64_t starts = s < counts->tally->starts_capacity ? counts->tally->starts[s] : 0;
        put(to, &starts, sizeof starts);
    }
}

/* ------------------------------------------------------------------------------------------------ the file */

pess__pesscounts_header pess__counts_header(const pess__counts_file *counts) {
    const pess__tally *tally = counts->tally;
    pess__pesscounts_header h = {.version = PESS__PESSCOUNTS_VERSION,
                                 .states = counts->states,
                                 .actions = counts->actions,
                                 .transitions = tally->rows,
                                 .cutoffs = tally->cutoffs,
                                 .episodes = counts->has_episode ? tally->first_used : 0};
    memcpy(h.magic, pess__pesscounts_magic, sizeof h.magic);
    if (counts->states_declared) h.flags |= PESS__COUNTS_STATES_DECLARED;
    if (counts->actions_declared) h.flags |= PESS__COUNTS_ACTIONS_DECLARED;
    if (counts->has_episode) h.flags |= PESS__COUNTS_EPISODES;
    if (!counts->has_episode && tally->any_end) h.flags |= PESS__COUNTS_STARTS;
    if (!tally->no_squares) h.flags |= PESS__COUNTS_SQUARES;
    for (int k = 0; k < PESS__NUMBERINGS; k++)
        if (counts->names[k] != NULL) h.flags |= (uint32_t)(PESS__COUNTS_NAMED << k);
    if (tally->no_range) return h;
    h.flags |= PESS__COUNTS_RANGE;
    h.reward_min = tally->reward_min + 0.0;
    h.reward_max = tally->reward_max + 0.0;
    return h;
}

void pess__counts_seal(pess__pesscounts_header *header, int64_t body_bytes) {
    header->size = (int64_t)sizeof *header + body_bytes + (int64_t)sizeof header->crc;
    header->crc = (uint32_t)crc32_z(0, (const uint8_t *)header, sizeof *header);
}

static pess_status put_body(sink *to, const pess__counts_file *counts, pess__pesscounts_header *h, pess_error *error) {
    for (int k = 0; k < PESS__NUMBERINGS; k++) h->name_bytes[k] = put_names(to, counts->names[k]);
    if (h->flags & PESS__COUNTS_STARTS) put_starts(to, counts);
    if (h->flags & PESS__COUNTS_EPISODES) PESS_TRY(put_episodes(to, counts->tally, error));
    return pess__counts_records(counts->tally, put_in_file, to, error);
}

pess_status pess__counts_file_write(const pess__counts_file *counts, const char *path, pess_error *error) {
    pess__pesscounts_header header = pess__counts_header(counts);
    sink measure = {0}, body = {0};
    PESS_TRY(put_body(&measure, counts, &header, error));
    header.records = measure.records;
    pess__counts_seal(&header, measure.bytes);
    PESS_TRY(pess__outfile_open(path, &body.file, error));
    pess__outfile_write(body.file, &header, sizeof header);
    const pess_status status = put_body(&body, counts, &header, error);
    pess__outfile_write(body.file, &body.crc, sizeof body.crc);
    if (status == PESS_OK) return pess__outfile_commit(body.file, error);
    pess__outfile_abandon(body.file);
    return status;
}

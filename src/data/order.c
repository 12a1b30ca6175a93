#include "data/order.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

/* Radix sort, one byte at a time from the lowest; bytes that are the same in all keys are skipped. */
pess_status pess__order_by(const uint64_t *key, int64_t rows, int64_t *order, pess_error *error) {
    uint64_t varying = 0;
    bool sorted = true;
    for (int64_t i = 1; i < rows; i++) {
        varying |= key[i] ^ key[0];
        sorted = sorted && key[order[i - 1]] <= key[order[i]];
    }
    if (sorted) return PESS_OK;
    int64_t *other = NULL;
    PESS_TRY(pess__allocate(&other, rows, sizeof *other, "sorting the log", error));
    int64_t *from = order, *to = other;
    for (int shift = 0; shift < 64; shift += 8) {
        if ((varying >> shift & 255) == 0) continue;
        int64_t place[256] = {0}, sum = 0;
        for (int64_t i = 0; i < rows; i++) place[key[i] >> shift & 255]++;
        for (int b = 0; b < 256; b++) {
            const int64_t here = place[b];
            place[b] = sum;
            sum += here;
        }
        for (int64_t i = 0; i < rows; i++) to[place[key[from[i]] >> shift & 255]++] = from[i];
        int64_t *keep = from;
        from = to;
        to = keep;
    }
    if (from != order) memcpy(order, from, (size_t)rows * sizeof *order);
    free(other);
    return PESS_OK;
}

/* Signed integers as keys that sort alike. */
static uint64_t key_of(int64_t value) { return (uint64_t)value ^ (uint64_t)1 << 63; }

pess_status pess__order_episodes(const int64_t *episode, const int64_t *step, int64_t rows, int64_t *order,
                                 pess_error *error) {
    const int64_t *const by[] = {step, episode};
    uint64_t *key = NULL;
    PESS_TRY(pess__allocate(&key, rows, sizeof *key, "the order of rows", error));
    pess_status status = PESS_OK;
    for (int64_t i = 0; i < rows; i++) order[i] = i;
    for (int k = 0; k < 2 && status == PESS_OK; k++) {
        if (by[k] == NULL) continue;
        for (int64_t i = 0; i < rows; i++) key[i] = key_of(by[k][i]);
        status = pess__order_by(key, rows, order, error);
    }
    free(key);
    return status;
}

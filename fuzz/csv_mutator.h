/* Mutations that keep a text a table: rows and fields are doubled, left out, exchanged or replaced by values that
 * readers have to think about. Every third input is mutated byte by byte, as libFuzzer does it. */
#ifndef PESS_FUZZ_CSV_MUTATOR_H
#define PESS_FUZZ_CSV_MUTATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most); /* absent in replays */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed);

static inline uint32_t csv_draw(uint64_t *state, uint32_t below) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(*state >> 33) % (below > 0 ? below : 1);
}

/* A piece between marks (line feeds, or commas too) around place `at`; a row goes with its line feed. */
static inline void csv_piece(const uint8_t *bytes, size_t size, bool fields, uint32_t at, size_t *begin, size_t *end) {
    for (*begin = at; *begin > 0; --*begin) {
        const uint8_t before = bytes[*begin - 1];
        if (before == '\n' || (fields && before == ',')) break;
    }
    for (*end = at; *end < size; ++*end) {
        if (bytes[*end] != '\n' && !(fields && bytes[*end] == ',')) continue;
        *end += !fields;
        break;
    }
}

static inline size_t csv_replace(uint8_t *bytes, size_t size, size_t most, size_t begin, size_t end, const void *by,
                                 size_t length) {
    if (size - (end - begin) + length > most) return size;
    memmove(bytes + begin + length, bytes + end, size - end);
    memcpy(bytes + begin, by, length);
    return size - (end - begin) + length;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    static const char *const values[] = {
        "0", "1",        "-1",    "0.5",     "1e308",    "1e-320",      "nan",       "inf",
        "",  "NA",       "true",  "\"a,b\"", "\"\"",     "007",         "100000000", "9223372036854775808",
        "a", "\xC3\xA9", "state", "reward",  "terminal", "probability", "episode",   "step"};
    uint64_t state = seed;
    uint8_t copy[512];
    size_t begin = 0, end = 0;
    const uint32_t way = csv_draw(&state, 6);
    if (size == 0 || way < 2) return LLVMFuzzerMutate != NULL ? LLVMFuzzerMutate(bytes, size, most) : size;
    csv_piece(bytes, size, way > 3, csv_draw(&state, (uint32_t)size), &begin, &end);
    if (way == 2) return csv_replace(bytes, size, most, begin, end, "", 0); /* a row less */
    if (way == 3 || way == 4) { /* a row, or a field, once more somewhere else */
        const size_t length = end - begin < sizeof copy ? end - begin : sizeof copy;
        size_t to = 0, after = 0;
        memcpy(copy, bytes + begin, length);
        csv_piece(bytes, size, way == 4, csv_draw(&state, (uint32_t)size), &to, &after);
        return csv_replace(bytes, size, most, to, way == 3 ? to : after, copy, length);
    }
    const char *value = values[csv_draw(&state, sizeof values / sizeof *values)];
    return csv_replace(bytes, size, most, begin, end, value, strlen(value));
}

#endif

#include "data/names.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

/* Names lie one after the other in `text`, each ended by a NUL; `slot` is an open-addressing index of ids + 1. */
struct pess_names {
    char *text;
    int64_t text_size, text_capacity;
    int64_t *offset; /* [count] */
    uint32_t *hash;  /* [count] */
    int64_t count, offset_capacity, hash_capacity;
    uint32_t *slot; /* [slots] id + 1, 0: free; slots is a power of two */
    int64_t slots;
};

enum { FIRST_SLOTS = 64 };

/* FNV-1a in 64 bits, folded. */
static uint32_t hash_of(const char *name, size_t length) {
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < length; i++) h = (h ^ (uint8_t)name[i]) * 1099511628211u;
    return (uint32_t)(h ^ (h >> 32));
}

pess_status pess__names_create(pess_names **out, pess_error *error) {
    pess_names *names = NULL;
    PESS_TRY(pess__allocate(&names, 1, sizeof *names, "names", error));
    const pess_status status = pess__allocate(&names->slot, FIRST_SLOTS, sizeof *names->slot, "names", error);
    if (status != PESS_OK) {
        free(names);
        return status;
    }
    names->slots = FIRST_SLOTS;
    *out = names;
    return PESS_OK;
}

void pess_names_destroy(pess_names *names) {
    if (names == NULL) return;
    free(names->text);
    free(names->offset);
    free(names->hash);
    free(names->slot);
    free(names);
}

void pess__names_clear(pess_names *names) {
    if (names->count > 0) memset(names->slot, 0, (size_t)names->slots * sizeof *names->slot);
    names->count = names->text_size = 0;
}

static void put_in_slot(uint32_t *slot, int64_t slots, uint32_t hash, int64_t id) {
    uint64_t at = hash & (uint64_t)(slots - 1);
    while (slot[at] != 0) at = (at + 1) & (uint64_t)(slots - 1);
    slot[at] = (uint32_t)(id + 1);
}

static pess_status make_room(pess_names *names, size_t length, pess_error *error) {
    PESS_TRY(
        pess__grow(&names->text, &names->text_capacity, names->text_size + (int64_t)length + 1, 1, "names", error));
    PESS_TRY(
        pess__grow(&names->offset, &names->offset_capacity, names->count + 1, sizeof *names->offset, "names", error));
    PESS_TRY(pess__grow(&names->hash, &names->hash_capacity, names->count + 1, sizeof *names->hash, "names", error));
    if (2 * (names->count + 1) <= names->slots) return PESS_OK;
    uint32_t *slot = NULL;
    PESS_TRY(pess__allocate(&slot, 2 * names->slots, sizeof *slot, "the index of names", error));
    for (int64_t id = 0; id < names->count; id++) put_in_slot(slot, 2 * names->slots, names->hash[id], id);
    free(names->slot);
    names->slot = slot;
    names->slots *= 2;
    return PESS_OK;
}

static int64_t find(const pess_names *names, const char *name, size_t length, uint32_t hash) {
    for (uint64_t at = hash & (uint64_t)(names->slots - 1); names->slot[at] != 0;
         at = (at + 1) & (uint64_t)(names->slots - 1)) {
        const int64_t id = (int64_t)names->slot[at] - 1;
        const char *other = names->text + names->offset[id];
        if (names->hash[id] == hash && strncmp(other, name, length) == 0 && other[length] == '\0') return id;
    }
    return -1;
}

pess_status pess__names_add(pess_names *names, const char *name, size_t length, int64_t *id, pess_error *error) {
    const uint32_t hash = hash_of(name, length);
    *id = find(names, name, length, hash);
    if (*id >= 0) return PESS_OK;
    if (names->count >= INT32_MAX) return pess__fail(error, PESS_LIMIT, "more than %d different names", INT32_MAX);
    PESS_TRY(make_room(names, length, error));
    char *text = names->text + names->text_size;
    if (length > 0) memcpy(text, name, length);
    text[length] = '\0';
    *id = names->count++;
    names->offset[*id] = names->text_size;
    names->hash[*id] = hash;
    names->text_size += (int64_t)length + 1;
    put_in_slot(names->slot, names->slots, hash, *id);
    return PESS_OK;
}

pess_status pess__names_clone(const pess_names *names, pess_names **out, pess_error *error) {
    if (names == NULL) {
        *out = NULL;
        return PESS_OK;
    }
    pess_names *copy = NULL;
    PESS_TRY(pess__names_create(&copy, error));
    for (int64_t id = 0; id < names->count; id++) {
        const char *name = pess_names_get(names, id);
        int64_t same = 0;
        const pess_status status = pess__names_add(copy, name, strlen(name), &same, error);
        if (status != PESS_OK) {
            pess_names_destroy(copy);
            return status;
        }
    }
    *out = copy;
    return PESS_OK;
}

int64_t pess__names_find(const pess_names *names, const char *name, size_t length) {
    return names == NULL ? -1 : find(names, name, length, hash_of(name, length));
}

bool pess_names_given(const pess_names *names) { return names != NULL; }

int64_t pess_names_count(const pess_names *names) { return names == NULL ? 0 : names->count; }

const char *pess_names_get(const pess_names *names, int64_t id) {
    return names == NULL || id < 0 || id >= names->count ? NULL : names->text + names->offset[id];
}

int64_t pess_names_find(const pess_names *names, const char *name) {
    return name == NULL ? -1 : pess__names_find(names, name, strlen(name));
}

/* Length of the UTF-8 sequence at text (1-4), 0 where there is none (overlong forms and surrogates included). */
static size_t sequence_length(const uint8_t *text, size_t room) {
    const uint8_t c = text[0];
    if (c < 0x80) return 1;
    const size_t length = c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
    if (length == 0 || length > room) return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xC0) != 0x80) return 0;
    if ((c == 0xE0 && text[1] < 0xA0) || (c == 0xED && text[1] > 0x9F) || (c == 0xF0 && text[1] < 0x90) ||
        (c == 0xF4 && text[1] > 0x8F))
        return 0;
    return length;
}

bool pess__names_valid(const char *name, size_t length) {
    for (size_t i = 0; i < length;) {
        const size_t step = name[i] == '\0' ? 0 : sequence_length((const uint8_t *)name + i, length - i);
        if (step == 0) return false;
        i += step;
    }
    return true;
}

static pess_status add_all(pess_names *to, const char *const *names, int64_t count, pess_error *error) {
    for (int64_t i = 0; i < count; i++) {
        int64_t id = 0;
        if (names[i] == NULL || !pess__names_valid(names[i], strlen(names[i])))
            return pess__fail(error, PESS_INPUT, "name %lld is not UTF-8", (long long)i);
        PESS_TRY(pess__names_add(to, names[i], strlen(names[i]), &id, error));
        if (id != i)
            return pess__fail(error, PESS_INPUT, "name %lld: '%.60s' is name %lld already; expected each once",
                              (long long)i, names[i], (long long)id);
    }
    return PESS_OK;
}

pess_status pess_names_create(const char *const *names, int64_t count, pess_names **out, pess_error *error) {
    pess_names *made = NULL;
    PESS_TRY(pess__names_create(&made, error));
    const pess_status status = add_all(made, names, count, error);
    if (status == PESS_OK)
        *out = made;
    else
        pess_names_destroy(made);
    return status;
}

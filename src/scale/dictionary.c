#include "scale/dictionary.h"

#include "core/memory.h"
#include "data/names.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 32 }; /* per rank, from which the ranges of names are chosen */

typedef struct entry {
    const char *name;
    int64_t at; /* its number where it came from, or in what was received */
} entry;

static int compare_entries(const void *a, const void *b) {
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

void pess__dictionary_free(pess__dictionary *dictionary) {
    free(dictionary->begin);
    pess_names_destroy(dictionary->kept);
    *dictionary = (pess__dictionary){0};
}

int64_t pess__dictionary_size(const pess__dictionary *dictionary) { return dictionary->begin[pess__ranks_all.size]; }

static pess_status sorted_entries(const pess_names *names, entry **out, pess_error *error) {
    const int64_t count = pess_names_count(names);
    PESS_TRY(pess__allocate(out, count, sizeof **out, "names", error));
    for (int64_t i = 0; i < count; i++) (*out)[i] = (entry){pess_names_get(names, i), i};
    qsort(*out, (size_t)count, sizeof **out, compare_entries);
    return PESS_OK;
}

/* ------------------------------------------------------------------------------------------------ ranges of names */

/* Texts, each with its final zero, and where they begin. */
typedef struct texts {
    char *bytes;
    int64_t length;
    entry *each;
    int64_t count;
} texts;

static void texts_free(texts *t) {
    free(t->bytes);
    free(t->each);
}

static pess_status texts_find(texts *t, pess_error *error) {
    t->count = 0;
    for (int64_t i = 0; i < t->length; i++) t->count += t->bytes[i] == '\0';
    PESS_TRY(pess__allocate(&t->each, t->count, sizeof *t->each, "names", error));
    const char *at = t->bytes;
    for (int64_t i = 0; i < t->count; i++, at += strlen(at) + 1) t->each[i] = (entry){at, i};
    return PESS_OK;
}

static pess_status put_text(texts *t, int64_t *room, const char *name, pess_error *error) {
    const int64_t size = (int64_t)strlen(name) + 1;
    PESS_TRY(pess__grow(&t->bytes, room, t->length + size, 1, "names", error));
    memcpy(t->bytes + t->length, name, (size_t)size);
    t->length += size;
    return PESS_OK;
}

static pess_status sample(const entry *sorted, int64_t count, texts *out, pess_error *error) {
    int64_t room = 0;
    for (int64_t i = 0; i < SAMPLES && i < count; i++)
        PESS_TRY(put_text(out, &room, sorted[count > SAMPLES ? i * count / SAMPLES : i].name, error));
    return PESS_OK;
}

/* Everybody's samples at every rank, in order. */
static pess_status share_samples(texts *t, pess_error *error) {
    const int size = pess__ranks_all.size;
    int *length = NULL, *begin = NULL, own = (int)t->length;
    char *all = NULL;
    pess_status status = pess__allocate(&length, size, sizeof *length, "names", error);
    if (status == PESS_OK) status = pess__allocate(&begin, size + 1, sizeof *begin, "names", error);
    status = pess__agree(status, error);
    if (status == PESS_OK) {
        MPI_Allgather(&own, 1, MPI_INT, length, 1, MPI_INT, pess__ranks_all.comm);
        for (int r = 0; r < size; r++) begin[r + 1] = begin[r] + length[r];
        status = pess__agree(pess__allocate(&all, begin[size], 1, "names", error), error);
    }
    if (status == PESS_OK) {
        MPI_Allgatherv(t->bytes, own, MPI_BYTE, all, length, begin, MPI_BYTE, pess__ranks_all.comm);
        free(t->bytes);
        t->bytes = all;
        t->length = begin[size];
        status = texts_find(t, error);
    }
    if (status == PESS_OK) qsort(t->each, (size_t)t->count, sizeof *t->each, compare_entries);
    free(length);
    free(begin);
    return pess__agree(status, error);
}

/* The rank whose range a name is in: the ranges begin at every size-th part of the samples. */
static int rank_of_name(const texts *samples, const char *name) {
    int rank = 0;
    for (int r = 1; r < pess__ranks_all.size; r++) {
        const int64_t at = r * samples->count / pess__ranks_all.size;
        if (at < samples->count && strcmp(samples->each[at].name, name) <= 0) rank = r;
    }
    return rank;
}

/* ------------------------------------------------------------------------------------------------ numbers for names */

/* What came is put in order, once each; *answers are their numbers, in the order in which they came. */
static pess_status number_names(texts *came, pess__dictionary *out, int64_t **answers, pess_error *error) {
    int64_t id = -1;
    PESS_TRY(pess__allocate(answers, came->count, sizeof **answers, "names", error));
    qsort(came->each, (size_t)came->count, sizeof *came->each, compare_entries);
    for (int64_t i = 0; i < came->count; i++) {
        PESS_TRY(pess__names_add(out->kept, came->each[i].name, strlen(came->each[i].name), &id, error));
        (*answers)[came->each[i].at] = id;
    }
    return PESS_OK;
}

static void set_ranges(pess__dictionary *d) {
    const int64_t own = pess_names_count(d->kept);
    MPI_Allgather(&own, 1, MPI_INT64_T, d->begin + 1, 1, MPI_INT64_T, pess__ranks_all.comm);
    for (int r = 0; r < pess__ranks_all.size; r++) d->begin[r + 1] += d->begin[r];
}

/* Each name to the rank of its range. sent[r] is how many go there, in the order of `sorted`. */
static pess_status send_names(const entry *sorted, int64_t count, const texts *samples, texts *came, int64_t *sent,
                              pess_error *error) {
    int64_t room = 0, *from = NULL;
    pess_status status = pess__allocate(&from, pess__ranks_all.size + 1, sizeof *from, "names", error);
    for (int64_t i = 0; i < count && status == PESS_OK; i++) {
        const int rank = rank_of_name(samples, sorted[i].name);
        sent[rank]++;
        status = put_text(came, &room, sorted[i].name, error);
        from[rank + 1] = came->length;
    }
    for (int r = 0; status == PESS_OK && r < pess__ranks_all.size; r++)
        if (from[r + 1] < from[r]) from[r + 1] = from[r];
    status = pess__agree(status, error);
    if (status == PESS_OK) status = pess__exchange_bytes(&came->bytes, &came->length, from, error);
    if (status == PESS_OK) status = pess__agree(texts_find(came, error), error);
    free(from);
    return status;
}

/* The numbers go back in the order in which the names came. */
static pess_status return_numbers(const int64_t *sent, int64_t **answers, int64_t *count, pess_error *error) {
    const int size = pess__ranks_all.size;
    int64_t *came = NULL;
    int32_t *to = NULL;
    pess_status status = pess__allocate(&came, size, sizeof *came, "names", error);
    if (status == PESS_OK) status = pess__allocate(&to, *count, sizeof *to, "names", error);
    status = pess__agree(status, error);
    if (status == PESS_OK) {
        MPI_Alltoall(sent, 1, MPI_INT64_T, came, 1, MPI_INT64_T, pess__ranks_all.comm);
        int64_t at = 0;
        for (int r = 0; r < size; r++)
            for (int64_t i = 0; i < came[r]; i++) to[at++] = r;
        status = pess__exchange(answers, count, sizeof **answers, to, error);
    }
    free(came);
    free(to);
    return status;
}

static pess_status sort_everywhere(const pess_names *names, pess__dictionary *out, int64_t *to, pess_error *error) {
    const int64_t own = pess_names_count(names);
    int64_t *sent = NULL, *answers = NULL, count = 0;
    entry *sorted = NULL;
    texts samples = {0}, came = {0};
    pess_status status = sorted_entries(names, &sorted, error);
    if (status == PESS_OK) status = pess__allocate(&sent, pess__ranks_all.size, sizeof *sent, "names", error);
    if (status == PESS_OK) status = sample(sorted, own, &samples, error);
    status = pess__agree(status, error);
    if (status == PESS_OK) status = share_samples(&samples, error);
    if (status == PESS_OK) status = send_names(sorted, own, &samples, &came, sent, error);
    if (status == PESS_OK) status = pess__agree(number_names(&came, out, &answers, error), error);
    count = came.count;
    if (status == PESS_OK) {
        set_ranges(out);
        for (int64_t i = 0; i < count; i++) answers[i] += out->begin[pess__ranks_all.rank];
        status = return_numbers(sent, &answers, &count, error);
    }
    for (int64_t i = 0; status == PESS_OK && i < own; i++) to[sorted[i].at] = answers[i];
    texts_free(&samples);
    texts_free(&came);
    free(sorted);
    free(sent);
    free(answers);
    return status;
}

pess_status pess__dictionary_create(const pess_names *names, bool as_they_are, pess__dictionary *out, int64_t *to,
                                    pess_error *error) {
    *out = (pess__dictionary){0};
    pess_status status = pess__allocate(&out->begin, pess__ranks_all.size + 1, sizeof *out->begin, "names", error);
    if (status == PESS_OK && as_they_are && names != NULL)
        status = pess__names_clone(names, &out->kept, error);
    else if (status == PESS_OK)
        status = pess__names_create(&out->kept, error);
    status = pess__agree(status, error);
    if (status == PESS_OK && as_they_are) {
        for (int64_t i = 0; i < pess_names_count(names); i++) to[i] = i;
        set_ranges(out);
    } else if (status == PESS_OK) {
        status = sort_everywhere(names, out, to, error);
    }
    if (status != PESS_OK) pess__dictionary_free(out);
    return status;
}

/* ------------------------------------------------------------------------------------------------ names for numbers */

static int rank_of_id(const pess__dictionary *d, int64_t id) {
    int rank = 0;
    while (id >= d->begin[rank + 1]) rank++;
    return rank;
}

/* The texts of what was asked, grouped by who asks. */
static pess_status find_texts(const pess__dictionary *d, const int64_t *asked, const int64_t *came, texts *out,
                              int64_t *from, pess_error *error) {
    int64_t room = 0, at = 0;
    for (int r = 0; r < pess__ranks_all.size; r++) {
        for (int64_t i = 0; i < came[r]; i++, at++)
            PESS_TRY(put_text(out, &room, pess_names_get(d->kept, asked[at] - d->begin[pess__ranks_all.rank]), error));
        from[r + 1] = out->length;
    }
    return PESS_OK;
}

/* Answers come by rank; those of one rank in the order of the questions. */
static pess_status put_names(const texts *found, const int32_t *to, int64_t count, pess_names **out,
                             pess_error *error) {
    int64_t *next = NULL, id = 0;
    pess_status status = pess__allocate(&next, pess__ranks_all.size + 1, sizeof *next, "names", error);
    if (status == PESS_OK) status = pess__names_create(out, error);
    for (int64_t i = 0; status == PESS_OK && i < count; i++) next[to[i] + 1]++;
    for (int r = 0; status == PESS_OK && r < pess__ranks_all.size; r++) next[r + 1] += next[r];
    for (int64_t i = 0; status == PESS_OK && i < count; i++) {
        const char *name = found->each[next[to[i]]++].name;
        status = pess__names_add(*out, name, strlen(name), &id, error);
    }
    free(next);
    return status;
}

pess_status pess__dictionary_look_up(const pess__dictionary *d, const int64_t *ids, int64_t count, pess_names **out,
                                     pess_error *error) {
    const int size = pess__ranks_all.size;
    int64_t *asked = NULL, *came = NULL, *going = NULL, *from = NULL, questions = count;
    int32_t *to = NULL;
    texts found = {0};
    pess_status status = pess__allocate(&asked, count, sizeof *asked, "names", error);
    if (status == PESS_OK) status = pess__allocate(&to, count, sizeof *to, "names", error);
    if (status == PESS_OK) status = pess__allocate(&came, size, sizeof *came, "names", error);
    if (status == PESS_OK) status = pess__allocate(&going, size, sizeof *going, "names", error);
    if (status == PESS_OK) status = pess__allocate(&from, size + 1, sizeof *from, "names", error);
    status = pess__agree(status, error);
    if (status == PESS_OK) {
        for (int64_t i = 0; i < count; i++) asked[i] = ids[i], to[i] = rank_of_id(d, ids[i]), going[to[i]]++;
        MPI_Alltoall(going, 1, MPI_INT64_T, came, 1, MPI_INT64_T, pess__ranks_all.comm);
        status = pess__exchange(&asked, &questions, sizeof *asked, to, error);
    }
    if (status == PESS_OK) status = pess__agree(find_texts(d, asked, came, &found, from, error), error);
    if (status == PESS_OK) status = pess__exchange_bytes(&found.bytes, &found.length, from, error);
    if (status == PESS_OK) {
        status = texts_find(&found, error);
        if (status == PESS_OK) status = put_names(&found, to, count, out, error);
        status = pess__agree(status, error);
    }
    texts_free(&found);
    free(asked);
    free(to);
    free(came);
    free(going);
    free(from);
    return status;
}

/* Logs and counts put together as one file of counts (.pesscounts). Sums are exact and names stand in ascending order,
 * so that the bytes depend on the transitions alone: not on how they were cut into shards, nor on the order of these.
 */
#include "model/counts_merge.h"
#include "core/memory.h"
#include "core/threads.h"
#include "data/names.h"
#include "model/counts_file.h"

#include <stdlib.h>
#include <string.h>

void pess__merging_begin(pess__merging *m, int threads) {
    *m = (pess__merging){0};
    pess__tally_begin(&m->tally, threads);
    pess__tally_begin(&m->ordered, threads);
}

void pess__merging_free(pess__merging *m) {
    pess__tally_free(&m->tally);
    pess__tally_free(&m->ordered);
    for (int k = 0; k < PESS__NUMBERINGS; k++) pess_names_destroy(m->names[k]);
}

static void renumbering_free(pess__renumbering *renumbering) {
    for (int k = 0; k < PESS__NUMBERINGS; k++) free(renumbering->to[k]);
}

/* ------------------------------------------------------------------------------------------------ inputs */

pess_status pess__merging_check_alike(const char *first, const pess__merging_kind *as, const char *path,
                                      const pess__merging_kind *found, pess_error *error) {
    static const char *const what[] = {"states", "actions", "episodes"};
    if (as->has_episode != found->has_episode)
        return pess__fail(error, PESS_INPUT,
                          "%s %s episodes and %s %s: expected all or none of them to have a column 'episode'", first,
                          as->has_episode ? "has" : "has no", path, found->has_episode ? "has" : "has none");
    for (int k = 0; k < PESS__NUMBERINGS; k++)
        if (as->named[k] != found->named[k])
            return pess__fail(error, PESS_INPUT, "%s has %s for %s and %s has %s: expected the same in all of them",
                              first, as->named[k] ? "names" : "numbers", what[k], path,
                              found->named[k] ? "names" : "numbers");
    return PESS_OK;
}

static pess_status check_alike(const pess__merging *m, const pess__stream *stream, const char *path,
                               pess_error *error) {
    const pess__merging_kind as = {m->has_episode, {m->names[0] != NULL, m->names[1] != NULL, m->names[2] != NULL}};
    const pess__merging_kind found = {
        stream->has_episode,
        {stream->state_names != NULL, stream->action_names != NULL, stream->episode_names != NULL}};
    return pess__merging_check_alike(m->first, &as, path, &found, error);
}

/* Adds the names to `all`; to[i] is the number that name i has there. */
static pess_status add_names(pess_names *all, const pess_names *names, int64_t *to, pess_error *error) {
    for (int64_t i = 0; i < pess_names_count(names); i++) {
        const char *name = pess_names_get(names, i);
        PESS_TRY(pess__names_add(all, name, strlen(name), &to[i], error));
    }
    return PESS_OK;
}

static pess_status map_names(pess__merging *m, const pess__stream *stream, pess__renumbering *out, pess_error *error) {
    const pess_names *const names[] = {stream->state_names, stream->action_names, stream->episode_names};
    for (int k = 0; k < PESS__NUMBERINGS; k++) {
        if (names[k] == NULL) continue;
        PESS_TRY(pess__allocate(&out->to[k], pess_names_count(names[k]), sizeof *out->to[k], "names", error));
        PESS_TRY(add_names(m->names[k], names[k], out->to[k], error));
    }
    return PESS_OK;
}

static void grow_sizes(pess__merging *m, const pess__stream *stream) {
    const int64_t states = pess_names_count(m->names[PESS__STATES]),
                  actions = pess_names_count(m->names[PESS__ACTIONS]);
    if (stream->states > m->states) m->states = stream->states;
    if (stream->actions > m->actions) m->actions = stream->actions;
    if (states > m->states) m->states = states;
    if (actions > m->actions) m->actions = actions;
    m->states_declared |= stream->states_declared;
    m->actions_declared |= stream->actions_declared;
}

static void take_first(pess__merging *m, pess__stream *stream, const char *path) {
    m->first = path;
    m->has_episode = stream->has_episode;
    m->names[PESS__STATES] = stream->state_names;
    m->names[PESS__ACTIONS] = stream->action_names;
    m->names[PESS__EPISODES] = stream->episode_names;
    stream->state_names = stream->action_names = stream->episode_names = NULL;
    grow_sizes(m, stream);
}

static pess_status add_another(pess__merging *m, pess__stream *stream, const char *path, pess_error *error) {
    pess__renumbering to = {{NULL}};
    pess__tally own;
    pess__tally_begin(&own, stream->threads);
    pess_status status = pess__tally_read(&own, stream, error);
    if (status == PESS_OK) status = check_alike(m, stream, path, error);
    if (status == PESS_OK) status = map_names(m, stream, &to, error);
    grow_sizes(m, stream);
    if (status == PESS_OK) status = pess__tally_absorb(&m->tally, &own, &to, m->states, m->actions, error);
    pess__tally_free(&own);
    renumbering_free(&to);
    return status;
}

pess_status pess__merging_read(pess__merging *m, const char *path, const pess_read_options *options,
                               pess_error *error) {
    pess__stream *stream = NULL;
    PESS_TRY(pess__stream_open(path, options, &stream, error));
    pess_status status = PESS_OK;
    if (m->first == NULL) {
        status = pess__tally_read(&m->tally, stream, error);
        if (!m->tally.any_end) { /* it tells no start, as add_another has it */
            free(m->tally.starts);
            m->tally.starts = NULL;
            m->tally.starts_capacity = 0;
        }
        if (status == PESS_OK) take_first(m, stream, path);
    } else {
        status = add_another(m, stream, path, error);
    }
    pess__stream_close(stream);
    return status;
}

/* ------------------------------------------------------------------------------------------------ names in order */

typedef struct named {
    const char *name;
    int64_t id;
} named;

static int compare_named(const void *a, const void *b) {
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

/* *names in ascending order; to[i] is the number that name i has then. */
static pess_status sort_names(pess_names **names, int64_t *to, pess_error *error) {
    const int64_t count = pess_names_count(*names);
    named *order = NULL;
    pess_names *sorted = NULL;
    PESS_TRY(pess__allocate(&order, count, sizeof *order, "names", error));
    for (int64_t i = 0; i < count; i++) order[i] = (named){pess_names_get(*names, i), i};
    qsort(order, (size_t)count, sizeof *order, compare_named);
    pess_status status = pess__names_create(&sorted, error);
    for (int64_t i = 0; i < count && status == PESS_OK; i++) {
        int64_t id = 0;
        status = pess__names_add(sorted, order[i].name, strlen(order[i].name), &id, error);
        to[order[i].id] = i;
    }
    free(order);
    if (status != PESS_OK) {
        pess_names_destroy(sorted);
        return status;
    }
    pess_names_destroy(*names);
    *names = sorted;
    return PESS_OK;
}

static pess_status sort_all_names(pess__merging *m, pess__renumbering *out, pess_error *error) {
    for (int k = 0; k < PESS__NUMBERINGS; k++) {
        if (m->names[k] == NULL) continue;
        PESS_TRY(pess__allocate(&out->to[k], pess_names_count(m->names[k]), sizeof *out->to[k], "names", error));
        PESS_TRY(sort_names(&m->names[k], out->to[k], error));
    }
    return PESS_OK;
}

/* Everything under the numbers that ascending names have. */
static pess_status put_in_order(pess__merging *m, pess_error *error) {
    pess__renumbering to = {{NULL}};
    pess_status status = sort_all_names(m, &to, error);
    if (status == PESS_OK) status = pess__tally_absorb(&m->ordered, &m->tally, &to, m->states, m->actions, error);
    if (status == PESS_OK) status = pess__tally_finish(&m->ordered, error);
    renumbering_free(&to);
    return status;
}

/* ------------------------------------------------------------------------------------------------ the file */

static pess__counts_file describe(pess__merging *m) {
    return (pess__counts_file){.tally = &m->ordered,
                               .states = m->states,
                               .actions = m->actions,
                               .states_declared = m->states_declared,
                               .actions_declared = m->actions_declared,
                               .has_episode = m->has_episode,
                               .names = {m->names[0], m->names[1], m->names[2]}};
}

pess_status pess_counts_merge(const char *const *paths, size_t count, const pess_read_options *options,
                              const char *target, pess_error *error) {
    if (paths == NULL || count == 0 || target == NULL)
        return pess__fail(error, PESS_ARGUMENT, "counting needs at least one log and a file to write");
    pess__merging m;
    pess__merging_begin(&m, pess__threads(options != NULL ? options->threads : 0));
    pess_status status = PESS_OK;
    for (size_t i = 0; i < count && status == PESS_OK; i++) status = pess__merging_read(&m, paths[i], options, error);
    if (status == PESS_OK) status = put_in_order(&m, error);
    if (status == PESS_OK) {
        const pess__counts_file file = describe(&m);
        status = pess__counts_file_write(&file, target, error);
    }
    pess__merging_free(&m);
    return status;
}

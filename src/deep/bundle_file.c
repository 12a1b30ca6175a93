/* magic "PESSPOL\n"
 * u32 version (1, or 2 where actions have vectors or names), actions A
 * text rule: the learner's name (a text is its u32 length and characters)
 * u32 knobs, each two texts: name and value
 * f64 cap of u; u32 whether u counts from the smallest of its state
 * text notes
 * of version 2: u32 parts (sum of 2: vectors, 4: names of the actions), u32 width W and f32 [A][W], A texts
 * u32 networks, each: u32 place (values, the learner's own, imitation, uncertainty), and what follows the magic of a
 *     network file, with empty notes
 * u32 tables (1: penalties, 2: counts; 0: the rest is missing), u32 states S
 * u8  observations [S][bytes]
 * f32 penalties [S][A], i32 counts [S][A], as far as they are there
 * u32 CRC-32 of all before it */
#include "core/bytes.h"
#include "core/filekind.h"
#include "core/memory.h"
#include "deep/bundle.h"
#include "deep/neural_uncertainty.h"
#include "nn/netfile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLAIN = 1, VERSION = 2, PENALTIES = 1, COUNTS = 2, TEXT = 256 };
#define SIZE_LIMIT ((int64_t)1 << 40)

/* ---- writing */

static void write_knobs(const pess__learned_policy *learned, pess__sink *sink) {
    const pess_setting_table *table = learned->learner->info.knobs;
    const size_t count = table != NULL ? table->count : 0;
    pess__sink_u32(sink, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        char value[TEXT];
        pess_setting_get(table, learned->knobs, table->rows[i].name, value, sizeof value);
        pess__sink_text(sink, table->rows[i].name);
        pess__sink_text(sink, value);
    }
}

static pess_status write_networks(const pess__learned_policy *learned, pess__sink *sink, pess_error *error) {
    pess__learned_policy places = *learned;
    uint32_t count = 0;
    for (int64_t k = 0; k < PESS__BUNDLE_NETWORKS; k++) count += *pess__bundle_place(&places, k) != NULL;
    pess__sink_u32(sink, count);
    for (int64_t k = 0; k < PESS__BUNDLE_NETWORKS; k++) {
        const pess__net *net = *pess__bundle_place(&places, k);
        if (net == NULL) continue;
        pess__sink_u32(sink, (uint32_t)k);
        PESS_TRY(pess__net_store(net, "", sink, error));
    }
    return PESS_OK;
}

/* Penalties are kept where the data say more of their own states than the networks do; counts where they are the
 * rule's.
 */
static void write_tables(const pess__learned_policy *l, pess__sink *sink) {
    const bool penalty = l->penalty != NULL && l->learner->uncertainty->inside != NULL;
    const bool counts = l->counts != NULL && l->learner->counts;
    const size_t pairs = l->data != NULL ? (size_t)(l->data->states * l->actions) : 0;
    pess__sink_u32(sink, (penalty ? PENALTIES : 0) | (counts ? COUNTS : 0));
    if (!penalty && !counts) return;
    pess__sink_u32(sink, (uint32_t)l->data->states);
    pess__sink_write(sink, l->data->observations, (size_t)(l->data->states * l->data->bytes));
    if (penalty) pess__sink_write(sink, l->penalty, pairs * sizeof *l->penalty);
    if (counts) pess__sink_write(sink, l->counts, pairs * sizeof *l->counts);
}

pess_status pess__bundle_write(const pess_policy *policy, const char *path, const pess_names *state_names,
                               const pess_names *action_names, pess_error *error) {
    (void)state_names, (void)action_names;
    const pess__bundle *b = (const pess__bundle *)(const void *)policy;
    const pess__learned_policy *l = &b->learned;
    pess__sink sink;
    if (b->partial)
        return pess__fail(error, PESS_ARGUMENT, "%s: the rule of '%s' needs more than the one network that is here",
                          path, b->rule);
    PESS_TRY(pess__sink_open(&sink, path, pess__file_row_of(PESS_FILE_POLICY)->magic, error));
    const uint32_t parts = l->space != NULL ? pess__action_space_parts(l->space) : 0;
    pess__sink_u32(&sink, parts != 0 ? VERSION : PLAIN);
    pess__sink_u32(&sink, (uint32_t)l->actions);
    pess__sink_text(&sink, l->learner->info.name);
    write_knobs(l, &sink);
    pess__sink_double(&sink, l->cap);
    pess__sink_u32(&sink, l->relative);
    pess__sink_text(&sink, b->notes);
    if (parts != 0) {
        pess__sink_u32(&sink, parts);
        pess__action_space_write(l->space, l->actions, &sink);
    }
    const pess_status status = write_networks(l, &sink, error);
    if (status != PESS_OK) {
        pess__sink_abandon(&sink);
        return status;
    }
    write_tables(l, &sink);
    return pess__sink_commit(&sink, error);
}

/* ---- reading */

static pess_status damaged(const pess__cursor *cursor, const char *what, pess_error *error) {
    return pess__fail(error, PESS_INPUT, "%s: %s", cursor->name, what);
}

static pess_status read_knobs(pess__cursor *cursor, pess__bundle *b, pess_error *error) {
    const pess_setting_table *table = b->learned.learner->info.knobs;
    const uint32_t count = pess__cursor_u32(cursor);
    if (table != NULL) pess_setting_defaults(table, b->knobs);
    for (uint32_t i = 0; i < count && !cursor->beyond; i++) {
        char name[TEXT], value[TEXT];
        pess_error why;
        if (!pess__cursor_text(cursor, name, sizeof name) || !pess__cursor_text(cursor, value, sizeof value))
            return damaged(cursor, "a knob of the rule is too long or cut off", error);
        if (table == NULL)
            return pess__fail(error, PESS_INPUT, "%s: found the knob '%.40s', which the rule of %s does not have",
                              cursor->name, name, b->rule);
        if (pess_setting_set(table, b->knobs, name, value, &why) != PESS_OK)
            return pess__fail(error, PESS_INPUT, "%s: %s", cursor->name, why.message);
    }
    b->learned.knobs = table != NULL ? b->knobs : NULL;
    return PESS_OK;
}

static pess_status read_actions(pess__cursor *cursor, pess__bundle *b, pess_error *error) {
    const uint32_t parts = pess__cursor_u32(cursor);
    if (parts == 0 || (parts & ~(uint32_t)(PESS__ACTION_VECTORS | PESS__ACTION_NAMES)) != 0)
        return pess__fail(error, PESS_INPUT, "%s: parts %u of its actions; 2, 4 or 6 are expected", cursor->name,
                          parts);
    b->learned.space = &b->space;
    return pess__action_space_read(cursor, parts, b->learned.actions, &b->space, error);
}

static pess_status read_head(pess__cursor *cursor, pess__bundle *b, pess_error *error) {
    char name[TEXT];
    const uint32_t version = pess__cursor_u32(cursor), actions = pess__cursor_u32(cursor);
    if (version != PLAIN && version != VERSION)
        return pess__fail(error, PESS_INPUT, "%s: version %u of the format; this program reads versions %d and %d",
                          cursor->name, version, PLAIN, VERSION);
    if (actions < 1 || actions > PESS__MAX_ACTIONS)
        return pess__fail(error, PESS_INPUT, "%s: actions: found %u, expected 1 to %d", cursor->name, actions,
                          PESS__MAX_ACTIONS);
    if (!pess__cursor_text(cursor, name, sizeof name))
        return damaged(cursor, "the name of the rule is too long or cut off", error);
    b->learned.learner = pess__learner_find(name);
    if (b->learned.learner == NULL)
        return pess__fail(error, PESS_INPUT, "%s: the rule of '%.40s', which this program does not know", cursor->name,
                          name);
    b->rule = b->learned.learner->info.name;
    b->policy.samples = b->learned.learner->info.samples;
    b->policy.actions = b->learned.actions = actions;
    PESS_TRY(read_knobs(cursor, b, error));
    b->learned.cap = pess__cursor_double(cursor);
    b->learned.relative = pess__cursor_u32(cursor) != 0;
    if (!(b->learned.cap >= 0))
        return damaged(cursor, "the cap of the uncertainty is not a number of 0 or more", error);
    if (!pess__cursor_text(cursor, b->notes, sizeof b->notes))
        return damaged(cursor, "the notes are too long or cut off", error);
    return version == VERSION ? read_actions(cursor, b, error) : PESS_OK;
}

/* Outputs that the learner's network at this place has; 0: it has none there. */
static int64_t outputs_at(const pess__learned_policy *l, int64_t place) {
    const pess__learner *learner = l->learner;
    const int64_t own = place - PESS__PLACE_OWN;
    const int64_t value = place < PESS__PLACE_OWN ? place : place - PESS__PLACE_FURTHER + PESS__PLACE_OWN;
    if (place < PESS__PLACE_OWN || place >= PESS__PLACE_FURTHER)
        return value < pess__learner_networks(learner, l->knobs) ? pess__learner_heads(learner, l->knobs) * l->actions
                                                                 : 0;
    if (place < PESS__PLACE_IMITATION)
        return own >= learner->own_count ? 0 : learner->own[own].one_output ? 1 : l->actions;
    if (place == PESS__PLACE_IMITATION) return learner->info.imitation ? l->actions : 0;
    if (learner->uncertainty == NULL || learner->uncertainty->train == NULL) return 0;
    return learner->uncertainty->one_output ? 1 : l->actions;
}

static pess_status read_network(pess__cursor *cursor, pess__bundle *b, pess_error *error) {
    const uint32_t place = pess__cursor_u32(cursor);
    const int64_t outputs = place < PESS__BUNDLE_NETWORKS ? outputs_at(&b->learned, place) : 0;
    const pess__net **to = outputs > 0 ? pess__bundle_place(&b->learned, place) : NULL;
    char notes[PESS__NOTES_SIZE];
    if (to == NULL || *to != NULL)
        return pess__fail(error, PESS_INPUT, "%s: a network at place %u, where the rule of %s has none or another",
                          cursor->name, place, b->rule);
    pess__net *net = NULL;
    PESS_TRY(pess__net_load(cursor, NULL, notes, &net, error));
    b->nets[b->net_count++] = net;
    *to = net;
    if (net->outputs != outputs)
        return pess__fail(error, PESS_INPUT, "%s: the network at place %u has %lld outputs, expected %lld",
                          cursor->name, place, (long long)net->outputs, (long long)outputs);
    if (net->bytes != b->nets[0]->bytes || net->spec.input != b->nets[0]->spec.input)
        return pess__fail(error, PESS_INPUT, "%s: its networks read %lld and %lld bytes, expected the same of all",
                          cursor->name, (long long)b->nets[0]->bytes, (long long)net->bytes);
    return PESS_OK;
}

static pess_status read_networks(pess__cursor *cursor, pess__bundle *b, pess_error *error) {
    const uint32_t count = pess__cursor_u32(cursor);
    for (uint32_t i = 0; i < count; i++) PESS_TRY(read_network(cursor, b, error));
    for (int64_t k = 0; k < PESS__BUNDLE_NETWORKS; k++)
        if (outputs_at(&b->learned, k) > 0 && *pess__bundle_place(&b->learned, k) == NULL)
            return pess__fail(error, PESS_INPUT, "%s: the network at place %lld is missing; the rule of %s needs it",
                              cursor->name, (long long)k, b->rule);
    return PESS_OK;
}

static pess_status read_states(pess__cursor *cursor, pess__bundle *b, int64_t states, pess_error *error) {
    const pess_observation_shape shape = pess__bundle_shape(b->nets[0]);
    PESS_TRY(pess_observations_create("", "", &shape, b->learned.actions, &b->data, error));
    b->learned.data = b->data;
    for (int64_t s = 0; s < states; s++) { /* so many bytes are there */
        char name[512];
        int32_t number;
        (void)snprintf(name, sizeof name, "%s: observation %lld", cursor->name, (long long)s);
        PESS_TRY(pess__observations_check(b->data, name, cursor->at, error));
        PESS_TRY(pess__observations_number(b->data, cursor->at, &number, error));
        if (number != s)
            return pess__fail(error, PESS_INPUT, "%s: observation %lld is there twice", cursor->name, (long long)s);
        cursor->at += b->data->bytes;
        cursor->left -= (size_t)b->data->bytes;
    }
    return PESS_OK;
}

static pess_status read_tables(pess__cursor *cursor, pess__bundle *b, pess_error *error) {
    const pess__learner *learner = b->learned.learner;
    const uint32_t tables = pess__cursor_u32(cursor);
    const bool penalty = tables & PENALTIES, counts = tables & COUNTS;
    const bool may = learner->uncertainty != NULL && learner->uncertainty->inside != NULL;
    if (tables > (PENALTIES | COUNTS) || (penalty && !may) || (counts && !learner->counts))
        return pess__fail(error, PESS_INPUT, "%s: tables %u, which the rule of %s does not have", cursor->name, tables,
                          b->rule);
    if (tables == 0) return PESS_OK;
    const int64_t states = pess__cursor_u32(cursor), bytes = b->nets[0]->bytes;
    const int64_t pairs = states * b->learned.actions, elements = (int64_t)penalty + (int64_t)counts;
    const int64_t needed = states * bytes + pairs * elements * 4; /* before memory is taken for them */
    if (states < 1 || states > PESS__DATA_MAX || cursor->left != (size_t)needed)
        return pess__fail(error, PESS_INPUT, "%s: %zu bytes of tables; %lld states need %lld", cursor->name,
                          cursor->left, (long long)states, (long long)needed);
    PESS_TRY(read_states(cursor, b, states, error));
    if (penalty) {
        PESS_TRY(pess__allocate(&b->penalty, pairs, sizeof *b->penalty, "the penalties of a policy", error));
        pess__cursor_read(cursor, b->penalty, (size_t)pairs * sizeof *b->penalty);
        for (int64_t i = 0; i < pairs; i++)
            if (!isfinite(b->penalty[i])) return damaged(cursor, "a penalty is not a finite number", error);
        b->learned.penalty = b->penalty;
    }
    if (!counts) return PESS_OK;
    PESS_TRY(pess__allocate(&b->counts, pairs, sizeof *b->counts, "the counts of a policy", error));
    pess__cursor_read(cursor, b->counts, (size_t)pairs * sizeof *b->counts);
    b->learned.counts = b->counts;
    return PESS_OK;
}

/* Closes the cursor. */
static pess_status read_bundle(pess__cursor *cursor, pess_policy **out, pess_error *error) {
    pess__bundle *b = NULL;
    pess_status status = pess__bundle_create(&b, error);
    if (status == PESS_OK) status = read_head(cursor, b, error);
    if (status == PESS_OK) status = read_networks(cursor, b, error);
    if (status == PESS_OK) status = read_tables(cursor, b, error);
    if (status == PESS_OK && (cursor->beyond || cursor->left > 0))
        status = damaged(cursor, "not as long as its parts say", error);
    const uint32_t checksum = cursor->crc;
    pess__cursor_close(cursor);
    if (status != PESS_OK) {
        if (b != NULL) pess_policy_destroy(&b->policy);
        return status;
    }
    b->checksum = checksum;
    *out = &b->policy;
    return PESS_OK;
}

pess_status pess__bundle_read(const char *path, pess_policy **out, pess_error *error) {
    const pess__file_row *row = pess__file_row_of(PESS_FILE_POLICY);
    pess__cursor cursor;
    PESS_TRY(pess__cursor_open(&cursor, path, row->magic, row->what, SIZE_LIMIT, error));
    return read_bundle(&cursor, out, error);
}

pess_status pess__bundle_read_memory(const char *name, const void *bytes, size_t size, pess_policy **out,
                                     pess_error *error) {
    const pess__file_row *row = pess__file_row_of(PESS_FILE_POLICY);
    pess__cursor cursor;
    PESS_TRY(pess__cursor_open_memory(&cursor, name, bytes, size, row->magic, row->what, error));
    return read_bundle(&cursor, out, error);
}

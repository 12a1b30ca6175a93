#include "solve/structure.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 65536, PROBES = 4 };
/* Below this discount a sweep forgets so much that no order pays for the search for it. */
static const double ORDER_PAYS_FROM = 0.7;

void pess__structure_release(pess__structure *structure) {
    free(structure->order);
    free(structure->components);
    structure->order = structure->components = NULL;
}

/* ------------------------------------------------------------------------------------------------ a sample */

static bool deterministic(const pess_model *model, int64_t z) {
    const int64_t length = model->row[z + 1] - model->row[z];
    switch ((pess_row_kind)model->kind[z]) {
        case PESS_ROW_SPARSE: return length == 0 || (length == 1 && model->end_mass[z] == 0);
        case PESS_ROW_SINK: return true;
        case PESS_ROW_UNIFORM:
        case PESS_ROW_NONE: break;
    }
    return false;
}

static void sample_pairs(const pess_model *model, pess_structure *found) {
    const int64_t pairs = model->states * model->actions, step = pairs / SAMPLE + 1;
    int64_t there = 0, sure = 0;
    for (int64_t z = 0; z < pairs; z += step) {
        if (model->kind[z] == PESS_ROW_NONE) continue;
        there++;
        sure += deterministic(model, z);
        if (model->kind[z] == PESS_ROW_UNIFORM) found->bandwidth = model->states - 1;
        for (int64_t k = model->row[z]; k < model->row[z + 1]; k++) {
            const int64_t way = llabs((long long)model->next[k] - (long long)(z / model->actions));
            if (way > found->bandwidth) found->bandwidth = way;
        }
    }
    found->deterministic = there > 0 ? (double)sure / (double)there : 1;
}

/* ------------------------------------------------------------------------------------------------ reach */

/* Does the state lead to more than half of all? As soon as that is known it stops. */
static bool reaches_half(const pess_model *model, uint32_t from, uint8_t *seen, uint32_t *queue) {
    const int64_t half = model->states / 2;
    int64_t count = 1;
    memset(seen, 0, (size_t)model->states);
    seen[from] = 1;
    queue[0] = from;
    for (int64_t head = 0; head < count && count <= half; head++) {
        const int64_t first = queue[head] * model->actions, last = first + model->actions;
        for (int64_t k = model->row[first]; k < model->row[last]; k++) {
            if (seen[model->next[k]]) continue;
            seen[model->next[k]] = 1;
            queue[count++] = model->next[k];
        }
    }
    return count > half;
}

/* A few states spread over all: where some do not lead to half of them, there are many components. */
static pess_status probe(const pess_model *model, bool *connected, pess_error *error) {
    uint8_t *seen = NULL;
    uint32_t *queue = NULL;
    *connected = true;
    pess_status status = pess__allocate(&seen, model->states, 1, "the states that were reached", error);
    if (status == PESS_OK) status = pess__allocate(&queue, model->states, sizeof *queue, "the states reached", error);
    for (int64_t i = 0; status == PESS_OK && i < PROBES && *connected; i++) {
        const int64_t from = model->states * (2 * i + 1) / (2 * PROBES);
        if (!model->terminal[from]) *connected = reaches_half(model, (uint32_t)from, seen, queue);
    }
    free(seen);
    free(queue);
    return status;
}

/* ------------------------------------------------------------------------------------------------ breadth first */

/* The reward that more than half of the pairs have, if any does (Boyer & Moore's vote). */
static double usual_reward(const pess_model *model) {
    double candidate = 0;
    int64_t votes = 0;
    for (int64_t z = 0; z < model->states * model->actions; z++) {
        if (model->kind[z] == PESS_ROW_NONE) continue;
        if (votes == 0) candidate = model->reward[z];
        votes += model->reward[z] == candidate ? 1 : -1;
    }
    return candidate;
}

typedef struct reversed {
    int64_t *begin; /* [S+2] */
    uint32_t *from;
} reversed;

/* The states that lead to each state; one that does by several actions may appear as often. */
static pess_status reverse(const pess_model *model, reversed *out, pess_error *error) {
    const int64_t states = model->states, actions = model->actions;
    *out = (reversed){0};
    PESS_TRY(pess__allocate(&out->begin, states + 2, sizeof *out->begin, "the reversed graph", error));
    PESS_TRY(pess__allocate(&out->from, model->row[states * actions], sizeof *out->from, "the reversed graph", error));
    for (int64_t k = 0; k < model->row[states * actions]; k++) out->begin[model->next[k] + 2]++;
    for (int64_t s = 0; s < states; s++) out->begin[s + 2] += out->begin[s + 1];
    for (int64_t s = 0; s < states; s++)
        for (int64_t k = model->row[s * actions]; k < model->row[(s + 1) * actions]; k++)
            out->from[out->begin[model->next[k] + 1]++] = (uint32_t)s;
    return PESS_OK;
}

/* Where values come from: states that can end, or whose reward is not the usual one. */
static int64_t sources(const pess_model *model, uint8_t *seen, uint32_t *order) {
    const double usual = usual_reward(model);
    int64_t count = 0;
    for (int64_t s = 0; s < model->states; s++) {
        for (int64_t z = s * model->actions; z < (s + 1) * model->actions && !seen[s]; z++)
            seen[s] = model->kind[z] != PESS_ROW_NONE && (model->end_mass[z] > 0 || model->reward[z] != usual);
        if (seen[s]) order[count++] = (uint32_t)s;
    }
    return count;
}

static void spread(const pess_model *model, const reversed *graph, uint8_t *seen, pess__structure *out) {
    uint32_t *order = out->order;
    int64_t count = sources(model, seen, order), head = 0;
    out->found.sources = count;
    out->found.depth = -1;
    for (; head < count; out->found.depth++)
        for (const int64_t level = count; head < level; head++)
            for (int64_t k = graph->begin[order[head]]; k < graph->begin[order[head] + 1]; k++) {
                if (seen[graph->from[k]]) continue;
                seen[graph->from[k]] = 1;
                order[count++] = graph->from[k];
            }
    for (int64_t s = 0; s < model->states; s++)
        if (!seen[s]) order[count++] = (uint32_t)s;
}

pess_status pess__breadth_first(const pess_model *model, pess__structure *out, pess_error *error) {
    reversed graph = {0};
    uint8_t *seen = NULL;
    pess__structure_release(out);
    pess_status status = pess__allocate(&out->order, model->states, sizeof *out->order, "the order of states", error);
    if (status == PESS_OK) status = pess__allocate(&seen, model->states, 1, "the order of states", error);
    if (status == PESS_OK) status = reverse(model, &graph, error);
    if (status == PESS_OK) spread(model, &graph, seen, out);
    free(graph.begin);
    free(graph.from);
    free(seen);
    return status;
}

/* ------------------------------------------------------------------------------------------------ all of it */

static bool many_components(const pess_model *model, const pess_structure *found) {
    return found->largest_component <= model->states / 2;
}

/* Values come from few places, and nearly every step is certain: one pass in that order carries them everywhere. */
static bool carries(const pess_model *model, const pess_structure *found) {
    return found->deterministic >= 0.95 && found->sources > 0 && found->sources <= model->states / 4;
}

static bool any_uniform(const pess_model *model) {
    for (int64_t z = 0; z < model->states * model->actions; z++)
        if (model->kind[z] == PESS_ROW_UNIFORM) return true;
    return false;
}

pess_status pess__structure_measure(const pess_model *model, double gamma, pess__structure *out, pess_error *error) {
    *out = (pess__structure){
        .found = {.measured = true, .sources = -1, .depth = -1, .components = -1, .largest_component = -1}};
    sample_pairs(model, &out->found);
    if (gamma < ORDER_PAYS_FROM || any_uniform(model)) return PESS_OK;
    if (out->found.deterministic >= 0.95) {
        PESS_TRY(pess__breadth_first(model, out, error));
        if (carries(model, &out->found)) return PESS_OK;
    }
    pess__structure_release(out);
    bool connected = true;
    PESS_TRY(probe(model, &connected, error));
    if (connected) return PESS_OK;
    PESS_TRY(pess__components(model, out, error));
    if (!many_components(model, &out->found)) pess__structure_release(out);
    return PESS_OK;
}

pess_status pess__structure_order(const pess_model *model, pess__structure *out, pess_error *error) {
    PESS_TRY(pess__structure_measure(model, 1, out, error));
    return out->order != NULL ? PESS_OK : pess__breadth_first(model, out, error);
}

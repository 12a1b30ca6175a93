/* Strongly connected components by Tarjan's depth-first search, without recursion. */
#include "core/memory.h"
#include "solve/structure.h"

#include <stdlib.h>
#include <string.h>

typedef struct search {
    const pess_model *model;
    uint32_t *index; /* [S] when it was found, from 1; 0: not yet; DONE: its component is complete */
    uint32_t *low;   /* [S] the earliest that is reached from it */
    uint32_t *stack; /* [S] found, and not yet in a component */
    uint32_t *path;  /* [S] the way from the root to the present state … */
    int64_t *at;     /* [S] … and the next entry of each state on it */
    uint32_t found, stacked, depth;
    pess__structure *out;
    int64_t ordered;
} search;

static const uint32_t DONE = UINT32_MAX;

static int64_t first_entry(const pess_model *model, uint32_t s) { return model->row[s * (size_t)model->actions]; }

static void enter(search *x, uint32_t s) {
    x->index[s] = x->low[s] = ++x->found;
    x->stack[x->stacked++] = s;
    x->path[x->depth] = s;
    x->at[x->depth++] = first_entry(x->model, s);
}

/* The component whose first state is s is what is on the stack from s on. */
static void leave(search *x, uint32_t s) {
    pess__structure *out = x->out;
    if (x->depth > 0) {
        const uint32_t parent = x->path[x->depth - 1];
        if (x->low[s] < x->low[parent]) x->low[parent] = x->low[s];
    }
    if (x->low[s] != x->index[s]) return;
    const int64_t begin = x->ordered;
    uint32_t member = 0;
    do {
        member = x->stack[--x->stacked];
        x->index[member] = DONE;
        out->order[x->ordered++] = member;
    } while (member != s);
    out->components[++out->found.components] = (uint32_t)x->ordered;
    if (x->ordered - begin > out->found.largest_component) out->found.largest_component = x->ordered - begin;
}

static void search_from(search *x, uint32_t root) {
    enter(x, root);
    while (x->depth > 0) {
        const uint32_t s = x->path[x->depth - 1];
        const int64_t end = first_entry(x->model, s + 1);
        int64_t *at = &x->at[x->depth - 1];
        while (*at < end) {
            const uint32_t next = x->model->next[(*at)++];
            if (x->index[next] == 0) {
                enter(x, next);
                break;
            }
            if (x->index[next] != DONE && x->index[next] < x->low[s]) x->low[s] = x->index[next];
        }
        if (x->path[x->depth - 1] != s || *at < end) continue;
        x->depth--;
        leave(x, s);
    }
}

pess_status pess__components(const pess_model *model, pess__structure *out, pess_error *error) {
    const int64_t states = model->states;
    search x = {.model = model, .out = out};
    uint32_t *numbers = NULL;
    pess__structure_release(out);
    out->found.components = out->found.largest_component = 0;
    pess_status status = pess__allocate(&numbers, 4 * states, sizeof *numbers, "the components", error);
    if (status == PESS_OK) status = pess__allocate(&x.at, states, sizeof *x.at, "the components", error);
    if (status == PESS_OK) status = pess__allocate(&out->order, states, sizeof *out->order, "the components", error);
    if (status == PESS_OK)
        status = pess__allocate(&out->components, states + 1, sizeof *out->components, "the components", error);
    if (status == PESS_OK) {
        x.index = numbers;
        x.low = numbers + states;
        x.stack = numbers + 2 * states;
        x.path = numbers + 3 * states;
        for (int64_t s = 0; s < states; s++)
            if (x.index[s] == 0) search_from(&x, (uint32_t)s);
    }
    free(numbers);
    free(x.at);
    return status;
}

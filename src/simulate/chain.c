/* The Markov chain of a policy: building it, its recurrent classes, and stationary laws by elimination. */
#include "simulate/chain.h"

#include "core/memory.h"
#include "model/model.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

void pess__markov_chain_clear(pess__markov_chain *chain) {
    free(chain->row);
    free(chain->next);
    free(chain->probability);
    *chain = (pess__markov_chain){0};
}

static pess_status allocate_chain(int64_t size, int64_t entries, pess__markov_chain *chain, pess_error *error) {
    chain->size = size;
    pess_status status = pess__allocate(&chain->row, size + 1, sizeof *chain->row, "a Markov chain", error);
    if (status == PESS_OK) status = pess__allocate(&chain->next, entries, sizeof *chain->next, "a Markov chain", error);
    if (status == PESS_OK)
        status = pess__allocate(&chain->probability, entries, sizeof *chain->probability, "a Markov chain", error);
    if (status != PESS_OK) pess__markov_chain_clear(chain);
    return status;
}

/* Upper bound on the entries of P^π, and whether implicit uniform rows occur in it. */
static int64_t count_entries(const pess_model *model, const pess_policy *policy, bool *uniform) {
    const int64_t pairs = model->states * model->actions;
    int64_t entries = 0;
    *uniform = false;
    for (int64_t pair = 0; pair < pairs; pair++) {
        if (policy->probability[pair] == 0) continue;
        if (model->kind[pair] == PESS_ROW_UNIFORM) {
            *uniform = true;
            entries++;
        }
        entries += model->row[pair + 1] - model->row[pair];
    }
    return entries + (*uniform ? model->states : 0);
}

/* place[node] - 1 is where the row under construction holds `node`; rows only grow, so stale places lie before it. */
static void add_entry(pess__markov_chain *chain, int64_t begin, int64_t *end, int64_t *place, uint32_t node, double p) {
    if (place[node] > begin) {
        chain->probability[place[node] - 1] += p;
        return;
    }
    chain->next[*end] = node;
    chain->probability[*end] = p;
    place[node] = ++*end;
}

static void fill_chain(const pess_model *model, const pess_policy *policy, int64_t *place, pess__markov_chain *chain) {
    int64_t end = 0;
    for (int64_t s = 0; s < model->states; s++) {
        const int64_t begin = chain->row[s] = end;
        for (int64_t pair = s * model->actions; pair < (s + 1) * model->actions; pair++) {
            const double pi = policy->probability[pair];
            if (pi == 0) continue;
            if (model->kind[pair] == PESS_ROW_UNIFORM)
                add_entry(chain, begin, &end, place, (uint32_t)model->states, pi);
            for (int64_t k = model->row[pair]; k < model->row[pair + 1]; k++)
                if (model->probability[k] > 0)
                    add_entry(chain, begin, &end, place, model->next[k], pi * model->probability[k]);
        }
    }
    chain->row[model->states] = end;
    if (chain->size == model->states) return;
    for (int64_t s = 0; s < model->states; s++, end++) {
        chain->next[end] = (uint32_t)s;
        chain->probability[end] = 1 / (double)model->states;
    }
    chain->row[chain->size] = end;
}

pess_status pess__markov_chain_create(const pess_model *model, const pess_policy *policy, pess__markov_chain *out,
                                      pess_error *error) {
    bool uniform = false;
    const int64_t entries = count_entries(model, policy, &uniform), size = model->states + (uniform ? 1 : 0);
    pess__markov_chain chain = {0};
    int64_t *place = NULL;
    PESS_TRY(allocate_chain(size, entries, &chain, error));
    const pess_status status = pess__allocate(&place, size, sizeof *place, "a Markov chain", error);
    if (status != PESS_OK) {
        pess__markov_chain_clear(&chain);
        return status;
    }
    fill_chain(model, policy, place, &chain);
    free(place);
    *out = chain;
    return PESS_OK;
}

pess_status pess__markov_chain_restrict(const pess__markov_chain *chain, const uint8_t *in, pess__markov_chain *out,
                                        pess_error *error) {
    int64_t size = 0, entries = 0;
    uint32_t *number = NULL;
    PESS_TRY(pess__allocate(&number, chain->size, sizeof *number, "a Markov chain", error));
    for (int64_t node = 0; node < chain->size; node++) {
        if (!in[node]) continue;
        number[node] = (uint32_t)size++;
        entries += chain->row[node + 1] - chain->row[node];
    }
    pess__markov_chain part = {0};
    const pess_status status = allocate_chain(size, entries, &part, error);
    if (status != PESS_OK) {
        free(number);
        return status;
    }
    int64_t end = 0, at = 0;
    for (int64_t node = 0; node < chain->size; node++) {
        if (!in[node]) continue;
        part.row[at++] = end;
        for (int64_t k = chain->row[node]; k < chain->row[node + 1]; k++) {
            part.next[end] = number[chain->next[k]];
            part.probability[end++] = chain->probability[k];
        }
    }
    part.row[size] = end;
    free(number);
    *out = part;
    return PESS_OK;
}

/* Tarjan's algorithm without recursion. Components come out in reverse topological order, so a component is closed
 * (recurrent) exactly when no edge leaves it. */
typedef struct search {
    const pess__markov_chain *chain;
    int64_t *index, *low;   /* [size] order of discovery from 1, and the least one reachable */
    int64_t *edge;          /* [size] the next edge to look at */
    uint32_t *path, *stack; /* [size] nodes being explored; nodes without a component yet */
    int64_t path_length, stack_length, found;
    uint32_t *component; /* [size] from 1; 0: none yet */
    uint32_t components;
} search;

static void enter(search *s, uint32_t node) {
    s->index[node] = s->low[node] = ++s->found;
    s->edge[node] = s->chain->row[node];
    s->path[s->path_length++] = node;
    s->stack[s->stack_length++] = node;
}

static void leave(search *s) {
    const uint32_t node = s->path[--s->path_length];
    if (s->low[node] == s->index[node]) {
        s->components++;
        uint32_t member;
        do {
            member = s->stack[--s->stack_length];
            s->component[member] = s->components;
        } while (member != node);
    }
    if (s->path_length == 0) return;
    const uint32_t parent = s->path[s->path_length - 1];
    if (s->low[node] < s->low[parent]) s->low[parent] = s->low[node];
}

static void explore(search *s, uint32_t root) {
    enter(s, root);
    while (s->path_length > 0) {
        const uint32_t node = s->path[s->path_length - 1];
        if (s->edge[node] == s->chain->row[node + 1]) {
            leave(s);
            continue;
        }
        const uint32_t next = s->chain->next[s->edge[node]++];
        if (s->index[next] == 0)
            enter(s, next);
        else if (s->component[next] == 0 && s->index[next] < s->low[node])
            s->low[node] = s->index[next];
    }
}

/* Marks the closed components that have at least one edge; a node without edges is a terminal state. */
static int64_t mark_recurrent(const search *s, uint8_t *open, uint8_t *in) {
    const pess__markov_chain *chain = s->chain;
    memset(open, 0, (size_t)s->components + 1);
    for (int64_t node = 0; node < chain->size; node++) {
        if (chain->row[node] == chain->row[node + 1]) open[s->component[node]] = 1;
        for (int64_t k = chain->row[node]; k < chain->row[node + 1]; k++)
            if (s->component[chain->next[k]] != s->component[node]) open[s->component[node]] = 1;
    }
    int64_t classes = 0;
    for (uint32_t c = 1; c <= s->components; c++) classes += !open[c];
    for (int64_t node = 0; node < chain->size; node++) in[node] = !open[s->component[node]];
    return classes;
}

pess_status pess__markov_chain_recurrent(const pess__markov_chain *chain, uint8_t *in, int64_t *classes,
                                         pess_error *error) {
    const int64_t size = chain->size;
    search s = {.chain = chain};
    uint8_t *open = NULL;
    pess_status status = pess__allocate(&s.index, size, sizeof *s.index, "a search", error);
    if (status == PESS_OK) status = pess__allocate(&s.low, size, sizeof *s.low, "a search", error);
    if (status == PESS_OK) status = pess__allocate(&s.edge, size, sizeof *s.edge, "a search", error);
    if (status == PESS_OK) status = pess__allocate(&s.path, size, sizeof *s.path, "a search", error);
    if (status == PESS_OK) status = pess__allocate(&s.stack, size, sizeof *s.stack, "a search", error);
    if (status == PESS_OK) status = pess__allocate(&s.component, size, sizeof *s.component, "a search", error);
    if (status == PESS_OK) status = pess__allocate(&open, size + 1, sizeof *open, "a search", error);
    if (status == PESS_OK) {
        for (int64_t node = 0; node < size; node++)
            if (s.index[node] == 0) explore(&s, (uint32_t)node);
        *classes = mark_recurrent(&s, open, in);
    }
    free(s.index);
    free(s.low);
    free(s.edge);
    free(s.path);
    free(s.stack);
    free(s.component);
    free(open);
    return status;
}

/* Censors the chain on nodes 0..k-1 for k = n-1, …, 1: p_ij += p_ik·p_kj / Σ_{j<k} p_kj. */
static void censor(double *p, int64_t n) {
    for (int64_t k = n - 1; k > 0; k--) {
        const double *last = p + k * n;
        double out = 0;
        for (int64_t j = 0; j < k; j++) out += last[j];
        for (int64_t i = 0; i < k; i++) {
            double *row = p + i * n;
            if (row[k] == 0) continue;
            const double factor = row[k] /= out;
            for (int64_t j = 0; j < k; j++) row[j] += factor * last[j];
        }
    }
}

void pess__eliminate_dense(double *p, int64_t n, double *x) {
    censor(p, n);
    double sum = x[0] = 1;
    for (int64_t k = 1; k < n; k++) {
        x[k] = 0;
        for (int64_t i = 0; i < k; i++) x[k] += x[i] * p[i * n + k];
        sum += x[k];
    }
    for (int64_t k = 0; k < n; k++) x[k] /= sum;
}

pess_status pess__markov_chain_eliminate(const pess__markov_chain *chain, double *x, pess_error *error) {
    const int64_t n = chain->size;
    double *p = NULL; /* [n*n] */
    PESS_TRY(pess__allocate(&p, n * n, sizeof *p, "a dense Markov chain", error));
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = chain->row[i]; k < chain->row[i + 1]; k++) p[i * n + chain->next[k]] += chain->probability[k];
    pess__eliminate_dense(p, n, x);
    free(p);
    return PESS_OK;
}

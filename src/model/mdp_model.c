/* The exact model of an MDP: r(s,a) = Σ p·r and one entry per next state. Mass on terminal states becomes end_mass. */
#include "core/memory.h"
#include "core/raise.h"
#include "core/ranges.h"
#include "core/threads.h"
#include "model/mdp.h"
#include "model/model.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct successor {
    uint32_t next;
    double probability;
} successor;

static int by_next(const void *a, const void *b) {
    const successor *x = a, *y = b;
    return (x->next > y->next) - (x->next < y->next);
}

enum { SMALL_ROW = 32 };

/* Insertion sort does nothing on rows that are in order, which is how most files are written. */
static void sort_successors(successor *list, int64_t count) {
    if (count > SMALL_ROW) {
        bool sorted = true;
        for (int64_t i = 1; i < count && sorted; i++) sorted = list[i - 1].next <= list[i].next;
        if (!sorted) qsort(list, (size_t)count, sizeof *list, by_next);
        return;
    }
    for (int64_t i = 1; i < count; i++) {
        const successor moved = list[i];
        int64_t j = i;
        for (; j > 0 && list[j - 1].next > moved.next; j--) list[j] = list[j - 1];
        list[j] = moved;
    }
}

/* The pair's next states with positive probability that are not terminal, ascending, each once. */
static int64_t merge_row(const pess_mdp *mdp, int64_t pair, successor *list) {
    int64_t count = 0;
    for (int64_t k = mdp->row[pair]; k < mdp->row[pair + 1]; k++) {
        if (mdp->probability[k] == 0 || mdp->terminal[mdp->next[k]]) continue;
        if (count > 0 && list[count - 1].next == mdp->next[k])
            list[count - 1].probability += mdp->probability[k];
        else
            list[count++] = (successor){mdp->next[k], mdp->probability[k]};
    }
    sort_successors(list, count);
    int64_t merged = 0;
    for (int64_t i = 0; i < count; i++) {
        if (merged > 0 && list[merged - 1].next == list[i].next)
            list[merged - 1].probability += list[i].probability;
        else
            list[merged++] = list[i];
    }
    return merged;
}

/* Rows sum to one within 1e-9; dividing by the sum keeps that error out of the values, where it would grow by
 * 1/(1-γ). */
static void fill_row(pess_model *model, const pess_mdp *mdp, int64_t pair, successor *list) {
    const int64_t count = merge_row(mdp, pair, list), to = model->row[pair];
    double sum = 0, end = 0, reward = 0, lowest = INFINITY, highest = -INFINITY;
    for (int64_t k = mdp->row[pair]; k < mdp->row[pair + 1]; k++) {
        sum += mdp->probability[k];
        reward += mdp->probability[k] * mdp->reward[k];
        if (mdp->terminal[mdp->next[k]]) end += mdp->probability[k];
        if (mdp->probability[k] == 0) continue;
        lowest = fmin(lowest, mdp->reward[k]);
        highest = fmax(highest, mdp->reward[k]);
    }
    model->kind[pair] = PESS_ROW_SPARSE;
    model->reward[pair] = fmin(fmax(reward / sum, lowest), highest); /* a mean, whatever rounding says */
    model->end_mass[pair] = end / sum;
    for (int64_t i = 0; i < count; i++) {
        model->next[to + i] = list[i].next;
        model->probability[to + i] = list[i].probability / sum;
    }
}

static void reward_range(const pess_mdp *mdp, int threads, pess_model *model) {
    const int64_t count = pess_mdp_transitions(mdp);
    _Atomic double least = INFINITY, most = -INFINITY;
#pragma omp parallel num_threads(threads) if (count > 100000)
    {
        double low = INFINITY, high = -INFINITY;
#pragma omp for schedule(static)
        for (int64_t k = 0; k < count; k++) {
            if (mdp->probability[k] == 0) continue;
            if (mdp->reward[k] < low) low = mdp->reward[k];
            if (mdp->reward[k] > high) high = mdp->reward[k];
        }
        pess__lower(&least, low);
        pess__raise(&most, high);
    }
    const double lo = least, hi = most;
    model->reward_lo = lo <= hi ? lo : 0; /* no transitions at all: nothing is ever paid */
    model->reward_hi = lo <= hi ? hi : 0;
    model->reward_declared = true;
}

static int64_t longest_row(const pess_mdp *mdp) {
    const int64_t pairs = mdp->states * mdp->actions;
    int64_t longest = 0;
    for (int64_t pair = 0; pair < pairs; pair++) {
        const int64_t length = mdp->row[pair + 1] - mdp->row[pair];
        if (length > longest) longest = length;
    }
    return longest;
}

static successor *own_scratch(successor *scratch, int64_t longest) {
    return scratch + omp_get_thread_num() * pess__apart(longest, sizeof *scratch);
}

/* lengths [S*A+1]: where each pair's successors begin; entry S*A is their number. */
static void count_successors(const pess_mdp *mdp, successor *scratch, int64_t longest, int threads, int64_t *begin) {
    const int64_t pairs = mdp->states * mdp->actions;
#pragma omp parallel for num_threads(threads)
    for (int64_t pair = 0; pair < pairs; pair++) begin[pair + 1] = merge_row(mdp, pair, own_scratch(scratch, longest));
    for (int64_t pair = 0; pair < pairs; pair++) begin[pair + 1] += begin[pair];
}

static void fill_model(const pess_mdp *mdp, successor *scratch, int64_t longest, int threads, pess_model *model) {
    const int64_t pairs = mdp->states * mdp->actions;
    for (int64_t s = 0; s < mdp->states; s++)
        if ((model->terminal[s] = mdp->terminal[s])) model->has_terminals = true;
#pragma omp parallel for num_threads(threads)
    for (int64_t pair = 0; pair < pairs; pair++)
        if (mdp->row[pair] < mdp->row[pair + 1]) fill_row(model, mdp, pair, own_scratch(scratch, longest));
    reward_range(mdp, threads, model);
}

pess_status pess_mdp_model(const pess_mdp *mdp, int threads, pess_model **out, pess_error *error) {
    const int64_t pairs = mdp->states * mdp->actions, longest = longest_row(mdp);
    threads = pairs > 10000 ? pess__threads(threads) : 1;
    successor *scratch = NULL;
    int64_t *begin = NULL;
    pess_model *model = NULL;
    pess_status status = pess__allocate(&scratch, threads * pess__apart(longest, sizeof *scratch), sizeof *scratch,
                                        "the rows of a model", error);
    if (status == PESS_OK) status = pess__allocate(&begin, pairs + 1, sizeof *begin, "the rows of a model", error);
    if (status == PESS_OK) {
        count_successors(mdp, scratch, longest, threads, begin);
        status = pess__model_create(mdp->states, mdp->actions, begin[pairs], &model, error);
    }
    if (status == PESS_OK) {
        memcpy(model->row, begin, (size_t)(pairs + 1) * sizeof *begin);
        fill_model(mdp, scratch, longest, threads, model);
        assert(pess__model_holds(model));
        *out = model;
    }
    free(begin);
    free(scratch);
    return status;
}

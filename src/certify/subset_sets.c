#include "certify/subset_sets.h"

#include "core/memory.h"
#include "model/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double pess__coin_low(double p, double level) {
    if (p <= 0) return 0;
    if (p >= 1) return exp(-level); /* kl(1,q) = −ln q, exactly */
    if (p <= 0.5) return fmax(p - sqrt(2 * level * p * (1 - p)), 0);
    /* (p−q)² = 2·level·q(1−q), the larger end being q while q >= ½; below that Pinsker. */
    const double q = (p + level - sqrt(level * (2 * p * (1 - p) + level))) / (1 + 2 * level);
    return q >= 0.5 ? q : fmax(p - sqrt(level / 2), 0);
}

bool pess__subset_knows(const char *uncertainty) {
    return strcmp(uncertainty, "l1") == 0 || strcmp(uncertainty, "support") == 0;
}

/* Successors of a pair in its row: states, and the end where the supports show it. */
static int64_t states_in_row(const pess_counts *supports, int64_t pair) {
    return supports->row[pair + 1] - supports->row[pair];
}

static void open_pair(const pess__u_problem *problem, const pess_counts *supports, int64_t pair, int64_t states,
                      pess__subset_pair *out) {
    out->entries = (int32_t)(states_in_row(supports, pair) + (supports->n_terminal[pair] > 0 ? 1 : 0));
    out->open_states = states_in_row(supports, pair) < states;
    out->open_end = problem->model->has_terminals && supports->n_terminal[pair] == 0;
}

/* Of the samples of a state, those of the action; none is 0. */
static double action_share(const pess_counts *supports, int64_t pair) {
    const int64_t actions = supports->actions, first = pair - pair % actions;
    double sum = 0;
    for (int64_t z = first; z < first + actions; z++) sum += (double)supports->n[z] + 0.5;
    return ((double)supports->n[pair] + 0.5) / sum;
}

static pess_status fill_pair(const pess__u_problem *problem, const pess_counts *supports, bool support, int64_t pair,
                             pess__subset_pair *out, pess_error *error) {
    const pess_counts *counts = problem->counts;
    const int64_t seen = states_in_row(counts, pair);
    const int64_t states = problem->max_successors > 0 ? problem->max_successors : pess__all_states(problem->model);
    PESS_TRY(pess__u_check_successors(problem, pair, seen, error));
    open_pair(problem, supports, pair, states, out);
    const double n = (double)counts->n[pair], k = (double)out->entries;
    const double m = (double)states + (problem->model->has_terminals ? 1 : 0);
    const double pairs = pess__u_log_pairs(problem, problem->delta, counts->n[pair]);
    const bool learned = supports != counts;
    out->unseen = NAN;
    if (support) {
        const double price = lgamma(m + 1) - lgamma(k + 1) - lgamma(m - k + 1) + log(m) + log(2) + pairs;
        out->unseen = fmin(price / n, 1);
        out->level = (price + k * log(2)) / n;
        return PESS_OK;
    }
    /* Learned: half of δ is for the whole row, whose complement stands at the lowest value. */
    const double price =
        learned ? pairs - log((double)counts->actions * action_share(supports, pair)) + log(2) : pairs + m * log(2);
    out->level = (price + (learned ? k * log(2) : 0)) / n;
    out->whole = price / n;
    return PESS_OK;
}

/* The row in any order; the weight of a row that was never sorted is NAN. Both lists of states are ascending. */
static void fill_entries(pess__subset_sets *sets, int64_t pair) {
    const pess_counts *counts = sets->counts, *supports = sets->supports;
    const double n = (double)counts->n[pair];
    pess__subset_entry *entry = sets->entries + supports->row[pair] + pair;
    int64_t at = counts->row[pair], within = 0;
    for (int64_t i = supports->row[pair]; i < supports->row[pair + 1]; i++) {
        while (at < counts->row[pair + 1] && counts->next[at] < supports->next[i]) at++;
        const bool same = at < counts->row[pair + 1] && counts->next[at] == supports->next[i];
        within += same ? counts->n_next[at] : 0;
        *entry++ = (pess__subset_entry){same ? (double)counts->n_next[at] / n : 0, NAN, supports->next[i]};
    }
    if (supports->n_terminal[pair] > 0) {
        within += counts->n_terminal[pair];
        *entry = (pess__subset_entry){(double)counts->n_terminal[pair] / n, NAN, PESS__SUBSET_END};
    }
    sets->pairs[pair].gone = 1 - pess__coin_low((double)within / n, sets->pairs[pair].whole);
}

static pess_status create(const pess__u_problem *problem, const pess_counts *supports, bool support,
                          pess__subset_sets **out, pess_error *error) {
    PESS_TRY(pess__u_check_counts(problem, error));
    const int64_t pairs = problem->counts->states * problem->counts->actions;
    pess__subset_sets *sets;
    PESS_TRY(pess__allocate(&sets, 1, sizeof *sets, "the ambiguity sets", error));
    sets->counts = problem->counts;
    sets->supports = supports;
    sets->model = problem->model;
    pess_status status = pess__allocate(&sets->pairs, pairs, sizeof *sets->pairs, "the ambiguity sets", error);
    if (status == PESS_OK)
        status = pess__allocate(&sets->entries, supports->row[pairs] + pairs, sizeof *sets->entries,
                                "the ambiguity sets", error);
    for (int64_t z = 0; z < pairs && status == PESS_OK; z++) {
        if (states_in_row(supports, z) > sets->longest) sets->longest = states_in_row(supports, z);
        if (problem->counts->n[z] == 0) continue;
        status = fill_pair(problem, supports, support, z, &sets->pairs[z], error);
        if (status == PESS_OK) fill_entries(sets, z);
    }
    if (status == PESS_OK)
        *out = sets;
    else
        pess__subset_destroy(sets);
    return status;
}

pess_status pess__subset_create(const pess__u_problem *problem, const char *uncertainty, pess__subset_sets **out,
                                pess_error *error) {
    return create(problem, problem->counts, strcmp(uncertainty, "support") == 0, out, error);
}

pess_status pess__subset_learn(const pess__u_problem *problem, const pess_counts *earlier, pess__subset_sets **out,
                               pess_error *error) {
    pess_counts *supports = NULL;
    PESS_TRY(pess__supports_learn(earlier, problem->max_successors, &supports, error));
    const pess_status status = create(problem, supports, false, out, error);
    if (status == PESS_OK)
        (*out)->own_supports = supports;
    else
        pess_counts_destroy(supports);
    return status;
}

void pess__subset_destroy(pess__subset_sets *sets) {
    if (!sets) return;
    pess_counts_destroy(sets->own_supports);
    free(sets->pairs);
    free(sets->entries);
    free(sets);
}

static int compare_slots(const void *left, const void *right) {
    const pess__subset_slot *a = left, *b = right;
    return (a->value < b->value) - (a->value > b->value);
}

/* Descending by value; rows are short as a rule. */
static void sort_slots(pess__subset_slot *slots, int64_t count) {
    if (count > 24) {
        qsort(slots, (size_t)count, sizeof *slots, compare_slots);
        return;
    }
    for (int64_t i = 1; i < count; i++) {
        const pess__subset_slot moving = slots[i];
        int64_t at = i;
        for (; at > 0 && slots[at - 1].value < moving.value; at--) slots[at] = slots[at - 1];
        slots[at] = moving;
    }
}

static double value_of(const pess__subset_entry *entry, const double *v, double sign) {
    return entry->next == PESS__SUBSET_END ? 0 : sign * v[entry->next];
}

/* Puts the entries in descending order of value and weighs them: w_i = low(A_i) − low(A_{i−1}), the last takes the
 * rest. */
static void reorder(pess__subset_entry *entries, int64_t count, double level, const double *v, double sign,
                    pess__subset_slot *scratch) {
    for (int64_t i = 0; i < count; i++)
        scratch[i] = (pess__subset_slot){value_of(&entries[i], v, sign), entries[i].mass, entries[i].next};
    sort_slots(scratch, count);
    double above = 0, before = 0;
    for (int64_t i = 0; i < count; i++) {
        above += scratch[i].mass;
        if (above > 1 - 1e-13) above = 1; /* shares of fewer than 10¹³ samples */
        const double low = i + 1 < count ? pess__coin_low(above, level) : 1;
        entries[i] = (pess__subset_entry){scratch[i].mass, low - before, scratch[i].next};
        before = low;
    }
}

double pess__subset_extreme(const pess__subset_sets *sets, double sign, int64_t pair, const double *v,
                            const pess__extremes *extremes, pess__subset_slot *scratch) {
    const pess__subset_pair *set = &sets->pairs[pair];
    pess__subset_entry *entries = sets->entries + sets->supports->row[pair] + pair;
    const int64_t count = set->entries;
    double floor = INFINITY, total = 0, last = 0;
    if (set->open_states && extremes->lo_state >= 0) floor = sign > 0 ? extremes->lo : -extremes->hi;
    if (set->open_end) floor = fmin(floor, 0);
    if (count == 0) return sign * floor; /* learned, of a pair that the earlier part does not show */
    for (int again = 0; again < 2; again++) {
        bool ordered = !isnan(entries[0].weight);
        last = value_of(&entries[0], v, sign);
        total = entries[0].weight * last;
        for (int64_t i = 1; i < count && ordered; i++) {
            const double value = value_of(&entries[i], v, sign);
            ordered = value <= last;
            total += entries[i].weight * value;
            last = value;
        }
        if (ordered) break;
        reorder(entries, count, set->level, v, sign, scratch);
    }
    if (isnan(set->unseen)) /* l1 and learned: the whole row is a subset as well */
        return sign * (floor < last ? total - (last - floor) * set->gone : total);
    return sign * (floor < total ? (1 - set->unseen) * total + set->unseen * floor : total);
}

double pess__subset_better(const pess__subset_sets *sets, const pess__subset_sets *learned, double sign, int64_t pair,
                           const double *v, const pess__extremes *extremes, pess__subset_slot *scratch) {
    const double one = pess__subset_extreme(sets, sign, pair, v, extremes, scratch);
    if (!learned || learned->counts->n[pair] == 0) return one;
    const double other = pess__subset_extreme(learned, sign, pair, v, extremes, scratch);
    return sign > 0 ? fmax(one, other) : fmin(one, other);
}

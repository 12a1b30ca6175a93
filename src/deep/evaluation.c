/* Fitted Q evaluation (Le, Voloshin & Yue 2019): fitted Q iteration whose targets are those of one fixed policy,
 *
 *     y = r + γ v(s'),   v(s) = Σ_a π(a|s) q(s,a), cut to what values can be.
 *
 * So it is a learner like any other, whose rule is to keep to the policy it is given: its table stands where others
 * have that of the imitation network. */
#include "deep/evaluation.h"

#include "core/memory.h"
#include "deep/training.h"
#include "nn/netfile.h"

#include <stdlib.h>
#include <string.h>

typedef struct range {
    size_t size;
    double lo, hi;
} range;

static double decide(const pess__view *view, double *policy) {
    const range *r = view->knobs;
    double value = 0;
    for (int64_t a = 0; a < view->actions; a++) {
        policy[a] = (double)view->prior[a];
        if (policy[a] > 0) value += policy[a] * (double)view->q[a];
    }
    return fmin(fmax(value, r->lo), r->hi);
}

static const pess__learner evaluation_learner = {.info = {.name = "fitted Q evaluation", .values = true},
                                                 .decide = decide};

static pess_status begin(pess__training **out, const pess__learner *learner, const pess__fitting *f,
                         pess_error *error) {
    PESS_TRY(pess__allocate(out, 1, sizeof **out, "a network's training", error));
    pess__setup *s = &(*out)->setup;
    s->options = pess_train_options_defaults();
    s->options.data = f->data;
    s->options.gamma = f->gamma;
    s->options.network = f->network;
    s->options.kernels = f->kernels;
    s->options.seed = f->seed;
    s->options.threads = f->threads;
    s->options.protocol = f->protocol;
    s->options.progress = f->progress;
    s->position = &(*out)->position;
    s->learner = learner;
    return pess__setup_plan(s, error);
}

static void finish(pess__training *t) {
    if (t == NULL) return;
    pess__training_release(t);
    free(t);
}

/* ---- what a policy is worth */

typedef struct asked {
    const pess__training *training;
    double *values;
    int64_t done;
} asked;

static void value_chunk(void *user, const int64_t *states, int64_t count, const pess__chunk_outputs outputs) {
    asked *a = user;
    const pess__setup *s = &a->training->setup;
    double policy[PESS__MAX_ACTIONS];
    for (int64_t i = 0; i < count; i++) {
        const pess__view view = pess__networks_view(s, &a->training->tables, states[i], i, outputs);
        a->values[a->done++] = s->learner->decide(&view, policy);
    }
}

static pess_status value_states(pess__training *t, const pess__fitted_evaluation *e, double *values,
                                pess_error *error) {
    pess__network_sweep list = {.states = (int64_t *)e->states, .count = e->count, .outputs = t->sweep.outputs};
    asked a = {.training = t, .values = values};
    return pess__network_sweep_run(&t->setup, &list, (const pess__net *const *)t->networks.nets, 1, value_chunk, &a,
                                   error);
}

/* The mean of the first targets. Small steps do not lift networks from 0 to returns of a hundred: they begin there. */
static double first_level(const pess__training *t, const pess__fitted_evaluation *e) {
    const pess_observations *data = t->setup.data;
    const int64_t count = e->rows != NULL ? e->row_count : data->transitions;
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = e->rows != NULL ? e->rows[i] : i;
        const double after = data->end[row] == PESS_END_TERMINAL ? 0 : (double)e->first[data->next[row]];
        sum += (double)data->reward[row] + t->setup.options.gamma * after;
    }
    return sum / (double)count;
}

static pess_status run(pess__training *t, const pess__fitted_evaluation *e, pess_error *error) {
    const range knobs = {sizeof knobs, e->lo, e->hi};
    memcpy(t->setup.knobs, &knobs, sizeof knobs);
    t->setup.rows = e->rows;
    t->setup.row_count = e->row_count;
    t->tables.prior = (float *)e->policy; /* lent: taken back below */
    t->values.first = e->first;
    t->networks.level = first_level(t, e);
    const int64_t updates = t->setup.updates, late = pess__late_updates(updates);
    PESS_TRY(pess__training_fit_begin(t, error));
    PESS_TRY(pess__training_fit_to(t, updates - late, error));
    if (late > 0 && e->before != NULL) PESS_TRY(value_states(t, e, e->before, error));
    PESS_TRY(pess__training_fit_to(t, updates, error));
    return value_states(t, e, e->values, error);
}

pess_status pess__evaluate_fitted(const pess__fitting *fitting, const pess__fitted_evaluation *e, pess_error *error) {
    pess__training *t = NULL;
    pess_status status = begin(&t, &evaluation_learner, fitting, error);
    if (status == PESS_OK) status = run(t, e, error);
    if (t != NULL) t->tables.prior = NULL;
    finish(t);
    return status;
}

/* ---- how the data act */

pess_status pess__imitate_fitted(const pess__fitting *fitting, const char *file, float *prior, pess_error *error) {
    pess__training *t = NULL;
    pess_status status = begin(&t, &pess__learner_imitation, fitting, error);
    if (status == PESS_OK && file != NULL) {
        t->setup.options.imitation = file;
        t->setup.fingerprint = pess__setup_fingerprint(fitting->data);
        status = pess__networks_open_imitation(&t->setup, &t->networks, error);
    } else if (status == PESS_OK) {
        status = pess__training_fit_begin(t, error);
        if (status == PESS_OK) status = pess__training_fit_to(t, t->setup.updates, error);
    }
    if (status == PESS_OK)
        status = pess__tables_priors(&t->setup, file != NULL ? t->networks.imitation : t->networks.nets[0], &t->tables,
                                     error);
    if (status == PESS_OK)
        memcpy(prior, t->tables.prior, (size_t)(fitting->data->states * fitting->data->actions) * sizeof *prior);
    finish(t);
    return status;
}

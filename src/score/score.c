#include "score/score.h"

#include "core/memory.h"
#include "core/settings.h"
#include "core/text.h"
#include "core/threads.h"
#include "deep/learner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- settings */

#define FIELD(name) PESS__FIELD(pess_score_options, name)
#define COUNT(what, field) .name = (what), .kind = PESS_SETTING_COUNT, FIELD(field), .argument = "N"

static const pess_setting rows[] = {
    {.name = "gamma",
     .kind = PESS_SETTING_NUMBER,
     FIELD(gamma),
     PESS__FROM_TO(0, 1),
     .argument = "G",
     .sentence = "discount",
     .where_unset = "the one that the policies were trained with, or 0.99"},
    {.name = "criterion",
     .kind = PESS_SETTING_CHOICE,
     FIELD(criterion),
     .standard = "fqe",
     .choices = "fqe|fqe-lower|per-decision|weighted|td-error|predicted|unlogged",
     .sentence = "what puts several policies in order: fitted Q evaluation, the lower end of its interval, importance "
                 "sampling per decision or weighted, the policies' own values (smallest error, largest value), or the "
                 "least mass on actions that were never logged"},
    {COUNT("networks", networks), .standard = "4", PESS__FROM_TO(1, PESS_SCORE_NETWORKS),
     .sentence = "networks of fitted Q evaluation, each on its own resample of the episodes"},
    {COUNT("updates", updates), .standard = "0", PESS__FROM_TO(0, 1e6),
     .sentence = "Bellman updates of each network; 0: 1/(1 - gamma), from 20 to 200"},
    {COUNT("steps", steps), .standard = "0", PESS__FROM_TO(0, 1e9),
     .sentence = "gradient steps of an update; 0: all networks together make as many steps as a training"},
    {.name = "delta",
     .kind = PESS_SETTING_NUMBER,
     FIELD(delta),
     .standard = "0.1",
     PESS__BETWEEN(0, 1),
     .argument = "D",
     .sentence = "error probability of the intervals of fitted Q evaluation"},
    {.name = "weights",
     .kind = PESS_SETTING_CHOICE,
     FIELD(weights),
     .standard = "auto",
     .choices = "auto|logged|imitation|none",
     .sentence = "probabilities of the logged actions for importance weights: the data's own, an imitation network's, "
                 "or no weights; auto takes the data's own where there are any"},
    {.name = "imitation",
     .kind = PESS_SETTING_TEXT,
     FIELD(imitation),
     .argument = "FILE",
     .sentence = "an imitation network that was trained on these data before",
     .where_unset = "one is trained, where it is needed"},
    {.name = "argmax",
     .kind = PESS_SETTING_SWITCH,
     FIELD(argmax),
     .standard = "off",
     .sentence = "score the most probable action in place of the policy's own rule"},
    {.name = "network",
     .kind = PESS_SETTING_TEXT,
     FIELD(network),
     .argument = "NETWORK|LAYERS",
     .sentence = "network of fitted Q evaluation and imitation, named or layer by layer as for training",
     .where_unset = "the one that fits the observations"},
    {.name = "kernels",
     .kind = PESS_SETTING_TEXT,
     FIELD(kernels),
     .argument = "avx512|avx2|portable",
     .sentence = "which instruction set to compute with",
     .where_unset = "the best the machine has"},
    PESS__SEED_SETTING(pess_score_options, "of everything random"),
    PESS__THREADS_SETTING(pess_score_options),
};

static const pess_setting_table table = PESS__SETTING_TABLE("score", pess_score_options, rows);

const pess_setting_table *pess_score_settings(void) { return &table; }

pess_score_options pess_score_options_defaults(void) {
    pess_score_options options;
    pess_setting_defaults(&table, &options);
    options.protocol = pess_protocol_defaults();
    return options;
}

/* ---- what is asked */

struct pess_scores {
    pess_scores_info info;
    pess_score *rows; /* [policies] */
    char **names;     /* [policies] */
};

typedef struct scoring {
    const pess_policy *const *policies;
    const pess_observations *data;
    pess_score_options options;
    const char *data_name;
    pess__score_episodes episodes;
    pess__fitting fitting;
    float *behaviour; /* [transitions] of the logged actions; NULL: no weights */
    pess_scores *scores;
} scoring;

/* The discount of the policies' own trainings, which must agree. */
static pess_status find_gamma(scoring *s, pess_error *error) {
    if (!isnan(s->options.gamma)) return PESS_OK;
    for (int64_t i = 0; i < s->scores->info.policies; i++) {
        char note[64];
        double own;
        if (!pess_policy_note(s->policies[i], "gamma", note, sizeof note) ||
            !pess__parse_double(note, note + strlen(note), &own))
            continue;
        if (!isnan(s->options.gamma) && fabs(own - s->options.gamma) > 0)
            return pess__fail(error, PESS_ARGUMENT,
                              "%s was trained with discount %g, others with %g; gamma says by which to score all",
                              s->scores->names[i], own, s->options.gamma);
        s->options.gamma = own;
    }
    if (isnan(s->options.gamma)) s->options.gamma = 0.99;
    return PESS_OK;
}

/* As many updates as the discount looks ahead, and steps so that all networks together cost a training. */
static void plan(scoring *s) {
    pess_score_options *o = &s->options;
    pess_protocol *p = &o->protocol;
    if (o->updates == 0) o->updates = (int64_t)fmin(fmax(ceil(1 / (1 - o->gamma + 1e-12)), 20), 200);
    if (o->steps == 0) o->steps = (p->updates * p->steps + o->networks * o->updates - 1) / (o->networks * o->updates);
    p->updates = o->updates;
    p->steps = o->steps;
    s->fitting = (pess__fitting){.data = s->data,
                                 .gamma = o->gamma,
                                 .network = o->network,
                                 .kernels = o->kernels,
                                 .seed = o->seed,
                                 .threads = o->threads,
                                 .protocol = *p,
                                 .progress = o->progress};
}

static pess_status check(const scoring *s, pess_error *error) {
    const pess_score_options *o = &s->options;
    if (s->data->actions > PESS__MAX_ACTIONS)
        return pess__fail(error, PESS_INPUT, "%s: has %lld actions; up to %d are possible", s->data_name,
                          (long long)s->data->actions, PESS__MAX_ACTIONS);
    for (int64_t i = 0; i < s->scores->info.policies; i++)
        PESS_TRY(pess__score_check(s->policies[i], s->scores->names[i], s->data, s->data_name, o->argmax, error));
    if (o->weights == PESS_WEIGHTS_LOGGED && s->data->probability == NULL)
        return pess__fail(error, PESS_INPUT,
                          "%s: has no probabilities of the logged actions (array probabilities); weights imitation "
                          "estimates them",
                          s->data_name);
    if (o->imitation != NULL && (o->weights == PESS_WEIGHTS_LOGGED || o->weights == PESS_WEIGHTS_NONE))
        return pess__fail(error, PESS_ARGUMENT, "imitation: does nothing with weights %s",
                          o->weights == PESS_WEIGHTS_NONE ? "none" : "logged");
    const bool by_weights = o->criterion == PESS_SCORE_PER_DECISION || o->criterion == PESS_SCORE_WEIGHTED;
    if (by_weights && o->weights == PESS_WEIGHTS_NONE)
        return pess__fail(error, PESS_ARGUMENT,
                          "criterion: importance sampling needs weights, and they are switched off");
    if (o->criterion == PESS_SCORE_FQE_LOWER && o->networks < 2)
        return pess__fail(error, PESS_ARGUMENT, "criterion: fqe-lower needs two networks or more");
    return PESS_OK;
}

/* ---- the parts */

static pess_status find_behaviour(scoring *s, pess_error *error) {
    pess_scores_info *info = &s->scores->info;
    const pess_observations *data = s->data;
    const pess_score_weights asked = s->options.weights;
    info->weights = "none";
    if (asked == PESS_WEIGHTS_NONE || s->episodes.whole == 0) return PESS_OK;
    PESS_TRY(pess__allocate(&s->behaviour, data->transitions, sizeof *s->behaviour, "probabilities", error));
    if (data->probability != NULL && asked != PESS_WEIGHTS_IMITATION && s->options.imitation == NULL) {
        info->weights = "logged";
        memcpy(s->behaviour, data->probability, (size_t)data->transitions * sizeof *s->behaviour);
        return PESS_OK;
    }
    info->weights = "imitation";
    float *prior = NULL;
    PESS_TRY(pess__allocate(&prior, data->states * data->actions, sizeof *prior, "probabilities", error));
    const pess_status status = pess__imitate_fitted(&s->fitting, s->options.imitation, prior, error);
    for (int64_t i = 0; status == PESS_OK && i < data->transitions; i++)
        s->behaviour[i] = prior[data->state[i] * data->actions + data->action[i]];
    free(prior);
    return status;
}

static void describe_log(scoring *s) {
    pess_scores_info *info = &s->scores->info;
    const pess__score_episodes *e = &s->episodes;
    double sum = 0, squares = 0;
    info->log_return = info->log_return_error = NAN;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t k = 0; k < e->count; k++) {
            double discount = 1, whole = 0;
            if (!e->is_whole[k]) continue;
            for (int64_t i = e->begin[k]; i < e->begin[k + 1]; i++, discount *= info->gamma)
                whole += discount * (double)s->data->reward[i];
            if (pass == 0)
                sum += whole;
            else
                squares += (whole - sum / (double)e->whole) * (whole - sum / (double)e->whole);
        }
    if (e->whole > 0) info->log_return = sum / (double)e->whole;
    if (e->whole > 1) info->log_return_error = sqrt(squares / (double)(e->whole - 1) / (double)e->whole);
}

static void warn(scoring *s) {
    pess_scores_info *info = &s->scores->info;
    double most = 0;
    for (int64_t i = 0; i < info->policies; i++)
        if (s->scores->rows[i].effective > most) most = s->scores->rows[i].effective;
    if (s->episodes.count == 1)
        (void)snprintf(
            info->warning, sizeof info->warning,
            "the data have one episode: resamples of it are all the same, so spread and errors are not known");
    else if (s->episodes.whole == 0)
        (void)snprintf(info->warning, sizeof info->warning,
                       "no episode is whole, logging cut all of them off: there are no importance weights");
    else if (s->behaviour != NULL && most < 10)
        (void)snprintf(info->warning, sizeof info->warning,
                       "importance weights are worth %.2g of %lld episode%s at most: do not go by per-decision and "
                       "weighted importance sampling here",
                       most, (long long)s->episodes.whole, s->episodes.whole == 1 ? "" : "s");
}

/* A rule of thumb: what moves by more than a fiftieth of the value in a tenth of the updates has not settled. The
 * policy that moved most is named. */
static void warn_unsettled(pess_scores *s) {
    static const double share = 0.02;
    const pess_score *worst = NULL;
    for (int64_t i = 0; i < s->info.policies; i++) {
        const pess_score *row = &s->rows[i];
        if (fabs(row->fqe_moved) > share * fabs(row->fqe) &&
            (worst == NULL || fabs(row->fqe_moved) > fabs(worst->fqe_moved)))
            worst = row;
    }
    if (worst == NULL) return;
    (void)snprintf(s->info.unsettled, sizeof s->info.unsettled,
                   "fitted Q evaluation of %.80s has not settled: its value moved by %+.3g to %.4g in the last %lld of "
                   "%lld updates; more updates or steps, or a larger step size, may tell",
                   worst->name, worst->fqe_moved, worst->fqe, (long long)pess__late_updates(s->info.updates),
                   (long long)s->info.updates);
}

static pess_status score_one(scoring *s, int64_t i, pess_error *error) {
    pess_score *out = &s->scores->rows[i];
    const pess_score_options *o = &s->options;
    pess__policy_table about = {0};
    pess_status status = pess__policy_table_create(s->policies[i], s->data, o->argmax, o->threads, &about, error);
    if (status == PESS_OK) pess__score_own_values(&about, s->data, &s->episodes, o->gamma, out);
    if (status == PESS_OK && s->behaviour != NULL)
        status = pess__score_by_weights(&about, s->data, &s->episodes, o->gamma, s->behaviour, out, error);
    if (status == PESS_OK)
        status =
            pess__score_by_networks(&s->fitting, &about, &s->episodes, o->networks, o->delta, o->threads, out, error);
    pess__policy_table_destroy(&about);
    return status;
}

static pess_status run(scoring *s, pess_error *error) {
    pess_scores_info *info = &s->scores->info;
    PESS_TRY(check(s, error));
    PESS_TRY(find_gamma(s, error));
    const pess_score_options *o = &s->options;
    PESS_TRY(pess__score_episodes_create(s->data, s->data_name, o->gamma, &s->episodes, error));
    plan(s);
    info->gamma = o->gamma, info->delta = o->delta, info->criterion = o->criterion;
    info->networks = o->networks, info->updates = o->updates, info->steps = o->steps, info->batch = o->protocol.batch;
    info->transitions = s->data->transitions, info->starts = s->episodes.count, info->episodes = s->episodes.whole;
    describe_log(s);
    PESS_TRY(find_behaviour(s, error));
    for (int64_t i = 0; i < info->policies; i++) PESS_TRY(score_one(s, i, error));
    warn(s);
    warn_unsettled(s->scores);
    pess__score_rank(s->scores->rows, info->policies, info);
    return PESS_OK;
}

/* ---- the whole */

static const pess_score nothing = {.value = NAN,
                                   .fqe = NAN,
                                   .fqe_spread = NAN,
                                   .fqe_lower = NAN,
                                   .fqe_upper = NAN,
                                   .fqe_moved = NAN,
                                   .per_decision = NAN,
                                   .per_decision_error = NAN,
                                   .weighted = NAN,
                                   .weighted_error = NAN,
                                   .effective = NAN,
                                   .mean_weight = NAN,
                                   .mean_weight_error = NAN,
                                   .largest_weight = NAN,
                                   .zero_share = NAN,
                                   .predicted = NAN,
                                   .td_error = NAN,
                                   .unlogged = NAN};

static pess_status open_scores(const char *const *names, int64_t count, pess_scores **out, pess_error *error) {
    static const char what[] = "the scores of policies";
    pess_scores *s = NULL;
    PESS_TRY(pess__allocate(&s, 1, sizeof *s, what, error));
    *out = s;
    PESS_TRY(pess__allocate(&s->rows, count, sizeof *s->rows, what, error));
    PESS_TRY(pess__allocate(&s->names, count, sizeof *s->names, what, error));
    s->info.policies = count;
    for (int64_t i = 0; i < count; i++) {
        char standard[32];
        (void)snprintf(standard, sizeof standard, "policy %lld", (long long)i + 1);
        const char *name = names != NULL && names[i] != NULL ? names[i] : standard;
        PESS_TRY(pess__allocate(&s->names[i], (int64_t)strlen(name) + 1, 1, what, error));
        memcpy(s->names[i], name, strlen(name));
        s->rows[i] = nothing;
        s->rows[i].name = s->names[i];
    }
    return PESS_OK;
}

pess_status pess_score_policies(const pess_policy *const *policies, const char *const *names, int64_t count,
                                const pess_observations *data, const pess_score_options *options, pess_scores **out,
                                pess_error *error) {
    scoring s = {.policies = policies, .data = data};
    const double begun = pess__clock();
    PESS_TRY(pess__settle(&table, options, &s.options, error));
    const pess_protocol given = s.options.protocol.size > 0 ? s.options.protocol : pess_protocol_defaults();
    PESS_TRY(pess__settle(pess_protocol_settings(), &given, &s.options.protocol, error));
    s.data_name = s.options.data_name != NULL ? s.options.data_name : "data";
    if (count < 1) return pess__fail(error, PESS_ARGUMENT, "there are no policies to score");
    pess_status status = open_scores(names, count, &s.scores, error);
    if (status == PESS_OK) status = run(&s, error);
    free(s.behaviour);
    pess__score_episodes_destroy(&s.episodes);
    if (status == PESS_OK) {
        s.scores->info.seconds = pess__clock() - begun;
        *out = s.scores;
    } else {
        pess_scores_destroy(s.scores);
    }
    return status;
}

void pess_scores_destroy(pess_scores *s) {
    if (s == NULL) return;
    for (int64_t i = 0; s->names != NULL && i < s->info.policies; i++) free(s->names[i]);
    free(s->names);
    free(s->rows);
    free(s);
}

void pess_scores_get_info(const pess_scores *s, pess_scores_info *out) { *out = s->info; }

const pess_score *pess_scores_policy(const pess_scores *s, size_t index) {
    return index < (size_t)s->info.policies ? &s->rows[index] : NULL;
}

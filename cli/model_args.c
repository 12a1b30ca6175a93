#include "model_args.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const unseen_names[] = {"paper", "worst", "self-loop", NULL};
static const char *const method_names[] = {"auto", "policy-iteration", "value-iteration", "modified-policy-iteration",
                                           NULL};
static const char *const evaluation_names[] = {"auto", "lu", "krylov", NULL};
static const char *const switch_names[] = {"off", "on", NULL};

model_args model_args_defaults(void) {
    model_args args = {.solve = pess_solve_options_defaults(), .model = pess_model_options_defaults()};
    args.alpha = args.absorbed_alpha = 1;
    args.algorithm = args.solve.algorithm;
    args.unseen = PESS_UNSEEN_PAPER;
    return args;
}

void model_args_options(model_args *a, option *rows) {
    pess_solve_options *s = &a->solve;
    const option table[MODEL_OPTION_COUNT] = {
        {"algorithm", 'a', OPTION_TEXT, &a->algorithm, "NAME",
         "algorithm, default ua; 'pess list algorithms' explains them", .given = &a->algorithm_given},
        {"uncertainty", 'u', OPTION_TEXT, &a->uncertainty, "NAME",
         "uncertainty function, default that of the algorithm; 'pess list uncertainties'",
         .given = &a->uncertainty_given},
        {"gamma", 0, OPTION_NUMBER, &s->gamma, "G", "discount in [0,1], default 0.99; 1 where every policy ends"},
        {"delta", 0, OPTION_NUMBER, &s->delta, "D", "error probability in (0,1), default 0.05"},
        {"alpha", 0, OPTION_NUMBER, &a->alpha, "X", "strength of the pessimism in the theory's units",
         .given = &a->alpha_given},
        {"absorbed-alpha", 0, OPTION_NUMBER, &a->absorbed_alpha, "X",
         "the same with all constants absorbed: penalty X/sqrt(n) for ua, X*TV for proximal; default 1",
         .given = &a->absorbed_given},
        {"states", 0, OPTION_COUNT, &a->states, "N", "number of states, default: as many as the log shows"},
        {"actions", 0, OPTION_COUNT, &a->actions, "N", "number of actions, default: as many as the log shows"},
        {"reward-range", 0, OPTION_PAIR, a->reward_range, "LO,HI", "what rewards can be, default: as the log shows",
         .given = &a->reward_given},
        {"start", 0, OPTION_TEXT, &a->start, "uniform|log|FILE",
         "start distribution: default the log's episode starts where it has episodes, else uniform"},
        {"unseen", 0, OPTION_CHOICE, &a->unseen, "paper|worst|self-loop",
         "what stands in for a pair the log never shows: a random reward and a uniform next state (paper, the "
         "default), the lowest reward for ever, or the lowest reward and the same state again",
         unseen_names},
        {"iid", 0, OPTION_FLAG, &a->iid, NULL,
         "declare that the transitions are independent draws, although the log has episodes"},
        {"max-successors", 0, OPTION_COUNT, &s->max_successors, "K",
         "declare how many next states a pair can have, default: all states"},
        {"local-policies", 0, OPTION_NUMBER, &s->local_policies, "N",
         "hoeffding-s: number of local policies it holds for, default the deterministic ones"},
        {"min-count", 0, OPTION_NUMBER, &s->min_count, "N", "SPIBB and R-MIN: pairs with fewer samples are uncertain"},
        {"budget", 0, OPTION_NUMBER, &s->budget, "E", "Soft-SPIBB: how far a state may move from the logging policy"},
        {"clip", 0, OPTION_CHOICE, &a->clip, "on|off",
         "ua: clip the penalised reward to the reward range, as the paper's experiments do; default off", switch_names},
        {"method", 0, OPTION_CHOICE, &a->method, "NAME",
         "auto, policy-iteration, value-iteration or modified-policy-iteration", method_names},
        {"evaluation", 0, OPTION_CHOICE, &a->evaluation, "NAME", "auto, lu or krylov", evaluation_names},
        {"tolerance", 0, OPTION_NUMBER, &s->tolerance, "E", "largest Bellman residual to stop at, default 1e-10"},
        {"max-iterations", 0, OPTION_COUNT, &s->max_iterations, "N", "limit of the outer loop"},
        {"time-limit", 0, OPTION_NUMBER, &s->time_limit, "SECONDS", "stop after this long, default never"},
        {"seed", 0, OPTION_SEED, &s->seed, "N", "for the rewards of unseen pairs, default 1"},
        {"threads", 0, OPTION_COUNT, &a->threads, "N", "default all; the result does not depend on it"},
    };
    memcpy(rows, table, sizeof table);
}

void model_args_settle_alpha(model_args *args) {
    pess_solve_options *s = &args->solve;
    if (args->alpha_given) {
        s->alpha = args->alpha;
        s->absorbed = false;
    } else if (args->absorbed_given) {
        s->alpha = args->absorbed_alpha;
        s->absorbed = true;
    } else {
        const pess_algorithm_info *algorithm = pess_algorithm_find(s->algorithm);
        const bool default_bound = s->uncertainty == NULL || (algorithm != NULL && algorithm->default_uncertainty &&
                                                              !strcmp(s->uncertainty, algorithm->default_uncertainty));
        s->alpha = 1;
        s->absorbed = default_bound && !(algorithm != NULL && algorithm->takes_sets_only);
    }
}

int model_args_settle(model_args *args, const char *command_name) {
    pess_solve_options *s = &args->solve;
    if (args->alpha_given && args->absorbed_given)
        return report_usage(command_name, "--alpha and --absorbed-alpha are two scales of one setting; give one");
    if (args->threads > 4096) return report_usage(command_name, "--threads: at most 4096");
    if (args->states > PESS_MAX_STATES || args->actions > PESS_MAX_ACTIONS)
        return report_usage(command_name, "--states can be at most %lld and --actions at most %lld",
                            (long long)PESS_MAX_STATES, (long long)PESS_MAX_ACTIONS);
    if (args->reward_given && !(args->reward_range[0] <= args->reward_range[1]))
        return report_usage(command_name, "--reward-range: the lower end %g is above the upper end %g",
                            args->reward_range[0], args->reward_range[1]);
    s->algorithm = args->algorithm;
    s->uncertainty = args->uncertainty;
    model_args_settle_alpha(args);
    s->clip_rewards = args->clip == 1;
    s->method = (pess_method)args->method;
    s->evaluation = (pess_evaluation)args->evaluation;
    s->threads = (int)args->threads;
    s->progress = terminal_progress();
    args->model.unseen = (pess_unseen)args->unseen;
    args->model.seed = s->seed;
    if (args->reward_given) {
        args->model.reward_lo = args->reward_range[0];
        args->model.reward_hi = args->reward_range[1];
    }
    return -1;
}

/* ---- loading */

static void assume(loaded_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void assume(loaded_log *log, const char *format, ...) {
    if (log->assumption_count >= ASSUMPTION_LIMIT) return;
    char *text = log->assumptions[log->assumption_count++];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof log->assumptions[0], format, arguments);
    va_end(arguments);
}

static void list_assumptions(const model_args *args, bool start_from_log, loaded_log *log) {
    static const char *const unseen_words[] = {"a reward drawn at random and a uniform next state",
                                               "the lowest reward for ever",
                                               "the lowest reward and the same state again"};
    const pess_counts_info *info = &log->info;
    if (!info->states_declared)
        assume(log, "There are %lld states: as many as the log shows (--states declares the number).",
               (long long)info->states);
    if (!info->actions_declared)
        assume(log, "There are %lld actions: as many as the log shows (--actions declares the number).",
               (long long)info->actions);
    double lo = 0, hi = 0;
    pess_model_reward_range(log->model, &lo, &hi);
    if (!args->reward_given)
        assume(log, "Rewards lie in [%g, %g]: the range the log shows (--reward-range declares it).", lo, hi);
    if (args->start == NULL || strcmp(args->start, "uniform") == 0)
        if (!start_from_log) assume(log, "Episodes start in every state alike (--start names another distribution).");
    if (start_from_log) assume(log, "Episodes start as the %lld episodes of the log did.", (long long)info->episodes);
    int64_t terminal = 0;
    for (int64_t s = 0; s < info->states; s++) terminal += pess_model_is_terminal_state(log->model, s);
    const int64_t pairs = (info->states - terminal) * info->actions;
    if (info->pairs_seen < pairs)
        assume(log, "%lld of %lld state-action pairs are not in the log; for them: %s (--unseen).",
               (long long)(pairs - info->pairs_seen), (long long)pairs, unseen_words[args->model.unseen]);
    if (args->solve.absorbed && hi - lo > 0 && (hi - lo < 0.1 || hi - lo > 10))
        assume(log,
               "Absorbed alpha %g is a penalty in reward units while rewards span %g: it suits rewards that span "
               "about 1, so consider --absorbed-alpha %g.",
               args->solve.alpha, hi - lo, args->solve.alpha * (hi - lo));
    if (info->cutoffs > 0)
        assume(log, "%lld cut-off transitions are taken to go on from their next state.", (long long)info->cutoffs);
}

static pess_status load_start(const model_args *args, loaded_log *log, bool *from_log, pess_error *error) {
    const bool named = args->start != NULL;
    *from_log = named ? strcmp(args->start, "log") == 0 : log->info.has_episodes;
    if (*from_log) return pess_start_from_counts(log->counts, log->start, error);
    if (!named || strcmp(args->start, "uniform") == 0) return pess_start_uniform(log->model, log->start, error);
    return pess_start_read(args->start, log->info.states, pess_counts_state_names(log->counts), log->start, error);
}

pess_status loaded_log_read(const char *path, const model_args *args, loaded_log *out, pess_error *error) {
    memset(out, 0, sizeof *out);
    pess_read_options read = pess_read_options_defaults();
    read.states = args->states;
    read.actions = args->actions;
    read.threads = (int)args->threads;
    read.progress = terminal_progress();
    bool from_log = false;
    pess_status status = pess_counts_read(path, &read, &out->counts, error);
    if (status == PESS_OK) {
        pess_counts_get_info(out->counts, &out->info);
        status = pess_model_estimate(out->counts, &args->model, &out->model, error);
    }
    if (status == PESS_OK) {
        out->start = calloc((size_t)out->info.states, sizeof *out->start);
        if (out->start == NULL) {
            *error = (pess_error){.status = PESS_MEMORY, .message = "not enough memory for the start distribution"};
            status = PESS_MEMORY;
        } else {
            status = load_start(args, out, &from_log, error);
        }
    }
    if (status == PESS_OK)
        list_assumptions(args, from_log, out);
    else
        loaded_log_free(out);
    return status;
}

void loaded_log_free(loaded_log *log) {
    pess_counts_destroy(log->counts);
    pess_model_destroy(log->model);
    free(log->start);
    memset(log, 0, sizeof *log);
}

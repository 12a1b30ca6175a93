/* Fitted Q iteration on fixed datasets: targets by hand, the limits of proximal, a tabular process where the networks
 * must come to the tabular engine's answer, and resuming. */
#include "deep_case.h"

#include "deep/play.h"

/* ---- targets */

static void targets_are_those_computed_by_hand(void **state) {
    (void)state;
    pess_error error;
    pess_observations *data = NULL;
    const uint8_t s[3] = {1, 2, 4};
    OK(pess_observations_create("mdp", "", &(pess_observation_shape){.length = 3}, 2, &data, &error));
    OK(pess_observations_add(data, &s[0], 0, 1, &s[1], PESS_END_NONE, &error));
    OK(pess_observations_add(data, &s[1], 1, 2, &s[2], PESS_END_TERMINAL, &error));
    OK(pess_observations_add(data, &s[0], 1, 3, &s[2], PESS_END_CUTOFF, &error));
    float value[3];
    value[pess__observations_find(data, &s[0])] = 7;
    value[pess__observations_find(data, &s[1])] = 10;
    value[pess__observations_find(data, &s[2])] = 20;
    const pess__setup setup = {.data = data, .options = {.gamma = 0.5}};
    const pess__values values = {.value = value};
    assert_true(fabs(pess__target(&setup, &values, 0) - (1 + 0.5 * 10)) < 1e-12);
    assert_true(fabs(pess__target(&setup, &values, 1) - 2) < 1e-12);              /* nothing after a terminal */
    assert_true(fabs(pess__target(&setup, &values, 2) - (3 + 0.5 * 20)) < 1e-12); /* a cut-off goes on */
    pess_observations_destroy(data);
}

/* ---- rules */

static void random_view(pess__rng *rng, int64_t actions, float *q, float *prior) {
    double sum = 0;
    for (int64_t a = 0; a < actions; a++) {
        q[a] = (float)pess__rng_normal(rng);
        prior[a] = (float)pess__rng_exponential(rng);
        sum += (double)prior[a];
    }
    for (int64_t a = 0; a < actions; a++) prior[a] = (float)((double)prior[a] / sum);
}

/* Σπq − αΣmax(π−π̂,0) */
static double penalised(const float *q, const float *prior, const double *policy, int64_t actions, double alpha) {
    double value = 0;
    for (int64_t a = 0; a < actions; a++)
        value += policy[a] * (double)q[a] - alpha * fmax(policy[a] - (double)prior[a], 0);
    return value;
}

static void proximal_is_the_best_penalised_policy(void **state) {
    (void)state;
    enum { CHOICES = 4 };
    pess__rng rng = pess__rng_stream(1, "test proximal", 0);
    for (int round = 0; round < 300; round++) {
        float q[CHOICES], prior[CHOICES];
        double policy[CHOICES], sum = 0, other[CHOICES];
        random_view(&rng, CHOICES, q, prior);
        const double alpha = 2 * pess__rng_uniform(&rng);
        const pess__view view = {.actions = CHOICES, .q = q, .prior = prior};
        const double value = decide(&pess__learner_proximal, alpha, &view, policy);
        for (int a = 0; a < CHOICES; a++) sum += policy[a];
        assert_true(fabs(sum - 1) < 1e-6);
        assert_true(fabs(value - penalised(q, prior, policy, CHOICES, alpha)) < 1e-5);
        for (int trial = 0; trial < 200; trial++) { /* no other policy is better */
            double total = 0;
            for (int a = 0; a < CHOICES; a++) total += other[a] = pess__rng_exponential(&rng);
            for (int a = 0; a < CHOICES; a++) other[a] /= total;
            assert_true(penalised(q, prior, other, CHOICES, alpha) <= value + 1e-5);
        }
    }
}

static void proximal_lies_between_naive_and_imitation(void **state) {
    (void)state;
    enum { CHOICES = 6 };
    pess__rng rng = pess__rng_stream(2, "test proximal", 0);
    for (int round = 0; round < 300; round++) {
        float q[CHOICES], prior[CHOICES];
        double a_policy[CHOICES], b_policy[CHOICES];
        random_view(&rng, CHOICES, q, prior);
        if (round % 3 == 0) q[4] = q[1]; /* ties */
        const pess__view view = {.actions = CHOICES, .q = q, .prior = prior};
        const double a = decide(&pess__learner_proximal, 0, &view, a_policy);
        const double b = decide(&pess__learner_naive, NAN, &view, b_policy);
        assert_memory_equal(&a, &b, sizeof a);
        assert_memory_equal(a_policy, b_policy, sizeof a_policy);
        double mean = 0;
        const double value = decide(&pess__learner_proximal, 1e9, &view, a_policy);
        (void)decide(&pess__learner_imitation, NAN, &view, b_policy);
        assert_memory_equal(a_policy, b_policy, sizeof a_policy);
        for (int k = 0; k < CHOICES; k++) mean += (double)prior[k] * (double)q[k];
        assert_true(fabs(value - mean) < 1e-12);
    }
}

/* ---- a tabular process */

static pess_observations *collect(const pess_mdp *mdp, int64_t transitions) {
    pess_collect_options o = pess_collect_options_defaults();
    o.mdp = mdp, o.transitions = transitions, o.envs = 4, o.seed = 9, o.step_limit = 30;
    pess_observations *data = NULL;
    pess_error error;
    OK(pess_collect(&o, &data, &error));
    return data;
}

static int64_t state_of(const uint8_t *bits) {
    for (int64_t s = 0; s < STATES; s++)
        if (bits[s / 8] >> (s % 8) & 1) return s;
    return -1;
}

/* The same transitions for the tabular engine, by way of a file. */
static pess_counts *tabular(const pess_observations *data) {
    const char *path = in_root("log.csv");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs("state,action,reward,next_state,terminal,truncated\n", file);
    for (int64_t i = 0; i < data->transitions; i++) {
        const uint8_t *from, *to;
        int32_t action;
        double reward;
        pess_end end;
        assert_true(pess_observations_get(data, i, &from, &action, &reward, &to, &end));
        (void)fprintf(file, "%lld,%d,%.17g,%lld,%d,%d\n", (long long)state_of(from), action, reward,
                      (long long)state_of(to), end == PESS_END_TERMINAL,
                      end != PESS_END_TERMINAL && end != PESS_END_NONE);
    }
    assert_int_equal(fclose(file), 0);
    pess_counts *counts = NULL;
    pess_error error;
    OK(pess_counts_read(path, NULL, &counts, &error));
    return counts;
}

/* v(s) by the learner's rule from the trained networks. */
static void values_of(const char *directory, const pess__learner *learner, double alpha, double *out) {
    char path[400];
    pess_net *net = NULL, *imitation = NULL;
    pess_error error;
    (void)snprintf(path, sizeof path, "%s/policy.pessnet", directory);
    OK(pess_net_read(path, NULL, &net, &error));
    if (learner->info.imitation) {
        (void)snprintf(path, sizeof path, "%s/imitation/policy.pessnet", directory);
        OK(pess_net_read(path, NULL, &imitation, &error));
    }
    for (int64_t s = 0; s < STATES; s++) {
        uint8_t bits[(STATES + 7) / 8] = {0};
        float q[ACTIONS], odds[ACTIONS], prior[ACTIONS];
        double policy[ACTIONS];
        bits[s / 8] = (uint8_t)(1 << (s % 8));
        OK(pess_net_apply(net, bits, sizeof bits, 1, 1, q, &error));
        if (imitation != NULL) {
            OK(pess_net_apply(imitation, bits, sizeof bits, 1, 1, odds, &error));
            pess__softmax(odds, ACTIONS, prior);
        }
        const pess__view view = {.actions = ACTIONS, .q = q, .prior = prior};
        out[s] = decide(learner, alpha, &view, policy);
    }
    pess_net_destroy(net);
    pess_net_destroy(imitation);
}

/* Garnet rewards are 0 or 1 and γ = 0.9: values reach about 5. The targets' noise is averaged by the network; what is
 * left is its fit, a few hundredths. */
static void networks_come_to_the_tabular_answer(void **state) {
    (void)state;
    pess_mdp *mdp = process();
    pess_observations *data = collect(mdp, 6000);
    pess_counts *counts = tabular(data);
    pess_model *model = NULL;
    pess_error error = {0};
    const pess_model_options model_options = pess_model_options_defaults();
    OK(pess_model_estimate(counts, &model_options, &model, &error));
    double start[STATES];
    OK(pess_start_uniform(model, start, &error));
    const struct {
        const char *algorithm;
        const pess__learner *learner;
        double alpha;
    } cases[] = {{"naive", &pess__learner_naive, NAN}, {"proximal", &pess__learner_proximal, 0.25}};
    double found[2][STATES];
    for (int c = 0; c < 2; c++) {
        pess_train_options o = training(mdp, data, cases[c].algorithm, cases[c].algorithm);
        o.knobs = alpha_knob(cases[c].alpha);
        pess_train_result result;
        OK(pess_train_run(&o, &result, &error));
        assert_true(isfinite(result.score) && isfinite(result.predicted));
        values_of(o.out, cases[c].learner, cases[c].alpha, found[c]);
        pess_solve_options s = pess_solve_options_defaults();
        s.algorithm = cases[c].algorithm, s.gamma = 0.9, s.absorbed_alpha = c == 1 ? 0.25 : s.absorbed_alpha;
        pess_solution *solution = NULL;
        OK(pess_solve(counts, model, start, &s, &solution, &error));
        const double *wanted = pess_solution_values(solution);
        const pess_names *names = pess_counts_state_names(counts);
        (void)names; /* ids are integers: state s is s */
        for (int64_t k = 0; k < STATES - 1; k++) {
            if (fabs(found[c][k] - wanted[k]) > 0.15)
                fail_msg("%s, state %lld: %g, the engine has %g", cases[c].algorithm, (long long)k, found[c][k],
                         wanted[k]);
        }
        pess_solution_destroy(solution);
    }
    double apart = 0; /* the two answers are not the same, or the test would show little */
    for (int64_t k = 0; k < STATES - 1; k++) apart = fmax(apart, fabs(found[0][k] - found[1][k]));
    assert_true(apart > 0.3);
    pess_model_destroy(model);
    pess_counts_destroy(counts);
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

static void compare_networks(const char *a, const char *b) {
    pess_net *nets[2] = {NULL, NULL};
    pess_error error;
    char path[400];
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "%s/policy.pessnet", i == 0 ? a : b);
        OK(pess_net_read(path, NULL, &nets[i], &error));
    }
    assert_memory_equal(nets[0]->net->parameters, nets[1]->net->parameters, (size_t)nets[0]->net->size * sizeof(float));
    for (int i = 0; i < 2; i++) pess_net_destroy(nets[i]);
}

static void alpha_zero_trains_the_naive_network(void **state) {
    (void)state;
    pess_mdp *mdp = process();
    pess_observations *data = collect(mdp, 1500);
    pess_train_result naive, proximal;
    pess_error error;
    pess_train_options o = training(mdp, data, "naive", "zero-naive");
    o.protocol.updates = 8;
    OK(pess_train_run(&o, &naive, &error));
    o = training(mdp, data, "proximal", "zero-proximal");
    o.protocol.updates = 8, o.knobs = alpha_knob(0);
    OK(pess_train_run(&o, &proximal, &error));
    compare_networks(in_root("zero-naive"), in_root("zero-proximal"));
    assert_memory_equal(&naive.score, &proximal.score, sizeof naive.score);
    assert_memory_equal(&naive.predicted, &proximal.predicted, sizeof naive.predicted);
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* ---- resuming */

typedef struct stopper {
    int64_t left;
} stopper;

static bool stop(void *user, const char *what, double done, double total, const char *unit) {
    (void)what, (void)done, (void)total, (void)unit;
    return ((stopper *)user)->left-- > 0;
}

/* The last column of log.csv, seconds since the run began, goes on where a resumed run takes it up. */
static void seconds_go_on(const char *directory) {
    char path[400], line[1000];
    (void)snprintf(path, sizeof path, "%s/log.csv", directory);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    double last = 0;
    int64_t rows = 0;
    for (assert_non_null(fgets(line, sizeof line, file)); fgets(line, sizeof line, file) != NULL; rows++) {
        const double seconds = strtod(strrchr(line, ',') + 1, NULL);
        assert_true(seconds >= last);
        last = seconds;
    }
    assert_int_equal(fclose(file), 0);
    assert_true(rows > 1 && last < 3600);
}

static void interrupted_it_ends_in_the_same_bytes(void **state) {
    (void)state;
    pess_mdp *mdp = process();
    pess_observations *data = collect(mdp, 1500);
    for (int kind = 0; kind < 3; kind++) {
        static const char *const algorithms[] = {"imitation", "naive", "proximal"};
        char whole[32], pieces[32];
        (void)snprintf(whole, sizeof whole, "whole-%d", kind);
        (void)snprintf(pieces, sizeof pieces, "pieces-%d", kind);
        pess_train_result result, resumed;
        pess_error error;
        pess_train_options o = training(mdp, data, algorithms[kind], whole);
        o.protocol.updates = 10, o.protocol.eval_every = 2, o.protocol.reset = kind == 2;
        o.protocol.imitation_steps = 4000, o.protocol.steps = 600;
        OK(pess_train_run(&o, &result, &error));
        o.out = in_root(pieces), o.resume = true, o.checkpoint_seconds = 0, o.threads = 2;
        o.report_seconds = 0; /* a report at every step, so that where it stops does not depend on the clock */
        int interruptions = 0;
        pess_status status = PESS_INTERRUPTED;
        for (int round = 0; round < 100 && status == PESS_INTERRUPTED; round++) {
            stopper s = {900 + 350 * (round % 4)}; /* steps; an update has 600, a piece of imitation 400 */
            o.progress = (pess_progress){stop, &s};
            status = pess_train_run(&o, &resumed, &error);
            interruptions += status == PESS_INTERRUPTED;
        }
        OK(status);
        assert_true(interruptions >= 2);
        compare_networks(in_root(whole), in_root(pieces));
        seconds_go_on(in_root(pieces));
        assert_memory_equal(&result.score, &resumed.score, sizeof result.score);
        assert_memory_equal(&result.outside, &resumed.outside, sizeof result.outside);
        o.protocol.batch = 7, o.protocol.imitation_batch = 7; /* other settings are refused, by name */
        assert_int_equal(pess_train_run(&o, &resumed, &error), PESS_ARGUMENT);
        assert_non_null(strstr(error.message, "batch"));
    }
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* ---- directories and files that are there already */

static bool is_there(const char *directory, const char *name) {
    char path[400];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

static pess_train_options short_training(const pess_mdp *mdp, const pess_observations *data, const char *algorithm,
                                         const char *out) {
    pess_train_options o = training(mdp, data, algorithm, out);
    o.protocol.updates = 5, o.protocol.steps = 20, o.protocol.imitation_steps = 100, o.protocol.batch = 64;
    return o;
}

/* Without resume an earlier run is refused before anything is trained or written; so are other settings with it. */
static void an_earlier_run_is_refused_first(void **state) {
    (void)state;
    pess_mdp *mdp = process();
    pess_observations *data = collect(mdp, 600);
    pess_train_result result;
    pess_error error;
    pess_train_options o = short_training(mdp, data, "model-ensemble", "earlier");
    OK(pess_train_run(&o, &result, &error));
    o.out = in_root("earlier-copy"); /* what is there now */
    OK(pess_train_run(&o, &result, &error));
    for (int resume = 0; resume < 2; resume++) {
        o = short_training(mdp, data, "model-ensemble", "earlier");
        o.seed = 77, o.resume = resume == 1;
        assert_int_equal(pess_train_run(&o, &result, &error), PESS_ARGUMENT);
        assert_non_null(strstr(error.message, resume == 1 ? "made with seed=3; this run has seed=77" : "resume it"));
        assert_same_file(in_root("earlier"), in_root("earlier-copy"), "imagined.pessdata");
    }
    o = short_training(mdp, data, "proximal", "earlier");
    assert_int_equal(pess_train_run(&o, &result, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "resume it"));
    assert_false(is_there(o.out, "imitation"));
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

static void results_go_into_a_directory(void **state) {
    (void)state;
    pess_mdp *mdp = process();
    pess_observations *data = collect(mdp, 300);
    pess_train_result result;
    pess_error error;
    FILE *file = fopen(in_root("plain"), "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    stopper s = {0}; /* would stop at the first step */
    pess_train_options o = short_training(mdp, data, "naive", "plain");
    o.progress = (pess_progress){stop, &s}, o.report_seconds = 0;
    assert_int_equal(pess_train_run(&o, &result, &error), PESS_IO);
    assert_non_null(strstr(error.message, "plain: is a file; a directory"));
    o.out = "/nonexistent/here";
    assert_int_equal(pess_train_run(&o, &result, &error), PESS_IO);
    assert_non_null(strstr(error.message, "cannot be created"));
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* The network of a file again, with other notes. */
static const char *renamed(const char *from, const char *notes, const char *name) {
    pess_net *read = NULL, *net = NULL;
    pess_error error;
    OK(pess_net_read(from, NULL, &read, &error));
    pess__net *inside = read->net;
    read->net = NULL;
    pess_net_destroy(read);
    OK(pess__net_wrap(inside, notes, &net, &error));
    OK(pess_net_write(net, in_root(name), &error));
    pess_net_destroy(net);
    return in_root(name);
}

static void an_imitation_network_is_of_these_data(void **state) {
    (void)state;
    pess_mdp *mdp = process();
    pess_observations *data = collect(mdp, 600), *others = collect(mdp, 601);
    pess_train_result result;
    pess_error error;
    pess_train_options o = short_training(mdp, data, "imitation", "imitator");
    OK(pess_train_run(&o, &result, &error));
    const char *file = in_root("imitator/policy.pessnet");
    o = short_training(mdp, data, "proximal", "with-it");
    o.imitation = file;
    OK(pess_train_run(&o, &result, &error));
    o = short_training(mdp, others, "proximal", "others");
    o.imitation = file;
    assert_int_equal(pess_train_run(&o, &result, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "imitates other data"));
    o.imitation = renamed(file, "method=imitation\n", "bare.pessnet"); /* of another program */
    OK(pess_train_run(&o, &result, &error));
    o = short_training(mdp, others, "proximal", "others-2");
    o.imitation = renamed(file, "method=imitation\ngame=freeway\n", "freeway.pessnet");
    assert_int_equal(pess_train_run(&o, &result, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "imitates data of freeway; these are data of mdp"));
    pess_observations_destroy(others);
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* ---- the game as the data had it */

static pess_observations *game_data(double sticky, bool ramping, bool minimal) {
    pess_collect_options o = pess_collect_options_defaults();
    o.game = "breakout", o.sticky = sticky, o.ramping = ramping, o.minimal_actions = minimal;
    o.transitions = 200, o.envs = 4;
    pess_observations *data = NULL;
    pess_error error;
    OK(pess_collect(&o, &data, &error));
    return data;
}

static void policies_play_the_game_of_the_data(void **state) {
    (void)state;
    pess_error error;
    pess_observations *data = game_data(0.25, false, true);
    pess__setup f = {.data = data, .options = {.data = data}};
    OK(pess__setup_environment(&f, &error));
    assert_true(fabs(f.env.sticky - 0.25) < 1e-15 && !f.env.ramping && f.env.minimal_actions);
    assert_string_equal(f.env.game, "breakout");
    /* It is played there: with all six actions the environment would not fit the network. */
    pess_train_options o = short_training(NULL, data, "naive", "minimal");
    pess_train_result result;
    o.protocol.score_episodes = 2, o.network = "dqn";
    OK(pess_train_run(&o, &result, &error));
    assert_true(isfinite(result.score));
    pess_net *net = NULL;
    char value[40];
    OK(pess_net_read(in_root("minimal/policy.pessnet"), NULL, &net, &error));
    assert_true(pess_net_note(net, "sticky", value, sizeof value));
    assert_string_equal(value, "0.25");
    assert_true(pess_net_note(net, "ramping", value, sizeof value));
    assert_string_equal(value, "0");
    pess_net_destroy(net);
    /* Without notes, and where they say what nobody understands. */
    data->notes[0] = '\0';
    OK(pess__setup_environment(&f, &error));
    assert_true(fabs(f.env.sticky - 0.1) < 1e-15 && f.env.ramping && !f.env.minimal_actions);
    static const char *const wrong[] = {"sticky=often\n", "sticky=2\n", "ramping=\n"};
    for (int i = 0; i < 3; i++) {
        (void)snprintf(data->notes, sizeof data->notes, "%s", wrong[i]);
        assert_int_equal(pess__setup_environment(&f, &error), PESS_INPUT);
        assert_non_null(strstr(error.message, "a number from 0 to 1 is expected"));
    }
    pess_observations_destroy(data);
}

/* ---- imitation's step size */

static void imitation_steps_fall_as_the_protocol_says(void **state) {
    (void)state;
    static const struct {
        double last;
        const char *notes;
    } cases[] = {{0, "0.001,0"}, {1e-3, "0.001,0.001"}, {2.5e-4, "0.001,0.00025"}};
    pess_mdp *mdp = process();
    pess_observations *data = collect(mdp, 300);
    float first[3][ACTIONS];
    for (int i = 0; i < 3; i++) {
        char out[32], rate[40];
        pess_train_result result;
        pess_error error;
        (void)snprintf(out, sizeof out, "falls-%d", i);
        pess_train_options o = short_training(mdp, data, "imitation", out);
        o.protocol.imitation_rate = 1e-3, o.protocol.imitation_rate_last = cases[i].last;
        OK(pess_train_run(&o, &result, &error));
        char path[400];
        pess_net *net = NULL;
        (void)snprintf(path, sizeof path, "%s/policy.pessnet", o.out);
        OK(pess_net_read(path, NULL, &net, &error));
        assert_true(pess_net_note(net, "rate", rate, sizeof rate));
        assert_string_equal(rate, cases[i].notes);
        pess_net_destroy(net);
        outputs_of(data, o.out, "policy", 0, first[i]);
    }
    assert_memory_not_equal(first[0], first[1], sizeof first[0]); /* it is not the note alone */
    assert_memory_not_equal(first[0], first[2], sizeof first[0]);
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* ---- what cannot be */

static void bad_options_are_refused_and_divergence_is_told(void **state) {
    (void)state;
    pess_mdp *mdp = process();
    pess_observations *data = collect(mdp, 300);
    pess_train_result result;
    pess_error error;
    pess_train_options o = training(mdp, data, "nonsense", "bad");
    assert_int_equal(pess_train_run(&o, &result, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "imitation, naive, proximal"));
    o = training(mdp, data, "naive", "bad");
    o.knobs = alpha_knob(0.5);
    assert_int_equal(pess_train_run(&o, &result, &error), PESS_ARGUMENT);
    o = training(mdp, data, "naive", "bad");
    o.protocol.updates = 0;
    assert_int_equal(pess_train_run(&o, &result, &error), PESS_ARGUMENT);
    o = training(mdp, data, "proximal", "bad");
    o.imitation = in_root("nothing-there");
    assert_int_equal(pess_train_run(&o, &result, &error), PESS_IO);
    (void)snprintf(data->game, sizeof data->game, "breakout"); /* which it is not */
    o = training(NULL, data, "naive", "bad");
    assert_int_equal(pess_train_run(&o, &result, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "data: observations of 12 bits; those of breakout have 400"));
    (void)snprintf(data->game, sizeof data->game, "mdp");
    o = training(mdp, data, "naive", "diverges");
    o.protocol.rate = o.protocol.rate_last = 1e20;
    assert_int_equal(pess_train_run(&o, &result, &error), PESS_NOT_CONVERGED);
    assert_non_null(strstr(error.message, "update 1"));
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_are_those_computed_by_hand),
        cmocka_unit_test(proximal_is_the_best_penalised_policy),
        cmocka_unit_test(proximal_lies_between_naive_and_imitation),
        cmocka_unit_test(networks_come_to_the_tabular_answer),
        cmocka_unit_test(alpha_zero_trains_the_naive_network),
        cmocka_unit_test(interrupted_it_ends_in_the_same_bytes),
        cmocka_unit_test(an_earlier_run_is_refused_first),
        cmocka_unit_test(results_go_into_a_directory),
        cmocka_unit_test(an_imitation_network_is_of_these_data),
        cmocka_unit_test(policies_play_the_game_of_the_data),
        cmocka_unit_test(imitation_steps_fall_as_the_protocol_says),
        cmocka_unit_test(bad_options_are_refused_and_divergence_is_told),
    };
    return cmocka_run_group_tests(tests, open_root, remove_root);
}

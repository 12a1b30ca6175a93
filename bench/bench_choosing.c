/* How well algorithms, strengths and `pess choose` do on processes of different kinds: the tables of docs/choosing.md.
 *
 *   bench_choosing [TRIALS]      one line per process, size of the log and way to choose
 *
 * Values are exact, in the true process, and stand on a scale on which 0 is the policy that made the log and 1 the best
 * there is. */
#include "core/rng.h"
#include "pess.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(pess_status status, const pess_error *error) {
    if (status == PESS_OK) return;
    (void)fprintf(stderr, "bench_choosing: %s\n", error->message);
    exit(1);
}

/* ---- processes */

typedef struct rows {
    pess_mdp_transition *list;
    int64_t count, room;
} rows;

static void add(rows *r, int64_t s, int64_t a, int64_t next, double probability, double reward) {
    if (probability <= 0) return;
    if (r->count == r->room) {
        r->room = r->room == 0 ? 1024 : 2 * r->room;
        r->list = realloc(r->list, (size_t)r->room * sizeof *r->list);
        if (r->list == NULL) exit(1);
    }
    r->list[r->count++] = (pess_mdp_transition){s, a, next, probability, reward};
}

static pess_mdp *made(rows *r, int64_t states, int64_t actions) {
    pess_mdp *mdp = NULL;
    pess_error error;
    must(pess_mdp_create(states, actions, r->list, r->count, &mdp, &error), &error);
    free(r->list);
    return mdp;
}

/* The paper's: every pair pays 0 or 1, nothing ends. */
static pess_mdp *gridworld(uint64_t seed) {
    pess_mdp *mdp = NULL;
    pess_error error;
    pess_gridworld_options options = pess_gridworld_options_defaults();
    options.seed = seed;
    must(pess_mdp_gridworld(&options, &mdp, &error), &error);
    return mdp;
}

static pess_mdp *garnet(uint64_t seed) {
    pess_mdp *mdp = NULL;
    pess_error error;
    pess_garnet_options options = pess_garnet_options_defaults();
    options.states = 50;
    options.actions = 6;
    options.branching = 4;
    options.terminals = 2;
    options.seed = seed;
    must(pess_mdp_garnet(&options, &mdp, &error), &error);
    return mdp;
}

/* Twenty treatments, one decision, recovery or not. */
static pess_mdp *arms(uint64_t seed) {
    enum { ARMS = 20 };
    rows r = {0};
    pess__rng rng = pess__rng_stream(seed, "arms", 0);
    for (int a = 0; a < ARMS; a++) {
        const double p = pess__rng_uniform(&rng);
        add(&r, 0, a, 1, p, 1);
        add(&r, 0, a, 1, 1 - p, 0);
    }
    return made(&r, 2, ARMS);
}

/* Wards of rising severity: a treatment moves a patient up or down; home pays 1, death 0. */
static pess_mdp *clinic(uint64_t seed) {
    enum { WARDS = 60, TREATMENTS = 8, HOME = WARDS, DEATH = WARDS + 1 };
    rows r = {0};
    pess__rng rng = pess__rng_stream(seed, "clinic", 0);
    for (int s = 0; s < WARDS; s++)
        for (int a = 0; a < TREATMENTS; a++) {
            const double severity = (double)(s % 6) / 6, home = 0.05 + 0.25 * pess__rng_uniform(&rng) * (1 - severity);
            const double death = 0.02 + 0.15 * pess__rng_uniform(&rng) * (0.3 + severity);
            add(&r, s, a, HOME, home, 1);
            add(&r, s, a, DEATH, death, 0);
            double left = 1 - home - death;
            for (int k = 0; k < 4; k++) {
                const double p = k == 3 ? left : left * pess__rng_uniform(&rng);
                add(&r, s, a, (int64_t)pess__rng_below(&rng, WARDS), p, 0);
                left -= p;
            }
        }
    return made(&r, WARDS + 2, TREATMENTS);
}

/* Stock of a shop: order up to ten more a day, pay for holding, lose what is not there to be sold. Thousands of euros.
 */
static pess_mdp *shop(uint64_t seed) {
    enum { SHELF = 20, ORDERS = 11 };
    rows r = {0};
    pess__rng rng = pess__rng_stream(seed, "shop", 0);
    const double busy = 3 + 4 * pess__rng_uniform(&rng);
    for (int s = 0; s <= SHELF; s++)
        for (int a = 0; a < ORDERS; a++) {
            const int stock = s + a < SHELF ? s + a : SHELF;
            double left = 1, p = exp(-busy);
            for (int demand = 0; demand <= stock; demand++, p *= busy / demand) {
                const double here = demand == stock ? left : p;
                add(&r, s, a, stock - demand, here, 1000 * (5.0 * demand - 2.0 * (stock - s) - 0.3 * stock));
                left -= here;
            }
        }
    return made(&r, SHELF + 1, ORDERS);
}

/* Thirty steps against a current: the way back is easy and pays a little, the far end pays a hundred times as much. */
static pess_mdp *river(uint64_t seed) {
    enum { LENGTH = 30 };
    rows r = {0};
    pess__rng rng = pess__rng_stream(seed, "river", 0);
    for (int s = 0; s < LENGTH; s++) {
        const double against = 0.55 + 0.3 * pess__rng_uniform(&rng);
        add(&r, s, 0, s > 0 ? s - 1 : 0, 1, s == 0 ? 0.01 : 0);
        add(&r, s, 1, s < LENGTH - 1 ? s + 1 : s, against, s == LENGTH - 1 ? 1 : 0);
        add(&r, s, 1, s > 0 ? s - 1 : 0, 1 - against, 0);
    }
    return made(&r, LENGTH, 2);
}

/* Steps cost 1 each until the goal: rewards are negative, episodes end. */
static pess_mdp *errands(uint64_t seed) {
    enum { SIDE = 9, CELLS = SIDE * SIDE };
    static const int dx[] = {1, -1, 0, 0}, dy[] = {0, 0, 1, -1};
    rows r = {0};
    pess__rng rng = pess__rng_stream(seed, "errands", 0);
    for (int s = 0; s < CELLS - 1; s++) {
        const double slip = 0.4 * pess__rng_uniform(&rng), cost = pess__rng_uniform(&rng) < 0.2 ? -5 : -1;
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++) {
                const int x = s % SIDE + dx[b], y = s / SIDE + dy[b];
                const bool out = x < 0 || y < 0 || x >= SIDE || y >= SIDE;
                add(&r, s, a, out ? s : y * SIDE + x, a == b ? 1 - 0.75 * slip : 0.25 * slip, cost);
            }
    }
    return made(&r, CELLS, 4);
}

typedef struct process {
    const char *name;
    pess_mdp *(*make)(uint64_t seed);
    double gamma, epsilon; /* actions of the log are at random so often, else … */
    bool good;             /* … those of the best policy, or of an arbitrary one */
    int64_t horizon;       /* of logged episodes */
    int64_t sizes[3];      /* episodes */
    double range[2];       /* of returns, declared; NAN */
} process;

static const process processes[] = {
    {"gridworld", gridworld, 0.99, 0.5, true, 50, {20, 100, 500}, {NAN, NAN}},
    {"garnet", garnet, 0.95, 1, true, 60, {20, 100, 1000}, {NAN, NAN}},
    {"arms", arms, 1, 0.8, true, 1, {40, 200, 2000}, {0, 1}},
    {"clinic", clinic, 1, 0.7, false, 200, {200, 2000, 20000}, {0, 1}},
    {"shop", shop, 0.95, 0.7, false, 50, {5, 30, 300}, {NAN, NAN}},
    {"river", river, 0.99, 0.6, true, 100, {10, 50, 500}, {NAN, NAN}},
    {"errands", errands, 1, 0.5, true, 500, {20, 100, 1000}, {-2500, 0}},
};

/* ---- ways to a policy */

typedef struct way {
    const char *name, *algorithm;
    double strength; /* of ua in units of the span of rewards, of spibb samples; negative: times √(rows / pairs) */
    int64_t folds;   /* choose */
    pess_choose_score score;
} way;

static const way ways[] = {
    {"imitation", "imitation", NAN, 0, 0},
    {"naive", "naive", NAN, 0, 0},
    {"ua 0.05", "ua", 0.05, 0, 0},
    {"ua 0.1", "ua", 0.1, 0, 0},
    {"ua 0.3", "ua", 0.3, 0, 0},
    {"ua 1", "ua", 1, 0, 0},
    {"ua 3", "ua", 3, 0, 0},
    {"spibb 5", "spibb", 5, 0, 0},
    {"spibb 10", "spibb", 10, 0, 0},
    {"spibb 20", "spibb", 20, 0, 0},
    {"spibb 50", "spibb", 50, 0, 0},
    {"spibb √m", "spibb", -1, 0, 0},
    {"spibb 2√m", "spibb", -2, 0, 0},
    {"rmin 5", "rmin", 5, 0, 0},
    {"rmin 10", "rmin", 10, 0, 0},
    {"rmin √m", "rmin", -1, 0, 0},
    {"rmin 2√m", "rmin", -2, 0, 0},
    {"choose, 2 folds", NULL, NAN, 2, PESS_CHOOSE_MODEL},
    {"choose, 5 folds", NULL, NAN, 5, PESS_CHOOSE_MODEL},
    {"choose, 10 folds", NULL, NAN, 10, PESS_CHOOSE_MODEL},
    {"choose, 5 folds by weights", NULL, NAN, 5, PESS_CHOOSE_WEIGHTS},
};

enum { WAYS = sizeof ways / sizeof *ways };

typedef struct trial {
    const process *of;
    pess_mdp *mdp;
    pess_model *truth;
    double *start;
    pess_policy *behaviour;
    double best, base;
} trial;

/* The same policy without actions in terminal states: a small log need not show that they are. */
static pess_policy *in_truth(const trial *t, const pess_policy *policy) {
    const int64_t states = pess_policy_states(policy), actions = pess_policy_actions(policy);
    double *pi = calloc((size_t)(states * actions), sizeof *pi);
    pess_policy *out = NULL;
    pess_error error;
    if (pi == NULL) exit(1);
    for (int64_t s = 0; s < states; s++)
        if (!pess_model_is_terminal_state(t->truth, s))
            memcpy(pi + s * actions, pess_policy_row(policy, s), (size_t)actions * sizeof *pi);
    must(pess_policy_create(states, actions, pi, &out, &error), &error);
    free(pi);
    return out;
}

static double worth(const trial *t, const pess_policy *made) {
    pess_error error;
    pess_policy *policy = in_truth(t, made);
    pess_solution *solution = NULL;
    pess_solution_info info;
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.gamma = fmin(t->of->gamma, 1 - 1e-7); /* a policy may never end */
    must(pess_evaluate(NULL, t->truth, t->start, policy, &options, &solution, &error), &error);
    pess_solution_get_info(solution, &info);
    pess_solution_destroy(solution);
    pess_policy_destroy(policy);
    return info.naive_value;
}

/* An action per state, drawn. */
static pess_policy *arbitrary(const trial *t, uint64_t seed) {
    const int64_t states = pess_mdp_states(t->mdp), actions = pess_mdp_actions(t->mdp);
    double *pi = calloc((size_t)(states * actions), sizeof *pi);
    pess_policy *out = NULL;
    pess_error error;
    pess__rng rng = pess__rng_stream(seed, "arbitrary", 0);
    if (pi == NULL) exit(1);
    for (int64_t s = 0; s < states; s++) {
        const int64_t a = (int64_t)pess__rng_below(&rng, (uint64_t)actions);
        if (!pess_model_is_terminal_state(t->truth, s)) pi[s * actions + a] = 1;
    }
    must(pess_policy_create(states, actions, pi, &out, &error), &error);
    free(pi);
    return out;
}

static trial trial_make(const process *of, uint64_t seed) {
    trial t = {.of = of, .mdp = of->make(seed)};
    pess_error error;
    pess_solution *solution = NULL;
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.gamma = of->gamma;
    must(pess_mdp_model(t.mdp, 1, &t.truth, &error), &error);
    t.start = calloc((size_t)pess_mdp_states(t.mdp), sizeof *t.start);
    if (t.start == NULL) exit(1);
    must(pess_start_uniform(t.truth, t.start, &error), &error);
    must(pess_solve(NULL, t.truth, t.start, &options, &solution, &error), &error);
    pess_policy *any = arbitrary(&t, seed);
    must(
        pess_policy_soften(of->good ? pess_solution_policy(solution) : any, t.truth, of->epsilon, &t.behaviour, &error),
        &error);
    pess_policy_destroy(any);
    t.best = worth(&t, pess_solution_policy(solution));
    t.base = worth(&t, t.behaviour);
    pess_solution_destroy(solution);
    return t;
}

static void trial_free(trial *t) {
    pess_policy_destroy(t->behaviour);
    free(t->start);
    pess_model_destroy(t->truth);
    pess_mdp_destroy(t->mdp);
}

static double span_of(const pess_model *model) {
    double lo, hi;
    pess_model_reward_range(model, &lo, &hi);
    return hi - lo;
}

/* √m, m the mean count of the pairs of states that the log acts in. */
static double root_of_mean(const pess_problem *problem) {
    pess_counts_info info;
    pess_counts_arrays counts;
    int64_t states = 0;
    pess_counts_get_info(pess_problem_counts(problem), &info);
    pess_counts_get_arrays(pess_problem_counts(problem), &counts);
    for (int64_t s = 0; s < info.states; s++) states += counts.state[s] > 0;
    return sqrt((double)info.transitions / (double)(states * info.actions));
}

/* What the policy is worth, from 0, the logging policy, to 1, the best; NAN where the way is refused. */
static double try_way(const trial *t, const way *w, const pess_dataset *data, const pess_problem *problem,
                      const pess_model_options *model) {
    pess_error error;
    pess_solve_options options = pess_solve_options_defaults();
    options.gamma = t->of->gamma;
    pess_solution *solution = NULL;
    pess_choice *choice = NULL;
    const pess_policy *policy = NULL;
    if (w->folds > 0) {
        pess_choose_options choose = pess_choose_options_defaults();
        choose.folds = w->folds;
        choose.score = w->score;
        choose.solve = &options;
        choose.model = model;
        if (pess_choose(data, &choose, &choice, &error) == PESS_OK)
            policy = pess_solution_policy(pess_choice_solution(choice));
    } else {
        options.algorithm = w->algorithm;
        if (strcmp(w->algorithm, "ua") == 0)
            options.absorbed_alpha = w->strength * span_of(pess_problem_model(problem));
        if (strcmp(w->algorithm, "spibb") == 0 || strcmp(w->algorithm, "rmin") == 0)
            options.min_count = w->strength > 0 ? w->strength : -w->strength * root_of_mean(problem);
        if (pess_solve(pess_problem_counts(problem), pess_problem_model(problem), pess_problem_start(problem), &options,
                       &solution, &error) == PESS_OK)
            policy = pess_solution_policy(solution);
    }
    const double value = policy != NULL ? (worth(t, policy) - t->base) / (t->best - t->base) : NAN;
    pess_solution_destroy(solution);
    pess_choice_destroy(choice);
    return value;
}

static void run_size(const process *of, int64_t episodes, int trials, double *sum, double *squares, int *count) {
    for (int i = 0; i < trials; i++) {
        pess_error error;
        trial t = trial_make(of, (uint64_t)i);
        pess_dataset *data = NULL;
        pess_counts *counts = NULL;
        pess_problem *problem = NULL;
        pess_simulate_options simulate = pess_simulate_options_defaults();
        simulate.episodes = episodes;
        simulate.horizon = of->horizon;
        simulate.seed = (uint64_t)(1000 + i);
        must(pess_simulate(t.mdp, t.behaviour, t.start, &simulate, &data, &error), &error);
        must(pess_counts_create(data, 1, &counts, &error), &error);
        pess_model_options model = pess_model_options_defaults();
        model.return_range[0] = of->range[0];
        model.return_range[1] = of->range[1];
        must(pess_problem_create(counts, &model, NULL, &problem, &error), &error);
        for (int w = 0; w < WAYS; w++) {
            const double value = try_way(&t, &ways[w], data, problem, &model);
            if (isnan(value)) continue;
            sum[w] += value;
            squares[w] += value * value;
            count[w]++;
        }
        pess_problem_destroy(problem);
        pess_counts_destroy(counts);
        pess_dataset_destroy(data);
        trial_free(&t);
    }
}

int main(int argc, char **argv) {
    const int trials = argc > 1 ? atoi(argv[1]) : 10;
    for (size_t p = 0; p < sizeof processes / sizeof *processes; p++)
        for (int size = 0; size < 3; size++) {
            double sum[WAYS] = {0}, squares[WAYS] = {0};
            int count[WAYS] = {0};
            run_size(&processes[p], processes[p].sizes[size], trials, sum, squares, count);
            for (int w = 0; w < WAYS; w++) {
                const double n = count[w], mean = sum[w] / n;
                (void)printf(
                    "{\"process\": \"%s\", \"episodes\": %lld, \"way\": \"%s\", \"trials\": %d, \"mean\": %.4f, "
                    "\"se\": %.4f}\n",
                    processes[p].name, (long long)processes[p].sizes[size], ways[w].name, count[w],
                    count[w] > 0 ? mean : 0, count[w] > 1 ? sqrt(fmax(squares[w] / n - mean * mean, 0) / (n - 1)) : 0);
            }
            (void)fflush(stdout);
        }
    return 0;
}

/* Does --method auto choose well? bench_auto INDEX METHOD [TIME_LIMIT]: random process number INDEX of twelve
 * structures, one JSON line; bench_auto count: how many there are. */
#include "bench.h"

#include "core/rng.h"
#include "model/mdp.h"
#include "model/model.h"
#include "pess.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { MOST_OUTCOMES = 12, ROUNDS = 3 };

/* What a process is drawn from: sizes, and its stream. */
typedef struct draw {
    pess__rng rng;
    pess_mdp *mdp;
    int64_t states, actions, row; /* row: where that of the present pair begins */
} draw;

typedef struct structure {
    const char *name;
    void (*fill)(draw *d);
    double gamma; /* 0: drawn */
} structure;

static int64_t below(draw *d, int64_t n) { return (int64_t)pess__rng_below(&d->rng, (uint64_t)n); }
static double uniform(draw *d) { return pess__rng_uniform(&d->rng); }

static void begin_pair(draw *d, int64_t pair) { d->row = d->mdp->row[pair + 1] = d->mdp->row[pair]; }

/* Adds to an outcome of the same pair where there is one. */
static void put(draw *d, int64_t pair, int64_t next, double probability, double reward) {
    int64_t at = d->row;
    while (at < d->mdp->row[pair + 1] && d->mdp->next[at] != next) at++;
    if (at == d->mdp->row[pair + 1]) {
        d->mdp->row[pair + 1]++;
        d->mdp->next[at] = (uint32_t)next;
        d->mdp->reward[at] = reward;
        d->mdp->probability[at] = 0;
    }
    d->mdp->probability[at] += probability;
}

static int64_t clipped(const draw *d, int64_t s) { return s < 0 ? 0 : s >= d->states ? d->states - 1 : s; }

/* A walk with a drift per action; both ends are terminal, and one of them pays. */
static void chain(draw *d) {
    d->mdp->terminal[0] = d->mdp->terminal[d->states - 1] = 1;
    for (int64_t z = 0; z < d->states * d->actions; z++) {
        const int64_t s = z / d->actions;
        begin_pair(d, z);
        if (d->mdp->terminal[s]) continue;
        const double up = 0.1 + 0.8 * uniform(d);
        put(d, z, s + 1, up, s + 2 == d->states ? 100 : -0.01);
        put(d, z, s - 1, 1 - up, -0.01);
    }
}

/* Actions lead to children with a slip; leaves pay and go back to the root. */
static void tree(draw *d) {
    for (int64_t z = 0; z < d->states * d->actions; z++) {
        const int64_t s = z / d->actions, first = 2 * s + 1;
        begin_pair(d, z);
        if (first + 1 >= d->states) {
            put(d, z, 0, 1, 10 * uniform(d));
            continue;
        }
        const double left = uniform(d);
        put(d, z, first, left, -uniform(d));
        put(d, z, first + 1, 1 - left, -uniform(d));
    }
}

/* As a tree, but leaves end. */
static void forest(draw *d) {
    tree(d);
    for (int64_t s = (d->states - 1) / 2; s < d->states; s++) d->mdp->terminal[s] = 1;
    const int64_t inner = (d->states - 1) / 2 * d->actions;
    for (int64_t z = inner; z < d->states * d->actions; z++) d->mdp->row[z + 1] = d->mdp->row[inner];
}

static bool wall(int64_t cell) {
    pess__rng rng = pess__rng_stream(7, "walls", (uint64_t)cell);
    return pess__rng_uniform(&rng) < 0.25;
}

static int64_t step(const draw *d, int64_t cell, int64_t direction, bool walls) {
    const int64_t side = (int64_t)sqrt((double)d->states), row = cell / side, column = cell % side;
    const int64_t r = row + (direction == 2) - (direction == 0), c = column + (direction == 1) - (direction == 3);
    const int64_t next = r * side + c;
    return r < 0 || c < 0 || c >= side || next >= d->states || (walls && wall(next)) ? cell : next;
}

/* Four directions, a tenth of the steps slips; each costs 1 until the last cell. */
static void slippery(draw *d, bool walls) {
    d->mdp->terminal[d->states - 1] = 1;
    for (int64_t z = 0; z < (d->states - 1) * d->actions; z++) {
        const int64_t s = z / d->actions;
        begin_pair(d, z);
        put(d, z, step(d, s, z % d->actions % 4, walls), 0.9, -1);
        for (int64_t k = 0; k < 4; k++) put(d, z, step(d, s, k, walls), 0.025, -1);
    }
    for (int64_t z = (d->states - 1) * d->actions; z < d->states * d->actions; z++) begin_pair(d, z);
}

static void grid(draw *d) { slippery(d, true); }
static void field(draw *d) { slippery(d, false); }

/* Random successors within a range of states. */
static void scatter(draw *d, int64_t pair, int64_t from, int64_t to, double mass, double reward) {
    const int64_t outcomes = 3;
    for (int64_t k = 0; k < outcomes; k++) put(d, pair, from + below(d, to - from), mass / (double)outcomes, reward);
}

static void bipartite(draw *d) {
    const int64_t half = d->states / 2;
    for (int64_t z = 0; z < d->states * d->actions; z++) {
        const bool second = z / d->actions >= half;
        begin_pair(d, z);
        scatter(d, z, second ? 0 : half, second ? half : d->states, 1, uniform(d));
    }
}

/* One successor, all but a hundredth. */
static void nearly_certain(draw *d) {
    for (int64_t z = 0; z < d->states * d->actions; z++) {
        const double reward = uniform(d) < 0.02 ? 1 : 0;
        begin_pair(d, z);
        put(d, z, below(d, d->states), 0.99, reward);
        put(d, z, below(d, d->states), 0.01, reward);
    }
}

static void certain(draw *d) {
    for (int64_t z = 0; z < d->states * d->actions; z++) {
        begin_pair(d, z);
        put(d, z, below(d, d->states), 1, uniform(d));
    }
}

/* Twenty layers in a circle; one step in a thousand stays. */
static void periodic(draw *d) {
    const int64_t layers = 20, width = d->states / layers;
    for (int64_t z = 0; z < d->states * d->actions; z++) {
        const int64_t s = z / d->actions, layer = s / width, next = layer >= layers - 1 ? 0 : layer + 1;
        begin_pair(d, z);
        scatter(d, z, next * width, (next + 1) * width, 0.999, next == 0 ? uniform(d) : 0);
        put(d, z, s, 0.001, 0);
    }
}

/* Random neighbours within a hundred states; one state pays. */
static void one_reward(draw *d) {
    const int64_t rich = below(d, d->states);
    for (int64_t z = 0; z < d->states * d->actions; z++) {
        const int64_t s = z / d->actions;
        begin_pair(d, z);
        for (int64_t k = 0; k < 4; k++) put(d, z, clipped(d, s - 100 + below(d, 201)), 0.25, s == rich ? 1 : 0);
    }
}

/* Half of the states are transient, the others fifty closed sets. */
static void closed_sets(draw *d) {
    const int64_t half = d->states / 2, sets = 50, width = (d->states - half) / sets;
    for (int64_t z = 0; z < d->states * d->actions; z++) {
        const int64_t s = z / d->actions;
        const int64_t set = s < half ? 0 : (s - half) / width < sets ? (s - half) / width : sets - 1;
        begin_pair(d, z);
        if (s < half) {
            scatter(d, z, 0, half, 0.95, uniform(d));
            put(d, z, half + below(d, d->states - half), 0.05, 0);
        } else
            scatter(d, z, half + set * width, half + (set + 1) * width, 1, uniform(d) * (double)set);
    }
}

/* Ten clusters that are hardly ever left. */
static void clusters(draw *d) {
    const int64_t width = d->states / 10;
    for (int64_t z = 0; z < d->states * d->actions; z++) {
        const int64_t s = z / d->actions, cluster = s / width < 10 ? s / width : 9;
        begin_pair(d, z);
        scatter(d, z, cluster * width, (cluster + 1) * width, 0.9999, uniform(d) * (double)cluster);
        put(d, z, below(d, d->states), 0.0001, 0);
    }
}

/* Random successors; one step in fifty ends. γ is 1: every policy ends. */
static void ends(draw *d) {
    d->mdp->terminal[d->states - 1] = 1;
    for (int64_t z = 0; z < (d->states - 1) * d->actions; z++) {
        begin_pair(d, z);
        scatter(d, z, 0, d->states - 1, 0.98, -uniform(d));
        put(d, z, d->states - 1, 0.02, 0);
    }
    for (int64_t z = (d->states - 1) * d->actions; z < d->states * d->actions; z++) begin_pair(d, z);
}

static const structure structures[] = {
    {"chain", chain, 0},
    {"tree", tree, 0},
    {"forest", forest, 0},
    {"grid with walls", grid, 0},
    {"bipartite", bipartite, 0},
    {"nearly certain", nearly_certain, 0},
    {"certain", certain, 0},
    {"nearly periodic", periodic, 0},
    {"one reward", one_reward, 0},
    {"closed sets", closed_sets, 0},
    {"clusters", clusters, 0},
    {"random with ends, gamma 1", ends, 1},
    {"grid without walls, gamma 1", field, 1},
};
enum { STRUCTURES = sizeof structures / sizeof *structures };

static pess_mdp *make(int64_t index, double *gamma) {
    static const double gammas[] = {0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999};
    const structure *what = &structures[index % STRUCTURES];
    pess_error error = {0};
    draw d = {.rng = pess__rng_stream(1, "bench auto", (uint64_t)index)};
    d.states = (int64_t)pow(10, 3 + 2 * uniform(&d));
    d.actions = 2 + below(&d, index % 4 == 3 ? 40 : 7);
    *gamma = what->gamma > 0 ? what->gamma : gammas[below(&d, sizeof gammas / sizeof *gammas)];
    must(pess__mdp_allocate(d.states, d.actions, d.states * d.actions * MOST_OUTCOMES, &d.mdp, &error), &error);
    what->fill(&d);
    return d.mdp;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "count") == 0) return printf("{\"count\":%d}\n", ROUNDS * STRUCTURES) < 0;
    if (argc < 3) return 2;
    const int64_t index = strtoll(argv[1], NULL, 10);
    pess_error error = {0};
    double gamma;
    pess_mdp *mdp = make(index, &gamma);
    pess_model *model = NULL;
    must(pess_mdp_model(mdp, 0, &model, &error), &error);
    pess_mdp_destroy(mdp);
    double *start = array(model->states, sizeof *start);
    must(pess_start_uniform(model, start, &error), &error);
    pess_solve_options options = pess_solve_options_defaults();
    must(pess_setting_set(pess_solve_settings(), &options, "method", argv[2], &error), &error);
    options.algorithm = "naive";
    options.gamma = gamma;
    options.tolerance = 1e-6;
    options.threads = 1;
    options.time_limit = argc > 3 ? strtod(argv[3], NULL) : 20;
    pess_solution *solution = NULL;
    pess_solution_info info;
    const clock_t ticks = clock();
    const pess_status status = pess_solve(NULL, model, start, &options, &solution, &error);
    const double processor = (double)(clock() - ticks) / CLOCKS_PER_SEC;
    if (status != PESS_OK) {
        printf("{\"bench\":\"auto\",\"problem\":\"%s\",\"outcome\":\"refused\"}\n",
               structures[index % STRUCTURES].name);
    } else {
        pess_solution_get_info(solution, &info);
        printf("{\"bench\":\"auto\",\"problem\":\"%s\",\"states\":%lld,\"actions\":%lld,\"gamma\":%.6g,\"cpu_seconds\":"
               "%.4g,"
               "\"iterations\":%lld,\"residual\":%.3g,\"outcome\":\"%s\",\"method\":\"%s\",\"value\":%.12g}\n",
               structures[index % STRUCTURES].name, (long long)model->states, (long long)model->actions, gamma,
               processor, (long long)info.iterations, info.residual, pess_outcome_name(info.outcome), info.method,
               info.value);
    }
    pess_solution_destroy(solution);
    pess_model_destroy(model);
    free(start);
    return 0;
}

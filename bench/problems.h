/* Known processes of the kinds that solvers find easy or hard, at any size. */
#ifndef PESS_BENCH_PROBLEMS_H
#define PESS_BENCH_PROBLEMS_H

#include "bench.h"

#include "core/rng.h"
#include "model/mdp.h"
#include "pess.h"

#include <math.h>

typedef struct process {
    const char *name;
    double gamma;
    pess_mdp *(*make)(int64_t size);
} process;

static inline void put_outcome(pess_mdp *mdp, int64_t pair, int64_t next, double probability, double reward) {
    const int64_t at = mdp->row[pair + 1]++;
    mdp->next[at] = (uint32_t)next;
    mdp->probability[at] = probability;
    mdp->reward[at] = reward;
}

static inline pess_mdp *empty_mdp(int64_t states, int64_t actions, int64_t outcomes) {
    pess_error error = {0};
    pess_mdp *mdp = NULL;
    must(pess__mdp_allocate(states, actions, states * actions * outcomes, &mdp, &error), &error);
    return mdp;
}

/* The cell in direction d (up, right, down, left) of a square, or -1. */
static inline int64_t neighbour(int64_t side, int64_t cell, int d) {
    const int64_t row = cell / side + (d == 2) - (d == 0), column = cell % side + (d == 1) - (d == 3);
    return row < 0 || row >= side || column < 0 || column >= side ? -1 : row * side + column;
}

/* Doors of a maze, four bits a cell: a random spanning tree by depth-first search, and one more door per twenty cells.
 */
static inline uint8_t *doors_of(int64_t side) {
    const int64_t cells = side * side;
    uint8_t *doors = array(cells, 1);
    int64_t *way = array(cells, sizeof *way), length = 1;
    pess__rng rng = pess__rng_stream(1, "bench maze", (uint64_t)side);
    doors[0] = 16; /* seen */
    while (length > 0) {
        const int64_t cell = way[length - 1];
        const int first = (int)pess__rng_below(&rng, 4);
        int d = 0;
        while (d < 4) {
            const int64_t next = neighbour(side, cell, (first + d) % 4);
            if (next >= 0 && doors[next] == 0) break;
            d++;
        }
        if (d == 4) {
            length--;
            continue;
        }
        const int taken = (first + d) % 4;
        const int64_t next = neighbour(side, cell, taken);
        doors[cell] |= (uint8_t)(1 << taken);
        doors[next] = (uint8_t)(16 | 1 << (taken + 2) % 4);
        way[length++] = next;
    }
    for (int64_t i = 0; i < cells / 20; i++) {
        const int64_t cell = (int64_t)pess__rng_below(&rng, (uint64_t)cells);
        const int d = (int)pess__rng_below(&rng, 4);
        const int64_t next = neighbour(side, cell, d);
        if (next < 0) continue;
        doors[cell] |= (uint8_t)(1 << d);
        doors[next] |= (uint8_t)(1 << (d + 2) % 4);
    }
    free(way);
    return doors;
}

/* Every step costs 1 until the middle of the maze is reached. */
static inline pess_mdp *maze(int64_t states) {
    const int64_t side = (int64_t)llround(sqrt((double)states)), cells = side * side, goal = cells / 2;
    pess_mdp *mdp = empty_mdp(cells, 4, 1);
    uint8_t *doors = doors_of(side);
    mdp->terminal[goal] = 1;
    for (int64_t z = 0; z < 4 * cells; z++) {
        const int64_t cell = z / 4;
        mdp->row[z + 1] = mdp->row[z];
        if (cell == goal) continue;
        put_outcome(mdp, z, doors[cell] >> z % 4 & 1 ? neighbour(side, cell, (int)(z % 4)) : cell, 1, -1);
    }
    free(doors);
    return mdp;
}

static inline pess_mdp *torus(int64_t states) {
    pess_error error = {0};
    pess_gridworld_options options = pess_gridworld_options_defaults();
    options.rows = options.cols = (int64_t)llround(sqrt((double)states));
    options.rewards = PESS_REWARD_MEAN;
    pess_mdp *mdp = NULL;
    must(pess_mdp_gridworld(&options, &mdp, &error), &error);
    return mdp;
}

/* Customers arrive with probability 0.4; server speed a of 100 ends a service with probability 0.6·a/99 and costs its
 * square; waiting costs per customer. */
static inline pess_mdp *queue(int64_t states) {
    enum { SPEEDS = 100 };
    pess_mdp *mdp = empty_mdp(states, SPEEDS, 3);
    for (int64_t z = 0; z < states * SPEEDS; z++) {
        const int64_t s = z / SPEEDS, last = states - 1;
        const double speed = (double)(z % SPEEDS) / (SPEEDS - 1), up = s < last ? 0.4 : 0,
                     down = s > 0 ? 0.6 * speed : 0;
        const double cost = (double)s / (double)last + 0.5 * speed * speed;
        mdp->row[z + 1] = mdp->row[z];
        if (down > 0) put_outcome(mdp, z, s - 1, down, -cost);
        if (1 - up - down > 0) put_outcome(mdp, z, s, 1 - up - down, -cost);
        if (up > 0) put_outcome(mdp, z, s + 1, up, -cost);
    }
    return mdp;
}

/* Stock 0 … S−1, orders of up to a tenth of it; as many demands as orders, binomial-like around their half. What is not
 * on the shelf is not sold. */
static inline pess_mdp *inventory(int64_t states) {
    const int64_t most = (states - 1) / 10, actions = most + 1;
    pess_mdp *mdp = empty_mdp(states, actions, actions);
    double *demand = array(actions, sizeof *demand), sum = 0;
    for (int64_t d = 0; d <= most; d++) {
        const double x = ((double)d - 0.5 * (double)most) / (0.2 * (double)most);
        sum += demand[d] = exp(-0.5 * x * x);
    }
    for (int64_t z = 0; z < states * actions; z++) {
        const int64_t s = z / actions, order = z % actions;
        const int64_t shelf = s + order < states ? s + order : states - 1;
        mdp->row[z + 1] = mdp->row[z];
        for (int64_t d = 0; d <= most; d++) {
            const int64_t sold = d < shelf ? d : shelf;
            put_outcome(mdp, z, shelf - sold, demand[d] / sum,
                        3 * (double)sold - (double)order - (order > 0 ? 2 : 0) - 0.05 * (double)shelf);
        }
    }
    free(demand);
    return mdp;
}

static inline pess_mdp *garnet(int64_t states) {
    pess_error error = {0};
    pess_garnet_options options = pess_garnet_options_defaults();
    options.states = states;
    options.actions = 5;
    options.branching = 20;
    options.rewards = PESS_REWARD_MEAN;
    pess_mdp *mdp = NULL;
    must(pess_mdp_garnet(&options, &mdp, &error), &error);
    return mdp;
}

static const process processes[] = {
    {"maze", 0.999, maze},    {"long maze", 0.9999, maze},    {"torus", 0.9999, torus},
    {"queue", 0.9999, queue}, {"inventory", 0.99, inventory}, {"garnet", 0.99, garnet},
};
enum { PROCESSES = sizeof processes / sizeof *processes };

#endif

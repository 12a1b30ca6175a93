/* model-ensemble, in the manner of MOPO (Yu et al. 2020), one step long: three networks, each on its own resample of
 * the transitions, learn what follows a state and an action — the bits of the next observation, the reward, whether it
 * ends — by least squares, which for bits and ends is a probability. From states of the data and uniformly drawn
 * actions they imagine transitions, which join the data with the reward
 *
 *     r̂(s,a) − α u(s,a),     u² = mean over the networks of |prediction − mean prediction|²
 *
 * and naive learns from all. The next observation is the mean prediction rounded. Theirs are networks of Gaussians,
 * penalised by their largest standard deviation, and rollouts of 1 or 5 steps of the current policy; α = 1 is theirs.
 */
#include "deep/fitted.h"
#include "deep/game_notes.h"

#include "core/memory.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Minibatches are a quarter of the training's, with two fifths of its steps for each model. */
enum { MODELS = 3, SMALLER = 4, IMAGINED = 200000, PART = 256 };

/* An action's outputs: the bits, then the reward, then the end. */
typedef struct dream {
    int64_t bits, block, batch; /* block = bits + 2 */
    pess__net *models[MODELS];
    /* A minibatch, or a part of the states to imagine from. */
    int64_t *states, *first;
    int32_t *which;
    pess__real *targets, *weights;
    float *outputs; /* [MODELS][PART][actions*block] */
    uint8_t *observation;
} dream;

static pess_status open_dream(const pess__fitted *f, dream *d, pess_error *error) {
    static const char what[] = "a model of the game";
    const int64_t batch = d->batch, labels = batch * d->block, outputs = f->data->actions * d->block;
    for (int i = 0; i < MODELS; i++) {
        PESS_TRY(pess__fitted_network(f, outputs, &d->models[i], error));
        pess__rng rng = pess__rng_stream(f->options.seed, "model", (uint64_t)i);
        pess__net_initialise(d->models[i], &rng);
    }
    PESS_TRY(pess__allocate(&d->states, batch > PART ? batch : PART, sizeof *d->states, what, error));
    PESS_TRY(pess__allocate(&d->first, batch + 1, sizeof *d->first, what, error));
    PESS_TRY(pess__allocate(&d->which, labels, sizeof *d->which, what, error));
    PESS_TRY(pess__allocate(&d->targets, labels, sizeof *d->targets, what, error));
    PESS_TRY(pess__allocate(&d->weights, labels, sizeof *d->weights, what, error));
    PESS_TRY(pess__allocate(&d->outputs, MODELS * PART * outputs, sizeof *d->outputs, what, error));
    PESS_TRY(pess__allocate(&d->observation, f->data->bytes, 1, what, error));
    for (int64_t i = 0; i <= batch; i++) d->first[i] = i * d->block;
    return PESS_OK;
}

static void close_dream(dream *d) {
    void *const owned[] = {d->states, d->first, d->which, d->targets, d->weights, d->outputs, d->observation};
    for (int i = 0; i < MODELS; i++) pess__net_destroy(d->models[i]);
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}

/* Reward and end weigh as much as an eighth of the board each. */
static void label(const pess__fitted *f, dream *d, int64_t sample, int64_t row) {
    const pess_observations *data = f->data;
    const uint8_t *next = data->observations + data->next[row] * data->bytes;
    const int64_t at = sample * d->block;
    const pess__real heavy = 1 + (pess__real)d->bits / 8;
    for (int64_t j = 0; j < d->block; j++) {
        d->which[at + j] = (int32_t)(data->action[row] * d->block + j);
        d->targets[at + j] = j < d->bits ? (pess__real)(next[j / 8] >> (j % 8) & 1) : 0;
        d->weights[at + j] = j < d->bits ? 1 : heavy;
    }
    d->targets[at + d->bits] = data->reward[row];
    d->targets[at + d->bits + 1] = data->end[row] == PESS_END_TERMINAL;
    d->states[sample] = data->state[row];
}

static pess_status train(pess__fitted *f, dream *d, int model, pess__trainer *trainer, pess_error *error) {
    const pess_protocol *p = &f->options.protocol;
    const int64_t steps = (2 * p->updates * p->steps + 4) / 5;
    const uint64_t transitions = (uint64_t)f->data->transitions;
    const pess__loss loss = {.kind = PESS__LOSS_SQUARED};
    const pess__bits_rows rows = {f->data->observations, f->data->bytes, d->states};
    const pess__labels labels = {.actions = d->which, .targets = d->targets, .weights = d->weights, .first = d->first};
    pess__rng rng = pess__rng_stream(f->options.seed, "model rows", (uint64_t)model);
    for (int64_t step = 0; step < steps; step++) {
        pess__step_info info;
        for (int64_t i = 0; i < d->batch; i++) {
            const uint64_t entry = pess__rng_below(&rng, transitions) + ((uint64_t)model << 32);
            pess__rng own = pess__rng_stream(f->options.seed, "model resample", entry);
            label(f, d, i, (int64_t)pess__rng_below(&own, transitions));
        }
        trainer->optimiser.rate = p->imitation_rate * (1 - (double)step / (double)steps);
        PESS_TRY(pess__trainer_step(trainer, &rows, &labels, d->batch, &loss, &info, error));
        PESS_TRY(pess__fitted_report(f, "model", model * steps + step, MODELS * steps, error));
    }
    return PESS_OK;
}

/* Mean over the models of prediction j, and what their deviations from it add to u². */
static double mean_of(int64_t model_stride, const float *own, double *squares) {
    double mean = 0;
    for (int i = 0; i < MODELS; i++) mean += (double)own[i * model_stride] / MODELS;
    for (int i = 0; i < MODELS; i++) {
        const double apart = (double)own[i * model_stride] - mean;
        *squares += apart * apart / MODELS;
    }
    return mean;
}

/* The transition that the models imagine from a state, whose outputs are `own` in each of them. */
static pess_status imagine(const pess__fitted *f, dream *d, pess_observations *to, int64_t state, int32_t action,
                           const float *own, int64_t model_stride, pess_error *error) {
    double squares = 0;
    int32_t next;
    own += action * d->block;
    memset(d->observation, 0, (size_t)f->data->bytes);
    for (int64_t j = 0; j < d->bits; j++)
        if (mean_of(model_stride, own + j, &squares) > 0.5) d->observation[j / 8] |= (uint8_t)(1U << (j % 8));
    const double reward = mean_of(model_stride, own + d->bits, &squares);
    const double ends = mean_of(model_stride, own + d->bits + 1, &squares);
    PESS_TRY(pess__observations_reserve(to, to->transitions + 1, error));
    PESS_TRY(pess__observations_number(to, d->observation, &next, error));
    PESS_TRY(pess__observations_set(to, to->transitions, (int32_t)state, action, reward - f->alpha * sqrt(squares),
                                    next, ends > 0.5 ? PESS_END_TERMINAL : PESS_END_NONE, error));
    to->transitions++;
    return ends > 0.5 ? PESS_OK : pess__observations_stop(to, to->transitions - 1, error); /* a step long */
}

/* How many transitions the models imagine. */
static int64_t imagined_of(const pess_observations *data) {
    return data->transitions < IMAGINED ? data->transitions : IMAGINED;
}

static pess_status imagine_all(pess__fitted *f, dream *d, pess_observations *to, pess_error *error) {
    const pess_observations *data = f->data;
    const int64_t count = imagined_of(data);
    const int64_t outputs = data->actions * d->block, stride = PART * outputs;
    pess__rng rng = pess__rng_stream(f->options.seed, "imagine", 0);
    for (int64_t first = 0; first < count; first += PART) {
        const int64_t here = count - first < PART ? count - first : PART;
        const pess__bits_rows rows = {data->observations, data->bytes, d->states};
        for (int64_t i = 0; i < here; i++)
            d->states[i] = data->state[pess__rng_below(&rng, (uint64_t)data->transitions)];
        for (int i = 0; i < MODELS; i++)
            PESS_TRY(pess__net_apply(d->models[i], &rows, here, f->options.threads, d->outputs + i * stride, error));
        for (int64_t i = 0; i < here; i++)
            PESS_TRY(imagine(f, d, to, d->states[i], (int32_t)pess__rng_below(&rng, (uint64_t)data->actions),
                             d->outputs + i * outputs, stride, error));
        PESS_TRY(pess__fitted_report(f, "imagining", first, count, error));
    }
    return PESS_OK;
}

/* Notes of data that were not all collected: which data they come from (settings of the training are in its manifest),
 * the game as those had it, and how many transitions at the end are imagined. */
static void describe(const pess__fitted *f, char *notes, size_t size) {
    const pess_observations *data = f->data;
    const int64_t imagined = imagined_of(data), all = data->transitions + imagined;
    char game[PESS__GAME_NOTES_SIZE] = "", alpha[PESS__NUMBER_SIZE];
    (void)pess__format_double(f->alpha, alpha);
    if (pess_env_find(data->game) != NULL) pess__game_notes(&f->env, true, game);
    (void)snprintf(
        notes, size,
        "game=%s\nmethod=%s\ndata=%016llx\nseed=%llu\nalpha=%s\ntransitions=%lld\nimagined=%lld\n%sversion=%s\n",
        data->game, f->learner->info.name, (unsigned long long)f->fingerprint, (unsigned long long)f->options.seed,
        alpha, (long long)all, (long long)imagined, game, pess_version());
}

/* The data again, with the same numbers of states. */
static pess_status copy_data(const pess_observations *from, const char *notes, pess_observations **out,
                             pess_error *error) {
    PESS_TRY(pess_observations_create(from->game, notes, &from->shape, from->actions, out, error));
    pess_observations *to = *out;
    for (int64_t s = 0; s < from->states; s++) {
        int32_t number;
        PESS_TRY(pess__observations_number(to, from->observations + s * from->bytes, &number, error));
    }
    PESS_TRY(pess__observations_reserve(to, from->transitions, error));
    for (int64_t i = 0; i < from->transitions; i++)
        PESS_TRY(pess__observations_set(to, i, from->state[i], from->action[i], (double)from->reward[i], from->next[i],
                                        (pess_end)from->end[i], error));
    for (int64_t k = 0; k < from->stop_count; k++) PESS_TRY(pess__observations_stop(to, from->stopped[k], error));
    to->transitions = from->transitions;
    return PESS_OK;
}

static pess_status dream_up(pess__fitted *f, dream *d, pess_error *error) {
    const pess__optimiser optimiser = pess__optimiser_defaults();
    PESS_TRY(open_dream(f, d, error));
    for (int i = 0; i < MODELS; i++) {
        pess__trainer *trainer = NULL;
        PESS_TRY(pess__trainer_create(d->models[i], &optimiser, &trainer, error));
        const pess_status status = train(f, d, i, trainer, error);
        pess__trainer_destroy(trainer);
        if (status != PESS_OK) return status;
    }
    char notes[PESS__DATA_NOTES_SIZE];
    describe(f, notes, sizeof notes);
    PESS_TRY(copy_data(f->data, notes, &f->imagined, error));
    PESS_TRY(imagine_all(f, d, f->imagined, error));
    char path[PESS__PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s/imagined.pessdata", f->options.out);
    return pess_observations_write(f->imagined, path, error);
}

static pess_status prepare(pess__fitted *f, pess_error *error) {
    dream d = {.bits = f->data->bits, .block = f->data->bits + 2, .batch = (f->batch + SMALLER - 1) / SMALLER};
    const pess_status status = dream_up(f, &d, error);
    close_dream(&d);
    if (status == PESS_OK) f->data = f->imagined;
    return status;
}

const pess__learner pess__learner_model_ensemble = {
    .info = {.name = "model-ensemble",
             .summary = "naive on the data and on transitions that three models imagine, penalised where they differ",
             .values = true,
             .imitation = false,
             .samples = false,
             .alpha = 1,
             .source = "after Yu et al. 2020 (MOPO): one step, disagreement of 3 networks, lambda 1"},
    .decide = pess__decide_greedy, /* alpha is in the rewards */
    .prepare = prepare};

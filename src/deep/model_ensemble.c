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
#include "deep/game_notes.h"
#include "deep/setup.h"

#include "core/memory.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Minibatches are a quarter of the training's, with two fifths of its steps for each model. */
enum { MODELS = 3, SMALLER = 4, IMAGINED = 200000, PART = 256 };

/* An action's outputs: the bits, then the reward, then the end. */
typedef struct models {
    int64_t bits, block, batch; /* block = bits + 2 */
    pess__net *nets[MODELS];
    /* A minibatch, or a part of the states to imagine from. */
    int64_t *states, *first;
    int32_t *which;
    pess__real *targets, *weights;
    float *outputs; /* [MODELS][PART][actions*block] */
    uint8_t *observation;
} models;

static pess_status open_models(const pess__setup *s, models *m, pess_error *error) {
    static const char what[] = "a model of the game";
    const int64_t batch = m->batch, labels = batch * m->block, outputs = s->data->actions * m->block;
    for (int i = 0; i < MODELS; i++) {
        PESS_TRY(pess__setup_network(s, outputs, &m->nets[i], error));
        pess__rng rng = pess__rng_stream(s->options.seed, "model", (uint64_t)i);
        pess__net_initialise(m->nets[i], &rng);
    }
    PESS_TRY(pess__allocate(&m->states, batch > PART ? batch : PART, sizeof *m->states, what, error));
    PESS_TRY(pess__allocate(&m->first, batch + 1, sizeof *m->first, what, error));
    PESS_TRY(pess__allocate(&m->which, labels, sizeof *m->which, what, error));
    PESS_TRY(pess__allocate(&m->targets, labels, sizeof *m->targets, what, error));
    PESS_TRY(pess__allocate(&m->weights, labels, sizeof *m->weights, what, error));
    PESS_TRY(pess__allocate(&m->outputs, MODELS * PART * outputs, sizeof *m->outputs, what, error));
    PESS_TRY(pess__allocate(&m->observation, s->data->bytes, 1, what, error));
    for (int64_t i = 0; i <= batch; i++) m->first[i] = i * m->block;
    return PESS_OK;
}

static void close_models(models *m) {
    void *const owned[] = {m->states, m->first, m->which, m->targets, m->weights, m->outputs, m->observation};
    for (int i = 0; i < MODELS; i++) pess__net_destroy(m->nets[i]);
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}

/* Reward and end weigh as much as an eighth of the board each. */
static void label(const pess__setup *s, models *m, int64_t sample, int64_t row) {
    const pess_observations *data = s->data;
    const uint8_t *next = data->observations + data->next[row] * data->bytes;
    const int64_t at = sample * m->block;
    const pess__real heavy = 1 + (pess__real)m->bits / 8;
    for (int64_t j = 0; j < m->block; j++) {
        m->which[at + j] = (int32_t)(data->action[row] * m->block + j);
        m->targets[at + j] = j < m->bits ? (pess__real)(next[j / 8] >> (j % 8) & 1) : 0;
        m->weights[at + j] = j < m->bits ? 1 : heavy;
    }
    m->targets[at + m->bits] = data->reward[row];
    m->targets[at + m->bits + 1] = data->end[row] == PESS_END_TERMINAL;
    m->states[sample] = data->state[row];
}

static pess_status train(const pess__setup *s, models *m, int model, pess__trainer *trainer, pess_error *error) {
    const pess_protocol *p = &s->options.protocol;
    const int64_t steps = (2 * p->updates * p->steps + 4) / 5;
    const uint64_t transitions = (uint64_t)s->data->transitions;
    const pess__loss loss = {.kind = PESS__LOSS_SQUARED};
    const pess__bits_rows rows = {s->data->observations, s->data->bytes, m->states};
    const pess__labels labels = {.actions = m->which, .targets = m->targets, .weights = m->weights, .first = m->first};
    pess__rng rng = pess__rng_stream(s->options.seed, "model rows", (uint64_t)model);
    for (int64_t step = 0; step < steps; step++) {
        pess__step_info info;
        for (int64_t i = 0; i < m->batch; i++) {
            const uint64_t entry = pess__rng_below(&rng, transitions) + ((uint64_t)model << 32);
            pess__rng own = pess__rng_stream(s->options.seed, "model resample", entry);
            label(s, m, i, (int64_t)pess__rng_below(&own, transitions));
        }
        trainer->optimiser.rate = p->imitation_rate * (1 - (double)step / (double)steps);
        PESS_TRY(pess__trainer_step(trainer, &rows, &labels, m->batch, &loss, &info, error));
        PESS_TRY(pess__setup_report(s, "model", model * steps + step, MODELS * steps, error));
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
static pess_status imagine(const pess__setup *s, models *m, pess_observations *to, int64_t state, int32_t action,
                           const float *own, int64_t model_stride, pess_error *error) {
    double squares = 0;
    int32_t next;
    own += action * m->block;
    memset(m->observation, 0, (size_t)s->data->bytes);
    for (int64_t j = 0; j < m->bits; j++)
        if (mean_of(model_stride, own + j, &squares) > 0.5) m->observation[j / 8] |= (uint8_t)(1U << (j % 8));
    const double reward = mean_of(model_stride, own + m->bits, &squares);
    const double ends = mean_of(model_stride, own + m->bits + 1, &squares);
    PESS_TRY(pess__observations_reserve(to, to->transitions + 1, error));
    PESS_TRY(pess__observations_number(to, m->observation, &next, error));
    PESS_TRY(pess__observations_set(to, to->transitions, (int32_t)state, action,
                                    reward - pess__alpha(s->knobs) * sqrt(squares), next,
                                    ends > 0.5 ? PESS_END_TERMINAL : PESS_END_NONE, error));
    to->transitions++;
    return ends > 0.5 ? PESS_OK : pess__observations_stop(to, to->transitions - 1, error); /* a step long */
}

/* How many transitions the models imagine. */
static int64_t imagined_of(const pess_observations *data) {
    return data->transitions < IMAGINED ? data->transitions : IMAGINED;
}

static pess_status imagine_all(const pess__setup *s, models *m, pess_observations *to, pess_error *error) {
    const pess_observations *data = s->data;
    const int64_t count = imagined_of(data);
    const int64_t outputs = data->actions * m->block, stride = PART * outputs;
    pess__rng rng = pess__rng_stream(s->options.seed, "imagine", 0);
    for (int64_t first = 0; first < count; first += PART) {
        const int64_t here = count - first < PART ? count - first : PART;
        const pess__bits_rows rows = {data->observations, data->bytes, m->states};
        for (int64_t i = 0; i < here; i++)
            m->states[i] = data->state[pess__rng_below(&rng, (uint64_t)data->transitions)];
        for (int i = 0; i < MODELS; i++)
            PESS_TRY(pess__net_apply(m->nets[i], &rows, here, s->options.threads, m->outputs + i * stride, error));
        for (int64_t i = 0; i < here; i++)
            PESS_TRY(imagine(s, m, to, m->states[i], (int32_t)pess__rng_below(&rng, (uint64_t)data->actions),
                             m->outputs + i * outputs, stride, error));
        PESS_TRY(pess__setup_report(s, "imagining", first, count, error));
    }
    return PESS_OK;
}

/* Notes of data that were not all collected: which data they come from (settings of the training are in its manifest),
 * the game as those had it, and how many transitions at the end are imagined. */
static void describe(const pess__setup *s, char *notes, size_t size) {
    const pess_observations *data = s->data;
    const int64_t imagined = imagined_of(data), all = data->transitions + imagined;
    char game[PESS__GAME_NOTES_SIZE] = "", alpha[PESS__NUMBER_SIZE];
    (void)pess__format_double(pess__alpha(s->knobs), alpha);
    if (pess_env_find(data->game) != NULL) pess__game_notes(&s->env, true, game);
    (void)snprintf(
        notes, size,
        "game=%s\nmethod=%s\ndata=%016llx\nseed=%llu\nalpha=%s\ntransitions=%lld\nimagined=%lld\n%sversion=%s\n",
        data->game, s->learner->info.name, (unsigned long long)s->fingerprint, (unsigned long long)s->options.seed,
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

static pess_status train_all(const pess__setup *s, models *m, pess_error *error) {
    const pess__optimiser optimiser = pess__optimiser_defaults();
    PESS_TRY(open_models(s, m, error));
    for (int i = 0; i < MODELS; i++) {
        pess__trainer *trainer = NULL;
        PESS_TRY(pess__trainer_create(m->nets[i], &optimiser, &trainer, error));
        const pess_status status = train(s, m, i, trainer, error);
        pess__trainer_destroy(trainer);
        if (status != PESS_OK) return status;
    }
    return PESS_OK;
}

static pess_status write_data(const pess__setup *s, const pess_observations *data, pess_error *error) {
    char path[PESS__PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s/imagined.pessdata", s->options.out);
    return pess_observations_write(data, path, error);
}

/* The data, and after them what the models imagine. */
static pess_status prepare(const pess__setup *s, pess_observations **out, pess_error *error) {
    const int64_t bits = s->data->shape.length;
    models m = {.bits = bits, .block = bits + 2, .batch = (s->batch + SMALLER - 1) / SMALLER};
    pess_observations *data = NULL;
    char notes[PESS__DATA_NOTES_SIZE];
    pess_status status = train_all(s, &m, error);
    describe(s, notes, sizeof notes);
    if (status == PESS_OK) status = copy_data(s->data, notes, &data, error);
    if (status == PESS_OK) status = imagine_all(s, &m, data, error);
    if (status == PESS_OK) status = write_data(s, data, error);
    close_models(&m);
    if (status == PESS_OK)
        *out = data;
    else
        pess_observations_destroy(data);
    return status;
}

PESS__ALPHA_TABLE(knobs, "1", PESS__PENALTY_WEIGHT, PESS__ANY_WEIGHT);

const pess__learner pess__learner_model_ensemble = {
    .info = {.name = "model-ensemble",
             .summary = "naive on the data and on transitions that three models imagine, penalised where they differ",
             .values = true,
             .imitation = false,
             .samples = false,
             .knobs = &knobs,
             .settings = PESS__READS_VALUES " imitation-rate",
             .source = "after Yu et al. 2020 (MOPO): one step, disagreement of 3 networks, lambda 1"},
    .decide = pess__decide_greedy, /* alpha is in the rewards */
    .bits = true,
    .prepare = prepare};

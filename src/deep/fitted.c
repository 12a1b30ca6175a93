/* Neural fitted Q iteration (Riedmiller 2005; paper, appendix on deep experiments). Per Bellman update the targets are
 * computed from the frozen network, and a network is trained to them with Huber's loss and Adam:
 *
 *     y = r + γ v(s'),   v(s') = what the learner's policy at s' is worth;      minimise Σ huber(q(s,a) − y)
 *
 * The step size falls within every update. Imitation is the same loop with cross-entropy on the logged actions, where
 * "updates" are stretches of one long training. All that is random is a function of seed and update, so a run that was
 * interrupted ends in the same bytes. */
#include "deep/game_notes.h"
#include "deep/neural_uncertainty.h"

#include "core/memory.h"
#include "core/text.h"
#include "core/threads.h"
#include "nn/netfile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IMITATION_PIECES = 10 };

pess_train_options pess_train_options_defaults(void) {
    return (pess_train_options){.algorithm = "naive",
                                .protocol = *pess_protocol_find("quick"),
                                .alpha = NAN,
                                .u_cap = NAN,
                                .relative = true,
                                .gamma = 0.99,
                                .network = "value",
                                .checkpoint_seconds = 10,
                                .report_seconds = 0.1};
}

/* ---- setting up */

static pess_status check_options(const pess_train_options *o, pess_error *error) {
    const pess_protocol *p = &o->protocol;
    const struct {
        const char *name;
        int64_t value, least, most;
    } counts[] = {
        {"updates", p->updates, 1, 1000000},
        {"steps", p->steps, 1, 1000000000},
        {"batch", p->batch, 1, 1 << 20},
        {"imitation steps", p->imitation_steps, IMITATION_PIECES, 1000000000},
        {"imitation batch", p->imitation_batch, 1, 1 << 20},
        {"eval-every", p->eval_every, 0, 1000000},
        {"evaluation episodes", p->eval_episodes, 0, 1000000},
        {"scored episodes", p->score_episodes, 0, 1000000},
        {"control episodes", p->control_episodes, 0, 1000000},
        {"uncertainty-steps", o->uncertainty_steps, 0, 1000000000},
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (counts[i].value < counts[i].least || counts[i].value > counts[i].most)
            return pess__fail(error, PESS_ARGUMENT, "%s is %lld; %lld to %lld is possible", counts[i].name,
                              (long long)counts[i].value, (long long)counts[i].least, (long long)counts[i].most);
    const struct {
        const char *name;
        double value, least, most;
    } numbers[] = {
        {"gamma", o->gamma, 0, 1},
        {"absorbed-alpha", isnan(o->alpha) ? 0 : o->alpha, 0, 1e30},
        {"u-cap", isnan(o->u_cap) ? 1 : o->u_cap, 1e-30, 1e30},
        {"rate", p->rate, 0, 1e30},
        {"rate-last", p->rate_last, 0, 1e30},
        {"imitation rate", p->imitation_rate, 0, 1e30},
        {"imitation rate-last", p->imitation_rate_last, 0, 1e30},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!(numbers[i].value >= numbers[i].least && numbers[i].value <= numbers[i].most))
            return pess__fail(error, PESS_ARGUMENT, "%s is %g; %g to %g is possible", numbers[i].name, numbers[i].value,
                              numbers[i].least, numbers[i].most);
    if (o->data == NULL || o->data->transitions < 1) return pess__fail(error, PESS_ARGUMENT, "there are no data");
    if (o->data->actions > PESS__MAX_ACTIONS)
        return pess__fail(error, PESS_ARGUMENT, "the data have %lld actions; up to %d are possible",
                          (long long)o->data->actions, PESS__MAX_ACTIONS);
    if (o->out == NULL || o->out[0] == '\0' || strlen(o->out) > PESS__PATH_SIZE - 128)
        return pess__fail(error, PESS_ARGUMENT, "no directory for the results, or a name too long");
    return PESS_OK;
}

static pess_status find_learner(pess__fitted *f, pess_error *error) {
    PESS_TRY(pess__fitted_find_learner(&f->options, &f->learner, error));
    const pess_learner_info *info = &f->learner->info;
    if (!isnan(f->options.alpha) && isnan(info->alpha))
        return pess__fail(error, PESS_ARGUMENT, "%s has no alpha", info->name);
    f->alpha = isnan(f->options.alpha) ? info->alpha : f->options.alpha;
    if (info->alpha_most > 0 && f->alpha > info->alpha_most)
        return pess__fail(error, PESS_ARGUMENT, "%s: %s is %g; 0 to %g is possible", info->name,
                          info->knob != NULL ? info->knob : "alpha", f->alpha, info->alpha_most);
    if (!isnan(f->options.u_cap) && f->learner->uncertainty == NULL)
        return pess__fail(error, PESS_ARGUMENT, "%s has no uncertainty to cap", info->name);
    if (f->options.uncertainty_steps > 0 && (f->learner->uncertainty == NULL || f->learner->uncertainty->train == NULL))
        return pess__fail(error, PESS_ARGUMENT,
                          "%s trains no network of an uncertainty; uncertainty-steps does nothing", info->name);
    if (f->learner->uncertainty != NULL)
        f->cap = isnan(f->options.u_cap) ? f->learner->uncertainty->info.cap : f->options.u_cap;
    return PESS_OK;
}

/* FNV-1a over the columns, 8 bytes at a time: tells other data from these. */
static uint64_t fold(uint64_t hash, const void *bytes, int64_t size) {
    const uint8_t *at = bytes;
    for (; size > 0; size -= 8, at += 8) {
        uint64_t word = 0;
        memcpy(&word, at, size < 8 ? (size_t)size : 8);
        hash = (hash ^ word) * UINT64_C(0x100000001B3);
        hash ^= hash >> 32;
    }
    return hash;
}

static uint64_t fingerprint(const pess_observations *data) {
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    hash = fold(hash, data->observations, data->states * data->bytes);
    hash = fold(hash, data->state, data->transitions * (int64_t)sizeof *data->state);
    hash = fold(hash, data->next, data->transitions * (int64_t)sizeof *data->next);
    hash = fold(hash, data->reward, data->transitions * (int64_t)sizeof *data->reward);
    hash = fold(hash, data->action, data->transitions);
    return fold(hash, data->end, data->transitions);
}

/* Lines that only some games and learners have. */
static void describe_further(pess__fitted *f, const char *rate) {
    char game[PESS__GAME_NOTES_SIZE];
    size_t used = strlen(f->settings);
    pess__game_notes(&f->env, false, game);
    used += (size_t)snprintf(f->settings + used, sizeof f->settings - used, "%s", game);
    if (pess__fitted_networks(f) * pess__fitted_heads(f) > 1)
        used += (size_t)snprintf(f->settings + used, sizeof f->settings - used,
                                 "networks=%lld\nheads=%lld\nmixtures=%lld\n", (long long)pess__fitted_networks(f),
                                 (long long)pess__fitted_heads(f), (long long)pess__fitted_mixtures(f));
    if (f->learner->uncertainty == NULL) return;
    char cap[PESS__NUMBER_SIZE];
    (void)pess__format_double(f->cap, cap);
    used += (size_t)snprintf(f->settings + used, sizeof f->settings - used,
                             "uncertainty=%s\ncap=%s\nrelative=%s\nuncertainty_rate=%s\n",
                             f->learner->uncertainty->info.name, cap, f->options.relative ? "on" : "off", rate);
    if (f->options.uncertainty_steps > 0)
        (void)snprintf(f->settings + used, sizeof f->settings - used, "uncertainty_steps=%lld\n",
                       (long long)f->options.uncertainty_steps);
}

static void describe(pess__fitted *f, uint32_t imitation) {
    const pess_train_options *o = &f->options;
    const pess_protocol *p = &o->protocol;
    const double numbers[] = {f->alpha, o->gamma, p->rate, p->rate_last, p->imitation_rate, p->imitation_rate_last};
    char n[6][PESS__NUMBER_SIZE]; /* in the shortest form that reads back the same */
    for (int i = 0; i < 6; i++) (void)pess__format_double(numbers[i], n[i]);
    int used = snprintf(f->settings, sizeof f->settings,
                        "game=%s\nmethod=%s\ndata=%016llx\nnetwork=%s\nkernels=%s\nseed=%llu\ngamma=%s\n"
                        "score=%lld,%lld,%lld,%lld\n",
                        f->data->game, f->learner->info.name, (unsigned long long)f->fingerprint, o->network,
                        f->net->kernels->name, (unsigned long long)o->seed, n[1], (long long)p->eval_every,
                        (long long)p->eval_episodes, (long long)p->score_episodes, (long long)p->control_episodes);
    const size_t room = sizeof f->settings - (size_t)used;
    if (f->learner->untrained)
        (void)snprintf(f->settings + used, room, "steps=%lld,%lld\nbatch=%lld\n", (long long)p->updates,
                       (long long)p->steps, (long long)p->batch);
    else if (f->learner->info.values)
        (void)snprintf(f->settings + used, room,
                       "alpha=%s\nupdates=%lld\nsteps=%lld\nbatch=%lld\nrate=%s,%s\nreset=%s\nimitation=%08x\n", n[0],
                       (long long)p->updates, (long long)p->steps, (long long)p->batch, n[2], n[3],
                       p->reset ? "on" : "off", imitation);
    else
        (void)snprintf(f->settings + used, room, "steps=%lld\nbatch=%lld\nrate=%s,%s\n", (long long)p->imitation_steps,
                       (long long)p->imitation_batch, n[4], n[5]);
    describe_further(f, n[4]);
}

pess_status pess__fitted_network(const pess__fitted *f, int64_t outputs, pess__net **out, pess_error *error) {
    const pess_env_info *game = f->options.mdp == NULL ? pess_env_find(f->data->game) : NULL;
    pess__net_spec spec;
    if (game != NULL)
        PESS_TRY(pess__spec_named(f->options.network, game->rows, game->cols, game->channels, (int32_t)outputs, &spec,
                                  error));
    else
        PESS_TRY(pess__spec_named(f->options.network, 1, 1, (int32_t)f->data->bits, (int32_t)outputs, &spec, error));
    PESS_TRY(pess__net_create(&spec, f->options.kernels, out, error));
    if ((*out)->bytes != f->data->bytes)
        return pess__fail(error, PESS_INPUT, "the data have observations of %lld bytes; %s has %lld",
                          (long long)f->data->bytes, f->data->game, (long long)(*out)->bytes);
    return PESS_OK;
}

pess_status pess__fitted_add_network(pess__fitted *f, pess__net *net, pess_error *error) {
    const pess__optimiser optimiser = pess__optimiser_defaults();
    f->further[f->further_count] = net;
    PESS_TRY(pess__trainer_create(net, &optimiser, &f->further_trainer[f->further_count], error));
    f->further_count++;
    return PESS_OK;
}

pess__net *pess__fitted_net(const pess__fitted *f, int64_t i) { return i == 0 ? f->net : f->further[i - 1]; }

/* An imitation network is one of these data, as far as its notes tell: those of other programs may have none. */
static pess_status check_imitation(const pess__fitted *f, const char *path, const pess_net *read, pess_error *error) {
    char method[32] = "none", game[sizeof f->data->game], data[32], own[32];
    if (!pess_net_note(read, "method", method, sizeof method) || strcmp(method, "imitation") != 0)
        return pess__fail(error, PESS_INPUT, "%s: a network of method %s; one of imitation is needed", path, method);
    if (pess_net_note(read, "game", game, sizeof game) && strcmp(game, f->data->game) != 0)
        return pess__fail(error, PESS_INPUT, "%s: imitates data of %s; these are data of %s", path, game,
                          f->data->game);
    if (read->net->bytes != f->data->bytes || read->net->outputs != f->data->actions)
        return pess__fail(error, PESS_INPUT, "%s: reads %lld bytes and has %lld outputs; the data have %lld and %lld",
                          path, (long long)read->net->bytes, (long long)read->net->outputs, (long long)f->data->bytes,
                          (long long)f->data->actions);
    (void)snprintf(own, sizeof own, "%016llx", (unsigned long long)f->fingerprint);
    if (pess_net_note(read, "data", data, sizeof data) && strcmp(data, own) != 0)
        return pess__fail(error, PESS_INPUT, "%s: imitates other data (%s) than these (%s)", path, data, own);
    return PESS_OK;
}

/* The imitation network: a given file, or trained in a directory of its own beneath this run's. */
static pess_status open_imitation(pess__fitted *f, uint32_t *checksum, pess_error *error) {
    char path[PESS__PATH_SIZE], directory[PESS__PATH_SIZE];
    (void)snprintf(directory, sizeof directory, "%s/imitation", f->options.out);
    if (f->options.imitation != NULL) {
        if (snprintf(path, sizeof path, "%s", f->options.imitation) >= (int)sizeof path)
            return pess__fail(error, PESS_ARGUMENT, "the name of the imitation network is too long");
    } else {
        pess_train_options own = f->options;
        pess_train_result unused;
        own.algorithm = "imitation";
        own.uncertainty = NULL;
        own.alpha = own.u_cap = NAN;
        own.uncertainty_steps = 0;
        own.out = directory;
        own.resume = true;
        own.protocol.score_episodes = own.protocol.control_episodes = 0;
        PESS_TRY(pess_train_run(&own, &unused, error));
        (void)snprintf(path, sizeof path, "%s/imitation/policy.pessnet", f->options.out);
    }
    pess_net *read = NULL;
    PESS_TRY(pess_net_read(path, f->options.kernels, &read, error));
    const pess_status status = check_imitation(f, path, read, error);
    if (status == PESS_OK) {
        f->imitation = read->net;
        read->net = NULL;
        *checksum = read->checksum;
    }
    pess_net_destroy(read);
    return status;
}

static pess_status open_tables(pess__fitted *f, pess_error *error) {
    const int64_t states = f->data->states, batch = f->batch;
    const int64_t values = pess__fitted_networks(f) * pess__fitted_heads(f) * f->data->actions;
    const int64_t list = states > PESS__CHECK_ROWS ? states : PESS__CHECK_ROWS;
    static const char what[] = "the tables of a training";
    PESS_TRY(pess__allocate(&f->value, pess__fitted_mixtures(f) * states, sizeof *f->value, what, error));
    PESS_TRY(pess__allocate(&f->place, states, sizeof *f->place, what, error));
    PESS_TRY(pess__allocate(&f->wanted, list, sizeof *f->wanted, what, error));
    PESS_TRY(pess__allocate(&f->outputs, PESS__OUTPUT_CHUNK * values, sizeof *f->outputs, what, error));
    PESS_TRY(pess__allocate(&f->unique, batch, sizeof *f->unique, what, error));
    PESS_TRY(pess__allocate(&f->first, batch + 1, sizeof *f->first, what, error));
    PESS_TRY(pess__allocate(&f->rows, batch, sizeof *f->rows, what, error));
    PESS_TRY(pess__allocate(&f->taken, batch, sizeof *f->taken, what, error));
    PESS_TRY(pess__allocate(&f->targets, batch, sizeof *f->targets, what, error));
    PESS_TRY(pess__allocate(&f->check, PESS__CHECK_ROWS, sizeof *f->check, what, error));
    for (int64_t i = 0; i < states; i++) f->place[i] = -1;
    pess__rng rng = pess__rng_stream(f->options.seed, "check", 0);
    f->check_count = f->data->transitions < PESS__CHECK_ROWS ? f->data->transitions : PESS__CHECK_ROWS;
    for (int64_t i = 0; i < f->check_count; i++)
        f->check[i] = f->data->transitions <= PESS__CHECK_ROWS
                          ? i
                          : (int64_t)pess__rng_below(&rng, (uint64_t)f->data->transitions);
    if (pess__fitted_heads(f) > 1)
        PESS_TRY(pess__allocate(&f->mixture, pess__fitted_mixtures(f) * pess__fitted_heads(f), sizeof *f->mixture, what,
                                error));
    if (f->learner->info.values || f->learner->uncertainty != NULL) PESS_TRY(pess__fitted_count(f, error));
    if (f->imitation != NULL) {
        PESS_TRY(pess__allocate(&f->prior, states * f->data->actions, sizeof *f->prior, what, error));
        PESS_TRY(pess__fitted_priors(f, error));
    }
    if (f->learner->uncertainty != NULL && f->learner->uncertainty->outside != NULL)
        return pess__neural_uncertainty_prepare(f, error);
    return PESS_OK;
}

/* New parameters for the networks that give values. */
static void renew(pess__fitted *f) {
    for (int64_t i = 0; i < pess__fitted_networks(f); i++) {
        pess__rng rng = pess__rng_stream(f->options.seed, "network", (uint64_t)f->update + ((uint64_t)i << 32));
        pess__net_initialise(pess__fitted_net(f, i), &rng);
    }
}

/* What is trained, and how long: values over the updates of the protocol, imitation in pieces, or nothing. */
static void plan(pess__fitted *f) {
    const pess_protocol *p = &f->options.protocol;
    const bool values = f->learner->info.values;
    f->updates = f->learner->untrained ? 1 : values ? p->updates : IMITATION_PIECES;
    f->steps = f->learner->untrained ? 0
               : values              ? p->steps
                                     : (p->imitation_steps + IMITATION_PIECES - 1) / IMITATION_PIECES;
    f->batch = values || f->learner->untrained ? p->batch : p->imitation_batch;
}

static pess_status open_networks(pess__fitted *f, pess_error *error) {
    const int64_t outputs = pess__fitted_heads(f) * f->data->actions;
    PESS_TRY(pess__fitted_network(f, outputs, &f->net, error));
    if (f->learner->info.values) PESS_TRY(pess__fitted_network(f, outputs, &f->frozen, error));
    for (int64_t i = 1; i < pess__fitted_networks(f); i++) {
        pess__net *net = NULL;
        PESS_TRY(pess__fitted_network(f, outputs, &net, error));
        PESS_TRY(pess__fitted_add_network(f, net, error));
    }
    return f->learner->open != NULL ? f->learner->open(f, error) : PESS_OK;
}

static pess_status open_training(pess__fitted *f, const pess_train_options *options, pess_error *error) {
    f->options = *options;
    f->data = options->data;
    f->best = -INFINITY;
    PESS_TRY(find_learner(f, error));
    plan(f);
    PESS_TRY(pess__fitted_environment(f, error));
    PESS_TRY(open_networks(f, error));
    f->fingerprint = fingerprint(f->data);
    uint32_t imitation = 0;
    const bool imitates = f->learner->info.imitation, given = f->options.imitation != NULL;
    if (imitates && given) PESS_TRY(open_imitation(f, &imitation, error)); /* may refuse: no directory yet */
    PESS_TRY(pess__fitted_open_directory(f, error));
    if (imitates && !given) PESS_TRY(open_imitation(f, &imitation, error));
    const pess__optimiser optimiser = pess__optimiser_defaults();
    PESS_TRY(pess__trainer_create(f->net, &optimiser, &f->trainer, error));
    describe(f, imitation);
    PESS_TRY(pess__fitted_check_settings(f, error));
    if (f->learner->prepare != NULL) PESS_TRY(f->learner->prepare(f, error));
    PESS_TRY(open_tables(f, error));
    renew(f);
    return pess__logtext_add(&f->log,
                             "update,steps,loss,mean_target,mean_q,return,ci95,argmax_return,predicted,obtained,"
                             "outside,unlogged,gap,values_apart,penalty_apart,seconds\n",
                             error);
}

static void close_training(pess__fitted *f) {
    pess__trainer_destroy(f->trainer);
    pess__net_destroy(f->net);
    pess__net_destroy(f->frozen);
    pess__net_destroy(f->imitation);
    pess__net_destroy(f->uncertainty_net);
    pess_observations_destroy(f->imagined);
    for (int i = 0; i < PESS__MAX_FURTHER; i++) {
        pess__trainer_destroy(f->further_trainer[i]);
        pess__net_destroy(f->further[i]);
    }
    void *const owned[] = {f->prior,   f->value,  f->place, f->wanted, f->outputs, f->unique, f->first,   f->rows,
                           f->penalty, f->counts, f->taken, f->acting, f->targets, f->check,  f->mixture, f->log.text};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
    free(f);
}

/* ---- learning */

int64_t pess__fitted_draw(pess__fitted *f, int64_t network, pess__rng *rng) {
    const pess_observations *data = f->data;
    int64_t different = 0;
    for (int64_t i = 0; i < f->batch; i++) {
        const int64_t row = pess__fitted_row(f, network, rng), state = data->state[row];
        f->rows[i] = row;
        if (f->place[state] < 0) {
            f->place[state] = (int32_t)different;
            f->unique[different] = state;
            f->first[++different] = 0;
        }
        f->first[f->place[state] + 1]++;
    }
    f->first[0] = 0;
    for (int64_t u = 1; u <= different; u++) f->first[u] += f->first[u - 1];
    for (int64_t i = f->batch - 1; i >= 0; i--) { /* first[u+1] walks back to the first label of u */
        const int64_t row = f->rows[i], at = --f->first[f->place[data->state[row]] + 1];
        f->taken[at] = data->action[row];
        f->targets[at] = f->learner->info.values ? (pess__real)pess__fitted_target(f, row) : 0;
    }
    /* Now first[u+1] is where u begins: shift down. */
    for (int64_t u = 0; u < different; u++) f->first[u] = f->first[u + 1];
    f->first[different] = f->batch;
    for (int64_t u = 0; u < different; u++) f->place[f->unique[u]] = -1;
    return different;
}

pess_status pess__fitted_interrupted(const pess__fitted *f, pess_error *error) {
    return pess__fail(
        error, PESS_INTERRUPTED,
        "interrupted after %lld of %lld updates of %s; the same command with --resume goes on from the last "
        "checkpoint in %s",
        (long long)f->update, (long long)f->updates, f->learner->info.name, f->options.out);
}

pess_status pess__fitted_report(pess__fitted *f, const char *what, int64_t done, int64_t total, pess_error *error) {
    const pess_progress *p = &f->options.progress;
    const double now = pess__clock();
    if (p->report == NULL || now - f->reported < f->options.report_seconds) return PESS_OK;
    f->reported = now;
    if (p->report(p->user, what, (double)done, (double)total, "steps")) return PESS_OK;
    return pess__fitted_interrupted(f, error);
}

/* Step size of a step: along the update, or along the whole of imitation. */
static double rate_of(const pess__fitted *f, int64_t step) {
    const pess_protocol *p = &f->options.protocol;
    if (f->learner->info.values) return p->rate + (p->rate_last - p->rate) * (double)step / (double)f->steps;
    const double fall = p->imitation_rate > 0 ? 1 - p->imitation_rate_last / p->imitation_rate : 0;
    return p->imitation_rate * (1 - fall * (double)(f->update * f->steps + step) / (double)(f->updates * f->steps));
}

static pess__loss loss_of(const pess__fitted *f) {
    if (!f->learner->info.values) return (pess__loss){PESS__LOSS_CROSS_ENTROPY, 0};
    return (pess__loss){.kind = PESS__LOSS_HUBER,
                        .threshold = PESS__HUBER_EDGE,
                        .conservative = f->learner->conservative ? f->alpha : 0,
                        .heads = pess__fitted_heads(f)};
}

/* One network of those that are trained to the same targets, over the steps of an update. */
static pess_status train(pess__fitted *f, int64_t network, pess_error *error) {
    pess__trainer *trainer = network == 0 ? f->trainer : f->further_trainer[network - 1];
    const int64_t networks = pess__fitted_networks(f), mixtures = pess__fitted_mixtures(f);
    pess__loss loss = loss_of(f);
    pess__rng rng = pess__fitted_rows(f, network);
    for (int64_t step = 0; step < f->steps; step++) {
        f->mixing = step % mixtures;
        if (f->mixture != NULL) loss.mixture = f->mixture + f->mixing * loss.heads;
        const int64_t samples = pess__fitted_draw(f, network, &rng);
        const pess__bits_rows rows = {f->data->observations, f->data->bytes, f->unique};
        const pess__labels labels = {.actions = f->taken, .targets = f->targets, .first = f->first};
        pess__step_info info;
        pess_error why;
        trainer->optimiser.rate = rate_of(f, step);
        const pess_status status = pess__trainer_step(trainer, &rows, &labels, samples, &loss, &info, &why);
        if (status != PESS_OK)
            return pess__fail(error, status, "update %lld: %s; the checkpoints in %s are from before",
                              (long long)f->update + 1, why.message, f->options.out);
        PESS_TRY(pess__fitted_report(f, f->learner->info.name, (f->update * networks + network) * f->steps + step,
                                     f->updates * networks * f->steps, error));
    }
    f->mixing = 0;
    return PESS_OK;
}

static void field(char *line, size_t size, double value) {
    char number[32] = ",";
    if (isfinite(value)) (void)snprintf(number, sizeof number, ",%.6g", value);
    strncat(line, number, size - strlen(line) - 1);
}

static pess_status log_update(pess__fitted *f, const pess__scored *scored, pess_error *error) {
    char line[512];
    const long long steps = f->update * f->steps;
    (void)snprintf(line, sizeof line, "%lld,%lld", (long long)f->update, steps);
    const double fields[] = {f->loss,         f->mean_target,    f->mean_q,        scored->mean_return, scored->ci95,
                             scored->control, scored->predicted, scored->obtained, scored->outside,     f->unlogged,
                             f->gap,          f->values_apart,   f->penalty_apart};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) field(line, sizeof line, fields[i]);
    const size_t used = strlen(line);
    (void)snprintf(line + used, sizeof line - used, ",%.2f\n", f->seconds_before + pess__clock() - f->begun);
    PESS_TRY(pess__logtext_add(&f->log, line, error));
    return pess__logtext_write(&f->log, f->options.out, error);
}

/* After update `f->update` (counted from 1): how the policy does, where it is time to look. Imitation has one network
 * at the end, which plays all the scored episodes. */
static pess_status look(pess__fitted *f, pess_error *error) {
    const pess_protocol *p = &f->options.protocol;
    pess__scored scored = {NAN, NAN, NAN, NAN, NAN, NAN};
    const int64_t left = f->updates - f->update;
    const bool values = f->learner->info.values,
               playable = f->options.mdp != NULL || pess_env_find(f->data->game) != NULL;
    const bool counts = values ? left < PESS_SCORED_UPDATES : left == 0;
    const int64_t times = values ? 1 : PESS_SCORED_UPDATES;
    if (playable && counts && p->score_episodes > 0)
        PESS_TRY(pess__fitted_evaluate(f, times * p->score_episodes, times * p->control_episodes, &scored, error));
    else if (playable && !counts && p->eval_every > 0 && f->update % p->eval_every == 0 && p->eval_episodes > 0)
        PESS_TRY(pess__fitted_evaluate(f, p->eval_episodes, 0, &scored, error));
    if (counts) f->scored[values ? PESS_SCORED_UPDATES - 1 - left : 0] = scored;
    if (scored.mean_return > f->best) f->best = scored.mean_return;
    return log_update(f, &scored, error);
}

/* Targets from the networks as they are, and a fresh start for what learns them. */
static pess_status begin_update(pess__fitted *f, pess_error *error) {
    memcpy(f->frozen->parameters, f->net->parameters, (size_t)f->net->size * sizeof(pess__real));
    PESS_TRY(pess__fitted_targets(f, error));
    if (f->options.protocol.reset && f->update > 0) renew(f);
    pess__trainer_reset(f->trainer);
    for (int64_t i = 1; i < pess__fitted_networks(f); i++) pess__trainer_reset(f->further_trainer[i - 1]);
    return PESS_OK;
}

static pess_status update(pess__fitted *f, pess_error *error) {
    if (f->learner->info.values) PESS_TRY(begin_update(f, error));
    for (int64_t i = 0; i < pess__fitted_networks(f); i++) PESS_TRY(train(f, i, error));
    if (f->learner->after_update != NULL) PESS_TRY(f->learner->after_update(f, error));
    PESS_TRY(pess__fitted_check(f, error));
    f->update++;
    PESS_TRY(look(f, error));
    const double now = pess__clock();
    if (f->update < f->updates && now - f->saved < f->options.checkpoint_seconds) return PESS_OK;
    f->saved = now;
    return pess__fitted_save(f, error);
}

/* ---- the whole */

static void sum_up(const pess__fitted *f, pess_train_result *out) {
    const int64_t all = f->learner->info.values ? PESS_SCORED_UPDATES : 1;
    const int64_t count = all < f->updates ? all : f->updates, begin = all - count;
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = begin; i < all; i++) {
        const pess__scored *s = &f->scored[i];
        const double share = 1 / (double)count;
        out->score += share * s->mean_return;
        out->control += share * s->control;
        out->predicted += share * s->predicted;
        out->obtained += share * s->obtained;
        out->outside += share * s->outside;
        least = fmin(least, s->mean_return);
        most = fmax(most, s->mean_return);
    }
    out->score_final = f->scored[all - 1].mean_return;
    out->score_best = isfinite(f->best) ? f->best : NAN;
    out->score_spread = most >= least ? most - least : NAN; /* NAN: nothing was played */
    out->loss = f->loss;
    out->mean_target = f->mean_target;
    out->updates = f->update;
    out->seconds = pess__clock() - f->begun;
    memcpy(out->warning, f->warning, sizeof out->warning);
}

static pess_status run(pess__fitted *f, pess_train_result *out, pess_error *error) {
    const pess_train_options *o = &f->options;
    bool found = false;
    PESS_TRY(pess__fitted_restore(f, &found, error));
    out->resumed_from = found ? f->update : -1;
    f->begun = f->saved = f->reported = pess__clock();
    while (f->update < f->updates) PESS_TRY(update(f, error));
    sum_up(f, out);
    PESS_TRY(pess__logtext_write(&f->log, o->out, error));
    return pess__fitted_write(f, out, error);
}

pess_status pess_train_run(const pess_train_options *options, pess_train_result *out, pess_error *error) {
    PESS_TRY(check_options(options, error));
    pess__fitted *f;
    PESS_TRY(pess__allocate(&f, 1, sizeof *f, "a training", error));
    *out = (pess_train_result){0};
    pess_status status = open_training(f, options, error);
    if (status == PESS_OK) status = run(f, out, error);
    close_training(f);
    return status;
}

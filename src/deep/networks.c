#include "deep/networks.h"

#include "nn/netfile.h"

#include <stdio.h>
#include <string.h>

/* ---- those that are trained */

static pess_status add(const pess__setup *s, pess__networks *n, int64_t outputs, pess_error *error) {
    const pess__optimiser optimiser = pess__optimiser_defaults();
    PESS_TRY(pess__setup_network(s, outputs, &n->nets[n->count], error));
    PESS_TRY(pess__trainer_create(n->nets[n->count], &optimiser, &n->trainers[n->count], error));
    n->count++;
    return PESS_OK;
}

pess_status pess__networks_create(const pess__setup *s, pess__networks *out, pess_error *error) {
    const pess__learner *learner = s->learner;
    const int64_t actions = s->data->actions;
    for (int64_t i = 0; i < pess__learner_networks(learner, s->knobs); i++)
        PESS_TRY(add(s, out, pess__learner_heads(learner, s->knobs) * actions, error));
    for (int64_t i = 0; i < learner->own_count; i++) {
        const pess__own_network *own = &learner->own[i];
        PESS_TRY(add(s, out, own->one_output ? 1 : actions, error));
        pess__rng rng = pess__rng_stream(s->options.seed, own->name, 0);
        pess__net_initialise(out->nets[out->count - 1], &rng);
    }
    return PESS_OK;
}

void pess__networks_destroy(pess__networks *n) {
    for (int i = 0; i < PESS__MAX_NETWORKS; i++) {
        pess__trainer_destroy(n->trainers[i]);
        pess__net_destroy(n->nets[i]);
    }
    pess__net_destroy(n->imitation);
    pess__net_destroy(n->uncertainty);
    *n = (pess__networks){0};
}

static void raise_outputs(pess__net *net, double level) {
    pess__real *bias = net->parameters + net->layers[net->spec.layer_count - 1].bias;
    for (int64_t i = 0; i < net->outputs; i++) bias[i] += (pess__real)level;
}

void pess__networks_renew(const pess__setup *s, pess__networks *n) {
    for (int64_t i = 0; i < pess__learner_networks(s->learner, s->knobs); i++) {
        pess__rng rng =
            pess__rng_stream(s->options.seed, "network", (uint64_t)s->position->update + ((uint64_t)i << 32));
        pess__net_initialise(n->nets[i], &rng);
        raise_outputs(n->nets[i], n->level);
    }
}

void pess__networks_save(const pess__networks *n, pess__sink *sink) {
    for (int64_t i = 0; i < n->count; i++) {
        const size_t size = (size_t)n->nets[i]->size * sizeof(pess__real);
        if (i > 0) pess__sink_i64(sink, n->trainers[i]->steps);
        pess__sink_write(sink, n->nets[i]->parameters, size);
        pess__sink_write(sink, n->trainers[i]->first, size);
        pess__sink_write(sink, n->trainers[i]->second, size);
    }
}

void pess__networks_restore(pess__networks *n, pess__cursor *cursor) {
    for (int64_t i = 0; i < n->count; i++) {
        const size_t size = (size_t)n->nets[i]->size * sizeof(pess__real);
        if (i > 0) n->trainers[i]->steps = pess__cursor_i64(cursor);
        pess__cursor_read(cursor, n->nets[i]->parameters, size);
        pess__cursor_read(cursor, n->trainers[i]->first, size);
        pess__cursor_read(cursor, n->trainers[i]->second, size);
    }
}

pess_status pess__networks_check(const pess__setup *s, const pess__networks *n, pess_error *error) {
    for (int64_t k = 0; k < n->count; k++)
        for (int64_t i = 0; i < n->nets[k]->size; i++)
            if (!isfinite(n->nets[k]->parameters[i]))
                return pess__fail(error, PESS_NOT_CONVERGED, "a parameter is not finite after update %lld",
                                  (long long)s->position->update);
    return PESS_OK;
}

/* ---- views and policy */

pess__view pess__networks_view(const pess__setup *s, const pess__tables *tables, int64_t state, int64_t i,
                               const pess__chunk_outputs outputs) {
    const pess__learner *learner = s->learner;
    const int64_t networks = pess__learner_networks(learner, s->knobs), actions = s->data->actions;
    pess__view view = pess__tables_view(s, tables, state);
    view.heads = networks > 1 ? networks : pess__learner_heads(learner, s->knobs);
    view.head_stride = networks > 1 ? PESS__OUTPUT_CHUNK * actions : actions;
    view.q = outputs[0] + i * pess__learner_heads(learner, s->knobs) * actions;
    for (int64_t k = 0; k < learner->own_count; k++)
        view.own[k] = outputs[networks + k] + i * (learner->own[k].one_output ? 1 : actions);
    return view;
}

pess__learned_policy pess__networks_policy(const pess__setup *s, const pess__networks *n, const pess__tables *tables) {
    const int64_t networks = pess__learner_networks(s->learner, s->knobs);
    pess__learned_policy policy = {.learner = s->learner,
                                   .knobs = s->knobs,
                                   .actions = s->data->actions,
                                   .cap = s->cap,
                                   .relative = s->options.relative,
                                   .imitation = n->imitation,
                                   .uncertainty = n->uncertainty,
                                   .data = s->data,
                                   .penalty = tables->penalty,
                                   .counts = tables->counts,
                                   .space = &s->options.data->space};
    for (int64_t k = 0; k < networks; k++) policy.values[k] = n->nets[k];
    for (int64_t k = 0; k < s->learner->own_count; k++) policy.own[k] = n->nets[networks + k];
    return policy;
}

/* ---- imitation */

/* An imitation network is one of these data, as far as its notes tell: those of other programs may have none. */
static pess_status check_imitation(const pess__setup *s, const char *path, const pess_net *read, pess_error *error) {
    const pess_observations *data = s->data;
    char method[32] = "none", game[sizeof data->game], other[32], own[32];
    if (!pess_net_note(read, "method", method, sizeof method) || strcmp(method, "imitation") != 0)
        return pess__fail(error, PESS_INPUT, "%s: a network of method %s; one of imitation is needed", path, method);
    if (pess_net_note(read, "game", game, sizeof game) && strcmp(game, data->game) != 0)
        return pess__fail(error, PESS_INPUT, "%s: imitates data of %s; these are data of %s", path, game, data->game);
    if (read->net->bytes != data->bytes || read->net->outputs != data->actions)
        return pess__fail(error, PESS_INPUT, "%s: reads %lld bytes and has %lld outputs; the data have %lld and %lld",
                          path, (long long)read->net->bytes, (long long)read->net->outputs, (long long)data->bytes,
                          (long long)data->actions);
    (void)snprintf(own, sizeof own, "%016llx", (unsigned long long)s->fingerprint);
    if (pess_net_note(read, "data", other, sizeof other) && strcmp(other, own) != 0)
        return pess__fail(error, PESS_INPUT, "%s: imitates other data (%s) than these (%s)", path, other, own);
    const bool apart = s->options.protocol.settle || (s->learner->uncertainty != NULL && !s->learner->info.imitation);
    if (apart && !(pess_net_note(read, "settle", other, sizeof other) && strcmp(other, "on") == 0))
        return pess__fail(error, PESS_INPUT,
                          "%s: learnt from all episodes; one that held some out is needed "
                          "(settle=on)",
                          path);
    return PESS_OK;
}

/* Trained in out/imitation, or taken up where that was begun. */
static pess_status train_imitation(const pess__setup *s, const char *directory, pess_error *error) {
    pess_train_options own = s->options;
    pess_train_result unused;
    own.algorithm = "imitation";
    own.uncertainty = own.knobs = own.imitation = own.tensorboard = NULL;
    own.u_cap = NAN;
    own.uncertainty_steps = 0;
    own.out = directory;
    own.resume = true;
    own.protocol.score_episodes = own.protocol.control_episodes = 0;
    return pess_train_run(&own, &unused, error);
}

pess_status pess__networks_open_imitation(const pess__setup *s, pess__networks *n, pess_error *error) {
    char path[PESS__PATH_SIZE], directory[PESS__PATH_SIZE];
    if (s->options.imitation != NULL) {
        if (snprintf(path, sizeof path, "%s", s->options.imitation) >= (int)sizeof path)
            return pess__fail(error, PESS_ARGUMENT, "the name of the imitation network is too long");
    } else {
        (void)snprintf(directory, sizeof directory, "%s/imitation", s->options.out);
        PESS_TRY(train_imitation(s, directory, error));
        (void)snprintf(path, sizeof path, "%s/imitation/policy.pessnet", s->options.out);
    }
    pess_net *read = NULL;
    PESS_TRY(pess_net_read(path, s->options.kernels, &read, error));
    const pess_status status = check_imitation(s, path, read, error);
    if (status == PESS_OK) {
        n->imitation = read->net;
        read->net = NULL;
        n->imitation_checksum = read->checksum;
    }
    pess_net_destroy(read);
    return status;
}

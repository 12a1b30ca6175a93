#include "deep/bundle.h"

#include "core/filekind.h"
#include "core/infile.h"
#include "core/memory.h"
#include "core/text.h"
#include "deep/generations.h"
#include "nn/netfile.h"
#include "policy/decider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the kind */

static const pess__bundle *of(const pess_policy *policy) { return (const pess__bundle *)(const void *)policy; }

pess_observation_shape pess__bundle_shape(const pess__net *net) {
    return (pess_observation_shape){.kind = net->spec.input, .length = net->inputs};
}

static void describe(const pess_policy *policy, pess_policy_info *out) {
    const pess__bundle *b = of(policy);
    const pess__net *first = b->learned.values[0];
    const pess__net_spec *spec = &first->spec;
    out->kind = "networks";
    out->rule = b->rule;
    out->partial = b->partial;
    out->shape = pess__bundle_shape(first);
    out->shape.rows = spec->rows, out->shape.cols = spec->cols, out->shape.channels = spec->channels;
    out->bytes = first->bytes;
    out->checksum = b->checksum;
    out->kernels = first->kernels->name;
    out->notes = b->notes;
    pess__learned_policy learned = b->learned;
    if (learned.space != NULL) {
        out->action_width = learned.space->values != NULL ? learned.space->width : 0;
        out->action_values = learned.space->values;
        out->action_names = learned.space->names;
    }
    for (int64_t k = 0; k < PESS__BUNDLE_NETWORKS; k++) {
        const pess__net *net = *pess__bundle_place(&learned, k);
        if (net == NULL) continue;
        out->network_count++;
        out->parameters += pess__spec_parameters(&net->spec);
    }
}

typedef struct worker {
    pess__learned_passes *passes;
    int64_t *states; /* [capacity] */
} worker;

static void close_worker(void *memory) {
    worker *w = memory;
    if (w == NULL) return;
    pess__learned_passes_destroy(w->passes);
    free(w->states);
    free(w);
}

static pess_status open_worker(const pess_policy *policy, int64_t capacity, void **out, pess_error *error) {
    static const char what[] = "acting by a policy";
    worker *w = NULL;
    PESS_TRY(pess__allocate(&w, 1, sizeof *w, what, error));
    pess_status status = pess__allocate(&w->states, capacity, sizeof *w->states, what, error);
    if (status == PESS_OK) status = pess__learned_passes_create(&of(policy)->learned, capacity, &w->passes, error);
    if (status == PESS_OK)
        *out = w;
    else
        close_worker(w);
    return status;
}

static void apply(const pess_policy *policy, void *memory, const pess__seen *seen, int64_t count, double *probabilities,
                  double *values) {
    worker *w = memory;
    const pess__bits_rows rows = {seen->bits, seen->stride, seen->index};
    pess__learned_apply(&of(policy)->learned, w->passes, &rows, count, probabilities, values, w->states);
}

static void destroy(pess_policy *policy) {
    pess__bundle *b = (pess__bundle *)(void *)policy;
    for (int64_t k = 0; k < b->net_count; k++) pess__net_destroy(b->nets[k]);
    pess_observations_destroy(b->data);
    free(b->penalty);
    free(b->counts);
    pess__action_space_free(&b->space);
    free(b);
}

static const pess__policy_kind kind = {describe, open_worker, close_worker, apply, pess__bundle_write, destroy};

/* ---- making one */

const pess__net **pess__bundle_place(pess__learned_policy *learned, int64_t place) {
    if (place < PESS__PLACE_OWN) return &learned->values[place];
    if (place < PESS__PLACE_IMITATION) return &learned->own[place - PESS__PLACE_OWN];
    if (place == PESS__PLACE_IMITATION) return &learned->imitation;
    return place == PESS__PLACE_UNCERTAINTY ? &learned->uncertainty
                                            : &learned->values[PESS__PLACE_OWN + place - PESS__PLACE_FURTHER];
}

pess_status pess__bundle_create(pess__bundle **out, pess_error *error) {
    PESS_TRY(pess__allocate(out, 1, sizeof **out, "a policy of networks", error));
    (*out)->policy.kind = &kind;
    return PESS_OK;
}

pess_status pess__bundle_borrow(const pess__learned_policy *learned, const char *notes, pess_policy **out,
                                pess_error *error) {
    pess__bundle *b = NULL;
    PESS_TRY(pess__bundle_create(&b, error));
    b->learned = *learned;
    b->rule = learned->learner->info.name;
    b->policy.actions = learned->actions;
    b->policy.samples = learned->learner->info.samples;
    if (notes != NULL) memcpy(b->notes, notes, strnlen(notes, sizeof b->notes - 1));
    *out = &b->policy;
    return PESS_OK;
}

pess_status pess__bundle_argmax(const pess__net *net, pess_policy **out, pess_error *error) {
    const pess__learned_policy learned = {.learner = &pess__learner_naive, .actions = net->outputs, .values = {net}};
    return pess__bundle_borrow(&learned, NULL, out, error);
}

/* ---- a network alone */

pess_status pess__bundle_of_network(const char *path, pess_net *net, pess_policy **out, pess_error *error) {
    char acts[sizeof((pess__bundle *)NULL)->acts] = "argmax";
    (void)pess_net_note(net, "acts", acts, sizeof acts);
    const bool softmax = strcmp(acts, "softmax") == 0;
    if (strcmp(acts, "uncertainty") == 0)
        return pess__fail(error, PESS_INPUT, "%s: holds the uncertainties of a training; a policy is needed", path);
    if (net->net->outputs > PESS__MAX_ACTIONS)
        return pess__fail(error, PESS_LIMIT, "%s: has %lld outputs; at most %d actions are possible", path,
                          (long long)net->net->outputs, PESS__MAX_ACTIONS);
    const pess__learned_policy learned = {.learner = softmax ? &pess__learner_imitation : &pess__learner_naive,
                                          .actions = net->net->outputs,
                                          .values = {net->net}};
    PESS_TRY(pess__bundle_borrow(&learned, net->notes, out, error));
    pess__bundle *b = (pess__bundle *)(void *)*out;
    memcpy(b->acts, acts, sizeof acts);
    b->rule = b->acts;
    b->partial = !softmax && strcmp(acts, "argmax") != 0;
    b->checksum = net->checksum;
    b->nets[b->net_count++] = net->net;
    net->net = NULL;
    return PESS_OK;
}

/* A table whose states and actions are numbers needs nothing else to be read. */
static pess_status table_alone(const char *path, pess_policy **out, pess_error *error) {
    pess_names *states = NULL, *actions = NULL;
    pess_policy *policy = NULL;
    PESS_TRY(pess__policy_read_alone(path, 0, &policy, &states, &actions, error));
    const bool named = states != NULL || actions != NULL;
    pess_names_destroy(states);
    pess_names_destroy(actions);
    if (!named) {
        *out = policy;
        return PESS_OK;
    }
    pess_policy_destroy(policy);
    return pess__fail(error, PESS_INPUT,
                      "%s: found states or actions with names, or numbers with large gaps, expected numbers from 0 on "
                      "where no model says which is which",
                      path);
}

/* The directory of a training stands for the policy that it wrote. */
static pess_status of_directory(const char *path, pess_policy **out, pess_error *error) {
    char file[PESS__PATH_SIZE];
    (void)snprintf(file, sizeof file, "%s/policy.pesspolicy", path);
    if (access(file, F_OK) == 0) return pess__bundle_read(file, out, error);
    return pess__fail(
        error, PESS_INPUT,
        "%.300s: has no policy.pesspolicy; is it the directory of a training, and is that finished? It can be resumed",
        path);
}

/* Whether a file of no kind of ours begins with bytes that no text begins with. */
static bool is_binary(const char *path) {
    char head[64];
    size_t got = 0;
    pess__infile *file = NULL;
    if (pess__infile_open(path, &file, NULL) != PESS_OK) return false;
    const bool read = pess__infile_head(file, head, sizeof head, &got, NULL) == PESS_OK;
    pess__infile_close(file);
    for (size_t i = 0; read && i < got; i++)
        if ((unsigned char)head[i] <= '\b') return true;
    return false;
}

pess_status pess_policy_read(const char *path, const pess_model *model, const pess_names *state_names,
                             const pess_names *action_names, pess_policy **out, pess_error *error) {
    struct stat about;
    if (path != NULL && stat(path, &about) == 0 && S_ISDIR(about.st_mode)) return of_directory(path, out, error);
    const pess_file_kind found = pess_file_kind_of(path);
    if (found == PESS_FILE_POLICY) return pess__bundle_read(path, out, error);
    if (found == PESS_FILE_NETWORK) {
        pess_net *net = NULL;
        PESS_TRY(pess_net_read(path, NULL, &net, error));
        const pess_status status = pess__bundle_of_network(path, net, out, error);
        pess_net_destroy(net);
        return status;
    }
    if (found == PESS_FILE_OTHER && is_binary(path))
        return pess__fail(error, PESS_INPUT,
                          "%s: found no policy, expected one that was trained or imported, or a table of text", path);
    if (found == PESS_FILE_OTHER)
        return model != NULL ? pess__policy_read_table(path, model, state_names, action_names, out, error)
                             : table_alone(path, out, error);
    return pess__fail(error, PESS_INPUT, "%s: found %s, expected a policy", path, pess__file_row_of(found)->what);
}

/* ---- what its networks say */

/* Adds the mean over the heads of one network, divided by `networks`. */
static pess_status add_outputs(const pess__net *net, const pess__bits_rows *rows, int64_t count, int64_t actions,
                               int64_t networks, float *out, pess_error *error) {
    const int64_t heads = net->outputs / actions;
    pess__real *outputs = NULL;
    PESS_TRY(pess__allocate(&outputs, count * net->outputs, sizeof *outputs, "the outputs of a network", error));
    const pess_status status = pess__net_apply(net, rows, count, 1, outputs, error);
    for (int64_t i = 0; status == PESS_OK && i < count * net->outputs; i++)
        out[i / net->outputs * actions + i % actions] += (float)(outputs[i] / (pess__real)(heads * networks));
    free(outputs);
    return status;
}

pess_status pess_policy_outputs(const pess_policy *policy, const uint8_t *bits, int64_t stride, int64_t count,
                                float *out, pess_error *error) {
    if (policy->states > 0) return pess__fail(error, PESS_ARGUMENT, "the policy is a table: it has no networks");
    const pess__learned_policy *learned = &of(policy)->learned;
    const int64_t networks = pess__learner_networks(learned->learner, learned->knobs);
    PESS_TRY(pess__policy_check_observations(policy, bits, stride, count, error));
    const pess__bits_rows rows = {bits, stride, NULL};
    for (int64_t i = 0; i < count * policy->actions; i++) out[i] = 0;
    for (int64_t k = 0; k < networks; k++)
        PESS_TRY(add_outputs(learned->values[k], &rows, count, policy->actions, networks, out, error));
    return PESS_OK;
}

/* ---- does it fit? */

pess_status pess_policy_check_game(const pess_policy *policy, const char *name, const pess_env_info *game, bool argmax,
                                   pess_error *error) {
    char trained[64];
    pess_policy_info info;
    pess_policy_get_info(policy, &info);
    const pess_observation_shape *s = &info.shape;
    if (policy->states > 0)
        return pess__fail(error, PESS_INPUT, "%s: a table over states; %s shows observations", name, game->name);
    if (pess_policy_note(policy, "game", trained, sizeof trained) && pess_env_find(trained) != NULL &&
        strcmp(trained, game->name) != 0)
        return pess__fail(error, PESS_INPUT, "%s: a policy for %s; one for %s is needed", name, trained, game->name);
    const int64_t shown = (int64_t)game->rows * game->cols * game->channels;
    if (s->kind != game->kind || s->length != shown)
        return pess__fail(error, PESS_INPUT, "%s: reads %lld %s; %s shows %lld %s", name, (long long)s->length,
                          pess_observation_kind_name(s->kind), game->name, (long long)shown,
                          pess_observation_kind_name(game->kind));
    if (s->rows != game->rows || s->cols != game->cols || s->channels != game->channels)
        return pess__fail(error, PESS_INPUT, "%s: reads a board of %d × %d × %d; %s has %d × %d × %d", name, s->rows,
                          s->cols, s->channels, game->name, game->rows, game->cols, game->channels);
    if (info.action_width > 0)
        return pess__fail(error, PESS_INPUT,
                          "%s: its actions are vectors of %lld number%s; those of %s are whole numbers", name,
                          (long long)info.action_width, info.action_width == 1 ? "" : "s", game->name);
    if (policy->actions != pess_env_full_actions(game) && policy->actions != game->minimal_count)
        return pess__fail(error, PESS_INPUT, "%s: has %lld outputs; %d actions are needed", name,
                          (long long)policy->actions, pess_env_full_actions(game));
    return argmax ? PESS_OK : pess__policy_check_whole(policy, name, error);
}

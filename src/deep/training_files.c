/* What a training on a fixed dataset leaves behind: checkpoints, its networks and manifest.json. */
#include "deep/bundle.h"
#include "deep/training.h"

#include "core/json_writer.h"
#include "core/threads.h"
#include "nn/netfile.h"

#include <stdio.h>
#include <string.h>

/* ---- checkpoints */

static pess__generations generations_of(const pess__training *t) {
    return (pess__generations){.directory = t->setup.options.out,
                               .suffix = "pesstrain",
                               .kind = "a checkpoint of a training",
                               .settings = t->settings,
                               .magic = "PESSTRN\n",
                               .version = 1,
                               .resume = t->setup.options.resume};
}

/* How many updates there are to be is a finding, too. */
static void save_settling(const pess__training *t, pess__sink *sink) {
    const pess__settling *s = &t->settling;
    pess__sink_i64(sink, t->setup.updates);
    pess__sink_i64(sink, s->steps);
    pess__sink_write(sink, &s->plateau, sizeof s->plateau);
    pess__sink_write(sink, &s->stillness, sizeof s->stillness);
    if (s->best != NULL) pess__sink_write(sink, s->best, (size_t)t->networks.nets[0]->size * sizeof *s->best);
}

static void restore_settling(pess__training *t, pess__cursor *cursor) {
    pess__settling *s = &t->settling;
    t->setup.updates = pess__cursor_i64(cursor);
    s->steps = pess__cursor_i64(cursor);
    pess__cursor_read(cursor, &s->plateau, sizeof s->plateau);
    pess__cursor_read(cursor, &s->stillness, sizeof s->stillness);
    if (s->best != NULL) pess__cursor_read(cursor, s->best, (size_t)t->networks.nets[0]->size * sizeof *s->best);
}

pess_status pess__training_save(pess__training *t, pess_error *error) {
    const pess__training_scores *scores = &t->scores;
    const pess__generations generations = generations_of(t);
    pess__sink sink;
    PESS_TRY(pess__networks_check(&t->setup, &t->networks, error));
    PESS_TRY(pess__generations_begin(&generations, t->generation, t->position.update, &sink, error));
    t->generation++;
    pess__sink_i64(&sink, t->generation);
    pess__sink_i64(&sink, t->networks.trainers[0]->steps);
    pess__sink_double(&sink, scores->loss);
    pess__sink_double(&sink, scores->mean_target);
    pess__sink_double(&sink, scores->mean_q);
    pess__sink_double(&sink, scores->best);
    pess__sink_double(&sink, scores->seconds_before + pess__clock() - scores->begun);
    if (pess__setup_prices(&t->setup)) pess__sink_double(&sink, t->price_weight);
    pess__sink_write(&sink, scores->scored, sizeof scores->scored);
    pess__networks_save(&t->networks, &sink);
    if (t->setup.options.protocol.settle) save_settling(t, &sink);
    pess__logtext_save(&scores->log, &sink);
    const pess_status status = pess__sink_commit(&sink, error);
    if (status != PESS_OK) t->generation--;
    return status;
}

pess_status pess__training_open_directory(pess__training *t, pess_error *error) {
    const pess__generations generations = generations_of(t);
    return pess__generations_open(&generations, &t->lock, error);
}

pess_status pess__training_check_settings(const pess__training *t, pess_error *error) {
    const pess__generations generations = generations_of(t);
    pess__cursor cursor;
    int64_t update;
    bool found;
    const pess_status status = pess__generations_newest(&generations, &cursor, &update, &found, error);
    pess__cursor_close(&cursor);
    return status;
}

pess_status pess__training_restore(pess__training *t, bool *found, pess_error *error) {
    const pess__generations generations = generations_of(t);
    pess__training_scores *scores = &t->scores;
    pess__cursor cursor;
    pess_status status = pess__generations_newest(&generations, &cursor, &t->position.update, found, error);
    if (status == PESS_OK && *found) {
        t->generation = pess__cursor_i64(&cursor);
        t->networks.trainers[0]->steps = pess__cursor_i64(&cursor);
        scores->loss = pess__cursor_double(&cursor);
        scores->mean_target = pess__cursor_double(&cursor);
        scores->mean_q = pess__cursor_double(&cursor);
        scores->best = pess__cursor_double(&cursor);
        scores->seconds_before = pess__cursor_double(&cursor);
        if (pess__setup_prices(&t->setup)) t->price_weight = pess__cursor_double(&cursor);
        pess__cursor_read(&cursor, scores->scored, sizeof scores->scored);
        pess__networks_restore(&t->networks, &cursor);
        if (t->setup.options.protocol.settle) restore_settling(t, &cursor);
        const int64_t counts[] = {t->position.update, t->generation, t->networks.trainers[0]->steps, t->setup.updates,
                                  t->settling.steps};
        status = pess__generations_check_counts(&cursor, counts, sizeof counts / sizeof counts[0], error);
        if (status == PESS_OK) status = pess__logtext_restore(&scores->log, &cursor, error);
    }
    pess__cursor_close(&cursor);
    return status;
}

/* ---- results */

/* Lines "key=value" as members. */
static void write_settings(pess_json_writer *json, const char *settings) {
    pess_json_open_object(json, "settings");
    for (const char *at = settings; *at != '\0';) {
        char key[200], value[2000];
        const size_t length = strcspn(at, "\n"), name = strcspn(at, "=");
        (void)snprintf(key, sizeof key, "%.*s", (int)name, at);
        (void)snprintf(value, sizeof value, "%.*s", (int)(length - name - 1), at + name + 1);
        pess_json_put_text(json, key, value);
        at += length + 1;
    }
    pess_json_close(json);
}

static void write_result(pess_json_writer *json, const pess_train_result *r) {
    pess_json_put_count(json, "updates", r->updates);
    pess_json_put_number(json, "score", r->score);
    pess_json_put_number(json, "score_final", r->score_final);
    pess_json_put_number(json, "score_best", r->score_best);
    pess_json_put_number(json, "score_spread", r->score_spread);
    pess_json_put_number(json, "argmax_score", r->control);
    pess_json_put_number(json, "predicted", r->predicted);
    pess_json_put_number(json, "obtained", r->obtained);
    pess_json_put_number(json, "outside", r->outside);
    pess_json_put_number(json, "loss", r->loss);
    pess_json_put_number(json, "mean_target", r->mean_target);
}

static pess_status write_manifest(const pess__training *t, const pess_train_result *r, pess_error *error) {
    char path[PESS__PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s/manifest.json", t->setup.options.out);
    pess__outfile *file;
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess_json_writer json = pess__json_begin(file, PESS_JSON_INDENTED);
    pess_json_open_object(&json, NULL);
    pess_json_put_text(&json, "version", PESS_VERSION);
    pess_json_put_text(&json, "build", pess_build());
    pess_json_put_text(&json, "data_name", t->setup.options.data_name != NULL ? t->setup.options.data_name : "data");
    pess_json_put_text(&json, "kernels", t->networks.nets[0]->kernels->name); /* those settings name their sums */
    write_settings(&json, t->settings);
    write_result(&json, r);
    if (pess__setup_prices(&t->setup)) pess_json_put_number(&json, "price_weight", t->price_weight);
    if (t->warning[0] != '\0') pess_json_put_text(&json, "warning", t->warning);
    pess_json_close(&json);
    pess_json_end(&json);
    return pess__outfile_commit(file, error);
}

/* How to act by the network: by its argmax or its softmax alone, or as the learner does, which needs more than it. */
static const char *acting(const pess__learner *learner) {
    if (!learner->info.values && !learner->untrained) return "softmax";
    const bool alone =
        !learner->info.samples && !learner->info.imitation && learner->uncertainty == NULL && learner->heads <= 1;
    return alone ? "argmax" : learner->info.name;
}

/* Takes the network over. */
static pess_status write_network(const pess__training *t, pess__net **network, const char *role, const char *acts,
                                 double score, pess_error *error) {
    char notes[PESS__NOTES_SIZE], path[PESS__PATH_SIZE];
    (void)snprintf(notes, sizeof notes, "%sacts=%s\nmean_return=%.6g\nversion=%s\n", t->settings, acts, score,
                   PESS_VERSION);
    (void)snprintf(path, sizeof path, "%s/%s.pessnet", t->setup.options.out, role);
    pess__net *taken = *network;
    pess_net *net = NULL;
    *network = NULL;
    PESS_TRY(pess__net_wrap(taken, notes, &net, error));
    const pess_status status = pess_net_write(net, path, error);
    pess_net_destroy(net);
    return status;
}

/* policy.pessnet, and what acting needs beside it: the other members of an ensemble, the learner's own networks, the
 * network of its uncertainty. Where no values are trained, the uncertainty's network is the policy. */
static pess_status write_networks(pess__training *t, const pess_train_result *r, pess_error *error) {
    const pess__learner *learner = t->setup.learner;
    const int64_t values = pess__learner_networks(learner, t->setup.knobs);
    const char *acts = acting(learner);
    pess__networks *n = &t->networks;
    for (int64_t i = 1; i < n->count; i++) {
        const pess__own_network *own = i < values ? NULL : &learner->own[i - values];
        char role[64];
        (void)snprintf(role, sizeof role, "network-%d", (int)i + 1);
        PESS_TRY(write_network(t, &n->nets[i], own != NULL ? own->name : role,
                               own != NULL && own->policy ? "softmax" : acts, r->score, error));
    }
    if (n->uncertainty != NULL && !learner->untrained)
        PESS_TRY(write_network(t, &n->uncertainty, "uncertainty", "uncertainty", r->score, error));
    pess__net **policy = learner->untrained && n->uncertainty != NULL ? &n->uncertainty : &n->nets[0];
    return write_network(t, policy, "policy", acts, r->score, error);
}

/* policy.pesspolicy: all that acting by the learner's rule needs. */
static pess_status write_policy(const pess__training *t, const pess_train_result *r, pess_error *error) {
    const pess__learned_policy learned = pess__networks_policy(&t->setup, &t->networks, &t->tables);
    char notes[PESS__BUNDLE_NOTES], path[PESS__PATH_SIZE];
    (void)snprintf(notes, sizeof notes, "%smean_return=%.6g\nversion=%s\n", t->settings, r->score, PESS_VERSION);
    (void)snprintf(path, sizeof path, "%s/policy.pesspolicy", t->setup.options.out);
    pess_policy *policy = NULL;
    PESS_TRY(pess__bundle_borrow(&learned, notes, &policy, error));
    const pess_status status = pess_policy_write(policy, path, NULL, NULL, error);
    pess_policy_destroy(policy);
    return status;
}

pess_status pess__training_write(pess__training *t, const pess_train_result *result, pess_error *error) {
    PESS_TRY(write_manifest(t, result, error));
    PESS_TRY(write_policy(t, result, error));
    return write_networks(t, result, error);
}

/* What a training on a fixed dataset leaves behind: checkpoints, policy.pessnet and manifest.json. */
#include "deep/fitted.h"

#include "core/threads.h"
#include "nn/netfile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static pess__generations generations_of(const pess__fitted *f) {
    return (pess__generations){.directory = f->options.out,
                               .suffix = "pesstrain",
                               .kind = "a checkpoint of a training",
                               .settings = f->settings,
                               .magic = "PESSTRN\n",
                               .version = 1,
                               .resume = f->options.resume};
}

pess_status pess__fitted_save(pess__fitted *f, pess_error *error) {
    const size_t size = (size_t)f->net->size * sizeof(pess__real);
    for (int64_t i = 0; i < f->net->size; i++)
        if (!isfinite(f->net->parameters[i]))
            return pess__fail(error, PESS_NOT_CONVERGED, "a parameter is not finite after update %lld",
                              (long long)f->update);
    const pess__generations generations = generations_of(f);
    pess__sink sink;
    PESS_TRY(pess__generations_begin(&generations, f->generation, f->update, &sink, error));
    f->generation++;
    pess__sink_i64(&sink, f->generation);
    pess__sink_i64(&sink, f->trainer->steps);
    pess__sink_double(&sink, f->loss);
    pess__sink_double(&sink, f->mean_target);
    pess__sink_double(&sink, f->mean_q);
    pess__sink_double(&sink, f->best);
    pess__sink_double(&sink, f->seconds_before + pess__clock() - f->begun);
    pess__sink_write(&sink, f->scored, sizeof f->scored);
    pess__sink_write(&sink, f->net->parameters, size);
    pess__sink_write(&sink, f->trainer->first, size);
    pess__sink_write(&sink, f->trainer->second, size);
    for (int i = 0; i < f->further_count; i++) {
        const pess__trainer *trainer = f->further_trainer[i];
        const size_t own = (size_t)trainer->net->size * sizeof(pess__real);
        pess__sink_i64(&sink, trainer->steps);
        pess__sink_write(&sink, trainer->net->parameters, own);
        pess__sink_write(&sink, trainer->first, own);
        pess__sink_write(&sink, trainer->second, own);
    }
    pess__logtext_save(&f->log, &sink);
    const pess_status status = pess__sink_commit(&sink, error);
    if (status != PESS_OK) f->generation--;
    return status;
}

pess_status pess__fitted_open_directory(const pess__fitted *f, pess_error *error) {
    const pess__generations generations = generations_of(f);
    return pess__generations_open(&generations, error);
}

pess_status pess__fitted_check_settings(const pess__fitted *f, pess_error *error) {
    const pess__generations generations = generations_of(f);
    pess__cursor cursor;
    int64_t update;
    bool found;
    const pess_status status = pess__generations_newest(&generations, &cursor, &update, &found, error);
    pess__cursor_close(&cursor);
    return status;
}

pess_status pess__fitted_restore(pess__fitted *f, bool *found, pess_error *error) {
    const size_t size = (size_t)f->net->size * sizeof(pess__real);
    const pess__generations generations = generations_of(f);
    pess__cursor cursor;
    pess_status status = pess__generations_newest(&generations, &cursor, &f->update, found, error);
    if (status == PESS_OK && *found) {
        f->generation = pess__cursor_i64(&cursor);
        f->trainer->steps = pess__cursor_i64(&cursor);
        f->loss = pess__cursor_double(&cursor);
        f->mean_target = pess__cursor_double(&cursor);
        f->mean_q = pess__cursor_double(&cursor);
        f->best = pess__cursor_double(&cursor);
        f->seconds_before = pess__cursor_double(&cursor);
        pess__cursor_read(&cursor, f->scored, sizeof f->scored);
        pess__cursor_read(&cursor, f->net->parameters, size);
        pess__cursor_read(&cursor, f->trainer->first, size);
        pess__cursor_read(&cursor, f->trainer->second, size);
        for (int i = 0; i < f->further_count; i++) {
            pess__trainer *trainer = f->further_trainer[i];
            const size_t own = (size_t)trainer->net->size * sizeof(pess__real);
            trainer->steps = pess__cursor_i64(&cursor);
            pess__cursor_read(&cursor, trainer->net->parameters, own);
            pess__cursor_read(&cursor, trainer->first, own);
            pess__cursor_read(&cursor, trainer->second, own);
        }
        status = pess__logtext_restore(&f->log, &cursor, error);
    }
    pess__cursor_close(&cursor);
    return status;
}

static void json_line(pess__outfile *file, const char *key, double value, const char *end) {
    pess__outfile_print(file, "  \"%s\": ", key);
    pess__outfile_json_number(file, value);
    pess__outfile_print(file, "%s\n", end);
}

/* The settings, a key per line, and the result. */
static pess_status write_manifest(const pess__fitted *f, const pess_train_result *r, pess_error *error) {
    char path[PESS__PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s/manifest.json", f->options.out);
    pess__outfile *file;
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess__outfile_print(file, "{\n  \"version\": \"%s\",\n  \"data_name\": ", PESS_VERSION);
    pess__outfile_json(file, f->options.data_name != NULL ? f->options.data_name : "data");
    pess__outfile_print(file, ",\n  \"settings\": {");
    const char *separator = "\n";
    for (const char *at = f->settings; *at != '\0';) {
        const size_t length = strcspn(at, "\n"), key = strcspn(at, "=");
        pess__outfile_print(file, "%s    \"%.*s\": \"%.*s\"", separator, (int)key, at, (int)(length - key - 1),
                            at + key + 1);
        separator = ",\n";
        at += length + 1;
    }
    pess__outfile_print(file, "\n  },\n  \"updates\": %lld,\n", (long long)r->updates);
    json_line(file, "score", r->score, ",");
    json_line(file, "score_final_update_alone", r->score_final, ",");
    json_line(file, "score_best_seen_not_a_result", r->score_best, ",");
    json_line(file, "score_spread", r->score_spread, ",");
    json_line(file, "argmax_score", r->control, ",");
    json_line(file, "predicted", r->predicted, ",");
    json_line(file, "obtained", r->obtained, ",");
    json_line(file, "outside", r->outside, ",");
    json_line(file, "loss", r->loss, ",");
    json_line(file, "mean_target", r->mean_target, f->warning[0] != '\0' ? "," : "");
    if (f->warning[0] != '\0') {
        pess__outfile_print(file, "  \"warning\": ");
        pess__outfile_json(file, f->warning);
        pess__outfile_print(file, "\n");
    }
    pess__outfile_print(file, "}\n");
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
static pess_status write_network(const pess__fitted *f, pess__net *network, const char *role, const char *acts,
                                 double score, pess_error *error) {
    char notes[PESS__NOTES_SIZE], path[PESS__PATH_SIZE];
    (void)snprintf(notes, sizeof notes, "%sacts=%s\nmean_return=%.6g\nversion=%s\n", f->settings, acts, score,
                   PESS_VERSION);
    (void)snprintf(path, sizeof path, "%s/%s.pessnet", f->options.out, role);
    pess_net *net = NULL;
    PESS_TRY(pess__net_wrap(network, notes, &net, error));
    const pess_status status = pess_net_write(net, path, error);
    pess_net_destroy(net);
    return status;
}

static pess__net *take(pess__net **from) {
    pess__net *net = *from;
    *from = NULL;
    return net;
}

/* policy.pessnet, and what acting needs beside it: the uncertainty's network, the other members of an ensemble, the
 * actor. Who has no network of his own is his uncertainty's. */
static pess_status write_networks(pess__fitted *f, const pess_train_result *r, pess_error *error) {
    const char *acts = acting(f->learner);
    for (int i = 0; i < f->further_count; i++) {
        const bool actor = f->further[i] == f->actor; /* which is a policy by itself */
        char role[32] = "actor";
        if (!actor) (void)snprintf(role, sizeof role, "network-%d", i + 2);
        PESS_TRY(write_network(f, take(&f->further[i]), role, actor ? "softmax" : acts, r->score, error));
    }
    f->actor = NULL;
    if (f->uncertainty_net != NULL && !f->learner->untrained)
        PESS_TRY(write_network(f, take(&f->uncertainty_net), "uncertainty", "uncertainty", r->score, error));
    pess__net **policy = f->learner->untrained && f->uncertainty_net != NULL ? &f->uncertainty_net : &f->net;
    return write_network(f, take(policy), "policy", acts, r->score, error);
}

pess_status pess__fitted_write(pess__fitted *f, const pess_train_result *result, pess_error *error) {
    PESS_TRY(write_manifest(f, result, error));
    return write_networks(f, result, error);
}

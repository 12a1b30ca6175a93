/* Shards of trials put together. Their settings are in the manifest of the first one, the trials in their checkpoints,
 * whose signatures have to agree. */
#include "core/json.h"
#include "core/memory.h"
#include "core/settings.h"
#include "experiment/trials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value of the manifest as pess_setting_set takes it; NULL: not set. */
static const char *text_of(const pess__json_value *value) {
    if (value == NULL || value->kind == PESS__JSON_NULL) return NULL;
    return value->kind == PESS__JSON_BOOL ? (value->truth ? "on" : "off") : value->text;
}

/* Every setting but the shard, which is what differs. Texts stay the manifest's. */
static pess_status set_options(const char *path, const pess__json_value *root, pess_experiment_options *options,
                               pess_error *error) {
    const char *name = pess__json_text(root, "experiment");
    const pess__json_value *settings = pess__json_member(root, "settings");
    const pess_setting_table *table = name != NULL ? pess_experiment_settings_of(name) : NULL;
    if (table == NULL || settings == NULL)
        return pess__fail(error, PESS_INPUT, "%s: found no settings of an experiment", path);
    options->experiment = name;
    for (size_t i = 0; i < table->count; i++) {
        char key[PESS__WORD_SIZE];
        pess__setting_key(table->rows[i].name, key, sizeof key);
        const char *text = text_of(pess__json_member(settings, key));
        pess_error wrong = {0};
        if (text == NULL || strcmp(key, "shard") == 0) continue;
        if (pess_setting_set(table, options, table->rows[i].name, text, &wrong) != PESS_OK)
            return pess__fail(error, PESS_INPUT, "%s: %.700s", path, wrong.message);
    }
    return PESS_OK;
}

static pess_status read_plan(const char *directory, const char *out, pess_experiment **experiment, pess_error *error) {
    char path[PESS__EXPERIMENT_PATH];
    pess__json *json = NULL;
    pess_experiment_options options = pess_experiment_options_defaults();
    (void)snprintf(path, sizeof path, "%.4000s/manifest.json", directory);
    pess_error missing = {0};
    if (pess__json_read(path, &json, &missing) != PESS_OK)
        return pess__fail(error, missing.status, "%.700s: the shard is not finished", missing.message);
    pess_status status = set_options(path, pess__json_root(json), &options, error);
    options.out = out;
    if (status == PESS_OK) status = pess__experiment_plan(&options, experiment, error);
    pess__json_destroy(json);
    return status;
}

static pess_status read_shards(pess__trials *t, const char *const *directories, size_t count, pess_error *error) {
    for (size_t i = 0; i < count; i++) {
        char path[PESS__EXPERIMENT_PATH], signature[2000];
        if (strlen(directories[i]) > PESS__EXPERIMENT_PATH - 200)
            return pess__fail(error, PESS_ARGUMENT, "%.80s…: the name is too long", directories[i]);
        pess__trials_checkpoint(t, directories[i], path, signature, sizeof signature);
        PESS_TRY(
            pess__checkpoint_read(path, signature, t->options->trials, t->value_count, t->values, t->finished, error));
    }
    return PESS_OK;
}

static pess_status check_whole(const pess__trials *t, bool partial, pess_error *error) {
    const int64_t all = t->options->trials, found = pess__trials_finished(t);
    int64_t first = 0;
    while (first < all && t->finished[first]) first++;
    if (found == 0) return pess__fail(error, PESS_INPUT, "the directories hold no finished trial");
    if (found == all || partial) return PESS_OK;
    return pess__fail(error, PESS_INPUT,
                      "partial: %lld of %lld trials are in none of the directories, the first of them trial %lld; "
                      "finish them, or switch it on to merge the others",
                      (long long)(all - found), (long long)all, (long long)first);
}

/* What is merged in part can be gone on with. */
static pess_status keep_trials(const pess__trials *t, pess_error *error) {
    char path[PESS__EXPERIMENT_PATH], signature[2000];
    pess__checkpoint *checkpoint = NULL;
    pess_status status = PESS_OK;
    pess__trials_checkpoint(t, t->options->out, path, signature, sizeof signature);
    PESS_TRY(pess__experiment_make_directories(t->options->out, error));
    PESS_TRY(pess__checkpoint_open(path, false, signature, t->options->trials, t->value_count, t->values, t->finished,
                                   &checkpoint, error));
    for (int64_t i = 0; status == PESS_OK && i < t->options->trials; i++)
        if (t->finished[i]) status = pess__checkpoint_add(checkpoint, i, 1, t->values + i * t->value_count, error);
    const pess_status closed = pess__checkpoint_close(checkpoint, status == PESS_OK ? error : NULL);
    return status != PESS_OK ? status : closed;
}

pess_status pess__trials_merge(const char *const *directories, size_t count, const char *out, bool partial,
                               pess_experiment **experiment, pess_error *error) {
    pess_experiment *e = NULL;
    PESS_TRY(read_plan(directories[0], out, &e, error));
    pess_status status = read_shards(e->plan, directories, count, error);
    if (status == PESS_OK) status = check_whole(e->plan, partial, error);
    if (status == PESS_OK) status = keep_trials(e->plan, error);
    if (status == PESS_OK) status = pess__trials_summarise(e->plan, error);
    if (status == PESS_OK)
        *experiment = e;
    else
        pess_experiment_destroy(e);
    return status;
}

/* manifest.json of a deep experiment: every setting, seed, version and time, and what was judged. */
#include "core/outfile.h"
#include "report/games.h"

#include <stdio.h>
#include <string.h>

void pess__games_note(const pess_minatar *m, char *out, size_t size) {
    const pess_minatar_options *o = &m->options;
    char shard[60] = "", trials[60];
    pess__games_trials(m, trials, sizeof trials);
    if (o->shards > 1)
        (void)snprintf(shard, sizeof shard, " · shard %lld of %lld only", (long long)o->shard, (long long)o->shards);
    (void)snprintf(out, size,
                   "%s · protocol %s · seed %llu%s · lines: mean of the trials; bands: from the "
                   "smallest to the largest",
                   trials, o->protocol.name, (unsigned long long)o->seed, shard);
}

static void member(pess__outfile *file, const char *key, const char *value) {
    pess__outfile_print(file, "  \"%s\": ", key);
    pess__outfile_json(file, value);
    pess__outfile_print(file, ",\n");
}

/* The lines "key=value" of settings.txt as members. */
static void write_settings(pess__outfile *file, const pess_minatar *m) {
    char settings[PESS__GAMES_SETTINGS];
    pess__games_settings(m, settings, sizeof settings);
    pess__outfile_print(file, "  \"settings\": {");
    const char *separator = "\n";
    for (char *rest = settings, *line; (line = strsep(&rest, "\n")) != NULL && *line != '\0';) {
        char *value = strchr(line, '=');
        if (value == NULL) continue;
        *value++ = '\0';
        pess__outfile_print(file, "%s    \"%s\": ", separator, line);
        pess__outfile_json(file, value);
        separator = ",\n";
    }
    pess__outfile_print(file, "\n  },\n");
}

static void write_claims(pess__outfile *file, const pess_minatar *m) {
    pess__outfile_print(file, "  \"claims\": [");
    for (size_t i = 0; i < m->claim_count; i++) {
        const pess_minatar_claim *claim = &m->claims[i];
        pess__outfile_print(file, "%s\n    {\"game\": \"%s\", \"claim\": ", i > 0 ? "," : "", claim->game);
        pess__outfile_json(file, claim->claim);
        pess__outfile_print(file, ", \"came_out\": %s, \"found\": ",
                            !claim->judged ? "null"
                            : claim->holds ? "true"
                                           : "false");
        pess__outfile_json(file, claim->found);
        pess__outfile_print(file, "}");
    }
    pess__outfile_print(file, "\n  ],\n");
}

static void write_warnings(pess__outfile *file, const pess_minatar *m) {
    const char *separator = "";
    pess__outfile_print(file, "  \"warnings\": [");
    for (int i = 0; i < m->game_count * m->curve_count; i++) {
        const int game = i / m->curve_count, curve = i % m->curve_count;
        int64_t runs = 0;
        const char *warning = pess__games_warning(m, game, curve, &runs);
        if (warning == NULL) continue;
        pess__outfile_print(file, "%s\n    {\"game\": \"%s\", \"algorithm\": \"%s\", \"runs\": %lld, \"warning\": ",
                            separator, m->games[game]->name, m->curves[curve].name, (long long)runs);
        pess__outfile_json(file, warning);
        pess__outfile_print(file, "}");
        separator = ",";
    }
    pess__outfile_print(file, "%s],\n", *separator != '\0' ? "\n  " : "");
}

/* Seconds of all trainings together, whatever run of the program or machine they were made in. */
static double training_seconds(const pess_minatar *m, int64_t *runs) {
    double seconds = 0;
    for (int64_t i = 0; i < m->dataset_count * m->curve_count; i++) {
        if (!m->runs[i].finished) continue;
        (*runs)++;
        seconds += m->runs[i].result.seconds;
    }
    return seconds;
}

pess_status pess__games_manifest(const pess_minatar *m, const char *command, const char *path, pess_error *error) {
    pess__outfile *file = NULL;
    char note[300];
    int64_t runs = 0;
    const double seconds = training_seconds(m, &runs);
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess__games_note(m, note, sizeof note);
    pess__outfile_print(file, "{\n");
    member(file, "format", "pess-minatar");
    member(file, "version", PESS_VERSION);
    member(file, "build", pess_build());
    member(file, "experiment", m->info->name);
    member(file, "title", m->info->title);
    member(file, "note", note);
    member(file, "x_label", m->info->x_label);
    member(file, "y_label", m->info->y_label);
    member(file, "x_scale", m->info->log_x ? "log" : "linear");
    member(file, "description", m->description);
    member(file, "command", command);
    write_settings(file, m);
    write_claims(file, m);
    write_warnings(file, m);
    pess__outfile_print(file, "  \"shard\": %lld,\n  \"shards\": %lld,\n  \"runs\": %lld,\n  \"training_seconds\": ",
                        (long long)m->options.shard, (long long)m->options.shards, (long long)runs);
    pess__outfile_json_number(file, seconds);
    pess__outfile_print(file, "\n}\n");
    return pess__outfile_commit(file, error);
}

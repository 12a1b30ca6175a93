/* manifest.json: every setting, seed, version and time, so that a figure can be traced to the command that made it. */
#include "core/text.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SCHEMA = 2 }; /* 1: settings of experiments with games were texts, claims were "predictions" elsewhere */

static void member(pess__outfile *file, const char *key, const char *value) {
    pess__outfile_print(file, "  \"%s\": ", key);
    pess__outfile_json(file, value);
    pess__outfile_print(file, ",\n");
}

/* ---- settings */

/* "min-count" as "min_count". */
static void write_key(pess__outfile *file, const char *separator, const char *name) {
    char key[80];
    (void)snprintf(key, sizeof key, "%s", name);
    for (char *c = key; *c != '\0'; c++)
        if (*c == '-') *c = '_';
    pess__outfile_print(file, "%s    \"%s\": ", separator, key);
}

/* Numbers as numbers, switches as true and false; what is not set as null. */
static void write_value(pess__outfile *file, const pess_setting *setting, const char *text) {
    if (text[0] == '\0')
        pess__outfile_print(file, "null");
    else if (setting->kind == PESS_SETTING_SWITCH)
        pess__outfile_print(file, strcmp(text, "on") == 0 ? "true" : "false");
    else if (setting->kind == PESS_SETTING_INT || setting->kind == PESS_SETTING_COUNT ||
             setting->kind == PESS_SETTING_SEED || setting->kind == PESS_SETTING_NUMBER)
        pess__outfile_print(file, "%s", text);
    else
        pess__outfile_json(file, text);
}

/* Where results are written and what was there before are not the experiment's. */
static bool is_written(const char *name) {
    return strcmp(name, "experiment") != 0 && strcmp(name, "out") != 0 && strcmp(name, "resume") != 0;
}

/* Lines "key=value" with keys that no setting has: numbers of the protocol, checksums of the players. */
static void write_facts(pess__outfile *file, const pess_experiment *e) {
    char lines[4096];
    if (e->kind->engine->facts == NULL) return;
    e->kind->engine->facts(e, lines, sizeof lines);
    for (char *rest = lines, *line; (line = strsep(&rest, "\n")) != NULL && *line != '\0';) {
        char *value = strchr(line, '=');
        if (value == NULL) continue;
        *value++ = '\0';
        double number;
        if (strcmp(line, "version") == 0 || strcmp(line, "x") == 0 ||
            pess_setting_find(pess_experiment_settings(), line) != NULL)
            continue;
        write_key(file, ",\n", line);
        if (!pess__begins_with(line, "policy-") && pess__parse_double(value, value + strlen(value), &number))
            pess__outfile_print(file, "%s", value);
        else
            pess__outfile_json(file, value);
    }
}

static void write_settings(pess__outfile *file, const pess_experiment *e) {
    const pess_setting_table *table = pess_experiment_settings_of(e->kind->info.name);
    const char *separator = "\n";
    pess__outfile_print(file, "  \"settings\": {");
    for (size_t i = 0; i < table->count; i++) {
        char text[1000];
        const pess_setting *setting = &table->rows[i];
        if (!is_written(setting->name)) continue;
        pess_setting_get(table, &e->options, setting->name, text, sizeof text);
        write_key(file, separator, setting->name);
        write_value(file, setting, text);
        separator = ",\n";
    }
    write_facts(file, e);
    pess__outfile_print(file, "\n  },\n");
}

/* ---- findings */

static void write_claims(pess__outfile *file, const pess_experiment *e) {
    pess__outfile_print(file, "  \"claims\": [");
    for (int64_t i = 0; i < e->claim_count; i++) {
        const pess_experiment_claim *claim = &e->claims[i];
        pess__outfile_print(file, "%s\n    {\"about\": ", i > 0 ? "," : "");
        pess__outfile_json(file, claim->about);
        pess__outfile_print(file, ", \"claim\": ");
        pess__outfile_json(file, claim->claim);
        pess__outfile_print(file, ", \"holds\": %s, \"found\": ",
                            !claim->judged ? "null"
                            : claim->holds ? "true"
                                           : "false");
        pess__outfile_json(file, claim->found);
        pess__outfile_print(file, "}");
    }
    pess__outfile_print(file, "%s],\n", e->claim_count > 0 ? "\n  " : "");
}

static void write_warnings(pess__outfile *file, const pess_experiment *e) {
    pess__outfile_print(file, "  \"warnings\": [");
    for (int64_t i = 0; i < e->warning_count; i++) {
        const pess__experiment_warning *warning = &e->warnings[i];
        pess__outfile_print(file, "%s\n    {\"game\": \"%s\", \"algorithm\": \"%s\", \"runs\": %lld, \"warning\": ",
                            i > 0 ? "," : "", warning->game, warning->algorithm, (long long)warning->runs);
        pess__outfile_json(file, warning->text);
        pess__outfile_print(file, "}");
    }
    pess__outfile_print(file, "%s],\n", e->warning_count > 0 ? "\n  " : "");
}

static void write_time(pess__outfile *file, const pess_experiment *e) {
    char when[40] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL) (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    member(file, "written", when);
    double together = NAN; /* whatever run of the program or machine they were made in */
    const int64_t runs = e->kind->engine->finished(e, &together);
    pess__outfile_print(file, "  \"runs\": %lld,\n  \"run_seconds\": ", (long long)runs);
    pess__outfile_json_number(file, together);
    pess__outfile_print(file, ",\n  \"seconds\": ");
    pess__outfile_json_number(file, e->seconds);
}

pess_status pess__report_manifest(const pess_experiment *e, const char *command, const char *path, pess_error *error) {
    const pess_experiment_info *info = &e->kind->info;
    pess__outfile *file = NULL;
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess__outfile_print(file, "{\n");
    member(file, "format", "pess-experiment");
    pess__outfile_print(file, "  \"schema\": %d,\n", SCHEMA);
    member(file, "version", pess_version());
    member(file, "build", pess_build());
    member(file, "experiment", info->name);
    member(file, "title", info->title);
    member(file, "note", e->note);
    member(file, "x_label", info->x.label);
    member(file, "y_label", info->y_label);
    member(file, "x_scale", info->x.log_scale ? "log" : "linear");
    member(file, "description", e->description);
    member(file, "command", command);
    write_settings(file, e);
    write_claims(file, e);
    write_warnings(file, e);
    write_time(file, e);
    pess__outfile_print(file, "\n}\n");
    return pess__outfile_commit(file, error);
}

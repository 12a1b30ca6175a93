/* manifest.json: every setting, seed, version and time, so that a figure can be traced to the command that made it. */
#include "core/json_writer.h"
#include "core/settings.h"
#include "core/text.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SCHEMA = 2 }; /* 1: settings of experiments with games were texts, claims were "predictions" elsewhere */

/* ---- settings */

/* Where results are written and what was there before are not the experiment's. */
static bool is_written(const char *name) {
    return strcmp(name, "experiment") != 0 && strcmp(name, "out") != 0 && strcmp(name, "resume") != 0;
}

static void write_fact(pess_json_writer *json, const char *name, const char *value) {
    char key[80];
    double number;
    pess__setting_key(name, key, sizeof key);
    if (pess__begins_with(name, "policy-") || !pess__parse_double(value, value + strlen(value), &number))
        pess_json_put_text(json, key, value);
    else if (number == floor(number) && fabs(number) < 1e15)
        pess_json_put_count(json, key, (int64_t)number);
    else
        pess_json_put_number(json, key, number);
}

/* Lines "key=value" with keys that no setting has: numbers of the protocol, checksums of the players. */
static void write_facts(pess_json_writer *json, const pess_experiment *e) {
    char lines[4096];
    if (e->kind->engine->facts == NULL) return;
    e->kind->engine->facts(e, lines, sizeof lines);
    for (char *rest = lines, *line; (line = strsep(&rest, "\n")) != NULL && *line != '\0';) {
        char *value = strchr(line, '=');
        if (value == NULL) continue;
        *value++ = '\0';
        const bool known = strcmp(line, "version") == 0 || strcmp(line, "x") == 0 ||
                           pess_setting_find(pess_experiment_settings(), line) != NULL;
        if (!known) write_fact(json, line, value);
    }
}

static void write_settings(pess_json_writer *json, const pess_experiment *e) {
    const pess_setting_table *table = pess_experiment_settings_of(e->kind->info.name);
    pess_json_open_object(json, "settings");
    for (size_t i = 0; i < table->count; i++)
        if (is_written(table->rows[i].name)) pess_json_put_setting(json, table, &e->options, table->rows[i].name);
    write_facts(json, e);
    pess_json_close(json);
}

/* ---- findings */

static void write_claims(pess_json_writer *json, const pess_experiment *e) {
    pess_json_open_array(json, "claims");
    for (int64_t i = 0; i < e->claim_count; i++) {
        const pess_experiment_claim *claim = &e->claims[i];
        pess_json_open_row(json, NULL);
        pess_json_put_text(json, "about", claim->about);
        pess_json_put_text(json, "claim", claim->claim);
        if (claim->judged)
            pess_json_put_bool(json, "holds", claim->holds);
        else
            pess_json_put_null(json, "holds");
        pess_json_put_text(json, "found", claim->found);
        pess_json_close(json);
    }
    pess_json_close(json);
}

static void write_warnings(pess_json_writer *json, const pess_experiment *e) {
    pess_json_open_array(json, "warnings");
    for (int64_t i = 0; i < e->warning_count; i++) {
        const pess__experiment_warning *warning = &e->warnings[i];
        pess_json_open_row(json, NULL);
        pess_json_put_text(json, "game", warning->game);
        pess_json_put_text(json, "algorithm", warning->algorithm);
        pess_json_put_count(json, "runs", warning->runs);
        pess_json_put_text(json, "warning", warning->text);
        pess_json_close(json);
    }
    pess_json_close(json);
}

static void write_time(pess_json_writer *json, const pess_experiment *e) {
    char when[40] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL) (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    double together = NAN; /* whatever run of the program or machine they were made in */
    const int64_t runs = e->kind->engine->finished(e, &together);
    pess_json_put_text(json, "written", when);
    pess_json_put_count(json, "runs", runs);
    pess_json_put_number(json, "run_seconds", together);
    pess_json_put_number(json, "seconds", e->seconds);
}

static void write_title(pess_json_writer *json, const pess_experiment *e, const char *command) {
    const pess_experiment_info *info = &e->kind->info;
    pess_json_put_text(json, "format", "pess-experiment");
    pess_json_put_count(json, "schema", SCHEMA);
    pess_json_put_text(json, "version", pess_version());
    pess_json_put_text(json, "build", pess_build());
    pess_json_put_text(json, "kernels", pess_kernels());
    pess_json_put_text(json, "experiment", info->name);
    pess_json_put_text(json, "title", info->title);
    pess_json_put_text(json, "note", e->note);
    pess_json_put_text(json, "x_label", info->x.label);
    pess_json_put_text(json, "y_label", info->y_label);
    pess_json_put_text(json, "x_scale", info->x.log_scale ? "log" : "linear");
    pess_json_put_text(json, "description", e->description);
    pess_json_put_text(json, "command", command);
}

pess_status pess__report_manifest(const pess_experiment *e, const char *command, const char *path, pess_error *error) {
    pess__outfile *file = NULL;
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess_json_writer json = pess__json_begin(file, PESS_JSON_INDENTED);
    pess_json_open_object(&json, NULL);
    write_title(&json, e, command);
    write_settings(&json, e);
    write_claims(&json, e);
    write_warnings(&json, e);
    write_time(&json, e);
    pess_json_close(&json);
    pess_json_end(&json);
    return pess__outfile_commit(file, error);
}

/* manifest.json: every setting, seed, version and time, so that a figure can be traced to the command that made it. */
#include "core/text.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void pess__report_note(const pess_experiment *experiment, char *out, size_t size) {
    const pess_experiment_options *o = &experiment->options;
    char grid[120] = "";
    if (!isnan(o->beta_a))
        (void)snprintf(grid, sizeof grid, " · preset %s · %lld × %lld · γ = %g · Beta(%g,%g)",
                       o->preset == PESS_PRESET_CODE ? "code" : "text", (long long)o->rows, (long long)o->cols,
                       o->gamma, o->beta_a, o->beta_b);
    (void)snprintf(out, size, "%lld trials%s · seed %llu · bands: 95 %% intervals of the mean", (long long)o->trials,
                   grid, (unsigned long long)o->seed);
    if (!pess__report_has_panels(experiment)) return;
    const char *separator = " · α in theory's units: ";
    for (int64_t c = 0; c < experiment->column_count; c += o->points) { /* the first panel's curves */
        const pess_experiment_point *point = &experiment->points[c];
        if (point->epsilon != experiment->points[0].epsilon || point->transitions != experiment->points[0].transitions)
            break;
        if (isnan(point->alpha_theory)) continue;
        const size_t used = strlen(out);
        (void)snprintf(out + used, size - used, "%s× %.3g for %s", separator, point->alpha_theory / point->x,
                       point->algorithm);
        separator = ", ";
    }
}

static void member(pess__outfile *file, const char *key, const char *value) {
    pess__outfile_print(file, "  \"%s\": ", key);
    pess__outfile_json(file, value);
    pess__outfile_print(file, ",\n");
}

static void number(pess__outfile *file, const char *key, double value, const char *end) {
    pess__outfile_print(file, "    \"%s\": ", key);
    pess__outfile_json_number(file, value);
    pess__outfile_print(file, "%s\n", end);
}

static void write_settings(pess__outfile *file, const pess_experiment_options *o) {
    pess__outfile_print(file, "  \"settings\": {\n");
    pess__outfile_print(file, "    \"trials\": %lld,\n    \"points\": %lld,\n    \"seed\": %llu,\n",
                        (long long)o->trials, (long long)o->points, (unsigned long long)o->seed);
    pess__outfile_print(file, "    \"preset\": \"%s\",\n    \"rows\": %lld,\n    \"cols\": %lld,\n",
                        o->preset == PESS_PRESET_CODE ? "code" : "text", (long long)o->rows, (long long)o->cols);
    number(file, "gamma", o->gamma, ",");
    number(file, "reward_beta_a", o->beta_a, ",");
    number(file, "reward_beta_b", o->beta_b, ",");
    pess__outfile_print(file, "    \"state_dist\": \"%s\",\n    \"clip\": %s,\n",
                        o->state_dist == PESS_STATE_DIST_START ? "start" : "stationary",
                        o->clip == 1 ? "true" : "false");
    number(file, "absorbed_alpha", o->absorbed_alpha, ",");
    pess__outfile_print(file, "    \"algorithms\": ");
    pess__outfile_json(file, o->algorithms);
    pess__outfile_print(file, ",\n    \"threads\": %d\n  },\n", o->threads);
}

static void write_predictions(pess__outfile *file, const pess_experiment *e) {
    pess__outfile_print(file, "  \"predictions\": [");
    for (int64_t i = 0; i < e->prediction_count; i++) {
        const pess_prediction *row = &e->predictions[i];
        pess__outfile_print(file, "%s\n    {\"algorithm\": ", i > 0 ? "," : "");
        pess__outfile_json(file, row->algorithm);
        pess__outfile_print(file, ", \"claim\": ");
        pess__outfile_json(file, row->claim);
        const char *verdict = !row->judged ? "null" : row->holds ? "true" : "false";
        pess__outfile_print(file, ", \"holds\": %s, \"found\": ", verdict);
        pess__outfile_json(file, row->found);
        pess__outfile_print(file, "}");
    }
    pess__outfile_print(file, "\n  ],\n");
}

pess_status pess__report_manifest(const pess_experiment *e, const char *command, const char *path, pess_error *error) {
    pess__outfile *file = NULL;
    PESS_TRY(pess__outfile_open(path, &file, error));
    char note[300], when[40] = "";
    pess__report_note(e, note, sizeof note);
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL) (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    pess__outfile_print(file, "{\n");
    member(file, "format", "pess-experiment");
    member(file, "version", PESS_VERSION);
    member(file, "build", pess_build());
    member(file, "experiment", e->options.experiment);
    member(file, "title", e->kind->info.title);
    member(file, "note", note);
    member(file, "x_label", e->kind->info.x_label);
    member(file, "y_label", e->kind->info.y_label);
    member(file, "x_scale", e->kind->info.log_x ? "log" : "linear");
    member(file, "description", e->description);
    member(file, "command", command);
    write_settings(file, &e->options);
    write_predictions(file, e);
    member(file, "written", when);
    pess__outfile_print(file, "  \"seconds\": ");
    pess__outfile_json_number(file, e->seconds);
    pess__outfile_print(file, "\n}\n");
    return pess__outfile_commit(file, error);
}

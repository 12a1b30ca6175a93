#include "experiment_output.h"

#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- curves: the shape is in the figure */

static bool same_game(const pess_experiment_point *a, const pess_experiment_point *b) {
    return a->game == b->game || (a->game != NULL && b->game != NULL && strcmp(a->game, b->game) == 0);
}

static bool same_curve(const pess_experiment_point *a, const pess_experiment_point *b) {
    return strcmp(a->algorithm, b->algorithm) == 0 && b->x > a->x && same_game(a, b);
}

static void print_mean(const pess_experiment_point *p, pess_band band) {
    char text[60];
    if (band == PESS_BAND_CI95)
        (void)snprintf(text, sizeof text, "%7.4g ± %-5.2g", p->mean, p->ci95);
    else
        (void)snprintf(text, sizeof text, "%7.4g (%.3g … %.3g)", p->mean, p->min, p->max);
    int width = 0; /* characters, not bytes */
    for (const char *c = text; *c != '\0'; c++) width += ((unsigned char)*c & 0xc0) != 0x80;
    (void)printf(" %s%*s", text, width < 24 ? 24 - width : 0, "");
}

/* Where there is an optimal policy to compare with, how far below it the curve is; else its mean over the axis. */
static void print_curve(const pess_experiment *experiment, const pess_experiment_point *first,
                        const pess_experiment_point *last) {
    const pess_band band = pess_experiment_get_info(experiment)->band;
    double mean = 0, below = 0;
    for (const pess_experiment_point *p = first; p <= last; p++) {
        mean += p->mean / (double)(last - first + 1);
        below += pess_experiment_value(experiment, p, "below_optimal") / (double)(last - first + 1);
    }
    (void)printf("  %-24s", first->algorithm);
    print_mean(first, band);
    print_mean(last, band);
    (void)printf(" %10.4g\n", isnan(below) ? mean : below);
}

/* A panel's title: its game, or its dataset where there is a panel for each. */
static void print_heading(const pess_experiment *experiment, const pess_experiment_point *p, bool datasets) {
    const bool below = !isnan(pess_experiment_value(experiment, p, "below_optimal"));
    (void)puts("");
    if (p->game != NULL) (void)puts(p->game);
    if (datasets)
        (void)printf("ε = %g, %.0f transitions\n", pess_experiment_value(experiment, p, "epsilon"),
                     pess_experiment_value(experiment, p, "transitions"));
    (void)printf("  %-24s %-24s %-24s %10s\n", "algorithm", "first point", "last point",
                 below ? "below optimal" : "average");
}

/* The first algorithm's curve comes again in every panel. */
static bool begins_panel(const pess_experiment_point *points, size_t i) {
    return i == 0 || (strcmp(points[i].algorithm, points[0].algorithm) == 0 && !same_curve(&points[i - 1], &points[i]));
}

static void print_curves(const pess_experiment *experiment) {
    const pess_experiment_info *info = pess_experiment_get_info(experiment);
    size_t count = 0, panels = 0;
    const pess_experiment_point *points = pess_experiment_points(experiment, &count);
    for (size_t i = 0; i < count; i++) panels += begins_panel(points, i);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && same_curve(&points[end - 1], &points[end]);) end++;
        if (begins_panel(points, i)) print_heading(experiment, &points[i], panels > 1 && points[i].game == NULL);
        print_curve(experiment, &points[i], &points[end - 1]);
    }
    (void)printf("  (%s along %s; %s; the last column is a mean over the axis)\n", info->y_label, info->x.label,
                 info->band == PESS_BAND_CI95 ? "± 95 % half-width" : "smallest … largest of the trials");
}

/* ---- claims */

static void print_found(const pess_experiment_claim *claim, const char *indent) {
    const char *verdict = !claim->judged ? "" : claim->holds ? "holds: " : "DOES NOT HOLD: ";
    (void)printf("%s%s%s\n", indent, verdict, claim->found);
    if (claim->judged && !claim->holds && claim->reason != NULL) (void)printf("%sbecause %s\n", indent, claim->reason);
}

/* A claim with a rule stands above the games that it is judged in. */
static void print_claim(const pess_experiment_claim *claims, size_t count, size_t i) {
    for (size_t j = 0; j < i && claims[i].rule != NULL; j++)
        if (strcmp(claims[j].claim, claims[i].claim) == 0) return;
    if (claims[i].rule == NULL) {
        (void)printf("  %s: %s\n", claims[i].about, claims[i].claim);
        print_found(&claims[i], "      ");
        return;
    }
    (void)printf("\n  %s\n  %s\n", claims[i].claim, claims[i].rule);
    for (size_t j = i; j < count; j++) {
        if (strcmp(claims[j].claim, claims[i].claim) != 0) continue;
        (void)printf("    %-20s", claims[j].about);
        print_found(&claims[j], " ");
    }
}

void experiment_print(const pess_experiment *experiment) {
    size_t count = 0;
    const pess_experiment_claim *claims = pess_experiment_claims(experiment, &count);
    (void)puts(pess_experiment_description(experiment));
    print_curves(experiment);
    if (count > 0) (void)printf("\n%s:\n", pess_experiment_get_info(experiment)->findings);
    for (size_t i = 0; i < count; i++) print_claim(claims, count, i);
}

/* ---- JSON */

static void write_settings(json_writer *json, const pess_experiment *experiment) {
    pess_experiment_options options;
    pess_experiment_get_options(experiment, &options);
    const pess_setting_table *table = pess_experiment_settings_of(options.experiment);
    json_object(json, "settings");
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].name, "experiment") != 0)
            pess_json_put_setting(json, table, &options, table->rows[i].name);
    json_close(json);
}

static void write_point(json_writer *json, const pess_experiment *experiment, const pess_experiment_point *p) {
    const pess_experiment_info *info = pess_experiment_get_info(experiment);
    json_object(json, NULL);
    if (p->game != NULL) json_text(json, "game", p->game);
    json_text(json, "algorithm", p->algorithm);
    json_number(json, "x", p->x);
    json_count(json, "trials", p->trials);
    json_number(json, "mean", p->mean);
    json_number(json, "ci95", p->ci95);
    json_number(json, "min", p->min);
    json_number(json, "max", p->max);
    char column[40];
    for (const char *list = info->columns; *list != '\0'; list += *list == ' ') {
        const size_t length = strcspn(list, " ");
        (void)snprintf(column, sizeof column, "%.*s", (int)length, list);
        json_number(json, column, pess_experiment_value(experiment, p, column));
        list += length;
    }
    json_close(json);
}

static void write_claim(json_writer *json, const pess_experiment_claim *claim) {
    json_object(json, NULL);
    json_text(json, "about", claim->about);
    json_text(json, "claim", claim->claim);
    json_text(json, "rule", claim->rule);
    if (claim->judged)
        json_bool(json, "holds", claim->holds);
    else
        json_text(json, "holds", NULL);
    json_text(json, "found", claim->found);
    json_text(json, "reason", claim->reason);
    json_close(json);
}

void experiment_write_json(const char *command_name, const pess_experiment *experiment) {
    pess_experiment_options options;
    pess_experiment_get_options(experiment, &options);
    json_writer json = json_open(command_name);
    json_text(&json, "experiment", options.experiment);
    json_text(&json, "description", pess_experiment_description(experiment));
    json_text(&json, "out", options.out);
    json_number(&json, "seconds", pess_experiment_seconds(experiment));
    write_settings(&json, experiment);
    size_t count = 0;
    const pess_experiment_point *points = pess_experiment_points(experiment, &count);
    json_array(&json, "results");
    for (size_t i = 0; i < count; i++) write_point(&json, experiment, &points[i]);
    json_close(&json);
    const pess_experiment_claim *claims = pess_experiment_claims(experiment, &count);
    json_array(&json, "claims");
    for (size_t i = 0; i < count; i++) write_claim(&json, &claims[i]);
    json_close(&json);
    json_close(&json);
    json_end(&json);
}

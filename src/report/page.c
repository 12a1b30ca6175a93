/* index.html: one page that needs nothing else. The figure is drawn in the browser from the data in the page; tables
 * are there without a script. Nothing of the time or place of writing is in it. */
#include "core/memory.h"
#include "report/report.h"
#include "report/style.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* page.css and page.js, put into the library by the build */
extern const char pess__page_css[], pess__page_js[];

static void escaped(pess__outfile *file, const char *text) {
    for (const char *c = text; *c != '\0'; c++) {
        const char *entity = *c == '<'   ? "&lt;"
                             : *c == '>' ? "&gt;"
                             : *c == '&' ? "&amp;"
                             : *c == '"' ? "&quot;"
                                         : NULL;
        if (entity != NULL)
            pess__outfile_write(file, entity, strlen(entity));
        else
            pess__outfile_write(file, c, 1);
    }
}

static void tagged(pess__outfile *file, const char *tag, const char *attributes, const char *text) {
    pess__outfile_print(file, "<%s%s%s>", tag, *attributes != '\0' ? " " : "", attributes);
    escaped(file, text);
    pess__outfile_print(file, "</%s>", tag);
}

/* ---- the data */

static void write_numbers(pess__outfile *file, const char *key, const double *values, int64_t count) {
    pess__outfile_print(file, ",\"%s\":[", key);
    for (int64_t i = 0; i < count; i++) {
        if (i > 0) pess__outfile_write(file, ",", 1);
        pess__report_json_number(file, values[i]);
    }
    pess__outfile_write(file, "]", 1);
}

static void write_curve(pess__outfile *file, const pess__curve *curve) {
    const pess__style style = pess__style_of(curve->algorithm);
    pess__outfile_print(file, "{\"name\":");
    pess__outfile_json(file, curve->algorithm);
    pess__outfile_print(file, ",\"label\":");
    pess__outfile_json(file, style.label);
    pess__outfile_print(file, ",\"colour\":\"#%06x\",\"dash\":%d,\"marker\":%d", style.colour, (int)style.dash,
                        (int)style.marker);
    write_numbers(file, "x", curve->x, curve->count);
    write_numbers(file, "mean", curve->mean, curve->count);
    write_numbers(file, "ci95", curve->ci95, curve->count);
    pess__outfile_write(file, "}", 1);
}

static void write_data(pess__outfile *file, const pess__figure *figure) {
    pess__outfile_print(file, "<script type=\"application/json\" id=\"data\">{\"title\":");
    pess__outfile_json(file, figure->title);
    pess__outfile_print(file, ",\"panels\":[");
    for (int64_t p = 0; p < figure->panel_count; p++) {
        const pess__panel *panel = &figure->panels[p];
        pess__outfile_print(file, "%s{\"title\":", p > 0 ? "," : "");
        pess__outfile_json(file, panel->title);
        pess__outfile_print(file, ",\"x_label\":");
        pess__outfile_json(file, panel->x_label);
        pess__outfile_print(file, ",\"y_label\":");
        pess__outfile_json(file, panel->y_label);
        pess__outfile_print(file, ",\"log_x\":%s,\"curves\":[", panel->log_x ? "true" : "false");
        for (int64_t c = 0; c < panel->curve_count; c++) {
            if (c > 0) pess__outfile_write(file, ",", 1);
            write_curve(file, &panel->curves[c]);
        }
        pess__outfile_print(file, "]}");
    }
    pess__outfile_print(file, "]}</script>\n");
}

/* ---- tables */

static void cell(pess__outfile *file, double mean, double ci95) {
    pess__outfile_print(file, fabs(mean) >= 2 || mean == 0 ? "<td>%.2f" : "<td>%.5g", mean);
    if (!isnan(ci95)) pess__outfile_print(file, fabs(mean) >= 2 || ci95 == 0 ? " ± %.2f" : " ± %.2g", ci95);
    pess__outfile_print(file, "</td>");
}

/* Columns are algorithms, rows are x; curves of a panel share their x. `points` begins at the panel's first point. */
static void write_table(pess__outfile *file, const pess__panel *panel, const pess_experiment_point *points,
                        bool paired) {
    const int64_t rows = panel->curves[0].count;
    pess__outfile_print(file, "<div class=\"scroll\"><table><thead><tr>");
    tagged(file, "th", "", panel->x_label);
    for (int64_t c = 0; c < panel->curve_count; c++)
        tagged(file, "th", "", pess__style_of(panel->curves[c].algorithm).label);
    pess__outfile_print(file, "</tr></thead><tbody>\n");
    for (int64_t r = 0; r < rows; r++) {
        pess__outfile_print(file, "<tr><td>%.6g</td>", panel->curves[0].x[r]);
        for (int64_t c = 0; c < panel->curve_count; c++) {
            const pess_experiment_point *point = &points[c * rows + r];
            cell(file, paired ? point->regret : point->mean, paired ? point->regret_ci95 : point->ci95);
        }
        pess__outfile_print(file, "</tr>\n");
    }
    pess__outfile_print(file, "</tbody></table></div>\n");
}

static void write_tables(pess__outfile *file, const pess_experiment *e, const pess__figure *figure, bool paired) {
    int64_t first = 0;
    for (int64_t p = 0; p < figure->panel_count; p++) {
        const pess__panel *panel = &figure->panels[p];
        if (figure->panel_count > 1) {
            pess__outfile_print(file, "<details><summary>");
            escaped(file, panel->title);
            pess__outfile_print(file, "</summary>\n");
        }
        write_table(file, panel, e->points + first, paired);
        if (figure->panel_count > 1) pess__outfile_print(file, "</details>\n");
        first += panel->curve_count * panel->curves[0].count;
    }
}

static void write_predictions(pess__outfile *file, const pess_experiment *e) {
    if (e->prediction_count == 0) return;
    const bool judged = e->predictions[0].judged;
    tagged(file, "h2", "", e->kind->info.findings);
    pess__outfile_print(file,
                        "\n<div class=\"scroll\"><table id=\"predictions\"><thead><tr><th>About</th><th>%s</th>"
                        "<th>Found</th>%s</tr></thead><tbody>\n",
                        judged ? "Prediction" : "What", judged ? "<th>Holds</th>" : "");
    for (int64_t i = 0; i < e->prediction_count; i++) {
        const pess_prediction *row = &e->predictions[i];
        pess__outfile_print(file, "<tr>");
        tagged(file, "td", "", pess__style_of(row->algorithm).label);
        tagged(file, "td", "", row->claim);
        tagged(file, "td", "", row->found);
        if (row->judged)
            pess__outfile_print(file, row->holds ? "<td><span class=\"yes\">✓ yes</span>"
                                                 : "<td><span class=\"no\">✗ no</span>");
        if (row->judged && !row->holds && row->reason != NULL) {
            pess__outfile_print(file, "<br>");
            escaped(file, row->reason);
        }
        pess__outfile_print(file, row->judged ? "</td></tr>\n" : "</tr>\n");
    }
    pess__outfile_print(file, "</tbody></table></div>\n");
}

static void write_head(pess__outfile *file, const pess_experiment *e) {
    pess__outfile_print(file, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                              "<link rel=\"icon\" href=\"data:,\">\n");
    tagged(file, "title", "", e->kind->info.title);
    pess__outfile_print(file, "\n<style>\n");
    pess__outfile_write(file, pess__page_css, strlen(pess__page_css));
    pess__outfile_print(file, "</style>\n</head>\n<body>\n<header><div>");
    tagged(file, "h1", "", e->kind->info.title);
    char note[300];
    pess__report_note(e, note, sizeof note);
    tagged(file, "p", "class=\"note\"", note);
    pess__outfile_print(file, "</div><button id=\"theme\" type=\"button\">Light / dark</button></header>\n");
}

static void write_rest(pess__outfile *file, const pess_experiment *e, const pess__figure *figure, const char *command) {
    pess__outfile_print(file, "<h2>What was run</h2>\n");
    tagged(file, "p", "", e->description);
    pess__outfile_print(file, "<p>Every trial gives all algorithms the same world and the same dataset.</p>\n");
    write_predictions(file, e);
    pess__outfile_print(file, "<h2>Table: mean ± 95 %% half-width</h2>\n");
    write_tables(file, e, figure, false);
    pess__outfile_print(file, "<h2>Table: paired difference, optimal minus algorithm</h2>\n");
    write_tables(file, e, figure, true);
    pess__outfile_print(file, "<h2>To repeat it</h2>\n");
    tagged(file, "pre", "", command);
    pess__outfile_print(
        file,
        "\n<p class=\"note\">Beside this page: <a href=\"results.csv\">results.csv</a>, "
        "<a href=\"paired.csv\">paired.csv</a>, <a href=\"trials.csv.gz\">trials.csv.gz</a>, "
        "<a href=\"figure.svg\">figure.svg</a>, <a href=\"figure.png\">figure.png</a>, "
        "<a href=\"figure.pdf\">figure.pdf</a>, <a href=\"manifest.json\">manifest.json</a>. Pessimist %s.</p>\n",
        PESS_VERSION);
}

pess_status pess__report_page(const pess_experiment *e, const char *command, const char *path, pess_error *error) {
    pess__figure figure = {0};
    pess__outfile *file = NULL;
    pess_status status = pess__report_figure(e, &figure, error);
    if (status == PESS_OK) status = pess__outfile_open(path, &file, error);
    if (status == PESS_OK) {
        write_head(file, e);
        pess__outfile_print(file, "<div id=\"legend\" role=\"group\" aria-label=\"Curves\"></div>\n<div id=\"plots\">"
                                  "</div>\n<noscript><p><img src=\"figure.svg\" alt=\"the figure\"></p></noscript>\n");
        write_rest(file, e, &figure, command);
        write_data(file, &figure);
        pess__outfile_print(file, "<script>\n");
        pess__outfile_write(file, pess__page_js, strlen(pess__page_js));
        pess__outfile_print(file, "</script>\n</body>\n</html>\n");
        status = pess__outfile_commit(file, error);
    }
    pess__figure_release(&figure);
    return status;
}

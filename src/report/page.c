/* index.html: one page that needs nothing else. The figure is drawn in the browser from the data in the page; tables
 * are there without a script. Nothing of the time or place of writing is in it. */
#include "report/html.h"
#include "report/report.h"
#include "report/style.h"

#include <math.h>

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
    pess__html_tag(file, "th", "", panel->x_label);
    for (int64_t c = 0; c < panel->curve_count; c++)
        pess__html_tag(file, "th", "", pess__style_of(panel->curves[c].algorithm).label);
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
            pess__html_text(file, panel->title);
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
    pess__html_tag(file, "h2", "", e->kind->info.findings);
    pess__outfile_print(
        file,
        "\n<div class=\"scroll\"><table id=\"predictions\" class=\"verdicts\"><thead><tr><th>About</th><th>%s</th>"
        "<th>Found</th>%s</tr></thead><tbody>\n",
        judged ? "Prediction" : "What", judged ? "<th>Holds</th>" : "");
    for (int64_t i = 0; i < e->prediction_count; i++) {
        const pess_prediction *row = &e->predictions[i];
        pess__outfile_print(file, "<tr>");
        pess__html_tag(file, "td", "", pess__style_of(row->algorithm).label);
        pess__html_tag(file, "td", "", row->claim);
        pess__html_tag(file, "td", "", row->found);
        if (row->judged)
            pess__outfile_print(file, row->holds ? "<td><span class=\"yes\">✓ yes</span>"
                                                 : "<td><span class=\"no\">✗ no</span>");
        if (row->judged && !row->holds && row->reason != NULL) {
            pess__outfile_print(file, "<br>");
            pess__html_text(file, row->reason);
        }
        pess__outfile_print(file, row->judged ? "</td></tr>\n" : "</tr>\n");
    }
    pess__outfile_print(file, "</tbody></table></div>\n");
}

static void write_rest(pess__outfile *file, const pess_experiment *e, const pess__figure *figure, const char *command) {
    pess__outfile_print(file, "<h2>What was run</h2>\n");
    pess__html_tag(file, "p", "", e->description);
    pess__outfile_print(file, "<p>Every trial gives all algorithms the same world and the same dataset.</p>\n");
    write_predictions(file, e);
    pess__outfile_print(file, "<h2>Table: mean ± 95 %% half-width</h2>\n");
    write_tables(file, e, figure, false);
    pess__outfile_print(file, "<h2>Table: paired difference, optimal minus algorithm</h2>\n");
    write_tables(file, e, figure, true);
    pess__outfile_print(file, "<h2>To repeat it</h2>\n");
    pess__html_tag(file, "pre", "", command);
    pess__outfile_print(
        file,
        "\n<p class=\"note\">Beside this page: <a href=\"results.csv\">results.csv</a>, "
        "<a href=\"paired.csv\">paired.csv</a>, <a href=\"trials.csv.gz\">trials.csv.gz</a>, "
        "<a href=\"figure.svg\">figure.svg</a>, <a href=\"figure.png\">figure.png</a>, "
        "<a href=\"figure.pdf\">figure.pdf</a>, <a href=\"manifest.json\">manifest.json</a>. Pessimist %s.</p>\n",
        pess_build());
}

pess_status pess__report_page(const pess_experiment *e, const char *command, const char *path, pess_error *error) {
    pess__figure figure = {0};
    pess__outfile *file = NULL;
    pess_status status = pess__report_figure(e, &figure, error);
    if (status == PESS_OK) status = pess__outfile_open(path, &file, error);
    if (status == PESS_OK) {
        pess__html_begin(file, &figure);
        write_rest(file, e, &figure, command);
        pess__html_end(file, &figure, NULL);
        status = pess__outfile_commit(file, error);
    }
    pess__figure_release(&figure);
    return status;
}

/* The page about cells: are they good states, does the answer depend on them, what they are, how to repeat it. One
 * file, no script, nothing loaded. */
#include "core/settings.h"
#include "report/html.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_CELLS = 200 };

static const char css[] = ".good{color:#2a7d46}.bad{color:#b3382c}td.number,th.number{text-align:right}"
                          "table{border-collapse:collapse}td,th{padding:.2em .8em;text-align:left}\n";

/* E as a number that can be read: "3.2", "10^41". */
static const char *evidence_text(double log_evidence, char *text, size_t size) {
    if (fabs(log_evidence) < 12)
        (void)snprintf(text, size, "%.3g", exp(log_evidence));
    else
        (void)snprintf(text, size, "10^%.0f", log_evidence / log(10));
    return text;
}

static void write_verdict(pess__outfile *out, const pess_markov *m) {
    char e[32], limit[32];
    (void)evidence_text(m->log_evidence, e, sizeof e);
    (void)evidence_text(-log(m->error_probability), limit, sizeof limit);
    pess__outfile_print(out, "<h2>Are the cells good states?</h2>\n");
    if (m->flagged)
        pess__outfile_print(
            out,
            "<p class=\"bad\"><strong>No.</strong> The cell before helps to predict what follows, even when the "
            "present cell is known: evidence %s, and %s is enough. Cells that are Markov are flagged like this with "
            "probability %g at most.</p>\n",
            e, limit, m->error_probability);
    else
        pess__outfile_print(out,
                            "<p class=\"good\"><strong>No evidence against it.</strong> The cell before was not "
                            "shown to help predict what follows once the present cell is known: evidence %s, and %s "
                            "would be enough. That is no proof: with more episodes, or a look farther back, it may "
                            "fail.</p>\n",
                            e, limit);
    pess__outfile_print(
        out, "<p>Certificates that rest on a model of the cells hold <em>if the cells are Markov</em>. Those "
             "for whole episodes do not need it.</p>\n");
}

static void write_side(pess__outfile *out, const char *what, const pess_markov_side *side) {
    char e[32];
    pess__outfile_print(out,
                        "<tr><td>%s</td><td class=\"number\">%.4f</td><td class=\"number\">%.4f</td>"
                        "<td class=\"number\">%s</td></tr>\n",
                        what, side->bits_one, side->bits_two, evidence_text(side->log_evidence, e, sizeof e));
}

static void write_markov(pess__outfile *out, const pess_markov *m) {
    write_verdict(out, m);
    pess__outfile_print(
        out, "<table><tr><th>bits per row to predict</th><th class=\"number\">given this cell and action</th>"
             "<th class=\"number\">and the cell before</th><th class=\"number\">evidence</th></tr>\n");
    write_side(out, "the next cell, or the end", &m->next);
    write_side(out, "the reward", &m->reward);
    pess__outfile_print(
        out,
        "</table>\n<p class=\"note\">On %lld rows of %lld episodes that did not make the cells. Evidence is "
        "the likelihood by a forecaster who knows the cell before, divided by the largest one that is "
        "possible without it; its mean is at most 1 if the cells are Markov, whatever policy made the "
        "log.</p>\n",
        (long long)m->rows, (long long)m->episodes);
}

static void write_trials(pess__outfile *out, const pess_cells_page *page) {
    pess__outfile_print(out, "<h2>Does the answer depend on the cells?</h2>\n<p>Policies by ");
    pess__html_text(out, page->algorithm);
    pess__outfile_print(
        out,
        " (discount %g) from the episodes held out, with other starts and other numbers of cells, made of "
        "the same episodes.</p>\n<table><tr><th class=\"number\">cells</th><th class=\"number\">seed</th>"
        "<th class=\"number\">value</th><th class=\"number\">at face value</th><th class=\"number\">same "
        "action as the first</th></tr>\n",
        page->gamma);
    double least = 1;
    for (int64_t i = 0; i < page->trial_count; i++) {
        const pess_cells_trial *t = &page->trials[i];
        least = t->agreement < least ? t->agreement : least;
        pess__outfile_print(
            out,
            "<tr><td class=\"number\">%lld</td><td class=\"number\">%llu</td><td class=\"number\">%.5g</td>"
            "<td class=\"number\">%.5g</td><td class=\"number\">%.1f&nbsp;%%</td></tr>\n",
            (long long)t->cells, (unsigned long long)t->seed, t->value, t->naive_value, 100 * t->agreement);
    }
    pess__outfile_print(
        out,
        "</table>\n<p>At %.1f&nbsp;%% of the held-out rows or more, every one of these policies does the "
        "same as the first.</p>\n",
        100 * least);
}

static void write_columns(pess__outfile *out, const pess_map *map, const pess_map_info *info) {
    static const char *const rules[] = {"refused", "the median", "a value", "the median, and a measurement of its own"};
    pess__outfile_print(out,
                        "<h2>The measurements</h2>\n<table><tr><th>column</th><th class=\"number\">median</th><th "
                        "class=\"number\">scale</th><th class=\"number\">least</th><th class=\"number\">most</th><th "
                        "class=\"number\">missing</th><th>a missing one is</th></tr>\n");
    for (int64_t f = 0; f < info->features; f++) {
        pess_map_column c;
        pess_map_get_column(map, f, &c);
        pess__outfile_print(out, "<tr>");
        pess__html_tag(out, "td", "", c.name);
        const double numbers[] = {c.middle, c.scale, c.low, c.high, (double)c.missing_rows};
        for (int i = 0; i < 5; i++) pess__outfile_print(out, "<td class=\"number\">%.5g</td>", numbers[i]);
        pess__outfile_print(out, "<td>%s</td></tr>\n", rules[c.missing]);
    }
    pess__outfile_print(
        out,
        "</table>\n<p class=\"note\">Standardised: (x − median) / scale, where scale is the distance of the "
        "quartiles divided by 1.349; cut off at %g.</p>\n",
        info->clip);
}

static void write_cells(pess__outfile *out, const pess_map *map, const pess_map_info *info) {
    pess__outfile_print(out,
                        "<h2>The cells</h2>\n<table><tr><th class=\"number\">cell</th><th class=\"number\">rows</th>"
                        "<th>what is in it</th></tr>\n");
    for (int64_t c = 0; c < info->cells && c < MOST_CELLS; c++) {
        char text[600];
        pess_map_describe(map, c, text, sizeof text);
        pess__outfile_print(out, "<tr><td class=\"number\">%lld</td><td class=\"number\">%lld</td>", (long long)c,
                            (long long)pess_map_cell_rows(map, c));
        pess__html_tag(out, "td", "", text);
        pess__outfile_print(out, "</tr>\n");
    }
    pess__outfile_print(out, "</table>\n");
    if (info->cells > MOST_CELLS)
        pess__outfile_print(out, "<p class=\"note\">%lld more are not shown.</p>\n",
                            (long long)(info->cells - MOST_CELLS));
}

static void write_page(pess__outfile *out, const pess_cells_page *page) {
    pess_map_info info;
    pess_map_get_info(page->map, &info);
    pess__html_head(out, "Cells", css);
    pess__outfile_print(out, "<header><div>");
    pess__html_tag(out, "h1", "", "States made of measurements");
    pess__outfile_print(out, "<p class=\"note\">%lld cells by %s from %lld rows of %lld episodes of ",
                        (long long)info.cells, info.method, (long long)info.rows, (long long)info.episodes);
    pess__html_text(out, info.source);
    pess__outfile_print(out, "</p></div></header>\n");
    write_markov(out, page->markov);
    write_trials(out, page);
    write_columns(out, page->map, &info);
    write_cells(out, page->map, &info);
    pess__outfile_print(out, "<h2>How to repeat it</h2>\n");
    if (page->command != NULL) pess__html_tag(out, "pre", "", page->command);
    pess__outfile_print(out,
                        "<p class=\"note\">Pessimist %s; an episode made the cells where the hash of its name with "
                        "the split seed %llu is below the share %g.</p>\n</body>\n</html>\n",
                        info.version, (unsigned long long)info.split_seed, info.share);
}

pess_status pess_cells_write_page(const pess_cells_page *page, const char *directory, pess_error *error) {
    char path[4200];
    PESS_TRY(pess__check_struct("the page", page, sizeof *page, error));
    if (snprintf(path, sizeof path, "%s/index.html", directory) >= (int)sizeof path)
        return pess__fail(error, PESS_ARGUMENT, "%.200s…: the name is too long", directory);
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return pess__fail(error, PESS_IO, "%s: cannot be created: %s", directory, strerror(errno));
    pess__outfile *out = NULL;
    PESS_TRY(pess__outfile_open(path, &out, error));
    write_page(out, page);
    return pess__outfile_commit(out, error);
}

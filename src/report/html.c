/* What the pages share: text that is safe, and figures drawn in the browser from the data in the page. */
#include "report/html.h"

#include "core/json_writer.h"
#include "report/style.h"

#include <stdio.h>
#include <string.h>

/* page.css and page.js, put into the library by the build */
extern const char pess__page_css[], pess__page_js[], pess__page_js_sha256[];

void pess__html_text(pess__outfile *file, const char *text) {
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

void pess__html_tag(pess__outfile *file, const char *tag, const char *attributes, const char *text) {
    pess__outfile_print(file, "<%s%s%s>", tag, *attributes != '\0' ? " " : "", attributes);
    pess__html_text(file, text);
    pess__outfile_print(file, "</%s>", tag);
}

/* ---- the data */

static void write_numbers(pess_json_writer *json, const char *key, const double *values, int64_t count) {
    pess_json_open_array(json, key);
    for (int64_t i = 0; i < count; i++) pess_json_put_number(json, NULL, values[i]);
    pess_json_close(json);
}

static void write_curve(pess_json_writer *json, const pess__curve *curve) {
    const pess__style style = pess__style_of(curve->algorithm);
    char colour[16];
    (void)snprintf(colour, sizeof colour, "#%06x", style.colour);
    pess_json_open_object(json, NULL);
    pess_json_put_text(json, "name", curve->algorithm);
    pess_json_put_text(json, "label", style.label);
    pess_json_put_text(json, "colour", colour);
    pess_json_put_count(json, "dash", style.dash);
    pess_json_put_count(json, "marker", style.marker);
    pess_json_put_bool(json, "thin", style.thin);
    write_numbers(json, "x", curve->x, curve->count);
    write_numbers(json, "mean", curve->mean, curve->count);
    write_numbers(json, "lo", curve->lo, curve->count);
    write_numbers(json, "hi", curve->hi, curve->count);
    pess_json_close(json);
}

static void write_panel(pess_json_writer *json, const pess__panel *panel, int group) {
    pess_json_open_object(json, NULL);
    pess_json_put_text(json, "title", panel->title);
    pess_json_put_text(json, "x_label", panel->x_label);
    pess_json_put_text(json, "y_label", panel->y_label);
    pess_json_put_bool(json, "log_x", panel->log_x);
    pess_json_put_bool(json, "range", panel->range);
    pess_json_put_count(json, "group", group);
    pess_json_open_array(json, "curves");
    for (int64_t c = 0; c < panel->curve_count; c++) write_curve(json, &panel->curves[c]);
    pess_json_close(json);
    pess_json_close(json);
}

static void write_data(pess__outfile *file, const pess__figure *figure, const pess__figure *second) {
    const pess__figure *const figures[] = {figure, second};
    pess__outfile_print(file, "<script type=\"application/json\" id=\"data\">");
    pess_json_writer json = pess__json_begin(file, PESS_JSON_PACKED);
    pess_json_open_object(&json, NULL);
    pess_json_put_text(&json, "title", figure->title);
    pess_json_open_array(&json, "panels");
    for (int group = 0; group < 2; group++)
        for (int64_t p = 0; figures[group] != NULL && p < figures[group]->panel_count; p++)
            write_panel(&json, &figures[group]->panels[p], group);
    pess_json_close(&json);
    pess_json_close(&json);
    pess__outfile_print(file, "</script>\n");
}

/* ---- the page around it */

/* Names in a page come from files. Nothing is loaded but pictures beside the page, and the one script that runs is
 * ours, known by its digest. */
static void write_policy(pess__outfile *file) {
    pess__outfile_print(
        file,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src 'self' data:; "
        "style-src 'unsafe-inline'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n",
        pess__page_js_sha256);
}

void pess__html_head(pess__outfile *file, const char *title, const char *more_css) {
    pess__outfile_print(file, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                              "<link rel=\"icon\" href=\"data:,\">\n");
    write_policy(file);
    pess__html_tag(file, "title", "", title);
    pess__outfile_print(file, "\n<style>\n");
    pess__outfile_write(file, pess__page_css, strlen(pess__page_css));
    pess__outfile_write(file, more_css, strlen(more_css));
    pess__outfile_print(file, "</style>\n</head>\n<body>\n");
}

void pess__html_begin(pess__outfile *file, const pess__figure *figure) {
    pess__html_head(file, figure->title, "");
    pess__outfile_print(file, "<header><div>");
    pess__html_tag(file, "h1", "", figure->title);
    pess__html_tag(file, "p", "class=\"note\"", figure->note);
    pess__outfile_print(file, "</div><button id=\"theme\" type=\"button\">Light / dark</button></header>\n");
    pess__html_plots(file, 0);
    pess__outfile_print(file, "<noscript><p><img src=\"figure.svg\" alt=\"the figure\"></p></noscript>\n");
}

void pess__html_plots(pess__outfile *file, int group) {
    const char *suffix = group == 0 ? "" : "-second";
    pess__outfile_print(file,
                        "<div id=\"legend%s\" class=\"legend\" role=\"group\" aria-label=\"Curves\"></div>\n"
                        "<div id=\"plots%s\" class=\"plots\"></div>\n",
                        suffix, suffix);
}

void pess__html_end(pess__outfile *file, const pess__figure *figure, const pess__figure *second) {
    write_data(file, figure, second);
    pess__outfile_print(file, "<script>");
    pess__outfile_write(file, pess__page_js, strlen(pess__page_js));
    pess__outfile_print(file, "</script>\n</body>\n</html>\n");
}

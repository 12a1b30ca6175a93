/* What the pages share: text that is safe, and figures drawn in the browser from the data in the page. */
#include "report/html.h"

#include "report/style.h"

#include <string.h>

/* page.css and page.js, put into the library by the build */
extern const char pess__page_css[], pess__page_js[];

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

static void write_numbers(pess__outfile *file, const char *key, const double *values, int64_t count) {
    pess__outfile_print(file, ",\"%s\":[", key);
    for (int64_t i = 0; i < count; i++) {
        if (i > 0) pess__outfile_write(file, ",", 1);
        pess__outfile_json_number(file, values[i]);
    }
    pess__outfile_write(file, "]", 1);
}

static void write_curve(pess__outfile *file, const pess__curve *curve) {
    const pess__style style = pess__style_of(curve->algorithm);
    pess__outfile_print(file, "{\"name\":");
    pess__outfile_json(file, curve->algorithm);
    pess__outfile_print(file, ",\"label\":");
    pess__outfile_json(file, style.label);
    pess__outfile_print(file, ",\"colour\":\"#%06x\",\"dash\":%d,\"marker\":%d,\"thin\":%s", style.colour,
                        (int)style.dash, (int)style.marker, style.thin ? "true" : "false");
    write_numbers(file, "x", curve->x, curve->count);
    write_numbers(file, "mean", curve->mean, curve->count);
    write_numbers(file, "lo", curve->lo, curve->count);
    write_numbers(file, "hi", curve->hi, curve->count);
    pess__outfile_write(file, "}", 1);
}

static void write_panel(pess__outfile *file, const pess__panel *panel, int group) {
    pess__outfile_print(file, "{\"title\":");
    pess__outfile_json(file, panel->title);
    pess__outfile_print(file, ",\"x_label\":");
    pess__outfile_json(file, panel->x_label);
    pess__outfile_print(file, ",\"y_label\":");
    pess__outfile_json(file, panel->y_label);
    pess__outfile_print(file, ",\"log_x\":%s,\"range\":%s,\"group\":%d,\"curves\":[", panel->log_x ? "true" : "false",
                        panel->range ? "true" : "false", group);
    for (int64_t c = 0; c < panel->curve_count; c++) {
        if (c > 0) pess__outfile_write(file, ",", 1);
        write_curve(file, &panel->curves[c]);
    }
    pess__outfile_print(file, "]}");
}

static void write_data(pess__outfile *file, const pess__figure *figure, const pess__figure *second) {
    const pess__figure *const figures[] = {figure, second};
    const char *separator = "";
    pess__outfile_print(file, "<script type=\"application/json\" id=\"data\">{\"title\":");
    pess__outfile_json(file, figure->title);
    pess__outfile_print(file, ",\"panels\":[");
    for (int group = 0; group < 2; group++)
        for (int64_t p = 0; figures[group] != NULL && p < figures[group]->panel_count; p++) {
            pess__outfile_print(file, "%s", separator);
            write_panel(file, &figures[group]->panels[p], group);
            separator = ",";
        }
    pess__outfile_print(file, "]}</script>\n");
}

/* ---- the page around it */

void pess__html_head(pess__outfile *file, const char *title, const char *more_css) {
    pess__outfile_print(file, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                              "<link rel=\"icon\" href=\"data:,\">\n");
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
    pess__outfile_print(file, "<script>\n");
    pess__outfile_write(file, pess__page_js, strlen(pess__page_js));
    pess__outfile_print(file, "</script>\n</body>\n</html>\n");
}

/* Figures of a deep experiment, a panel per game. */
#include "report/games.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void pess__game_title(const char *game, char *out, size_t size) {
    (void)snprintf(out, size, "%s", game);
    for (char *c = out; *c != '\0'; c++)
        if (*c == '_') *c = ' ';
    *out = (char)toupper((unsigned char)*out);
}

/* The game's panel, begun where it is new: points come game after game. */
static pess_status panel_of(pess__figure *figure, const pess_minatar *m, const char *game, const char *y_label,
                            pess__panel **out, pess_error *error) {
    char title[160];
    pess__game_title(game, title, sizeof title);
    *out = figure->panel_count > 0 ? &figure->panels[figure->panel_count - 1] : NULL;
    if (*out != NULL && strcmp((*out)->title, title) == 0) return PESS_OK;
    PESS_TRY(pess__figure_add_panel(figure, out, error));
    (void)snprintf((*out)->title, sizeof(*out)->title, "%s", title);
    (void)snprintf((*out)->x_label, sizeof(*out)->x_label, "%s", m->info->x_label);
    (void)snprintf((*out)->y_label, sizeof(*out)->y_label, "%s", y_label);
    (*out)->log_x = m->info->log_x;
    (*out)->range = true;
    return PESS_OK;
}

pess_status pess__games_figure(const pess_minatar *m, pess__figure *out, pess_error *error) {
    (void)snprintf(out->title, sizeof out->title, "%s", m->info->title);
    pess__games_note(m, out->note, sizeof out->note);
    for (size_t i = 0; i < m->point_count; i++) {
        const pess_minatar_point *p = &m->points[i];
        pess__panel *panel = NULL;
        PESS_TRY(panel_of(out, m, p->game, m->info->y_label, &panel, error));
        PESS_TRY(pess__panel_add_band(panel, p->algorithm, p->x, p->mean, p->min, p->max, error));
    }
    return PESS_OK;
}

pess_status pess__games_overestimation(const pess_minatar *m, pess__figure *out, pess_error *error) {
    (void)snprintf(out->title, sizeof out->title, "Predicted and obtained");
    for (size_t i = 0; i < m->point_count; i++) {
        const pess_minatar_point *p = &m->points[i];
        pess__panel *panel = NULL;
        char name[80];
        if (isnan(p->predicted) || isnan(p->obtained)) continue;
        PESS_TRY(panel_of(out, m, p->game, "discounted return", &panel, error));
        (void)snprintf(name, sizeof name, "%s-predicted", p->algorithm);
        PESS_TRY(pess__panel_add_band(panel, name, p->x, p->predicted, NAN, NAN, error));
        (void)snprintf(name, sizeof name, "%s-obtained", p->algorithm);
        PESS_TRY(pess__panel_add_band(panel, name, p->x, p->obtained, NAN, NAN, error));
    }
    return PESS_OK;
}

/* The algorithms of an experiment with games: from words "NAME" and "NAME:ALPHA" to curves and the folders of their
 * runs. */
#include "core/text.h"
#include "experiment/games.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool pess__games_is_imitation(const pess__games *m, int curve) {
    return strcmp(m->curves[curve].learner->name, "imitation") == 0;
}

bool pess__games_imitates(const pess__games *m, const pess_learner_info *learner) {
    return learner->imitation || (m->protocol.settle && pess_setting_listed(learner->settings, "imitation"));
}

static pess_status unknown_learner(const char *word, pess_error *error) {
    char known[300] = "";
    const pess_learner_info *learner;
    for (size_t i = 0; (learner = pess_learner_list(i)) != NULL; i++)
        pess__list_append(known, sizeof known, learner->name);
    return pess__fail(error, PESS_ARGUMENT, "algorithms: found '%s', expected some of %s, each NAME or NAME:ALPHA",
                      word, known);
}

/* `given`, which stood behind the colon of `word`. */
static pess_status read_alpha(const pess_learner_info *learner, const char *word, const char *given, double *out,
                              pess_error *error) {
    const pess_setting *knob = learner->knobs != NULL ? pess_setting_find(learner->knobs, "absorbed-alpha") : NULL;
    if (knob == NULL)
        return pess__fail(error, PESS_ARGUMENT, "algorithms: %s has no α, found '%s:%s'", word, word, given);
    if (!pess__parse_double(given, given + strlen(given), out) || !(*out >= 0 && isfinite(*out)))
        return pess__fail(error, PESS_ARGUMENT, "algorithms: found '%s:%s', expected an α of 0 or more", word, given);
    if (*out > knob->most)
        return pess__fail(error, PESS_ARGUMENT, "algorithms: found '%s:%s', expected an α from 0 to %g", word, given,
                          knob->most);
    return PESS_OK;
}

/* A curve is named by its learner, whatever word found it: "ua" and "ua-counts" are the same curve. */
static pess_status add_curve(pess__games *m, char *word, bool *alpha_given, pess_error *error) {
    char *colon = strchr(word, ':');
    if (colon != NULL) *colon = '\0';
    pess__games_curve curve = {.learner = pess_learner_find(word), .shown = true};
    if (curve.learner == NULL) return unknown_learner(word, error);
    curve.alpha = pess_learner_alpha(curve.learner);
    if (colon != NULL) PESS_TRY(read_alpha(curve.learner, word, colon + 1, &curve.alpha, error));
    const char *name = curve.learner->name;
    char number[PESS__NUMBER_SIZE];
    (void)pess__format_double(curve.alpha, number);
    if (strlen(name) + strlen(number) + 2 > sizeof curve.folder || m->curve_count + 1 >= PESS__GAMES_CURVES)
        return pess__fail(error, PESS_ARGUMENT, "algorithms: no room for %s: at most %d, added controls included", name,
                          PESS__GAMES_CURVES - 1);
    (void)snprintf(curve.name, sizeof curve.name, "%s", name);
    (void)snprintf(curve.folder, sizeof curve.folder, isnan(curve.alpha) ? "%s" : "%s-%s", name, number);
    for (int i = 0; i < m->curve_count; i++)
        if (strcmp(m->curves[i].folder, curve.folder) == 0)
            return pess__fail(error, PESS_ARGUMENT, "algorithms: %s is named twice", curve.folder);
    alpha_given[m->curve_count] = colon != NULL;
    m->curves[m->curve_count++] = curve;
    return PESS_OK;
}

/* "NAME-ALPHA" where α was given, or where the algorithm is there with more than one. */
static void name_curves(pess__games *m, const bool *alpha_given) {
    for (int i = 0; i < m->curve_count; i++) {
        bool several = false;
        for (int j = 0; j < m->curve_count; j++) several |= j != i && m->curves[j].learner == m->curves[i].learner;
        if (alpha_given[i] || several) memcpy(m->curves[i].name, m->curves[i].folder, sizeof m->curves[i].name);
    }
}

/* The imitation network comes first: the others may need it. */
static void put_imitation_first(pess__games *m) {
    int at = 0;
    bool needed = false;
    while (at < m->curve_count && strcmp(m->curves[at].learner->name, "imitation") != 0) at++;
    for (int i = 0; i < m->curve_count; i++) needed |= pess__games_imitates(m, m->curves[i].learner);
    pess__games_curve first = {.learner = pess_learner_find("imitation"), .alpha = NAN, .folder = "imitation"};
    if (at < m->curve_count)
        first = m->curves[at];
    else if (needed && first.learner != NULL)
        m->curve_count++;
    else
        return;
    memcpy(first.name, first.folder, sizeof first.name);
    memmove(m->curves + 1, m->curves, (size_t)at * sizeof *m->curves);
    m->curves[0] = first;
}

/* What an uncertainty-aware learner is to be seen beside: much of its gain may be had without its values. */
static pess_status add_controls(pess__games *m, char *list, size_t size, bool *alpha_given, pess_error *error) {
    static const char *const controls[] = {"imitation", "proximal", "counts-alone"};
    bool wanted = false;
    for (int i = 0; i < m->curve_count; i++)
        wanted |= m->curves[i].learner->values && m->curves[i].learner->uncertainty != NULL;
    for (size_t k = 0; wanted && k < sizeof controls / sizeof controls[0]; k++) {
        bool found = false;
        for (int i = 0; i < m->curve_count; i++) found |= strcmp(m->curves[i].learner->name, controls[k]) == 0;
        if (found) continue;
        char word[20];
        (void)snprintf(word, sizeof word, "%s", controls[k]);
        if (strlen(list) + sizeof word >= size)
            return pess__fail(error, PESS_ARGUMENT, "algorithms: no room for the control %s in the list", word);
        PESS_TRY(add_curve(m, word, alpha_given, error));
        pess__list_append(list, size, controls[k]);
    }
    return PESS_OK;
}

pess_status pess__games_plan_curves(pess__games *m, pess_error *error) {
    bool alpha_given[PESS__GAMES_CURVES] = {false};
    pess__list words = {.rest = NULL};
    PESS_TRY(pess__list_begin(&words, "algorithms", m->options->algorithms, error));
    for (char *word; (word = pess__list_next(&words)) != NULL;) PESS_TRY(add_curve(m, word, alpha_given, error));
    char list[PESS__GAMES_LIST];
    (void)snprintf(list, sizeof list, "%s", m->options->algorithms);
    if (m->options->controls == 1) PESS_TRY(add_controls(m, list, sizeof list, alpha_given, error));
    name_curves(m, alpha_given);
    put_imitation_first(m);
    return pess__experiment_set_text(m->experiment, "algorithms", list, error);
}

#include "report/style.h"

#include "core/text.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Hues after Okabe & Ito (2008), which people with any kind of colour vision tell apart, darkened or lightened until
 * they read on white and on dark alike. */
static const pess__style table[] = {
    {"random", "Random", 0x8A8A8A, PESS__DASH_DOTS, PESS__MARKER_NONE},
    {"optimal", "Optimal", 0x777777, PESS__DASH_LONG, PESS__MARKER_NONE},
    {"imitation", "Imitation", 0xC98500, PESS__DASH_SOLID, PESS__MARKER_SQUARE},
    {"naive", "Naïve", 0xD55E00, PESS__DASH_SOLID, PESS__MARKER_DOWN},
    {"ua", "Uncertainty-aware", 0x1F77C9, PESS__DASH_SOLID, PESS__MARKER_CIRCLE},
    {"proximal", "Proximal", 0x009E73, PESS__DASH_SOLID, PESS__MARKER_DIAMOND},
    {"robust", "Robust", 0xB8629A, PESS__DASH_SOLID, PESS__MARKER_UP},
    {"spibb", "SPIBB", 0x7F6BD9, PESS__DASH_SOLID, PESS__MARKER_SQUARE},
    {"spibb-leq", "SPIBB ≤b", 0x7F6BD9, PESS__DASH_SHORT, PESS__MARKER_SQUARE},
    {"soft-spibb", "Soft-SPIBB", 0x7F6BD9, PESS__DASH_DOTS, PESS__MARKER_SQUARE},
    {"ua:hoeffding-s", "UA, state-wise", 0x3A9BD0, PESS__DASH_SHORT, PESS__MARKER_CIRCLE},
    {"proximal-0.25", "Proximal α = 0.25", 0x009E73, PESS__DASH_SOLID, PESS__MARKER_DIAMOND},
    {"proximal-0.5", "Proximal α = 0.5", 0x5F8F3A, PESS__DASH_SHORT, PESS__MARKER_DIAMOND},
    {"proximal-1", "Proximal α = 1", 0x7A9A2E, PESS__DASH_SHORT, PESS__MARKER_DIAMOND},
    {"ua-imitation", "UA, imitation", 0x1F77C9, PESS__DASH_SOLID, PESS__MARKER_CIRCLE},
    {"ua-counts", "UA, counts", 0x3A9BD0, PESS__DASH_SHORT, PESS__MARKER_CIRCLE},
    {"ua-elliptical", "UA, elliptical", 0x1F77C9, PESS__DASH_LONG, PESS__MARKER_CIRCLE},
    {"ua-imitation-counts", "UA, imitation and counts", 0x1F77C9, PESS__DASH_SHORT, PESS__MARKER_UP},
    {"ua-kernel-counts", "UA, kernel counts", 0x3A9BD0, PESS__DASH_LONG, PESS__MARKER_UP},
    {"ua-support-net", "UA, support net", 0x3A9BD0, PESS__DASH_SOLID, PESS__MARKER_UP},
    {"ua-ensemble", "UA, ensemble", 0x2E9E9E, PESS__DASH_SOLID, PESS__MARKER_UP},
    {"ua-propensity", "UA, propensity", 0x17408B, PESS__DASH_SOLID, PESS__MARKER_SQUARE},
    {"counts-alone", "Counts alone", 0x8A8A8A, PESS__DASH_SHORT, PESS__MARKER_CIRCLE},
    {"bcq", "BCQ", 0x7F6BD9, PESS__DASH_SOLID, PESS__MARKER_SQUARE},
    {"cql", "CQL", 0xB8629A, PESS__DASH_SOLID, PESS__MARKER_UP},
    {"crr", "CRR", 0xC2576B, PESS__DASH_SHORT, PESS__MARKER_DOWN},
    {"crr-exp", "CRR, exponential", 0xC2576B, PESS__DASH_DOTS, PESS__MARKER_DOWN},
    {"awac", "AWAC", 0x5F8F3A, PESS__DASH_SOLID, PESS__MARKER_UP},
    {"awr", "AWR", 0x5F8F3A, PESS__DASH_DOTS, PESS__MARKER_DOWN},
    {"iql", "IQL", 0x2E9E9E, PESS__DASH_SOLID, PESS__MARKER_CIRCLE},
    {"sac-n", "SAC-N", 0x9A7D0A, PESS__DASH_SOLID, PESS__MARKER_CIRCLE},
    {"edac", "EDAC", 0x9A7D0A, PESS__DASH_LONG, PESS__MARKER_DIAMOND},
    {"brac", "BRAC", 0x7A2E1D, PESS__DASH_SOLID, PESS__MARKER_SQUARE},
    {"spibb-dqn", "SPIBB-DQN", 0x7F6BD9, PESS__DASH_SHORT, PESS__MARKER_SQUARE},
    {"rem", "REM", 0x9A7D0A, PESS__DASH_SHORT, PESS__MARKER_DOWN},
    {"model-ensemble", "Model ensemble", 0x2E9E9E, PESS__DASH_SHORT, PESS__MARKER_DIAMOND},
    {"chosen", "Chosen", 0xC2576B, PESS__DASH_SHORT, PESS__MARKER_DIAMOND},
    {"rmin", "R-MIN", 0x2E9E9E, PESS__DASH_SOLID, PESS__MARKER_UP},
    {"trivial-rule", "Trivial rule", 0x8A8A8A, PESS__DASH_DOTS, PESS__MARKER_NONE},
    {"behaviour", "Data policy", 0x777777, PESS__DASH_LONG, PESS__MARKER_NONE, true},
    {"density-proximal", "Density-proximal", 0x009E73, PESS__DASH_SHORT, PESS__MARKER_DIAMOND},
    {"greedy", "Greedy play", 0x1F77C9, PESS__DASH_SOLID, PESS__MARKER_CIRCLE}, /* learning curves */
};

static uint32_t hash(const char *text) {
    uint32_t h = 2166136261U;
    for (; *text != '\0'; text++) h = (h ^ (uint8_t)*text) * 16777619U;
    return h;
}

static const pess__style *find(const char *algorithm) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].algorithm, algorithm) == 0) return &table[i];
    return NULL;
}

static pess__style stranger(const char *algorithm) {
    static const uint32_t colours[] = {0xB8629A, 0x7F6BD9, 0x3A9BD0, 0x9A7D0A, 0x2E9E9E, 0xC2576B, 0x5F8F3A};
    static const pess__dash dashes[] = {PESS__DASH_SOLID, PESS__DASH_SHORT, PESS__DASH_DOTS};
    static const pess__marker markers[] = {PESS__MARKER_UP, PESS__MARKER_SQUARE, PESS__MARKER_CIRCLE,
                                           PESS__MARKER_DIAMOND, PESS__MARKER_DOWN};
    const uint32_t h = hash(algorithm);
    pess__style style = {.colour = colours[h % 7], .dash = dashes[h / 7 % 3], .marker = markers[h / 21 % 5]};
    (void)snprintf(style.label, sizeof style.label, "%.79s", algorithm);
    return style;
}

/* Names that are made of another one: "NAME-argmax", "NAME-predicted", "NAME-obtained". */
static const struct {
    const char *suffix, *words;
    pess__dash dash;
    bool thin;
} suffixes[] = {{"-argmax", ", argmax", PESS__DASH_DOTS, true},
                {"-predicted", ", predicted", PESS__DASH_SOLID, false},
                {"-obtained", ", obtained", PESS__DASH_DOTS, true}};

static bool made_of(const char *algorithm, pess__style *out) {
    const size_t length = strlen(algorithm);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        const size_t end = strlen(suffixes[i].suffix);
        if (length <= end || length >= 80 || !pess__ends_with(algorithm, suffixes[i].suffix)) continue;
        char name[80];
        (void)snprintf(name, sizeof name, "%.*s", (int)(length - end), algorithm);
        *out = pess__style_of(name);
        const size_t used = strlen(out->label);
        (void)snprintf(out->label + used, sizeof out->label - used, "%s", suffixes[i].words);
        out->dash = suffixes[i].dash;
        out->thin = suffixes[i].thin;
        if (out->thin) out->marker = PESS__MARKER_NONE;
        return true;
    }
    return false;
}

/* "NAME-ALPHA". */
static bool with_alpha(const char *algorithm, pess__style *out) {
    const char *dash = strrchr(algorithm, '-');
    if (dash == NULL || dash[1] == '\0' || strspn(dash + 1, "0123456789.e+") != strlen(dash + 1)) return false;
    char name[80];
    (void)snprintf(name, sizeof name, "%.*s", (int)(dash - algorithm < 79 ? dash - algorithm : 79), algorithm);
    const pess__style *base = find(name);
    if (base == NULL) return false;
    *out = *base;
    (void)snprintf(out->label, sizeof out->label, "%.50s α = %.20s", base->label, dash + 1);
    out->dash = PESS__DASH_SHORT;
    return true;
}

pess__style pess__style_of(const char *algorithm) {
    const pess__style *row = find(algorithm);
    pess__style style;
    if (row != NULL) return *row;
    if (!made_of(algorithm, &style) && !with_alpha(algorithm, &style)) style = stranger(algorithm);
    style.algorithm = algorithm;
    return style;
}

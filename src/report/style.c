#include "report/style.h"

#include <stddef.h>
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
    {"density-proximal", "Density-proximal", 0x009E73, PESS__DASH_SHORT, PESS__MARKER_DIAMOND},
    {"greedy", "Greedy play", 0x1F77C9, PESS__DASH_SOLID, PESS__MARKER_CIRCLE}, /* learning curves */
};

static uint32_t hash(const char *text) {
    uint32_t h = 2166136261U;
    for (; *text != '\0'; text++) h = (h ^ (uint8_t)*text) * 16777619U;
    return h;
}

pess__style pess__style_of(const char *algorithm) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].algorithm, algorithm) == 0) return table[i];
    static const uint32_t colours[] = {0xB8629A, 0x7F6BD9, 0x3A9BD0, 0x9A7D0A, 0x2E9E9E, 0xC2576B, 0x5F8F3A};
    static const pess__dash dashes[] = {PESS__DASH_SOLID, PESS__DASH_SHORT, PESS__DASH_DOTS};
    static const pess__marker markers[] = {PESS__MARKER_UP, PESS__MARKER_SQUARE, PESS__MARKER_CIRCLE,
                                           PESS__MARKER_DIAMOND, PESS__MARKER_DOWN};
    const uint32_t h = hash(algorithm);
    return (pess__style){algorithm, algorithm, colours[h % 7], dashes[h / 7 % 3], markers[h / 21 % 5]};
}

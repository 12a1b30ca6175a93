/* How an algorithm looks, everywhere: one row per algorithm. */
#ifndef PESS_REPORT_STYLE_H
#define PESS_REPORT_STYLE_H

#include <stdint.h>

typedef enum pess__dash { PESS__DASH_SOLID, PESS__DASH_LONG, PESS__DASH_DOTS, PESS__DASH_SHORT } pess__dash;
typedef enum pess__marker {
    PESS__MARKER_NONE,
    PESS__MARKER_CIRCLE,
    PESS__MARKER_SQUARE,
    PESS__MARKER_DIAMOND,
    PESS__MARKER_UP,
    PESS__MARKER_DOWN
} pess__marker;

typedef struct pess__style {
    const char *algorithm;
    const char *label;
    uint32_t colour; /* 0xRRGGBB; contrast of 3 or more on white and on the dark page alike */
    pess__dash dash;
    pess__marker marker;
} pess__style;

/* The algorithm's row; others share the colours left over, told apart by dash and marker, the same every time. The
 * label of those is the algorithm's name. */
pess__style pess__style_of(const char *algorithm);

#endif

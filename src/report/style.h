/* How an algorithm looks, everywhere: one row per algorithm. */
#ifndef PESS_REPORT_STYLE_H
#define PESS_REPORT_STYLE_H

#include <stdbool.h>
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
    char label[80];
    uint32_t colour; /* 0xRRGGBB; contrast of 3 or more on white and on the dark page alike */
    pess__dash dash;
    pess__marker marker;
    bool thin; /* stands behind the others: a thin line without a band */
} pess__style;

/* The algorithm's row. "NAME-argmax" is a thin, dotted line in NAME's colour, "NAME-0.5" has NAME's look with another
 * dash. Others share the colours left over, told apart by dash and marker, the same every time; their label is the
 * algorithm's name. */
pess__style pess__style_of(const char *algorithm);

#endif

/* The nearest of many centres, for many rows: the inner loop of k-means. One table per instruction set, chosen at run
 * time. The score of row x and centre c is ½|c|² − x·c, a chain of fused multiply-adds over the coordinates in
 * ascending order, rounded to float each; so every table gives the same bytes, however rows are cut. |x − c|² = |x|² +
 * 2·score. */
#ifndef PESS_CELLS_NEAREST_H
#define PESS_CELLS_NEAREST_H

#include "core/status.h"

enum { PESS__CENTRES = 16 }; /* of a panel */

/* Centres as the loops read them: panels [panels][coordinates][16], half of their squared lengths [panels*16]; the last
 * panel is filled up with centres of infinite length. */
typedef struct pess__panels {
    int64_t centres, coordinates, panels;
    float *values, *half;
} pess__panels;

pess_status pess__panels_create(int64_t centres, int64_t coordinates, pess__panels *out, pess_error *error);
/* centres [count*coordinates], count at most that of creation. */
void pess__panels_fill(pess__panels *panels, const float *centres, int64_t count);
void pess__panels_free(pess__panels *panels);

typedef struct pess__nearest {
    const char *name;
    bool (*supported)(void);
    /* x [rows*coordinates]; the nearest centre (the first of equals) to cell [rows], the score of the second nearest to
     * second [rows]. */
    void (*nearest)(const pess__panels *panels, const float *x, int64_t rows, uint32_t *cell, float *second);
    /* The scores of the first panel alone, [rows*16]. */
    void (*scores)(const pess__panels *panels, const float *x, int64_t rows, float *scores);
} pess__nearest;

const pess__nearest *const *pess__nearest_list(size_t *count);
const pess__nearest *pess__nearest_best(void); /* the first that this machine supports */

#if defined(__x86_64__) && defined(__GNUC__)
#define PESS__NEAREST_X86
extern const pess__nearest pess__nearest_avx2, pess__nearest_avx512;
#endif
extern const pess__nearest pess__nearest_portable;

#endif

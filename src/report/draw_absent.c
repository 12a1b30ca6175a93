/* In place of draw*.c where cairo was absent at build time. */
#include "report/figure.h"

pess_status pess_figure_possible(pess_error *error) {
    return pess__fail(error, PESS_IO, "this build draws no figures: it was built without cairo");
}

void pess__figure_size(const pess__figure *figure, double *width, double *height) {
    (void)figure;
    *width = *height = 0;
}

pess_status pess__figure_save(const pess__figure *figure, const char *path, const char *format, pess_error *error) {
    (void)figure;
    return pess__fail(error, PESS_IO, "%s: this build draws no figures (%s): it was built without cairo", path, format);
}

#include "data/dataset.h"
pess_status pess_dataset_inspect(const pess_dataset *data, pess_inspection **out, pess_error *error) {
    (void)data;
    (void)out;
    return pess__fail(error, PESS_INPUT, "not yet");
}
void pess_inspection_destroy(pess_inspection *inspection) { (void)inspection; }

/* Any bytes behind the first eight of a .pessmdp: refused with a message, or an MDP whose model has rows that sum to
 * one. The checksum is put right first, so that what lies behind it is reached. */
#include "core/infile.h"
#include "model/mdp.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_model(const pess_model *model) {
    for (int64_t z = 0; z < model->states * model->actions; z++) {
        if (model->kind[z] == PESS_ROW_NONE) continue;
        double sum = model->end_mass[z];
        for (int64_t k = model->row[z]; k < model->row[z + 1]; k++) sum += model->probability[k];
        if (!(fabs(sum - 1) < 1e-9) || !isfinite(model->reward[z])) abort();
    }
}

static void read_bytes(const uint8_t *bytes, size_t size) {
    pess_error error = {0};
    pess__infile *file = NULL;
    pess_mdp *mdp = NULL;
    pess_model *model = NULL;
    if (pess__infile_open_memory("fuzz", bytes, size, &file, &error) != PESS_OK) return;
    const pess_status status = pess__mdp_read_binary(file, &mdp, &error);
    pess__infile_close(file);
    if (status != PESS_OK && (error.message[0] == '\0' || error.status != status)) abort();
    if (status != PESS_OK) return;
    if (pess_mdp_model(mdp, 0, &model, &error) == PESS_OK) check_model(model);
    pess_model_destroy(model);
    pess_mdp_destroy(mdp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 1 << 20) return 0;
    pess_set_max_memory(8 << 20);
    uint8_t *bytes = malloc(size + 12);
    if (bytes == NULL) return 0;
    memcpy(bytes, "PESSMDP\n", 8);
    if (size > 0) memcpy(bytes + 8, data, size);
    const uint32_t crc = (uint32_t)crc32_z(0, bytes, size + 8);
    memcpy(bytes + 8 + size, &crc, sizeof crc);
    read_bytes(bytes, size + 12);
    free(bytes);
    return 0;
}

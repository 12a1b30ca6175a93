/* Weights from NumPy arrays: any bytes give a policy or a message, and a policy answers. The first byte chooses what
 * the network is said to be; the rest is the file. */
#include "deep/bundle.h"

#include "core/infile.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const networks[] = {NULL, "dense 8, dense 6", "conv 5 3/2, conv 4 2/1, dense 7", "mlp"};
    static const char *const boards[] = {NULL, "7x9x2"};
    static const char *const inputs[] = {"floats", "bytes", "bits"};
    pess__infile *file = NULL;
    pess_policy *policy = NULL;
    if (size < 1 || size > 1 << 20) return 0;
    pess_import_options o = pess_import_options_defaults();
    o.network = networks[bytes[0] & 3];
    o.board = boards[bytes[0] >> 2 & 1];
    o.input = inputs[(bytes[0] >> 3) % 3];
    if (pess__infile_open_memory("input", bytes + 1, size - 1, &file, NULL) != PESS_OK) return 0;
    if (pess__policy_import_file(file, &o, &policy, NULL) == PESS_OK) {
        pess_policy_info info;
        pess_policy_get_info(policy, &info);
        uint8_t *observation = calloc(1, (size_t)info.bytes);
        double *out = calloc((size_t)info.actions, sizeof *out);
        if (observation != NULL && out != NULL &&
            pess_policy_observation_probabilities(policy, observation, info.bytes, 1, out, NULL) != PESS_OK)
            abort();
        free(observation);
        free(out);
        pess_policy_destroy(policy);
    }
    pess__infile_close(file);
    return 0;
}

/* The reader of policies of networks: any bytes give a policy or a message, and a policy can be asked. The checksum is
 * put right first, so that what lies behind it is reached. */
#include "deep/bundle.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void ask(const pess_policy *policy) {
    pess_policy_info info;
    pess_error error;
    pess_policy_get_info(policy, &info);
    uint8_t *observation = calloc(1, (size_t)info.bytes);
    double *probabilities = malloc((size_t)info.actions * sizeof *probabilities);
    if (observation != NULL && probabilities != NULL &&
        pess_policy_observation_probabilities(policy, observation, info.bytes, 1, probabilities, &error) == PESS_OK)
        (void)pess_policy_act(policy, probabilities, NULL);
    free(observation);
    free(probabilities);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 1 << 20) return 0;
    uint8_t *bytes = malloc(size + 12);
    if (bytes == NULL) return 0;
    memcpy(bytes, "PESSPOL\n", 8);
    if (size > 0) memcpy(bytes + 8, data, size);
    const uint32_t crc = (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes, size + 8);
    memcpy(bytes + 8 + size, &crc, sizeof crc);
    pess_policy *policy = NULL;
    pess_error error;
    if (pess__bundle_read_memory("input", bytes, size + 12, &policy, &error) == PESS_OK) {
        ask(policy);
        pess_policy_destroy(policy);
    }
    if (pess__bundle_read_memory("input", data, size, &policy, &error) == PESS_OK) pess_policy_destroy(policy);
    free(bytes);
    return 0;
}

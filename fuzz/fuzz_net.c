/* The network-file reader: any bytes give a network or a message, and a network can be applied. The checksum is put
 * right first, so that what lies behind it is reached. */
#include "nn/netfile.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 1 << 20) return 0;
    uint8_t *bytes = malloc(size + 12);
    if (bytes == NULL) return 0;
    memcpy(bytes, "PESSNET\n", 8);
    if (size > 0) memcpy(bytes + 8, data, size);
    const uint32_t crc = (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes, size + 8);
    memcpy(bytes + 8 + size, &crc, sizeof crc);
    pess_net *net = NULL;
    pess_error error;
    if (pess__net_read_memory("input", bytes, size + 12, &net, &error) == PESS_OK) {
        uint8_t *board = calloc(1, (size_t)net->net->bytes);
        float *out = malloc((size_t)net->net->outputs * sizeof *out);
        if (board != NULL && out != NULL) (void)pess_net_apply(net, board, net->net->bytes, 1, 1, out, &error);
        free(board);
        free(out);
        pess_net_destroy(net);
    }
    if (pess__net_read_memory("input", data, size, &net, &error) == PESS_OK) pess_net_destroy(net);
    free(bytes);
    return 0;
}

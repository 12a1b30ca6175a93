/* A network as a file and as the public object. docs/nn.md has the layout, with a reader in Python. */
#ifndef PESS_NN_NETFILE_H
#define PESS_NN_NETFILE_H

#include "core/bytes.h"
#include "nn/network.h"

enum { PESS__NOTES_SIZE = 4096 };

struct pess_net {
    pess__net *net;
    uint32_t checksum;            /* of the file it came from */
    char notes[PESS__NOTES_SIZE]; /* lines "key=value": how it was trained */
};

/* Takes the network over, also on failure. notes may be NULL. */
pess_status pess__net_wrap(pess__net *net, const char *notes, pess_net **out, pess_error *error);
/* All of a network file between magic and checksum, as part of another file; reading leaves the cursor behind it. */
pess_status pess__net_store(const pess__net *net, const char *notes, pess__sink *sink, pess_error *error);
pess_status pess__net_load(pess__cursor *cursor, const char *kernels, char notes[PESS__NOTES_SIZE], pess__net **out,
                           pess_error *error);
/* From bytes in memory, as the fuzzer does. */
pess_status pess__net_read_memory(const char *name, const void *bytes, size_t size, pess_net **out, pess_error *error);

#endif

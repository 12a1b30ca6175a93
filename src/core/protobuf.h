/* Messages of Protocol Buffers, written field by field: what ONNX models and TensorBoard's event files are made of.
 * Nothing is read. A message grows in memory; where that runs out, `failed` is set and the rest is dropped. */
#ifndef PESS_CORE_PROTOBUF_H
#define PESS_CORE_PROTOBUF_H

#include "core/status.h"

typedef struct pess__proto {
    uint8_t *bytes;
    size_t used;
    int64_t room;
    bool failed;
} pess__proto;

void pess__proto_count(pess__proto *p, uint32_t field, uint64_t value); /* int32, int64, bool and enum */
void pess__proto_float(pess__proto *p, uint32_t field, float value);
void pess__proto_double(pess__proto *p, uint32_t field, double value);
void pess__proto_bytes(pess__proto *p, uint32_t field, const void *bytes, size_t length);
void pess__proto_text(pess__proto *p, uint32_t field, const char *text);
/* Puts a message into a field of another and frees it. */
void pess__proto_message(pess__proto *p, uint32_t field, pess__proto *part);
/* Appends the fields of a message to another and frees it. */
void pess__proto_join(pess__proto *p, pess__proto *part);
void pess__proto_free(pess__proto *p);
/* PESS_MEMORY where something was dropped. */
pess_status pess__proto_check(const pess__proto *p, const char *what, pess_error *error);

#endif

/* magic "PESSNET\n"
 * u32 version (1: bits; 2), of version 2: u32 input (1 bytes, 2 floats); rows, cols, channels, layers L
 * L × { u32 kind (0 conv, 1 dense), kernel, stride, outputs; f32 slope }
 * u32 length of the notes, notes
 * of floats: f32 shift and f32 scale [rows*cols*channels] each, the input is (v - shift)*scale
 * f32 parameters, layer by layer: weights [out][in][row][col], biases
 * u32 CRC-32 of all before it */
#include "nn/netfile.h"

#include "core/bytes.h"
#include "core/filekind.h"
#include "core/memory.h"
#include "core/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BITS_VERSION = 1, VERSION = 2 };
#define SIZE_LIMIT ((int64_t)PESS__MAX_PARAMETERS * 4 + PESS__NOTES_SIZE + 4096)

pess_status pess__net_wrap(pess__net *net, const char *notes, pess_net **out, pess_error *error) {
    pess_net *wrapped;
    const pess_status status = pess__allocate(&wrapped, 1, sizeof *wrapped, "a network", error);
    if (status != PESS_OK) {
        pess__net_destroy(net);
        return status;
    }
    wrapped->net = net;
    if (notes != NULL) memcpy(wrapped->notes, notes, strnlen(notes, PESS__NOTES_SIZE - 1));
    *out = wrapped;
    return PESS_OK;
}

void pess_net_destroy(pess_net *net) {
    if (net == NULL) return;
    pess__net_destroy(net->net);
    free(net);
}

pess_status pess__net_store(const pess__net *net, const char *notes, pess__sink *sink, pess_error *error) {
    const pess__net_spec *spec = &net->spec;
    const int64_t count = pess__spec_parameters(spec);
    float *values;
    PESS_TRY(pess__allocate(&values, count, sizeof *values, "the parameters of a network", error));
    pess__net_export(net, values);
    const uint32_t head[] = {(uint32_t)spec->rows, (uint32_t)spec->cols, (uint32_t)spec->channels,
                             (uint32_t)spec->layer_count};
    pess__sink_u32(sink, spec->input == PESS_OBSERVATION_BITS ? BITS_VERSION : VERSION);
    if (spec->input != PESS_OBSERVATION_BITS) pess__sink_u32(sink, (uint32_t)spec->input);
    pess__sink_write(sink, head, sizeof head);
    for (int i = 0; i < spec->layer_count; i++) {
        const pess__layer_spec *l = &spec->layers[i];
        const uint32_t layer[] = {(uint32_t)l->kind, (uint32_t)l->kernel, (uint32_t)l->stride, (uint32_t)l->outputs};
        pess__sink_write(sink, layer, sizeof layer);
        pess__sink_write(sink, &l->slope, sizeof l->slope);
    }
    pess__sink_text(sink, notes);
    if (net->shift != NULL) pess__sink_write(sink, net->shift, (size_t)net->inputs * sizeof *net->shift);
    if (net->scale != NULL) pess__sink_write(sink, net->scale, (size_t)net->inputs * sizeof *net->scale);
    pess__sink_write(sink, values, (size_t)count * sizeof *values);
    free(values);
    return PESS_OK;
}

pess_status pess_net_write(const pess_net *net, const char *path, pess_error *error) {
    pess__sink sink;
    PESS_TRY(pess__sink_open(&sink, path, pess__file_row_of(PESS_FILE_NETWORK)->magic, error));
    const pess_status status = pess__net_store(net->net, net->notes, &sink, error);
    if (status == PESS_OK) return pess__sink_commit(&sink, error);
    pess__sink_abandon(&sink);
    return status;
}

static pess_status read_spec(pess__cursor *cursor, pess__net_spec *spec, pess_error *error) {
    const uint32_t version = pess__cursor_u32(cursor);
    if (version != BITS_VERSION && version != VERSION)
        return pess__fail(error, PESS_INPUT, "%s: version %u of the format; this program reads versions %d and %d",
                          cursor->name, version, BITS_VERSION, VERSION);
    *spec = (pess__net_spec){.input = PESS_OBSERVATION_BITS};
    if (version == VERSION) {
        const uint32_t input = pess__cursor_u32(cursor);
        if (input != PESS_OBSERVATION_BYTES && input != PESS_OBSERVATION_FLOATS)
            return pess__fail(error, PESS_INPUT, "%s: input of kind %u; 1 (bytes) and 2 (floats) are known",
                              cursor->name, input);
        spec->input = (pess_observation_kind)input;
    }
    spec->rows = (int32_t)pess__cursor_u32(cursor);
    spec->cols = (int32_t)pess__cursor_u32(cursor);
    spec->channels = (int32_t)pess__cursor_u32(cursor);
    spec->layer_count = (int32_t)pess__cursor_u32(cursor);
    for (int i = 0; i < spec->layer_count && i < PESS__MAX_LAYERS; i++) {
        pess__layer_spec *l = &spec->layers[i];
        const uint32_t which = pess__cursor_u32(cursor);
        l->kind = which == PESS__LAYER_DENSE ? PESS__LAYER_DENSE : PESS__LAYER_CONV;
        l->kernel = (int32_t)pess__cursor_u32(cursor);
        l->stride = (int32_t)pess__cursor_u32(cursor);
        l->outputs = (int32_t)pess__cursor_u32(cursor);
        pess__cursor_read(cursor, &l->slope, sizeof l->slope);
        if (which > PESS__LAYER_DENSE)
            return pess__fail(error, PESS_INPUT, "%s: layer %d is of kind %u; 0 (conv) and 1 (dense) are known",
                              cursor->name, i + 1, which);
    }
    return pess__spec_check(spec, cursor->name, error);
}

static pess_status read_parameters(pess__cursor *cursor, pess__net *net, pess_error *error) {
    const int64_t count = pess__spec_parameters(&net->spec);
    float *values;
    PESS_TRY(pess__allocate(&values, count, sizeof *values, "the parameters of a network", error));
    pess__cursor_read(cursor, values, (size_t)count * sizeof *values);
    pess_status status = PESS_OK;
    for (int64_t i = 0; i < count && status == PESS_OK; i++)
        if (!isfinite(values[i]))
            status = pess__fail(error, PESS_INPUT, "%s: parameter %lld is %g; finite numbers are expected",
                                cursor->name, (long long)i, (double)values[i]);
    if (status == PESS_OK) pess__net_import(net, values);
    free(values);
    return status;
}

/* How floats are standardised. */
static pess_status read_standard(pess__cursor *cursor, pess__net *net, pess_error *error) {
    if (net->spec.input != PESS_OBSERVATION_FLOATS) return PESS_OK;
    pess__cursor_read(cursor, net->shift, (size_t)net->inputs * sizeof *net->shift);
    pess__cursor_read(cursor, net->scale, (size_t)net->inputs * sizeof *net->scale);
    for (int64_t i = 0; i < net->inputs; i++)
        if (!isfinite(net->shift[i]) || !isfinite(net->scale[i]))
            return pess__fail(error, PESS_INPUT,
                              "%s: feature %lld is standardised by %g and %g; finite numbers are "
                              "expected",
                              cursor->name, (long long)i, (double)net->shift[i], (double)net->scale[i]);
    return PESS_OK;
}

/* Numbers after the notes: parameters, and how floats are standardised. */
static int64_t numbers_of(const pess__net_spec *spec) {
    const int64_t inputs = (int64_t)spec->rows * spec->cols * spec->channels;
    return pess__spec_parameters(spec) + (spec->input == PESS_OBSERVATION_FLOATS ? 2 * inputs : 0);
}

static pess_status fail_length(const pess__cursor *cursor, int64_t parameters, pess_error *error) {
    return pess__fail(error, PESS_INPUT, "%s: %zu bytes of parameters; its layers need %lld", cursor->name,
                      cursor->left, (long long)parameters * (long long)sizeof(float));
}

pess_status pess__net_load(pess__cursor *cursor, const char *kernels, char notes[PESS__NOTES_SIZE], pess__net **out,
                           pess_error *error) {
    pess__net_spec spec = {0};
    PESS_TRY(read_spec(cursor, &spec, error));
    if (!pess__cursor_text(cursor, notes, PESS__NOTES_SIZE))
        return pess__fail(error, PESS_INPUT, "%s: the notes are too long or cut off", cursor->name);
    const int64_t count = numbers_of(&spec);
    if (cursor->beyond || cursor->left / sizeof(float) < (size_t)count) /* before memory is taken for them */
        return fail_length(cursor, count, error);
    pess__net *net;
    PESS_TRY(pess__net_create(&spec, kernels, &net, error));
    pess_status status = read_standard(cursor, net, error);
    if (status == PESS_OK) status = read_parameters(cursor, net, error);
    if (status == PESS_OK)
        *out = net;
    else
        pess__net_destroy(net);
    return status;
}

static pess_status read_net(pess__cursor *cursor, const char *kernels, pess_net **out, pess_error *error) {
    char notes[PESS__NOTES_SIZE];
    pess__net *net = NULL;
    PESS_TRY(pess__net_load(cursor, kernels, notes, &net, error));
    if (cursor->left > 0) {
        const int64_t count = numbers_of(&net->spec);
        cursor->left += (size_t)count * sizeof(float);
        pess__net_destroy(net);
        return fail_length(cursor, count, error);
    }
    PESS_TRY(pess__net_wrap(net, notes, out, error));
    (*out)->checksum = cursor->crc;
    return PESS_OK;
}

pess_status pess_net_read(const char *path, const char *kernels, pess_net **out, pess_error *error) {
    const pess__file_row *row = pess__file_row_of(PESS_FILE_NETWORK);
    pess__cursor cursor;
    PESS_TRY(pess__cursor_open(&cursor, path, row->magic, row->what, SIZE_LIMIT, error));
    const pess_status status = read_net(&cursor, kernels, out, error);
    pess__cursor_close(&cursor);
    return status;
}

pess_status pess__net_read_memory(const char *name, const void *bytes, size_t size, pess_net **out, pess_error *error) {
    const pess__file_row *row = pess__file_row_of(PESS_FILE_NETWORK);
    pess__cursor cursor;
    PESS_TRY(pess__cursor_open_memory(&cursor, name, bytes, size, row->magic, row->what, error));
    const pess_status status = read_net(&cursor, NULL, out, error);
    pess__cursor_close(&cursor);
    return status;
}

void pess_net_get_info(const pess_net *net, pess_net_info *out) {
    const pess__net_spec *spec = &net->net->spec;
    *out = (pess_net_info){.input = spec->input,
                           .rows = spec->rows,
                           .cols = spec->cols,
                           .channels = spec->channels,
                           .outputs = (int)net->net->outputs,
                           .bytes = net->net->bytes,
                           .parameters = pess__spec_parameters(spec),
                           .checksum = net->checksum,
                           .kernels = net->net->kernels->name,
                           .notes = net->notes,
                           .layer_count = spec->layer_count};
}

bool pess_net_get_layer(const pess_net *net, int index, pess_net_layer *out) {
    const pess__net *n = net->net;
    if (index < 0 || index >= n->spec.layer_count) return false;
    const pess__layer_spec *l = &n->spec.layers[index];
    const pess__layer *computed = &n->layers[index];
    *out = (pess_net_layer){.kind = l->kind == PESS__LAYER_DENSE ? "dense" : "conv",
                            .kernel = l->kernel,
                            .stride = l->stride,
                            .outputs = l->outputs,
                            .rows = (int)computed->rows,
                            .cols = (int)computed->cols,
                            .slope = round((double)l->slope * 1e6) / 1e6, /* 0.01, not the float next to it */
                            .parameters = (computed->taps * computed->inputs + 1) * computed->outputs};
    return true;
}

bool pess_net_note(const pess_net *net, const char *key, char *value, size_t size) {
    return pess__note(net->notes, key, value, size);
}

pess_status pess_net_apply(const pess_net *net, const void *observations, int64_t stride, int64_t count, int threads,
                           float *out, pess_error *error) {
    if (count < 0 || stride < net->net->bytes)
        return pess__fail(error, PESS_ARGUMENT,
                          "%lld observations %lld bytes apart; this network reads %lld bytes each", (long long)count,
                          (long long)stride, (long long)net->net->bytes);
    return pess__net_apply(net->net, &(pess__bits_rows){observations, stride, NULL}, count, threads, out, error);
}

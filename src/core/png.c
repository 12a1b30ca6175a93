/* PNG (ISO/IEC 15948) with a palette: one IDAT, filter 0. */
#include "core/memory.h"
#include "core/outfile.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void put_u32(uint8_t *to, uint32_t value) {
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void write_chunk(pess__outfile *file, const char type[4], const uint8_t *data, size_t length) {
    uint8_t head[8], tail[4];
    put_u32(head, (uint32_t)length);
    memcpy(head + 4, type, 4);
    uLong crc = crc32(0, head + 4, 4);
    if (length > 0) crc = crc32(crc, data, (uInt)length);
    put_u32(tail, (uint32_t)crc);
    pess__outfile_write(file, head, sizeof head);
    if (length > 0) pess__outfile_write(file, data, length);
    pess__outfile_write(file, tail, sizeof tail);
}

/* The rows, each with its filter byte, deflated. */
static pess_status compress_rows(int width, int height, const uint8_t *pixels, uint8_t **out, size_t *length,
                                 pess_error *error) {
    const size_t row = (size_t)width + 1, size = row * (size_t)height;
    uint8_t *plain = NULL, *packed = NULL;
    uLongf packed_size = compressBound((uLong)size);
    pess_status status = pess__allocate(&plain, (int64_t)size, 1, "a picture", error);
    if (status == PESS_OK) status = pess__allocate(&packed, (int64_t)packed_size, 1, "a picture", error);
    if (status == PESS_OK) {
        for (int y = 0; y < height; y++)
            memcpy(plain + (size_t)y * row + 1, pixels + (size_t)y * (size_t)width, (size_t)width);
        if (compress2(packed, &packed_size, plain, (uLong)size, 9) != Z_OK)
            status = pess__fail(error, PESS_MEMORY, "not enough memory to compress a picture");
    }
    free(plain);
    if (status != PESS_OK) {
        free(packed);
        return status;
    }
    *out = packed;
    *length = packed_size;
    return PESS_OK;
}

pess_status pess_png_write(const char *path, int width, int height, const uint8_t *pixels,
                           const uint8_t palette[3 * PESS_PALETTE_COLOURS], pess_error *error) {
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    if (width < 1 || height < 1 || width > 1 << 15 || height > 1 << 15)
        return pess__fail(error, PESS_ARGUMENT, "a picture of %d x %d pixels; expected 1 to 32768 each", width, height);
    uint8_t *packed = NULL, header[13];
    size_t length = 0;
    pess__outfile *file = NULL;
    PESS_TRY(compress_rows(width, height, pixels, &packed, &length, error));
    pess_status status = pess__outfile_open(path, &file, error);
    if (status == PESS_OK) {
        put_u32(header, (uint32_t)width);
        put_u32(header + 4, (uint32_t)height);
        memcpy(header + 8, (const uint8_t[]){8, 3, 0, 0, 0}, 5); /* 8 bits, palette */
        pess__outfile_write(file, signature, sizeof signature);
        write_chunk(file, "IHDR", header, sizeof header);
        write_chunk(file, "PLTE", palette, (size_t)3 * PESS_PALETTE_COLOURS);
        write_chunk(file, "IDAT", packed, length);
        write_chunk(file, "IEND", NULL, 0);
        status = pess__outfile_commit(file, error);
    }
    free(packed);
    return status;
}

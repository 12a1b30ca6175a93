/* Animated GIF (GIF89a): one global palette, LZW with codes of growing width. Each frame after the first holds only the
 * rectangle that has changed. */
#include "core/memory.h"
#include "core/outfile.h"

#include <stdlib.h>
#include <string.h>

enum { BITS = 5, CLEAR = 1 << BITS, END = CLEAR + 1, CODES = 4096 };
_Static_assert(1 << BITS == PESS_PALETTE_COLOURS, "a pixel takes BITS bits");

struct pess_gif {
    pess__outfile *file;
    int width, height;
    bool has_frame;
    uint8_t *last;                    /* the frame before, [width*height] */
    uint16_t child[CODES][1 << BITS]; /* LZW: code of (prefix, next pixel), 0: none */
    uint8_t block[256];               /* sub-block: length, then bytes */
    uint32_t held;                    /* bits not yet in the block */
    int held_bits;
};

static void put_u16(uint8_t *to, int value) {
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
}

pess_status pess_gif_create(const char *path, int width, int height, const uint8_t palette[3 * PESS_PALETTE_COLOURS],
                            pess_gif **out, pess_error *error) {
    if (width < 1 || height < 1 || width > 65535 || height > 65535)
        return pess__fail(error, PESS_ARGUMENT, "a picture of %d x %d pixels; expected 1 to 65535 each", width, height);
    pess_gif *gif = NULL;
    PESS_TRY(pess__allocate(&gif, 1, sizeof *gif, "an animation", error));
    gif->width = width;
    gif->height = height;
    pess_status status = pess__allocate(&gif->last, (int64_t)width * height, 1, "an animation", error);
    if (status == PESS_OK) status = pess__outfile_open(path, &gif->file, error);
    if (status != PESS_OK) {
        pess_gif_abandon(gif);
        return status;
    }
    uint8_t screen[7] = {0, 0, 0, 0, 0xf0 | (BITS - 1), 0, 0}; /* a global palette of 2^BITS colours */
    static const uint8_t loop[] = {0x21, 0xff, 11,  'N', 'E', 'T', 'S', 'C', 'A', 'P',
                                   'E',  '2',  '.', '0', 3,   1,   0,   0,   0}; /* for ever */
    put_u16(screen, width);
    put_u16(screen + 2, height);
    pess__outfile_write(gif->file, "GIF89a", 6);
    pess__outfile_write(gif->file, screen, sizeof screen);
    pess__outfile_write(gif->file, palette, (size_t)3 * PESS_PALETTE_COLOURS);
    pess__outfile_write(gif->file, loop, sizeof loop);
    *out = gif;
    return PESS_OK;
}

/* ---- LZW */

static void flush_block(pess_gif *gif) {
    if (gif->block[0] > 0) pess__outfile_write(gif->file, gif->block, (size_t)gif->block[0] + 1);
    gif->block[0] = 0;
}

static void put_code(pess_gif *gif, uint32_t code, int width) {
    gif->held |= code << gif->held_bits;
    gif->held_bits += width;
    while (gif->held_bits >= 8) {
        gif->block[++gif->block[0]] = (uint8_t)gif->held;
        if (gif->block[0] == 255) flush_block(gif);
        gif->held >>= 8;
        gif->held_bits -= 8;
    }
}

typedef struct rectangle {
    int x, y, w, h;
} rectangle;

static void compress(pess_gif *gif, const uint8_t *pixels, rectangle r) {
    const uint8_t smallest = BITS;
    pess__outfile_write(gif->file, &smallest, 1);
    memset(gif->child, 0, sizeof gif->child);
    gif->block[0] = 0;
    gif->held = 0;
    gif->held_bits = 0;
    int width = BITS + 1, next = END + 1, prefix = -1;
    put_code(gif, CLEAR, width);
    for (int i = 0; i < r.w * r.h; i++) {
        const int pixel = pixels[(r.y + i / r.w) * gif->width + r.x + i % r.w] & (CLEAR - 1);
        if (prefix < 0) {
            prefix = pixel;
        } else if (gif->child[prefix][pixel] != 0) {
            prefix = gif->child[prefix][pixel];
        } else {
            put_code(gif, (uint32_t)prefix, width);
            if (next < CODES) {
                gif->child[prefix][pixel] = (uint16_t)next;
                if (next == 1 << width && width < 12) width++; /* the reader's table is one entry behind */
                next++;
            } else {
                put_code(gif, CLEAR, width);
                memset(gif->child, 0, sizeof gif->child);
                width = BITS + 1;
                next = END + 1;
            }
            prefix = pixel;
        }
    }
    put_code(gif, (uint32_t)prefix, width);
    /* The reader adds an entry on reading that code too, which may widen its next one. */
    if (next == 1 << width && width < 12) width++;
    put_code(gif, END, width);
    if (gif->held_bits > 0) put_code(gif, 0, 8 - gif->held_bits);
    flush_block(gif);
    pess__outfile_write(gif->file, "", 1);
}

/* ---- frames */

/* The smallest rectangle in which the frames differ; one pixel where they do not. */
static rectangle changed(const pess_gif *gif, const uint8_t *pixels) {
    if (!gif->has_frame) return (rectangle){0, 0, gif->width, gif->height};
    int left = gif->width, right = -1, top = gif->height, bottom = -1;
    for (int y = 0; y < gif->height; y++)
        for (int x = 0; x < gif->width; x++) {
            const int64_t i = (int64_t)y * gif->width + x;
            if (pixels[i] == gif->last[i]) continue;
            if (x < left) left = x;
            if (x > right) right = x;
            if (y < top) top = y;
            bottom = y;
        }
    if (right < 0) return (rectangle){0, 0, 1, 1};
    return (rectangle){left, top, right - left + 1, bottom - top + 1};
}

pess_status pess_gif_add(pess_gif *gif, const uint8_t *pixels, int delay_ms, pess_error *error) {
    if (delay_ms < 0 || delay_ms > 600000)
        return pess__fail(error, PESS_ARGUMENT, "a frame of %d ms; expected 0 to 600000", delay_ms);
    const rectangle r = changed(gif, pixels);
    uint8_t control[8] = {0x21, 0xf9, 4, 1 << 2, 0, 0, 0, 0}; /* leave the frame in place */
    uint8_t place[10] = {0x2c};
    put_u16(control + 4, (delay_ms + 5) / 10);
    put_u16(place + 1, r.x);
    put_u16(place + 3, r.y);
    put_u16(place + 5, r.w);
    put_u16(place + 7, r.h);
    pess__outfile_write(gif->file, control, sizeof control);
    pess__outfile_write(gif->file, place, sizeof place);
    compress(gif, pixels, r);
    memcpy(gif->last, pixels, (size_t)gif->width * (size_t)gif->height);
    gif->has_frame = true;
    return PESS_OK;
}

static void release(pess_gif *gif) {
    free(gif->last);
    free(gif);
}

pess_status pess_gif_finish(pess_gif *gif, pess_error *error) {
    pess__outfile_write(gif->file, ";", 1);
    const pess_status status = pess__outfile_commit(gif->file, error);
    release(gif);
    return status;
}

void pess_gif_abandon(pess_gif *gif) {
    if (gif == NULL) return;
    pess__outfile_abandon(gif->file);
    release(gif);
}

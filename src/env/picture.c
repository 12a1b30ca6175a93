/* Boards as pictures. */
#include "env/env.h"

#include <string.h>

void pess_env_top_channels(const pess_env_info *info, const uint8_t *bits, int *top) {
    for (int cell = 0; cell < info->rows * info->cols; cell++) {
        int best = -1;
        for (int c = 0; c < info->channels; c++) {
            const int bit = cell * info->channels + c;
            if (((bits[bit / 8] >> (bit % 8)) & 1) == 0) continue;
            if (best < 0 || info->channel[c].layer > info->channel[best].layer) best = c;
        }
        top[cell] = best;
    }
}

/* Colours of the palette: background, empty cell, text, then the channels. */
enum { BACKGROUND, EMPTY, TEXT, FIRST_CHANNEL };

/* Digits of 3×5 pixels, a row per three bits from the top, left pixel first. */
static const uint16_t digits[10] = {075557, 026227, 071747, 071717, 055711, 074717, 074757, 071111, 075757, 075717};
enum { DIGIT_WIDTH = 3, DIGIT_HEIGHT = 5 };

static int digit_scale(int size) { return size >= 10 ? size / 5 : 1; }

void pess_env_picture_size(const pess_env_info *info, int size, int *width, int *height) {
    const int margin = size / 2, scale = digit_scale(size);
    *width = info->cols * size + 2 * margin;
    *height = info->rows * size + 3 * margin + DIGIT_HEIGHT * scale;
}

static void set_colour(uint8_t *palette, int index, uint32_t colour) {
    palette[3 * index] = (uint8_t)(colour >> 16);
    palette[3 * index + 1] = (uint8_t)(colour >> 8);
    palette[3 * index + 2] = (uint8_t)colour;
}

void pess_env_palette(const pess_env_info *info, uint8_t palette[3 * PESS_PALETTE_COLOURS]) {
    memset(palette, 0, 3 * PESS_PALETTE_COLOURS);
    set_colour(palette, BACKGROUND, 0x0b1020);
    set_colour(palette, EMPTY, 0x161d31);
    set_colour(palette, TEXT, 0xd5dbe8);
    for (int c = 0; c < info->channels && FIRST_CHANNEL + c < PESS_PALETTE_COLOURS; c++)
        set_colour(palette, FIRST_CHANNEL + c, info->channel[c].colour);
}

static void fill(uint8_t *pixels, int width, int x, int y, int w, int h, int colour) {
    for (int row = y; row < y + h; row++) memset(pixels + (size_t)row * (size_t)width + x, colour, (size_t)w);
}

static void write_score(uint8_t *pixels, int width, int x, int y, int scale, int64_t score) {
    int figures[20], count = 0;
    do {
        figures[count++] = (int)(score % 10);
        score /= 10;
    } while (score > 0);
    for (; count > 0 && x + DIGIT_WIDTH * scale <= width; x += (DIGIT_WIDTH + 1) * scale) {
        const unsigned shape = digits[figures[--count]];
        for (int p = 0; p < DIGIT_WIDTH * DIGIT_HEIGHT; p++)
            if (((shape >> (DIGIT_WIDTH * DIGIT_HEIGHT - 1 - p)) & 1) != 0)
                fill(pixels, width, x + p % DIGIT_WIDTH * scale, y + p / DIGIT_WIDTH * scale, scale, scale, TEXT);
    }
}

void pess_env_picture(const pess_env_info *info, const uint8_t *bits, int size, int64_t score, uint8_t *pixels) {
    int top[PESS__CELLS] = {0};
    int width = 0, height = 0;
    pess_env_picture_size(info, size, &width, &height);
    pess_env_top_channels(info, bits, top);
    memset(pixels, BACKGROUND, (size_t)width * (size_t)height);
    const int margin = size / 2, gap = size >= 8 ? 1 : 0;
    for (int y = 0; y < info->rows; y++)
        for (int x = 0; x < info->cols; x++) {
            const int channel = top[y * info->cols + x];
            fill(pixels, width, margin + x * size, margin + y * size, size - gap, size - gap,
                 channel >= 0 ? FIRST_CHANNEL + channel : EMPTY);
        }
    if (score >= 0) write_score(pixels, width, margin, info->rows * size + 2 * margin, digit_scale(size), score);
}

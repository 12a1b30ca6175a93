/* Pictures: what is written is read back by a decoder of its own and is the same, pixel by pixel. */
#include "pess.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

static pess_error error;
static uint8_t file[1 << 22];

static size_t read_file(const char *path) {
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    const size_t size = fread(file, 1, sizeof file, stream);
    (void)fclose(stream);
    (void)remove(path);
    return size;
}

/* ---- GIF */

/* LZW as the GIF89a description has it: codes of 6 to 12 bits, a table of (prefix, last) pairs. */
static size_t unpack(const uint8_t *data, size_t size, int bits, uint8_t *out, size_t room) {
    static uint16_t prefix[4096];
    static uint8_t last[4096], stack[4097];
    const int clear = 1 << bits, end = clear + 1;
    int width = bits + 1, next = end + 1, old = -1;
    size_t count = 0, at = 0; /* at: in bits */
    uint8_t first = 0;
    for (;;) {
        assert_true(at + (size_t)width <= 8 * size);
        int code = 0;
        for (int i = 0; i < width; i++, at++) code |= ((data[at / 8] >> (at % 8)) & 1) << i;
        if (code == end) return count;
        if (code == clear) {
            width = bits + 1;
            next = end + 1;
            old = -1;
            continue;
        }
        assert_true(code <= next && (old >= 0 || code < clear));
        int depth = 0, walk = code;
        if (code == next) {
            stack[depth++] = first;
            walk = old;
        }
        for (; walk > end; walk = prefix[walk]) stack[depth++] = last[walk];
        first = (uint8_t)walk;
        stack[depth++] = first;
        assert_true(count + (size_t)depth <= room);
        while (depth > 0) out[count++] = stack[--depth];
        if (old >= 0 && next < 4096) {
            prefix[next] = (uint16_t)old;
            last[next++] = first;
            if (next == 1 << width && width < 12) width++;
        }
        old = code;
    }
}

static int u16(const uint8_t *at) { return at[0] | at[1] << 8; }

/* Draws the next frame over `canvas`; returns the position behind it, 0 at the trailer. */
static size_t next_frame(size_t at, int width, int bits, uint8_t *canvas, int *delay) {
    static uint8_t data[1 << 22], pixels[1 << 22];
    for (;;) {
        if (file[at] == ';') return 0;
        if (file[at] == 0x21) {
            if (file[at + 1] == 0xf9) *delay = u16(file + at + 4);
            at += 2;
            while (file[at] != 0) at += (size_t)file[at] + 1;
            at++;
            continue;
        }
        assert_int_equal(file[at], 0x2c);
        const int x = u16(file + at + 1), y = u16(file + at + 3), w = u16(file + at + 5), h = u16(file + at + 7);
        assert_int_equal(file[at + 10], bits);
        size_t size = 0;
        for (at += 11; file[at] != 0; at += (size_t)file[at] + 1) {
            memcpy(data + size, file + at + 1, file[at]);
            size += file[at];
        }
        assert_int_equal(unpack(data, size, bits, pixels, sizeof pixels), w * h);
        for (int i = 0; i < w * h; i++) canvas[(y + i / w) * width + x + i % w] = pixels[i];
        return at + 1;
    }
}

static void check_gif(int width, int height, int frames, int noise) {
    char path[] = "/tmp/pess-picture-XXXXXX.gif";
    assert_true(close(mkstemps(path, 4)) == 0);
    uint8_t palette[3 * PESS_PALETTE_COLOURS];
    for (int i = 0; i < 3 * PESS_PALETTE_COLOURS; i++) palette[i] = (uint8_t)(7 * i);
    const size_t size = (size_t)width * (size_t)height;
    uint8_t *all = calloc((size_t)frames, size), *canvas = calloc(1, size);
    pess_random dice = pess_random_create(3, "gif", 0);
    pess_gif *gif = NULL;
    assert_int_equal(pess_gif_create(path, width, height, palette, &gif, &error), PESS_OK);
    for (int f = 0; f < frames; f++) {
        uint8_t *pixels = all + (size_t)f * size;
        if (f > 0) memcpy(pixels, pixels - size, size);
        for (int64_t k = f == 2 ? 0 : noise; k > 0; k--) /* the third frame is the second again */
            pixels[pess_random_below(&dice, (int64_t)size)] = (uint8_t)pess_random_below(&dice, 32);
        assert_int_equal(pess_gif_add(gif, pixels, 40, &error), PESS_OK);
    }
    assert_int_equal(pess_gif_finish(gif, &error), PESS_OK);
    const size_t length = read_file(path);
    assert_true(length > 13 && memcmp(file, "GIF89a", 6) == 0 && u16(file + 6) == width && u16(file + 8) == height);
    assert_memory_equal(file + 13, palette, sizeof palette);
    size_t at = 13 + sizeof palette;
    for (int f = 0; f < frames; f++) {
        int delay = 0;
        at = next_frame(at, width, 5, canvas, &delay);
        assert_true(at > 0 && delay == 4);
        assert_memory_equal(canvas, all + (size_t)f * size, size);
    }
    int delay = 0;
    assert_int_equal(next_frame(at, width, 5, canvas, &delay), 0);
    free(all);
    free(canvas);
}

static void a_gif_shows_what_was_drawn(void **unused) {
    (void)unused;
    check_gif(1, 1, 3, 1);
    check_gif(7, 3, 20, 5);
    check_gif(200, 150, 4, 3000);
    check_gif(300, 300, 3, 200000); /* noise fills the table of codes many times */
    pess_gif *gif = NULL;
    uint8_t palette[3 * PESS_PALETTE_COLOURS] = {0};
    assert_int_equal(pess_gif_create("/tmp/x.gif", 0, 5, palette, &gif, &error), PESS_ARGUMENT);
    assert_int_equal(pess_gif_create("/nowhere/x.gif", 5, 5, palette, &gif, &error), PESS_IO);
    pess_gif_abandon(NULL);
}

/* ---- PNG */

static uint32_t u32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* How far to the right a score reaches, in pixels from the left end of the board: where the picture is another one than
 * without a score. */
static int end_of_score(const pess_env_info *info, const uint8_t *bits, int64_t score) {
    int width = 0, height = 0, end = 0;
    pess_env_picture_size(info, 12, &width, &height);
    uint8_t *bare = malloc((size_t)width * (size_t)height), *pixels = malloc((size_t)width * (size_t)height);
    assert_true(bare != NULL && pixels != NULL);
    pess_env_picture(info, bits, 12, -1, bare);
    pess_env_picture(info, bits, 12, score, pixels);
    for (int i = 0; i < width * height; i++)
        if (bare[i] != pixels[i] && i % width - 6 >= end) end = i % width - 6 + 1;
    free(bare);
    free(pixels);
    return end;
}

static void a_score_has_a_figure_for_each_digit(void **unused) {
    (void)unused;
    const pess_env_info *info = pess_env_find("seaquest");
    const uint8_t bits[PESS_ENV_MAX_BYTES] = {0};
    const int one = end_of_score(info, bits, 7), two = end_of_score(info, bits, 77), apart = two - one;
    assert_true(one > 0 && apart > one);
    assert_int_equal(end_of_score(info, bits, 777), one + 2 * apart);
    assert_int_equal(end_of_score(info, bits, 0), one);
}

static void a_png_shows_the_board(void **unused) {
    (void)unused;
    char path[] = "/tmp/pess-picture-XXXXXX.png";
    assert_true(close(mkstemps(path, 4)) == 0);
    const pess_env_info *info = pess_env_find("seaquest");
    pess_env_options options = pess_env_options_defaults();
    options.game = info->name;
    pess_env *env = NULL;
    assert_int_equal(pess_env_create(&options, &env, &error), PESS_OK);
    uint8_t bits[PESS_ENV_MAX_BYTES], palette[3 * PESS_PALETTE_COLOURS];
    int width = 0, height = 0;
    pess_env_observe_bits(env, bits);
    pess_env_destroy(env);
    pess_env_picture_size(info, 12, &width, &height);
    pess_env_palette(info, palette);
    uint8_t *pixels = malloc((size_t)width * (size_t)height);
    pess_env_picture(info, bits, 12, 1234567890, pixels);
    /* Cell (5,0) shows the sub's front in its colour, (0,0) the colour of empty cells. */
    const uint8_t *front = palette + (size_t)3 * pixels[(6 + 2) * width + 6 + 5 * 12 + 2];
    assert_int_equal((uint32_t)front[0] << 16 | (uint32_t)front[1] << 8 | front[2], info->channel[0].colour);
    assert_true(pixels[(6 + 2) * width + 6 + 2] != pixels[(6 + 2) * width + 6 + 5 * 12 + 2]);
    for (int i = 0; i < width * height; i++) { /* no colour was forgotten: none that is used is black */
        const uint8_t *colour = palette + (size_t)3 * pixels[i];
        assert_true(colour[0] + colour[1] + colour[2] > 0);
    }
    assert_int_equal(pess_png_write(path, width, height, pixels, palette, &error), PESS_OK);
    const size_t length = read_file(path);
    assert_memory_equal(file, "\x89PNG\r\n\x1a\n", 8);
    bool seen = false;
    for (size_t at = 8; at < length; at += 12 + u32(file + at)) {
        const uint32_t size = u32(file + at);
        assert_int_equal(u32(file + at + 8 + size), (uint32_t)crc32(0, file + at + 4, (uInt)(4 + size)));
        if (memcmp(file + at + 4, "IHDR", 4) == 0)
            assert_true((int)u32(file + at + 8) == width && (int)u32(file + at + 12) == height);
        if (memcmp(file + at + 4, "PLTE", 4) == 0) assert_memory_equal(file + at + 8, palette, sizeof palette);
        if (memcmp(file + at + 4, "IDAT", 4) != 0) continue;
        uLongf room = (uLongf)((width + 1) * height);
        uint8_t *rows = malloc(room);
        assert_int_equal(uncompress(rows, &room, file + at + 8, size), Z_OK);
        assert_int_equal(room, (width + 1) * height);
        for (int y = 0; y < height; y++) {
            assert_int_equal(rows[y * (width + 1)], 0);
            assert_memory_equal(rows + y * (width + 1) + 1, pixels + y * width, (size_t)width);
        }
        free(rows);
        seen = true;
    }
    assert_true(seen);
    free(pixels);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_gif_shows_what_was_drawn),
                                       cmocka_unit_test(a_score_has_a_figure_for_each_digit),
                                       cmocka_unit_test(a_png_shows_the_board)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

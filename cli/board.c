#include "board.h"

#include <string.h>

static bool same_cell(const pess_env_info *info, const uint8_t *a, const uint8_t *b, int cell) {
    for (int bit = cell * info->channels; bit < (cell + 1) * info->channels; bit++)
        if ((((a[bit / 8] ^ b[bit / 8]) >> (bit % 8)) & 1) != 0) return false;
    return true;
}

static void print_row(FILE *stream, const pess_env_info *info, const int *top, int row) {
    for (int x = 0; x < info->cols; x++) {
        const int channel = top[row * info->cols + x];
        (void)fprintf(stream, " %c", channel >= 0 ? info->channel[channel].glyph : '_');
    }
}

void board_print_pair(FILE *stream, const pess_env_info *info, const uint8_t *left, const char *left_title,
                      const uint8_t *right, const char *right_title) {
    int left_top[100], right_top[100];
    pess_env_top_channels(info, left, left_top);
    pess_env_top_channels(info, right, right_top);
    (void)fprintf(stream, "    %-24s     %s\n", left_title, right_title);
    for (int y = 0; y < info->rows; y++) {
        (void)fprintf(stream, "  %d ", y);
        print_row(stream, info, left_top, y);
        (void)fprintf(stream, "    %d ", y);
        print_row(stream, info, right_top, y);
        bool first = true;
        for (int x = 0; x < info->cols; x++)
            if (!same_cell(info, left, right, y * info->cols + x)) {
                (void)fprintf(stream, "%s%d", first ? "   differs in column " : ", ", x);
                first = false;
            }
        (void)fputc('\n', stream);
    }
    (void)fputs("  Legend:", stream);
    for (int c = 0; c < info->channels; c++)
        (void)fprintf(stream, " %c %s%s", info->channel[c].glyph, info->channel[c].name,
                      c + 1 < info->channels ? "," : "\n");
}

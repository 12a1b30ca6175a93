/* Reading traces. Everything about the form of the file is checked here and refused with its line. */
#include "env/trace.h"

#include "core/memory.h"
#include "core/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { LINE_SIZE = 1 << 16, MOST_DRAWS = 4096 };

struct pess__trace_reader {
    const char *path;
    gzFile file;
    int64_t line;
    const pess__game *game;
    size_t bytes;         /* of a state */
    bool expects_reset;   /* the next record must be one */
    char text[LINE_SIZE]; /* the line, without its end */
    pess_draw draws[MOST_DRAWS];
};

static pess_status refuse(const pess__trace_reader *reader, pess_error *error, const char *what) {
    return pess__fail(error, PESS_INPUT, "%s:%lld: %s", reader->path, (long long)reader->line, what);
}

/* ---- lines */

/* zlib reports a compressed file that stops too early only when asked. */
static pess_status check_stream(pess__trace_reader *reader, pess_error *error) {
    int code = Z_OK;
    const char *text = gzerror(reader->file, &code);
    if (code == Z_OK || code == Z_STREAM_END) return PESS_OK;
    if (code == Z_ERRNO) return pess__fail(error, PESS_IO, "%s: cannot be read: %s", reader->path, strerror(errno));
    if (code == Z_MEM_ERROR) return pess__fail(error, PESS_MEMORY, "%s: not enough memory to read it", reader->path);
    if (code == Z_BUF_ERROR) return refuse(reader, error, "the compressed file ends too early");
    const char *colon = strstr(text, ": "); /* zlib puts the path in front */
    return pess__fail(error, PESS_INPUT, "%s:%lld: the compressed file is damaged: %s", reader->path,
                      (long long)reader->line, colon != NULL ? colon + 2 : text);
}

static pess_status next_line(pess__trace_reader *reader, bool *more, pess_error *error) {
    reader->line++;
    errno = 0;
    if (gzgets(reader->file, reader->text, LINE_SIZE) == NULL) {
        *more = false;
        return check_stream(reader, error);
    }
    PESS_TRY(check_stream(reader, error));
    const size_t length = strlen(reader->text);
    if (length == 0 || reader->text[length - 1] != '\n')
        return refuse(reader, error,
                      length + 1 >= LINE_SIZE ? "the line is too long"
                                              : "the line is not complete: the file is cut off");
    reader->text[length - 1] = '\0';
    *more = true;
    return PESS_OK;
}

/* ---- words */

/* The next word of the line; false at its end. Words are separated by one space. */
static bool next_word(char **at, char **begin, char **end) {
    if (**at == '\0') return false;
    *begin = *at;
    *end = *at + strcspn(*at, " ");
    *at = **end == ' ' ? *end + 1 : *end;
    return *end > *begin;
}

static bool next_int(char **at, int64_t *out) {
    char *begin = NULL, *end = NULL;
    return next_word(at, &begin, &end) && pess__parse_int64(begin, end, out);
}

/* "key=value": the value's text. */
static bool next_setting(char **at, const char *key, char **begin, char **end) {
    const size_t length = strlen(key);
    if (!next_word(at, begin, end) || strncmp(*begin, key, length) != 0 || (*begin)[length] != '=') return false;
    *begin += length + 1;
    return true;
}

static pess_status read_header(pess__trace_reader *reader, pess__trace_header *header, pess_error *error) {
    static const char form[] = "# minatar-trace 1 ";
    static const char expected[] =
        "no trace: expected '# minatar-trace 1 game=NAME channels=C sticky=P ramping=0|1' here";
    char *at = reader->text, *begin = NULL, *end = NULL;
    if (strncmp(at, form, sizeof form - 1) != 0) return refuse(reader, error, expected);
    at += sizeof form - 1;
    if (!next_setting(&at, "game", &begin, &end)) return refuse(reader, error, expected);
    *end = '\0';
    header->game = pess__game_find(begin);
    if (header->game == NULL || header->game->info.kind != PESS_OBSERVATION_BITS)
        return pess__fail(error, PESS_INPUT, "%s:%lld: no game '%.60s'", reader->path, (long long)reader->line, begin);
    int64_t channels = 0, ramping = 0;
    if (!next_setting(&at, "channels", &begin, &end) || !pess__parse_int64(begin, end, &channels) ||
        channels != header->game->info.channels)
        return refuse(reader, error, "the number of channels is not the game's");
    if (!next_setting(&at, "sticky", &begin, &end) || !pess__parse_double(begin, end, &header->sticky) ||
        !(header->sticky >= 0 && header->sticky <= 1))
        return refuse(reader, error, "sticky: expected a probability");
    if (!next_setting(&at, "ramping", &begin, &end) || !pess__parse_int64(begin, end, &ramping) || ramping < 0 ||
        ramping > 1 || *at != '\0')
        return refuse(reader, error, "ramping: expected 0 or 1, and the line's end after it");
    header->ramping = ramping != 0;
    return PESS_OK;
}

static gzFile open_file(const char *path) {
    if (strcmp(path, "-") != 0) return gzopen(path, "rb");
    const int copy = dup(STDIN_FILENO);
    return copy < 0 ? NULL : gzdopen(copy, "rb");
}

pess_status pess__trace_open(const char *path, pess__trace_reader **out, pess__trace_header *header,
                             pess_error *error) {
    pess__trace_reader *reader = NULL;
    PESS_TRY(pess__allocate(&reader, 1, sizeof *reader, "the reader of a trace", error));
    reader->path = path;
    reader->expects_reset = true;
    errno = 0;
    reader->file = open_file(path);
    pess_status status = PESS_OK;
    bool more = false;
    if (reader->file == NULL)
        status = pess__fail(error, errno == 0 || errno == ENOMEM ? PESS_MEMORY : PESS_IO, "%s: cannot be opened: %s",
                            path, strerror(errno != 0 ? errno : ENOMEM));
    if (status == PESS_OK) status = next_line(reader, &more, error);
    if (status == PESS_OK && !more) status = refuse(reader, error, "the file is empty");
    if (status == PESS_OK) status = read_header(reader, header, error);
    if (status != PESS_OK) {
        pess__trace_close(reader);
        return status;
    }
    reader->game = header->game;
    reader->bytes = ((size_t)PESS__CELLS * (size_t)header->game->info.channels + 7) / 8;
    *out = reader;
    return PESS_OK;
}

void pess__trace_close(pess__trace_reader *reader) {
    if (reader == NULL) return;
    if (reader->file != NULL) (void)gzclose(reader->file);
    free(reader);
}

int64_t pess__trace_line(const pess__trace_reader *reader) { return reader->line; }

/* ---- records */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static pess_status read_state(const pess__trace_reader *reader, const char *begin, const char *end, uint8_t *state,
                              pess_error *error) {
    if ((size_t)(end - begin) != 2 * reader->bytes)
        return pess__fail(error, PESS_INPUT,
                          "%s:%lld: a state of %lld hexadecimal digits, expected %zu: the file is cut off or damaged",
                          reader->path, (long long)reader->line, (long long)(end - begin), 2 * reader->bytes);
    for (size_t i = 0; i < reader->bytes; i++) {
        const int high = hex_digit(begin[2 * i]), low = hex_digit(begin[2 * i + 1]);
        if (high < 0 || low < 0)
            return refuse(reader, error, "the state holds something that is not a hexadecimal digit");
        state[i] = (uint8_t)(16 * high + low);
    }
    return PESS_OK;
}

static bool read_draw(const char *begin, const char *end, pess_draw *out) {
    int64_t whole = 0;
    if (*begin == 'i' && pess__parse_int64(begin + 1, end, &whole)) {
        *out = (pess_draw){.integer = true, .value = (double)whole};
        return true;
    }
    *out = (pess_draw){.integer = false};
    return *begin == 'u' && pess__parse_double(begin + 1, end, &out->value) && out->value >= 0 && out->value < 1;
}

static pess_status read_draws_and_state(pess__trace_reader *reader, char *at, pess__trace_record *record,
                                        pess_error *error) {
    char *begin = NULL, *end = NULL;
    record->draws = reader->draws;
    record->draw_count = 0;
    while (next_word(&at, &begin, &end)) {
        if (*begin == 'u' || *begin == 'i') {
            if (record->draw_count >= MOST_DRAWS) return refuse(reader, error, "too many draws in one record");
            if (!read_draw(begin, end, &reader->draws[record->draw_count++]))
                return pess__fail(error, PESS_INPUT,
                                  "%s:%lld: draw '%.*s': expected u and a number in [0,1), or i and a whole number",
                                  reader->path, (long long)reader->line, (int)(end - begin), begin);
            continue;
        }
        if (*at != '\0' || *end != '\0') return refuse(reader, error, "the state must be the last word of the line");
        return read_state(reader, begin, end, record->state, error);
    }
    return refuse(reader, error, "the state is missing");
}

pess_status pess__trace_next(pess__trace_reader *reader, pess__trace_record *record, bool *more, pess_error *error) {
    PESS_TRY(next_line(reader, more, error));
    if (!*more) return PESS_OK;
    char *at = reader->text, *begin = NULL, *end = NULL;
    if (!next_word(&at, &begin, &end) || end - begin != 1 || (*begin != 'R' && *begin != 'S'))
        return refuse(reader, error, "expected R (a reset) or S (a step) at the line's beginning");
    record->is_reset = *begin == 'R';
    if (record->is_reset != reader->expects_reset)
        return refuse(reader, error,
                      record->is_reset ? "a reset before the episode's end" : "a step where a reset was expected");
    int64_t terminal = 0;
    if (!record->is_reset) {
        if (!next_int(&at, &record->action) || record->action < 0 || record->action >= PESS_ENV_ACTIONS)
            return refuse(reader, error, "action: expected 0 to 5");
        if (!next_int(&at, &record->reward)) return refuse(reader, error, "reward: expected a whole number");
        if (!next_int(&at, &terminal) || terminal < 0 || terminal > 1)
            return refuse(reader, error, "terminal: expected 0 or 1");
    }
    record->terminal = terminal != 0;
    reader->expects_reset = record->terminal;
    return read_draws_and_state(reader, at, record, error);
}

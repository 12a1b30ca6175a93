/* metadata.json of Minari 0.5. Spaces are JSON texts inside the JSON: Box with all its lows and highs in nested lists,
 * infinite ones written Infinity as Python does, or Discrete. */
#include "data/observations_minari.h"

#include "core/json_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `value`, in as many brackets as there are sides, side 0 outermost. */
static void print_nested(FILE *to, const int64_t *sides, int count, const char *value) {
    if (count == 0) {
        (void)fputs(value, to);
        return;
    }
    (void)fputc('[', to);
    for (int64_t i = 0; i < sides[0]; i++) {
        if (i > 0) (void)fputs(", ", to);
        print_nested(to, sides + 1, count - 1, value);
    }
    (void)fputc(']', to);
}

static void print_box(FILE *to, const char *type, const int64_t *sides, int count, const char *low, const char *high) {
    char text[100];
    (void)snprintf(text, sizeof text, "{\"type\": \"Box\", \"dtype\": \"%s\", \"shape\": [", type);
    (void)fputs(text, to);
    for (int i = 0; i < count; i++) {
        (void)snprintf(text, sizeof text, "%s%lld", i > 0 ? ", " : "", (long long)sides[i]);
        (void)fputs(text, to);
    }
    (void)fputs("], \"low\": ", to);
    print_nested(to, sides, count, low);
    (void)fputs(", \"high\": ", to);
    print_nested(to, sides, count, high);
    (void)fputc('}', to);
}

static void print_observation_space(FILE *to, const pess_observations *data) {
    static const struct {
        const char *type, *low, *high;
    } kinds[] = {{"uint8", "0", "1"}, {"uint8", "0", "255"}, {"float32", "-Infinity", "Infinity"}};
    const pess_observation_shape *s = &data->shape;
    const bool board = s->rows > 0 && !(s->rows == 1 && s->cols == 1);
    const int64_t sides[] = {board ? s->rows : s->length, s->cols, s->channels};
    print_box(to, kinds[s->kind].type, sides, board ? 3 : 1, kinds[s->kind].low, kinds[s->kind].high);
}

static void print_action_space(FILE *to, const pess_observations *data) {
    char text[100];
    if (data->space.width > 0) {
        print_box(to, "float32", &data->space.width, 1, "-Infinity", "Infinity");
        return;
    }
    (void)snprintf(text, sizeof text, "{\"type\": \"Discrete\", \"dtype\": \"int64\", \"start\": 0, \"n\": %lld}",
                   (long long)data->actions);
    (void)fputs(text, to);
}

static pess_status put_space(pess_json_writer *json, const char *key, const pess_observations *data,
                             void (*print)(FILE *to, const pess_observations *data), pess_error *error) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory != NULL) print(memory, data);
    if (memory == NULL || fclose(memory) != 0 || text == NULL)
        return pess__fail(error, PESS_MEMORY, "not enough memory for the description of a dataset");
    pess_json_put_text(json, key, text);
    free(text);
    return PESS_OK;
}

/* Minari finds a dataset by its folder, NAME-v0/data/main_data.hdf5; elsewhere it is called by what it is of. */
static void find_id(const pess_observations *data, const char *path, char *id, size_t size) {
    static const char tail[] = "/data/main_data.hdf5";
    const size_t length = strlen(path), end = sizeof tail - 1;
    (void)snprintf(id, size, "%s-v0", data->game[0] != '\0' ? data->game : "observations");
    if (length <= end || strcmp(path + length - end, tail) != 0) return;
    const char *first = path + length - end;
    while (first > path && first[-1] != '/') first--;
    (void)snprintf(id, size, "%.*s", (int)(path + length - end - first), first);
}

static pess_status write_members(pess_json_writer *json, const pess_observations *data,
                                 const pess__minari_totals *totals, const char *path, pess_error *error) {
    static const char *const lists[] = {"author", "author_email", "requirements"};
    char id[300];
    find_id(data, path, id, sizeof id);
    pess_json_open_object(json, NULL);
    pess_json_put_count(json, "total_episodes", totals->episodes);
    pess_json_put_count(json, "total_steps", data->transitions);
    pess_json_put_text(json, "data_format", "hdf5");
    pess_json_put_bool(json, "jpeg_encoding", false);
    PESS_TRY(put_space(json, "observation_space", data, print_observation_space, error));
    PESS_TRY(put_space(json, "action_space", data, print_action_space, error));
    pess_json_put_text(json, "dataset_id", id);
    pess_json_put_text(json, "minari_version", "0.5.0");
    const int64_t tenths = totals->bytes / 100000; /* of a megabyte */
    pess_json_put_number(json, "dataset_size", (double)tenths / 10);
    pess_json_put_text(json, "algorithm_name", "");
    pess_json_put_text(json, "code_permalink", "");
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        pess_json_open_array(json, lists[i]);
        pess_json_close(json);
    }
    pess_json_close(json);
    pess_json_end(json);
    return PESS_OK;
}

pess_status pess__minari_write_metadata(const pess_observations *data, const pess__minari_totals *totals,
                                        const char *path, pess_error *error) {
    static const char own[] = "main_data.hdf5";
    char beside[4096];
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    if (strcmp(name, own) != 0) return PESS_OK;
    if (snprintf(beside, sizeof beside, "%.*smetadata.json", (int)(name - path), path) >= (int)sizeof beside)
        return pess__fail(error, PESS_ARGUMENT, "the name of the file is too long");
    pess__outfile *file = NULL;
    PESS_TRY(pess__outfile_open(beside, &file, error));
    pess_json_writer json = pess__json_begin(file, PESS_JSON_INDENTED);
    const pess_status status = write_members(&json, data, totals, path, error);
    if (status == PESS_OK) return pess__outfile_commit(file, error);
    pess__outfile_abandon(file);
    return status;
}

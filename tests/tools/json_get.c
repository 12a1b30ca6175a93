/* json_get PATH… < file: prints the member at each dotted path ("a.b.0.c") on a line of its own; exit 1 where one is
 * missing or the input is not JSON. With no path it only checks the syntax. Every line of the input may be a document
 * of its own with -l; then the paths are looked up in each. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const json_t *look_up(const json_t *root, const char *path) {
    char part[200];
    while (root != NULL && *path != '\0') {
        const size_t length = strcspn(path, ".");
        (void)snprintf(part, sizeof part, "%.*s", (int)length, path);
        path += length + (path[length] == '.');
        root = json_is_array(root) ? json_array_get(root, strtoul(part, NULL, 10)) : json_object_get(root, part);
    }
    return root;
}

static int print_members(const json_t *root, int count, char **paths) {
    for (int i = 0; i < count; i++) {
        const json_t *found = look_up(root, paths[i]);
        if (found == NULL) {
            (void)fprintf(stderr, "json_get: no member %s\n", paths[i]);
            return 1;
        }
        if (json_is_string(found)) {
            (void)puts(json_string_value(found));
        } else {
            char *text = json_dumps(found, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
            (void)puts(text);
            free(text);
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    const int lines = argc > 1 && strcmp(argv[1], "-l") == 0;
    const size_t flags = JSON_REJECT_DUPLICATES | (lines ? JSON_DISABLE_EOF_CHECK : 0);
    int documents = 0, failed = 0;
    for (;;) {
        json_error_t error;
        json_t *root = json_loadf(stdin, flags, &error);
        if (root == NULL) {
            if (lines && documents > 0 && json_error_code(&error) == json_error_premature_end_of_input) break;
            (void)fprintf(stderr, "json_get: line %d: %s\n", error.line, error.text);
            return 1;
        }
        documents++;
        failed |= print_members(root, argc - 1 - lines, argv + 1 + lines);
        json_decref(root);
        if (!lines) break;
    }
    return failed;
}

#include "notes.h"

#include <stdio.h>
#include <string.h>

void notes_print(const char *title, const char *notes) {
    if (notes[0] != '\0') (void)printf("\n%s\n", title);
    for (const char *line = notes; *line != '\0';) {
        const int length = (int)strcspn(line, "\n");
        (void)printf("  %.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
}

void notes_json(json_writer *json, const char *key, const char *notes) {
    json_object(json, key);
    for (const char *line = notes; *line != '\0';) {
        const size_t length = strcspn(line, "\n"), name_length = strcspn(line, "=\n");
        char name[256], value[1024];
        (void)snprintf(name, sizeof name, "%.*s", (int)name_length, line);
        (void)snprintf(value, sizeof value, "%.*s", (int)(length > name_length ? length - name_length - 1 : 0),
                       line + (length > name_length ? name_length + 1 : name_length));
        json_text(json, name, value);
        line += length + (line[length] == '\n');
    }
    json_close(json);
}

#include "json.h"

#include <stdio.h>

static void write_to_stream(void *to, const char *text, size_t length) { (void)fwrite(text, 1, length, to); }

static json_writer open_as(const char *command, pess_json_style style) {
    json_writer json = pess_json_begin((pess_json_sink){write_to_stream, stdout}, style);
    json_object(&json, NULL);
    json_count(&json, "schema", 2); /* docs/json.md says what is in it */
    json_text(&json, "command", command);
    json_text(&json, "version", pess_version());
    json_text(&json, "build", pess_build());
    return json;
}

json_writer json_open(const char *command) { return open_as(command, PESS_JSON_INDENTED); }
json_writer json_open_line(const char *command) { return open_as(command, PESS_JSON_LINE); }

void json_horizon(json_writer *json, int64_t horizon) {
    if (horizon > 0)
        json_count(json, "horizon", horizon);
    else
        json_text(json, "horizon", NULL);
}

void json_end(json_writer *json) {
    pess_json_end(json);
    (void)fflush(stdout);
}

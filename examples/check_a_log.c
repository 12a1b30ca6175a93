/* Reads a log (or writes a small one first), says what is odd about it and where the errors would be. */
#include "pess.h"

#include <stdio.h>

static const char *const default_path = "example-visits.csv";

static pess_status write_example(pess_error *error) {
    FILE *file = fopen(default_path, "w");
    if (file == NULL) {
        error->status = PESS_IO;
        (void)snprintf(error->message, sizeof error->message, "%s: cannot be written", default_path);
        return PESS_IO;
    }
    (void)fputs("episode,step,state,action,reward,next_state,terminal\n"
                "mon,0,ward,wait,0,ward,0\n"
                "mon,1,ward,treat,1,home,1\n"
                "tue,0,ward,treat,0,icu,0\n"
                "tue,1,ward,wait,0,icu,0\n", /* does not connect: the step before led to icu */
                file);
    return fclose(file) == 0 ? PESS_OK : PESS_IO;
}

int main(int argc, char **argv) {
    pess_error error = {0};
    pess_status status = argc > 1 ? PESS_OK : write_example(&error);
    pess_read_options options = pess_read_options_defaults();
    pess_dataset *data = NULL;
    pess_inspection *inspection = NULL;
    if (status == PESS_OK) status = pess_dataset_read(argc > 1 ? argv[1] : default_path, &options, &data, &error);
    if (status == PESS_OK) status = pess_dataset_inspect(data, &inspection, &error);
    if (status == PESS_OK) {
        printf("%lld transitions, %lld episodes\n", (long long)inspection->rows, (long long)inspection->episodes);
        for (size_t i = 0; i < inspection->finding_count; i++)
            printf("%s: %s\n", inspection->findings[i].severity == PESS_SEVERITY_WARNING ? "odd" : "note",
                   inspection->findings[i].text);
    } else {
        (void)fprintf(stderr, "%s\n", error.message);
    }
    pess_inspection_destroy(inspection);
    pess_dataset_destroy(data);
    return status == PESS_OK ? 0 : 1;
}

/* The files of a results directory: results.csv with the labels of its manifest as a figure, runs.csv or the manifest
 * of a training as runs to compare, the manifest of a shard to merge. The first byte chooses; a zero byte ends the
 * first file, and what follows is the second. */
#include "fuzz_files.h"

#include "report/figure.h"
#include "report/report.h"

static void read_figure(void) {
    pess__figure figure = {0};
    pess_error error = {0};
    const pess_status status = pess__report_read(fuzz_directory, &figure, &error);
    if (status != PESS_OK) fuzz_refused(status, &error);
    for (int64_t p = 0; status == PESS_OK && p < figure.panel_count; p++)
        for (int64_t c = 0; c < figure.panels[p].curve_count; c++)
            for (int64_t i = 1; i < figure.panels[p].curves[c].count; i++)
                if (figure.panels[p].curves[c].x[i] < figure.panels[p].curves[c].x[i - 1]) abort();
    pess__figure_release(&figure);
}

static void compare(void) {
    const char *const directories[] = {fuzz_directory};
    pess_compare_options options = pess_compare_options_defaults();
    pess_comparison *comparison = NULL;
    pess_error error = {0};
    options.resamples = 10;
    const pess_status status = pess_compare_directories(directories, 1, &options, &comparison, &error);
    if (status != PESS_OK) fuzz_refused(status, &error);
    pess_comparison_destroy(comparison);
}

static void merge(void) {
    const char *const directories[] = {fuzz_directory};
    char out[128];
    pess_experiment *experiment = NULL;
    pess_error error = {0};
    fuzz_path("merged", out);
    const pess_status status = pess_experiment_merge(directories, 1, out, false, &experiment, &error);
    if (status != PESS_OK) fuzz_refused(status, &error);
    pess_experiment_destroy(experiment);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const first[] = {"results.csv", "runs.csv", "manifest.json", "manifest.json"};
    char path[128];
    if (size < 1) return 0;
    pess_set_max_memory(8 << 20);
    fuzz_remove_files();
    const int way = bytes[0] % 4;
    const uint8_t *end = memchr(bytes, '\0', size);
    const size_t length = end != NULL && end > bytes ? (size_t)(end - bytes) : size;
    fuzz_write(first[way], bytes + 1, length - 1, path);
    if (way < 2 && length < size) fuzz_write("manifest.json", end + 1, size - length - 1, path);
    if (way == 0)
        read_figure();
    else if (way < 3)
        compare();
    else
        merge();
    return 0;
}

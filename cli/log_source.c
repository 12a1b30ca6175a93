#include "log_source.h"

#include "reading.h"

#include <string.h>

void log_source_begin(log_source *source, option_list *list, const char *except, pess_part part) {
    static const char *const parts[] = {"all", "making", "held-out", NULL};
    static const char *const helps[] = {"which episodes of a log of measurements: all, those that made the cells of "
                                        "the map, or those held out (default all)",
                                        "which episodes of a log of measurements: all, those that made the cells of "
                                        "the map, or those held out (default making)",
                                        "which episodes of a log of measurements: all, those that made the cells of "
                                        "the map, or those held out (default held-out)"};
    *source = (log_source){.read = pess_read_options_defaults(), .part = (int)part};
    options_add_settings(list, pess_read_settings(), &source->read, except);
    options_add(list, (option){"map", 0, OPTION_TEXT, &source->map, "FILE",
                               "the log holds measurements; their cells in this map become the states"});
    options_add(list, (option){"part", 0, OPTION_CHOICE, &source->part, "all|making|held-out", helps[part], parts});
}

int log_source_check(const log_source *source, const option_list *list, const char *command_name) {
    if (asked.together && source->map != NULL)
        return report_usage(command_name,
                            "--map: measurements are for 'pess'; 'pess convert --map' makes a log of states");
    if (source->map == NULL && options_given(list, "part"))
        return report_usage(command_name, "--part does nothing without --map");
    if (source->map != NULL && (options_given(list, "states") || options_given(list, "actions")))
        return report_usage(command_name, "--states and --actions do nothing with --map, which has its cells");
    return -1;
}

/* The log of measurements as one of cells. */
static pess_status read_cells(const log_source *source, const char *path, const char *command_name, pess_dataset **out,
                              pess_error *error) {
    pess_map *map = NULL;
    pess_measurements *measurements = NULL;
    pess_measurements_options options = pess_measurements_options_defaults();
    options.read = &source->read;
    options.last_row = source->read.last_row;
    options.threads = source->read.threads;
    options.progress = source->read.progress;
    pess_status status = pess_map_read(source->map, &map, error);
    if (status == PESS_OK) {
        options.features = pess_map_features(map);
        status = pess_measurements_read(path, &options, &measurements, error);
    }
    if (status == PESS_OK && command_name != NULL) reading_notes(command_name, pess_measurements_reading(measurements));
    if (status == PESS_OK)
        status = pess_map_log(map, measurements, (pess_part)source->part, options.threads, out, error);
    pess_measurements_destroy(measurements);
    pess_map_destroy(map);
    return status;
}

pess_status log_source_dataset(log_source *source, const char *path, const char *command_name, pess_dataset **out,
                               pess_error *error) {
    source->read.progress = terminal_progress();
    if (source->map != NULL) return read_cells(source, path, command_name, out, error);
    const pess_status status = pess_dataset_read(path, &source->read, out, error);
    if (status == PESS_OK && command_name != NULL) reading_notes(command_name, pess_dataset_reading(*out));
    return status;
}

const char *log_name(const char *path) { return strcmp(path, PESS_NO_FILE) == 0 ? "the query" : path; }

pess_status log_source_read(log_source *source, const char *path, const char *command_name, pess_dataset **data,
                            pess_counts **counts, pess_error *error) {
    *counts = NULL;
    if (source->map != NULL) return log_source_dataset(source, path, command_name, data, error);
    source->read.progress = terminal_progress();
    const pess_status status = pess_log_read(path, &source->read, data, counts, error);
    if (status == PESS_OK && command_name != NULL)
        reading_notes(command_name, *data != NULL ? pess_dataset_reading(*data) : pess_counts_reading(*counts));
    return status;
}

pess_status log_source_counts(log_source *source, const char *path, const char *command_name, pess_counts **out,
                              pess_error *error) {
    source->read.progress = terminal_progress();
    if (source->map == NULL) {
        const pess_status status = pess_counts_read(path, &source->read, out, error);
        if (status == PESS_OK && command_name != NULL) reading_notes(command_name, pess_counts_reading(*out));
        return status;
    }
    pess_dataset *data = NULL;
    pess_status status = read_cells(source, path, command_name, &data, error);
    if (status == PESS_OK) status = pess_counts_create(data, source->read.threads, out, error);
    pess_dataset_destroy(data);
    return status;
}

/* pess convert: a log in another format. */
#include "command.h"
#include "counts.h"
#include "observations.h"

#include <string.h>

static const usage convert_usage = {
    .command = "convert",
    .summary = "write a log in another format",
    .arguments = "LOG -o FILE [--format NAME] [--map map.pessmap]",
    .description =
        "The format is told by the name of FILE: .csv, .csv.gz, .npz or .pesslog (the native form, the "
        "fastest to\nread); 'pess list formats' describes them. With --map the log is one of measurements, "
        "and its states\nbecome the cells of the map ('pess help discretize'). A FILE called .pesscounts gets the "
        "counts "
        "of the log, which\n'pess merge' puts together with others; 'pess help counts' says what they are good "
        "for. A dataset of observations (.pessdata, .npz by D4RL's names, HDF5 of Minari, D4RL or d3rlpy) is\nwritten "
        "as .pessdata or .npz.",
    .examples = "  pess convert visits.csv.gz -o visits.pesslog\n"
                "  pess convert visits.csv.gz -o visits.pesscounts\n"
                "  pess convert log.parquet -o visits.csv.gz\n"
                "  pess convert main_data.hdf5 -o minari.pessdata\n"
                "  pess convert breakout.pessdata -o breakout.npz\n"
                "  pess convert icu.csv --map icu.pessmap --part held-out -o cells.csv",
    .positional = (const char *const[]){"LOG", NULL},
};

/* The log of measurements as one of cells. */
static pess_status read_cells(const char *path, const char *map_path, pess_measurements_options *options, int part,
                              pess_dataset **out, pess_error *error) {
    pess_map *map = NULL;
    pess_measurements *measurements = NULL;
    pess_status status = pess_map_read(map_path, &map, error);
    if (status == PESS_OK) {
        options->features = pess_map_features(map);
        status = pess_measurements_read(path, options, &measurements, error);
    }
    if (status == PESS_OK) status = pess_map_log(map, measurements, (pess_part)part, options->threads, out, error);
    pess_measurements_destroy(measurements);
    pess_map_destroy(map);
    return status;
}

/* A dataset of observations as .pessdata or .npz. */
static int convert_observations(const char *path, const char *target) {
    pess_observations *data = NULL;
    pess_error error;
    const int code = observations_read("convert", path, NULL, &data);
    if (code >= 0) return code;
    const pess_status status = pess_observations_write(data, target, &error);
    pess_observations_destroy(data);
    return status == PESS_OK ? EXIT_FINE : report_error("convert", &error);
}

int cmd_convert(int argc, char **argv) {
    static const char *const parts[] = {"all", "making", "held-out", NULL};
    pess_read_options read = pess_read_options_defaults();
    pess_measurements_options measured = pess_measurements_options_defaults();
    const char *target = NULL, *format = NULL, *path = NULL, *map = NULL;
    int part = PESS_PART_ALL;
    bool part_given = false;
    option_list list = {0};
    options_add(&list, (option){"out", 'o', OPTION_TEXT, &target, "FILE", "where to write; - is standard output"});
    options_add(&list, (option){"format", 0, OPTION_TEXT, &format, "NAME", "format to write, whatever FILE is called"});
    options_add_settings(&list, pess_read_settings(), &read, "format");
    options_add(&list, (option){"map", 0, OPTION_TEXT, &map, "FILE",
                                "the log is one of measurements: their cells become states"});
    options_add(&list,
                (option){"part", 0, OPTION_CHOICE, &part, "all|making|held-out",
                         "which episodes, by whether they made the map's cells (default all)", parts, &part_given});
    options_add_settings(&list, pess_measurements_settings(), &measured, "features");
    const int code = options_parse(&convert_usage, list.rows, list.count, argc, argv, &path, NULL);
    if (code >= 0) return code;
    if (target == NULL) return report_usage("convert", "-o is missing");
    if (map == NULL && (part_given || options_given(&list, "last-row")))
        return report_usage("convert", "--part and --last-row do nothing without --map");
    if (map != NULL && (options_given(&list, "states") || options_given(&list, "actions")))
        return report_usage("convert", "--states and --actions do nothing with --map, which has its cells");
    if (map == NULL && format == NULL && pess_observations_file(path)) return convert_observations(path, target);
    const bool counted = format != NULL ? strcmp(format, "pesscounts") == 0 : is_counts_file(target);
    if (map != NULL && counted)
        return report_usage("convert", "write the log of cells first, and count that: --map does not write counts");
    read.progress = measured.progress = terminal_progress();
    pess_error error = {0};
    pess_dataset *data = NULL;
    pess_status status = PESS_OK;
    if (counted) {
        status = pess_counts_merge(&path, 1, &read, target, &error);
    } else {
        status = map != NULL ? read_cells(path, map, &measured, part, &data, &error)
                             : pess_dataset_read(path, &read, &data, &error);
        if (status == PESS_OK) status = pess_dataset_write(data, target, format, &error);
    }
    pess_dataset_destroy(data);
    return status == PESS_OK ? EXIT_FINE : report_option_error("convert", list.rows, list.count, &error);
}

/* pess convert: a log in another format. */
#include "counts.h"
#include "log_source.h"
#include "observations.h"

#include <string.h>

static const usage convert_usage = {
    .command = "convert",
    .summary = "write a log in another format",
    .arguments = "LOG -o FILE [--format FORMAT] [--map map.pessmap]",
    .description =
        "The name of FILE decides the format: .csv, .csv.gz, .npz or .pesslog (the native one, the fastest to read); "
        "'pess list formats' describes them. With --map the log holds measurements, and the cells of the map become "
        "its states ('pess help discretize'). A FILE that ends in .pesscounts gets the counts of the log, which 'pess "
        "merge' adds to those of other logs; 'pess help counts' says what they are good for. A dataset of observations "
        "(.pessdata, .npz with D4RL's names, HDF5 of Minari, D4RL or d3rlpy, a table with --features) is written as "
        ".pessdata, .npz, or .hdf5 in Minari's layout; a file called main_data.hdf5 gets its metadata.json beside it.",
    .examples = "  pess convert visits.csv.gz -o visits.pesslog\n"
                "  pess convert visits.csv.gz -o visits.pesscounts\n"
                "  pess convert log.parquet -o visits.csv.gz\n"
                "  pess convert main_data.hdf5 -o minari.pessdata\n"
                "  pess convert breakout.pessdata -o breakout.npz\n"
                "  pess convert cartpole.npz -o cartpole.hdf5\n"
                "  pess convert icu.csv --map icu.pessmap --part held-out -o cells.csv",
    .positional = (const char *const[]){"LOG", NULL},
};

/* A dataset of observations as .pessdata, .npz or HDF5. */
static int convert_observations(const char *path, const data_source *source, const char *target) {
    pess_observations *data = NULL;
    pess_error error;
    const int code = data_source_read("convert", path, source, &data);
    if (code >= 0) return code;
    const pess_status status = pess_observations_write(data, target, &error);
    pess_observations_destroy(data);
    return status == PESS_OK ? EXIT_FINE : report_error("convert", &error);
}

int cmd_convert(int argc, char **argv) {
    static const char *const of_data[] = {"features", "game", "actions-grid", "actions-kmeans"};
    log_source source;
    data_source data_of;
    const char *target = NULL, *format = NULL, *path = NULL;
    option_list list = {0};
    options_add(&list, (option){"out", 'o', OPTION_TEXT, &target, "FILE", "where to write; - is standard output"});
    options_add(&list,
                (option){"format", 0, OPTION_TEXT, &format, "FORMAT", "format to write, regardless of FILE's name"});
    log_source_begin(&source, &list, "format", PESS_PART_ALL);
    data_source_begin(&data_of, &list, &source.read, "actions");
    int code = options_parse(&convert_usage, list.rows, list.count, argc, argv, &path, NULL);
    if (code < 0) code = log_source_check(&source, &list, "convert");
    if (code >= 0) return code;
    if (target == NULL) return report_usage("convert", "-o is missing");
    data_of.reading.actions = source.read.actions;
    if (source.map == NULL && format == NULL && data_source_is(&data_of, path))
        return convert_observations(path, &data_of, target);
    for (size_t i = 0; i < COUNT_OF(of_data); i++)
        if (options_given(&list, of_data[i]))
            return report_usage("convert", "--%s does nothing for a log; it is for datasets of observations",
                                of_data[i]);
    const bool counted = format != NULL ? strcmp(format, "pesscounts") == 0 : is_counts_file(target);
    if (source.map != NULL && counted)
        return report_usage("convert", "write the log of cells first, and count that: --map does not write counts");
    pess_error error = {0};
    pess_dataset *data = NULL;
    pess_status status = PESS_OK;
    source.read.progress = terminal_progress();
    if (counted) {
        status = pess_counts_merge(&path, 1, &source.read, target, &error);
    } else {
        status = log_source_dataset(&source, path, "convert", &data, &error);
        if (status == PESS_OK) status = pess_dataset_write(data, target, format, &error);
    }
    pess_dataset_destroy(data);
    return status == PESS_OK ? EXIT_FINE : report_option_error("convert", list.rows, list.count, &error);
}

/* pess convert: a log in another format. */
#include "command.h"

static const usage convert_usage = {
    .command = "convert",
    .summary = "write a log in another format",
    .arguments = "LOG -o FILE [--format NAME]",
    .description = "The format is told by the name of FILE: .csv, .csv.gz, .npz or .pesslog (the native form, the "
                   "fastest to\nread); 'pess list formats' describes them.",
    .examples = "  pess convert visits.csv.gz -o visits.pesslog",
    .positional = (const char *const[]){"LOG", NULL},
};

int cmd_convert(int argc, char **argv) {
    pess_read_options read = pess_read_options_defaults();
    const char *target = NULL, *format = NULL, *path = NULL;
    option_list list = {0};
    options_add(&list, (option){"output", 'o', OPTION_TEXT, &target, "FILE", "where to write; - is standard output"});
    options_add(&list, (option){"format", 0, OPTION_TEXT, &format, "NAME", "format to write, whatever FILE is called"});
    options_add_settings(&list, pess_read_settings(), &read, "format");
    const int code = options_parse(&convert_usage, list.rows, list.count, argc, argv, &path, NULL);
    if (code >= 0) return code;
    if (target == NULL) return report_usage("convert", "-o is missing");
    read.progress = terminal_progress();
    pess_error error = {0};
    pess_dataset *data = NULL;
    pess_status status = pess_dataset_read(path, &read, &data, &error);
    if (status == PESS_OK) status = pess_dataset_write(data, target, format, &error);
    pess_dataset_destroy(data);
    return status == PESS_OK ? EXIT_FINE : report_error("convert", &error);
}

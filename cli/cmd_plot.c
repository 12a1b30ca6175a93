/* pess plot: figures from results that are there already. */
#include "command.h"

int cmd_plot(int argc, char **argv) {
    static const char *const positional[] = {"DIR|results.csv", NULL};
    const char *out = "figure.svg";
    const option options[] = {{"output", 'o', OPTION_TEXT, &out, "FILE",
                               "the figure: .svg, .png or .pdf (figure.svg in the present directory)", NULL, NULL}};
    const usage use = {.command = "plot",
                       .summary = "draws results of experiments, a panel each",
                       .arguments = "DIR|results.csv [...] [-o figure.svg|.png|.pdf]",
                       .description =
                           "Reads the columns algorithm, x, trials, mean, ci95. Titles and labels come from the\n"
                           "manifest.json beside the results, where there is one.",
                       .examples = "  pess plot figure-1a figure-1b -o figure-1.pdf\n"
                                   "  pess plot results.csv -o figure.png",
                       .positional = positional,
                       .more = 63};
    const char *paths[64];
    int count = 0;
    const int code = options_parse(&use, options, COUNT_OF(options), argc, argv, paths, &count);
    if (code >= 0) return code;
    pess_error error = {0};
    if (pess_figure_write(paths, (size_t)count, out, &error) != PESS_OK) return report_error("plot", &error);
    (void)printf("%s\n", out);
    return EXIT_FINE;
}

/* pess plot: figures from results and logs that are there already. */
#include "command.h"

int cmd_plot(int argc, char **argv) {
    static const char *const positional[] = {"DIR|FILE.csv", NULL};
    const char *out = "figure.svg", *algorithms = NULL;
    const option options[] = {{"algorithms", 'a', OPTION_TEXT, &algorithms, "ALGORITHM|LEARNER,…",
                               "the curves to draw, in this order (default: all)", NULL, NULL},
                              {"out", 'o', OPTION_TEXT, &out, "FILE",
                               "the figure, by its ending .svg, .png or .pdf (default figure.svg)", NULL, NULL}};
    const usage use = {
        .command = "plot",
        .summary = "draw results of experiments and learning curves, a panel each",
        .arguments = "DIR|FILE.csv [...] [-o figure.svg|.png|.pdf]",
        .description = "Draws results.csv of an experiment: the columns algorithm, x, trials, mean, and ci95 or min "
                       "and max; with a column game, a panel per game. Titles and labels come from the manifest.json "
                       "beside it, if there is one. A file with the columns frame and return (log.csv of 'pess dqn') "
                       "is a learning curve; with a column game (learning_curves.csv) there is a panel per game. In a "
                       "directory the first of results.csv, learning_curves.csv and log.csv is drawn.",
        .examples = "  pess plot figure-1a figure-1b -o figure-1.pdf\n"
                    "  pess plot results.csv -o figure.png\n"
                    "  pess plot policies -o learning_curves.svg\n"
                    "  pess plot games -a behaviour,naive,ua-imitation -o some.png\n"
                    "  pess plot run/log.csv -o run.png",
        .positional = positional,
        .more = 63};
    const char *paths[64];
    int count = 0;
    const int code = options_parse(&use, options, COUNT_OF(options), argc, argv, paths, &count);
    if (code >= 0) return code;
    pess_error error = {0};
    if (pess_figure_write(paths, (size_t)count, algorithms, out, &error) != PESS_OK)
        return report_error("plot", &error);
    (void)printf("%s\n", out);
    return EXIT_FINE;
}

/* pess compare: runs of several algorithms, with numbers that a few runs can bear. */
#include "json.h"

#include "command.h"
#include "repeat.h"

#include <math.h>

enum { DIRECTORY_LIMIT = 512 };

static const usage compare_usage = {
    .command = "compare",
    .summary = "runs of several algorithms: interquartile means, probabilities of improvement, profiles",
    .arguments = "DIR [DIR …] [-a ALGORITHM,…] [--report DIR] [options]",
    .description =
        "DIR is an experiment with games (its runs.csv) or a training (its manifest.json); trainings that differ only "
        "in "
        "seed and data are runs of one algorithm. Printed for each game and point, and over all of them: the "
        "interquartile mean, the probability that a run of one algorithm beats a run of another, and performance "
        "profiles, with intervals from resamples of the runs within each task (Agarwal et al. 2021). The score is that "
        "of 'pess train': the mean over the last five updates.",
    .examples = "  pess compare docs/results/minatar-exploration -a naive,proximal --report page\n"
                "  pess compare old-experiment new-experiment --json\n"
                "  pess compare cql-1 cql-2 cql-3 iql-1 iql-2 iql-3",
    .positional = (const char *const[]){"DIR", NULL},
    .more = DIRECTORY_LIMIT - 1,
};

/* ---- text */

static void print_interval(const pess_interval *i) { (void)printf(" %8.3g [%.3g, %.3g]", i->value, i->lo, i->hi); }

static void print_algorithms(const pess_comparison *c) {
    const pess_compared *own;
    (void)printf("%-30s %5s  %s\n", "algorithm", "runs", "interquartile mean, mean, median of the tasks");
    for (size_t i = 0; (own = pess_comparison_algorithm(c, i)) != NULL; i++) {
        (void)printf("%-30s %5lld ", own->name, (long long)own->runs);
        print_interval(&own->iqm);
        print_interval(&own->mean);
        print_interval(&own->median);
        (void)putchar('\n');
    }
}

static void print_tasks(const pess_comparison *c) {
    const pess_compared_task *t;
    (void)printf("\n%-16s %8s %-30s %5s %8s  %s\n", "game", "x", "algorithm", "runs", "mean", "interquartile mean");
    for (size_t i = 0; (t = pess_comparison_task(c, i)) != NULL; i++) {
        char x[32] = "-";
        if (!isnan(t->x)) (void)snprintf(x, sizeof x, "%g", t->x);
        (void)printf("%-16s %8s %-30s %5lld %8.4g ", t->game, x, t->algorithm, (long long)t->runs, t->mean);
        print_interval(&t->iqm);
        (void)putchar('\n');
    }
}

static void print_improvements(const pess_comparison *c) {
    const pess_improvement *p;
    (void)fputs("\nProbability that a run of the first beats a run of the second\n", stdout);
    for (size_t i = 0; (p = pess_comparison_improvement(c, i)) != NULL; i++) {
        (void)printf("%-30s %-30s ", p->better, p->than);
        print_interval(&p->probability);
        (void)putchar('\n');
    }
}

static void print_text(const pess_comparison *c, const char *report) {
    pess_comparison_info info;
    pess_comparison_get_info(c, &info);
    (void)printf("%lld algorithm%s on %lld task%s", COUNTED(info.algorithms), COUNTED(info.tasks));
    if (info.left_out > 0)
        (void)printf(" (%lld left out: not all algorithms have runs of them)", (long long)info.left_out);
    (void)printf("; %s; intervals of %g %% from %lld resamples of the runs within each task\n\n",
                 info.scale == PESS_SCALE_RANGE ? "scores from 0 to 1 per game" : "scores as they are",
                 100 * (1 - info.delta), (long long)info.resamples);
    print_algorithms(c);
    print_improvements(c);
    print_tasks(c);
    if (report != NULL) (void)printf("\nPage: %s/index.html\n", report);
}

/* ---- JSON */

static void put_interval(json_writer *json, const char *key, const pess_interval *i) {
    json_object(json, key);
    json_number(json, "value", i->value);
    json_number(json, "lo", i->lo);
    json_number(json, "hi", i->hi);
    json_close(json);
}

static void put_algorithm(json_writer *json, const pess_comparison *c, size_t i, const pess_comparison_info *info) {
    const pess_compared *own = pess_comparison_algorithm(c, i);
    const pess_interval *profile = pess_comparison_profile(c, i);
    json_object(json, NULL);
    json_text(json, "algorithm", own->name);
    json_count(json, "runs", own->runs);
    put_interval(json, "iqm", &own->iqm);
    put_interval(json, "mean", &own->mean);
    put_interval(json, "median", &own->median);
    json_array(json, "profile");
    for (int p = 0; p < PESS_PROFILE_POINTS; p++) {
        json_object(json, NULL);
        json_number(json, "tau", info->tau[p]);
        json_number(json, "above", profile[p].value);
        json_number(json, "lo", profile[p].lo);
        json_number(json, "hi", profile[p].hi);
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

static void put_tasks(json_writer *json, const pess_comparison *c) {
    const pess_compared_task *t;
    json_array(json, "tasks");
    for (size_t i = 0; (t = pess_comparison_task(c, i)) != NULL; i++) {
        json_object(json, NULL);
        json_text(json, "game", t->game);
        json_number(json, "x", t->x);
        json_text(json, "algorithm", t->algorithm);
        json_count(json, "runs", t->runs);
        json_number(json, "mean", t->mean);
        put_interval(json, "iqm", &t->iqm);
        json_close(json);
    }
    json_close(json);
}

static void print_json(const pess_comparison *c) {
    pess_comparison_info info;
    const pess_improvement *p;
    pess_comparison_get_info(c, &info);
    json_writer json = json_open("compare");
    json_text(&json, "scale", info.scale == PESS_SCALE_RANGE ? "range" : "none");
    json_count(&json, "resamples", info.resamples);
    json_number(&json, "delta", info.delta);
    json_count(&json, "tasks_left_out", info.left_out);
    json_array(&json, "algorithms");
    for (size_t i = 0; i < (size_t)info.algorithms; i++) put_algorithm(&json, c, i, &info);
    json_close(&json);
    json_array(&json, "improvements");
    for (size_t i = 0; (p = pess_comparison_improvement(c, i)) != NULL; i++) {
        json_object(&json, NULL);
        json_text(&json, "better", p->better);
        json_text(&json, "than", p->than);
        put_interval(&json, "probability", &p->probability);
        json_close(&json);
    }
    json_close(&json);
    put_tasks(&json, c);
    if (info.warning[0] != '\0') json_text(&json, "warning", info.warning);
    json_close(&json);
    json_end(&json);
}

/* ---- the command */

int cmd_compare(int argc, char **argv) {
    pess_compare_options options = pess_compare_options_defaults();
    const char *directories[DIRECTORY_LIMIT + 1], *report = NULL;
    char repeat[4000];
    bool as_json = false;
    int count = 0;
    option_list list = {.count = 0};
    options_add_settings(&list, pess_compare_settings(), &options, NULL);
    options_add(&list, (option){"report", 0, OPTION_TEXT, &report, "DIR", "a page with the figure, and the tables"});
    options_add(&list, (option){"json", 0, OPTION_FLAG, &as_json, NULL, "print the result as JSON"});
    const int code = options_parse(&compare_usage, list.rows, list.count, argc, argv, directories, &count);
    if (code >= 0) return code;
    repeat_command(argc, argv, repeat, sizeof repeat);
    pess_error error = {0};
    pess_comparison *c = NULL;
    pess_status status = pess_compare_directories(directories, (size_t)count, &options, &c, &error);
    if (status == PESS_OK && report != NULL) status = pess_comparison_write(c, repeat, report, &error);
    if (status == PESS_OK && report != NULL) note_missing_figures("compare");
    if (status != PESS_OK) {
        pess_comparison_destroy(c);
        return report_option_error("compare", list.rows, list.count, &error);
    }
    pess_comparison_info info;
    pess_comparison_get_info(c, &info);
    if (info.warning[0] != '\0') (void)fprintf(stderr, "pess compare: warning: %s\n", info.warning);
    if (as_json)
        print_json(c);
    else
        print_text(c, report);
    pess_comparison_destroy(c);
    return EXIT_FINE;
}

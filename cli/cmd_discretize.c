/* pess discretize: states made of measurements. */
#include "command.h"
#include "json.h"
#include "log_source.h"
#include "reading.h"
#include "repeat.h"

#include <math.h>

static const usage discretize_usage = {
    .command = "discretize",
    .summary = "states from measurements: a map from rows to cells",
    .arguments = "LOG --features A,B,… -o map.pessmap [options]",
    .description =
        "LOG is a CSV file with a row per decision: the measurements named by --features and, where it has them, the "
        "columns episode, step, action, reward, terminal and truncated. One part of the episodes makes the cells; the "
        "others are left to choose and to certify a policy with. 'pess convert LOG --map map.pessmap -o cells.csv' "
        "writes the log with cells as states; 'pess act' applies a policy to new rows.",
    .examples =
        "  pess discretize icu.csv --features age,lactate,map --cells 100 --seed 1 -o icu.pessmap\n"
        "  pess discretize icu.csv --features age,lactate,map --method tree --cells 12 --missing median -o icu.pessmap",
    .positional = (const char *const[]){"LOG", NULL},
};

typedef struct arguments {
    pess_measurements_options read;
    pess_read_options text;
    pess_cells_options cells;
    pess_markov_options markov;
    pess_solve_options solve;
    pess_trials_options trials;
    const char *output, *report;
    bool as_json;
} arguments;

/* What the report found. */
typedef struct findings {
    pess_markov markov;
    pess_cells_trial trials[PESS_CELLS_SIZES * PESS_MAX_STARTS];
    int64_t trial_count;
} findings;

/* A setting that the method does not read is refused. */
static int check_settings(const arguments *args, const option_list *list) {
    const pess_cells_method_info *method = pess_cells_method_list((size_t)args->cells.method);
    const pess_setting_table *table = pess_cells_settings();
    for (size_t i = 0; i < table->count; i++) {
        const pess_setting *s = &table->rows[i];
        if (s->specific && options_given(list, s->name) && !pess_setting_listed(method->settings, s->name))
            return report_usage("discretize", "--%s does nothing for %s", s->name, method->name);
    }
    return -1;
}

/* ---- what was made */

static const char *rule_name(const pess_map_column *column, char *text, size_t size) {
    static const char *const names[] = {"refuse", "median", NULL, "flag"};
    if (names[column->missing] != NULL) return names[column->missing];
    (void)snprintf(text, size, "%g", column->fill);
    return text;
}

static void print_node(const pess_map *map, int64_t index, int depth) {
    pess_map_node node;
    if (!pess_map_get_node(map, index, &node)) return;
    if (node.cell >= 0) {
        (void)printf("  %*scell %lld (%lld row%s)\n", 2 * depth, "", (long long)node.cell,
                     COUNTED(pess_map_cell_rows(map, node.cell)));
        return;
    }
    pess_map_column column;
    pess_map_get_column(map, node.feature, &column);
    for (int side = 0; side < 2; side++) {
        if (node.missing)
            (void)printf("  %*s%s is %s\n", 2 * depth, "", column.name, side == 0 ? "there" : "missing");
        else
            (void)printf("  %*s%s %s %.6g\n", 2 * depth, "", column.name, side == 0 ? "<" : ">=", node.threshold);
        print_node(map, side == 0 ? node.below : node.otherwise, depth + 1);
    }
}

static void print_cells(const pess_map *map, const pess_map_info *info) {
    enum { MOST = 20 };
    for (int64_t c = 0; c < info->cells && c < MOST; c++) {
        char text[300];
        pess_map_describe(map, c, text, sizeof text);
        (void)printf("  %5lld %9lld rows  %s\n", (long long)c, (long long)pess_map_cell_rows(map, c), text);
    }
    if (info->cells > MOST)
        (void)printf("  … and %lld more (--json lists them all)\n", (long long)(info->cells - MOST));
}

static void print_findings(const findings *found, const char *directory) {
    const pess_markov *m = &found->markov;
    double least = 1, low = found->trials[0].value, high = low;
    for (int64_t i = 0; i < found->trial_count; i++) {
        const pess_cells_trial *t = &found->trials[i];
        least = t->agreement < least ? t->agreement : least;
        low = t->value < low ? t->value : low;
        high = t->value > high ? t->value : high;
    }
    (void)printf("Markov     %s (log evidence %.4g, %.4g is enough; false alarms with probability %g at most)\n",
                 m->flagged ? "no: the cell before also helps to predict what follows" : "no evidence against it",
                 m->log_evidence, -log(m->error_probability), m->error_probability);
    (void)printf("           next cell %.4f bits per row, %.4f with the cell before; reward %.4f and %.4f\n",
                 m->next.bits_one, m->next.bits_two, m->reward.bits_one, m->reward.bits_two);
    (void)printf(
        "Trials     %lld with other starts and numbers of cells: values %.4g to %.4g, the same action at %.1f %% "
        "of the rows or more\n",
        (long long)found->trial_count, low, high, 100 * least);
    (void)printf("Page       %s/index.html\n", directory);
}

static void print_text(const pess_map *map, const arguments *args, const char *log, const findings *found) {
    pess_map_info info;
    pess_map_get_info(map, &info);
    (void)printf("Log        %s: %lld rows of %lld episodes make the cells (share %g, split seed %llu)\n",
                 log_name(log), (long long)info.rows, (long long)info.episodes, info.share,
                 (unsigned long long)info.split_seed);
    (void)printf("Cells      %lld by %s, mean squared distance to their centres %.6g\n", (long long)info.cells,
                 info.method, info.inertia);
    if (args->cells.method == PESS_CELLS_KMEANS)
        (void)printf("Outcome    %s after %lld iteration%s over all rows\n",
                     info.converged ? "converged" : "stopped, not converged,", (long long)info.iterations,
                     info.iterations == 1 ? "" : "s");
    (void)printf("\n  %-20s %10s %10s %10s %10s %9s  %s\n", "column", "median", "scale", "least", "most", "missing",
                 "rule");
    for (int64_t f = 0; f < info.features; f++) {
        pess_map_column c;
        char rule[32];
        pess_map_get_column(map, f, &c);
        (void)printf("  %-20s %10.4g %10.4g %10.4g %10.4g %9lld  %s\n", c.name, c.middle, c.scale, c.low, c.high,
                     (long long)c.missing_rows, rule_name(&c, rule, sizeof rule));
    }
    (void)printf("\n");
    if (args->cells.method == PESS_CELLS_TREE)
        print_node(map, 0, 0);
    else
        print_cells(map, &info);
    (void)printf("\nMap        %s\n", args->output);
    if (args->report != NULL) print_findings(found, args->report);
}

static void print_json_side(json_writer *json, const char *key, const pess_markov_side *side) {
    json_object(json, key);
    json_number(json, "bits_one", side->bits_one);
    json_number(json, "bits_two", side->bits_two);
    json_number(json, "log_evidence", side->log_evidence);
    json_close(json);
}

static void print_json_findings(json_writer *json, const findings *found) {
    json_object(json, "markov");
    json_bool(json, "flagged", found->markov.flagged);
    json_number(json, "log_evidence", found->markov.log_evidence);
    json_number(json, "error_probability", found->markov.error_probability);
    json_count(json, "rows", found->markov.rows);
    json_count(json, "episodes", found->markov.episodes);
    print_json_side(json, "next", &found->markov.next);
    print_json_side(json, "reward", &found->markov.reward);
    json_close(json);
    json_array(json, "trials");
    for (int64_t i = 0; i < found->trial_count; i++) {
        const pess_cells_trial *t = &found->trials[i];
        json_object(json, NULL);
        json_count(json, "cells", t->cells);
        json_seed(json, "seed", t->seed);
        json_number(json, "value", t->value);
        json_number(json, "naive_value", t->naive_value);
        json_number(json, "agreement", t->agreement);
        json_close(json);
    }
    json_close(json);
}

static void print_json(const pess_map *map, const findings *found) {
    pess_map_info info;
    pess_map_get_info(map, &info);
    json_writer json = json_open("discretize");
    json_text(&json, "method", info.method);
    json_count(&json, "cells", info.cells);
    json_count(&json, "rows", info.rows);
    json_count(&json, "episodes", info.episodes);
    json_number(&json, "share", info.share);
    json_seed(&json, "seed", info.seed);
    json_seed(&json, "split_seed", info.split_seed);
    json_number(&json, "clip", info.clip);
    json_number(&json, "inertia", info.inertia);
    json_count(&json, "iterations", info.iterations);
    json_bool(&json, "converged", info.converged);
    json_array(&json, "columns");
    for (int64_t f = 0; f < info.features; f++) {
        pess_map_column c;
        char rule[32];
        pess_map_get_column(map, f, &c);
        json_object(&json, NULL);
        json_text(&json, "name", c.name);
        json_number(&json, "median", c.middle);
        json_number(&json, "scale", c.scale);
        json_number(&json, "least", c.low);
        json_number(&json, "most", c.high);
        json_count(&json, "missing_rows", c.missing_rows);
        json_text(&json, "missing", rule_name(&c, rule, sizeof rule));
        json_close(&json);
    }
    json_close(&json);
    json_array(&json, "cell_list");
    for (int64_t c = 0; c < info.cells; c++) {
        char text[300];
        pess_map_describe(map, c, text, sizeof text);
        json_object(&json, NULL);
        json_count(&json, "rows", pess_map_cell_rows(map, c));
        json_text(&json, "description", text);
        json_close(&json);
    }
    json_close(&json);
    if (found != NULL) print_json_findings(&json, found);
    json_close(&json);
    json_end(&json);
}

/* ---- the command */

/* The two questions, and the page that answers them. */
static pess_status look_at(const pess_map *map, const pess_measurements *measurements, const arguments *args,
                           const char *repeat, findings *found, pess_error *error) {
    pess_dataset *making = NULL, *held_out = NULL;
    const int threads = args->cells.threads;
    pess_status status = pess_map_log(map, measurements, PESS_PART_MAKING, threads, &making, error);
    if (status == PESS_OK) status = pess_map_log(map, measurements, PESS_PART_HELD_OUT, threads, &held_out, error);
    if (status == PESS_OK) status = pess_markov_test(making, held_out, &args->markov, &found->markov, error);
    if (status == PESS_OK)
        status = pess_cells_trials(map, measurements, &args->cells, &args->solve, &args->trials, found->trials,
                                   &found->trial_count, error);
    const pess_cells_page page = {.size = sizeof page,
                                  .map = map,
                                  .markov = &found->markov,
                                  .trials = found->trials,
                                  .trial_count = found->trial_count,
                                  .algorithm = args->solve.algorithm,
                                  .gamma = args->solve.gamma,
                                  .command = repeat};
    if (status == PESS_OK) status = pess_cells_write_page(&page, args->report, error);
    pess_dataset_destroy(making);
    pess_dataset_destroy(held_out);
    return status;
}

static pess_status discretize(const char *log, const arguments *args, const char *repeat, pess_map **map,
                              findings *found, pess_error *error) {
    pess_measurements *measurements = NULL;
    pess_status status = pess_measurements_read(log, &args->read, &measurements, error);
    if (status == PESS_OK) reading_notes("discretize", pess_measurements_reading(measurements));
    if (status == PESS_OK) status = pess_map_make(measurements, log, &args->cells, map, error);
    if (status == PESS_OK && args->report != NULL) status = look_at(*map, measurements, args, repeat, found, error);
    if (status == PESS_OK) status = pess_map_write(*map, args->output, error);
    pess_measurements_destroy(measurements);
    return status;
}

static int check(const arguments *args, const option_list *list) {
    if (args->output == NULL) return report_usage("discretize", "-o is missing: where to write the map");
    if (args->read.features == NULL)
        return report_usage("discretize", "--features is missing: the columns that are measurements");
    if (args->report != NULL && args->cells.share >= 1)
        return report_usage("discretize", "--report needs episodes that did not make the cells: --share below 1");
    static const char *const of_report[] = {"gamma", "algorithm", "starts", "markov-error", "reward-levels"};
    for (size_t i = 0; i < COUNT_OF(of_report); i++)
        if (args->report == NULL && options_given(list, of_report[i]))
            return report_usage("discretize", "--%s does nothing without --report", of_report[i]);
    return check_settings(args, list);
}

/* One row of the settings of pess_solve. */
static void add_solve_setting(option_list *list, arguments *args, const char *name) {
    const pess_setting *s = pess_setting_find(pess_solve_settings(), name);
    options_add(list, (option){.name = s->name,
                               .letter = s->letter,
                               .kind = OPTION_SETTING,
                               .target = &args->solve,
                               .argument = s->argument,
                               .help = s->sentence,
                               .table = pess_solve_settings()});
}

static void add_options(option_list *list, arguments *args) {
    options_add_settings(list, pess_measurements_settings(), &args->read, "threads");
    options_add_settings(list, pess_read_settings(), &args->text, "states actions format threads missing last-row");
    options_add_settings(list, pess_cells_settings(), &args->cells, NULL);
    options_add(list, (option){"out", 'o', OPTION_TEXT, &args->output, "FILE", "where to write the map, .pessmap"});
    options_add(list, (option){"report", 0, OPTION_TEXT, &args->report, "DIR",
                               "write a page: are the cells good states, and does the answer depend on them?"});
    options_add_settings(list, pess_markov_settings(), &args->markov, NULL);
    add_solve_setting(list, args, "algorithm");
    add_solve_setting(list, args, "gamma");
    options_add_settings(list, pess_trials_settings(), &args->trials, NULL);
    options_add(list, (option){"json", 0, OPTION_FLAG, &args->as_json, NULL, "print the result as JSON"});
}

int cmd_discretize(int argc, char **argv) {
    arguments args = {.read = pess_measurements_options_defaults(),
                      .text = pess_read_options_defaults(),
                      .cells = pess_cells_options_defaults(),
                      .markov = pess_markov_options_defaults(),
                      .solve = pess_solve_options_defaults(),
                      .trials = pess_trials_options_defaults()};
    args.read.progress = args.cells.progress = terminal_progress();
    option_list list = {.count = 0};
    add_options(&list, &args);
    const char *log = NULL;
    int code = options_parse(&discretize_usage, list.rows, list.count, argc, argv, &log, NULL);
    if (code < 0) code = check(&args, &list);
    if (code >= 0) return code;
    args.read.threads = args.solve.threads = args.cells.threads;
    args.read.read = &args.text;
    /* --missing is for measurements: rows without a reward or an action make cells, and no transitions. */
    if (args.text.reading == NULL) args.text.missing = "drop";

    pess_error error = {0};
    pess_map *map = NULL;
    findings found = {.trial_count = 0};
    char repeat[4000];
    repeat_command(argc, argv, repeat, sizeof repeat);
    if (discretize(log, &args, repeat, &map, &found, &error) != PESS_OK) {
        code = report_option_error("discretize", list.rows, list.count, &error);
    } else {
        terminal_progress_end();
        if (args.as_json)
            print_json(map, args.report != NULL ? &found : NULL);
        else
            print_text(map, &args, log, &found);
        code = EXIT_FINE;
    }
    pess_map_destroy(map);
    return code;
}

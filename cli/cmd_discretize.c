/* pess discretize: states made of measurements. */
#include "command.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

static const usage discretize_usage = {
    .command = "discretize",
    .summary = "states made of measurements: a map from rows to cells",
    .arguments = "LOG --features A,B,… -o map.pessmap [options]",
    .description =
        "LOG is a CSV file with a row per decision: the measurements named by --features and, where it has them, the\n"
        "columns episode, step, action, reward, terminal and truncated. One part of the episodes makes the cells; the\n"
        "others are left to choose and to certify a policy with. 'pess convert LOG --map map.pessmap -o cells.csv'\n"
        "writes the log with cells as states; 'pess act' applies a policy to new rows.",
    .examples =
        "  pess discretize icu.csv --features age,lactate,map --cells 100 --seed 1 -o icu.pessmap\n"
        "  pess discretize icu.csv --features age,lactate,map --method tree --cells 12 --missing median -o icu.pessmap",
    .positional = (const char *const[]){"LOG", NULL},
};

typedef struct arguments {
    pess_measurements_options read;
    pess_cells_options cells;
    const char *output;
    bool as_json;
} arguments;

/* A setting that the method does not read is refused. */
static int check_settings(const arguments *args, const option_list *list) {
    size_t count = 0;
    const pess_cells_method_info *methods = pess_cells_method_list(&count);
    const pess_cells_method_info *method = &methods[args->cells.method];
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
        (void)printf("  %*scell %lld (%lld rows)\n", 2 * depth, "", (long long)node.cell,
                     (long long)pess_map_cell_rows(map, node.cell));
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

static void print_text(const pess_map *map, const arguments *args, const char *log) {
    pess_map_info info;
    pess_map_get_info(map, &info);
    (void)printf("Log        %s: %lld rows of %lld episodes make the cells (share %g, seed %llu)\n", log,
                 (long long)info.rows, (long long)info.episodes, info.share, (unsigned long long)info.seed);
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
}

static void print_json(const pess_map *map) {
    pess_map_info info;
    pess_map_get_info(map, &info);
    json_writer json = json_open("discretize");
    json_text(&json, "method", info.method);
    json_count(&json, "cells", info.cells);
    json_count(&json, "rows", info.rows);
    json_count(&json, "episodes", info.episodes);
    json_number(&json, "share", info.share);
    json_seed(&json, "seed", info.seed);
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
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_array(&json, "cell_list");
    for (int64_t c = 0; c < info.cells; c++) {
        char text[300];
        pess_map_describe(map, c, text, sizeof text);
        json_object(&json, NULL);
        json_count(&json, "rows", pess_map_cell_rows(map, c));
        json_text(&json, "description", text);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    json_end(&json);
}

/* ---- the command */

static pess_status discretize(const char *log, const arguments *args, pess_map **map, pess_error *error) {
    pess_measurements *measurements = NULL;
    pess_status status = pess_measurements_read(log, &args->read, &measurements, error);
    if (status == PESS_OK) status = pess_map_make(measurements, log, &args->cells, map, error);
    if (status == PESS_OK) status = pess_map_write(*map, args->output, error);
    pess_measurements_destroy(measurements);
    return status;
}

int cmd_discretize(int argc, char **argv) {
    arguments args = {.read = pess_measurements_options_defaults(), .cells = pess_cells_options_defaults()};
    args.read.progress = args.cells.progress = terminal_progress();
    option_list list = {.count = 0};
    options_add_settings(&list, pess_measurements_settings(), &args.read, "threads");
    options_add_settings(&list, pess_cells_settings(), &args.cells, NULL);
    options_add(&list, (option){"out", 'o', OPTION_TEXT, &args.output, "FILE", "where to write the map, .pessmap"});
    options_add(&list, (option){"json", 0, OPTION_FLAG, &args.as_json, NULL, "print the result as JSON"});
    const char *log = NULL;
    int code = options_parse(&discretize_usage, list.rows, list.count, argc, argv, &log, NULL);
    if (code < 0 && args.output == NULL) code = report_usage("discretize", "-o is missing: where to write the map");
    if (code < 0 && args.read.features == NULL)
        code = report_usage("discretize", "--features is missing: the columns that are measurements");
    if (code < 0) code = check_settings(&args, &list);
    if (code >= 0) return code;
    args.read.threads = args.cells.threads;

    pess_error error = {0};
    pess_map *map = NULL;
    if (discretize(log, &args, &map, &error) != PESS_OK) {
        code = report_error("discretize", &error);
    } else {
        terminal_progress_end();
        if (args.as_json)
            print_json(map);
        else
            print_text(map, &args, log);
        code = EXIT_FINE;
    }
    pess_map_destroy(map);
    return code;
}

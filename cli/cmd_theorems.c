/* pess theorems: every bound of the paper on one dataset, beside the truth. */
#include "json.h"
#include "known_mdp.h"
#include "log_source.h"

#include <stdlib.h>
#include <string.h>

enum { ALPHA_LIMIT = 64 };

typedef struct theorem_args {
    log_source source;
    pess_theorem_options options;
    pess_model_options model;
    const char *alphas, *start;
    double values[ALPHA_LIMIT];
    bool as_json;
} theorem_args;

static const usage theorems_usage = {
    .command = "theorems",
    .summary = "every bound of the paper on a log of a known process, beside the truth",
    .arguments = "MDP LOG [--alphas a,b,c] [--delta D] [-u UNCERTAINTY] [options]",
    .description =
        "Theorems 2, 3, 4 and the density variant: for each alpha the bound on suboptimality, its inf and sup terms, "
        "the true suboptimality, and whether the bound holds. With an uncertainty that holds for all values at once "
        "every row holds with probability 1 - delta. Exit code 1: some row does not hold.",
    .examples = "  pess theorems mdp.csv log.csv --alphas 0,0.1,1\n"
                "  pess theorems mdp.csv log.csv -u l1 --max-successors 4 --gamma 0.9 --json",
    .positional = (const char *const[]){"MDP", "LOG", NULL},
};

/* "a,b,c" */
static bool parse_alphas(const char *text, double *values, int64_t *count) {
    *count = 0;
    while (*count < ALPHA_LIMIT) {
        char *end = NULL;
        values[*count] = strtod(text, &end);
        if (end == text || !(values[*count] >= 0 && values[*count] <= 1)) return false;
        ++*count;
        if (*end == '\0') return true;
        if (*end != ',') return false;
        text = end + 1;
    }
    return false;
}

static void print_json(const theorem_args *args, const pess_theorem_row *rows, int64_t count) {
    const pess_uncertainty_info *u = pess_uncertainty_find(args->options.uncertainty);
    json_writer json = json_open("theorems");
    json_text(&json, "uncertainty", u->name);
    json_text(&json, "holds_for", u->holds_for);
    json_number(&json, "gamma", args->options.gamma);
    json_number(&json, "delta", args->options.delta);
    json_array(&json, "rows");
    for (int64_t i = 0; i < count; i++) {
        json_object(&json, NULL);
        json_text(&json, "theorem", rows[i].theorem);
        json_text(&json, "algorithm", rows[i].algorithm);
        json_number(&json, "alpha", rows[i].alpha);
        json_number(&json, "inf_term", rows[i].inf_term);
        json_number(&json, "sup_term", rows[i].sup_term);
        json_number(&json, "bound", rows[i].bound);
        json_number(&json, "suboptimality", rows[i].suboptimality);
        json_bool(&json, "holds", rows[i].holds);
        json_text(&json, "witness", rows[i].witness);
        json_close(&json);
    }
    json_close(&json);
    json_close(&json);
    json_end(&json);
}

static void print_text(const theorem_args *args, const pess_theorem_row *rows, int64_t count) {
    const pess_uncertainty_info *u = pess_uncertainty_find(args->options.uncertainty);
    (void)printf("Uncertainty %s, which holds for %s\n", u->name, u->holds_for);
    (void)printf("%-22s %7s %12s %12s %12s %12s %6s  %s\n", "theorem", "alpha", "inf term", "sup term", "bound",
                 "truth", "holds", "inf from");
    for (int64_t i = 0; i < count; i++)
        (void)printf("%-22s %7.4g %12.5g %12.5g %12.5g %12.5g %6s  %s\n", rows[i].theorem, rows[i].alpha,
                     rows[i].inf_term, rows[i].sup_term, rows[i].bound, rows[i].suboptimality,
                     rows[i].holds ? "yes" : "NO", rows[i].witness);
}

static pess_status run(theorem_args *args, const known_mdp *known, const char *log, pess_theorem_row *rows,
                       int64_t *count, pess_error *error) {
    if (args->source.map == NULL) {
        args->source.read.states = pess_mdp_states(known->mdp);
        args->source.read.actions = pess_mdp_actions(known->mdp);
    }
    pess_model_reward_range(known->model, &args->model.reward_range[0], &args->model.reward_range[1]);
    pess_counts *counts = NULL;
    pess_model *model = NULL;
    pess_status status = log_source_counts(&args->source, log, "theorems", &counts, error);
    if (status == PESS_OK) status = pess_model_estimate(counts, &args->model, &model, error);
    if (status == PESS_OK)
        status = pess_theorems(known->mdp, counts, model, known->start, &args->options, rows, count, error);
    pess_model_destroy(model);
    pess_counts_destroy(counts);
    return status;
}

/* Checks what the table of options cannot: what the uncertainty does not read, nothing else does. */
static int settle(theorem_args *args, const option_list *list) {
    static const char *const names[] = {"delta", "iid", "max-successors"};
    const pess_uncertainty_info *u = pess_uncertainty_find(args->options.uncertainty);
    for (size_t i = 0; u != NULL && i < COUNT_OF(names); i++)
        if (options_given(list, names[i]) && !pess_setting_listed(u->settings, names[i]))
            return report_usage("theorems", "--%s does nothing for the uncertainty %s", names[i], u->name);
    if (args->alphas == NULL) return -1;
    if (!parse_alphas(args->alphas, args->values, &args->options.alpha_count))
        return report_usage("theorems",
                            "--alphas: found '%s', expected up to %d numbers from 0 to 1, separated by commas",
                            args->alphas, ALPHA_LIMIT);
    args->options.alphas = args->values;
    return -1;
}

int cmd_theorems(int argc, char **argv) {
    theorem_args args = {.options = pess_theorem_options_defaults(), .model = pess_model_options_defaults()};
    const option own[] = {
        {"alphas", 0, OPTION_TEXT, &args.alphas, "A,B,C",
         "strengths of pessimism from 0 to 1 (default 0,0.25,0.5,0.75,1)"},
        {"start", 0, OPTION_TEXT, &args.start, "uniform|FILE", "start distribution (default uniform)"},
        {"json", 0, OPTION_FLAG, &args.as_json, NULL, "print the result as JSON"},
    };
    option_list list = {0};
    options_add_settings(&list, pess_theorem_settings(), &args.options, NULL);
    log_source_begin(&args.source, &list, "states actions format", PESS_PART_HELD_OUT);
    options_add_settings(&list, pess_model_settings(), &args.model, "reward-range return-range");
    for (size_t i = 0; i < COUNT_OF(own); i++) options_add(&list, own[i]);
    const char *paths[2] = {NULL};
    int code = options_parse(&theorems_usage, list.rows, list.count, argc, argv, paths, NULL);
    if (code < 0) code = log_source_check(&args.source, &list, "theorems");
    if (code < 0) code = settle(&args, &list);
    if (code >= 0) return code;

    pess_error error = {0};
    known_mdp known;
    if (known_mdp_read(paths[0], args.start, &known, &error) != PESS_OK) return report_error("theorems", &error);
    pess_theorem_row table[4 * ALPHA_LIMIT];
    int64_t count = 0;
    const pess_status status = run(&args, &known, paths[1], table, &count, &error);
    terminal_progress_end();
    if (status == PESS_OK) {
        if (args.as_json)
            print_json(&args, table, count);
        else
            print_text(&args, table, count);
        code = EXIT_FINE;
        for (int64_t i = 0; i < count; i++)
            if (!table[i].holds) code = EXIT_NEGATIVE;
    } else {
        code = report_error("theorems", &error);
    }
    known_mdp_free(&known);
    return code;
}

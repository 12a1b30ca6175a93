#include "log_args.h"

#include "reading.h"

#include <math.h>
#include <string.h>

void log_args_begin(log_args *args, const char *except) {
    *args = (log_args){.solve = pess_solve_options_defaults(), .model = pess_model_options_defaults()};
    options_add_settings(&args->options, pess_solve_settings(), &args->solve, except);
    log_source_begin(&args->source, &args->options, "format", PESS_PART_HELD_OUT);
    options_add_settings(&args->options, pess_model_settings(), &args->model, NULL);
    options_add(
        &args->options,
        (option){
            "start", 0, OPTION_TEXT, &args->start, "uniform|log|FILE",
            "start distribution (default: that of the log's episodes if it has an episode column, otherwise uniform)"});
}

int log_args_check(const log_args *args, const char *command_name, const char *whom,
                   bool (*reads)(const void *context, const char *setting), const void *context) {
    const int code = log_source_check(&args->source, &args->options, command_name);
    if (code >= 0) return code;
    for (size_t i = 0; i < args->options.count; i++) {
        const option *o = &args->options.rows[i];
        const pess_setting *setting = pess_setting_find(pess_solve_settings(), o->name);
        if (!*o->given || setting == NULL || !setting->specific || reads(context, o->name)) continue;
        return report_usage(command_name, "--%s does nothing for %s", o->name, whom);
    }
    return -1;
}

/* Fills in what the problem has. */
static void look(const pess_problem *problem, loaded_log *log) {
    log->counts = pess_problem_counts(problem);
    log->model = pess_problem_model(problem);
    log->start = pess_problem_start(problem);
    log->state_names = pess_counts_state_names(log->counts);
    log->action_names = pess_counts_action_names(log->counts);
    pess_counts_get_info(log->counts, &log->info);
}

pess_status loaded_log_together(const char *path, log_source *source, const pess_model_options *model,
                                const char *start, loaded_log *out, pess_error *error) {
    pess_problem *problem = NULL;
    source->read.progress = terminal_progress();
    const pess_status status =
        pess_problem_read_checked(path, &source->read, model, start, 1, &problem, error); /* returns are not checked */
    if (status != PESS_OK) return status;
    loaded_log_borrow(problem, out);
    out->problem = problem;
    return PESS_OK;
}

void loaded_log_borrow(const pess_problem *problem, loaded_log *out) {
    *out = (loaded_log){0};
    look(problem, out);
}

pess_status loaded_log_of_counts(pess_counts *counts, const pess_model_options *model, const char *start,
                                 loaded_log *out, pess_error *error) {
    *out = (loaded_log){.own = counts};
    const pess_status status = pess_problem_create(counts, model, start, &out->problem, error);
    if (status == PESS_OK)
        look(out->problem, out);
    else
        loaded_log_free(out);
    return status;
}

pess_status loaded_log_create(const pess_dataset *data, int threads, const pess_model_options *model, const char *start,
                              loaded_log *out, pess_error *error) {
    pess_counts *counts = NULL;
    *out = (loaded_log){0};
    const pess_status status = pess_counts_create(data, threads, &counts, error);
    return status == PESS_OK ? loaded_log_of_counts(counts, model, start, out, error) : status;
}

/* A log of measurements: its cells are the states. */
static pess_status read_cells(const char *path, const char *command_name, log_args *args, loaded_log *out,
                              pess_error *error) {
    pess_dataset *data = NULL;
    pess_status status = log_source_dataset(&args->source, path, command_name, &data, error);
    if (status == PESS_OK && !isnan(args->model.return_range[0]))
        status = pess_dataset_check_returns(data, args->solve.gamma, args->model.return_range, error);
    if (status == PESS_OK)
        status = loaded_log_create(data, args->source.read.threads, &args->model, args->start, out, error);
    pess_dataset_destroy(data);
    return status;
}

pess_status loaded_log_read(const char *path, const char *command_name, log_args *args, loaded_log *out,
                            pess_error *error) {
    *out = (loaded_log){0};
    args->source.read.progress = args->solve.progress = terminal_progress();
    if (args->source.map != NULL) return read_cells(path, command_name, args, out, error);
    const pess_status status = pess_problem_read_checked(path, &args->source.read, &args->model, args->start,
                                                         args->solve.gamma, &out->problem, error);
    if (status != PESS_OK) return status;
    look(out->problem, out);
    reading_notes(command_name, pess_counts_reading(out->counts));
    return PESS_OK;
}

void loaded_log_free(loaded_log *log) {
    pess_problem_destroy(log->problem);
    pess_counts_destroy(log->own);
    *log = (loaded_log){0};
}

static const char *const unknown_rules[] = {"refuse", "behaviour", "uniform", NULL};

void log_policy_options(option_list *list, log_policy *policy, const char *help) {
    options_add(list, (option){"policy", 0, OPTION_TEXT, &policy->path, "FILE", help});
    options_add(list, (option){"unknown", 0, OPTION_CHOICE, &policy->unknown, "refuse|behaviour|uniform",
                               "what to do about states of the log that the policy's file lacks: refuse the file, let "
                               "the policy act there as the log did, or let it act uniformly (default refuse)",
                               .choices = unknown_rules});
}

int log_policy_check(const option_list *list, const log_policy *policy, const char *command_name) {
    if (policy->path != NULL || !options_given(list, "unknown")) return -1;
    return report_usage(command_name, "--unknown does nothing without --policy");
}

pess_status log_policy_read(log_policy *policy, const loaded_log *log, int64_t horizon, pess_policy **out,
                            pess_error *error) {
    return pess_policy_read_for_log(policy->path, log->counts, log->model, (pess_unknown)policy->unknown, horizon, out,
                                    &policy->fit, error);
}

void log_policy_print(FILE *out, const log_policy *policy) {
    const long long filled = (long long)policy->fit.filled, skipped = (long long)policy->fit.skipped;
    if (filled > 0)
        (void)fprintf(out, "  - The policy file lacks %lld state%s of the log; there the policy %s (--unknown).\n",
                      filled, filled == 1 ? "" : "s",
                      policy->unknown == PESS_UNKNOWN_BEHAVIOUR ? "acts as the log did" : "is uniform");
    if (skipped > 0)
        (void)fprintf(out, "  - %lld row%s of the policy file %s of states that the log lacks, and %s passed over.\n",
                      skipped, skipped == 1 ? "" : "s", skipped == 1 ? "is" : "are", skipped == 1 ? "is" : "are");
}

const char *name_of(const pess_names *names, int64_t id, char buffer[NAME_SIZE]) {
    if (pess_names_given(names)) return pess_names_get(names, id);
    (void)snprintf(buffer, NAME_SIZE, "%lld", (long long)id);
    return buffer;
}

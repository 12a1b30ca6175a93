#include "log_args.h"

#include <string.h>

void log_args_begin(log_args *args, const char *except) {
    *args = (log_args){.solve = pess_solve_options_defaults(), .model = pess_model_options_defaults()};
    options_add_settings(&args->options, pess_solve_settings(), &args->solve, except);
    log_source_begin(&args->source, &args->options, "format", PESS_PART_HELD_OUT);
    options_add_settings(&args->options, pess_model_settings(), &args->model, NULL);
    options_add(&args->options, (option){"start", 0, OPTION_TEXT, &args->start, "uniform|log|FILE",
                                         "start distribution (default: as the episodes of the log where it has an "
                                         "episode column, else uniform)"});
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

pess_status loaded_log_read(const char *path, const char *command_name, log_args *args, loaded_log *out,
                            pess_error *error) {
    *out = (loaded_log){0};
    args->solve.progress = terminal_progress();
    pess_status status = log_source_counts(&args->source, path, command_name, &out->own, error);
    if (status == PESS_OK) status = pess_problem_create(out->own, &args->model, args->start, &out->problem, error);
    if (status != PESS_OK) {
        loaded_log_free(out);
        return status;
    }
    out->counts = out->own;
    out->model = pess_problem_model(out->problem);
    out->start = pess_problem_start(out->problem);
    out->state_names = pess_counts_state_names(out->counts);
    out->action_names = pess_counts_action_names(out->counts);
    pess_counts_get_info(out->counts, &out->info);
    return PESS_OK;
}

void loaded_log_free(loaded_log *log) {
    pess_problem_destroy(log->problem);
    pess_counts_destroy(log->own);
    *log = (loaded_log){0};
}

const char *name_of(const pess_names *names, int64_t id, char buffer[NAME_SIZE]) {
    if (pess_names_given(names)) return pess_names_get(names, id);
    (void)snprintf(buffer, NAME_SIZE, "%lld", (long long)id);
    return buffer;
}

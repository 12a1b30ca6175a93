#include "choosing.h"

#include <math.h>
#include <string.h>

pess_status choose_from_log(const char *path, const char *command_name, log_args *args, pess_choose_options *options,
                            pess_choice **out, pess_error *error) {
    pess_dataset *data = NULL;
    options->progress = terminal_progress();
    options->solve = &args->solve;
    options->model = &args->model;
    options->start = args->start;
    pess_status status = log_source_dataset(&args->source, path, command_name, &data, error);
    if (status == PESS_OK && !isnan(args->model.return_range[0]))
        status = pess_dataset_check_returns(data, args->solve.gamma, args->model.return_range, error);
    if (status == PESS_OK) status = pess_choose(data, options, out, error);
    terminal_progress_end();
    pess_dataset_destroy(data);
    return status;
}

void candidate_text(const pess_candidate_score *candidate, char *text, size_t size) {
    if (candidate->setting == NULL)
        (void)snprintf(text, size, "%s", candidate->algorithm);
    else
        (void)snprintf(text, size, "%s --%s %.6g", candidate->algorithm, candidate->setting, candidate->strength);
}

static void print_score(FILE *out, const pess_choice *choice, const pess_choice_info *info) {
    const pess_candidate_score *chosen = pess_choice_candidate(choice, (size_t)info->chosen);
    char name[100];
    candidate_text(chosen, name, sizeof name);
    (void)fprintf(out, "Chosen     %s: %.5g on held-out %s (standard error %.2g)", name, chosen->score,
                  info->rows ? "rows" : "episodes", chosen->error);
    if (strcmp(chosen->algorithm, "imitation") == 0)
        (void)fputs("; nothing does better\n", out);
    else
        (void)fprintf(out, ", %+.5g (%.2g) compared with imitation\n", chosen->gain, chosen->gain_error);
}

void print_choice(FILE *out, const pess_choice *choice) {
    pess_choice_info info;
    char name[100];
    pess_choice_get_info(choice, &info);
    const bool level = info.runner_up >= 0 && info.margin == 0 && info.margin_error == 0;
    print_score(out, choice, &info);
    if (info.runner_up >= 0) candidate_text(pess_choice_candidate(choice, (size_t)info.runner_up), name, sizeof name);
    if (level)
        (void)fprintf(out, "           level with %s, which has the same score on every fold\n", name);
    else if (info.runner_up >= 0)
        (void)fprintf(out, "           next best family: %s, %.4g behind (standard error %.2g)\n", name, info.margin,
                      info.margin_error);
    (void)fprintf(out, "           first%s in %.0f of 100 resamplings of the %lld folds; evidence, not a guarantee\n",
                  level ? " or level" : "", 100 * info.sure, (long long)info.folds);
}

static void json_candidate(json_writer *json, const char *key, const pess_candidate_score *c) {
    json_object(json, key);
    json_text(json, "algorithm", c->algorithm);
    json_text(json, "setting", c->setting);
    json_number(json, "strength", c->strength);
    json_number(json, "score", c->score);
    json_number(json, "score_se", c->error);
    json_number(json, "gain", c->gain);
    json_number(json, "gain_se", c->gain_error);
    json_number(json, "weighted", c->weighted);
    json_number(json, "weighted_se", c->weighted_error);
    json_number(json, "effective_episodes", c->effective);
    json_text(json, "left_out", c->left_out);
    json_close(json);
}

void json_choice(json_writer *json, const char *key, const pess_choice *choice) {
    pess_choice_info info;
    pess_choice_get_info(choice, &info);
    if (key != NULL) json_object(json, key);
    json_count(json, "folds", info.folds);
    json_count(json, info.rows ? "rows" : "episodes", info.episodes);
    json_text(json, "score", info.score == PESS_CHOOSE_MODEL ? "model" : "weights");
    json_candidate(json, "chosen", pess_choice_candidate(choice, (size_t)info.chosen));
    json_number(json, "margin", info.margin);
    json_number(json, "margin_se", info.margin_error);
    json_number(json, "sure", info.sure);
    json_number(json, "log_return", info.log_return);
    json_number(json, "log_return_se", info.log_return_error);
    json_array(json, "candidates");
    const pess_candidate_score *candidate;
    for (size_t i = 0; (candidate = pess_choice_candidate(choice, i)) != NULL; i++)
        json_candidate(json, NULL, candidate);
    json_close(json);
    if (key != NULL) json_close(json);
}

#include "estimators.h"

#include "json.h"

#include <math.h>
#include <string.h>

static const char FINDING[] =
    "The model and the doubly robust estimate differ by more than noise explains: the states of the log may not be "
    "Markov (something that matters is hidden), or the probabilities of the logged actions are wrong.";

static void print_json(const pess_estimates *e, double gamma) {
    json_writer json = json_open("evaluate");
    json_number(&json, "gamma", gamma);
    json_count(&json, "episodes", e->episodes);
    json_array(&json, "estimators");
    for (int i = 0; i < PESS_ESTIMATES; i++) {
        const pess_estimate *row = &e->rows[i];
        json_object(&json, NULL);
        json_text(&json, "estimator", row->name);
        json_text(&json, "holds", row->unbiased);
        json_number(&json, "value", row->value);
        json_number(&json, "value_se", row->error);
        json_number(&json, "effective_episodes", row->effective);
        json_number(&json, "lower_bound", row->lower_bound);
        json_number(&json, "upper_bound", row->upper_bound);
        json_close(&json);
    }
    json_close(&json);
    json_number(&json, "disagreement", e->disagreement);
    json_text(&json, "finding", e->disagrees ? FINDING : NULL);
    json_close(&json);
    json_end(&json);
}

static void print_text(const pess_estimates *e, const pess_estimator_options *options) {
    (void)printf("Estimates from %lld episode%s: evidence, not proof.\n\n%-34s %12s %12s %10s   %s\n",
                 COUNTED(e->episodes), "estimator", "value", "std. error", "effective", "holds");
    for (int i = 0; i < PESS_ESTIMATES; i++) {
        const pess_estimate *row = &e->rows[i];
        char effective[24] = "";
        if (!isnan(row->effective)) (void)snprintf(effective, sizeof effective, "%.1f", row->effective);
        (void)printf("%-34s %12.6g %12.3g %10s   %s\n", row->name, row->value, row->error, effective, row->unbiased);
    }
    if (!isnan(e->rows[0].lower_bound))
        (void)printf("\nCertified, if the policy was made without this log: at least %.6g, and at most %.6g, each with "
                     "probability %g.\n",
                     e->rows[0].lower_bound, e->rows[0].upper_bound, 1 - options->delta);
    if (options->behaviour_estimated)
        (void)puts(
            "\nThe probabilities of the logged actions are estimated from their shares in the log: this holds only "
            "where decisions\ndepended on the state alone, and nothing is certified.");
    if (e->cutoffs > 0)
        (void)printf(
            "\nOf %lld episodes that were cut off, importance sampling counts what was seen; the doubly robust "
            "sums\nadd the model's value of what follows.\n",
            (long long)e->cutoffs);
    if (e->disagrees) (void)printf("\nFinding: %s\n", FINDING);
}

int print_estimators(const char *path, log_args *args, const loaded_log *log, const pess_policy *policy,
                     const char *behaviour, bool as_json) {
    pess_estimator_options options = pess_estimator_options_defaults();
    options.gamma = args->solve.gamma;
    options.delta = args->solve.delta;
    options.threads = args->solve.threads;
    options.return_range[0] = args->model.return_range[0];
    options.return_range[1] = args->model.return_range[1];
    options.behaviour_estimated = behaviour != NULL && strcmp(behaviour, "estimated") == 0;
    pess_error error = {0};
    pess_dataset *data = NULL;
    pess_policy *declared = NULL;
    pess_estimates found;
    pess_status status = log_source_dataset(&args->source, path, NULL, &data, &error);
    if (status == PESS_OK && behaviour != NULL && !options.behaviour_estimated)
        status = pess_policy_read(behaviour, log->model, log->state_names, log->action_names, &declared, &error);
    options.behaviour = declared;
    if (status == PESS_OK)
        status = pess_estimate_policy(data, log->counts, log->model, policy, &options, &found, &error);
    terminal_progress_end();
    pess_policy_destroy(declared);
    pess_dataset_destroy(data);
    if (status != PESS_OK) return report_error("evaluate", &error);
    if (as_json)
        print_json(&found, options.gamma);
    else
        print_text(&found, &options);
    return EXIT_FINE;
}

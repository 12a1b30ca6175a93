#include "observations.h"

#include "notes.h"

#include <math.h>
#include <string.h>

static void print_json(const char *path, const pess_observations_info *i) {
    json_writer json = json_open("inspect");
    json_text(&json, "file", path);
    json_text(&json, "game", i->game);
    json_count(&json, "transitions", i->transitions);
    json_count(&json, "states", i->states);
    json_count(&json, "actions", i->actions);
    json_count(&json, "pairs", i->pairs);
    json_count(&json, "bits", i->shape.length);
    json_count(&json, "episodes", i->episodes);
    json_count(&json, "terminals", i->terminals);
    json_count(&json, "cutoffs", i->cutoffs);
    json_number(&json, "mean_return", i->mean_return);
    json_number(&json, "ci95", i->ci95);
    json_number(&json, "gamma_return", i->gamma_return);
    notes_json(&json, "collected", i->notes);
    json_close(&json);
    json_end(&json);
}

static void print_text(const char *path, const pess_observations_info *i) {
    (void)printf("%s: a dataset of %s\n", path, i->game);
    (void)printf("  transitions  %lld\n", (long long)i->transitions);
    (void)printf("  states       %lld different observations of %lld bits\n", (long long)i->states,
                 (long long)i->shape.length);
    (void)printf("  pairs        %lld different (state, action) of %lld actions\n", (long long)i->pairs,
                 (long long)i->actions);
    (void)printf("  ends         %lld terminal, %lld cut off\n", (long long)i->terminals, (long long)i->cutoffs);
    (void)printf("  episodes     %lld whole ones", (long long)i->episodes);
    if (i->episodes > 0) (void)printf(", mean return %.3f", i->mean_return);
    if (!isnan(i->ci95)) (void)printf(" ± %.3f (95 %%)", i->ci95);
    if (i->episodes > 0) (void)printf(", discounted by 0.99 %.3f", i->gamma_return);
    (void)printf("\n");
    notes_print("collected with", i->notes);
}

void observations_print(const char *path, const pess_observations *data, bool json) {
    pess_observations_info info;
    pess_observations_get_info(data, &info);
    if (json)
        print_json(path, &info);
    else
        print_text(path, &info);
}

int observations_read(const char *command_name, const char *path, pess_observations **out) {
    pess_error error;
    const pess_status status = pess_observations_read(path, out, &error);
    if (status == PESS_OK) return -1;
    const size_t length = strlen(error.message);
    if (status == PESS_INPUT)
        (void)snprintf(error.message + length, sizeof error.message - length,
                       "; copy it once more from where it is whole, or make it again with 'pess collect'");
    return report_error(command_name, &error);
}

int observations_inspect(const char *command_name, const char *path, bool json) {
    pess_observations *data = NULL;
    const int code = observations_read(command_name, path, &data);
    if (code >= 0) return code;
    observations_print(path, data, json);
    pess_observations_destroy(data);
    return EXIT_FINE;
}

#include "game_data.h"

#include "notes.h"

#include <math.h>
#include <string.h>

bool game_data_is(const char *path) {
    static const char magic[] = "PESSDATA", ending[] = ".pessdata";
    const size_t length = strlen(path);
    if (length >= strlen(ending) && strcmp(path + length - strlen(ending), ending) == 0) return true;
    char head[8];
    FILE *file = strcmp(path, "-") == 0 ? NULL : fopen(path, "rb");
    if (file == NULL) return false;
    const bool is = fread(head, 1, sizeof head, file) == sizeof head && memcmp(head, magic, sizeof head) == 0;
    (void)fclose(file);
    return is;
}

static void print_json(const char *path, const pess_observations_info *i) {
    json_writer json = json_begin(stdout, false);
    json_object(&json, NULL);
    json_text(&json, "file", path);
    json_text(&json, "game", i->game);
    json_count(&json, "transitions", i->transitions);
    json_count(&json, "states", i->states);
    json_count(&json, "actions", i->actions);
    json_count(&json, "pairs", i->pairs);
    json_count(&json, "bits", i->bits);
    json_count(&json, "episodes", i->episodes);
    json_count(&json, "terminals", i->terminals);
    json_count(&json, "cutoffs", i->cutoffs);
    json_number(&json, "mean_return", i->mean_return);
    json_number(&json, "ci95", i->ci95);
    json_number(&json, "gamma_return", i->gamma_return);
    notes_json(&json, "collected", i->notes);
    json_close(&json, '}');
    json_end(&json);
}

static void print_text(const char *path, const pess_observations_info *i) {
    (void)printf("%s: a dataset of %s\n", path, i->game);
    (void)printf("  transitions  %lld\n", (long long)i->transitions);
    (void)printf("  states       %lld different observations of %lld bits\n", (long long)i->states, (long long)i->bits);
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

void game_data_print(const char *path, const pess_observations *data, bool json) {
    pess_observations_info info;
    pess_observations_get_info(data, &info);
    if (json)
        print_json(path, &info);
    else
        print_text(path, &info);
}

int game_data_inspect(const char *command_name, const char *path, bool json) {
    pess_observations *data = NULL;
    pess_error error;
    if (pess_observations_read(path, &data, &error) != PESS_OK) return report_error(command_name, &error);
    game_data_print(path, data, json);
    pess_observations_destroy(data);
    return EXIT_FINE;
}

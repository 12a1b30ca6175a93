#include "observations.h"

#include "notes.h"

#include <math.h>
#include <string.h>

/* Whether it is known how the numbers of an observation lie side by side; files of bits do not say. */
static bool is_picture(const pess_observation_shape *shape) {
    return shape->kind != PESS_OBSERVATION_BITS && (int64_t)shape->rows * shape->cols > 1;
}

/* ---- what is odd, in sentences */

enum { MOST_ODD = 8, SENTENCE = 240 };

/* Sentences about what is odd; returns how many. */
static int list_odd(const pess_observations *data, const pess_observations_info *i,
                    const pess_observations_inspection *in, char odd[MOST_ODD][SENTENCE]) {
    int count = 0;
    pess_action_space space;
    pess_observations_actions(data, &space);
    if (space.logged != NULL)
        (void)snprintf(odd[count++], SENTENCE,
                       "Actions are vectors: --actions-grid or --actions-kmeans numbers them before a training.");
    if (i->episodes == 0)
        (void)snprintf(odd[count++], SENTENCE,
                       "No episode is complete: none has both its beginning and its end in the data.");
    else if (i->episodes == 1)
        (void)snprintf(odd[count++], SENTENCE,
                       "There is only one complete episode, so luck cannot be told from skill.");
    if (i->terminals == 0 && !(in->reward_least < in->reward_most))
        (void)snprintf(odd[count++], SENTENCE,
                       "All rewards are %g and nothing ends for good: every policy is worth the same.",
                       in->reward_most);
    if (i->actions == 1 && space.logged == NULL)
        (void)snprintf(odd[count++], SENTENCE, "There is only one action, so there is nothing to choose.");
    if (in->unlogged_actions > 0)
        (void)snprintf(odd[count++], SENTENCE, "%lld of %lld actions were never taken: nothing is known about them.",
                       (long long)in->unlogged_actions, (long long)i->actions);
    if (in->duplicates > 0 && i->shape.kind != PESS_OBSERVATION_BITS && pess_env_find(i->game) == NULL)
        (void)snprintf(odd[count++], SENTENCE,
                       "Transitions that are copies of an earlier one: %lld. Were rows written twice?",
                       (long long)in->duplicates);
    if (in->constant_features > 0)
        (void)snprintf(odd[count++], SENTENCE, "%lld of %lld features never change%s.",
                       (long long)in->constant_features, (long long)in->feature_count,
                       i->shape.kind == PESS_OBSERVATION_FLOATS ? ": networks see 0 in their place" : "");
    return count;
}

/* ---- features by name */

enum { FEATURE_NAME = 64, ALL_NAMES = 2048 };

/* Where the notes name the features of a table ("features=age,lactate"), one name each; else NULL. */
static const char *feature_names(const pess_observations *data, const pess_observations_inspection *in,
                                 char names[ALL_NAMES]) {
    if (!pess_observations_note(data, "features", names, ALL_NAMES)) return NULL;
    int64_t count = 1;
    for (const char *c = names; *c != '\0'; c++) count += *c == ',';
    return count == in->feature_count ? names : NULL;
}

/* The next of the names, or the number where there are none. */
static void next_feature(const char **names, int64_t k, char name[FEATURE_NAME]) {
    if (*names == NULL) {
        (void)snprintf(name, FEATURE_NAME, "%lld", (long long)k);
        return;
    }
    const size_t length = strcspn(*names, ",");
    (void)snprintf(name, FEATURE_NAME, "%.*s", (int)(length < FEATURE_NAME ? length : FEATURE_NAME), *names);
    *names += length + ((*names)[length] == ',');
}

/* ---- JSON */

static void json_summary(json_writer *json, const char *name, const pess_feature_summary *f) {
    json_object(json, NULL);
    if (name != NULL) json_text(json, "name", name);
    json_number(json, "least", f->least);
    json_number(json, "most", f->most);
    json_number(json, "mean", f->mean);
    json_number(json, "deviation", f->deviation);
    json_close(json);
}

static void json_features(json_writer *json, const pess_observations *data, const pess_observations_inspection *in) {
    char all[ALL_NAMES];
    const char *names = feature_names(data, in, all);
    json_array(json, "features");
    for (int64_t k = 0; k < in->feature_count; k++) {
        char name[FEATURE_NAME];
        next_feature(&names, k, name);
        json_summary(json, name, &in->feature[k]);
    }
    json_close(json);
    if (in->vector_count == 0) return;
    json_array(json, "action_numbers");
    for (int64_t k = 0; k < in->vector_count; k++) json_summary(json, NULL, &in->vector[k]);
    json_close(json);
}

static void json_actions(json_writer *json, const pess_observations *data, const pess_observations_inspection *in) {
    pess_action_space space;
    pess_observations_actions(data, &space);
    json_count(json, "action_width", space.width);
    json_array(json, "action_counts");
    for (int64_t a = 0; a < in->action_count; a++) json_count(json, NULL, in->actions[a]);
    json_close(json);
    if (space.names == NULL) return;
    json_array(json, "action_names");
    for (int64_t a = 0; a < in->action_count; a++) json_text(json, NULL, pess_names_get(space.names, a));
    json_close(json);
}

static void print_json(const char *command_name, const char *path, const pess_observations *data,
                       const pess_observations_info *i, const pess_observations_inspection *in) {
    char odd[MOST_ODD][SENTENCE];
    json_writer json = json_open(command_name);
    json_text(&json, "file", path);
    json_text(&json, "game", i->game);
    json_count(&json, "transitions", i->transitions);
    json_count(&json, "states", i->states);
    json_count(&json, "actions", i->actions);
    json_count(&json, "pairs", i->pairs);
    json_text(&json, "kind", pess_observation_kind_name(i->shape.kind));
    json_count(&json, i->shape.kind == PESS_OBSERVATION_BITS ? "bits" : "length", i->shape.length);
    if (is_picture(&i->shape)) {
        json_count(&json, "rows", i->shape.rows);
        json_count(&json, "cols", i->shape.cols);
        json_count(&json, "channels", i->shape.channels);
    }
    json_count(&json, "episodes", i->episodes);
    json_count(&json, "terminals", i->terminals);
    json_count(&json, "cutoffs", i->cutoffs);
    json_number(&json, "mean_return", i->mean_return);
    json_number(&json, "ci95", i->ci95);
    json_number(&json, "gamma_return", i->gamma_return);
    json_number(&json, "return_least", in->return_least);
    json_number(&json, "return_median", in->return_median);
    json_number(&json, "return_most", in->return_most);
    json_count(&json, "length_least", in->length_least);
    json_count(&json, "length_median", in->length_median);
    json_count(&json, "length_most", in->length_most);
    json_number(&json, "reward_min", in->reward_least);
    json_number(&json, "reward_max", in->reward_most);
    json_number(&json, "reward_mean", in->reward_mean);
    json_actions(&json, data, in);
    json_count(&json, "duplicates", in->duplicates);
    json_count(&json, "constant_features", in->constant_features);
    json_features(&json, data, in);
    json_array(&json, "odd");
    for (int k = 0, count = list_odd(data, i, in, odd); k < count; k++) json_text(&json, NULL, odd[k]);
    json_close(&json);
    notes_json(&json, "collected", i->notes);
    json_close(&json);
    json_end(&json);
}

/* ---- text */

static void print_episodes(const pess_observations_info *i, const pess_observations_inspection *in) {
    (void)printf("  episodes     %lld whole", (long long)i->episodes);
    if (i->episodes > 0) (void)printf(", mean return %.3f", i->mean_return);
    if (!isnan(i->ci95)) (void)printf(" ± %.3f (95 %%)", i->ci95);
    if (i->episodes > 0) (void)printf(", discounted by 0.99 %.3f", i->gamma_return);
    (void)printf("\n");
    if (i->episodes == 0) return;
    (void)printf("  returns      %g to %g, the median %g\n", in->return_least, in->return_most, in->return_median);
    (void)printf("  lengths      %lld to %lld, the median %lld\n", (long long)in->length_least,
                 (long long)in->length_most, (long long)in->length_median);
}

static void print_actions(const pess_observations *data, const pess_observations_inspection *in) {
    enum { SHOWN = 12 };
    pess_action_space space;
    pess_observations_actions(data, &space);
    (void)printf("  actions     ");
    if (space.logged != NULL) {
        (void)printf(" vectors of %lld number%s\n", COUNTED(space.width));
        return;
    }
    for (int64_t a = 0; a < in->action_count && a < SHOWN; a++) {
        char number[24];
        (void)snprintf(number, sizeof number, "%lld", (long long)a);
        (void)printf(" %s: %lld%s", space.names != NULL ? pess_names_get(space.names, a) : number,
                     (long long)in->actions[a], a + 1 < in->action_count ? "," : "");
    }
    (void)puts(in->action_count > SHOWN ? " …" : "");
}

static void print_summary(const char *name, const pess_feature_summary *f) {
    (void)printf("  %-20s %12.5g %12.5g %12.5g %12.5g\n", name, f->least, f->most, f->mean, f->deviation);
}

static void print_features(const pess_observations *data, const pess_observations_inspection *in) {
    enum { SHOWN = 24 };
    char all[ALL_NAMES];
    const char *names = feature_names(data, in, all);
    if (in->feature_count == 0) return;
    (void)printf("\n  %-20s %12s %12s %12s %12s\n", "feature", "least", "most", "mean", "deviation");
    for (int64_t k = 0; k < in->feature_count && k < SHOWN; k++) {
        char name[FEATURE_NAME];
        next_feature(&names, k, name);
        print_summary(name, &in->feature[k]);
    }
    if (in->feature_count > SHOWN)
        (void)printf("  … and %lld more (--json has all)\n", (long long)(in->feature_count - SHOWN));
    for (int64_t k = 0; k < in->vector_count && k < SHOWN; k++) {
        char name[FEATURE_NAME];
        (void)snprintf(name, sizeof name, "action, number %lld", (long long)k);
        print_summary(name, &in->vector[k]);
    }
}

static void print_text(const char *path, const pess_observations *data, const pess_observations_info *i,
                       const pess_observations_inspection *in) {
    char odd[MOST_ODD][SENTENCE];
    (void)printf("%s: a dataset of %s\n", path, i->game[0] != '\0' ? i->game : "observations");
    (void)printf("  transitions  %lld\n", (long long)i->transitions);
    (void)printf("  states       %lld different observations of %lld %s", (long long)i->states,
                 (long long)i->shape.length, pess_observation_kind_name(i->shape.kind));
    if (is_picture(&i->shape))
        (void)printf(": %d rows × %d columns × %d channel%s", i->shape.rows, i->shape.cols, i->shape.channels,
                     i->shape.channels == 1 ? "" : "s");
    (void)puts("");
    if (in->vector_count == 0)
        (void)printf("  pairs        %lld different (state, action) of %lld actions\n", (long long)i->pairs,
                     (long long)i->actions);
    (void)printf("  ends         %lld terminal, %lld cut off\n", (long long)i->terminals, (long long)i->cutoffs);
    print_episodes(i, in);
    (void)printf("  rewards      %g to %g, mean %.6g\n", in->reward_least, in->reward_most, in->reward_mean);
    print_actions(data, in);
    print_features(data, in);
    const int count = list_odd(data, i, in, odd);
    if (count > 0) (void)puts("\nOdd");
    for (int k = 0; k < count; k++) (void)printf("  - %s\n", odd[k]);
    notes_print("collected with", i->notes);
}

static int print(const char *command_name, const char *path, const pess_observations *data, bool json, bool strict) {
    pess_observations_info info;
    pess_observations_inspection *in = NULL;
    pess_error error;
    char odd[MOST_ODD][SENTENCE];
    if (pess_observations_inspect(data, &in, &error) != PESS_OK) return report_error(command_name, &error);
    pess_observations_get_info(data, &info);
    if (json)
        print_json(command_name, path, data, &info, in);
    else
        print_text(path, data, &info, in);
    const bool negative = strict && list_odd(data, &info, in, odd) > 0;
    pess_observations_inspection_destroy(in);
    return negative ? EXIT_NEGATIVE : EXIT_FINE;
}

void observations_warn(const char *command_name, const pess_observations *data) {
    pess_observations_info info;
    pess_observations_inspection *in = NULL;
    char odd[MOST_ODD][SENTENCE];
    pess_observations_get_info(data, &info);
    if (info.shape.kind == PESS_OBSERVATION_BITS || pess_observations_inspect(data, &in, NULL) != PESS_OK) return;
    pess_action_space space;
    pess_observations_actions(data, &space);
    for (int k = space.logged != NULL, count = list_odd(data, &info, in, odd); k < count; k++) /* vectors: refused */
        (void)fprintf(stderr, "pess %s: note: %s\n", command_name, odd[k]);
    pess_observations_inspection_destroy(in);
}

int observations_print(const char *command_name, const char *path, const pess_observations *data, bool json) {
    return print(command_name, path, data, json, false);
}

/* ---- reading */

void data_source_begin(data_source *source, option_list *list, const pess_read_options *read, const char *except) {
    *source = (data_source){
        .reading = pess_observations_options_defaults(), .actions = pess_actions_options_defaults(), .read = read};
    options_add_settings(list, pess_observations_settings(), &source->reading, except);
    options_add(
        list,
        (option){"features", 0, OPTION_TEXT, &source->features, "A,B,…",
                 "the data are a table: these columns, by name, make up an observation (docs/logs.md has the roles "
                 "of the others)"});
    options_add_settings(list, pess_actions_settings(), &source->actions, "");
}

bool data_source_is(const data_source *source, const char *path) {
    return source->features != NULL || pess_observations_file(path);
}

/* The rows of a table with feature columns. */
static pess_status read_table(const char *path, const data_source *source, pess_observations **out, pess_error *error) {
    pess_measurements *measurements = NULL;
    pess_measurements_options options = pess_measurements_options_defaults();
    options.features = source->features;
    options.read = source->read;
    options.last_row = source->read->last_row;
    options.progress = terminal_progress();
    pess_error why = {0};
    pess_status status = pess_measurements_read(path, &options, &measurements, error);
    terminal_progress_end();
    if (status == PESS_OK) status = pess_measurements_observations(measurements, &source->reading, out, &why);
    if (why.status != PESS_OK) {
        *error = why;
        (void)snprintf(error->message, sizeof error->message, "%.200s: %.700s", path, why.message);
    }
    pess_measurements_destroy(measurements);
    return status;
}

/* Numbers vectors as it is asked for, and says what became of them. */
static pess_status number_actions(const char *command_name, const data_source *source, pess_observations *data,
                                  pess_error *error) {
    pess_actions_fit fit;
    if (source->actions.grid == NULL && source->actions.kmeans == 0) return PESS_OK;
    const pess_status status = pess_observations_number_actions(data, &source->actions, &fit, error);
    if (status != PESS_OK) return status;
    (void)fprintf(stderr,
                  "pess %s: actions of %lld number%s became %lld choices (%s), which lose %.2g %% of their variance; "
                  "%lld of them were never taken\n",
                  command_name, (long long)fit.width, fit.width == 1 ? "" : "s", (long long)fit.actions,
                  source->actions.grid != NULL ? "grid" : "k-means", 100 * fit.lost, (long long)fit.unlogged);
    return PESS_OK;
}

static const char *remedy_of(pess_status status, const char *path) {
    if (status != PESS_INPUT) return "";
    if (pess_file_kind_of(path) == PESS_FILE_OBSERVATIONS)
        return "; copy it again from where it is intact, or make it again with 'pess collect'";
    const bool arrays = strstr(path, ".npz") != NULL || strstr(path, ".h5") != NULL || strstr(path, ".hdf5") != NULL;
    return pess_file_kind_of(path) == PESS_FILE_OTHER && !pess_observations_file(path) && !arrays
               ? "; of a table, --features names the columns that are observations"
               : "";
}

int data_source_read(const char *command_name, const char *path, const data_source *source, pess_observations **out) {
    pess_error error = {0};
    pess_observations *data = NULL;
    const bool table = source->features != NULL;
    pess_status status = table ? read_table(path, source, &data, &error)
                               : pess_observations_import(path, &source->reading, &data, &error);
    const size_t length = strlen(error.message);
    if (status != PESS_OK && !table)
        (void)snprintf(error.message + length, sizeof error.message - length, "%s", remedy_of(status, path));
    if (status == PESS_OK) status = number_actions(command_name, source, data, &error);
    if (status == PESS_OK) {
        *out = data;
        return -1;
    }
    pess_observations_destroy(data);
    return report_error(command_name, &error);
}

int observations_inspect(const char *command_name, const char *path, const data_source *source, bool json,
                         bool strict) {
    pess_observations *data = NULL;
    int code = data_source_read(command_name, path, source, &data);
    if (code >= 0) return code;
    code = print(command_name, path, data, json, strict);
    pess_observations_destroy(data);
    return code;
}

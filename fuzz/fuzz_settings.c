/* Settings as text: the first byte chooses a table, each line is "name=value". What is taken can be written as text and
 * taken again, to the same value. */
#include "fuzz_files.h"

static const pess_setting_table *(*const tables[])(void) = {
    pess_read_settings,     pess_model_settings,  pess_solve_settings,      pess_simulate_settings,
    pess_certify_settings,  pess_choose_settings, pess_experiment_settings, pess_train_settings,
    pess_dqn_settings,      pess_cells_settings,  pess_env_settings,        pess_collect_settings,
    pess_protocol_settings, pess_score_settings,  pess_act_settings,
};

enum { LARGEST = 1 << 14 };
_Alignas(16) static uint8_t options[LARGEST], copy[LARGEST];

static void set_line(const pess_setting_table *table, char *line) {
    char *value = strchr(line, '='), text[300], again[300];
    pess_error error = {0};
    if (value == NULL) return;
    *value++ = '\0';
    const pess_status status = pess_setting_set(table, options, line, value, &error);
    if (status != PESS_OK) {
        fuzz_refused(status, &error);
        return;
    }
    pess_setting_get(table, options, line, text, sizeof text);
    if (strlen(text) >= sizeof text - 1) return; /* cut */
    memcpy(copy, options, table->size);          /* texts are borrowed: those of this function must not stay */
    if (pess_setting_set(table, copy, line, text, &error) != PESS_OK) return; /* "as the log shows" is no value */
    pess_setting_get(table, copy, line, again, sizeof again);
    if (strcmp(text, again) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size < 2 || size > 1 << 12) return 0;
    const pess_setting_table *table = tables[bytes[0] % (sizeof tables / sizeof *tables)]();
    char *text = malloc(size);
    if (text == NULL || table->size > sizeof options) abort();
    memcpy(text, bytes + 1, size - 1);
    text[size - 1] = '\0';
    memset(options, 0, sizeof options);
    pess_setting_defaults(table, options);
    for (char *line = text; line != NULL;) {
        char *next = strchr(line, '\n');
        if (next != NULL) *next++ = '\0';
        set_line(table, line);
        line = next;
    }
    pess_error error = {0};
    const pess_status status = pess_setting_check(table, options, &error);
    if (status != PESS_OK) fuzz_refused(status, &error);
    free(text);
    return 0;
}

#include "protocol_arg.h"

#include <string.h>

void protocol_add_options(protocol_arg *arg, option_list *list) {
    arg->numbers = pess_protocol_defaults();
    options_add(list, (option){"protocol", 0, OPTION_TEXT, &arg->name, "PROTOCOL",
                               "how long to train, by name (default: fit for bytes and floats, quick for bits)"});
    options_add_settings(list, pess_protocol_settings(), &arg->numbers, arg->except);
}

int protocol_check(const protocol_arg *arg, const char *command_name) {
    pess_protocol named;
    pess_error error;
    if (arg->name == NULL || pess_protocol_find(arg->name, &named, &error) == PESS_OK) return -1;
    return report_usage(command_name, "--%s", error.message);
}

/* A constant step size stays constant. */
int protocol_settle(const protocol_arg *arg, const option_list *list, const char *command_name,
                    const pess_observations *data, double gamma, pess_protocol *out) {
    const pess_setting_table *table = pess_protocol_settings();
    pess_observations_info info;
    pess_error error;
    pess_observations_get_info(data, &info);
    const char *name = arg->name != NULL ? arg->name : info.shape.kind == PESS_OBSERVATION_BITS ? "quick" : "fit";
    if (pess_protocol_find(name, out, &error) != PESS_OK) return report_usage(command_name, "--%s", error.message);
    if (strcmp(name, "fit") == 0) pess_protocol_fit(data, gamma, out);
    const bool constant = !(out->rate_last < out->rate);
    for (size_t i = 0; i < table->count; i++) {
        const char *row = table->rows[i].name;
        char value[64];
        if (pess_setting_listed(arg->except, row) || !options_given(list, row)) continue;
        pess_setting_get(table, &arg->numbers, row, value, sizeof value);
        if (pess_setting_set(table, out, row, value, &error) != PESS_OK) return report_error(command_name, &error);
    }
    if (constant && options_given(list, "rate") && !options_given(list, "rate-last")) out->rate_last = out->rate;
    return EXIT_FINE;
}

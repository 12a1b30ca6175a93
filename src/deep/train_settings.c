/* The settings of a training on a fixed dataset, and the knobs of its learner. */
#include "deep/run_settings.h"
#include "deep/setup.h"

#include <string.h>

#define FIELD(name) PESS__FIELD(pess_train_options, name)

static const pess_setting rows[] = {
    {.name = "algorithm",
     .letter = 'a',
     .kind = PESS_SETTING_TEXT,
     FIELD(algorithm),
     .standard = "naive",
     .argument = "LEARNER",
     .sentence = "learner: imitation, naive, proximal, ua, …"},
    {.name = "uncertainty",
     .letter = 'u',
     .kind = PESS_SETTING_TEXT,
     FIELD(uncertainty),
     .argument = "NEURAL-UNCERTAINTY",
     .sentence = "uncertainty of ua: counts, support-net, imitation, …",
     .where_unset = "the learner's own; counts for ua"},
    {.name = "u-cap",
     .kind = PESS_SETTING_NUMBER,
     FIELD(u_cap),
     PESS__ABOVE(0),
     .argument = "X",
     .sentence = "largest uncertainty",
     .where_unset = "the uncertainty's own",
     .specific = true},
    {.name = "relative",
     .kind = PESS_SETTING_SWITCH,
     FIELD(relative),
     .standard = "on",
     .argument = "on|off",
     .sentence = "measure uncertainty from the smallest in its state; otherwise every action is penalised, and ending "
                 "an episode early looks good",
     .specific = true},
    {.name = "uncertainty-steps",
     .kind = PESS_SETTING_COUNT,
     FIELD(uncertainty_steps),
     PESS__FROM_TO(1, 1e9),
     .argument = "N",
     .sentence = "gradient steps of the uncertainty's network, each with a quarter of the batch",
     .where_unset = "three fifths of those of the value network",
     .specific = true},
    {.name = "network",
     .kind = PESS_SETTING_TEXT,
     FIELD(network),
     .argument = "NETWORK|LAYERS",
     .sentence = "a network by its name, or its layers, such as 'conv 32 8/4, dense 512 leaky'",
     .where_unset = "mlp for floats, conv for boards, nature for large pictures"},
    {.name = "tensorboard",
     .kind = PESS_SETTING_TEXT,
     FIELD(tensorboard),
     .argument = "DIR",
     .sentence = "curves for TensorBoard: an event file in this directory",
     .where_unset = "none"},
    {.name = "imitation",
     .kind = PESS_SETTING_TEXT,
     FIELD(imitation),
     .argument = "FILE",
     .sentence = "an imitation network that was already trained on these data",
     .where_unset = "one is trained first",
     .specific = true},
    PESS__RUN_SETTINGS(pess_train_options),
    {.name = "checkpoint-seconds",
     .kind = PESS_SETTING_NUMBER,
     FIELD(checkpoint_seconds),
     .standard = "10",
     PESS__AT_LEAST(0),
     .argument = "S",
     .unit = "seconds",
     .sentence = "least time between checkpoints, which are taken after updates"},
    {.name = "report-seconds",
     .kind = PESS_SETTING_NUMBER,
     FIELD(report_seconds),
     .standard = "0.1",
     PESS__AT_LEAST(0),
     .argument = "S",
     .unit = "seconds",
     .sentence = "least time between reports of progress"},
};

static const pess_setting_table table = PESS__SETTING_TABLE("train", pess_train_options, rows);

const pess_setting_table *pess_train_settings(void) { return &table; }

pess_train_options pess_train_options_defaults(void) {
    pess_train_options options;
    pess_setting_defaults(&table, &options);
    options.protocol = pess_protocol_defaults();
    return options;
}

pess_status pess__train_settle(const pess_train_options *options, pess_train_options *out, pess_error *error) {
    PESS_TRY(pess__settle(&table, options, out, error));
    const pess_protocol given = out->protocol.size > 0 ? out->protocol : pess_protocol_defaults();
    PESS_TRY(pess__settle(pess_protocol_settings(), &given, &out->protocol, error));
    if (out->data == NULL || out->data->transitions < 1) return pess__fail(error, PESS_ARGUMENT, "there are no data");
    if (out->data->actions > PESS__MAX_ACTIONS)
        return pess__fail(error, PESS_ARGUMENT, "the data have %lld actions; up to %d are possible",
                          (long long)out->data->actions, PESS__MAX_ACTIONS);
    if (out->out == NULL || out->out[0] == '\0' || strlen(out->out) > PESS__PATH_SIZE - 128)
        return pess__fail(error, PESS_ARGUMENT, "no directory for the results, or a name too long");
    return PESS_OK;
}

/* A setting that is set, though it has no default, and that the learner never reads is a mistake: the result would be
 * the same without it. */
pess_status pess__train_check_use(const pess__setup *s, pess_error *error) {
    for (size_t i = 0; i < table.count; i++) {
        const pess_setting *row = &table.rows[i];
        if (row->specific && row->standard == NULL && !pess_setting_is_default(&table, &s->options, row->name) &&
            !pess_setting_listed(s->learner->info.settings, row->name))
            return pess__fail(error, PESS_ARGUMENT, "%s: does nothing for %s", row->name, s->learner->info.name);
    }
    return PESS_OK;
}

pess_status pess__train_read_knobs(const pess_learner_info *info, const char *text, void *out, pess_error *error) {
    char name[PESS__WORD_SIZE], value[PESS__WORD_SIZE];
    if (info->knobs != NULL) pess_setting_defaults(info->knobs, out);
    for (const char *words = text != NULL ? text : ""; pess__setting_word(&words, name, value);) {
        const pess_setting *row = info->knobs != NULL ? pess_setting_find(info->knobs, name) : NULL;
        pess_error why;
        if (row == NULL) return pess__fail(error, PESS_ARGUMENT, "%s: does nothing for %s", name, info->name);
        if (pess_setting_set(info->knobs, out, name, value, &why) != PESS_OK)
            return pess__fail(error, PESS_ARGUMENT, "%s (%s: %s)", why.message, info->name, row->sentence);
    }
    return PESS_OK;
}

/* How long to train and evaluate: a table of settings, and named sets of them. docs/deep.md tells how `quick`, which is
 * the table's defaults, and `standard` were chosen: on Breakout with data of ε = 0 and ε = 1 alone. They are not to be
 * changed by what the experiment shows. */
#include "core/settings.h"
#include "pess.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FIELD(name) PESS__FIELD(pess_protocol, name)
#define COUNT(what, field) .name = (what), .kind = PESS_SETTING_COUNT, FIELD(field), .argument = "N"
#define RATE(what, field) .name = (what), .kind = PESS_SETTING_NUMBER, FIELD(field), PESS__AT_LEAST(0), .argument = "R"
#define OF_QUICK .where_unset = "of protocol quick"

static const pess_setting rows[] = {
    {COUNT("updates", updates), .standard = "40", PESS__FROM_TO(1, 1e6), OF_QUICK, .specific = true,
     .sentence = "Bellman updates"},
    {COUNT("steps", steps), .standard = "400", PESS__FROM_TO(1, 1e9), OF_QUICK, .specific = true,
     .sentence = "gradient steps per update"},
    {COUNT("batch", batch), .standard = "256", PESS__FROM_TO(1, 1 << 20), OF_QUICK, .specific = true,
     .sentence = "transitions per gradient step"},
    {RATE("rate", rate), .standard = "0.0003", OF_QUICK, .specific = true,
     .sentence = "Adam's step size at the first step of an update"},
    {RATE("rate-last", rate_last), .standard = "0", OF_QUICK, .specific = true,
     .sentence = "Adam's step size at the last step of an update; linear in between"},
    {.name = "reset",
     .kind = PESS_SETTING_SWITCH,
     FIELD(reset),
     .standard = "off",
     .argument = "on|off",
     OF_QUICK,
     .specific = true,
     .sentence = "start the value networks afresh at each update"},
    {.name = "settle",
     .kind = PESS_SETTING_SWITCH,
     FIELD(settle),
     .standard = "off",
     .argument = "on|off",
     OF_QUICK,
     .sentence = "learn from nine episodes in ten until the tenth shows no more improvement; updates and "
                 "imitation-steps are then upper limits, and an update makes up to four times its steps"},
    {.name = "price-share",
     .kind = PESS_SETTING_NUMBER,
     FIELD(price_share),
     .standard = "1",
     PESS__FROM_TO(0, 1),
     .argument = "S",
     OF_QUICK,
     .specific = true,
     .sentence =
         "lower the weight of the regulariser, to no less than a quarter, while more than this share of the gap "
         "between logged actions and the best one comes from the regulariser itself; 1: never"},
    {COUNT("imitation-steps", imitation_steps), .standard = "12000", PESS__FROM_TO(10, 1e9), OF_QUICK, .specific = true,
     .sentence = "gradient steps of the imitation network"},
    {COUNT("imitation-batch", imitation_batch), .standard = "256", PESS__FROM_TO(1, 1 << 20), OF_QUICK,
     .specific = true, .sentence = "transitions per gradient step of the imitation network"},
    {RATE("imitation-rate", imitation_rate), .standard = "0.001", OF_QUICK, .specific = true,
     .sentence = "first step size of the imitation network, from which those of the networks of uncertainties and "
                 "models follow"},
    {RATE("imitation-rate-last", imitation_rate_last), .standard = "0", OF_QUICK, .specific = true,
     .sentence = "last step size of the imitation network; linear in between"},
    {COUNT("eval-every", eval_every), .standard = "5", PESS__FROM_TO(0, 1e6), OF_QUICK,
     .sentence = "updates between evaluations; 0: only the scored ones"},
    {COUNT("eval-episodes", eval_episodes), .standard = "50", PESS__FROM_TO(0, 1e6), OF_QUICK,
     .sentence = "episodes per evaluation"},
    {COUNT("score-episodes", score_episodes), .standard = "200", PESS__FROM_TO(0, 1e6), OF_QUICK,
     .sentence = "episodes for each of the last five updates; their mean is the score"},
    {COUNT("control-episodes", control_episodes), .standard = "50", PESS__FROM_TO(0, 1e6), OF_QUICK, .specific = true,
     .sentence = "further episodes for each of the last five updates, acting by argmax, of an algorithm that samples"},
    {COUNT("transitions", transitions), .standard = "500000", PESS__FROM_TO(1, 2147483647), OF_QUICK,
     .sentence = "transitions of a dataset that an experiment collects, unless told otherwise"},
};

static const pess_setting_table table = PESS__SETTING_TABLE("protocol", pess_protocol, rows);

/* What differs from the defaults. */
static const pess_protocol_info protocols[] = {
    {.name = "smoke",
     .summary = "takes seconds, for tests: nothing is learnt",
     .settings = "updates=6 steps=20 batch=64 imitation-steps=100 imitation-batch=64 eval-every=2 eval-episodes=4 "
                 "score-episodes=8 control-episodes=4 transitions=5000"},
    {.name = "quick",
     .summary = "four games, seven epsilons, three trials in two to three hours on two cores",
     .settings = ""},
    {.name = "standard",
     .summary = "a night on two cores",
     .settings = "updates=100 steps=1000 imitation-steps=40000 eval-every=10"},
    {.name = "settled",
     .summary = "nine episodes in ten, until the tenth shows no more improvement, up to a limit",
     .settings = "settle=on updates=300 steps=200 imitation-steps=100000 eval-every=20",
     .ranges = "at most 300 updates x 200 to 800 steps, imitation at most 100000 steps"},
    {.name = "fit",
     .summary = "by the data and gamma: an update goes over the data once, until values of 0 weigh 1/20 at most",
     .settings = "price-share=0.5",
     .ranges = "40 to 400 updates x 100 to 400 steps, imitation 2000 to 20000 steps"},
    {.name = "paper",
     .summary =
         "250 updates of 50 epochs, each from a new network, as the authors' code has them; imitation is shorter",
     .settings = "updates=250 steps=24400 batch=1024 rate-last=0.0003 reset=on imitation-steps=24400 "
                 "imitation-batch=1024 imitation-rate=0.0003 imitation-rate-last=0.0003 eval-every=10"},
};
enum { QUICK = 1 };

const pess_setting_table *pess_protocol_settings(void) { return &table; }

const pess_protocol_info *pess_protocol_list(size_t index) {
    return index < sizeof protocols / sizeof protocols[0] ? &protocols[index] : NULL;
}

/* The defaults, and the words "name=value" of the preset. */
static void fill(const pess_protocol_info *preset, pess_protocol *out) {
    pess_setting_defaults(&table, out);
    out->name = preset->name;
    char name[PESS__WORD_SIZE], value[PESS__WORD_SIZE];
    for (const char *words = preset->settings; pess__setting_word(&words, name, value);)
        (void)pess_setting_set(&table, out, name, value, NULL);
}

pess_protocol pess_protocol_defaults(void) {
    pess_protocol protocol;
    fill(&protocols[QUICK], &protocol);
    return protocol;
}

/* n within two bounds. */
static int64_t within(int64_t n, int64_t least, int64_t most) { return n < least ? least : n > most ? most : n; }

/* U updates begin from values of 0, whose weight in the last ones is γ^U: at most 1/20 here. An update goes over the
 * data once, imitation ten times, within bounds that keep a small dataset from being learnt too briefly and a large one
 * from taking hours. Ten evaluations. */
void pess_protocol_fit(const pess_observations *data, double gamma, pess_protocol *out) {
    pess_observations_info info;
    pess_observations_get_info(data, &info);
    (void)pess_protocol_find("fit", out, NULL);
    out->updates = gamma > 0 && gamma < 1 ? within((int64_t)ceil(log(0.05) / log(gamma)), 40, 400) : 400;
    out->steps = within(info.transitions / out->batch, 100, 400);
    out->imitation_steps = within(10 * info.transitions / out->imitation_batch, 2000, 20000);
    out->eval_every = out->updates / 10;
}

pess_status pess_protocol_find(const char *name, pess_protocol *out, pess_error *error) {
    char names[200] = "";
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++) {
        const size_t used = strlen(names);
        (void)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", protocols[i].name);
        if (name == NULL || strcmp(protocols[i].name, name) != 0) continue;
        fill(&protocols[i], out);
        return PESS_OK;
    }
    return pess__fail(error, PESS_ARGUMENT, "protocol: found '%.60s', expected one of %s", name != NULL ? name : "",
                      names);
}

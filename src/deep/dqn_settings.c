/* The settings of a DQN training: their table, and the text by which a checkpoint knows its own run. */
#include "deep/dqn.h"

#include "core/text.h"
#include "deep/run_settings.h"

#include <stdio.h>
#include <string.h>

#define FIELD(name) PESS__FIELD(pess_dqn_options, name)
#define COUNT(what, field, default_text)                                                                               \
    .name = (what), .kind = PESS_SETTING_COUNT, FIELD(field), .standard = (default_text), .argument = "N"
#define NUMBER(what, field, default_text, shown)                                                                       \
    .name = (what), .kind = PESS_SETTING_NUMBER, FIELD(field), .standard = (default_text), .argument = (shown)
#define MOST_FRAMES 1e15
#define MOST_UPDATES (1 << 30)

static const pess_setting rows[] = {
    PESS__RUN_SETTINGS(pess_dqn_options),
    {COUNT("frames", frames, "5000000"), PESS__FROM_TO(1, MOST_FRAMES),
     .sentence = "frames in all environments together"},
    {.name = "network",
     .kind = PESS_SETTING_TEXT,
     FIELD(network),
     .standard = "dqn",
     .argument = "NETWORK|LAYERS",
     .sentence = "a network by its name, or its layers, such as 'conv 16 3/1, dense 128'"},
    {COUNT("envs", envs, "32"), PESS__FROM_TO(1, 100000), .sentence = "environments that step together"},
    {COUNT("replay", replay, "100000"), PESS__FROM_TO(1, 2147483648), .sentence = "transitions kept for replay"},
    {COUNT("batch", batch, "32"), PESS__FROM_TO(1, 1 << 20), .sentence = "samples per update"},
    {COUNT("train-every", train_every, "8"), PESS__FROM_TO(1, MOST_UPDATES), .sentence = "frames per update"},
    {COUNT("target-every", target_every, "1000"), PESS__FROM_TO(1, MOST_UPDATES),
     .sentence = "updates between copies to the target network"},
    {COUNT("average", average, "1000"), PESS__FROM_TO(1, MOST_UPDATES),
     .sentence = "number of updates over which the weights are averaged; the average is evaluated and kept"},
    {COUNT("warmup", warmup, "5000"), PESS__FROM_TO(1, MOST_FRAMES),
     .sentence = "frames of random play before the first update"},
    {NUMBER("epsilon-first", epsilon_first, "1", "E"), PESS__FROM_TO(0, 1),
     .sentence = "probability of a random action at the start"},
    {NUMBER("epsilon-last", epsilon_last, "0.05", "E"), PESS__FROM_TO(0, 1),
     .sentence = "probability of a random action at the end"},
    {COUNT("epsilon-frames", epsilon_frames, "250000"), PESS__FROM_TO(1, MOST_FRAMES),
     .sentence = "frames over which that probability falls"},
    {COUNT("n-step", n_step, "3"), PESS__FROM_TO(1, 1000),
     .sentence = "rewards summed before the value of the state that follows them"},
    {NUMBER("action-gap", action_gap, "0", "B"), PESS__FROM_TO(0, 0.99),
     .sentence = "advantage learning: how far an action falls short of the best counts 1/(1 - B) times"},
    {NUMBER("rate", rate, "0.0003", "R"), PESS__AT_LEAST(0), .sentence = "Adam's step size at the start"},
    {NUMBER("rate-last", rate_last, "0.00003", "R"), PESS__AT_LEAST(0),
     .sentence = "Adam's step size at the end; it changes linearly over the frames"},
    {NUMBER("adam-epsilon", adam_epsilon, "0.00015", "E"), .least = 0, .most = 1, .open = PESS_SETTING_ABOVE_LEAST,
     .sentence = "added to Adam's square root, so that small gradients make small steps"},
    {NUMBER("huber", huber, "1", "D"), PESS__ABOVE(0), .sentence = "error beyond which the loss is linear"},
    {COUNT("step-limit", step_limit, "5000"), PESS__FROM_TO(0, MOST_FRAMES),
     .sentence = "steps after which a training episode is cut off; 0: never"},
    {COUNT("evaluate-every", evaluate_every, "100000"), PESS__FROM_TO(1, MOST_FRAMES),
     .sentence = "frames between evaluations"},
    {COUNT("evaluate-episodes", evaluate_episodes, "100"), PESS__FROM_TO(1, 1e6),
     .sentence = "greedy episodes per evaluation"},
    {COUNT("final-episodes", final_episodes, "1000"), PESS__FROM_TO(1, 1e7),
     .sentence = "episodes played to choose among the best five"},
    {COUNT("checkpoint-every", checkpoint_every, "500000"), PESS__FROM_TO(1, MOST_FRAMES),
     .sentence = "frames between checkpoints"},
};

static const pess_setting_table table = PESS__SETTING_TABLE("dqn", pess_dqn_options, rows);

PESS__SETTINGS_OF(dqn, table)

pess_status pess__dqn_settle(const pess_dqn_options *options, pess_dqn_options *out, pess_error *error) {
    PESS_TRY(pess__settle(&table, options, out, error));
    if (out->out == NULL || out->out[0] == '\0' || strlen(out->out) > PESS__PATH_SIZE - 64)
        return pess__fail(error, PESS_ARGUMENT, "no directory for the results, or a name too long");
    if (out->game == NULL && out->mdp == NULL) return pess__fail(error, PESS_ARGUMENT, "no game is named");
    return PESS_OK;
}

static bool newer(const char *setting) { return strcmp(setting, "average") == 0 || strcmp(setting, "action-gap") == 0; }

/* The newer settings are left out at their defaults: players made before these could be chosen are still made again
 * byte for byte. */
void pess__dqn_describe(pess__dqn *dqn) {
    static const char *const lines[][2] = {{"seed", "seed"},
                                           {"frames", "frames"},
                                           {"envs", "envs"},
                                           {"replay", "replay"},
                                           {"batch", "batch"},
                                           {"train_every", "train-every"},
                                           {"target_every", "target-every"},
                                           {"average", "average"},
                                           {"warmup", "warmup"},
                                           {"epsilon", "epsilon-first epsilon-last epsilon-frames"},
                                           {"gamma", "gamma"},
                                           {"n_step", "n-step"},
                                           {"action_gap", "action-gap"},
                                           {"rate", "rate rate-last"},
                                           {"huber", "huber"},
                                           {"adam_epsilon", "adam-epsilon"},
                                           {"step_limit", "step-limit"},
                                           {"evaluate", "evaluate-every evaluate-episodes final-episodes"}};
    const pess_dqn_options *o = &dqn->options;
    size_t used = (size_t)snprintf(dqn->settings, sizeof dqn->settings, "game=%s\nnetwork=%s\nkernels=%s\n",
                                   o->mdp != NULL ? "mdp" : o->game, o->network, dqn->online->kernels->sums);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char values[256];
        if (newer(lines[i][1]) && pess_setting_is_default(&table, o, lines[i][1])) continue;
        pess__setting_values(&table, o, lines[i][1], values, sizeof values);
        used += (size_t)snprintf(dqn->settings + used, sizeof dqn->settings - used, "%s=%s\n", lines[i][0], values);
    }
}

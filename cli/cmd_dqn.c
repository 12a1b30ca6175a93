/* pess dqn: a player for a game, by deep Q-learning. */
#include "json.h"

#include "long_run.h"

static const usage dqn_usage = {
    .command = "dqn",
    .summary = "a near-optimal player for a game, by deep Q-learning",
    .arguments = "GAME --out DIR [options]",
    .description =
        "Writes DIR/log.csv (frame, greedy return, loss, mean q, seconds, epsilon, return in training), two\n"
        "generations of checkpoints and at the end DIR/policy.pessnet. The same settings and seed give the\n"
        "same policy, byte for byte, also when the run was killed and resumed.",
    .examples = "  pess dqn breakout --out breakout\n"
                "  pess dqn seaquest --frames 10000000 --seed 3 --out seaquest\n"
                "  pess dqn breakout --out breakout --resume        go on after an interruption",
    .positional = (const char *const[]){"GAME", NULL},
};

static void print_result(const pess_dqn_options *options, const pess_dqn_result *r) {
    if (r->resumed_from >= 0) (void)printf("resumed from frame %lld\n", (long long)r->resumed_from);
    (void)printf("%s: %lld frames, %lld updates, %.0f s", options->game, (long long)r->frames, (long long)r->updates,
                 r->seconds);
    if (r->seconds > 0)
        (void)printf(" (%.0f frames/s, %.0f %% outside the network)",
                     (double)(r->frames - (r->resumed_from > 0 ? r->resumed_from : 0)) / r->seconds,
                     100 * (1 - r->network_seconds / r->seconds));
    (void)printf("\nbest policy: frame %lld, mean return %.2f ± %.2f over %lld fresh episodes -> %s/policy.pessnet\n",
                 (long long)r->best_frame, r->mean_return, r->ci95, (long long)options->final_episodes, options->out);
}

static void print_json(const pess_dqn_options *options, const pess_dqn_result *r) {
    json_writer json = json_open("dqn");
    json_text(&json, "game", options->game);
    json_count(&json, "frames", r->frames);
    json_count(&json, "updates", r->updates);
    json_count(&json, "resumed_from", r->resumed_from);
    json_number(&json, "mean_return", r->mean_return);
    json_number(&json, "ci95", r->ci95);
    json_count(&json, "best_frame", r->best_frame);
    json_number(&json, "seconds", r->seconds);
    json_number(&json, "network_seconds", r->network_seconds);
    json_close(&json, '}');
    json_end(&json);
}

int cmd_dqn(int argc, char **argv) {
    pess_dqn_options o = pess_dqn_options_defaults();
    int64_t threads = 0;
    bool json = false;
    const option options[] = {
        {"out", 'o', OPTION_TEXT, &o.out, "DIR", "where log, checkpoints and policy go"},
        {"resume", 0, OPTION_FLAG, &o.resume, NULL, "go on from the newest checkpoint in DIR, or start"},
        {"frames", 0, OPTION_COUNT, &o.frames, "N", "frames in all environments together (5000000)"},
        {"seed", 0, OPTION_SEED, &o.seed, "N", "of everything random (0)"},
        {"threads", 0, OPTION_COUNT, &threads, "N", "of the evaluations; the result does not depend on it"},
        {"network", 0, OPTION_TEXT, &o.network, "dqn|value|dense", "layers of the network (dqn)"},
        {"kernels", 0, OPTION_TEXT, &o.kernels, "avx2|portable", "instructions to compute with (the best there are)"},
        {"envs", 0, OPTION_COUNT, &o.envs, "N", "environments that step together (32)"},
        {"replay", 0, OPTION_COUNT, &o.replay, "N", "transitions kept (100000)"},
        {"batch", 0, OPTION_COUNT, &o.batch, "N", "samples of an update (32)"},
        {"train-every", 0, OPTION_COUNT, &o.train_every, "N", "frames per update (8)"},
        {"target-every", 0, OPTION_COUNT, &o.target_every, "N", "updates between copies to the target network (1000)"},
        {"average", 0, OPTION_COUNT, &o.average, "N", "updates whose running mean is evaluated and kept (1000)"},
        {"warmup", 0, OPTION_COUNT, &o.warmup, "N", "frames of random play before the first update (5000)"},
        {"epsilon-first", 0, OPTION_NUMBER, &o.epsilon_first, "E", "exploration at first (1)"},
        {"epsilon-last", 0, OPTION_NUMBER, &o.epsilon_last, "E", "and in the end (0.05)"},
        {"epsilon-frames", 0, OPTION_COUNT, &o.epsilon_frames, "N", "frames in between (250000)"},
        {"gamma", 0, OPTION_NUMBER, &o.gamma, "G", "discount (0.99)"},
        {"n-step", 0, OPTION_COUNT, &o.n_step, "N", "rewards summed before the value of the state reached (3)"},
        {"rate", 0, OPTION_NUMBER, &o.rate, "R", "Adam's step size at first (0.0003)"},
        {"rate-last", 0, OPTION_NUMBER, &o.rate_last, "R", "and in the end (0.00003)"},
        {"adam-epsilon", 0, OPTION_NUMBER, &o.adam_epsilon, "E", "added to Adam's root (0.00015)"},
        {"huber", 0, OPTION_NUMBER, &o.huber, "D", "where the loss turns linear (1)"},
        {"step-limit", 0, OPTION_COUNT, &o.step_limit, "N", "steps of a training episode before it is cut off (5000)"},
        {"evaluate-every", 0, OPTION_COUNT, &o.evaluate_every, "N", "frames between evaluations (100000)"},
        {"evaluate-episodes", 0, OPTION_COUNT, &o.evaluate_episodes, "N", "greedy episodes of an evaluation (100)"},
        {"final-episodes", 0, OPTION_COUNT, &o.final_episodes, "N", "episodes that choose among the best five (1000)"},
        {"checkpoint-every", 0, OPTION_COUNT, &o.checkpoint_every, "N", "frames between checkpoints (500000)"},
        {"json", 0, OPTION_FLAG, &json, NULL, "the result as JSON"},
    };
    const char *values[1];
    const int code = options_parse(&dqn_usage, options, COUNT_OF(options), argc, argv, values, NULL);
    if (code >= 0) return code;
    if (o.out == NULL) return report_usage("dqn", "--out DIR is needed");
    if (threads > 4096) return report_usage("dqn", "--threads %lld is too many", (long long)threads);
    o.game = values[0];
    o.threads = (int)threads;
    o.progress = interruptible_progress();
    pess_dqn_result result;
    pess_error error;
    const pess_status status = pess_dqn_run(&o, &result, &error);
    terminal_progress_end();
    if (status != PESS_OK) return report_error("dqn", &error);
    if (json)
        print_json(&o, &result);
    else
        print_result(&o, &result);
    return EXIT_FINE;
}

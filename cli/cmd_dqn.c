/* pess dqn: a player for a game, by deep Q-learning. */
#include "json.h"

#include "long_run.h"

static const usage dqn_usage = {
    .command = "dqn",
    .summary = "a near-optimal player for a game, by deep Q-learning",
    .arguments = "GAME --out DIR [options]",
    .description = "Writes DIR/log.csv (frame, greedy return, loss, mean q, seconds, epsilon, return in training), two "
                   "generations of checkpoints and, at the end, DIR/policy.pessnet. The same settings and seed give "
                   "the same policy, byte for byte, even if the run was killed and resumed.",
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
    json_close(&json);
    json_end(&json);
}

int cmd_dqn(int argc, char **argv) {
    pess_dqn_options o = pess_dqn_options_defaults();
    option_list list = {0};
    const char *game = NULL;
    bool json = false;
    options_add_settings(&list, pess_dqn_settings(), &o, NULL);
    options_add(&list, (option){"json", 0, OPTION_FLAG, &json, NULL, "print the result as JSON"});
    const int code = options_parse(&dqn_usage, list.rows, list.count, argc, argv, &game, NULL);
    if (code >= 0) return code;
    if (o.out == NULL) return report_usage("dqn", "--out DIR is needed");
    o.game = game;
    o.progress = interruptible_progress();
    pess_dqn_result result;
    pess_error error;
    const pess_status status = pess_dqn_run(&o, &result, &error);
    terminal_progress_end();
    if (status != PESS_OK) return report_run_error("dqn", &list, &error);
    if (json)
        print_json(&o, &result);
    else
        print_result(&o, &result);
    return EXIT_FINE;
}

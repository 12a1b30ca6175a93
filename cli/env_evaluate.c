#include "env_evaluate.h"

#include "command.h"
#include "json.h"
#include "policy_arg.h"

#include <string.h>

static const usage evaluate_usage = {
    .command = "env evaluate",
    .summary = "how well a policy plays: whole episodes, by its own rule but for --epsilon",
    .arguments = "GAME --policy random|FILE [options]",
    .description =
        "Prints the mean undiscounted return with its 95 % interval. The same seed gives the same result at any\n"
        "number of threads. A network acts by its largest output; one whose notes say acts=softmax (imitation:\n"
        "pess net info) by sampling.",
    .examples = "  pess env evaluate breakout --policy policies/breakout.pessnet\n"
                "  pess env evaluate breakout --policy policies/breakout.pessnet --epsilon 0.1 --episodes 500 --json",
    .positional = (const char *const[]){"GAME", NULL},
};

static void print_json(const char *game, const char *policy, const pess_play_options *o, const pess_play_result *r) {
    json_writer json = json_open("env evaluate");
    json_text(&json, "game", game);
    json_text(&json, "policy", policy);
    json_number(&json, "epsilon", o->epsilon);
    json_text(&json, "acts", strcmp(policy, "random") == 0 ? "random" : o->sample ? "softmax" : "argmax");
    json_number(&json, "mean_return", r->mean_return);
    json_number(&json, "ci95", r->ci95);
    json_number(&json, "mean_length", r->mean_length);
    json_count(&json, "episodes", r->episodes);
    json_count(&json, "cutoffs", r->cutoffs);
    json_number(&json, "least_return", r->least_return);
    json_number(&json, "most_return", r->most_return);
    json_close(&json, '}');
    json_end(&json);
}

int env_evaluate(int argc, char **argv) {
    pess_play_options o = pess_play_options_defaults();
    const char *policy = NULL, *game = NULL;
    int64_t threads = 0;
    bool as_json = false, steady = false, argmax = false;
    const option options[] = {
        {"policy", 0, OPTION_TEXT, &policy, "random|FILE", "who plays: uniformly random, or a .pessnet file"},
        {"epsilon", 0, OPTION_NUMBER, &o.epsilon, "E", "probability of a random action (0)"},
        {"argmax", 0, OPTION_FLAG, &argmax, NULL, ARGMAX_OPTION},
        {"episodes", 0, OPTION_COUNT, &o.episodes, "N", "episodes to play (1000)"},
        {"seed", 0, OPTION_SEED, &o.seed, "N", "of games and exploration (0)"},
        {"threads", 0, OPTION_COUNT, &threads, "N", "0: all there are"},
        {"sticky", 0, OPTION_NUMBER, &o.env.sticky, "P", "probability that the previous action is repeated (0.1)"},
        {"no-ramping", 0, OPTION_FLAG, &steady, NULL, "the game does not grow harder"},
        {"step-limit", 0, OPTION_COUNT, &o.env.step_limit, "N", "steps before an episode is cut off (10000)"},
        {"json", 0, OPTION_FLAG, &as_json, NULL, "the result as JSON"},
    };
    int code = options_parse(&evaluate_usage, options, COUNT_OF(options), argc, argv, &game, NULL);
    if (code >= 0) return code;
    if (policy == NULL) return report_usage("env evaluate", "--policy random|FILE is needed");
    if (threads > 1024) return report_usage("env evaluate", "--threads: expected 0 to 1024");
    const pess_env_info *info = pess_env_find(game);
    if (info == NULL) return report_usage("env evaluate", "no game '%s'; 'pess env list' lists them", game);
    pess_net *net = NULL;
    code = policy_open("env evaluate", policy, info, &net);
    if (code < 0) code = policy_rule("env evaluate", policy, net, argmax, &o.sample);
    if (code >= 0) {
        pess_net_destroy(net);
        return code;
    }
    o.env.game = game;
    o.env.ramping = !steady;
    o.threads = (int)threads;
    o.progress = terminal_progress();
    pess_play_result result;
    pess_error error;
    const pess_status status = pess_play(net, &o, &result, &error);
    terminal_progress_end();
    pess_net_destroy(net);
    if (status != PESS_OK) return report_error("env evaluate", &error);
    if (as_json) {
        print_json(game, policy, &o, &result);
        return EXIT_FINE;
    }
    (void)printf("%s, %s: mean return %.3f ± %.3f (95 %%), from %g to %g; mean length %.1f; %lld episodes\n", game,
                 policy, result.mean_return, result.ci95, result.least_return, result.most_return, result.mean_length,
                 (long long)result.episodes);
    if (result.cutoffs > 0) (void)printf("%lld episodes were cut off by the step limit\n", (long long)result.cutoffs);
    return EXIT_FINE;
}

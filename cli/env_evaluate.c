#include "env_evaluate.h"

#include "command.h"
#include "json.h"
#include "policy_arg.h"

static const usage evaluate_usage = {
    .command = "env evaluate",
    .summary = "how well a policy plays whole episodes, by its own rule except for --epsilon",
    .arguments = "GAME --policy random|FILE [options]",
    .description = "Prints the mean undiscounted return with its 95 % interval. The same seed gives the same result at "
                   "any number of threads. A .pesspolicy file plays by the rule of the learner that made it; a network "
                   "alone by its largest output, or by sampling if its notes say acts=softmax ('pess net info').",
    .examples = "  pess env evaluate breakout --policy policies/breakout.pessnet\n"
                "  pess env evaluate breakout --policy policies/breakout.pessnet --epsilon 0.1 --episodes 500 --json",
    .positional = (const char *const[]){"GAME", NULL},
};

static void print_json(const char *game, const char *policy, const char *acts, const pess_play_options *o,
                       const pess_play_result *r) {
    json_writer json = json_open("env evaluate");
    json_text(&json, "game", game);
    json_text(&json, "policy", policy);
    json_number(&json, "epsilon", o->epsilon);
    json_text(&json, "acts", acts);
    json_number(&json, "mean_return", r->mean_return);
    json_number(&json, "ci95", r->ci95);
    json_number(&json, "mean_length", r->mean_length);
    json_count(&json, "episodes", r->episodes);
    json_count(&json, "cutoffs", r->cutoffs);
    json_number(&json, "return_least", r->least_return);
    json_number(&json, "return_most", r->most_return);
    json_close(&json);
    json_end(&json);
}

int env_evaluate(int argc, char **argv) {
    pess_play_options o = pess_play_options_defaults();
    const char *policy = NULL, *game = NULL;
    bool as_json = false;
    option_list list = {0};
    options_add(&list, (option){"policy", 0, OPTION_TEXT, &policy, "random|FILE",
                                "who plays: uniformly random, or " POLICY_FILES});
    options_add_settings(&list, pess_play_settings(), &o, "game minimal-actions");
    options_add(&list, (option){"json", 0, OPTION_FLAG, &as_json, NULL, "print the result as JSON"});
    int code = options_parse(&evaluate_usage, list.rows, list.count, argc, argv, &game, NULL);
    if (code >= 0) return code;
    if (policy == NULL) return report_usage("env evaluate", "--policy random|FILE is needed");
    const pess_env_info *info = pess_env_find(game);
    if (info == NULL) return report_usage("env evaluate", "no game '%s'; 'pess env list' lists the games", game);
    if (info->kind != PESS_OBSERVATION_BITS && (options_given(&list, "sticky") || options_given(&list, "ramping")))
        return report_usage("env evaluate", "--sticky and --ramping are rules of games, and %s is not a game", game);
    pess_policy *plays = NULL;
    code = policy_open("env evaluate", policy, info, o.argmax, &plays);
    if (code >= 0) return code;
    o.game = game;
    o.minimal_actions = plays != NULL && pess_policy_actions(plays) != pess_env_full_actions(info);
    o.progress = terminal_progress();
    pess_play_result result;
    pess_error error;
    pess_policy_info acts = {.rule = "random"};
    if (plays != NULL) pess_policy_get_info(plays, &acts);
    const pess_status status = pess_play(plays, &o, &result, &error);
    terminal_progress_end();
    if (status == PESS_OK && as_json)
        print_json(game, policy, plays != NULL && o.argmax ? "argmax" : acts.rule, &o, &result);
    pess_policy_destroy(plays);
    if (status != PESS_OK) return report_error("env evaluate", &error);
    if (as_json) return EXIT_FINE;
    (void)printf("%s, %s: mean return %.3f ± %.3f (95 %%), from %g to %g; mean length %.1f; %lld episode%s\n", game,
                 policy, result.mean_return, result.ci95, result.least_return, result.most_return, result.mean_length,
                 COUNTED(result.episodes));
    if (result.cutoffs > 0) (void)printf("Cut off by the step limit: %lld\n", (long long)result.cutoffs);
    return EXIT_FINE;
}

/* pess collect: a dataset of a game, by acting in it. */
#include "command.h"
#include "observations.h"
#include "policy_arg.h"

#include <string.h>

static const usage collect_usage = {
    .command = "collect",
    .summary = "a dataset of a game: transitions of a player that explores",
    .arguments = "GAME --policy FILE|random -o FILE.pessdata [options]",
    .description = "Several environments step together, and the file has their data one after the other. Each distinct "
                   "observation is kept once, in packed bits, including the last one of every episode, with a mark "
                   "whether that was terminal or cut off. The same settings and seed give the same bytes. 'pess "
                   "inspect' shows what is in such a file. A network acts by its largest output, or by sampling if its "
                   "notes say acts=softmax, as those of imitation do ('pess net info').",
    .examples = "  pess collect breakout --policy policies/breakout.pessnet --epsilon 0.1 -o breakout.pessdata\n"
                "  pess collect freeway --policy random --transitions 100000 --seed 3 -o freeway.pessdata\n"
                "  pess inspect freeway.pessdata",
    .positional = (const char *const[]){"GAME", NULL},
};

static int run(const pess_collect_options *options, const char *path, bool json) {
    pess_observations *data = NULL;
    pess_error error;
    pess_status status = pess_collect(options, &data, &error);
    terminal_progress_end();
    if (status == PESS_OK) status = pess_observations_write(data, path, &error);
    int code = EXIT_FINE;
    if (status != PESS_OK)
        code = report_error("collect", &error);
    else if (strcmp(path, "-") != 0)
        code = observations_print("collect", path, data, json);
    pess_observations_destroy(data);
    return code;
}

int cmd_collect(int argc, char **argv) {
    pess_collect_options o = pess_collect_options_defaults();
    const char *policy = NULL, *game = NULL, *out = NULL;
    int64_t threads = 0;
    bool json = false;
    option_list list = {0};
    options_add(&list, (option){"policy", 0, OPTION_TEXT, &policy, "FILE|random",
                                "who acts: " POLICY_FILES ", or uniformly at random"});
    options_add(&list, (option){"out", 'o', OPTION_TEXT, &out, "FILE", "where to write: a .pessdata or .npz file"});
    options_add_settings(&list, pess_collect_settings(), &o, "game minimal-actions");
    options_add(&list, (option){"threads", 0, OPTION_COUNT, &threads, "N", "one is used", .hidden = true});
    options_add(&list, (option){"json", 0, OPTION_FLAG, &json, NULL, "print the result as JSON"});
    int code = options_parse(&collect_usage, list.rows, list.count, argc, argv, &game, NULL);
    if (code >= 0) return code;
    if (policy == NULL) return report_usage("collect", "--policy FILE|random is needed");
    if (out == NULL) return report_usage("collect", "-o FILE is needed");
    const pess_env_info *info = pess_env_find(game);
    if (info == NULL) return report_usage("collect", "no game '%s'; 'pess env list' lists the games", game);
    if (info->kind != PESS_OBSERVATION_BITS && (options_given(&list, "sticky") || options_given(&list, "ramping")))
        return report_usage("collect", "--sticky and --ramping are rules of games, and %s is not a game", game);
    pess_policy *acts = NULL;
    code = policy_open("collect", policy, info, o.argmax, &acts);
    if (code >= 0) return code;
    o.game = game;
    o.minimal_actions = acts != NULL && pess_policy_actions(acts) != pess_env_full_actions(info);
    o.policy = acts;
    o.progress = terminal_progress();
    code = run(&o, out, json);
    pess_policy_destroy(acts);
    return code;
}

/* pess env: the games, their traces and their speed. */
#include "board.h"
#include "command.h"
#include "env_evaluate.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- list */

static void print_control(const pess_env_info *info) {
    (void)printf("%-15s %2d %s  %s; cut off after %lld steps\n", info->name, (int)pess_env_shape(info).length,
                 pess_observation_kind_name(info->kind), info->summary, (long long)info->step_limit);
    (void)printf("%15s features:", "");
    for (int c = 0; c < info->channels; c++)
        (void)printf(" %d %s%s", c, info->channel[c].name, c + 1 < info->channels ? "," : "\n");
    (void)printf("%15s actions: ", "");
    for (int a = 0; a < info->minimal_count; a++)
        (void)printf(" %d %s%s", a, info->action_names[a], a + 1 < info->minimal_count ? "," : "\n");
}

static void print_game(const pess_env_info *info) {
    (void)printf("%-15s %2d channels  %s%s\n", info->name, info->channels, info->summary,
                 info->ramps ? "; grows harder" : "");
    (void)printf("%15s channels:", "");
    for (int c = 0; c < info->channels; c++)
        (void)printf(" %d %s%s", c, info->channel[c].name, c + 1 < info->channels ? "," : "\n");
    (void)printf("%15s actions: ", "");
    for (int a = 0; a < info->minimal_count; a++)
        (void)printf(" %d %s%s", info->minimal[a], pess_env_action_name(info->minimal[a]),
                     a + 1 < info->minimal_count ? "," : "\n");
}

static void json_game(json_writer *json, const pess_env_info *info) {
    json_object(json, NULL);
    json_text(json, "game", info->name);
    json_text(json, "summary", info->summary);
    json_count(json, "rows", info->rows);
    json_count(json, "cols", info->cols);
    json_count(json, "channels", info->channels);
    json_array(json, "channel_names");
    for (int c = 0; c < info->channels; c++) json_text(json, NULL, info->channel[c].name);
    json_close(json);
    json_array(json, "minimal_actions");
    for (int a = 0; a < info->minimal_count; a++) json_count(json, NULL, info->minimal[a]);
    json_close(json);
    json_bool(json, "ramps", info->ramps);
    json_text(json, "kind", pess_observation_kind_name(info->kind));
    json_count(json, "step_limit", info->step_limit);
    json_close(json);
}

static int env_list(int argc, char **argv) {
    bool as_json = false;
    const option options[] = {
        {.name = "json", .kind = OPTION_FLAG, .target = &as_json, .help = "print the result as JSON"}};
    const usage use = {
        .command = "env list", .summary = "list the games and control problems", .arguments = "[--json]"};
    const int code = options_parse(&use, options, COUNT_OF(options), argc, argv, NULL, NULL);
    if (code >= 0) return code;
    const pess_env_info *info = NULL;
    if (!as_json) {
        for (size_t i = 0; (info = pess_env_list(i)) != NULL; i++) print_game(info);
        for (size_t i = 0; (info = pess_control_list(i)) != NULL; i++) print_control(info);
        return EXIT_FINE;
    }
    json_writer json = json_open("env list");
    json_array(&json, "rows");
    for (size_t i = 0; (info = pess_env_list(i)) != NULL; i++) json_game(&json, info);
    for (size_t i = 0; (info = pess_control_list(i)) != NULL; i++) json_game(&json, info);
    json_close(&json);
    json_close(&json);
    json_end(&json);
    return EXIT_FINE;
}

/* ---- replay */

static void json_report(const char *path, const pess_trace_report *report) {
    json_writer json = json_open_line("env replay");
    json_text(&json, "file", path);
    json_text(&json, "game", report->game);
    json_bool(&json, "conforms", report->conforms);
    json_count(&json, "steps", report->steps);
    json_count(&json, "resets", report->resets);
    json_count(&json, "draws", report->draws);
    if (!report->conforms) {
        json_count(&json, "line", report->line);
        json_text(&json, "mismatch", report->text);
    }
    json_close(&json);
    json_end(&json);
}

static void print_report(const char *path, const pess_trace_report *report) {
    (void)printf("%s: %s, %lld steps checked, %lld resets, %lld draws: %s\n", path, report->game,
                 (long long)report->steps, (long long)report->resets, (long long)report->draws,
                 report->conforms ? "conforms" : "MISMATCH");
    if (report->conforms) return;
    (void)printf("  line %lld: %s\n", (long long)report->line, report->text);
    if (report->has_boards)
        board_print_pair(stdout, pess_env_find(report->game), report->expected, "the record", report->found,
                         "this game");
}

static int env_replay(int argc, char **argv) {
    bool as_json = false;
    const option options[] = {
        {.name = "json", .kind = OPTION_FLAG, .target = &as_json, .help = "print a line of JSON per file"}};
    static const char *const needed[] = {"FILE.trace.gz", NULL};
    const usage use = {.command = "env replay",
                       .summary = "play recorded games again and compare every step",
                       .arguments = "FILE.trace.gz… [--json]",
                       .description = "Feeds the recorded draws to the game in place of its generator and compares "
                                      "rewards, ends, draws and states. Exit code 0 only if every record of every file "
                                      "conforms, 1 if one does not, 3 where a file is damaged.",
                       .examples = "  pess env replay traces/*.trace.gz",
                       .positional = needed,
                       .more = -1};
    const char **paths = calloc((size_t)argc + 1, sizeof *paths);
    if (paths == NULL) {
        pess_error error;
        no_memory_for("the names of the files", &error);
        return report_error("env replay", &error);
    }
    int count = 0, worst = EXIT_FINE;
    const int code = options_parse(&use, options, COUNT_OF(options), argc, argv, paths, &count);
    for (int i = 0; code < 0 && i < count; i++) {
        pess_trace_report report;
        pess_error error;
        int result = EXIT_FINE;
        if (pess_trace_replay(paths[i], &report, &error) != PESS_OK) {
            result = report_error("env replay", &error);
        } else {
            if (as_json)
                json_report(paths[i], &report);
            else
                print_report(paths[i], &report);
            result = report.conforms ? EXIT_FINE : EXIT_NEGATIVE;
        }
        if (result > worst) worst = result;
    }
    free(paths);
    return code >= 0 ? code : worst;
}

/* ---- record */

static int env_record(int argc, char **argv) {
    pess_env_options settings = pess_env_options_defaults();
    const char *policy = "random", *path = NULL, *game = NULL;
    int64_t steps = 1000;
    option_list list = {0};
    options_add(&list, (option){"out", 'o', OPTION_TEXT, &path, "FILE",
                                "where to write (.gz is compressed, - is standard output)"});
    options_add(&list, (option){"policy", 0, OPTION_TEXT, &policy, "random", "who acts (default random)"});
    options_add(&list, (option){"steps", 0, OPTION_COUNT, &steps, "N", "how many steps (default 1000)"});
    options_add_settings(&list, pess_env_settings(), &settings, "game minimal-actions step-limit stream");
    static const char *const needed[] = {"GAME", NULL};
    const usage use = {
        .command = "env record",
        .summary = "play a game and write its trace",
        .arguments = "GAME -o FILE.trace.gz [options]",
        .examples = "  pess env record breakout --steps 5000 --seed 1 -o b.trace.gz\n  pess env replay b.trace.gz",
        .positional = needed};
    const int code = options_parse(&use, list.rows, list.count, argc, argv, &game, NULL);
    if (code >= 0) return code;
    if (path == NULL) return report_usage("env record", "-o FILE is missing");
    if (strcmp(policy, "random") != 0)
        return report_usage("env record", "--policy: found '%s'; only 'random' can be recorded so far", policy);
    settings.game = game;
    pess_error error;
    if (pess_trace_record(&settings, NULL, steps, path, &error) != PESS_OK) return report_error("env record", &error);
    return EXIT_FINE;
}

/* ---- bench */

enum { RING = 64 }; /* calls whose actions are prepared; then they repeat */

typedef struct bench {
    int64_t envs, steps, threads, seed;
    bool as_json;
    int observation;
} bench;

static double seconds_now(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct bench_buffers {
    int32_t *actions;
    double *rewards;
    uint8_t *ends, *bits;
    float *floats;
} bench_buffers;

static bool bench_allocate(const bench *b, const pess_batch *batch, bench_buffers *buffers) {
    const size_t envs = (size_t)b->envs;
    buffers->actions = calloc(envs * RING, sizeof *buffers->actions);
    buffers->rewards = calloc(envs, sizeof *buffers->rewards);
    buffers->ends = calloc(envs, 1);
    buffers->bits = calloc(envs, (size_t)pess_batch_bytes(batch));
    buffers->floats =
        b->observation == 1 ? calloc(envs * (size_t)pess_batch_bits(batch), sizeof *buffers->floats) : NULL;
    return buffers->actions != NULL && buffers->rewards != NULL && buffers->ends != NULL && buffers->bits != NULL &&
           (b->observation != 1 || buffers->floats != NULL);
}

static void bench_release(bench_buffers *buffers) {
    free(buffers->actions);
    free(buffers->rewards);
    free(buffers->ends);
    free(buffers->bits);
    free(buffers->floats);
}

static void bench_print(const bench *b, const char *game, int64_t steps, double seconds) {
    static const char *const observations[] = {"bits", "floats", "none"};
    const double rate = (double)steps / (seconds > 0 ? seconds : 1e-9);
    if (!b->as_json) {
        (void)printf("%-15s %lld environments, %lld thread%s, %s: %.1f million steps per second\n", game,
                     (long long)b->envs, (long long)b->threads, b->threads == 1 ? "" : "s",
                     observations[b->observation], rate / 1e6);
        return;
    }
    json_writer json = json_open_line("env bench");
    json_text(&json, "game", game);
    json_count(&json, "envs", b->envs);
    json_count(&json, "threads", b->threads);
    json_text(&json, "observation", observations[b->observation]);
    json_count(&json, "steps", steps);
    json_number(&json, "seconds", seconds);
    json_number(&json, "steps_per_second", rate);
    json_close(&json);
    json_end(&json);
}

static int bench_game(const bench *b, const char *game) {
    pess_env_options settings = pess_env_options_defaults();
    settings.game = game;
    pess_batch *batch = NULL;
    pess_error error;
    if (pess_batch_create(&settings, b->envs, (int)b->threads, &batch, &error) != PESS_OK)
        return report_error("env bench", &error);
    bench_buffers buffers = {.actions = NULL};
    int code = EXIT_FINE;
    if (bench_allocate(b, batch, &buffers)) {
        pess_random random = pess_random_create(0, "bench", 0);
        for (int64_t i = 0; i < b->envs * RING; i++)
            buffers.actions[i] = (int32_t)pess_random_below(&random, pess_batch_actions(batch));
        const pess_batch_out out = {.rewards = buffers.rewards,
                                    .ends = buffers.ends,
                                    .bits = b->observation == 0 ? buffers.bits : NULL,
                                    .floats = b->observation == 1 ? buffers.floats : NULL};
        const int64_t calls = (b->steps + b->envs - 1) / b->envs;
        const double begin = seconds_now();
        for (int64_t call = 0; code == EXIT_FINE && call < calls; call++)
            if (pess_batch_step(batch, buffers.actions + call % RING * b->envs, &out, &error) != PESS_OK)
                code = report_error("env bench", &error);
        if (code == EXIT_FINE) bench_print(b, game, calls * b->envs, seconds_now() - begin);
    } else {
        no_memory_for("the environments", &error);
        code = report_error("env bench", &error);
    }
    bench_release(&buffers);
    pess_batch_destroy(batch);
    return code;
}

static int bench_all(const bench *b) {
    const pess_env_info *(*const lists[])(size_t) = {pess_env_list, pess_control_list};
    const pess_env_info *info = NULL;
    int result = EXIT_FINE;
    for (size_t l = 0; l < COUNT_OF(lists); l++)
        for (size_t i = 0; result == EXIT_FINE && (info = lists[l](i)) != NULL; i++) result = bench_game(b, info->name);
    return result;
}

static int env_bench(int argc, char **argv) {
    bench b = {.envs = 256, .steps = 5000000, .threads = 1};
    static const char *const observations[] = {"bits", "floats", "none", NULL};
    const option options[] = {
        {.name = "envs",
         .kind = OPTION_COUNT,
         .target = &b.envs,
         .argument = "N",
         .help = "environments in the batch (default 256)"},
        {.name = "steps",
         .kind = OPTION_COUNT,
         .target = &b.steps,
         .argument = "N",
         .help = "steps of all environments together (default 5e6)"},
        {.name = "threads",
         .kind = OPTION_COUNT,
         .target = &b.threads,
         .argument = "N",
         .help = "number of threads (default 1)"},
        {.name = "observation",
         .kind = OPTION_CHOICE,
         .target = &b.observation,
         .argument = "bits|floats|none",
         .help = "what is written after each step (default bits)",
         .choices = observations},
        {.name = "json", .kind = OPTION_FLAG, .target = &b.as_json, .help = "print a line of JSON per game"}};
    const usage use = {.command = "env bench",
                       .summary = "how fast the games step, with uniformly random actions",
                       .arguments = "[GAME|all] [options]",
                       .examples = "  pess env bench all --json\n  pess env bench seaquest --envs 4096 --threads 2",
                       .more = 1};
    const char *game = "all";
    int count = 0;
    const int code = options_parse(&use, options, COUNT_OF(options), argc, argv, &game, &count);
    if (code >= 0) return code;
    if (b.envs < 1 || b.envs > (1 << 24))
        return report_usage("env bench", "--envs: found %lld, expected 1 to %d", (long long)b.envs, 1 << 24);
    if (b.threads < 1 || b.threads > 1024)
        return report_usage("env bench", "--threads: found %lld, expected 1 to 1024", (long long)b.threads);
    if (b.steps < 1) return report_usage("env bench", "--steps: found %g, expected 1 or more", (double)b.steps);
    return strcmp(game, "all") == 0 ? bench_all(&b) : bench_game(&b, game);
}

/* ---- the command */

static const command subcommands[] = {{"list", "list the games and control problems", env_list},
                                      {"replay", "play recorded games again and compare every step", env_replay},
                                      {"record", "play a game and write its trace", env_record},
                                      {"evaluate", "how well a policy plays", env_evaluate},
                                      {"bench", "how fast the games step", env_bench}};

int cmd_env(int argc, char **argv) { return run_part("env", subcommands, COUNT_OF(subcommands), argc, argv); }

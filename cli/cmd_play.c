/* pess play: a person or a policy plays in the terminal; or a policy plays into a picture. */
#include "command.h"
#include "policy_arg.h"
#include "term.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct play {
    pess_env_options settings;
    const pess_env_info *info;
    const char *policy, *record; /* policy NULL: a person */
    int64_t fps, steps, size;
    pess_env *env;
    pess_policy *acts; /* NULL: random or a person */
    bool argmax;
    double probabilities[PESS_ENV_ACTIONS];
    float q[PESS_ENV_ACTIONS]; /* shown */
    pess_random random;
    uint8_t bits[PESS_ENV_MAX_BYTES];
    int64_t score, best, episode;
} play;

/* What the policy says of the board that is shown. */
static bool look(play *p, pess_error *error) {
    pess_env_observe_bits(p->env, p->bits);
    return p->acts == NULL || (pess_policy_observation_probabilities(p->acts, p->bits, sizeof p->bits, 1,
                                                                     p->probabilities, error) == PESS_OK &&
                               pess_policy_outputs(p->acts, p->bits, sizeof p->bits, 1, p->q, error) == PESS_OK);
}

static int64_t policy_action(play *p) {
    if (p->acts == NULL) return pess_random_below(&p->random, pess_env_actions(p->env));
    return pess_policy_act(p->acts, p->probabilities, p->argmax ? NULL : &p->random);
}

/* One step, with the score and the new board. */
static bool take_step(play *p, int64_t action, pess_error *error) {
    pess_env_step_result result;
    if (pess_env_step(p->env, action, &result, error) != PESS_OK) return false;
    p->score += (int64_t)result.reward;
    if (p->score > p->best) p->best = p->score;
    return look(p, error);
}

static bool restart(play *p, pess_error *error) {
    if (pess_env_reset(p->env, error) != PESS_OK) return false;
    p->score = 0;
    p->episode++;
    return look(p, error);
}

/* ---- pictures */

static bool ends_with(const char *text, const char *suffix) {
    const size_t n = strlen(text), m = strlen(suffix);
    return n >= m && strcmp(text + n - m, suffix) == 0;
}

/* "frames/%04d.png": the name of one frame. False where the pattern is not of that form or the name is too long. */
static bool frame_name(const char *pattern, int64_t number, char *out, size_t size) {
    const char *percent = strchr(pattern, '%');
    char *stop = NULL;
    const long digits = strtol(percent + 1, &stop, 10);
    if (*stop != 'd' || digits < 0 || digits > 18 || strchr(stop, '%') != NULL) return false;
    const int wrote = snprintf(out, size, "%.*s%0*lld%s", (int)(percent - pattern), pattern,
                               (int)(digits > 0 ? digits : 1), (long long)number, stop + 1);
    return wrote > 0 && (size_t)wrote < size;
}

typedef struct camera {
    pess_gif *gif; /* NULL: PNG */
    uint8_t palette[3 * PESS_PALETTE_COLOURS];
    uint8_t *pixels;
    int width, height;
} camera;

static pess_status write_png(const play *p, camera *c, const char *path, pess_error *error) {
    pess_env_picture(p->info, p->bits, (int)p->size, p->score, c->pixels);
    return pess_png_write(path, c->width, c->height, c->pixels, c->palette, error);
}

/* A frame of the animation, or a file of its own where the name is a pattern. */
static pess_status take_frame(const play *p, camera *c, int64_t number, pess_error *error) {
    char name[4096];
    if (c->gif != NULL) {
        pess_env_picture(p->info, p->bits, (int)p->size, p->score, c->pixels);
        return pess_gif_add(c->gif, c->pixels, (int)(1000 / p->fps), error);
    }
    if (strchr(p->record, '%') == NULL) return PESS_OK;
    (void)frame_name(p->record, number, name, sizeof name);
    return write_png(p, c, name, error);
}

static pess_status record_steps(play *p, camera *c, pess_error *error) {
    pess_status status = take_frame(p, c, 0, error);
    for (int64_t i = 1; status == PESS_OK && i <= p->steps; i++) {
        const bool fine =
            pess_env_ended(p->env) != PESS_END_NONE ? restart(p, error) : take_step(p, policy_action(p), error);
        status = fine ? take_frame(p, c, i, error) : error->status;
    }
    if (status == PESS_OK && c->gif == NULL && strchr(p->record, '%') == NULL)
        status = write_png(p, c, p->record, error);
    return status;
}

static int record(play *p) {
    pess_error error = {.status = PESS_OK};
    camera c = {.gif = NULL};
    const bool gif = ends_with(p->record, ".gif");
    char name[4096];
    if (!gif && !ends_with(p->record, ".png"))
        return report_usage("play", "--record: found '%s', expected a name that ends in .gif or .png", p->record);
    if (!gif && strchr(p->record, '%') != NULL && !frame_name(p->record, 0, name, sizeof name))
        return report_usage("play", "--record: found '%s', expected one %%d or %%04d where the frame's number goes",
                            p->record);
    pess_env_picture_size(p->info, (int)p->size, &c.width, &c.height);
    pess_env_palette(p->info, c.palette);
    c.pixels = calloc((size_t)c.width, (size_t)c.height);
    if (c.pixels == NULL) {
        no_memory_for("the picture", &error);
        return report_error("play", &error);
    }
    pess_status status = gif ? pess_gif_create(p->record, c.width, c.height, c.palette, &c.gif, &error) : PESS_OK;
    if (status == PESS_OK) status = record_steps(p, &c, &error);
    if (c.gif != NULL && status == PESS_OK)
        status = pess_gif_finish(c.gif, &error);
    else
        pess_gif_abandon(c.gif);
    free(c.pixels);
    return status == PESS_OK ? EXIT_FINE : report_error("play", &error);
}

/* ---- the terminal */

static double seconds_now(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct session {
    bool paused, one_step, redraw;
    int64_t action; /* of the person, since the last step */
    double next;    /* time of the next step */
} session;

static void show(play *p, const session *s) {
    const pess_end end = pess_env_ended(p->env);
    const char *notice = s->paused ? "paused: p continues, n takes one step" : "";
    if (end != PESS_END_NONE)
        notice = end == PESS_END_TERMINAL ? "game over: r starts again, q quits" : "cut off: r starts again, q quits";
    term_draw(&(term_view){.info = p->info,
                           .bits = p->bits,
                           .who = p->policy != NULL ? p->policy : "you",
                           .notice = notice,
                           .score = p->score,
                           .best = p->best,
                           .step = pess_env_steps(p->env),
                           .episode = p->episode,
                           .fps = (int)p->fps,
                           .q = p->acts != NULL ? p->q : NULL});
}

/* False: leave. */
static bool obey(play *p, session *s, term_key key, pess_error *error) {
    switch (key) {
        case KEY_QUIT: return false;
        case KEY_PAUSE: s->paused = !s->paused; break;
        case KEY_STEP: s->paused = s->one_step = true; break;
        case KEY_FASTER: p->fps = p->fps < 100 ? p->fps + (p->fps + 3) / 4 : p->fps; break;
        case KEY_SLOWER: p->fps = p->fps > 1 ? p->fps - (p->fps + 4) / 5 : 1; break;
        case KEY_RESTART:
            if (!restart(p, error)) return false;
            break;
        case KEY_NONE: return true;
        default: s->action = key; return true; /* an arrow or fire */
    }
    if (p->fps < 1) p->fps = 1;
    s->redraw = true;
    return true;
}

/* A step is due. */
static bool tick(play *p, session *s, pess_error *error) {
    const bool ended = pess_env_ended(p->env) != PESS_END_NONE;
    s->one_step = false;
    if (ended && p->policy == NULL) return true; /* a person reads the score first */
    const bool fine = ended ? restart(p, error) : take_step(p, p->policy != NULL ? policy_action(p) : s->action, error);
    s->action = 0;
    s->redraw = true;
    return fine;
}

static int play_in_terminal(play *p) {
    char why[200];
    pess_error error = {.status = PESS_OK};
    if (!term_open(p->info, why, sizeof why)) {
        (void)fprintf(stderr, "pess play: %s\n", why);
        return EXIT_USAGE;
    }
    session s = {.redraw = true, .next = seconds_now() + 1.0 / (double)p->fps};
    for (int64_t steps = 0; p->steps == 0 || steps < p->steps;) {
        if (s.redraw) show(p, &s);
        s.redraw = false;
        const bool waits = s.paused && !s.one_step;
        const term_key key = term_wait(waits ? 3600 : s.next - seconds_now(), &s.redraw);
        if (!obey(p, &s, key, &error)) break;
        const double now = seconds_now();
        if (s.paused ? !s.one_step : now < s.next) continue;
        if (!tick(p, &s, &error)) break;
        steps++;
        s.next = now + (pess_env_ended(p->env) != PESS_END_NONE ? 1.0 : 1.0 / (double)p->fps);
    }
    term_close();
    if (error.status != PESS_OK) return report_error("play", &error);
    (void)printf("%s: episode %lld, score %lld, best %lld\n", p->info->name, (long long)p->episode, (long long)p->score,
                 (long long)p->best);
    return EXIT_FINE;
}

/* ---- the command */

static int check(play *p, const char *game) {
    p->info = pess_env_find(game);
    if (p->info == NULL) return report_usage("play", "no game '%s'; 'pess env list' lists the games", game);
    if (p->info->kind != PESS_OBSERVATION_BITS)
        return report_usage("play", "%s has no board to draw; 'pess env evaluate' plays it", game);
    if (p->fps < 1 || p->fps > 1000)
        return report_usage("play", "--fps: found %lld, expected 1 to 1000", (long long)p->fps);
    if (p->size < 1 || p->size > 200)
        return report_usage("play", "--size: found %lld, expected 1 to 200 pixels", (long long)p->size);
    if (p->policy == NULL) return -1;
    const int code = policy_open("play", p->policy, p->info, p->argmax, &p->acts);
    p->settings.minimal_actions = p->acts != NULL && pess_policy_actions(p->acts) != PESS_ENV_ACTIONS;
    return code;
}

int cmd_play(int argc, char **argv) {
    play p = {.settings = pess_env_options_defaults(), .fps = 10, .size = 24, .episode = 1};
    const char *game = NULL;
    option_list list = {0};
    options_add(&list,
                (option){"policy", 0, OPTION_TEXT, &p.policy, "random|FILE",
                         "watch a policy (" POLICY_FILES "; its q-values are shown) instead of playing yourself"});
    options_add(&list, (option){"argmax", 0, OPTION_FLAG, &p.argmax, NULL,
                                pess_setting_find(pess_play_settings(), "argmax")->sentence});
    options_add(&list, (option){"fps", 0, OPTION_COUNT, &p.fps, "N", "steps a second (default 10)"});
    options_add(&list, (option){"record", 0, OPTION_TEXT, &p.record, "FILE",
                                "no terminal: write an animation (.gif), the last board (.png), or every board "
                                "(frame%04d.png)"});
    options_add(&list, (option){"steps", 0, OPTION_COUNT, &p.steps, "N",
                                "stop after this many steps (default: 300 for --record, otherwise never)"});
    options_add(&list, (option){"size", 0, OPTION_COUNT, &p.size, "N", "pixels per cell in pictures (default 24)"});
    options_add_settings(&list, pess_env_settings(), &p.settings, "game minimal-actions step-limit stream generator");
    static const char *const needed[] = {"GAME", NULL};
    const usage use = {.command = "play",
                       .summary = "play a game in the terminal, watch a policy, or record it",
                       .arguments = "GAME [options]",
                       .description = "Keys: arrows or w a s d move, space fires, p pauses, n (or .) takes one step, r "
                                      "restarts, + and - change the speed, q quits. 'pess env list' lists the games.",
                       .examples =
                           "  pess play breakout\n  pess play seaquest --policy policies/seaquest.pessnet --fps 20\n"
                           "  pess play freeway --record freeway.gif --steps 200",
                       .positional = needed};
    int code = options_parse(&use, list.rows, list.count, argc, argv, &game, NULL);
    if (code >= 0) return code;
    code = check(&p, game);
    if (code >= 0) {
        pess_policy_destroy(p.acts);
        return code;
    }
    p.settings.game = game;
    if (p.record != NULL && p.steps == 0) p.steps = 300;
    pess_error error;
    p.random = pess_random_create(p.settings.seed, "actions", 0);
    if (pess_env_create(&p.settings, &p.env, &error) != PESS_OK || !look(&p, &error))
        code = report_error("play", &error);
    else
        code = p.record != NULL ? record(&p) : play_in_terminal(&p);
    pess_env_destroy(p.env);
    pess_policy_destroy(p.acts);
    return code;
}

/* Replaying and recording traces. */
#include "env/trace.h"

#include "core/outfile.h"

#include <stdio.h>
#include <string.h>

/* ---- replay */

/* The first differing bit in words: cell, channel, and how many differ in all. */
static void describe_states(const pess_env_info *info, const uint8_t *expected, const uint8_t *found, char *text,
                            size_t size) {
    int first = -1, differing = 0;
    for (int bit = 0; bit < info->rows * info->cols * info->channels; bit++)
        if ((((expected[bit / 8] ^ found[bit / 8]) >> (bit % 8)) & 1) != 0) {
            if (first < 0) first = bit;
            differing++;
        }
    if (first < 0) {
        (void)snprintf(text, size, "the state's padding bits are not zero");
        return;
    }
    const int cell = first / info->channels, channel = first % info->channels;
    (void)snprintf(text, size, "the state differs in %d bit%s, first at row %d, column %d, channel %d (%s): found %d",
                   differing, differing == 1 ? "" : "s", cell / info->cols, cell % info->cols, channel,
                   info->channel[channel].name, (found[first / 8] >> (first % 8)) & 1);
}

/* Replays one record; false, with a text, where it does not conform. */
static bool replay_record(pess_env *env, const pess__trace_record *record, pess_trace_report *report) {
    pess_error error = {.status = PESS_OK};
    pess_env_step_result result = {.end = PESS_END_NONE};
    pess_env_set_tape(env, record->draws, record->draw_count);
    const pess_status status =
        record->is_reset ? pess_env_reset(env, &error) : pess_env_step(env, record->action, &result, &error);
    pess_env_observe_bits(env, report->found);
    memcpy(report->expected, record->state, sizeof report->expected);
    const size_t size = sizeof report->text;
    if (status != PESS_OK)
        (void)snprintf(report->text, size, "%.300s", error.message);
    else if (pess_env_tape_used(env) != record->draw_count)
        (void)snprintf(report->text, size, "%lld draws were used, the record lists %lld",
                       (long long)pess_env_tape_used(env), (long long)record->draw_count);
    else if (!record->is_reset && result.reward != (double)record->reward)
        (void)snprintf(report->text, size, "the reward is %g, the record says %lld", result.reward,
                       (long long)record->reward);
    else if (!record->is_reset && (result.end == PESS_END_TERMINAL) != record->terminal)
        (void)snprintf(report->text, size, "terminal is %d, the record says %d", result.end == PESS_END_TERMINAL,
                       record->terminal);
    else if (memcmp(report->expected, report->found, (size_t)pess_env_bytes(env)) != 0)
        describe_states(pess_env_get_info(env), report->expected, report->found, report->text, size);
    else
        return true;
    return false;
}

static pess_status replay_all(pess__trace_reader *reader, pess_env *env, pess_trace_report *report, pess_error *error) {
    pess__trace_record record = {.is_reset = false};
    bool more = true;
    for (;;) {
        PESS_TRY(pess__trace_next(reader, &record, &more, error));
        if (!more) break;
        if (!replay_record(env, &record, report)) {
            report->line = pess__trace_line(reader);
            report->has_boards = true;
            report->conforms = false;
            return PESS_OK;
        }
        report->records++;
        report->steps += !record.is_reset;
        report->resets += record.is_reset;
        report->draws += record.draw_count;
    }
    report->conforms = true;
    return PESS_OK;
}

pess_status pess_trace_replay(const char *path, pess_trace_report *out, pess_error *error) {
    pess__trace_reader *reader = NULL;
    pess__trace_header header;
    PESS_TRY(pess__trace_open(path, &reader, &header, error));
    pess_env_options options = pess_env_options_defaults();
    options.game = header.game->info.name;
    options.sticky = header.sticky;
    options.ramping = header.ramping;
    pess_env *env = NULL;
    pess_status status = pess_env_create(&options, &env, error);
    pess_trace_report report = {.conforms = false};
    (void)snprintf(report.game, sizeof report.game, "%s", options.game);
    if (status == PESS_OK) status = replay_all(reader, env, &report, error);
    if (status == PESS_OK) *out = report;
    pess_env_destroy(env);
    pess__trace_close(reader);
    return status;
}

/* ---- recording */

enum { MOST_DRAWS = 64 }; /* of one reset or step; the most is 17 (freeway) */

typedef struct recorder {
    pess_env *env;
    pess__outfile *file;
    pess_draw draws[MOST_DRAWS];
} recorder;

static void write_draws_and_state(recorder *r) {
    static const char digits[] = "0123456789abcdef";
    uint8_t state[PESS_ENV_MAX_BYTES];
    char hex[2 * PESS_ENV_MAX_BYTES + 1];
    for (int64_t i = 0; i < pess_env_drawn(r->env) && i < MOST_DRAWS; i++) {
        pess__outfile_print(r->file, " %c", r->draws[i].integer ? 'i' : 'u');
        pess__outfile_double(r->file, r->draws[i].value);
    }
    const size_t bytes = (size_t)pess_env_bytes(r->env);
    pess_env_observe_bits(r->env, state);
    for (size_t i = 0; i < bytes; i++) {
        hex[2 * i] = digits[state[i] >> 4];
        hex[2 * i + 1] = digits[state[i] & 15];
    }
    hex[2 * bytes] = '\0';
    pess__outfile_print(r->file, " %s\n", hex);
}

static pess_status record_steps(recorder *r, const pess_actor *actor, uint64_t seed, int64_t steps,
                                const uint8_t *action_map, pess_error *error) {
    pess_random random = pess_random_create(seed, "actions", 0);
    bool ended = true;
    for (int64_t done = 0; done < steps; done++) {
        if (ended) {
            pess_env_record_draws(r->env, r->draws, MOST_DRAWS);
            PESS_TRY(pess_env_reset(r->env, error));
            pess__outfile_print(r->file, "R");
            write_draws_and_state(r);
        }
        const int64_t action = actor != NULL && actor->act != NULL
                                   ? actor->act(actor->user, r->env)
                                   : pess_random_below(&random, pess_env_actions(r->env));
        pess_env_step_result result;
        pess_env_record_draws(r->env, r->draws, MOST_DRAWS);
        PESS_TRY(pess_env_step(r->env, action, &result, error));
        ended = result.end == PESS_END_TERMINAL;
        pess__outfile_print(r->file, "S %d %lld %d", action_map[action], (long long)result.reward, ended);
        write_draws_and_state(r);
    }
    return PESS_OK;
}

pess_status pess_trace_record(const pess_env_options *options, const pess_actor *actor, int64_t steps, const char *path,
                              pess_error *error) {
    recorder r = {.env = NULL};
    pess_env_options o;
    PESS_TRY(pess__env_settle(options, &o, error));
    if (steps < 0) return pess__fail(error, PESS_ARGUMENT, "steps: found %lld, expected 0 or more", (long long)steps);
    const pess_env_info *named = pess_env_find(o.game);
    if (named != NULL && named->kind != PESS_OBSERVATION_BITS)
        return pess__fail(error, PESS_ARGUMENT, "%s has no board: traces are of games", o.game);
    if (o.step_limit > 0)
        return pess__fail(error, PESS_ARGUMENT, "a trace has no cut-offs: record it without a step limit");
    PESS_TRY(pess_env_create(&o, &r.env, error));
    pess_status status = pess__outfile_open(path, &r.file, error);
    if (status != PESS_OK) {
        pess_env_destroy(r.env);
        return status;
    }
    /* pess_env_create has made the first reset, unrecorded: seed again, so that the trace begins with it. */
    pess__source_seed(&r.env->instance->source, &r.env->hook, &r.env->numpy, &o, 0);
    const pess_env_info *info = pess_env_get_info(r.env);
    const double sticky = r.env->rules.sticky;
    pess__outfile_print(r.file, "# minatar-trace 1 game=%s channels=%d sticky=", info->name, info->channels);
    pess__outfile_double(r.file, sticky);
    pess__outfile_print(r.file, "%s ramping=%d\n", sticky == 0 || sticky == 1 ? ".0" : "", o.ramping);
    status = record_steps(&r, actor, o.seed, steps, r.env->rules.action_map, error);
    pess_env_destroy(r.env);
    if (status == PESS_OK) return pess__outfile_commit(r.file, error);
    pess__outfile_abandon(r.file);
    return status;
}
